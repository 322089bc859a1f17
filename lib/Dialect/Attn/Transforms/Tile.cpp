//===- Tile.cpp - attn-tile -----------------------------------------------===//
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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNTILEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Whether the op has the form this pass leaves.
static bool isTile(AttentionOp op, int64_t qTile) {
  if (op.getLayout() == Layout::thd)
    return false;
  DimMap map = getDimMap(op.getLayout());
  auto type = [](Value value) { return cast<ShapedType>(value.getType()); };
  int64_t rows = type(op.getQuery()).getDimSize(map.seq);
  return type(op.getQuery()).getDimSize(map.batch) == 1 &&
         type(op.getQuery()).getDimSize(map.head) == 1 &&
         type(op.getKey()).getDimSize(map.head) == 1 &&
         type(op.getValue()).getDimSize(map.head) == 1 &&
         !ShapedType::isDynamic(rows) && rows <= qTile;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// Makes a loop over the splits of an op that gives the state of each; returns
/// the op in its body, which gives one (`kv_split`).
static AttentionOp buildSplitLoop(RewriterBase &rewriter, AttentionOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  bool tensors = op.hasPureTensorForm();
  SmallVector<Value> destinations(op.getInits());
  auto loop = scf::ForallOp::create(
      rewriter, loc,
      ArrayRef<OpFoldResult>{rewriter.getIndexAttr(op.getNumKvSplits())},
      tensors ? ValueRange(destinations) : ValueRange(), std::nullopt);
  if (tensors)
    destinations.assign(loop.getRegionIterArgs().begin(),
                        loop.getRegionIterArgs().end());
  rewriter.setInsertionPointToStart(loop.getBody());
  Value split = loop.getInductionVar(0);
  SmallVector<SmallVector<OpFoldResult>> offsets, sizes;
  SmallVector<Value> operands(op->getOperands());
  SmallVector<Type> types;
  unsigned firstInit = op.getInits().getBeginOperandIndex();
  for (auto [number, destination] : llvm::enumerate(destinations)) {
    sizes.push_back(getMixedSizes(rewriter, loc, destination));
    offsets.emplace_back(sizes.back().size(), rewriter.getIndexAttr(0));
    offsets.back()[0] = split;
    sizes.back()[0] = rewriter.getIndexAttr(1);
    auto kept = llvm::to_vector(llvm::seq<int64_t>(1, sizes.back().size()));
    Value slice = createSlice(rewriter, loc, destination, offsets.back(),
                              sizes.back(), ArrayRef<int64_t>(kept));
    operands[firstInit + number] = slice;
    if (tensors)
      types.push_back(slice.getType());
  }
  auto inner = cast<AttentionOp>(clone(rewriter, op, types, operands));
  inner.getKvSplitMutable().assign(split);
  if (!tensors) {
    rewriter.eraseOp(op);
    return inner;
  }
  rewriter.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [number, destination] : llvm::enumerate(destinations)) {
    SmallVector<OpFoldResult> strides(offsets[number].size(),
                                      rewriter.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(
        rewriter, loc, inner.getResult(number), destination, offsets[number],
        sizes[number], strides);
  }
  rewriter.replaceOp(op, loop.getResults());
  return inner;
}

//===----------------------------------------------------------------------===//
// Packed sequences
//===----------------------------------------------------------------------===//

namespace {
/// Takes a thd problem apart into one bshd problem a sequence.
class SequenceLoop {
public:
  SequenceLoop(RewriterBase &rewriter, AttentionOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        tensors(op.hasPureTensorForm()) {}

  /// Replaces the op by a loop; returns the op in its body.
  AttentionOp build();

private:
  struct Part {
    SmallVector<OpFoldResult> offsets, sizes;
  };
  struct Span {
    OpFoldResult begin, length;
  };

  /// Of rows of `packed`; corrupt starts stay inside.
  Span getSpan(Value cuSeqlens, Value packed, Value sequence);
  Value slicePacked(Value source, Span span, Part *part = nullptr);
  Value sliceScoreOperand(Value source, Value sequence, OpFoldResult rows,
                          OpFoldResult keys);
  Value slicePerBatch(Value source, Value sequence);
  Value lseDestination(Value lse, Value sequence, Span q, Part &part);
  Value lseResult(Value result);

  RewriterBase &rewriter;
  AttentionOp op;
  Location loc;
  bool tensors;
};
} // namespace

SequenceLoop::Span SequenceLoop::getSpan(Value cuSeqlens, Value packed,
                                         Value sequence) {
  AffineExpr x, y;
  bindDims(rewriter.getContext(), x, y);
  OpFoldResult next = affine::makeComposedFoldedAffineApply(
      rewriter, loc, x + 1, {OpFoldResult(sequence)});
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value total = getValueOrCreateConstantIndexOp(
      rewriter, loc, getMixedSize(rewriter, loc, packed, 0));
  auto load = [&](OpFoldResult at, Value low) {
    Value start = loadElement(rewriter, loc, cuSeqlens, {at});
    return clampIndex(rewriter, loc, toIndex(rewriter, loc, start), low, total);
  };
  Value begin = load(sequence, zero), end = load(next, begin);
  Value length = arith::SubIOp::create(rewriter, loc, end, begin);
  return {begin, length};
}

/// The rows of one sequence of [total, H, D] as [1, S, H, D].
Value SequenceLoop::slicePacked(Value source, Span span, Part *part) {
  SmallVector<OpFoldResult> sizes = getMixedSizes(rewriter, loc, source);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  offsets[0] = span.begin;
  sizes[0] = span.length;
  if (part)
    *part = {offsets, sizes};
  return expandToRank(rewriter, loc,
                      createSlice(rewriter, loc, source, offsets, sizes), 4);
}

/// Bias or mask of one sequence; dims of 1 stay, and keys if not counted.
Value SequenceLoop::sliceScoreOperand(Value source, Value sequence,
                                      OpFoldResult rows, OpFoldResult keys) {
  auto type = cast<ShapedType>(source.getType());
  SmallVector<OpFoldResult> sizes = getMixedSizes(rewriter, loc, source);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.getDimSize(dim) == 1)
      continue;
    switch (dim - type.getRank()) {
    case -4:
      offsets[dim] = sequence;
      sizes[dim] = rewriter.getIndexAttr(1);
      break;
    case -2:
      sizes[dim] = rows;
      break;
    case -1:
      if (keys)
        sizes[dim] = keys;
      break;
    default:
      break;
    }
  }
  return createSlice(rewriter, loc, source, offsets, sizes);
}

