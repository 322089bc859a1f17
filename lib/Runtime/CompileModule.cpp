//===- CompileModule.cpp - Code for a chip --------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/CompileModule.h"
#include "ParseModule.h"
#include "attn/InitAll.h"
#include "attn/Runtime/Diagnostics.h"
#include "attn/Runtime/Interface.h"
#include "attn/Target/ChipInfo.h"
#include "attn/Target/Compiler.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;

namespace attn::rt {

void registerGPUDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::attn::registerAllAttnDialects(registry);
  mlir::attn::registerKernelTranslation(registry);
}

static Error checkChip(StringRef chip) {
  if (auto info = mlir::attn::lookupChip(chip); !info)
    return createStringError("--chip: " + toString(info.takeError()));
  return Error::success();
}

Expected<CompiledModule> compileModule(StringRef path, StringRef chip,
                                       StringRef entry, unsigned optLevel) {
  if (Error error = checkChip(chip))
    return std::move(error);
  mlir::DialectRegistry registry;
  registerGPUDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = parseModule(path, context);
  if (!module)
    return module.takeError();
  return compileModule(**module, chip, entry, optLevel);
}

/// From the op to LLVM IR that is ready for the backend.
static Expected<std::unique_ptr<Module>>
translate(mlir::ModuleOp module, LLVMContext &context, StringRef chip,
          unsigned optLevel,
          function_ref<void(mlir::PassManager &)> instrument = nullptr) {
  FirstError diagnostics(module.getContext());
  mlir::PassManager manager(module.getContext());
  mlir::attn::AttnToROCDLOptions options;
  options.chip = chip.str();
  mlir::attn::buildAttnToROCDLPipeline(manager, options);
  if (instrument)
    instrument(manager);
  if (failed(manager.run(module)))
    return diagnostics.take("the module cannot be lowered for " + chip);
  auto kernels = mlir::attn::translateKernels(module, context, chip, optLevel);
  if (failed(kernels))
    return diagnostics.take("the kernels cannot be translated");
  return std::move(*kernels);
}

Expected<std::string>
emitAssembly(mlir::ModuleOp module, StringRef chip, unsigned optLevel,
             function_ref<void(mlir::PassManager &)> instrument) {
  LLVMContext context;
  auto kernels = translate(module, context, chip, optLevel, instrument);
  if (!kernels)
    return kernels.takeError();
  return mlir::attn::emitAssembly(**kernels, chip, optLevel);
}

Expected<CompiledModule> compileModule(mlir::ModuleOp module, StringRef chip,
                                       StringRef entry, unsigned optLevel) {
  StringMap<EntryInterface> entries = describeEntries(module, entry, chip);
  LLVMContext context;
  auto kernels = translate(module, context, chip, optLevel);
  if (!kernels)
    return kernels.takeError();
  FirstError diagnostics(module.getContext());
  auto object = mlir::attn::emitObject(**kernels, chip, optLevel);
  if (!object)
    return object.takeError();
  CompiledModule result;
  auto code = mlir::attn::linkCodeObject(*object);
  if (!code)
    return code.takeError();
  result.code = std::move(*code);
  auto info = mlir::attn::readKernelInfo(result.code);
  if (!info)
    return info.takeError();
  auto function = mlir::attn::findEntry(module, entry);
  if (failed(function))
    return diagnostics.take("no function launches kernels");
  auto manifest = mlir::attn::buildManifest(*function, chip, *info);
  if (failed(manifest))
    return diagnostics.take("no manifest describes the launches");
  result.manifest = std::move(*manifest);
  EntryInterface &source = entries[function->getName()];
  adoptInterface(result.manifest, source.interface);
  for (std::string &name : source.argNames)
    if (!result.manifest.findBuffer(name))
      result.unusedArgs.push_back(std::move(name));
  result.results = std::move(source.resultNames);
  return result;
}

Expected<KernelProgram> compileProgram(StringRef path, StringRef chip,
                                       StringRef entry, unsigned optLevel) {
  auto compiled = compileModule(path, chip, entry, optLevel);
  if (!compiled)
    return compiled.takeError();
  auto program = KernelProgram::create(
      std::make_unique<SmallVectorMemoryBuffer>(
          std::move(compiled->code), path, /*RequiresNullTerminator=*/false),
      std::move(compiled->manifest));
  if (program) {
    program->unusedArgs = std::move(compiled->unusedArgs);
    program->results = std::move(compiled->results);
  }
  return program;
}

} // namespace attn::rt
