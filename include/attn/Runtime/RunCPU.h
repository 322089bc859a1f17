//===- RunCPU.h - Files through the host ------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-run --device=cpu`.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_RUNCPU_H
#define ATTN_RUNTIME_RUNCPU_H

#include "attn/Runtime/Bindings.h"
#include "attn/Runtime/CPUProgram.h"

namespace attn::rt {

/// Compiles the module in `path` for the host, calls `entry` (the only public
/// function when empty) on the input files and passes the outputs to `sink`.
///
/// Tensor and scalar arguments need an input; a memref needs an input, an
/// output, or both (then it is updated in place). A memref without input is
/// filled with NaN and needs static sizes. Dynamic sizes come from the files,
/// dynamic strides are contiguous, a dynamic offset is not 0. Errors are one
/// line; with one, what the sink received does not count.
llvm::Error runOnCPU(llvm::StringRef path, llvm::StringRef entry,
                     const Bindings &bindings, const CPUOptions &options,
                     OutputSink sink);

} // namespace attn::rt

#endif // ATTN_RUNTIME_RUNCPU_H
