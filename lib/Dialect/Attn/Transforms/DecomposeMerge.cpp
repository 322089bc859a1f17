//===- DecomposeMerge.cpp - attn.merge_states to linalg ---------------*- C++
//-*-===//
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

/// Dims of O that the dims of an lse are, in the lse's order.
static SmallVector<unsigned> getLseDims(MergeStatesOp op, unsigned rank) {
  switch (op.getLayout()) {
  case Layout::bhsd: {
    SmallVector<unsigned> dims;
    for (unsigned dim = 0; dim + 1 < rank; ++dim)
      dims.push_back(dim);
    return dims;
  }
  case Layout::bshd:
    return {0, 2, 1};
  case Layout::thd:
    if (op.getLseLayoutOrDefault() == LseLayout::sh_packed)
      return {0, 1};
    return {1, 0};
  }
  llvm_unreachable("unknown layout");
}

namespace {
struct DecomposeMerge : OpRewritePattern<MergeStatesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MergeStatesOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LinalgEmitter emit(rewriter, loc,
                       isa<TensorType>(op.getOutputInit().getType()));
    auto first = cast<ShapedType>(op.getOutputs().front().getType());
    Type type = first.getElementType().isF64() ? first.getElementType()
                                               : rewriter.getF32Type();
    unsigned rank = first.getRank(), lseRank = rank - 1;
    size_t states = op.getOutputs().size();
    bool two = op.getLseBase() == LseBase::two;
    SmallVector<unsigned> lseDims = getLseDims(op, rank);

    auto exponential = [&](OpBuilder &b, Value value) -> Value {
      if (two)
        return math::Exp2Op::create(b, loc, value);
      return math::ExpOp::create(b, loc, value);
    };

    // Weights of the states, their sum and the new lse, one a row. The lse goes
    // to a temporary: the destination may be one of the inputs.
    SmallVector<OpFoldResult> shape =
        getMixedSizes(rewriter, loc, op.getLses().front());
    SmallVector<Value> temporaries;
    for (size_t i = 0; i < states + 2; ++i)
      temporaries.push_back(emit.temporary(shape, type));
    AffineMap identity = rewriter.getMultiDimIdentityMap(lseRank);
    SmallVector<Value> inputs(op.getLses());
    SmallVector<AffineMap> maps(states, identity);
    if (op.getSink()) {
      // Where the head stands among the dims of the lse.
      int head = getDimMap(op.getLayout()).head;
      unsigned position = llvm::find(lseDims, unsigned(head)) - lseDims.begin();
      inputs.push_back(op.getSink());
      maps.push_back(emit.map(lseRank, {position}));
    }
    maps.append(states + 2, identity);
    SmallVector<utils::IteratorType> iterators(lseRank, kParallel);
    auto weights = emit.generic(
        inputs, temporaries, maps, iterators,
        [&](OpBuilder &b, ValueRange args) {
          SmallVector<Value> logits;
          for (Value lse : args.take_front(states))
            logits.push_back(convertFloat(b, loc, lse, type));
          if (op.getSink()) {
            Value sink = convertFloat(b, loc, args[states], type);
            if (two)
              sink = arith::MulFOp::create(
                  b, loc, sink,
                  floatConstant(b, loc, type, std::numbers::log2e));
            logits.push_back(sink);
          }
          Value top = logits.front();
          for (Value logit : ArrayRef<Value>(logits).drop_front())
            top = arith::MaximumFOp::create(b, loc, top, logit);
          Value reference = finiteReference(b, loc, top);
          SmallVector<Value> results;
          Value total;
          for (Value logit : logits) {
            Value weight =
                exponential(b, arith::SubFOp::create(b, loc, logit, reference));
            total =
                total ? arith::AddFOp::create(b, loc, total, weight) : weight;
            results.push_back(weight);
          }
          results.resize(states);
          Value log = two ? math::Log2Op::create(b, loc, total).getResult()
                          : math::LogOp::create(b, loc, total).getResult();
          results.push_back(total);
          results.push_back(arith::AddFOp::create(b, loc, top, log));
          return results;
        });
    Value total = weights[states], newLse = weights[states + 1];

    // O = sum_s w_s O_s / sum_s w_s; a state of weight 0 is not looked at.
    inputs.assign(op.getOutputs().begin(), op.getOutputs().end());
    llvm::append_range(inputs, ArrayRef<Value>(weights).take_front(states));
    inputs.push_back(total);
    maps.assign(states, rewriter.getMultiDimIdentityMap(rank));
    maps.append(states + 1, emit.map(rank, lseDims));
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    iterators.assign(rank, kParallel);
    Type outputType =
        cast<ShapedType>(op.getOutputInit().getType()).getElementType();
    SmallVector<Value> results = emit.generic(
        inputs, {op.getOutputInit()}, maps, iterators,
        [&](OpBuilder &b, ValueRange args) {
          Value zero = floatConstant(b, loc, type, 0.0);
          auto isZero = [&](Value value) {
            return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                         value, zero);
          };
          Value sum;
          for (size_t i = 0; i < states; ++i) {
            Value o = convertFloat(b, loc, args[i], type);
            Value weight = args[states + i];
            Value term = arith::MulFOp::create(b, loc, weight, o);
            term = arith::SelectOp::create(b, loc, isZero(weight), zero, term);
            sum = sum ? arith::AddFOp::create(b, loc, sum, term) : term;
          }
          Value all = args[2 * states];
          Value quotient = arith::DivFOp::create(b, loc, sum, all);
          Value o =
              arith::SelectOp::create(b, loc, isZero(all), zero, quotient);
          return SmallVector<Value>{convertFloat(b, loc, o, outputType)};
        });
    if (op.hasLse())
      results.push_back(emit.convert(newLse, op.getLseInit(), identity));
    emit.replace(op, results);
    return success();
  }
};
} // namespace

void attn::populateDecomposeMergePatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeMerge>(patterns.getContext());
}
