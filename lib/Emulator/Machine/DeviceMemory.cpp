//===- DeviceMemory.cpp - Buffers and their addresses ---------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <sys/mman.h>

using namespace attn::emu;
using namespace llvm;

static constexpr uint64_t pageBytes = 4096;
/// Unmapped addresses on both sides of a buffer.
static constexpr uint64_t gapBytes = uint64_t(1) << 20;
/// Addresses have 47 bits; above are the apertures.
static constexpr uint64_t addressEnd = uint64_t(1) << 47;

HostPages::~HostPages() {
  if (data)
    munmap(data, size);
}

HostPages HostPages::create(uint64_t bytes) {
  HostPages pages;
  uint64_t size = std::max<uint64_t>(bytes, 1);
  void *data = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return pages;
  pages.data = static_cast<uint8_t *>(data);
  pages.size = size;
  return pages;
}

bool Buffer::isInRanges(uint64_t offset, uint64_t bytes) const {
  auto it = std::upper_bound(
      ranges.begin(), ranges.end(), offset,
      [](uint64_t value, const auto &range) { return value < range.first; });
  return it != ranges.begin() && offset + bytes <= std::prev(it)->second;
}

Expected<uint64_t> DeviceMemory::insert(std::unique_ptr<Buffer> buffer) {
  uint64_t span = alignTo(buffer->size + gapBytes, pageBytes) + gapBytes;
  if (buffer->size > addressEnd || next + span > addressEnd)
    return createStringError("out of device addresses for buffer '" +
                             buffer->name + "' of " + Twine(buffer->size) +
                             " bytes");
  if (buffer->role == BufferRole::Output ||
      buffer->role == BufferRole::Workspace) {
    buffer->written = HostPages::create(buffer->size);
    if (!buffer->written.data)
      return createStringError("the host has no memory for buffer '" +
                               buffer->name + "'");
  }
  buffer->address = next + gapBytes;
  next += span;
  uint64_t address = buffer->address;
  sorted.push_back(std::move(buffer));
  return address;
}

Expected<uint64_t> DeviceMemory::allocate(StringRef name, uint64_t bytes,
                                          BufferRole role, bool internal) {
  auto buffer = std::make_unique<Buffer>();
  buffer->name = name.str();
  buffer->size = bytes;
  buffer->role = role;
  buffer->internal = internal;
  if (bytes > addressEnd)
    return createStringError("buffer '" + name + "' of " + Twine(bytes) +
                             " bytes is larger than the address space");
  buffer->pages = HostPages::create(bytes);
  if (!buffer->pages.data)
    return createStringError("the host has no memory for buffer '" + name +
                             "' of " + Twine(bytes) + " bytes");
  buffer->host = buffer->pages.data;
  return insert(std::move(buffer));
}

Expected<uint64_t> DeviceMemory::add(StringRef name, uint8_t *host,
                                     uint64_t bytes, BufferRole role) {
  auto buffer = std::make_unique<Buffer>();
  buffer->name = name.str();
  buffer->size = bytes;
  buffer->role = role;
  buffer->host = host;
  return insert(std::move(buffer));
}

Buffer *DeviceMemory::lookupStart(uint64_t address) const {
  for (const auto &buffer : sorted)
    if (buffer->address == address)
      return buffer.get();
  return nullptr;
}

Error DeviceMemory::release(uint64_t address) {
  auto it = find_if(
      sorted, [&](const auto &buffer) { return buffer->address == address; });
  if (it == sorted.end())
    return createStringError("no buffer starts at address 0x" +
                             utohexstr(address, /*LowerCase=*/true));
  sorted.erase(it);
  return Error::success();
}

const Buffer *DeviceMemory::findNearest(uint64_t address) const {
  const Buffer *nearest = nullptr;
  uint64_t best = ~uint64_t(0);
  for (const auto &buffer : sorted) {
    uint64_t end = buffer->address + buffer->size;
    uint64_t distance = address < buffer->address ? buffer->address - address
                        : address >= end          ? address - end
                                                  : 0;
    if (distance < best) {
      best = distance;
      nearest = buffer.get();
    }
  }
  return nearest;
}
