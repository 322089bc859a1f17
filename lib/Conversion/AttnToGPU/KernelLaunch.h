//===- KernelLaunch.h - Kernels and their launches --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_KERNELLAUNCH_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_KERNELLAUNCH_H

#include "attn/Target/ChipInfo.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {

/// An operand of an op as an argument of its kernel.
struct KernelOperand {
  std::string name; ///< the argument's `attn.name`
  Value value;
};

/// Adds a `gpu.module` with an empty kernel for `op`, named after its function
/// and `suffix`, to the module of `symbols`. `wavesPerSIMD` is what LLVM takes
/// as "amdgpu-waves-per-eu", if given.
gpu::GPUFuncOp createKernel(Operation *op, StringRef suffix,
                            ArrayRef<KernelOperand> operands, int64_t threads,
                            const ChipInfo &chip, SymbolTable &symbols,
                            StringRef wavesPerSIMD = {});

/// Launches `grid` (index) by `gridY` workgroups of `kernel`, or nothing where
/// that is 0 at run time only.
void launchKernel(ImplicitLocOpBuilder &b, gpu::GPUFuncOp kernel, Value grid,
                  ArrayRef<KernelOperand> operands, int64_t gridY = 1);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_KERNELLAUNCH_H
