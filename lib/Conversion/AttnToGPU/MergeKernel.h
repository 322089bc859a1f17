//===- MergeKernel.h - attn.merge_states as a kernel ------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_MERGEKERNEL_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_MERGEKERNEL_H

#include "KernelLaunch.h"
#include "attn/Dialect/Attn/IR/Attn.h"

namespace mlir::attn {

/// Threads of a workgroup that merges.
constexpr int64_t mergeThreads = 256;

/// How the columns of a merge's O are shared out.
struct MergeVector {
  int64_t width = 1;  ///< columns a lane takes at once; 0 without columns
  int64_t lanes = 64; ///< lanes a row, of one wave: a power of two
};
MergeVector getMergeVector(MergeStatesOp op);

/// Replaces a merge on memrefs by a kernel of its own and its launch. Fails
/// with a diagnostic where `verifyTarget` does.
LogicalResult lowerMerge(MergeStatesOp op, const ChipInfo &chip,
                         SymbolTable &symbols);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_MERGEKERNEL_H
