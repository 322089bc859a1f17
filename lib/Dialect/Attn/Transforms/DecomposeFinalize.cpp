//===- DecomposeFinalize.cpp - attn.finalize to linalg --------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecomposePatterns.h"
#include "LinalgEmitter.h"
#include "attn/Dialect/Attn/Utils/Slicing.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::attn;

static constexpr auto kParallel = utils::IteratorType::parallel;

namespace {
struct DecomposeFinalize : OpRewritePattern<FinalizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FinalizeOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LinalgEmitter emit(rewriter, loc, isa<TensorType>(op.getAcc().getType()));
    auto accType = cast<ShapedType>(op.getAcc().getType());
    Type type = accType.getElementType();
    AffineMap row = emit.map(1, {0}), rowOf2 = emit.map(2, {0}),
              both = emit.map(2, {0, 1});

    // The sink joins max and sum; it has no value to add to acc, which the new
    // maximum scales all the same.
    Value max = op.getMax(), sum = op.getSum(), alpha;
    if (op.getSink()) {
      OpFoldResult rows = getMixedSize(rewriter, loc, op.getAcc(), 0);
      Value sink = convertFloat(rewriter, loc, op.getSink(), type);
      auto joined = emit.generic(
          {max, sum},
          {emit.temporary({rows}, type), emit.temporary({rows}, type),
           emit.temporary({rows}, type)},
          {row, row, row, row, row}, {kParallel},
          [&](OpBuilder &b, ValueRange args) {
            Value top = arith::MaximumFOp::create(b, loc, args[0], sink);
            Value reference = finiteReference(b, loc, top);
            Value scale = math::ExpOp::create(
                b, loc, arith::SubFOp::create(b, loc, args[0], reference));
            Value weight = math::ExpOp::create(
                b, loc, arith::SubFOp::create(b, loc, sink, reference));
            Value total = arith::AddFOp::create(
                b, loc, arith::MulFOp::create(b, loc, args[1], scale), weight);
            return SmallVector<Value>{top, total, scale};
          });
      max = joined[0];
      sum = joined[1];
      alpha = joined[2];
    }

    // O = acc / l, and 0 where l is 0.
    SmallVector<Value> inputs = {op.getAcc(), sum};
    SmallVector<AffineMap> maps = {both, rowOf2};
    if (alpha) {
      inputs.push_back(alpha);
      maps.push_back(rowOf2);
    }
    maps.push_back(both);
    Type outputType =
        cast<ShapedType>(op.getOutputInit().getType()).getElementType();
    SmallVector<Value> results = emit.generic(
        inputs, {op.getOutputInit()}, maps, {kParallel, kParallel},
        [&](OpBuilder &b, ValueRange args) {
          Value acc = args[0];
          if (alpha)
            acc = arith::MulFOp::create(b, loc, acc, args[2]);
          Value quotient = arith::DivFOp::create(b, loc, acc, args[1]);
          Value zero = floatConstant(b, loc, type, 0.0);
          Value empty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                              args[1], zero);
          Value o = arith::SelectOp::create(b, loc, empty, zero, quotient);
          return SmallVector<Value>{convertFloat(b, loc, o, outputType)};
        });

    if (op.hasLse())
      results.push_back(emit.generic(
          {max, sum}, {op.getLseInit()}, {row, row, row}, {kParallel},
          [&](OpBuilder &b, ValueRange args) {
            Value lse = arith::AddFOp::create(
                b, loc, args[0], math::LogOp::create(b, loc, args[1]));
            if (op.getLseBaseOrDefault() == LseBase::two)
              lse = arith::MulFOp::create(
                  b, loc, lse,
                  floatConstant(b, loc, type, std::numbers::log2e));
            return SmallVector<Value>{
                convertFloat(b, loc, lse, b.getF32Type())};
          })[0]);
    emit.replace(op, results);
    return success();
  }
};
} // namespace

void attn::populateDecomposeFinalizePatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeFinalize>(patterns.getContext());
}
