//===- BufferResources.cpp - attn-buffer-resources ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNBUFFERRESOURCES
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

LogicalResult KernelRewriter::run() {
  if (failed(rewriteSignature()))
    return failure();
  replaceSizesAndStrides();
  lowerDirectAccesses();
  if (failed(lowerAccesses()))
    return failure();
  eraseViews();
  if (failed(eraseOldArguments()))
    return failure();
  markPointers();
  return success();
}

namespace {
struct BufferResourcesPass
    : public attn::impl::AttnBufferResourcesBase<BufferResourcesPass> {
  using AttnBufferResourcesBase::AttnBufferResourcesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      for (auto func : gpuModule.getOps<gpu::GPUFuncOp>()) {
        KernelRewriter rewriter(func);
        if (failed(rewriter.run()))
          return signalPassFailure();
        module.walk([&](gpu::LaunchFuncOp launch) {
          if (symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr()) ==
              func)
            rewriter.rewriteLaunch(launch);
        });
      }
  }
};
} // namespace
