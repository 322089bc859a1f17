//===- AttnToBinary.cpp ---------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/KernelTarget.h"
#include "attn/Conversion/Passes.h"
#include "attn/Target/Compiler.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNGPUTOBINARY
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
struct GPUToBinaryPass
    : public mlir::attn::impl::AttnGPUToBinaryBase<GPUToBinaryPass> {
  using AttnGPUToBinaryBase::AttnGPUToBinaryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerKernelTranslation(registry);
  }

  LogicalResult compile(gpu::GPUModuleOp module) {
    FailureOr<ROCDL::ROCDLTargetAttr> target = requireKernelTarget(module);
    if (failed(target))
      return failure();
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      return kernel.emitOpError(
          "expects kernels in the llvm and rocdl dialects; "
          "run attn-buffer-resources and "
          "convert-attn-to-rocdl first");
    StringRef chip = target->getChip();
    llvm::LLVMContext context;
    auto kernels = translateKernel(module, context, chip);
    if (failed(kernels))
      return failure();
    auto report = [&](llvm::Error error) {
      return module.emitOpError(llvm::toString(std::move(error)));
    };
    if (llvm::Error error = optimizeModule(**kernels, chip, optLevel))
      return report(std::move(error));
    auto object = emitObject(**kernels, chip, optLevel);
    if (!object)
      return report(object.takeError());
    auto code = linkCodeObject(*object);
    if (!code)
      return report(code.takeError());

    OpBuilder builder(module);
    Attribute binary = builder.getAttr<gpu::ObjectAttr>(
        *target, gpu::CompilationTarget::Binary,
        builder.getStringAttr(StringRef(code->data(), code->size())),
        DictionaryAttr(), gpu::KernelTableAttr());
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                          /*offloadingHandler=*/nullptr,
                          builder.getArrayAttr({binary}));
    module.erase();
    return success();
  }

  void runOnOperation() override {
    for (auto module :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(compile(module)))
        return signalPassFailure();
  }
};
} // namespace
