//===- Slicing.cpp - Parts of tensors and memrefs -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/Slicing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

/// Constants as attributes: a size that is a constant value would be dynamic in
/// the type that an op infers, but static in ours.
static SmallVector<OpFoldResult> foldConstants(Builder &builder,
                                               ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return OpFoldResult(builder.getIndexAttr(*constant));
    return value;
  });
}

SmallVector<OpFoldResult> attn::getMixedSizes(OpBuilder &builder, Location loc,
                                              Value value) {
  if (isa<TensorType>(value.getType()))
    return foldConstants(builder, tensor::getMixedSizes(builder, loc, value));
  return foldConstants(builder, memref::getMixedSizes(builder, loc, value));
}

OpFoldResult attn::getMixedSize(OpBuilder &builder, Location loc, Value value,
                                int64_t dim) {
  OpFoldResult size = isa<TensorType>(value.getType())
                          ? tensor::getMixedSize(builder, loc, value, dim)
                          : memref::getMixedSize(builder, loc, value, dim);
  return foldConstants(builder, size).front();
}

static SmallVector<OpFoldResult> unitStrides(OpBuilder &builder, size_t rank) {
  return SmallVector<OpFoldResult>(rank, builder.getIndexAttr(1));
}

Value attn::createEmpty(OpBuilder &builder, Location loc, bool isTensor,
                        ArrayRef<OpFoldResult> sizes, Type element) {
  if (isTensor)
    return tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<int64_t> staticSizes;
  SmallVector<Value> dynamicSizes;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  return memref::AllocOp::create(
      builder, loc, MemRefType::get(staticSizes, element), dynamicSizes);
}

Value attn::createSlice(OpBuilder &builder, Location loc, Value source,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> mixedSizes,
                        std::optional<ArrayRef<int64_t>> kept) {
  SmallVector<OpFoldResult> sizes = foldConstants(builder, mixedSizes);
  SmallVector<OpFoldResult> strides = unitStrides(builder, offsets.size());
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> keptSizes;
  for (int64_t dim = 0, rank = sizes.size(); dim < rank; ++dim)
    if (!kept || llvm::is_contained(*kept, dim)) {
      shape.push_back(
          getConstantIntValue(sizes[dim]).value_or(ShapedType::kDynamic));
      keptSizes.push_back(sizes[dim]);
    }
  // In a dim of 0 not even offset 0 is in bounds for extract_slice and subview.
  // Without elements any strides do.
  auto sourceType = cast<ShapedType>(source.getType());
  if (llvm::is_contained(sourceType.getShape(), 0)) {
    if (isa<TensorType>(sourceType))
      return tensor::EmptyOp::create(builder, loc, keptSizes,
                                     sourceType.getElementType());
    auto layout = StridedLayoutAttr::get(builder.getContext(), /*offset=*/0,
                                         SmallVector<int64_t>(shape.size(), 1));
    auto type = MemRefType::get(shape, sourceType.getElementType(), layout,
                                cast<MemRefType>(sourceType).getMemorySpace());
    return memref::ReinterpretCastOp::create(
        builder, loc, type, source, builder.getIndexAttr(0), keptSizes,
        unitStrides(builder, shape.size()));
  }
  if (auto type = dyn_cast<RankedTensorType>(source.getType()))
    return tensor::ExtractSliceOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        source, offsets, sizes, strides);
  auto type = memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(source.getType()), offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, type, source, offsets, sizes,
                                   strides);
}

Value attn::insertSlice(OpBuilder &builder, Location loc, Value part,
                        Value target, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  if (isa<MemRefType>(target.getType()))
    return {};
  return tensor::InsertSliceOp::create(builder, loc, part, target, offsets,
                                       foldConstants(builder, sizes),
                                       unitStrides(builder, offsets.size()));
}

/// Groups of dims that make a value of rank `to` from one of rank `from` by
/// putting unit dims in front of the first dim.
static SmallVector<ReassociationIndices> frontGroups(int64_t from, int64_t to) {
  SmallVector<ReassociationIndices> groups(from);
  if (from == 0)
    return groups;
  int64_t extra = to - from;
  for (int64_t dim = 0; dim <= extra; ++dim)
    groups[0].push_back(dim);
  for (int64_t dim = 1; dim < from; ++dim)
    groups[dim].push_back(extra + dim);
  return groups;
}

Value attn::expandToRank(OpBuilder &builder, Location loc, Value value,
                         int64_t rank) {
  auto type = cast<ShapedType>(value.getType());
  if (type.getRank() == rank)
    return value;
  int64_t extra = rank - type.getRank();
  SmallVector<int64_t> shape(extra, 1);
  llvm::append_range(shape, type.getShape());
  SmallVector<OpFoldResult> sizes(extra, builder.getIndexAttr(1));
  llvm::append_range(sizes, getMixedSizes(builder, loc, value));
  auto groups = frontGroups(type.getRank(), rank);
  if (isa<TensorType>(value.getType()))
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        value, groups, sizes);
  return memref::ExpandShapeOp::create(builder, loc, shape, value, groups,
                                       sizes);
}

Value attn::collapseToRank(OpBuilder &builder, Location loc, Value value,
                           int64_t rank) {
  auto type = cast<ShapedType>(value.getType());
  if (type.getRank() == rank)
    return value;
  auto groups = frontGroups(rank, type.getRank());
  if (isa<TensorType>(value.getType()))
    return tensor::CollapseShapeOp::create(builder, loc, value, groups);
  return memref::CollapseShapeOp::create(builder, loc, value, groups);
}

Value attn::loadElement(OpBuilder &builder, Location loc, Value source,
                        ArrayRef<OpFoldResult> indices) {
  SmallVector<Value> at =
      getValueOrCreateConstantIndexOp(builder, loc, indices);
  if (isa<TensorType>(source.getType()))
    return tensor::ExtractOp::create(builder, loc, source, at);
  return memref::LoadOp::create(builder, loc, source, at);
}

Value attn::toIndex(OpBuilder &builder, Location loc, Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

Value attn::clampIndex(OpBuilder &builder, Location loc, Value value, Value low,
                       Value high) {
  value = arith::MaxSIOp::create(builder, loc, value, low);
  return arith::MinSIOp::create(builder, loc, value, high);
}
