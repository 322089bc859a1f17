//===- Digits.h - Which element of a tensor, loop by loop -------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A position along a dim, written in the loops of the program that is being
// recognised. Reshapes only regroup digits, transposes only reorder lists of
// them, so that any chain of both has one canonical form.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_DIGITS_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_DIGITS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir::attn {

/// (loop / stride) % size; a size may be dynamic (ShapedType::kDynamic), then
/// nothing of the loop is above this digit.
struct Digit {
  unsigned loop;
  int64_t stride, size;

  bool operator==(const Digit &other) const = default;
};

/// A number in mixed radix, most significant digit first. No digit has size 1
/// and neighbours are merged where they are one digit; empty means 0.
using Index = SmallVector<Digit, 2>;

/// A position in a tensor: the index of every dim, each running over all of it.
using Indices = SmallVector<Index, 4>;

/// The index of a loop with `size` trips.
Index indexOfLoop(unsigned loop, int64_t size);

/// How many values the index takes; dynamic if a digit is.
int64_t sizeOf(const Index &index);

/// Whether `index` runs over a dim of `size`, as far as static sizes tell.
bool covers(const Index &index, int64_t size);

/// high * sizeOf(low) + low.
Index concat(Index high, const Index &low);

/// Takes an index apart into one for every size (a dim each), or nothing where
/// digits do not fall together with sizes, or two sizes are dynamic.
std::optional<SmallVector<Index>> split(const Index &index,
                                        ArrayRef<int64_t> sizes);

/// Whether a digit of the loops of `other` occurs.
bool shareLoop(const Index &index, const Index &other);
bool shareLoop(const Indices &indices, const Index &other);

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_DIGITS_H
