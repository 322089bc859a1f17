//===- Passes.h - From attn.attention to ROCDL ------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_H
#define ATTN_CONVERSION_PASSES_H

#include "attn/Conversion/KernelConfig.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Target/ChipInfo.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/JSON.h"

namespace mlir::amdgpu {
class AMDGPUDialect;
} // namespace mlir::amdgpu
namespace mlir::cf {
class ControlFlowDialect;
} // namespace mlir::cf
namespace mlir::LLVM {
class LLVMDialect;
} // namespace mlir::LLVM
namespace mlir::ROCDL {
class ROCDLDialect;
} // namespace mlir::ROCDL
namespace mlir::math {
class MathDialect;
} // namespace mlir::math
namespace mlir::memref {
class MemRefDialect;
} // namespace mlir::memref
namespace mlir::scf {
class SCFDialect;
} // namespace mlir::scf
namespace mlir::vector {
class VectorDialect;
} // namespace mlir::vector

namespace mlir::attn {

#define GEN_PASS_DECL
#include "attn/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attn/Conversion/Passes.h.inc"

/// Unit attribute on a kernel whose memref arguments may overlap.
constexpr llvm::StringLiteral kMayAliasAttr = "attn.may_alias";

/// Unit attribute on a read of LDS that `attn-schedule` may place between
/// MFMAs, in the order of the arithmetic around it.
constexpr llvm::StringLiteral kWovenAttr = "attn.woven";

/// Emits one diagnostic on `op` and fails if the GPU path cannot lower it for
/// `chip`.
LogicalResult verifyTarget(AttentionOp op, const ChipInfo &chip);
LogicalResult verifyTarget(MergeStatesOp op, const ChipInfo &chip);

/// How `attn-to-gpu` will cut the kernel of `op`, which `verifyTarget` took:
/// the rule, and `attn.lowering_config` of the op over it.
llvm::Expected<KernelConfig> chooseKernelConfig(AttentionOp op,
                                                const ChipInfo &chip);

/// What the GPU path supports, chip by chip, from the tables that
/// `verifyTarget` reads.
llvm::json::Value getCapabilities();

} // namespace mlir::attn

#endif // ATTN_CONVERSION_PASSES_H
