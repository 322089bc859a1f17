//===- AttentionTiling.cpp - TilingInterface of attn.attention --*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Utils/Slicing.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// Builds the attention of one tile: which part of every operand it needs.
class TileBuilder {
public:
  TileBuilder(AttentionOp op, OpBuilder &builder,
              ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes)
      : op(op), builder(builder), loc(op.getLoc()),
        map(getDimMap(op.getLayout())), keyMap(op.getKeyDimMap()) {
    OpFoldResult zero = builder.getIndexAttr(0);
    SmallVector<OpFoldResult> query =
        getMixedSizes(builder, loc, op.getQuery());
    if (map.batch < 0) {
      head = {offsets[0], sizes[0]};
      row = {zero, query[map.seq]};
      batch = {zero, zero};
      return;
    }
    batch = {offsets[0], sizes[0]};
    head = {offsets[1], sizes[1]};
    row = {offsets[2], sizes[2]};
    rowsTiled = !isConstantIntValue(row.offset, 0) ||
                !isEqualConstantIntOrValue(row.size, query[map.seq]);
  }

  FailureOr<TilingResult> build();

  /// Offsets and sizes of the tile in destination `number`.
  void getResultTile(unsigned number, SmallVector<OpFoldResult> &offsets,
                     SmallVector<OpFoldResult> &sizes);

private:
  struct Span {
    OpFoldResult offset, size;
  };

  Value slice(Value source, ArrayRef<std::pair<int, Span>> spans);
  OpFoldResult divideByGroup(Value operand);
  FailureOr<Span> getKvHeads(Value operand);
  Value sliceBroadcast(Value source);
  FailureOr<Value> perBatch(Value operand);
  FailureOr<Value> length(Value operand, Value shaped);
  OpFoldResult plus(OpFoldResult a, OpFoldResult b);
  LogicalResult shiftRows(AttentionOp tile);

  AttentionOp op;
  OpBuilder &builder;
  Location loc;
  DimMap map, keyMap;
  Span batch, head, row;
  bool rowsTiled = false;
  SmallVector<Operation *> slices;
};
} // namespace

Value TileBuilder::slice(Value source, ArrayRef<std::pair<int, Span>> spans) {
  SmallVector<OpFoldResult> sizes = getMixedSizes(builder, loc, source);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  for (auto [dim, span] : spans) {
    if (dim < 0)
      continue;
    offsets[dim] = span.offset;
    sizes[dim] = span.size;
  }
  Value created = createSlice(builder, loc, source, offsets, sizes);
  slices.push_back(created.getDefiningOp());
  return created;
}

/// Whether `value` is a multiple of `factor` as far as constants, affine.apply,
/// arith and loops tell.
static bool isMultipleOf(OpFoldResult value, int64_t factor) {
  if (factor == 1)
    return true;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  auto dynamic = cast<Value>(value);
  if (auto argument = dyn_cast<BlockArgument>(dynamic)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      return false;
    auto variables = loop.getLoopInductionVars();
    auto lower = loop.getLoopLowerBounds(), steps = loop.getLoopSteps();
    if (!variables || !lower || !steps)
      return false;
    for (auto [variable, begin, step] : llvm::zip(*variables, *lower, *steps))
      if (variable == dynamic)
        return isMultipleOf(begin, factor) && isMultipleOf(step, factor);
    return false;
  }
  Operation *producer = dynamic.getDefiningOp();
  if (auto apply = dyn_cast<affine::AffineApplyOp>(producer)) {
    AffineMap map = apply.getAffineMap();
    auto visit = [&](auto &&self, AffineExpr expr) -> bool {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        return isMultipleOf(apply.getMapOperands()[dim.getPosition()], factor);
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        return isMultipleOf(
            apply.getMapOperands()[map.getNumDims() + symbol.getPosition()],
            factor);
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
        if (expr.getKind() == AffineExprKind::Add)
          return self(self, binary.getLHS()) && self(self, binary.getRHS());
        if (expr.getKind() == AffineExprKind::Mul)
          return self(self, binary.getLHS()) || self(self, binary.getRHS());
      }
      return expr.isMultipleOf(factor);
    };
    return visit(visit, map.getResult(0));
  }
  if (auto mul = dyn_cast<arith::MulIOp>(producer))
    return isMultipleOf(mul.getLhs(), factor) ||
           isMultipleOf(mul.getRhs(), factor);
  if (auto add = dyn_cast<arith::AddIOp>(producer))
    return isMultipleOf(add.getLhs(), factor) &&
           isMultipleOf(add.getRhs(), factor);
  return false;
}

