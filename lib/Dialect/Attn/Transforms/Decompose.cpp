//===- Decompose.cpp - attn-decompose -------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecomposePatterns.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNDECOMPOSEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

void attn::populateDecomposePatterns(RewritePatternSet &patterns) {
  populateDecomposeOnlinePatterns(patterns);
  populateDecomposeFinalizePatterns(patterns);
  populateDecomposeMergePatterns(patterns);
}

namespace {
struct AttnDecompose : attn::impl::AttnDecomposePassBase<AttnDecompose> {
  void runOnOperation() override {
    WalkResult supported = getOperation()->walk([](OnlineAttentionOp op) {
      Type type = cast<ShapedType>(op.getQuery().getType()).getElementType();
      if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
        return WalkResult::advance();
      op.emitOpError("expects f16, bf16, f32 or f64 inputs to decompose, but "
                     "got ")
          << type;
      return WalkResult::interrupt();
    });
    if (supported.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateDecomposePatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
