//===- CompileModule.h - Code for a chip ------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a module to a code object in memory.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_COMPILEMODULE_H
#define ATTN_RUNTIME_COMPILEMODULE_H

#include "attn/Runtime/KernelProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class PassManager;
} // namespace mlir

namespace attn::rt {

/// What attn-compile writes.
struct CompiledModule {
  llvm::SmallVector<char, 0> code;
  manifest::Manifest manifest;
  /// Arguments of the entry that the kernels need not, such as tensors that
  /// only say where a result goes: the manifest has no buffer for them.
  std::vector<std::string> unusedArgs;
  /// Results of the entry: buffers that a caller may leave alone.
  std::vector<std::string> results;
};

/// Everything that parsing, lowering and translating for a chip needs.
void registerGPUDialects(mlir::DialectRegistry &registry);

/// Lowers `module` in place and compiles it for `chip`; the manifest is that of
/// `entry`, or of the only function that launches kernels. `optLevel` is
/// LLVM's, 0 to 3. The context needs `registerGPUDialects`. Errors are one
/// line.
llvm::Expected<CompiledModule> compileModule(mlir::ModuleOp module,
                                             llvm::StringRef chip,
                                             llvm::StringRef entry,
                                             unsigned optLevel = 3);

/// The assembly of what `compileModule` compiles; `instrument` sees the pass
/// manager before it runs.
llvm::Expected<std::string>
emitAssembly(mlir::ModuleOp module, llvm::StringRef chip, unsigned optLevel,
             llvm::function_ref<void(mlir::PassManager &)> instrument);

/// `compileModule` of the module in the file `path`.
llvm::Expected<CompiledModule> compileModule(llvm::StringRef path,
                                             llvm::StringRef chip,
                                             llvm::StringRef entry,
                                             unsigned optLevel = 3);

/// The same, ready for a device to load.
llvm::Expected<KernelProgram> compileProgram(llvm::StringRef path,
                                             llvm::StringRef chip,
                                             llvm::StringRef entry,
                                             unsigned optLevel = 3);

} // namespace attn::rt

#endif // ATTN_RUNTIME_COMPILEMODULE_H
