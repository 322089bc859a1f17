//===- OnlineSoftmax.cpp - attn-online-softmax ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmptyAttention.h"
#include "LinalgEmitter.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/Slicing.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNONLINESOFTMAXPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Checks the precondition of the pass.
static LogicalResult checkForm(AttentionOp op) {
  bool unit = op.getLayout() != Layout::thd;
  if (unit) {
    DimMap map = getDimMap(op.getLayout());
    auto isOne = [](Value value, int dim) {
      return cast<ShapedType>(value.getType()).getDimSize(dim) == 1;
    };
    unit = isOne(op.getQuery(), map.batch) && isOne(op.getQuery(), map.head) &&
           isOne(op.getKey(), map.head) && isOne(op.getValue(), map.head);
  }
  if (!unit)
    return op.emitOpError("expects one batch and one head for the online "
                          "softmax (run attn-tile first), but got ")
           << op.getQuery().getType();
  if (op.hasSplitDim())
    return op.emitOpError("expects one split for the online softmax (run "
                          "attn-tile first), but got destinations of ")
           << op.getNumKvSplits();
  return success();
}

namespace {
/// Builds the loop over KV tiles for one attention tile.
class OnlineLoop {
public:
  OnlineLoop(RewriterBase &rewriter, AttentionOp op, int64_t kvTile)
      : rewriter(rewriter), op(op), loc(op.getLoc()), kvTile(kvTile),
        map(getDimMap(op.getLayout())), tensors(op.hasPureTensorForm()) {
    // A tile lies in one page, and splits begin with one.
    if (op.getPageSize())
      while (int64_t(*op.getPageSize()) % this->kvTile != 0 ||
             (op.getKvSplit() && kSplitUnit % this->kvTile != 0))
        --this->kvTile;
  }

