//===- KernelTarget.h - The chip of a module of kernels ---------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_KERNELTARGET_H
#define ATTN_CONVERSION_KERNELTARGET_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace mlir::attn {

/// The first #rocdl.target of the module, null without one.
inline ROCDL::ROCDLTargetAttr getKernelTarget(gpu::GPUModuleOp module) {
  if (ArrayAttr targets = module.getTargetsAttr())
    for (Attribute target : targets)
      if (auto rocdl = dyn_cast<ROCDL::ROCDLTargetAttr>(target))
        return rocdl;
  return {};
}

/// The same, and a diagnostic without one.
inline FailureOr<ROCDL::ROCDLTargetAttr>
requireKernelTarget(gpu::GPUModuleOp module) {
  if (ROCDL::ROCDLTargetAttr target = getKernelTarget(module))
    return target;
  return module.emitOpError("expects a #rocdl.target, as attn-to-gpu sets it");
}

} // namespace mlir::attn

#endif // ATTN_CONVERSION_KERNELTARGET_H
