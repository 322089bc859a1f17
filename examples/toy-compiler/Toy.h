//===- Toy.h - The toy dialect and its passes -------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOY_H
#define TOY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "ToyDialect.h.inc"
#define GET_OP_CLASSES
#include "ToyOps.h.inc"

namespace toy {

/// toy.sdpa to attn.attention.
std::unique_ptr<mlir::Pass> createLowerAttentionPass();

/// Cuts every op that can be tiled along its second loop (the heads of an
/// attention) into `parts` ops that do not depend on each other.
std::unique_ptr<mlir::Pass> createSplitHeadsPass(int64_t parts);

} // namespace toy

#endif // TOY_H
