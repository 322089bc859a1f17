//===- Signature.h - Names and types of a function --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a caller has to know of a function: names, types and layouts.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_SIGNATURE_H
#define ATTN_RUNTIME_SIGNATURE_H

#include "attn/Target/Manifest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn::rt {

/// One argument or result.
struct ValueInfo {
  enum class Kind { Scalar, Tensor, MemRef };

  std::string name;
  Kind kind = Kind::Scalar;
  /// An index counts as i64.
  manifest::DType dtype = manifest::DType::F32;
  /// mlir::ShapedType::kDynamic for a dynamic size.
  llvm::SmallVector<int64_t> shape;
  /// Memrefs only, in elements; kDynamic where the type leaves them open.
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;

  bool isShaped() const { return kind != Kind::Scalar; }
};

struct Signature {
  std::string entry;
  std::vector<ValueInfo> args;
  std::vector<ValueInfo> results;

  const ValueInfo *findArg(llvm::StringRef name) const;
  const ValueInfo *findResult(llvm::StringRef name) const;
};

/// The function called `entry`, or the only public one when `entry` is empty.
/// It has to have a body; the error lists what there is.
llvm::Expected<mlir::func::FuncOp> findEntry(mlir::ModuleOp module,
                                             llvm::StringRef entry);

/// Names and types. An argument is called by its attribute `attn.name`, else
/// "arg" and its position; a result by its attribute `attn.name`, else
/// "output", "lse", "result2" and so on. Fails on a name used twice and on
/// types that no file can hold.
llvm::Expected<Signature> getSignature(mlir::func::FuncOp function);

/// The element type for a file or manifest, if it has one; index is i64.
std::optional<manifest::DType> getDType(mlir::Type type);

} // namespace attn::rt

#endif // ATTN_RUNTIME_SIGNATURE_H
