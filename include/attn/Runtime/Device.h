//===- Device.h - Where kernels run -----------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, code and launches, the same for the emulator and for a real device:
//
//   device.load(program);
//   operand.address = *device.allocate(layout, /*hasContent=*/true);
//   device.copyTo(operand.address, bytes);
//   for (PreparedLaunch &launch : *prepareLaunches(manifest, operands))
//     device.launch(launch);
//   device.synchronize();
//   device.copyFrom(bytes, operand.address);
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_DEVICE_H
#define ATTN_RUNTIME_DEVICE_H

#include "attn/Runtime/KernelProgram.h"
#include "attn/Runtime/Launch.h"

namespace attn::rt {

/// Not thread safe. Whatever a device still holds goes with it. Errors are one
/// line.
class Device {
public:
  virtual ~Device();

  /// "gfx942" or "gfx950".
  virtual llvm::StringRef getChip() const = 0;

  /// Makes the kernels of `program` launchable; it has to outlive the device.
  /// Fails when they are for another chip.
  virtual llvm::Error load(const KernelProgram &program) = 0;

  /// Makes memory for a buffer of a manifest. `hasContent` says that the caller
  /// will fill it before a kernel sees it. Without bytes the address is not
  /// for use, but still to be released.
  virtual llvm::Expected<uint64_t>
  allocate(const manifest::ResolvedBuffer &layout, bool hasContent) = 0;
  virtual llvm::Error release(uint64_t address) = 0;

  /// Lets `fill` write all of the `bytes` at `address`, which lie in one
  /// allocation. What `fill` sees before is unspecified.
  virtual llvm::Error
  write(uint64_t address, uint64_t bytes,
        llvm::function_ref<void(llvm::MutableArrayRef<char>)> fill) = 0;
  /// Lets `use` look at the bytes; waits for launches.
  virtual llvm::Error
  read(uint64_t address, uint64_t bytes,
       llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> use) = 0;
  llvm::Error copyTo(uint64_t address, llvm::ArrayRef<char> bytes);
  llvm::Error copyFrom(llvm::MutableArrayRef<char> bytes, uint64_t address);

  /// Starts one launch of a kernel that `load` has seen. Launches run in order;
  /// an error may come as late as in `synchronize`.
  virtual llvm::Error launch(const PreparedLaunch &launch) = 0;
  /// Waits for all launches and tells how they went.
  virtual llvm::Error synchronize() = 0;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_DEVICE_H
