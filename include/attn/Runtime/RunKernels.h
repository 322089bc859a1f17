//===- RunKernels.h - Files through a device --------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-run --device=emulator` and `--device=hip`.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_RUNKERNELS_H
#define ATTN_RUNTIME_RUNKERNELS_H

#include "attn/Runtime/Bindings.h"
#include "attn/Runtime/Device.h"

namespace attn::rt {

/// Runs all launches of `program` on the input files and passes the outputs to
/// `sink`.
///
/// Every input buffer needs a file. An output may have one too: it is then
/// updated in place. Without, it is filled with NaN. Dynamic sizes come from
/// the files. `kernel`, unless empty, leaves only the launches of that kernel.
///
/// The sink is not called when a launch fails. Errors are one line.
llvm::Error runKernels(Device &device, const KernelProgram &program,
                       llvm::StringRef kernel, const Bindings &bindings,
                       OutputSink sink);

} // namespace attn::rt

#endif // ATTN_RUNTIME_RUNKERNELS_H
