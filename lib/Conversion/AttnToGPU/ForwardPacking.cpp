//===- ForwardPacking.cpp - The heads of a group in one tile --------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packed rows lie apart by two strides. Q, O and LSE are accessed once, so each
// lane takes a 64-bit address of its own instead of a resource's offset.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"
#include "attn/Conversion/OperandMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::attn;

/// Rows of the smallest tile of the pipelined program: a head with as many
/// fills it.
static constexpr int64_t fullTile = 128;
/// What a wave reads of a bias or mask is one resource, of 2 GiB: heads may
/// take this much of it, rows and keys the rest.
static constexpr int64_t maxHeadBytes = int64_t(1) << 30;

/// Can a wave's rows of that bias or mask be read as one run?
static bool fitsRun(Value operand, int64_t heads, int64_t rows) {
  if (!operand)
    return true;
  auto type = cast<ShapedType>(operand.getType());
  int64_t rank = type.getRank();
  if (rank < 3 || type.getDimSize(rank - 3) == 1)
    return true; // the same for all heads
  SmallVector<int64_t> strides = getElementStrides(type);
  // Of rows that are not counted heads may be any distance apart.
  if (strides.empty() || ShapedType::isDynamic(strides[rank - 3]))
    return !ShapedType::isDynamic(rows);
  int64_t bytes = getElementBytes(type);
  return strides[rank - 3] < maxHeadBytes / bytes / heads;
}

int64_t mlir::attn::getPackedHeads(AttentionOp op) {
  DimMap map = getDimMap(op.getLayout()), keyMap = op.getKeyDimMap();
  auto dim = [](Value value, int d) {
    return cast<ShapedType>(value.getType()).getDimSize(d);
  };
  int64_t heads = dim(op.getQuery(), map.head),
          keyHeads = dim(op.getKey(), keyMap.head),
          valueHeads = dim(op.getValue(), keyMap.head);
  for (int64_t size : {heads, keyHeads, valueHeads})
    if (ShapedType::isDynamic(size) || size == 0)
      return 1;
  int64_t packed = std::gcd(heads / keyHeads, heads / valueHeads);
  int64_t rows = dim(op.getQuery(), map.seq);
  if (Value starts = op.getCuSeqlensQ();
      starts && !ShapedType::isDynamic(rows)) {
    int64_t sequences = dim(starts, 0) - 1; // rows: those of the mean one
    rows = ShapedType::isDynamic(dim(starts, 0)) ? ShapedType::kDynamic
           : sequences < 1 ? 0
                           : llvm::divideCeil(rows, sequences);
  }
  if (!ShapedType::isDynamic(rows) && rows >= fullTile)
    return 1;
  for (Value operand : {op.getBias(), op.getMask()})
    if (!fitsRun(operand, packed, rows))
      return 1;
  return packed;
}

Value ForwardKernel::rowInHead(Value row) {
  return b.divide(row, b.c32(packing));
}

Value ForwardKernel::headOf(Value row) {
  if (packing == 1)
    return head;
  return b.addi(head, b.createOrFold<arith::RemUIOp>(row, b.c32(packing)));
}

Values ForwardKernel::packedIndices(Value row, Value col, bool isOutput) {
  Values at(map.rank());
  if (map.batch >= 0)
    at[map.batch] = b.toIndex(batch);
  at[map.head] = b.toIndex(headOf(row));
  Value inHead = rowInHead(row);
  at[map.seq] = b.toIndex(beginQ ? b.addi(inHead, beginQ) : inHead);
  at[map.dim] = b.toIndex(col);
  if (isOutput && splitDim)
    at.insert(at.begin(), splitDim);
  return at;
}

Values ForwardKernel::packedLseIndices(Value row) {
  Value head = b.toIndex(headOf(row)), inHead = rowInHead(row);
  auto packedRow = [&] { return b.toIndex(b.addi(inHead, beginQ)); };
  Values at;
  switch (op.getLseLayoutOrDefault()) {
  case LseLayout::bhs:
  case LseLayout::bhs_padded:
    at = {b.toIndex(batch), head, b.toIndex(inHead)};
    break;
  case LseLayout::hs_packed:
    at = {head, packedRow()};
    break;
  case LseLayout::sh_packed:
    at = {packedRow(), head};
    break;
  }
  if (splitDim)
    at.insert(at.begin(), splitDim);
  return at;
}

// Lanes without a row read the last one of their head: nothing that others of
// their wave do depends on it, as it might on the rows of another sequence.
Value ForwardKernel::readPackedQ(Value row, Value col, int64_t colMax) {
  Value query = argument("query");
  int64_t count = c.getFragment();
  bool isInside = colMax + count <= c.headDimQK;
  Value limited = isInside ? col : b.mins(col, b.c32(c.headDimQK - count));
  Value last = arith::MaxSIOp::create(b, b.addi(headLenQ, -1), b.c32(0));
  Values at = packedIndices(row, limited, /*isOutput=*/false);
  Value inHead = b.mins(rowInHead(row), last);
  if (beginQ) // an empty sequence may begin where all rows end
    inHead = b.mins(b.addi(inHead, beginQ), b.addi(dim(query, map.seq), -1));
  at[map.seq] = b.toIndex(inHead);
  auto type = VectorType::get(count, b.elementType);
  Value x = vector::LoadOp::create(b, type, query, at);
  if (isInside)
    return x;
  Value isColumn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, col, limited);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return arith::SelectOp::create(b, isColumn, x, zero);
}

void ForwardKernel::storePackedO(Value vector, Value row, Value col,
                                 int64_t colMax) {
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  auto store = [&] {
    vector::StoreOp::create(b, vector, argument("output"),
                            packedIndices(row, col, /*isOutput=*/true));
  };
  if (colMax + count <= c.headDimV)
    return store();
  guard(b.addi(col, count - 1), b.c32(c.headDimV), store);
}

void ForwardKernel::guard(Value index, Value end,
                          llvm::function_ref<void()> emit) {
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, end);
  auto guard = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  emit();
}
