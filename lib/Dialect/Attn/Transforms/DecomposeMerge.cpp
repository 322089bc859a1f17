//===- DecomposeMerge.cpp - attn.merge_states to linalg -------------------===//
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
#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::attn;

static constexpr auto kParallel = utils::IteratorType::parallel;

static Value createExp(OpBuilder &b, Location loc, LseBase base, Value value) {
  if (base == LseBase::two)
    return math::Exp2Op::create(b, loc, value);
  return math::ExpOp::create(b, loc, value);
}

static Value createLog(OpBuilder &b, Location loc, LseBase base, Value value) {
  if (base == LseBase::two)
    return math::Log2Op::create(b, loc, value);
  return math::LogOp::create(b, loc, value);
}

static Value isZero(OpBuilder &b, Location loc, Value value) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value,
                               floatConstant(b, loc, value.getType(), 0.0));
}

/// `all == 0 ? 0 : sum / all`
static Value divideOrZero(OpBuilder &b, Location loc, Value sum, Value all) {
  Value quotient = arith::DivFOp::create(b, loc, sum, all);
  return arith::SelectOp::create(b, loc, isZero(b, loc, all),
                                 floatConstant(b, loc, sum.getType(), 0.0),
                                 quotient);
}

/// The sink logit in units of the base.
static Value convertSink(OpBuilder &b, Location loc, LseBase base, Value sink,
                         Type type) {
  sink = convertFloat(b, loc, sink, type);
  if (base == LseBase::two)
    sink = arith::MulFOp::create(
        b, loc, sink, floatConstant(b, loc, type, std::numbers::log2e));
  return sink;
}

namespace {
/// The rows that a merge is for: those of sequences, or all.
class MergedRows {
public:
  MergedRows(MergeStatesOp op, OpBuilder &b) : loc(op.getLoc()) {
    Value starts = op.getCuSeqlensQ();
    if (!starts)
      return;
    auto load = [&](OpFoldResult at) {
      return toIndex(b, loc, loadElement(b, loc, starts, at));
    };
    Value count = getValueOrCreateConstantIndexOp(
        b, loc, getMixedSizes(b, loc, starts).front());
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    begin = load(b.getIndexAttr(0));
    end = load(arith::SubIOp::create(b, loc, count, one).getResult());
  }

  /// In the body of a generic whose loop `dim` goes over rows: `merged`, or
  /// what is there.
  Value select(OpBuilder &b, unsigned dim, Value merged, Value old) const {
    if (!begin)
      return merged;
    Value row = linalg::IndexOp::create(b, loc, dim);
    Value isInside = arith::AndIOp::create(
        b, loc,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, row, begin),
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, end));
    return arith::SelectOp::create(b, loc, isInside, merged, old);
  }

private:
  Location loc;
  Value begin, end;
};
} // namespace

/// Which dim counts packed rows, in O and in the lse.
static constexpr unsigned kPackedRowDim = 0;
static unsigned getRowDim(MergeStatesOp op) {
  SmallVector<unsigned> dims = op.getLseDims();
  return llvm::find(dims, kPackedRowDim) - dims.begin();
}

