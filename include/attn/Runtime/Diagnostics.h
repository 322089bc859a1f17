//===- Diagnostics.h - One-line errors --------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's diagnostics as one-line errors.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_DIAGNOSTICS_H
#define ATTN_RUNTIME_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <string>

namespace attn::rt {

/// While it lives, keeps the first error of a context and swallows the rest.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context);

  /// "file.mlir:3:7: message"; `fallback` when nothing was reported.
  llvm::Error take(const llvm::Twine &fallback);

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_DIAGNOSTICS_H
