//===- SizeExpr.h - Sizes over named dimensions -----------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A manifest states every size as an integer or as an expression over named
// dimensions: "B", "ceildiv(Sq, 128)", "2 * (Hq + Hk)".
//
//   expr    ::= term (("+" | "-") term)*
//   term    ::= factor (("*" | "ceildiv") factor)*
//   factor  ::= "-" factor | integer | name | "(" expr ")"
//             | ("ceildiv" | "min" | "max") "(" expr ("," expr)* ")"
//   name    ::= [A-Za-z_][A-Za-z0-9_.]*
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_SIZEEXPR_H
#define ATTN_TARGET_SIZEEXPR_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace attn::manifest {

/// Values of named dimensions.
using DimMap = llvm::StringMap<int64_t>;

/// An immutable integer expression over named dimensions. Copies are cheap.
class SizeExpr {
public:
  /// The constant 0.
  SizeExpr() : SizeExpr(0) {}
  /// A constant.
  SizeExpr(int64_t value);

  /// The named dimension `name`, an identifier that is not an operator.
  static SizeExpr dim(llvm::StringRef name);
  static SizeExpr add(SizeExpr lhs, SizeExpr rhs);
  static SizeExpr sub(SizeExpr lhs, SizeExpr rhs);
  static SizeExpr mul(SizeExpr lhs, SizeExpr rhs);
  /// The quotient rounded towards positive infinity; `rhs` has to be positive.
  static SizeExpr ceilDiv(SizeExpr lhs, SizeExpr rhs);
  static SizeExpr min(SizeExpr lhs, SizeExpr rhs);
  static SizeExpr max(SizeExpr lhs, SizeExpr rhs);

  /// Parses `text`; the error names the column (from 1) of the first mistake.
  static llvm::Expected<SizeExpr> parse(llvm::StringRef text);
  /// True for a legal dimension name.
  static bool isName(llvm::StringRef name);

  /// The value, when no dimension takes part.
  std::optional<int64_t> getConstant() const;
  /// The name, when the expression is one bare dimension.
  std::optional<llvm::StringRef> getDim() const;
  /// Appends the names used, each once, in order of appearance.
  void getDims(llvm::SmallVectorImpl<llvm::StringRef> &names) const;

  /// The same with expressions in the place of the dimensions `names` has.
  SizeExpr substitute(const llvm::StringMap<SizeExpr> &names) const;

  /// The value for `dims`. Fails on a missing dimension, on overflow of 64
  /// signed bits, and on a ceildiv by zero or a negative number.
  llvm::Expected<int64_t> evaluate(const DimMap &dims) const;

  /// Text that `parse` reads back.
  std::string str() const;
  /// An integer for a constant, otherwise the text.
  llvm::json::Value toJSON() const;

  struct Node;

private:
  explicit SizeExpr(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  static SizeExpr binary(int kind, SizeExpr lhs, SizeExpr rhs);

  std::shared_ptr<const Node> node;
};

} // namespace attn::manifest

#endif // ATTN_TARGET_SIZEEXPR_H
