//===- DecomposePatterns.h - Patterns of attn-decompose ---------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_DECOMPOSEPATTERNS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_DECOMPOSEPATTERNS_H

namespace mlir {
class RewritePatternSet;
namespace attn {
void populateDecomposeOnlinePatterns(RewritePatternSet &patterns);
void populateDecomposeFinalizePatterns(RewritePatternSet &patterns);
void populateDecomposeMergePatterns(RewritePatternSet &patterns);
} // namespace attn
} // namespace mlir

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_DECOMPOSEPATTERNS_H
