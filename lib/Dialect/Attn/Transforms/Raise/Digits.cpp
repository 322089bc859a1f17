//===- Digits.cpp - Which element of a tensor, loop by loop ---------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Digits.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::attn;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static int64_t product(int64_t a, int64_t b) {
  return a == kDynamic || b == kDynamic ? kDynamic : a * b;
}

Index attn::indexOfLoop(unsigned loop, int64_t size) {
  if (size == 1)
    return {};
  return {Digit{loop, 1, size}};
}

int64_t attn::sizeOf(const Index &index) {
  int64_t size = 1;
  for (const Digit &digit : index)
    size = product(size, digit.size);
  return size;
}

bool attn::covers(const Index &index, int64_t size) {
  int64_t own = sizeOf(index);
  return own == size || (own == kDynamic && !index.empty()) ||
         (size == kDynamic && !index.empty());
}

Index attn::concat(Index high, const Index &low) {
  for (const Digit &digit : low) {
    if (!high.empty()) {
      Digit &last = high.back();
      if (last.loop == digit.loop && digit.size != kDynamic &&
          last.stride == digit.stride * digit.size) {
        last = {digit.loop, digit.stride, product(last.size, digit.size)};
        continue;
      }
    }
    high.push_back(digit);
  }
  return high;
}

/// Takes the least significant part of `size` (static) off the index.
static std::optional<Index> takeLow(Index &index, int64_t size) {
  Index low;
  while (size != 1) {
    if (index.empty() || size == 0 || index.back().size == 0)
      return std::nullopt;
    Digit &digit = index.back();
    if (digit.size != kDynamic && size % digit.size == 0) {
      size /= digit.size;
      low.insert(low.begin(), digit);
      index.pop_back();
      continue;
    }
    if (digit.size != kDynamic && digit.size % size != 0)
      return std::nullopt;
    low.insert(low.begin(), Digit{digit.loop, digit.stride, size});
    digit.stride *= size;
    if (digit.size != kDynamic)
      digit.size /= size;
    size = 1;
  }
  return low;
}

std::optional<SmallVector<Index>> attn::split(const Index &index,
                                              ArrayRef<int64_t> sizes) {
  SmallVector<Index> parts(sizes.size());
  if (sizes.empty())
    return index.empty() ? std::optional(parts) : std::nullopt;
  Index rest = index;
  // What is above a dynamic size has to be whole digits.
  size_t first = 0, last = sizes.size();
  while (last > first + 1 && sizes[last - 1] != kDynamic) {
    std::optional<Index> low = takeLow(rest, sizes[--last]);
    if (!low)
      return std::nullopt;
    parts[last] = *low;
  }
  while (first + 1 < last) {
    int64_t size = sizes[first];
    Index high;
    if (size == kDynamic)
      return std::nullopt;
    if (size != 1) {
      if (rest.empty() || rest.front().size != size)
        return std::nullopt;
      high = {rest.front()};
      rest.erase(rest.begin());
    }
    parts[first++] = high;
  }
  if (!covers(rest, sizes[first]))
    return std::nullopt;
  parts[first] = rest;
  return parts;
}

bool attn::shareLoop(const Index &index, const Index &other) {
  return llvm::any_of(index, [&](const Digit &digit) {
    return llvm::any_of(
        other, [&](const Digit &mine) { return mine.loop == digit.loop; });
  });
}

bool attn::shareLoop(const Indices &indices, const Index &other) {
  return llvm::any_of(
      indices, [&](const Index &index) { return shareLoop(index, other); });
}
