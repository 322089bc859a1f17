//===- ParseModule.cpp - Modules from files -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParseModule.h"
#include "attn/Runtime/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace attn::rt {

Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseModule(StringRef path, mlir::MLIRContext &context) {
  auto buffer = MemoryBuffer::getFile(path);
  if (std::error_code ec = buffer.getError())
    return createStringError("cannot read '" + path + "': " + ec.message());
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  FirstError diagnostics(&context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return diagnostics.take("'" + path + "' is not a module");
  return module;
}

} // namespace attn::rt
