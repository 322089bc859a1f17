//===- Register.cpp - The pipelines by name -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of its own: who links one pipeline does not link them all.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::attn;

void attn::registerAttnPipelines() {
  PassPipelineRegistration<AttnToCPUOptions>(
      "attn-to-cpu", "attention to the LLVM dialect for the host",
      buildAttnToCPUPipeline);
  PassPipelineRegistration<AttnToROCDLOptions>(
      "attn-to-rocdl", "attention to GPU kernels in the LLVM dialect",
      buildAttnToROCDLPipeline);
  PassPipelineRegistration<AttnToBinaryOptions>("attn-to-binary",
                                                "attention to AMD code objects",
                                                buildAttnToBinaryPipeline);
}
