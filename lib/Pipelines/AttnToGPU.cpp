//===- AttnToGPU.cpp ------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

std::vector<PipelineStep>
attn::getAttnToROCDLSteps(const AttnToROCDLOptions &options) {
  std::string chip = options.chip;
  std::vector<PipelineStep> steps;
  steps.push_back({"bufferized", [chip](OpPassManager &pm) {
                     AttnChooseSplitsOptions choose;
                     choose.chip = chip;
                     pm.addPass(createAttnChooseSplits(choose));
                     pm.addPass(createAttnSplitKVPass());
                     AttnVerifyTargetOptions verify;
                     verify.chip = chip;
                     pm.addPass(createAttnVerifyTarget(verify));
                     bufferization::OneShotBufferizePassOptions bufferize;
                     bufferize.bufferizeFunctionBoundaries = true;
                     bufferize.functionBoundaryTypeConversion =
                         bufferization::LayoutMapOption::IdentityLayoutMap;
                     pm.addPass(
                         bufferization::createOneShotBufferizePass(bufferize));
                     // A tile that was written in place leaves a copy onto
                     // itself, which folds once the two equal views are one.
                     // No copy may stay: it would run on the host.
                     pm.addPass(createCSEPass());
                     pm.addPass(createCanonicalizerPass());
                   }});
  steps.push_back({"attn-to-gpu", [chip](OpPassManager &pm) {
                     AttnToGPUOptions toGPU;
                     toGPU.chip = chip;
                     pm.addPass(createAttnToGPU(toGPU));
                   }});
  if (options.schedule)
    steps.push_back(
        {"attn-schedule", [](OpPassManager &pm) {
           pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
               createAttnSchedule());
         }});
  steps.push_back({"attn-buffer-resources", [](OpPassManager &pm) {
                     pm.addPass(createAttnBufferResources());
                     OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
                     kernels.addPass(createCanonicalizerPass());
                     kernels.addPass(createCSEPass());
                   }});
  steps.push_back({"convert-attn-to-rocdl", [](OpPassManager &pm) {
                     OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
                     kernels.addPass(createConvertAttnToROCDL());
                     kernels.addPass(createReconcileUnrealizedCastsPass());
                     kernels.addPass(createCanonicalizerPass());
                   }});
  return steps;
}

void attn::buildAttnToROCDLPipeline(OpPassManager &pm,
                                    const AttnToROCDLOptions &options) {
  for (const PipelineStep &step : getAttnToROCDLSteps(options))
    step.addPasses(pm);
}

void attn::buildAttnToBinaryPipeline(OpPassManager &pm,
                                     const AttnToBinaryOptions &options) {
  buildAttnToROCDLPipeline(pm, options);
  AttnGPUToBinaryOptions binary;
  binary.optLevel = options.optLevel;
  pm.addPass(createAttnGPUToBinary(binary));
}
