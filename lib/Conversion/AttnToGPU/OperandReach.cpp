//===- OperandReach.cpp - What one buffer resource spans ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
#include "attn/Conversion/OperandMemory.h"

using namespace mlir;
using namespace mlir::attn;

static int64_t getRowDim(LseLayout layout) {
  switch (layout) {
  case LseLayout::bhs:
  case LseLayout::bhs_padded:
    return 2;
  case LseLayout::hs_packed:
    return 1;
  case LseLayout::sh_packed:
    return 0;
  }
  llvm_unreachable("unknown layout");
}

SmallVector<OperandReach> mlir::attn::getReaches(AttentionOp op) {
  SmallVector<OperandReach> reaches;
  auto add = [&](StringRef name, Value operand, int64_t row, int64_t rows) {
    auto type = cast<ShapedType>(operand.getType());
    OperandReach reach{name, operand, SmallVector<int64_t>(type.getRank(), 1)};
    // A whole row; of a length that is not known yet, as much as is legal.
    int64_t columns = type.getShape().back();
    reach.counts.back() =
        ShapedType::isDynamic(columns) ? maxReachBytes : columns;
    if (row >= 0)
      reach.counts[row] = rows;
    reaches.push_back(std::move(reach));
  };
  int64_t row = getDimMap(op.getLayout()).seq, packing = getPackedHeads(op);
  int64_t keyRow = op.getKeyDimMap().seq;
  add("key", op.getKey(), keyRow, resourceRows);
  add("value", op.getValue(), keyRow, resourceRows);
  // Lanes address packed rows of Q, O and LSE in 64 bits.
  if (packing == 1) {
    int64_t first = op.hasSplitDim() ? 1 : 0;
    add("query", op.getQuery(), row, resourceRows);
    add("output", op.getOutputInit(), first + row, resourceRows);
    if (Value lse = op.getLseInit()) {
      int64_t rank = cast<ShapedType>(lse.getType()).getRank();
      add("lse", lse, first + getRowDim(op.getLseLayoutOrDefault()),
          resourceRows);
      if (reaches.back().counts[rank - 1] != resourceRows)
        reaches.back().counts[rank - 1] = 1; // one head's rows
    }
  }
  for (auto [name, operand] :
       {std::pair("bias", op.getBias()), std::pair("mask", op.getMask())}) {
    if (!operand)
      continue;
    int64_t rank = cast<ShapedType>(operand.getType()).getRank();
    add(name, operand, rank - 2, getRunRows(packing));
    if (rank > 2)
      reaches.back().counts[rank - 3] = packing;
  }
  return reaches;
}

std::optional<ReachBytes> mlir::attn::getBytes(const OperandReach &reach) {
  auto type = cast<ShapedType>(reach.operand.getType());
  if (llvm::is_contained(type.getShape(), 0))
    return ReachBytes();
  SmallVector<int64_t> strides = getElementStrides(type);
  if (strides.empty())
    return std::nullopt;
  uint64_t elements = 1;
  ReachBytes result;
  for (auto [size, most, stride] :
       llvm::zip(type.getShape(), reach.counts, strides)) {
    if (size == 1 || most == 1)
      continue;
    if (ShapedType::isDynamic(stride))
      return std::nullopt;
    bool isKnown = !ShapedType::isDynamic(size);
    result.isExact &= isKnown;
    elements = llvm::SaturatingMultiplyAdd<uint64_t>(
        (isKnown ? std::min(size, most) : most) - 1, stride, elements);
  }
  result.bytes =
      llvm::SaturatingMultiply<uint64_t>(elements, getElementBytes(type));
  return result;
}

LogicalResult mlir::attn::verifyReaches(AttentionOp op, const ChipInfo &chip) {
  for (const OperandReach &reach : getReaches(op)) {
    std::optional<ReachBytes> span = getBytes(reach);
    if (!span || !span->isExact || span->bytes < maxReachBytes)
      continue;
    InFlightDiagnostic error = op.emitOpError("expects ");
    auto shape = cast<ShapedType>(reach.operand.getType()).getShape();
    llvm::interleave(
        llvm::zip(shape, reach.counts), error,
        [&](auto sizes) {
          error << std::min(std::get<0>(sizes), std::get<1>(sizes));
        },
        "x");
    return error << " neighbouring elements of " << reach.name
                 << " to span less than " << maxReachBytes << " bytes on "
                 << chip.name << ", but got " << span->bytes
                 << "; copy the operand to a contiguous memref";
  }
  return success();
}
