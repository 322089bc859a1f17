//===- Tune.h - Searching kernels with the timing model ---------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_TUNE_H
#define ATTN_RUNTIME_TUNE_H

#include "attn/Conversion/Tuning.h"

namespace attn::rt {

/// Knobs that differ from `base` in one place, `base` being what was asked for
/// so far of a kernel for `key`. All are legal for the key; `isFit` says of a
/// config whether it may be offered (default: mlir::attn::isLegal).
llvm::SmallVector<mlir::attn::KernelKnobs> getTuningCandidates(
    const mlir::attn::TuningKey &key, const mlir::attn::KernelKnobs &base,
    llvm::function_ref<bool(const mlir::attn::KernelConfig &)> isFit = nullptr);

/// Finds the knobs with which the timing model projects the shortest time for
/// `op` alone: one knob after the other, from the rule's choice, until none
/// helps. Progress goes to `progress`, a line a kernel. Errors are one line.
llvm::Expected<mlir::attn::TuningEntry> tune(mlir::attn::AttentionOp op,
                                             const mlir::attn::ChipInfo &chip,
                                             llvm::raw_ostream &progress);

/// Tunes every attention of the module in `path` that has a key, once a key,
/// and adds what it finds to `table`.
llvm::Error tuneFile(llvm::StringRef path, const mlir::attn::ChipInfo &chip,
                     mlir::attn::TuningTable &table,
                     llvm::raw_ostream &progress);

} // namespace attn::rt

#endif // ATTN_RUNTIME_TUNE_H
