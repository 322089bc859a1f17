//===- Compiler.h - MLIR module to code object and manifest -----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_COMPILER_H
#define ATTN_TARGET_COMPILER_H

#include "attn/Target/HSACO.h"
#include "attn/Target/Manifest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace mlir::attn {

/// Registers what translating kernels to LLVM IR needs.
void registerKernelTranslation(DialectRegistry &registry);

/// LLVM IR of one kernel module, with triple and data layout of `chip`.
FailureOr<std::unique_ptr<llvm::Module>>
translateKernel(gpu::GPUModuleOp module, llvm::LLVMContext &context,
                llvm::StringRef chip);

/// LLVM IR of all kernels (perhaps none) of a module that `attn-to-rocdl` left,
/// in one LLVM module, optimized and ready for `emitAssembly` or `emitObject`.
FailureOr<std::unique_ptr<llvm::Module>>
translateKernels(ModuleOp module, llvm::LLVMContext &context,
                 llvm::StringRef chip, unsigned optLevel = 3);

/// The function that launches kernels: `entry`, or the only one if empty (any
/// function if none does). Fails with a diagnostic if there is a choice.
FailureOr<func::FuncOp> findEntry(ModuleOp module, llvm::StringRef entry = {});

/// The manifest of `function`: its launches with the kernels of `kernels`.
/// Buffers take the names of arguments ("attn.name", else "argN") and results
/// ("attn.name", else "output", "lse"); sizes that are dynamic are named after
/// the buffer they come from ("query.d2"). Alignments are the arguments'
/// "attn.alignment", reaches "attn.reach".
FailureOr<::attn::manifest::Manifest>
buildManifest(func::FuncOp function, llvm::StringRef chip,
              llvm::ArrayRef<KernelInfo> kernels);

} // namespace mlir::attn

#endif // ATTN_TARGET_COMPILER_H
