//===- Slicing.h - Parts of tensors and memrefs -----------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One way to take parts of shaped values, whether they are tensors
// (extract_slice, insert_slice) or memrefs (subview, written in place).
//
#ifndef ATTN_DIALECT_ATTN_UTILS_SLICING_H
#define ATTN_DIALECT_ATTN_UTILS_SLICING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::attn {

/// Sizes of all dims of a tensor or memref.
SmallVector<OpFoldResult> getMixedSizes(OpBuilder &builder, Location loc,
                                        Value value);
OpFoldResult getMixedSize(OpBuilder &builder, Location loc, Value value,
                          int64_t dim);

/// A new tensor (`isTensor`, tensor.empty) or memref (memref.alloc) of `sizes`,
/// without contents.
Value createEmpty(OpBuilder &builder, Location loc, bool isTensor,
                  ArrayRef<OpFoldResult> sizes, Type element);

/// extract_slice or subview with unit strides. `kept` lists the dims the result
/// has, in order; the others must have size 1. All dims by default.
Value createSlice(OpBuilder &builder, Location loc, Value source,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  std::optional<ArrayRef<int64_t>> kept = std::nullopt);

/// Writes `part`, which was computed into the slice of `target` that
/// createSlice gives for the same offsets and sizes. Returns the new tensor;
/// null for memrefs, where the part has been written in place.
Value insertSlice(OpBuilder &builder, Location loc, Value part, Value target,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);

/// Adds unit dims in front until the value has `rank` dims.
Value expandToRank(OpBuilder &builder, Location loc, Value value, int64_t rank);
/// Undoes expandToRank.
Value collapseToRank(OpBuilder &builder, Location loc, Value value,
                     int64_t rank);

/// One element of a tensor or memref.
Value loadElement(OpBuilder &builder, Location loc, Value source,
                  ArrayRef<OpFoldResult> indices);

/// An integer of any width as index.
Value toIndex(OpBuilder &builder, Location loc, Value value);

/// An index, signed, limited to low..high.
Value clampIndex(OpBuilder &builder, Location loc, Value value, Value low,
                 Value high);

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_UTILS_SLICING_H
