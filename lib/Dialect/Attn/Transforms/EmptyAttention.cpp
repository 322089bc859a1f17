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

bool attn::dropIfEmpty(RewriterBase &rewriter, AttentionOp op) {
  bool isEmpty = llvm::all_of(op.getInits(), [](Value init) {
    return llvm::is_contained(cast<ShapedType>(init.getType()).getShape(), 0);
  });
  if (!isEmpty)
    return false;
  rewriter.replaceOp(op, op.hasPureTensorForm() ? ValueRange(op.getInits())
                                                : ValueRange());
  return true;
}
