//===- EmulatorDevice.h - The emulator as a device --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels on this machine's cores, with checks.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATORDEVICE_H
#define ATTN_RUNTIME_EMULATORDEVICE_H

#include "attn/Emulator/Machine.h"
#include "attn/Runtime/Device.h"

namespace attn::rt {

/// Runs a launch at once. Memory is filled with NaN where the caller has no
/// content for it, and of an output only the elements may be written.
class EmulatorDevice : public Device {
public:
  /// `options` hold for every launch; `report` gets the findings and
  /// statistics of all of them and has to outlive the device.
  EmulatorDevice(emu::Chip chip, const emu::LaunchOptions &options,
                 emu::Report &report);

  llvm::StringRef getChip() const override;
  llvm::Error load(const KernelProgram &program) override;
  llvm::Expected<uint64_t> allocate(const manifest::ResolvedBuffer &layout,
                                    bool hasContent) override;
  llvm::Error release(uint64_t address) override;
  llvm::Error
  write(uint64_t address, uint64_t bytes,
        llvm::function_ref<void(llvm::MutableArrayRef<char>)> fill) override;
  llvm::Error
  read(uint64_t address, uint64_t bytes,
       llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> use) override;
  llvm::Error launch(const PreparedLaunch &launch) override;
  /// With the check "unwritten", every output without content has to be
  /// complete by now. Fails when anything was found so far.
  llvm::Error synchronize() override;

private:
  llvm::Error limitToElements(const manifest::ResolvedBuffer &layout,
                              uint64_t address);

  emu::Machine machine;
  emu::LaunchOptions options;
  emu::Report &report;
  const KernelProgram *program = nullptr;
};

/// Parses "round-robin", "reversed", "random" or "random:SEED" into `options`.
/// A seed that is not given is drawn.
llvm::Error parseSchedule(llvm::StringRef text, emu::LaunchOptions &options);

} // namespace attn::rt

#endif // ATTN_RUNTIME_EMULATORDEVICE_H
