//===- Pipelines.h - Named pipelines ----------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_H
#define ATTN_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::attn {

/// Options of `attn-to-cpu`.
struct AttnToCPUOptions : PassPipelineOptions<AttnToCPUOptions> {
  Option<int64_t> qTile{*this, "q-tile", llvm::cl::desc("query rows a tile"),
                        llvm::cl::init(64)};
  Option<int64_t> kvTile{*this, "kv-tile", llvm::cl::desc("keys a tile"),
                         llvm::cl::init(64)};
};

/// A module with attn ops on tensors or memrefs to the LLVM dialect, through
/// tiles, the online softmax, bufferization and loops. Function boundaries get
/// identity layouts; results that are tensors become allocated memrefs.
void buildAttnToCPUPipeline(OpPassManager &pm, const AttnToCPUOptions &options);

/// Options of `attn-to-rocdl`.
struct AttnToROCDLOptions : PassPipelineOptions<AttnToROCDLOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("target chip: gfx942 or gfx950"),
                           llvm::cl::init("gfx950")};
  Option<bool> schedule{*this, "schedule",
                        llvm::cl::desc("weave vector work between the MFMAs"),
                        llvm::cl::init(true)};
};

/// Options of `attn-to-binary`.
struct AttnToBinaryOptions : AttnToROCDLOptions {
  Option<unsigned> optLevel{*this, "opt-level",
                            llvm::cl::desc("LLVM optimization level, 0 to 3"),
                            llvm::cl::init(3)};
};

/// A stretch of a pipeline that ends at a level worth looking at.
struct PipelineStep {
  llvm::StringLiteral name; ///< Of the level, or of the pass that makes it.
  std::function<void(OpPassManager &)> addPasses;
};
/// What `attn-to-rocdl` is made of, in order.
std::vector<PipelineStep>
getAttnToROCDLSteps(const AttnToROCDLOptions &options);

/// A module with attention on tensors or memrefs to kernels in gpu, llvm and
/// rocdl (one gpu.module an op) and a host side with gpu.launch_func.
void buildAttnToROCDLPipeline(OpPassManager &pm,
                              const AttnToROCDLOptions &options);

/// The same, and the kernels to code objects (gpu.binary).
void buildAttnToBinaryPipeline(OpPassManager &pm,
                               const AttnToBinaryOptions &options);

/// Registers the pipelines by name.
void registerAttnPipelines();

} // namespace mlir::attn

#endif // ATTN_PIPELINES_H
