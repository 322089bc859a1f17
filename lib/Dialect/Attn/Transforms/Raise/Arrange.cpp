//===- Arrange.cpp - Tensors in the order an op wants ---------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Refinement
//===----------------------------------------------------------------------===//

void Refinement::add(const Indices &indices) {
  for (const Index &index : indices)
    for (const Digit &digit : index) {
      std::set<int64_t> &loop = cuts[digit.loop];
      loop.insert(digit.stride);
      if (!ShapedType::isDynamic(digit.size))
        loop.insert(digit.stride * digit.size);
    }
}

LogicalResult Refinement::check() const {
  for (const auto &[loop, strides] : cuts)
    for (auto at = strides.begin(); std::next(at) != strides.end(); ++at)
      if (*std::next(at) % *at != 0)
        return failure();
  return success();
}

Digits Refinement::refine(const Index &index) const {
  Digits digits;
  for (const Digit &digit : index) {
    const std::set<int64_t> &strides = cuts.at(digit.loop);
    bool dynamic = ShapedType::isDynamic(digit.size);
    int64_t end = dynamic ? 0 : digit.stride * digit.size;
    Digits parts;
    for (auto at = strides.find(digit.stride); at != strides.end(); ++at) {
      if (*at == end)
        break;
      auto next = std::next(at);
      parts.push_back(
          {digit.loop, *at,
           next == strides.end() ? ShapedType::kDynamic : *next / *at});
    }
    digits.append(parts.rbegin(), parts.rend());
  }
  return digits;
}

Digits Refinement::refine(const Indices &indices) const {
  Digits digits;
  for (const Index &index : indices)
    digits.append(refine(index));
  return digits;
}

//===----------------------------------------------------------------------===//
// Arranging
//===----------------------------------------------------------------------===//

namespace {
/// A dim of the expanded tensor and where it goes.
struct Entry {
  int64_t size;
  unsigned group = 0, place = 0;

  bool operator<(const Entry &other) const {
    return std::pair(group, place) < std::pair(other.group, other.place);
  }
};
} // namespace

static Entry locate(const Digit &digit, ArrayRef<Digits> groups) {
  for (auto [number, group] : llvm::enumerate(groups))
    for (auto [place, other] : llvm::enumerate(group))
      if (other.loop == digit.loop && other.stride == digit.stride)
        return {digit.size, unsigned(number), unsigned(place)};
  llvm_unreachable("expects every digit in a group");
}

bool attn::isInOrder(const Digits &digits, ArrayRef<Digits> groups) {
  SmallVector<Entry> entries;
  for (const Digit &digit : digits)
    entries.push_back(locate(digit, groups));
  return llvm::is_sorted(entries);
}

/// Consecutive numbers in lists of the given lengths.
static SmallVector<ReassociationIndices>
consecutive(ArrayRef<unsigned> lengths) {
  SmallVector<ReassociationIndices> lists;
  int64_t next = 0;
  for (unsigned length : lengths) {
    ReassociationIndices &list = lists.emplace_back();
    for (unsigned n = 0; n < length; ++n)
      list.push_back(next++);
  }
  return lists;
}

static Value transpose(OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> from = tensor::getMixedSizes(builder, loc, tensor);
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : order)
    sizes.push_back(from[dim]);
  Value empty = tensor::EmptyOp::create(
      builder, loc, sizes, cast<ShapedType>(tensor.getType()).getElementType());
  return linalg::TransposeOp::create(builder, loc, tensor, empty, order)
      ->getResult(0);
}

Value attn::arrange(OpBuilder &builder, Location loc, Value tensor,
                    ArrayRef<Digits> dims, ArrayRef<Digits> groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Entry> entries;
  SmallVector<unsigned> perDim;
  // A unit dim goes to the next group that lacks digits, so that the usual
  // [1, H, S, D] needs no reshape; else it joins the group before it.
  unsigned group = 0, place = 0;
  bool started = false;
  for (auto [dim, digits] : llvm::enumerate(dims)) {
    size_t first = entries.size();
    for (const Digit &digit : digits) {
      Entry entry = locate(digit, groups);
      bool stays = entries.size() > first && entry.group == group &&
                   entry.place == place + 1;
      group = entry.group;
      place = entry.place;
      started = true;
      if (!stays) {
        entries.push_back(entry);
        continue;
      }
      // What stays together needs no dim of its own.
      int64_t &size = entries.back().size;
      bool dynamic =
          ShapedType::isDynamic(size) || ShapedType::isDynamic(digit.size);
      size = dynamic ? ShapedType::kDynamic : size * digit.size;
    }
    perDim.push_back(std::max<size_t>(entries.size() - first, 1));
    if (entries.size() == first + 1)
      entries.back().size = type.getDimSize(dim);
    if (!digits.empty())
      continue;
    unsigned next = started ? group + 1 : 0;
    if (next < groups.size() && groups[next].empty()) {
      group = next;
      place = 0;
      started = true;
    }
    entries.push_back({1, group, place});
  }

  if (entries.size() != dims.size()) {
    SmallVector<int64_t> shape;
    for (const Entry &entry : entries)
      shape.push_back(entry.size);
    tensor = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        tensor, consecutive(perDim));
  }
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, entries.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::tuple(entries[a].group, entries[a].place, a) <
           std::tuple(entries[b].group, entries[b].place, b);
  });
  if (!llvm::is_sorted(order))
    tensor = transpose(builder, loc, tensor, order);

  SmallVector<unsigned> perGroup(groups.size());
  for (const Entry &entry : entries)
    ++perGroup[entry.group];
  SmallVector<unsigned> lengths = llvm::to_vector(
      llvm::make_filter_range(perGroup, [](unsigned n) { return n != 0; }));
  if (llvm::any_of(lengths, [](unsigned length) { return length > 1; }))
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor,
                                             consecutive(lengths));
  if (lengths.size() == groups.size())
    return tensor;
  // Dims of 1 for groups of which the tensor has nothing.
  auto collapsed = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  SmallVector<unsigned> parts(lengths.size());
  unsigned used = 0;
  for (unsigned length : perGroup) {
    if (length)
      ++used;
    shape.push_back(length ? collapsed.getDimSize(used - 1) : 1);
    if (!parts.empty())
      ++parts[std::max(used, 1u) - 1];
  }
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      consecutive(parts));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A tensor of `type` with what `body` makes of every element.
static Value
mapElements(OpBuilder &builder, Location loc, Value tensor, Type type,
            function_ref<Value(OpBuilder &, Location, Value)> body) {
  auto rank = cast<RankedTensorType>(tensor.getType()).getRank();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor), type);
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), tensor, empty, maps, kinds,
             [&](OpBuilder &b, Location l, ValueRange arguments) {
               linalg::YieldOp::create(b, l, body(b, l, arguments[0]));
             })
      .getResult(0);
}

Value attn::castElements(OpBuilder &builder, Location loc, Value tensor,
                         Type type) {
  Type from = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (from == type)
    return tensor;
  bool widens = from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
  return mapElements(builder, loc, tensor, type,
                     [&](OpBuilder &b, Location l, Value x) -> Value {
                       if (widens)
                         return arith::ExtFOp::create(b, l, type, x);
                       return arith::TruncFOp::create(b, l, type, x);
                     });
}

Value attn::invert(OpBuilder &builder, Location loc, Value tensor) {
  return mapElements(builder, loc, tensor, builder.getI1Type(),
                     [&](OpBuilder &b, Location l, Value x) -> Value {
                       Value one = arith::ConstantIntOp::create(b, l, 1, 1);
                       return arith::XOrIOp::create(b, l, x, one);
                     });
}
