//===- InitAll.h - Registration of all of AttnMLIR --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_INITALL_H
#define ATTN_INITALL_H

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/BufferizableOpInterfaceImpl.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::attn {

// Each function links only what it registers: with the dialect alone, neither a
// pass nor a backend comes along (AttnMLIR::AttnTransforms is enough).

/// Registers the attn dialect and what upstream passes need to know of it.
inline void registerAllAttnDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// Registers the passes: those on the dialect (which need AttnTransforms) and
/// those of the GPU path (AttnToGPU, AttnToROCDL, AttnToBinary).
/// `registerAttnTransformsPasses` and `registerAttnConversionPasses` do one of
/// the two.
inline void registerAllAttnPasses() {
  registerAttnTransformsPasses();
  registerAttnConversionPasses();
}

/// Registers the pipelines `attn-to-cpu`, `attn-to-rocdl` and `attn-to-binary`
/// (AttnPipelines).
inline void registerAllAttnPipelines() { registerAttnPipelines(); }

} // namespace mlir::attn

#endif // ATTN_INITALL_H
