//===- Machine.h - Device memory and kernel launches ------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The emulated device. Typical use:
///
/// \code
///   auto object = CodeObject::load("k.hsaco");
///   Machine machine((*object)->getChip());
///   auto in = machine.allocate("input", bytes, BufferRole::Input);
///   memcpy(machine.getHostPointer(*in), data, bytes);
///   ...
///   KernargBuilder args(**(*object)->getKernel("k"));
///   args.setValue<uint64_t>(0, *in);
///   auto report = machine.launch(**object, config, args.getBytes(), options);
///   machine.checkOutputs(*report);
/// \endcode
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_MACHINE_H
#define ATTN_EMULATOR_MACHINE_H

#include "attn/Emulator/Chip.h"
#include "attn/Emulator/CodeObject.h"
#include "attn/Emulator/Options.h"
#include "attn/Emulator/Report.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <memory>

namespace attn::emu {

class DeviceMemory;
struct LoadedModule;

/// What kernels may do with a buffer.
enum class BufferRole : uint8_t {
  /// Kernels may only read; the Bounds check reports a store.
  Input,
  /// The Unwritten check wants every byte stored (Machine::checkOutputs).
  Output,
  /// Read and written; reading a byte before any store is reported.
  Workspace,
  /// Read and written, contents valid from the start.
  InOut,
};

/// A device with its memory. Not thread safe; a launch uses many threads
/// inside.
class Machine {
public:
  explicit Machine(Chip chip);
  ~Machine();
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  Chip getChip() const { return chip; }

  /// Makes a zero-filled buffer of \p bytes and returns its device address
  /// (a multiple of 4096; at least 1 MiB of unmapped addresses on both sides).
  /// Host pages appear on first touch, so a buffer of many GiB of which little
  /// is used is cheap. Reports call it \p name. Zero bytes is legal.
  llvm::Expected<uint64_t> allocate(llvm::StringRef name, uint64_t bytes,
                                    BufferRole role = BufferRole::InOut);

  /// Makes \p host (not copied, must outlive its use) visible to kernels.
  llvm::Expected<uint64_t> registerBuffer(llvm::StringRef name,
                                          llvm::MutableArrayRef<uint8_t> host,
                                          BufferRole role = BufferRole::InOut);

  /// Limits the buffer at \p address to the byte ranges added so far by this
  /// call (offset from its start): everything else counts as unmapped, and as
  /// not expected to be written.
  llvm::Error addAccessibleRange(uint64_t address, uint64_t offset,
                                 uint64_t bytes);

  /// Frees or unregisters the buffer that starts at \p address.
  llvm::Error release(uint64_t address);

  /// Host address of a device address inside a buffer; null if there is none.
  uint8_t *getHostPointer(uint64_t address) const;

  /// Says that the bytes were written by the host (for Unwritten).
  void markWritten(uint64_t address, uint64_t bytes);

  /// Runs one kernel to its end. \p kernarg holds the explicit arguments (or
  /// the whole segment; the hidden part is filled in by the machine).
  /// Errors: wrong chip, no such kernel, kernarg size, grid or block out of
  /// range, LDS over the limit, an instruction without semantics, a memory
  /// fault with the Bounds check off, endless loop, barrier deadlock.
  /// With checks on, violations are findings and execution goes on (an invalid
  /// load gives 0, an invalid store is dropped).
  llvm::Expected<Report> launch(const CodeObject &object,
                                const LaunchConfig &config,
                                llvm::ArrayRef<uint8_t> kernarg,
                                const LaunchOptions &options = {});

  /// Adds an Unwritten finding for each Output buffer with bytes that no
  /// launch with Check::Unwritten on has stored.
  void checkOutputs(Report &report) const;

private:
  llvm::Expected<LoadedModule *> loadModule(const CodeObject &object);

  Chip chip;
  std::unique_ptr<DeviceMemory> memory;
  /// Code objects that were launched, by CodeObject::getId: their variables
  /// keep their values from launch to launch.
  std::map<uint64_t, std::unique_ptr<LoadedModule>> modules;
};

/// Fills the explicit part of a kernarg segment by metadata offsets.
class KernargBuilder {
public:
  explicit KernargBuilder(const Kernel &kernel);

  /// Sets explicit argument \p index (counting explicit ones only) to the
  /// bytes of \p value; an error when the size differs or there is no such one.
  llvm::Error set(unsigned index, llvm::ArrayRef<uint8_t> value);
  template <typename T> llvm::Error setValue(unsigned index, T value) {
    return set(index, llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&value),
                                     sizeof(T)));
  }
  /// By name.
  llvm::Error set(llvm::StringRef name, llvm::ArrayRef<uint8_t> value);

  llvm::ArrayRef<uint8_t> getBytes() const { return bytes; }

private:
  const Kernel &kernel;
  llvm::SmallVector<uint8_t, 256> bytes;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_MACHINE_H