/// The number of a [B] operand for one sequence.
Value SequenceLoop::slicePerBatch(Value source, Value sequence) {
  if (!isa<ShapedType>(source.getType()))
    return source;
  return toIndex(rewriter, loc, loadElement(rewriter, loc, source, {sequence}));
}

/// Where one sequence's lse goes, as [1, H, S].
Value SequenceLoop::lseDestination(Value lse, Value sequence, Span q,
                                   Part &part) {
  SmallVector<OpFoldResult> sizes = getMixedSizes(rewriter, loc, lse);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  switch (op.getLseLayoutOrDefault()) {
  case LseLayout::hs_packed:
    offsets[1] = q.begin;
    sizes[1] = q.length;
    break;
  case LseLayout::sh_packed:
    offsets[0] = q.begin;
    sizes[0] = q.length;
    break;
  case LseLayout::bhs_padded:
  case LseLayout::bhs:
    offsets[0] = sequence;
    sizes[0] = rewriter.getIndexAttr(1);
    sizes[2] = q.length;
    break;
  }
  part = {offsets, sizes};
  Value slice = createSlice(rewriter, loc, lse, offsets, sizes);
  if (op.getLseLayoutOrDefault() == LseLayout::sh_packed) {
    if (tensors) {
      Value transposed = tensor::EmptyOp::create(
          rewriter, loc, ArrayRef<OpFoldResult>{sizes[1], sizes[0]},
          rewriter.getF32Type());
      return expandToRank(rewriter, loc, transposed, 3);
    }
    slice = memref::TransposeOp::create(
        rewriter, loc, slice,
        AffineMapAttr::get(AffineMap::getPermutationMap(
            ArrayRef<unsigned>{1, 0}, rewriter.getContext())));
  }
  return expandToRank(rewriter, loc, slice, 3);
}

/// The lse of a sequence in the form its slice of the destination has.
Value SequenceLoop::lseResult(Value result) {
  LseLayout layout = op.getLseLayoutOrDefault();
  if (layout == LseLayout::bhs_padded)
    return result;
  Value packed = collapseToRank(rewriter, loc, result, 2);
  if (layout == LseLayout::hs_packed)
    return packed;
  SmallVector<OpFoldResult> sizes = getMixedSizes(rewriter, loc, packed);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, ArrayRef<OpFoldResult>{sizes[1], sizes[0]},
      rewriter.getF32Type());
  return linalg::TransposeOp::create(rewriter, loc, packed, empty,
                                     ArrayRef<int64_t>{1, 0})
      ->getResult(0);
}