/// The head of `operand` that serves the tile's first query head.
OpFoldResult TileBuilder::divideByGroup(Value operand) {
  OpFoldResult heads = getMixedSize(builder, loc, op.getQuery(), map.head);
  OpFoldResult kvHeads = getMixedSize(builder, loc, operand, keyMap.head);
  std::optional<int64_t> h = getConstantIntValue(heads),
                         k = getConstantIntValue(kvHeads);
  if (h && k) {
    AffineExpr first;
    bindDims(builder.getContext(), first);
    return affine::makeComposedFoldedAffineApply(
        builder, loc, first.floorDiv(*h / *k), {head.offset});
  }
  // Affine maps divide by constants only.
  auto value = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  };
  Value group =
      arith::DivUIOp::create(builder, loc, value(heads), value(kvHeads));
  return arith::DivUIOp::create(builder, loc, value(head.offset), group)
      .getResult();
}

/// Key or value heads that serve the tile's query heads. With g query heads a
/// head of this operand, a tile lies in one group or covers whole ones.
FailureOr<TileBuilder::Span> TileBuilder::getKvHeads(Value operand) {
  auto dims = [](Value value, int dim) {
    return cast<ShapedType>(value.getType()).getDimSize(dim);
  };
  int64_t heads = dims(op.getQuery(), map.head),
          kvHeads = dims(operand, keyMap.head);
  std::optional<int64_t> tile = getConstantIntValue(head.size);
  if (heads == kvHeads && !ShapedType::isDynamic(heads))
    return head;
  if (tile == 1)
    return Span{divideByGroup(operand), builder.getIndexAttr(1)};
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(kvHeads) || !tile) {
    // Heads not tiled at all need no knowledge of the groups.
    SmallVector<OpFoldResult> query =
        getMixedSizes(builder, loc, op.getQuery());
    if (isConstantIntValue(head.offset, 0) &&
        isEqualConstantIntOrValue(head.size, query[map.head]))
      return Span{head.offset,
                  getMixedSizes(builder, loc, operand)[keyMap.head]};
    return op.emitOpError("expects a tile of 1 query head, or static heads "
                          "that it divides, to tile heads");
  }
  int64_t perGroup = heads / kvHeads;
  if (perGroup % *tile != 0 && *tile % perGroup != 0)
    return op.emitOpError("expects a tile of query heads to divide or be a "
                          "multiple of the group size ")
           << perGroup << ", but got " << *tile;
  // A tile that starts elsewhere would reach into a group without covering it.
  int64_t unit = std::min(perGroup, *tile);
  if (!isMultipleOf(head.offset, unit))
    return op.emitOpError("expects a tile of ")
           << *tile << " query heads to start at a multiple of " << unit;
  return Span{divideByGroup(operand),
              builder.getIndexAttr(std::max<int64_t>(*tile / perGroup, 1))};
}

/// Bias or mask: aligned from the right to [B, Hq, Sq, Skv], dims of 1 stay.
Value TileBuilder::sliceBroadcast(Value source) {
  auto type = cast<ShapedType>(source.getType());
  std::array<Span, 3> spans = {batch, head, row};
  SmallVector<std::pair<int, Span>> parts;
  for (int target = map.batch < 0 ? 1 : 0; target < 3; ++target) {
    int dim = target - 4 + static_cast<int>(type.getRank());
    bool keep = target == 2 && !rowsTiled;
    if (dim >= 0 && type.getDimSize(dim) != 1 && !keep)
      parts.push_back({dim, spans[target]});
  }
  return slice(source, parts);
}

/// The one number of a per-batch operand that the tile needs, as index, or the
/// slice of it where rows are whole.
FailureOr<Value> TileBuilder::perBatch(Value operand) {
  if (!isa<ShapedType>(operand.getType()))
    return toIndex(builder, loc, operand);
  if (!isConstantIntValue(batch.size, 1))
    return op.emitOpError("expects a batch tile of 1 to tile rows of a problem "
                          "with lengths or offsets per batch");
  return toIndex(builder, loc,
                 loadElement(builder, loc, operand, batch.offset));
}

/// A length: the per-batch operand if there is one, else the dim.
FailureOr<Value> TileBuilder::length(Value operand, Value shaped) {
  if (operand)
    return perBatch(operand);
  return getValueOrCreateConstantIndexOp(
      builder, loc, getMixedSizes(builder, loc, shaped)[map.seq]);
}

OpFoldResult TileBuilder::plus(OpFoldResult a, OpFoldResult b) {
  AffineExpr x, y;
  bindDims(builder.getContext(), x, y);
  return affine::makeComposedFoldedAffineApply(builder, loc, x + y, {a, b});
}

