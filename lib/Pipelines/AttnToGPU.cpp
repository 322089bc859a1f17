//===- AttnToGPU.cpp ----------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

void attn::buildAttnToROCDLPipeline(OpPassManager &pm,
                                    const AttnToROCDLOptions &options) {
  AttnVerifyTargetOptions verify;
  verify.chip = options.chip;
  pm.addPass(createAttnVerifyTarget(verify));
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // A tile that was written in place leaves a copy onto itself, which folds
  // once the two equal views are one. No copy may stay: it would run on the
  // host.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());

  AttnToGPUOptions toGPU;
  toGPU.chip = options.chip;
  pm.addPass(createAttnToGPU(toGPU));
  if (options.schedule)
    pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
        createAttnSchedule());
  pm.addPass(createAttnBufferResources());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createConvertAttnToROCDL());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
}

void attn::buildAttnToBinaryPipeline(OpPassManager &pm,
                                     const AttnToBinaryOptions &options) {
  buildAttnToROCDLPipeline(pm, options);
  AttnGPUToBinaryOptions binary;
  binary.optLevel = options.optLevel;
  pm.addPass(createAttnGPUToBinary(binary));
}
