//===- Arrange.h - Tensors in the order an op wants -------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_ARRANGE_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_ARRANGE_H

#include "Digits.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <set>

namespace mlir::attn {

using Digits = SmallVector<Digit, 4>;

/// Cuts loops so finely that every index in use is a list of whole digits.
class Refinement {
public:
  void add(const Indices &indices);
  /// Fails where two indices cut a loop in ways that do not fit.
  LogicalResult check() const;
  Digits refine(const Index &index) const;
  Digits refine(const Indices &indices) const;

private:
  /// Strides at which each loop is cut, and its size or 0 if that is dynamic.
  std::map<unsigned, std::set<int64_t>> cuts;
};

/// Reshapes and transposes a tensor, whose dims run over `indices`, so that
/// dim n runs over the digits of group n. A group without digits is a dim of 1.
/// Every digit of the tensor is in one group.
Value arrange(OpBuilder &builder, Location loc, Value tensor,
              ArrayRef<Digits> dims, ArrayRef<Digits> groups);

/// Whether `arrange` has nothing to transpose.
bool isInOrder(const Digits &digits, ArrayRef<Digits> groups);

/// The tensor's elements in another float type.
Value castElements(OpBuilder &builder, Location loc, Value tensor, Type type);

/// The other value of every i1.
Value invert(OpBuilder &builder, Location loc, Value tensor);

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_ARRANGE_H