/// Makes the tile's rows count from `row.offset`: lengths shrink, the diagonal
/// moves.
LogicalResult TileBuilder::shiftRows(AttentionOp tile) {
  if (op.getSeqlensQ()) {
    FailureOr<Value> rows = perBatch(op.getSeqlensQ());
    if (failed(rows))
      return failure();
    Value first = getValueOrCreateConstantIndexOp(builder, loc, row.offset);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value rest = arith::SubIOp::create(builder, loc, *rows, first);
    Value size = getValueOrCreateConstantIndexOp(builder, loc, row.size);
    Value valid = arith::MinSIOp::create(builder, loc, rest, size);
    tile.getSeqlensQMutable().assign(
        arith::MaxSIOp::create(builder, loc, valid, zero));
  }
  if (!op.readsDiagonal())
    return success();
  OpFoldResult offset = row.offset;
  if (op.getQOffset()) {
    FailureOr<Value> q = perBatch(op.getQOffset());
    if (failed(q))
      return failure();
    offset = plus(offset, *q);
  } else if (!op.getKvOffset() && op.getDiagonalAlignmentOrDefault() ==
                                      DiagonalAlignment::bottom_right) {
    FailureOr<Value> q = length(op.getSeqlensQ(), op.getQuery());
    FailureOr<Value> kv = length(op.getSeqlensKv(), op.getKey());
    if (failed(q) || failed(kv))
      return failure();
    AffineExpr x, y, z;
    bindDims(builder.getContext(), x, y, z);
    offset = affine::makeComposedFoldedAffineApply(builder, loc, x + y - z,
                                                   {offset, *kv, *q});
  }
  tile.getQOffsetMutable().assign(
      getValueOrCreateConstantIndexOp(builder, loc, offset));
  tile.removeDiagonalAlignmentAttr();
  return success();
}

void TileBuilder::getResultTile(unsigned number,
                                SmallVector<OpFoldResult> &offsets,
                                SmallVector<OpFoldResult> &sizes) {
  sizes = getMixedSizes(builder, loc, op.getInits()[number]);
  offsets.assign(sizes.size(), builder.getIndexAttr(0));
  // Splits are not tiled.
  int first = op.hasSplitDim();
  auto set = [&](int dim, Span span) {
    offsets[first + dim] = span.offset;
    sizes[first + dim] = span.size;
  };
  if (number == 0) {
    set(map.head, head);
    if (map.batch >= 0) {
      set(map.batch, batch);
      set(map.seq, row);
    }
    return;
  }
  switch (op.getLseLayoutOrDefault()) {
  case LseLayout::bhs:
    set(0, batch);
    set(1, head);
    set(2, row);
    return;
  case LseLayout::hs_packed:
    return set(0, head);
  case LseLayout::sh_packed:
  case LseLayout::bhs_padded:
    return set(1, head);
  }
}

FailureOr<TilingResult> TileBuilder::build() {
  FailureOr<Span> keyHeads = getKvHeads(op.getKey());
  FailureOr<Span> valueHeads = getKvHeads(op.getValue());
  if (failed(keyHeads) || failed(valueHeads))
    return failure();
  bool paged = bool(op.getBlockTable());
  int kvBatch = paged ? -1 : map.batch;
  int rowDim = map.batch < 0 ? -1 : map.seq;

  // The tile is the op with other operands.
  SmallVector<Value> operands(op->getOperands());
  auto replace = [&](MutableOperandRange range, Value value) {
    operands[range[0].getOperandNumber()] = value;
  };
  replace(MutableOperandRange(op.getQueryMutable()),
          slice(op.getQuery(),
                {{map.batch, batch}, {map.head, head}, {rowDim, row}}));
  replace(MutableOperandRange(op.getKeyMutable()),
          slice(op.getKey(), {{kvBatch, batch}, {keyMap.head, *keyHeads}}));
  replace(MutableOperandRange(op.getValueMutable()),
          slice(op.getValue(), {{kvBatch, batch}, {keyMap.head, *valueHeads}}));
  if (op.getBias())
    replace(op.getBiasMutable(), sliceBroadcast(op.getBias()));
  if (op.getMask())
    replace(op.getMaskMutable(), sliceBroadcast(op.getMask()));
  if (Value slopes = op.getAlibiSlopes()) {
    bool perBatch = cast<ShapedType>(slopes.getType()).getRank() == 2;
    int dim = perBatch && map.batch >= 0 ? 0 : -1;
    replace(op.getAlibiSlopesMutable(),
            slice(slopes, {{dim, batch}, {perBatch ? 1 : 0, head}}));
  }
  if (op.getSink())
    replace(op.getSinkMutable(), slice(op.getSink(), {{0, head}}));
  for (MutableOperandRange range :
       {op.getSeqlensQMutable(), op.getSeqlensKvMutable(),
        op.getQOffsetMutable(), op.getKvOffsetMutable(),
        op.getBlockTableMutable()})
    if (map.batch >= 0 && !range.empty() &&
        isa<ShapedType>(range[0].get().getType()))
      replace(range, slice(range[0].get(), {{0, batch}}));

  SmallVector<Type> resultTypes;
  unsigned firstInit = op.getInits().getBeginOperandIndex();
  for (auto [number, init] : llvm::enumerate(op.getInits())) {
    SmallVector<OpFoldResult> offsets, sizes;
    getResultTile(number, offsets, sizes);
    Value created = createSlice(builder, loc, init, offsets, sizes);
    slices.push_back(created.getDefiningOp());
    operands[firstInit + number] = created;
    if (isa<TensorType>(init.getType()))
      resultTypes.push_back(created.getType());
  }

  auto tile = cast<AttentionOp>(clone(builder, op, resultTypes, operands));
  if (rowsTiled) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(tile);
    if (failed(shiftRows(tile)))
      return failure();
  }
  return TilingResult{{tile}, SmallVector<Value>(tile->getResults()), slices};
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> AttentionOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getLayout() == Layout::thd ? 1 : 3,
                                          utils::IteratorType::parallel);
}

