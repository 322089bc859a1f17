//===- TimedDevice.h - Buffers and samples of a timed program ---*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_TIMEDDEVICE_H
#define ATTN_LIB_RUNTIME_TIMEDDEVICE_H

#include "attn/Emulator/Machine.h"
#include "attn/Emulator/Timing/TimingTrace.h"
#include "attn/Runtime/Bindings.h"
#include "attn/Runtime/KernelProgram.h"
#include "attn/Runtime/Launch.h"
#include "attn/Runtime/Npy.h"
#include <random>

namespace attn::rt {

/// The emulator with the buffers of a program, files' or drawn.
class TimedDevice {
public:
  explicit TimedDevice(const KernelProgram &program)
      : object(*program.object), manifest(program.manifest),
        unusedArgs(program.unusedArgs), machine(object.getChip()) {}

  llvm::Error makeBuffers(const FileMap &inputs, uint64_t seed);
  /// The launches of one kernel, or of all.
  llvm::Expected<std::vector<PreparedLaunch>> prepare(llvm::StringRef kernel);

  const emu::CodeObject &getCodeObject() const { return object; }
  /// Of the first buffer, the query; empty without buffers.
  llvm::ArrayRef<int64_t> getQueryShape() const;
  /// Of the buffers that the kernel has.
  uint64_t countBytes(const manifest::Kernel &kernel) const;
  /// Runs one workgroup of a launch.
  llvm::Expected<emu::WorkgroupTrace> record(const PreparedLaunch &launch,
                                             uint64_t id);

private:
  struct Buffer {
    manifest::ResolvedBuffer layout;
    std::optional<NpyFile> file;
    uint64_t address = 0;
    uint8_t *host = nullptr;
  };

  llvm::Error openFiles(const FileMap &inputs);
  void draw(Buffer &buffer, std::mt19937_64 &random);

  const emu::CodeObject &object;
  const manifest::Manifest &manifest;
  llvm::ArrayRef<std::string> unusedArgs;
  emu::Machine machine;
  manifest::DimMap dims;
  std::vector<Buffer> buffers;
};

} // namespace attn::rt

#endif // ATTN_LIB_RUNTIME_TIMEDDEVICE_H
