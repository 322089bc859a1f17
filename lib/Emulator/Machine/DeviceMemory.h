//===- DeviceMemory.h - Buffers and their addresses -------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The device's address space: buffers far apart, looked up by address.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_MACHINE_DEVICEMEMORY_H
#define ATTN_LIB_EMULATOR_MACHINE_DEVICEMEMORY_H

#include "attn/Emulator/Machine.h"
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace attn::emu {

/// Zero-filled host pages that appear on first touch.
class HostPages {
public:
  HostPages() = default;
  ~HostPages();
  HostPages(HostPages &&other) noexcept { *this = std::move(other); }
  HostPages &operator=(HostPages &&other) noexcept {
    std::swap(data, other.data);
    std::swap(size, other.size);
    return *this;
  }
  /// Null data when the host refuses.
  static HostPages create(uint64_t bytes);

  uint8_t *data = nullptr;
  uint64_t size = 0;
};

struct Buffer {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  uint8_t *host = nullptr;
  BufferRole role = BufferRole::InOut;
  /// Not a buffer of the user: code, kernel arguments.
  bool internal = false;
  HostPages pages;
  /// Accessible parts as [begin, end) offsets, sorted; empty means all.
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  /// One byte a byte of the buffer: 1 once written (Output and Workspace).
  HostPages written;

  bool contains(uint64_t at, uint64_t bytes) const {
    return at >= address && bytes <= size && at - address <= size - bytes;
  }
  bool isAccessible(uint64_t at, uint64_t bytes) const {
    if (!contains(at, bytes))
      return false;
    return ranges.empty() || isInRanges(at - address, bytes);
  }
  bool isInRanges(uint64_t offset, uint64_t bytes) const;
};

class DeviceMemory {
public:
  llvm::Expected<uint64_t> allocate(llvm::StringRef name, uint64_t bytes,
                                    BufferRole role, bool internal = false);
  llvm::Expected<uint64_t> add(llvm::StringRef name, uint8_t *host,
                               uint64_t bytes, BufferRole role);
  llvm::Error release(uint64_t address);
  Buffer *lookupStart(uint64_t address) const;

  /// The buffer that holds \p address, or null.
  const Buffer *find(uint64_t address) const {
    size_t low = 0, high = sorted.size();
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (sorted[middle]->address <= address)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == 0)
      return nullptr;
    const Buffer *buffer = sorted[low - 1].get();
    return address - buffer->address < buffer->size ? buffer : nullptr;
  }

  /// The buffer closest to \p address, for reports; null if there is none.
  const Buffer *findNearest(uint64_t address) const;

  const std::vector<std::unique_ptr<Buffer>> &getBuffers() const {
    return sorted;
  }

private:
  llvm::Expected<uint64_t> insert(std::unique_ptr<Buffer> buffer);

  /// By address.
  std::vector<std::unique_ptr<Buffer>> sorted;
  uint64_t next = uint64_t(1) << 40;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_MACHINE_DEVICEMEMORY_H
