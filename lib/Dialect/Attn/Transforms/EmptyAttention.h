//===- EmptyAttention.h - Attention that writes nothing ---------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_EMPTYATTENTION_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_EMPTYATTENTION_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Replaces the op by its destinations if these have no element (the type of
/// one says that batch or length is 0), and says whether it did. No pass can
/// take slices of such operands: a subview's offset must lie inside its source.
bool dropIfEmpty(RewriterBase &rewriter, AttentionOp op);

} // namespace mlir::attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_EMPTYATTENTION_H
