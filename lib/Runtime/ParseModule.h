//===- ParseModule.h - Modules from files -----------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules from files, with one-line errors.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_PARSEMODULE_H
#define ATTN_RUNTIME_PARSEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace attn::rt {

/// Parses and verifies text or bytecode.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseModule(llvm::StringRef path, mlir::MLIRContext &context);

} // namespace attn::rt

#endif // ATTN_RUNTIME_PARSEMODULE_H
