//===- OperandMemory.h - How operands lie in memory -------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_OPERANDMEMORY_H
#define ATTN_CONVERSION_OPERANDMEMORY_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::attn {

/// Bytes of an element in memory; i1 takes one.
inline int64_t getElementBytes(ShapedType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Rows of a slice that one buffer resource holds: more than lanes add to a
/// row of their wave.
inline constexpr int64_t resourceRows = 256;

/// Does the type of a bias or mask show that all rows begin at whole
/// dwords, and end there? It is then read as it is; of another one kernels read
/// the dwords that its elements lie in and shift.
inline bool hasWholeDwordRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  if (strides.empty() || strides.back() != 1)
    return false;
  int64_t bytes = getElementBytes(type);
  if (bytes == 4)
    return true;
  if (ShapedType::isDynamic(offset) || offset * bytes % 4)
    return false;
  strides.back() = type.getShape().back();
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    if (size != 1 && (ShapedType::isDynamic(stride) || stride * bytes % 4))
      return false;
  return true;
}

} // namespace mlir::attn

#endif // ATTN_CONVERSION_OPERANDMEMORY_H
