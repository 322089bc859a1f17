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

/// Registers the attn dialect and what upstream passes need to know of it.
inline void registerAttnDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// Registers all passes and pipelines.
inline void registerAttnPasses() {
  registerAttnConversionPasses();
  registerAttnTransformsPasses();
  registerAttnPipelines();
}

} // namespace mlir::attn

#endif // ATTN_INITALL_H
