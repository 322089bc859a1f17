//===- ForwardKernel.h - The forward attention kernel -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One wave's program for O and LSE of dense attention; docs/Lowering.md tells
// the structure.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNEL_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNEL_H

#include "attn/Conversion/KernelConfig.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::attn {

/// What the kernel computes, beside what the types of its arguments say.
struct ForwardProblem {
  Layout layout = Layout::bhsd;
  bool causal = false;
  DiagonalAlignment alignment = DiagonalAlignment::bottom_right;
  double scale = 1;
  bool lse = false;
  LseBase lseBase = LseBase::e;
};

/// Fills the empty `func`. Its arguments are query, key, value, output and,
/// with `problem.lse`, the lse: memrefs as in attn.attention. Adds the LDS
/// buffers as workgroup attributions.
void buildForwardKernel(gpu::GPUFuncOp func, const KernelConfig &config,
                        const ForwardProblem &problem);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNEL_H
