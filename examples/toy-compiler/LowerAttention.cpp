//===- LowerAttention.cpp - toy.sdpa to attn.attention --------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace {
struct LowerSdpa : OpRewritePattern<toy::SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(toy::SdpaOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    // The query's sizes with the value's head dim.
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, op.getQuery());
    sizes[3] = tensor::getMixedSize(rewriter, loc, op.getValue(), 3);
    Value output =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    auto attention = attn::AttentionOp::create(
        rewriter, loc, op.getQuery(), op.getKey(), op.getValue(), output);
    if (op.getCausal()) {
      attention.setCausal(true);
      // attn.attention would align the last row with the last key.
      attention.setDiagonalAlignment(attn::DiagonalAlignment::top_left);
    }
    rewriter.replaceOp(op, attention.getResults());
    return success();
  }
};

struct LowerAttention : PassWrapper<LowerAttention, OperationPass<>> {
  StringRef getArgument() const override { return "toy-lower-attention"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<attn::AttnDialect, tensor::TensorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerSdpa>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

std::unique_ptr<Pass> toy::createLowerAttentionPass() {
  return std::make_unique<LowerAttention>();
}
