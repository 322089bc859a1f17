//===- Layouts.h - Layouts as data for pictures -----------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REPORT_LAYOUTS_H
#define ATTN_LIB_REPORT_LAYOUTS_H

#include "attn/Target/ChipInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace attn::report {

/// One object an `attn.attention` on memrefs of `module`, in order: how its
/// kernel is cut, the tables of its LDS tiles and MFMA fragments.
llvm::json::Array describeLayouts(mlir::ModuleOp module,
                                  const mlir::attn::ChipInfo &chip);

} // namespace attn::report

#endif // ATTN_LIB_REPORT_LAYOUTS_H