SmallVector<Range> AttentionOp::getIterationDomain(OpBuilder &builder) {
  DimMap map = getDimMap(getLayout());
  SmallVector<OpFoldResult> sizes =
      getMixedSizes(builder, getLoc(), getQuery());
  SmallVector<Range> domain;
  for (int dim : {map.batch, map.head, map.seq})
    if (getLayout() != Layout::thd || dim == map.head)
      domain.push_back(
          {builder.getIndexAttr(0), sizes[dim], builder.getIndexAttr(1)});
  return domain;
}

FailureOr<TilingResult>
AttentionOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  return TileBuilder(*this, builder, offsets, sizes).build();
}

LogicalResult AttentionOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  TileBuilder(*this, builder, offsets, sizes)
      .getResultTile(resultNumber, resultOffsets, resultSizes);
  return success();
}

LogicalResult AttentionOp::getIterationDomainTileFromResultTile(
    OpBuilder &builder, unsigned resultNumber,
    ArrayRef<OpFoldResult> resultOffsets, ArrayRef<OpFoldResult> resultSizes,
    SmallVectorImpl<OpFoldResult> &domainOffsets,
    SmallVectorImpl<OpFoldResult> &domainSizes) {
  // A tile of O must span all of Dv, and rows of packed sequences are whole.
  DimMap map = getDimMap(getLayout());
  SmallVector<OpFoldResult> full =
      getMixedSizes(builder, getLoc(), getInits()[resultNumber]);
  auto isWhole = [&](int dim) {
    return isConstantIntValue(resultOffsets[dim], 0) &&
           isEqualConstantIntOrValue(resultSizes[dim], full[dim]);
  };
  int first = hasSplitDim();
  if (first && !isWhole(0))
    return failure();
  auto whole = [&](int dim) { return isWhole(first + dim); };
  auto take = [&](int dim) {
    domainOffsets.push_back(resultOffsets[first + dim]);
    domainSizes.push_back(resultSizes[first + dim]);
  };
  if (getLayout() == Layout::thd) {
    int headDim = map.head;
    if (resultNumber == 1)
      headDim = getLseLayoutOrDefault() == LseLayout::hs_packed ? 0 : 1;
    for (int dim = 0, rank = full.size() - first; dim < rank; ++dim)
      if (dim != headDim && !whole(dim))
        return failure();
    take(headDim);
    return success();
  }
  if (resultNumber == 0) {
    if (!whole(map.dim))
      return failure();
    for (int dim : {map.batch, map.head, map.seq})
      take(dim);
    return success();
  }
  for (int dim : {0, 1, 2})
    take(dim);
  return success();
}

FailureOr<TilingResult>
AttentionOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromResultTile(
          builder, resultNumber, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  FailureOr<TilingResult> tiled =
      getTiledImplementation(builder, domainOffsets, domainSizes);
  if (failed(tiled))
    return failure();
  return TilingResult{tiled->tiledOps,
                      {tiled->tiledValues[resultNumber]},
                      tiled->generatedSlices};
}