/// A stack of states: reductions along its first dim, in order.
static void decomposeStack(MergeStatesOp op, LinalgEmitter &emit, Type type,
                           const MergedRows &rows) {
  OpBuilder &builder = emit.rewriter;
  Location loc = op.getLoc();
  LseBase base = op.getLseBase();
  Value output = op.getOutputs().front(), lse = op.getLses().front();
  unsigned rank = cast<ShapedType>(output.getType()).getRank();
  SmallVector<OpFoldResult> shape = getMixedSizes(builder, loc, lse);
  shape.erase(shape.begin());
  SmallVector<OpFoldResult> outputShape = getMixedSizes(builder, loc, output);
  outputShape.erase(outputShape.begin());

  // Loops: the states outermost, then the rows in the order of the lse.
  unsigned lseRank = rank - 1;
  auto sequence = [](unsigned begin, unsigned end) {
    return llvm::to_vector(llvm::seq(begin, end));
  };
  AffineMap all = builder.getMultiDimIdentityMap(lseRank);
  AffineMap row = emit.map(lseRank, sequence(1, lseRank));
  SmallVector<utils::IteratorType> iterators(lseRank, kParallel);
  iterators[0] = utils::IteratorType::reduction;
  AffineMap sinkMap;
  if (op.getSink()) {
    unsigned head = getDimMap(op.getLayout()).head;
    SmallVector<unsigned> lseDims = op.getLseDims();
    unsigned position = llvm::find(lseDims, head) - lseDims.begin();
    sinkMap = emit.map(lseRank - 1, {position});
  }
  SmallVector<utils::IteratorType> perRow(lseRank - 1, kParallel);
  AffineMap identity = builder.getMultiDimIdentityMap(lseRank - 1);

  Value top = emit.fill(emit.temporary(shape, type),
                        -std::numeric_limits<double>::infinity());
  top =
      emit.generic({lse}, {top}, {all, row}, iterators,
                   [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
                     Value logit = convertFloat(b, loc, args[0], type);
                     return {arith::MaximumFOp::create(b, loc, args[1], logit)};
                   })[0];
  Value total = emit.fill(emit.temporary(shape, type), 0.0);
  if (op.getSink()) {
    auto joined = emit.generic(
        {op.getSink()}, {top, total}, {sinkMap, identity, identity}, perRow,
        [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
          Value sink = convertSink(b, loc, base, args[0], type);
          Value larger = arith::MaximumFOp::create(b, loc, args[1], sink);
          Value below = arith::SubFOp::create(b, loc, sink,
                                              finiteReference(b, loc, larger));
          return {larger, createExp(b, loc, base, below)};
        });
    top = joined[0];
    total = joined[1];
  }
  auto weigh = [&](OpBuilder &b, Value logit, Value top) {
    Value difference =
        arith::SubFOp::create(b, loc, convertFloat(b, loc, logit, type),
                              finiteReference(b, loc, top));
    return createExp(b, loc, base, difference);
  };
  total =
      emit.generic({lse, top}, {total}, {all, row, row}, iterators,
                   [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
                     return {arith::AddFOp::create(b, loc, args[2],
                                                   weigh(b, args[0], args[1]))};
                   })[0];

  // The same with the columns: acc = sum_s w_s O_s, without states of weight 0.
  SmallVector<unsigned> stackDims = {0}, rowDims;
  for (unsigned dim : op.getLseDims()) {
    stackDims.push_back(dim + 1);
    rowDims.push_back(dim + 1);
  }
  SmallVector<utils::IteratorType> columns(rank, kParallel);
  columns[0] = utils::IteratorType::reduction;
  Value acc = emit.fill(emit.temporary(outputShape, type), 0.0);
  acc = emit.generic(
      {output, lse, top}, {acc},
      {builder.getMultiDimIdentityMap(rank), emit.map(rank, stackDims),
       emit.map(rank, rowDims), emit.map(rank, sequence(1, rank))},
      columns, [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        Value weight = weigh(b, args[1], args[2]);
        Value term = arith::MulFOp::create(b, loc, weight,
                                           convertFloat(b, loc, args[0], type));
        term = arith::SelectOp::create(b, loc, isZero(b, loc, weight),
                                       floatConstant(b, loc, type, 0.0), term);
        return {arith::AddFOp::create(b, loc, args[3], term)};
      })[0];

  Type outputType =
      cast<ShapedType>(op.getOutputInit().getType()).getElementType();
  columns.erase(columns.begin());
  SmallVector<Value> results = emit.generic(
      {acc, total}, {op.getOutputInit()},
      {builder.getMultiDimIdentityMap(rank - 1),
       emit.map(rank - 1, op.getLseDims()),
       builder.getMultiDimIdentityMap(rank - 1)},
      columns, [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
        Value o = convertFloat(b, loc, divideOrZero(b, loc, args[0], args[1]),
                               outputType);
        return {rows.select(b, kPackedRowDim, o, args.back())};
      });
  if (op.hasLse())
    results.push_back(emit.generic(
        {top, total}, {op.getLseInit()}, {identity, identity, identity}, perRow,
        [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
          Value sum = arith::AddFOp::create(b, loc, args[0],
                                            createLog(b, loc, base, args[1]));
          sum = convertFloat(b, loc, sum, b.getF32Type());
          return {rows.select(b, getRowDim(op), sum, args.back())};
        })[0]);
  emit.replace(op, results);
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
    MergedRows rows(op, rewriter);
    if (op.isStacked()) {
      decomposeStack(op, emit, type, rows);
      return success();
    }
    unsigned rank = first.getRank(), lseRank = rank - 1;
    size_t states = op.getOutputs().size();
    LseBase base = op.getLseBase();
    SmallVector<unsigned> lseDims = op.getLseDims();

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
            logits.push_back(convertSink(b, loc, base, args[states], type));
          }
          Value top = logits.front();
          for (Value logit : ArrayRef<Value>(logits).drop_front())
            top = arith::MaximumFOp::create(b, loc, top, logit);
          Value reference = finiteReference(b, loc, top);
          SmallVector<Value> results;
          Value total;
          for (Value logit : logits) {
            Value weight = createExp(
                b, loc, base, arith::SubFOp::create(b, loc, logit, reference));
            total =
                total ? arith::AddFOp::create(b, loc, total, weight) : weight;
            results.push_back(weight);
          }
          results.resize(states);
          Value log = createLog(b, loc, base, total);
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
          Value sum;
          for (size_t i = 0; i < states; ++i) {
            Value o = convertFloat(b, loc, args[i], type);
            Value weight = args[states + i];
            Value term = arith::MulFOp::create(b, loc, weight, o);
            term = arith::SelectOp::create(b, loc, isZero(b, loc, weight), zero,
                                           term);
            sum = sum ? arith::AddFOp::create(b, loc, sum, term) : term;
          }
          Value o = divideOrZero(b, loc, sum, args[2 * states]);
          o = convertFloat(b, loc, o, outputType);
          return SmallVector<Value>{
              rows.select(b, kPackedRowDim, o, args.back())};
        });
    if (op.hasLse())
      results.push_back(emit.generic(
          {newLse}, {op.getLseInit()}, {identity, identity},
          SmallVector<utils::IteratorType>(lseRank, kParallel),
          [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
            Value lse = convertFloat(b, loc, args[0], b.getF32Type());
            return {rows.select(b, getRowDim(op), lse, args.back())};
          })[0]);
    emit.replace(op, results);
    return success();
  }
};
} // namespace

void attn::populateDecomposeMergePatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeMerge>(patterns.getContext());
}
