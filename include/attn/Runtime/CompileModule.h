//===- CompileModule.h - Code for a chip ------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a file with a module to a code object in memory.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_COMPILEMODULE_H
#define ATTN_RUNTIME_COMPILEMODULE_H

#include "attn/Target/Manifest.h"
#include "llvm/ADT/SmallVector.h"

namespace attn::rt {

/// What attn-compile writes.
struct CompiledModule {
  llvm::SmallVector<char, 0> code;
  manifest::Manifest manifest;
};

/// Compiles the module in `path` for `chip`; the manifest is that of `entry`,
/// or of the only function that launches kernels. `optLevel` is LLVM's, 0 to 3.
/// Errors are one line.
llvm::Expected<CompiledModule> compileModule(llvm::StringRef path,
                                             llvm::StringRef chip,
                                             llvm::StringRef entry,
                                             unsigned optLevel = 3);

} // namespace attn::rt

#endif // ATTN_RUNTIME_COMPILEMODULE_H
