//===- EmptyAttention.cpp - Attention that writes nothing -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmptyAttention.h"

using namespace mlir;
using namespace mlir::attn;

static bool hasNone(Value init) {
  return llvm::is_contained(cast<ShapedType>(init.getType()).getShape(), 0);
}

bool attn::dropIfEmpty(RewriterBase &rewriter, AttentionOp op) {
  bool isEmpty = hasNone(op.getOutputInit());
  if (Value lse = op.getLseInit()) {
    // Both have the same rows, but a padded LSE has some without an O.
    bool isPadded = op.getLseLayoutOrDefault() == LseLayout::bhs_padded;
    isEmpty = isPadded ? isEmpty && hasNone(lse) : isEmpty || hasNone(lse);
  }
  if (!isEmpty)
    return false;
  rewriter.replaceOp(op, op.hasPureTensorForm() ? ValueRange(op.getInits())
                                                : ValueRange());
  return true;
}
