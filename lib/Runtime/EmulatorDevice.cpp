//===- EmulatorDevice.cpp - The emulator as a device ----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/EmulatorDevice.h"
#include "attn/Runtime/HostBuffer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace llvm;
using attn::manifest::ResolvedBuffer;
using attn::manifest::Role;

namespace attn::rt {

Error parseSchedule(StringRef text, emu::LaunchOptions &options) {
  auto [name, seed] = text.split(':');
  Expected<emu::Schedule> schedule = emu::parseSchedule(name);
  if (!schedule)
    return schedule.takeError();
  options.schedule = *schedule;
  if (*schedule != emu::Schedule::Random) {
    if (name != text)
      return createStringError("expects a seed only with the schedule random, "
                               "but got '" +
                               text + "'");
    return Error::success();
  }
  if (name == text) {
    options.seed = std::random_device()();
    return Error::success();
  }
  if (seed.getAsInteger(10, options.seed))
    return createStringError("expects random:SEED with a number, but got '" +
                             text + "'");
  return Error::success();
}

EmulatorDevice::EmulatorDevice(emu::Chip chip,
                               const emu::LaunchOptions &options,
                               emu::Report &report)
    : machine(chip), options(options), report(report) {}

StringRef EmulatorDevice::getChip() const {
  return emu::getChipName(machine.getChip());
}

Error EmulatorDevice::load(const KernelProgram &loaded) {
  if (loaded.manifest.chip != getChip())
    return createStringError("expects kernels for " + getChip() +
                             ", but got kernels for " + loaded.manifest.chip);
  program = &loaded;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Host memory beyond this is not filled just to be recognisable: a sparse
/// buffer of many GiB is cheap as long as nobody touches it.
static constexpr uint64_t maxFill = uint64_t(256) << 20;

static ArrayView getView(const ResolvedBuffer &layout, const uint8_t *host) {
  return {layout.buffer->dtype, layout.shape, layout.strides,
          reinterpret_cast<const char *>(host)};
}

/// A store between the rows of an output is as wrong as one behind its end.
Error EmulatorDevice::limitToElements(const ResolvedBuffer &layout,
                                      uint64_t address) {
  uint64_t width = manifest::getByteWidth(layout.buffer->dtype);
  if (layout.bytes == static_cast<uint64_t>(layout.getNumElements()) * width)
    return Error::success();
  // Rows that touch become one range.
  SmallVector<std::pair<uint64_t, uint64_t>> ranges;
  auto add = [&](uint64_t begin, uint64_t end) {
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.push_back({begin, end});
  };
  ArrayView view = getView(layout, machine.getHostPointer(address));
  forEachElement(view, [&](char *first, int64_t count, int64_t stride) {
    uint64_t begin = first - view.base;
    if (static_cast<uint64_t>(stride) == width)
      return add(begin, begin + count * width);
    for (int64_t i = 0; i < count; ++i)
      add(begin + i * stride, begin + i * stride + width);
  });
  for (auto [begin, end] : ranges)
    if (Error error = machine.addAccessibleRange(address, begin, end - begin))
      return error;
  return Error::success();
}

Expected<uint64_t> EmulatorDevice::allocate(const ResolvedBuffer &layout,
                                            bool hasContent) {
  const manifest::Buffer &buffer = *layout.buffer;
  emu::BufferRole role = buffer.role == Role::Input ? emu::BufferRole::Input
                         : buffer.role == Role::Workspace
                             ? emu::BufferRole::Workspace
                         : hasContent ? emu::BufferRole::InOut
                                      : emu::BufferRole::Output;
  // Kernels may read the whole dwords in which elements lie.
  Expected<uint64_t> address = machine.allocate(
      buffer.name,
      role == emu::BufferRole::Input ? alignTo(layout.bytes, 4) : layout.bytes,
      role);
  if (!address || layout.bytes == 0)
    return address;
  uint8_t *host = machine.getHostPointer(*address);
  uint8_t poison = getPoisonByte(buffer.dtype);
  if (layout.bytes <= maxFill)
    memset(host, poison, layout.bytes);
  else if (buffer.role == Role::Output)
    forEachElement(getView(layout, host),
                   [&, width = manifest::getByteWidth(buffer.dtype)](
                       char *first, int64_t count, int64_t stride) {
                     for (int64_t i = 0; i < count; ++i)
                       memset(first + i * stride, poison, width);
                   });
  if (buffer.role == Role::Output)
    if (Error error = limitToElements(layout, *address))
      return error;
  return address;
}

Error EmulatorDevice::release(uint64_t address) {
  return machine.release(address);
}

Error EmulatorDevice::write(uint64_t address, uint64_t bytes,
                            function_ref<void(MutableArrayRef<char>)> fill) {
  if (bytes == 0)
    return Error::success();
  uint8_t *host = machine.getHostPointer(address);
  if (!host)
    return createStringError(
        formatv("no buffer has the address {0:x}", address));
  fill(MutableArrayRef(reinterpret_cast<char *>(host), bytes));
  return Error::success();
}

Error EmulatorDevice::read(uint64_t address, uint64_t bytes,
                           function_ref<Error(ArrayRef<char>)> use) {
  if (bytes == 0)
    return use({});
  uint8_t *host = machine.getHostPointer(address);
  if (!host)
    return createStringError(
        formatv("no buffer has the address {0:x}", address));
  return use(ArrayRef(reinterpret_cast<char *>(host), bytes));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void addReport(emu::Report &total, emu::Report &&part) {
  append_range(total.findings, std::move(part.findings));
  for (auto [sum, count] : zip_equal(total.counts, part.counts))
    sum += count;
  total.statistics += part.statistics;
  total.schedule = part.schedule;
  total.seed = part.seed;
}

Error EmulatorDevice::launch(const PreparedLaunch &launch) {
  assert(program && program->object && "load comes first");
  emu::LaunchConfig config;
  config.kernel = launch.kernel->name;
  config.grid = launch.grid;
  config.block = launch.kernel->block;
  Expected<emu::Report> part =
      machine.launch(*program->object, config, launch.kernarg, options);
  if (!part)
    return part.takeError();
  addReport(report, std::move(*part));
  return Error::success();
}

Error EmulatorDevice::synchronize() {
  if (options.checks.has(emu::Check::Unwritten))
    machine.checkOutputs(report);
  if (report.isClean())
    return Error::success();
  uint64_t count = 0;
  for (uint64_t n : report.counts)
    count += n;
  return createStringError(formatv("the checks found {0} violation{1}", count,
                                   count == 1 ? "" : "s"));
}

} // namespace attn::rt
