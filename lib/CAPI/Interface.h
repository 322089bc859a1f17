//===- Interface.h - What a launch has to pass ------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CAPI_INTERFACE_H
#define ATTN_LIB_CAPI_INTERFACE_H

#include "attn/Runtime/Npy.h"
#include "attn/Runtime/Signature.h"

namespace attn::capi {

/// The buffers of a function, whatever it is compiled for, and what has to hold
/// between them. The ops verify their operands as far as types tell; this is
/// the rest, for launches to check.
struct Interface {
  /// `buffers` only. Dimensions that have to be equal have one name; a stride
  /// with a name of its own is the caller's to choose.
  manifest::Manifest buffers;

  /// Size `lhs` is a multiple of `rhs`: heads.
  struct Multiple {
    manifest::SizeExpr lhs, rhs;
  };
  std::vector<Multiple> multiples;

  /// What the numbers in a buffer of i32 (or a scalar) may be.
  struct Contents {
    enum class Kind {
      /// Lengths: 0 to `limit`.
      Length,
      /// Where packed sequences begin: from 0 on, not falling, to `limit`. No
      /// sequence is longer than any of `longest`.
      Cumulative,
      /// Pages: 0 to `limit` - 1, those that `lengths` with `pageSize` uses.
      Page,
    };
    Kind kind = Kind::Length;
    std::string buffer;
    manifest::SizeExpr limit;
    std::vector<manifest::SizeExpr> longest;
    std::string lengths;
    int64_t pageSize = 0;
  };
  std::vector<Contents> contents;

  /// Reads it off a function that has not been lowered yet.
  static llvm::Expected<Interface> create(mlir::func::FuncOp function,
                                          const rt::Signature &signature,
                                          llvm::StringRef target);
  static llvm::Expected<Interface> fromJSON(const llvm::json::Value &value);
  llvm::json::Value toJSON() const;

  /// Fails unless `arrays`, by name, are what the function takes: one for every
  /// buffer, types, sizes, strides. With `readable`, the numbers in them too.
  llvm::Error check(const llvm::StringMap<rt::ArrayView> &arrays,
                    bool readable) const;
};

} // namespace attn::capi

#endif // ATTN_LIB_CAPI_INTERFACE_H
