//===- RunEmulator.h - Files through the emulator ---------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-run --device=emulator` on a code object and its manifest.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_RUNEMULATOR_H
#define ATTN_RUNTIME_RUNEMULATOR_H

#include "attn/Emulator/CodeObject.h"
#include "attn/Emulator/Options.h"
#include "attn/Emulator/Report.h"
#include "attn/Runtime/Bindings.h"

namespace attn::rt {

/// Runs all launches of `manifest` on the input files and passes the outputs to
/// `sink`.
///
/// Every input buffer needs a file. An output may have one too: it is then
/// updated in place. Without, it is filled with NaN, and with the check
/// "unwritten" every element has to be stored. Dynamic sizes come from the
/// files. `kernel`, unless empty, leaves only the launches of that kernel.
/// `object` may be null when the manifest has no kernels.
///
/// `report` gets the findings of all launches and their statistics; with a
/// finding the result is an error and the sink is not called. Errors are one
/// line.
llvm::Error runOnEmulator(const emu::CodeObject *object,
                          const manifest::Manifest &manifest,
                          llvm::StringRef kernel, const Bindings &bindings,
                          const emu::LaunchOptions &options,
                          emu::Report &report, OutputSink sink);

/// Reads and parses a manifest; errors name the path.
llvm::Expected<manifest::Manifest> readManifest(llvm::StringRef path);

/// Parses "round-robin", "reversed", "random" or "random:SEED" into `options`.
/// A seed that is not given is drawn.
llvm::Error parseSchedule(llvm::StringRef text, emu::LaunchOptions &options);

} // namespace attn::rt

#endif // ATTN_RUNTIME_RUNEMULATOR_H
