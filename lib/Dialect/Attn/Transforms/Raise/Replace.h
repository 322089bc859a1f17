//===- Replace.h - The op in place of what was recognised -------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_REPLACE_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_REPLACE_H

#include "Match.h"

namespace mlir {
class RewriterBase;

namespace attn {

/// Puts `attn.attention` in the place of what `match` holds. With `narrow` it
/// has the inputs' type also where the program keeps P in a wider one. Returns
/// the op that nothing uses any more. Fails, with `match.reason` set and
/// nothing changed, where attn.attention cannot say it.
FailureOr<Operation *> replaceByAttention(RewriterBase &rewriter, Match &match,
                                          bool narrow);

} // namespace attn
} // namespace mlir

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_REPLACE_H
