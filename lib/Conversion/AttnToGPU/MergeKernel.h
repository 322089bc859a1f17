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

/// Replaces a merge on memrefs by a kernel of its own and its launch. Fails
/// with a diagnostic where `verifyTarget` does.
LogicalResult lowerMerge(MergeStatesOp op, const ChipInfo &chip,
                         SymbolTable &symbols);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_MERGEKERNEL_H