  void build();

private:
  struct Region {
    SmallVector<OpFoldResult> offsets, sizes;
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value index(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(rewriter, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(rewriter, loc, a, b);
  }
  Value clamp(Value value, Value low, Value high) {
    return clampIndex(rewriter, loc, value, low, high);
  }

  Value perBatch(Value operand);
  Value diagonalOffset(Value keys);
  Value rowsOf(Value source, OpFoldResult first, OpFoldResult count,
               Value page = {});
  Value keyCapacity();
  Value pageOf(Value key);
  std::pair<Value, Value> splitRange(Value keys);
  Value scoreTile(Value source, OpFoldResult firstKey, OpFoldResult keys);
  Value newState(ArrayRef<OpFoldResult> shape, double value);
  SmallVector<Value> step(Value firstKey, OpFoldResult keys, ValueRange state);
  SmallVector<Value> loop(Value low, Value high, bool ragged, ValueRange state);

  RewriterBase &rewriter;
  AttentionOp op;
  Location loc;
  int64_t kvTile;
  DimMap map;
  bool tensors;
  Type stateType;
  OpFoldResult rows;     // valid query rows of the tile
  Value query, diagonal; // [rows, Dqk]; null where nothing reads it
};
} // namespace

/// A per-batch operand of the only batch, as index.
Value OnlineLoop::perBatch(Value operand) {
  if (isa<ShapedType>(operand.getType()))
    operand = loadElement(rewriter, loc, operand, {rewriter.getIndexAttr(0)});
  return toIndex(rewriter, loc, operand);
}

/// off: row i stands at i + off relative to key 0.
Value OnlineLoop::diagonalOffset(Value keys) {
  if (op.getQOffset() || op.getKvOffset()) {
    Value q = op.getQOffset() ? perBatch(op.getQOffset()) : index(0);
    return op.getKvOffset() ? sub(q, perBatch(op.getKvOffset())) : q;
  }
  if (op.getDiagonalAlignmentOrDefault() == DiagonalAlignment::top_left)
    return index(0);
  Value length =
      op.getSeqlensQ()
          ? perBatch(op.getSeqlensQ())
          : index(getMixedSize(rewriter, loc, op.getQuery(), map.seq));
  return sub(keys, length);
}

/// The keys of the split that the op asks for, or all.
std::pair<Value, Value> OnlineLoop::splitRange(Value keys) {
  if (!op.getKvSplit())
    return {index(0), keys};
  Value count = index(op.getNumKvSplits()), unit = index(kSplitUnit);
  bool isPaged = bool(op.getBlockTable());
  auto roundUp = [&](Value value, Value unit) -> Value {
    Value units = arith::CeilDivSIOp::create(rewriter, loc, value, unit);
    return arith::MulIOp::create(rewriter, loc, units, unit);
  };
  Value part = arith::CeilDivSIOp::create(rewriter, loc, keys, count);
  Value isSmall = arith::CmpIOp::create(rewriter, loc,
                                        arith::CmpIPredicate::sle, part, unit);
  part = arith::SelectOp::create(
      rewriter, loc, isSmall,
      roundUp(part, isPaged ? unit : index(kSmallSplitUnit)),
      roundUp(part, unit));
  // One that there is not begins behind the keys.
  Value split = arith::MinUIOp::create(rewriter, loc, op.getKvSplit(), count);
  Value begin = arith::MulIOp::create(rewriter, loc, split, part);
  begin = arith::MinSIOp::create(rewriter, loc, begin, keys);
  return {begin, arith::MinSIOp::create(rewriter, loc, add(begin, part), keys)};
}

/// Keys that there is room for.
Value OnlineLoop::keyCapacity() {
  if (!op.getBlockTable())
    return index(getMixedSize(rewriter, loc, op.getKey(), map.seq));
  Value pages = index(getMixedSize(rewriter, loc, op.getBlockTable(), 1));
  return arith::MulIOp::create(rewriter, loc, pages, index(*op.getPageSize()));
}

/// The number of the page that holds a key, limited to the pool.
Value OnlineLoop::pageOf(Value key) {
  Value place =
      arith::DivUIOp::create(rewriter, loc, key, index(*op.getPageSize()));
  Value page = loadElement(rewriter, loc, op.getBlockTable(),
                           {rewriter.getIndexAttr(0), place});
  Value last =
      sub(index(getMixedSize(rewriter, loc, op.getKey(), map.batch)), index(1));
  return clamp(toIndex(rewriter, loc, page), index(0), last);
}

/// Rows of a query, key, value or output as [count, D]; of a pool's page if one
/// is given.
Value OnlineLoop::rowsOf(Value source, OpFoldResult first, OpFoldResult count,
                         Value page) {
  // Batch and head dims are 1 here, in the type or at run time.
  SmallVector<OpFoldResult> sizes(map.rank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> offsets(map.rank(), rewriter.getIndexAttr(0));
  offsets[map.seq] = first;
  sizes[map.seq] = count;
  sizes[map.dim] = getMixedSize(rewriter, loc, source, map.dim);
  if (page)
    offsets[map.batch] = page;
  SmallVector<int64_t> kept = {map.seq, map.dim};
  return createSlice(rewriter, loc, source, offsets, sizes,
                     ArrayRef<int64_t>(kept));
}

/// The part of bias or mask for a KV tile, as [rows or 1, keys or 1].
Value OnlineLoop::scoreTile(Value source, OpFoldResult firstKey,
                            OpFoldResult keys) {
  auto type = cast<ShapedType>(source.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = getMixedSizes(rewriter, loc, source);
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
  if (rank >= 1 && type.getDimSize(rank - 1) != 1) {
    offsets[rank - 1] = firstKey;
    sizes[rank - 1] = keys;
  }
  if (rank >= 2 && type.getDimSize(rank - 2) != 1)
    sizes[rank - 2] = rows;
  // Batch and head dims are 1 here, in the type or at run time.
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    sizes[dim] = rewriter.getIndexAttr(1);
  SmallVector<int64_t> kept;
  for (int64_t dim = std::max<int64_t>(rank - 2, 0); dim < rank; ++dim)
    kept.push_back(dim);
  Value slice = createSlice(rewriter, loc, source, offsets, sizes,
                            ArrayRef<int64_t>(kept));
  return expandToRank(rewriter, loc, slice, 2);
}

Value OnlineLoop::newState(ArrayRef<OpFoldResult> shape, double value) {
  return fillWith(rewriter, loc,
                  createEmpty(rewriter, loc, tensors, shape, stateType), value);
}

/// One attn.online_attention; returns the next state (tensors) or nothing.
SmallVector<Value> OnlineLoop::step(Value firstKey, OpFoldResult keys,
                                    ValueRange state) {
  Value page, row = firstKey;
  if (op.getBlockTable()) {
    page = pageOf(firstKey);
    row = arith::RemUIOp::create(rewriter, loc, firstKey,
                                 index(*op.getPageSize()));
  }
  Value key = rowsOf(op.getKey(), row, keys, page);
  Value value = rowsOf(op.getValue(), row, keys, page);
  Value bias, mask, slope;
  if (op.getBias())
    bias = scoreTile(op.getBias(), firstKey, keys);
  if (op.getMask())
    mask = scoreTile(op.getMask(), firstKey, keys);
  if (Value slopes = op.getAlibiSlopes()) {
    SmallVector<OpFoldResult> at(cast<ShapedType>(slopes.getType()).getRank(),
                                 rewriter.getIndexAttr(0));
    slope = loadElement(rewriter, loc, slopes, at);
  }
  SmallVector<Type> types;
  if (tensors)
    llvm::append_range(types, state.getTypes());
  auto online = OnlineAttentionOp::create(
      rewriter, loc, types, query, key, value, diagonal,
      diagonal ? firstKey : Value(), bias, mask, slope, op.getScaleValue(),
      state, op.getScaleAttr(), op.getSoftcapAttr(), op.getCausalAttr(),
      op.getWindowLeftAttr(), op.getWindowRightAttr(), op.getSinkTokensAttr());
  return llvm::to_vector_of<Value>(online->getResults());
}

/// Steps through [low, high); `ragged` tiles end at `high`.
SmallVector<Value> OnlineLoop::loop(Value low, Value high, bool ragged,
                                    ValueRange state) {
  auto body = [&](OpBuilder &, Location, Value key, ValueRange carried) {
    OpFoldResult keys = rewriter.getIndexAttr(kvTile);
    if (ragged)
      keys = sub(high, key);
    SmallVector<Value> next = step(key, keys, tensors ? carried : state);
    scf::YieldOp::create(rewriter, loc, next);
  };
  auto loop = scf::ForOp::create(rewriter, loc, low, high, index(kvTile),
                                 tensors ? state : ValueRange());
  OpBuilder::InsertionGuard guard(rewriter);
  if (tensors) {
    rewriter.setInsertionPointToStart(loop.getBody());
  } else {
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    rewriter.eraseOp(loop.getBody()->getTerminator());
    rewriter.setInsertionPointToEnd(loop.getBody());
  }
  body(rewriter, loc, loop.getInductionVar(), loop.getRegionIterArgs());
  return tensors ? llvm::to_vector_of<Value>(loop.getResults())
                 : llvm::to_vector_of<Value>(state);
}

void OnlineLoop::build() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  OpFoldResult zero = rewriter.getIndexAttr(0);
  Type element = cast<ShapedType>(op.getQuery().getType()).getElementType();
  stateType = element.isF64() ? element : rewriter.getF32Type();

  // Rows beyond the valid length are what an empty row is.
  rows = getMixedSize(rewriter, loc, op.getQuery(), map.seq);
  Value output = op.getOutputInit(), lse = op.getLseInit();
  if (op.getSeqlensQ()) {
    rows = clamp(perBatch(op.getSeqlensQ()), index(0), index(rows));
    output = fillWith(rewriter, loc, output, 0.0);
    if (lse)
      lse = fillWith(rewriter, loc, lse,
                     -std::numeric_limits<double>::infinity());
  }
  query = rowsOf(op.getQuery(), zero, rows);

  Value keys = keyCapacity();
  if (op.getSeqlensKv())
    keys = clamp(perBatch(op.getSeqlensKv()), index(0), keys);
  if (op.readsDiagonal())
    diagonal = diagonalOffset(keys);

  // Keys that some row may see: [low, high).
  auto [begin, limit] = splitRange(keys);
  Value low = begin, high = limit;
  int64_t right = op.getCausal() ? 0 : int64_t(op.getWindowRight());
  if (right >= 0) {
    Value end = add(add(diagonal, index(rows)), index(right));
    high = clamp(end, begin, limit);
  }
  int64_t left = op.getWindowLeft();
  if (left >= 0 && op.getSinkTokens() == 0)
    low = clamp(sub(diagonal, index(left)), begin, high);
  AffineExpr x, y;
  bindDims(rewriter.getContext(), x, y);
  if (op.getBlockTable()) { // tiles begin where pages may; an empty split does
                            // not
    low = affine::makeComposedAffineApply(
        rewriter, loc, x.floorDiv(kvTile) * kvTile, OpFoldResult(low));
    low = arith::MaxSIOp::create(rewriter, loc, low, begin);
  }

  OpFoldResult valueDim = getMixedSize(rewriter, loc, op.getValue(), map.dim);
  SmallVector<Value> state = {
      newState({rows, valueDim}, 0.0),
      newState({rows}, -std::numeric_limits<double>::infinity()),
      newState({rows}, 0.0)};

  Value full = affine::makeComposedAffineApply(
      rewriter, loc, x + (y - x).floorDiv(kvTile) * kvTile,
      {OpFoldResult(low), OpFoldResult(high)});
  state = loop(low, full, /*ragged=*/false, state);
  state = loop(full, high, /*ragged=*/true, state);

  // O and LSE go where they belong.
  SmallVector<Value> inits = {rowsOf(output, zero, rows)};
  SmallVector<OpFoldResult> lseOffsets(3, zero), lseSizes;
  if (lse) {
    OpFoldResult one = rewriter.getIndexAttr(1);
    lseSizes = {one, one, rows};
    SmallVector<int64_t> kept = {2};
    inits.push_back(createSlice(rewriter, loc, lse, lseOffsets, lseSizes,
                                ArrayRef<int64_t>(kept)));
  }
  Value sink;
  if (op.getSink())
    sink = loadElement(rewriter, loc, op.getSink(), {zero});
  auto finalize =
      FinalizeOp::create(rewriter, loc, state[0], state[1], state[2], sink,
                         inits, op.getLseBaseAttr());
  if (!tensors) {
    rewriter.eraseOp(op);
    return;
  }
  SmallVector<OpFoldResult> offsets(map.rank(), zero),
      sizes(map.rank(), rewriter.getIndexAttr(1));
  sizes[map.seq] = rows;
  sizes[map.dim] = getMixedSize(rewriter, loc, output, map.dim);
  SmallVector<Value> results = {insertSlice(
      rewriter, loc, finalize.getResult(0), output, offsets, sizes)};
  if (lse)
    results.push_back(insertSlice(rewriter, loc, finalize.getResult(1), lse,
                                  lseOffsets, lseSizes));
  rewriter.replaceOp(op, results);
}

namespace {
struct AttnOnlineSoftmax
    : attn::impl::AttnOnlineSoftmaxPassBase<AttnOnlineSoftmax> {
  using AttnOnlineSoftmaxPassBase::AttnOnlineSoftmaxPassBase;

  void runOnOperation() override {
    if (kvTile <= 0) {
      getOperation()->emitError("expects kv-tile to be positive, but got ")
          << kvTile;
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) { ops.push_back(op); });
    llvm::erase_if(ops,
                   [&](AttentionOp op) { return dropIfEmpty(rewriter, op); });
    for (AttentionOp op : ops)
      if (failed(checkForm(op)))
        return signalPassFailure();
    for (AttentionOp op : ops)
      OnlineLoop(rewriter, op, kvTile).build();
  }
};
} // namespace
