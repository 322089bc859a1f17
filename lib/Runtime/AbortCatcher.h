//===- AbortCatcher.h - Assertions of compiled code -------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR lowers cf.assert to a puts and an abort, which would end the process.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ABORTCATCHER_H
#define ATTN_RUNTIME_ABORTCATCHER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include <optional>
#include <string>

namespace attn::rt {

/// Runs `code`, which may do nothing but call compiled code: an abort leaves
/// its frames without destructors. Returns what the code said before it
/// aborted, or nothing when it came to its end.
std::optional<std::string> catchAbort(llvm::function_ref<void()> code);

/// puts and abort, to be linked to compiled code.
llvm::orc::SymbolMap getAbortSymbols(llvm::orc::MangleAndInterner mangle);

} // namespace attn::rt

#endif // ATTN_RUNTIME_ABORTCATCHER_H
