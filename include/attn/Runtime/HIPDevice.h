//===- HIPDevice.h - An AMD GPU as a device ---------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels on a GPU through the HIP runtime.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_HIPDEVICE_H
#define ATTN_RUNTIME_HIPDEVICE_H

#include "attn/Runtime/Device.h"
#include "attn/Runtime/HIPRuntime.h"

namespace attn::rt {

/// One GPU with a stream of its own. Calls leave the thread's current device
/// as it was. Memory of outputs is filled with NaN where the caller has no
/// content for it.
class HIPDevice : public Device {
public:
  /// Opens device `index`; without one the first that is of `chip`, or the
  /// first of all if `chip` is empty. Fails without a HIP runtime, a device,
  /// or one of that chip.
  static llvm::Expected<std::unique_ptr<HIPDevice>>
  create(std::optional<unsigned> index = std::nullopt,
         llvm::StringRef chip = "");
  ~HIPDevice() override;

  /// Of the chip's name in the runtime what comes before its features.
  llvm::StringRef getChip() const override { return chip; }
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
  llvm::Error launch(const PreparedLaunch &launch) override {
    return launchOn(stream, launch);
  }
  /// Starts it on a stream of the caller (null is the default one), which
  /// `synchronize` does not wait for.
  llvm::Error launchOn(hip::Stream stream, const PreparedLaunch &launch);
  llvm::Error synchronize() override;

private:
  HIPDevice(const hip::Runtime &runtime, int index, llvm::StringRef chip,
            llvm::StringRef name)
      : runtime(runtime), index(index), chip(chip), name(name) {}

  hip::Runtime runtime;
  int index;
  /// "gfx942", and what the product is called.
  std::string chip, name;
  hip::Stream stream = nullptr;
  std::vector<hip::Module> modules;
  llvm::DenseMap<const manifest::Kernel *, hip::Function> functions;
  llvm::SmallVector<uint64_t> allocations;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_HIPDEVICE_H
