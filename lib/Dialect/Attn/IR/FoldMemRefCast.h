//===- FoldMemRefCast.h - Static shapes through memref.cast -----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_IR_FOLDMEMREFCAST_H
#define ATTN_LIB_DIALECT_ATTN_IR_FOLDMEMREFCAST_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn::detail {

/// Operands that a memref.cast made less static are taken from before the cast,
/// so that static dims and strides reach the op. (For tensors the tensor
/// dialect does this to every op in destination style.)
template <typename OpTy> struct FoldMemRefCast : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto foldable = [](Value value) {
      auto cast = value.getDefiningOp<memref::CastOp>();
      return cast && memref::CastOp::canFoldIntoConsumerOp(cast) ? cast
                                                                 : nullptr;
    };
    if (llvm::none_of(op->getOperands(), foldable))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      for (OpOperand &operand : op->getOpOperands())
        if (memref::CastOp cast = foldable(operand.get()))
          operand.set(cast.getSource());
    });
    return success();
  }
};

} // namespace mlir::attn::detail

#endif // ATTN_LIB_DIALECT_ATTN_IR_FOLDMEMREFCAST_H
