//===- Runtime.cpp - Devices of the stand-in HIP runtime ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace attn;

namespace standin {

static raw_ostream &log() { return errs() << "hip stand-in: "; }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static uint64_t toAddress(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

Status Device::allocate(void **address, size_t bytes) {
  *address = nullptr;
  if (bytes == 0)
    return success;
  // Reading what nobody wrote is a finding, so it counts as a workspace, but
  // not reading the rest of the last dword: GPUs allocate more than that.
  auto at = machine.allocate("hipMalloc " + std::to_string(bytes),
                             alignTo(bytes, 4), emu::BufferRole::Workspace);
  if (!at) {
    log() << toString(at.takeError()) << '\n';
    return outOfMemory;
  }
  machine.markWritten(*at + bytes, alignTo(bytes, 4) - bytes);
  allocations[*at] = bytes;
  *address = reinterpret_cast<void *>(*at);
  return success;
}

Status Device::free(void *address) {
  if (!address)
    return success;
  if (!allocations.erase(toAddress(address)))
    return invalidValue;
  (void)waitForAll();
  consumeError(machine.release(toAddress(address)));
  return success;
}

uint8_t *Device::getHost(const void *address, size_t bytes) {
  uint64_t at = toAddress(address);
  auto it = allocations.upper_bound(at);
  if (it == allocations.begin())
    return nullptr;
  --it;
  if (at - it->first > it->second || bytes > it->second - (at - it->first))
    return nullptr;
  return machine.getHostPointer(at);
}

bool Device::owns(const void *address) const {
  return const_cast<Device *>(this)->getHost(address, 1);
}

Status Device::copy(void *to, const void *from, size_t bytes, int kind,
                    Stream &stream) {
  enum Kind {
    hostToHost,
    hostToDevice,
    deviceToHost,
    deviceToDevice,
    automatic
  };
  if (kind < hostToHost || kind > automatic)
    return invalidMemcpyDirection;
  if (bytes == 0)
    return success;
  if (!to || !from)
    return invalidValue;
  if (kind == automatic)
    kind = (owns(from) ? deviceToHost : hostToHost) |
           (owns(to) ? hostToDevice : hostToHost);
  bool toDevice = kind & hostToDevice, fromDevice = kind & deviceToHost;
  uint8_t *target = toDevice ? getHost(to, bytes) : static_cast<uint8_t *>(to);
  const uint8_t *source =
      fromDevice ? getHost(from, bytes) : static_cast<const uint8_t *>(from);
  if (!target || !source)
    return invalidValue;
  append(stream, [=, this] {
    memmove(target, source, bytes);
    if (toDevice)
      machine.markWritten(toAddress(to), bytes);
    return success;
  });
  return success;
}

Status Device::fill(void *to, uint32_t value, unsigned width, size_t count,
                    Stream &stream) {
  uint8_t *target = getHost(to, width * count);
  if (!target)
    return invalidValue;
  append(stream, [=, this] {
    for (size_t i = 0; i < count; ++i)
      memcpy(target + i * width, &value, width); // little endian
    machine.markWritten(toAddress(to), width * count);
    return success;
  });
  return success;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

void Device::append(Stream &stream, std::function<Status()> run) {
  static uint64_t tickets = 0;
  stream.queue.push_back({tickets++, std::move(run)});
}

void Device::runUntil(Stream &stream, uint64_t ticket) {
  while (!stream.queue.empty() && stream.queue.front().ticket < ticket) {
    Stream::Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (&stream != &defaultStream)
      runUntil(defaultStream, work.ticket);
    else
      for (const auto &other : streams)
        runUntil(*other, work.ticket);
    // A lost context runs nothing any more.
    if (failure == success)
      failure = work.run();
  }
}

Status Device::wait(Stream &stream) {
  runUntil(stream, ~uint64_t(0));
  return failure;
}

Status Device::waitForAll() {
  for (const auto &stream : streams)
    (void)wait(*stream);
  return wait(defaultStream);
}

Stream *Device::find(Stream *handle) {
  if (!handle)
    return &defaultStream;
  auto it = find_if(streams,
                    [&](const auto &stream) { return stream.get() == handle; });
  return it == streams.end() ? nullptr : handle;
}

Stream *Device::addStream() {
  return streams.insert(std::make_unique<Stream>(Stream{this, {}}))
      .first->get();
}

void Device::removeStream(Stream *handle) {
  (void)wait(*handle);
  streams.erase(find_if(
      streams, [&](const auto &stream) { return stream.get() == handle; }));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The variable's checks; all of them without it.
static emu::CheckSet getChecks() {
  auto text = sys::Process::GetEnv("ATTN_STANDIN_CHECK");
  Expected<emu::CheckSet> checks = emu::parseCheckSet(text.value_or("all"));
  if (checks)
    return *checks;
  log() << "ATTN_STANDIN_CHECK " << toString(checks.takeError()) << '\n';
  return emu::CheckSet::all();
}

Status Device::run(const Function &function, const emu::LaunchConfig &config,
                   const std::vector<uint8_t> &kernarg) {
  emu::LaunchOptions options;
  options.checks = getChecks();
  Expected<emu::Report> report =
      machine.launch(*function.module->object, config, kernarg, options);
  if (!report) {
    log() << toString(report.takeError()) << '\n';
    return launchFailure;
  }
  report->printFindings(errs());
  return report->isClean() ? success : launchFailure;
}

Status Device::launch(const Function &function, std::array<uint32_t, 3> grid,
                      std::array<uint32_t, 3> block, unsigned dynamicLDSBytes,
                      Stream &stream, std::vector<uint8_t> kernarg) {
  uint64_t items = 1;
  for (auto [groups, size] : zip_equal(grid, block)) {
    items *= size;
    if (groups == 0 || size == 0 || items > 1024 ||
        uint64_t(groups) * size > UINT32_MAX)
      return invalidConfiguration;
  }
  if (function.module->device != this)
    return invalidHandle;
  emu::LaunchConfig config;
  config.kernel = function.kernel->name;
  config.grid = grid;
  config.block = block;
  config.dynamicLDSBytes = dynamicLDSBytes;
  append(stream, [=, this, kernarg = std::move(kernarg)] {
    return run(function, config, kernarg);
  });
  return success;
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

Runtime::Runtime() {
  std::string text =
      sys::Process::GetEnv("ATTN_STANDIN_CHIPS").value_or("gfx942,gfx950");
  SmallVector<StringRef> names;
  StringRef(text).split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    Expected<emu::Chip> chip = emu::parseChip(name);
    if (chip)
      devices.push_back(std::make_unique<Device>(*chip));
    else
      log() << "ATTN_STANDIN_CHIPS " << toString(chip.takeError()) << '\n';
  }
  if (auto text = sys::Process::GetEnv("ATTN_STANDIN_FAIL")) {
    auto [name, count] = StringRef(*text).split(':');
    failingName = name.str();
    if (count.getAsInteger(10, callsToFailure))
      log() << "ATTN_STANDIN_FAIL expects NAME:N, but got " << *text << '\n';
  }
}

bool Runtime::shallFail(StringRef name) {
  return name == failingName && callsToFailure > 0 && --callsToFailure == 0;
}

Runtime &Runtime::get() {
  static Runtime runtime;
  return runtime;
}

Runtime::~Runtime() {
  size_t buffers = 0, streams = 0;
  for (const auto &device : devices) {
    buffers += device->countAllocations();
    streams += device->countStreams();
  }
  if (buffers + streams + modules.size())
    log() << "leaked " << buffers << " buffers, " << streams << " streams, "
          << modules.size() << " modules\n";
}

Module *Runtime::findModule(Module *handle) {
  auto it = find_if(modules,
                    [&](const auto &module) { return module.get() == handle; });
  return it == modules.end() ? nullptr : handle;
}

Function *Runtime::findFunction(Function *handle) {
  for (const auto &module : modules)
    for (auto &entry : module->functions)
      if (&entry.getValue() == handle)
        return handle;
  return nullptr;
}

/// Bytes of the ELF file at `image`; 0 if it is something else. The linker puts
/// the section headers last.
static size_t getFileSize(const void *image) {
  ELF::Elf64_Ehdr header;
  memcpy(&header, image, sizeof(header));
  if (!header.checkMagic() || header.getFileClass() != ELF::ELFCLASS64)
    return 0;
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

Status Runtime::load(Module **result, const void *image, Device &device) {
  size_t bytes = getFileSize(image);
  if (!bytes)
    return invalidImage;
  auto object = emu::CodeObject::create(MemoryBufferRef(
      StringRef(static_cast<const char *>(image), bytes), "module"));
  if (!object) {
    log() << toString(object.takeError()) << '\n';
    return invalidImage;
  }
  if ((*object)->getChip() != device.getChip())
    return noBinaryForGpu;
  auto module =
      std::make_unique<Module>(Module{&device, std::move(*object), {}});
  for (const emu::Kernel &kernel : module->object->getKernels())
    module->functions[kernel.name] = {module.get(), &kernel};
  *result = modules.insert(std::move(module)).first->get();
  return success;
}

void Runtime::unload(Module *handle) {
  (void)handle->device->waitForAll();
  modules.erase(find_if(
      modules, [&](const auto &module) { return module.get() == handle; }));
}

} // namespace standin
