//===- Translate.cpp ------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Compiler.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Linker/Linker.h"

using namespace mlir;
using namespace mlir::attn;

void mlir::attn::registerKernelTranslation(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

FailureOr<std::unique_ptr<llvm::Module>>
mlir::attn::translateKernel(gpu::GPUModuleOp module, llvm::LLVMContext &context,
                            llvm::StringRef chip) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!result)
    return module.emitOpError("cannot be translated to LLVM IR");
  if (llvm::Error error = prepareModule(*result, chip))
    return module.emitOpError(llvm::toString(std::move(error)));
  return result;
}

FailureOr<std::unique_ptr<llvm::Module>>
mlir::attn::translateKernels(ModuleOp module, llvm::LLVMContext &context,
                             llvm::StringRef chip, unsigned optLevel) {
  std::unique_ptr<llvm::Module> result;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    auto one = translateKernel(kernels, context, chip);
    if (failed(one))
      return failure();
    if (!result)
      result = std::move(*one);
    else if (llvm::Linker::linkModules(*result, std::move(*one)))
      return kernels.emitOpError("cannot be linked with the other kernels");
  }
  if (!result) { // nothing to launch
    result = std::make_unique<llvm::Module>("empty", context);
    if (llvm::Error error = prepareModule(*result, chip))
      return module.emitOpError(llvm::toString(std::move(error)));
  }
  if (llvm::Error error = optimizeModule(*result, chip, optLevel))
    return module.emitOpError(llvm::toString(std::move(error)));
  return result;
}
