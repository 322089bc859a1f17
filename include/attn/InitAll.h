//===- InitAll.h - Registration of all of AttnMLIR ---------------*- C++
//-*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_INITALL_H
#define ATTN_INITALL_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::attn {

/// Registers the attn dialect.
inline void registerAttnDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect>();
}

} // namespace mlir::attn

#endif // ATTN_INITALL_H