AttentionOp SequenceLoop::build() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  AffineExpr x;
  bindDims(rewriter.getContext(), x);
  OpFoldResult sequences = affine::makeComposedFoldedAffineApply(
      rewriter, loc, x - 1,
      {getMixedSize(rewriter, loc, op.getCuSeqlensQ(), 0)});

  // Rows of no sequence are left as they are; those of padding are neutral.
  SmallVector<Value> destinations = {op.getOutputInit()};
  if (op.hasLse()) {
    Value lse = op.getLseInit();
    if (op.getLseLayoutOrDefault() == LseLayout::bhs_padded)
      lse = fillWith(rewriter, loc, lse,
                     -std::numeric_limits<double>::infinity());
    destinations.push_back(lse);
  }

  auto loop = scf::ForallOp::create(
      rewriter, loc, ArrayRef<OpFoldResult>{sequences},
      tensors ? ValueRange(destinations) : ValueRange(), std::nullopt);
  if (tensors)
    destinations.assign(loop.getRegionIterArgs().begin(),
                        loop.getRegionIterArgs().end());
  rewriter.setInsertionPointToStart(loop.getBody());
  Value sequence = loop.getInductionVar(0);
  Span q = getSpan(op.getCuSeqlensQ(), op.getQuery(), sequence);
  // A pool of pages serves all sequences.
  Value table = op.getBlockTable(), key = op.getKey(), value = op.getValue();
  OpFoldResult keys;
  if (!table) {
    Span kv = getSpan(op.getCuSeqlensKv(), op.getKey(), sequence);
    key = slicePacked(key, kv);
    value = slicePacked(value, kv);
    keys = kv.length;
  }

  SmallVector<Part> parts(destinations.size());
  SmallVector<Value> inits = {slicePacked(destinations[0], q, &parts[0])};
  if (op.hasLse())
    inits.push_back(lseDestination(destinations[1], sequence, q, parts[1]));
  auto inner = AttentionOp::create(rewriter, loc, slicePacked(op.getQuery(), q),
                                   key, value, inits);
  // Options: all but those of the packed form.
  AttentionOp::Properties properties = op.getProperties();
  properties.operandSegmentSizes = inner.getProperties().operandSegmentSizes;
  properties.layout = LayoutAttr::get(rewriter.getContext(), Layout::bshd);
  properties.lse_layout = nullptr;
  inner.getProperties() = properties;
  inner->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  OpBuilder::InsertPoint afterInner(inner->getBlock(),
                                    std::next(inner->getIterator()));
  rewriter.setInsertionPoint(inner);
  if (op.getBias())
    inner.getBiasMutable().assign(
        sliceScoreOperand(op.getBias(), sequence, q.length, keys));
  if (op.getMask())
    inner.getMaskMutable().assign(
        sliceScoreOperand(op.getMask(), sequence, q.length, keys));
  if (Value slopes = op.getAlibiSlopes()) {
    if (cast<ShapedType>(slopes.getType()).getRank() == 2) {
      OpFoldResult one = rewriter.getIndexAttr(1);
      SmallVector<int64_t> kept = {1};
      slopes = createSlice(rewriter, loc, slopes,
                           {sequence, rewriter.getIndexAttr(0)},
                           {one, getMixedSize(rewriter, loc, slopes, 1)},
                           ArrayRef<int64_t>(kept));
    }
    inner.getAlibiSlopesMutable().assign(slopes);
  }
  if (op.getSink())
    inner.getSinkMutable().assign(op.getSink());
  if (table) {
    inner.getSeqlensKvMutable().assign(
        slicePerBatch(op.getSeqlensKv(), sequence));
    inner.getBlockTableMutable().assign(createSlice(
        rewriter, loc, table, {sequence, rewriter.getIndexAttr(0)},
        {rewriter.getIndexAttr(1), getMixedSize(rewriter, loc, table, 1)}));
  }
  if (op.getQOffset())
    inner.getQOffsetMutable().assign(slicePerBatch(op.getQOffset(), sequence));
  if (op.getKvOffset())
    inner.getKvOffsetMutable().assign(
        slicePerBatch(op.getKvOffset(), sequence));
  if (op.getScaleValue())
    inner.getScaleValueMutable().assign(op.getScaleValue());
  if (op.getKvSplit())
    inner.getKvSplitMutable().assign(op.getKvSplit());

  if (!tensors) {
    rewriter.eraseOp(op);
    return inner;
  }
  rewriter.restoreInsertionPoint(afterInner);
  SmallVector<Value> results = {
      collapseToRank(rewriter, loc, inner.getResult(0), 3)};
  if (op.hasLse())
    results.push_back(lseResult(inner.getResult(1)));
  rewriter.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [result, destination, part] :
       llvm::zip(results, destinations, parts)) {
    SmallVector<OpFoldResult> strides(part.offsets.size(),
                                      rewriter.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, destination,
                                          part.offsets, part.sizes, strides);
  }
  rewriter.replaceOp(op, loop.getResults());
  return inner;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AttnTile : attn::impl::AttnTilePassBase<AttnTile> {
  using AttnTilePassBase::AttnTilePassBase;

  void runOnOperation() override {
    if (qTile <= 0) {
      getOperation()->emitError("expects q-tile to be positive, but got ")
          << qTile;
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      if (dropIfEmpty(rewriter, op))
        continue;
      if (op.hasSplitDim())
        op = buildSplitLoop(rewriter, op);
      if (op.getLayout() == Layout::thd)
        op = SequenceLoop(rewriter, op).build();
      if (!isTile(op, qTile) && failed(tile(rewriter, op)))
        return signalPassFailure();
    }
  }

  LogicalResult tile(RewriterBase &rewriter, AttentionOp op) {
    rewriter.setInsertionPoint(op);
    scf::SCFTilingOptions options;
    options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    options.setTileSizes(
        getAsIndexOpFoldResult(&getContext(), {1, 1, int64_t(qTile)}));
    FailureOr<scf::SCFTilingResult> result = scf::tileUsingSCF(
        rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, result->replacements);
    return success();
  }
};
} // namespace
