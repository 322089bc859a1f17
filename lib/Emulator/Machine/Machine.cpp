//===- Machine.cpp - Device memory and kernel launches --------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Machine.h"
#include "../Check/Observers.h"
#include "DeviceMemory.h"
#include "WorkgroupRunner.h"
#include "llvm/Support/Endian.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace attn::emu;
using namespace llvm;

namespace attn::emu {
/// A code object in device memory, with its decoded program.
struct LoadedModule {
  std::unique_ptr<Program> program;
  uint64_t address = 0;
};
} // namespace attn::emu

Machine::Machine(Chip chip)
    : chip(chip), memory(std::make_unique<DeviceMemory>()) {}
Machine::~Machine() = default;

Expected<uint64_t> Machine::allocate(StringRef name, uint64_t bytes,
                                     BufferRole role) {
  return memory->allocate(name, bytes, role);
}

Expected<uint64_t> Machine::registerBuffer(StringRef name,
                                           MutableArrayRef<uint8_t> host,
                                           BufferRole role) {
  return memory->add(name, host.data(), host.size(), role);
}

Error Machine::addAccessibleRange(uint64_t address, uint64_t offset,
                                  uint64_t bytes) {
  Buffer *buffer = memory->lookupStart(address);
  if (!buffer)
    return createStringError(
        formatv("no buffer starts at address {0:x}", address));
  if (offset > buffer->size || bytes > buffer->size - offset)
    return createStringError(formatv(
        "expects a range inside buffer '{0}' of {1} bytes, but got {2} bytes "
        "at {3}",
        buffer->name, buffer->size, bytes, offset));
  // Touching ranges join, so that an access may span them.
  auto &ranges = buffer->ranges;
  uint64_t begin = offset, end = offset + bytes;
  std::vector<std::pair<uint64_t, uint64_t>> merged;
  for (auto [b, e] : ranges) {
    if (e < begin || b > end) {
      merged.push_back({b, e});
      continue;
    }
    begin = std::min(begin, b);
    end = std::max(end, e);
  }
  merged.push_back({begin, end});
  sort(merged);
  ranges = std::move(merged);
  return Error::success();
}

Error Machine::release(uint64_t address) { return memory->release(address); }

uint8_t *Machine::getHostPointer(uint64_t address) const {
  const Buffer *buffer = memory->find(address);
  if (!buffer) {
    buffer = memory->lookupStart(address);
    if (!buffer)
      return nullptr;
  }
  return buffer->host + (address - buffer->address);
}

void Machine::markWritten(uint64_t address, uint64_t bytes) {
  const Buffer *buffer = memory->find(address);
  if (buffer && buffer->written.data && buffer->contains(address, bytes))
    std::memset(buffer->written.data + (address - buffer->address), 1, bytes);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static Error checkConfig(const Kernel &kernel, const LaunchConfig &config,
                         Chip chip, size_t kernargBytes) {
  auto fail = [&](const Twine &message) {
    return createStringError("kernel '" + kernel.name + "': " + message);
  };
  uint64_t items = 1;
  for (unsigned dim = 0; dim < 3; ++dim) {
    char axis = "xyz"[dim];
    if (config.grid[dim] == 0)
      return fail("expects a grid of at least 1 workgroup in " + Twine(axis) +
                  ", but got 0");
    if (dim && config.grid[dim] > 65535)
      return fail("expects at most 65535 workgroups in " + Twine(axis) +
                  ", but got " + Twine(config.grid[dim]));
    if (config.block[dim] == 0 || config.block[dim] > 1024)
      return fail("expects a workgroup of 1 to 1024 work-items in " +
                  Twine(axis) + ", but got " + Twine(config.block[dim]));
    items *= config.block[dim];
    uint32_t required = kernel.requiredWorkgroupSize[dim];
    if (required && required != config.block[dim])
      return fail("expects " + Twine(required) + " work-items in " +
                  Twine(axis) + " (reqd_workgroup_size), but got " +
                  Twine(config.block[dim]));
  }
  uint64_t limit =
      kernel.maxFlatWorkgroupSize ? kernel.maxFlatWorkgroupSize : 1024;
  if (items > limit)
    return fail("expects at most " + Twine(limit) +
                " work-items in a workgroup, but got " + Twine(items));
  uint64_t lds = uint64_t(kernel.groupSegmentBytes) + config.dynamicLDSBytes;
  if (lds > getMaxLDSBytes(chip))
    return fail("expects at most " + Twine(getMaxLDSBytes(chip)) +
                " bytes of LDS on " + getChipName(chip) + ", but got " +
                Twine(lds));
  uint32_t explicitBytes = kernel.getExplicitKernargBytes();
  if (kernargBytes < explicitBytes || kernargBytes > kernel.kernargSegmentBytes)
    return fail("expects " + Twine(explicitBytes) +
                " bytes of kernel arguments, but got " + Twine(kernargBytes));
  return Error::success();
}

/// Fills the hidden arguments that the metadata lists.
static void fillHiddenArgs(const Kernel &kernel, const LaunchContext &ctx,
                           MutableArrayRef<uint8_t> segment) {
  const LaunchConfig &config = ctx.config;
  for (const KernelArg &arg : kernel.args) {
    if (!arg.isHidden())
      continue;
    uint64_t value = 0;
    StringRef kind = StringRef(arg.valueKind).drop_front(strlen("hidden_"));
    auto dimOf = [](StringRef text) { return unsigned(text.back() - 'x') % 3; };
    if (kind.starts_with("block_count_"))
      value = config.grid[dimOf(kind)];
    else if (kind.starts_with("group_size_"))
      value = config.block[dimOf(kind)];
    else if (kind == "grid_dims")
      value = config.grid[2] * config.block[2] > 1   ? 3
              : config.grid[1] * config.block[1] > 1 ? 2
                                                     : 1;
    else if (kind == "dynamic_lds_size")
      value = config.dynamicLDSBytes;
    else if (kind == "private_base")
      value = privateApertureHi;
    else if (kind == "shared_base")
      value = sharedApertureHi;
    else if (kind == "queue_ptr")
      value = ctx.queueAddress;
    // The rest (global offsets, remainders, host services) is 0.
    std::memcpy(segment.data() + arg.offset, &value,
                std::min<size_t>(arg.size, 8));
  }
}

/// The AQL packet and the queue that older kernels look at.
static void fillDispatch(const LaunchContext &ctx, uint8_t *packet,
                         uint8_t *queue) {
  const LaunchConfig &config = ctx.config;
  support::endian::write16le(packet, 2 | 1 << 8);
  support::endian::write16le(packet + 2, 3);
  for (unsigned dim = 0; dim < 3; ++dim) {
    support::endian::write16le(packet + 4 + 2 * dim, config.block[dim]);
    support::endian::write32le(packet + 12 + 4 * dim,
                               config.grid[dim] * config.block[dim]);
  }
  support::endian::write32le(packet + 24, ctx.scratchBytes);
  support::endian::write32le(packet + 28, ctx.ldsBytes);
  support::endian::write64le(packet + 40, ctx.kernargAddress);
  support::endian::write32le(queue + 0x40, sharedApertureHi);
  support::endian::write32le(queue + 0x44, privateApertureHi);
}

namespace {
/// Releases a launch's own buffers on every way out.
class TemporaryBuffers {
public:
  explicit TemporaryBuffers(DeviceMemory &memory) : memory(memory) {}
  ~TemporaryBuffers() {
    for (uint64_t address : addresses)
      consumeError(memory.release(address));
  }
  Expected<uint64_t> allocate(StringRef name, uint64_t bytes, BufferRole role) {
    auto address = memory.allocate(name, bytes, role, /*internal=*/true);
    if (address)
      addresses.push_back(*address);
    return address;
  }

private:
  DeviceMemory &memory;
  std::vector<uint64_t> addresses;
};
} // namespace

Expected<LoadedModule *> Machine::loadModule(const CodeObject &object) {
  auto &slot = modules[object.getId()];
  if (slot)
    return slot.get();
  auto module = std::make_unique<LoadedModule>();
  auto program = Program::create(object);
  if (!program)
    return program.takeError();
  module->program = std::move(*program);
  auto address =
      memory->allocate("code object " + object.getName().str(),
                       object.getImage().size(), BufferRole::InOut, true);
  if (!address)
    return address.takeError();
  module->address = *address;
  uint8_t *image = getHostPointer(*address);
  std::memcpy(image, object.getImage().data(), object.getImage().size());
  for (uint64_t where : object.getRelativeRelocations())
    support::endian::write64le(
        image + where, support::endian::read64le(image + where) + *address);
  slot = std::move(module);
  return slot.get();
}

static LaunchContext makeContext(const CodeObject &object, const Kernel &kernel,
                                 const LoadedModule &module,
                                 DeviceMemory &memory,
                                 const LaunchConfig &config,
                                 const LaunchOptions &options) {
  LaunchContext ctx;
  ctx.chip = object.getChip();
  ctx.object = &object;
  ctx.kernel = &kernel;
  ctx.program = module.program.get();
  ctx.memory = &memory;
  ctx.config = config;
  ctx.options = options;
  ctx.loadAddress = module.address;
  ctx.ldsBytes = kernel.groupSegmentBytes + config.dynamicLDSBytes;
  ctx.workItems = config.block[0] * config.block[1] * config.block[2];
  ctx.wavesPerWorkgroup = (ctx.workItems + numLanes - 1) / numLanes;
  ctx.isOCP = ctx.chip == Chip::GFX950;
  ctx.perturb.enabled = options.perturbSeed != 0;
  ctx.perturb.seed = options.perturbSeed;
  ctx.tolerant = options.checks.has(Check::Bounds);
  // A kernel with calls or allocas of unknown size gets room to spare.
  ctx.scratchBytes = alignTo(kernel.privateSegmentBytes, 16);
  if (kernel.usesDynamicStack)
    ctx.scratchBytes += 16384;
  return ctx;
}

/// Makes and fills what a launch has in memory besides its buffers: kernel
/// arguments, dispatch packet and queue.
static Error makeDispatch(LaunchContext &ctx, TemporaryBuffers &temporary,
                          Machine &machine, ArrayRef<uint8_t> kernarg) {
  auto allocate = [&](StringRef name, uint64_t bytes,
                      uint64_t &address) -> Error {
    Expected<uint64_t> allocated =
        temporary.allocate(name, bytes, BufferRole::Input);
    if (!allocated)
      return allocated.takeError();
    address = *allocated;
    return Error::success();
  };
  uint32_t segmentBytes = ctx.kernel->kernargSegmentBytes;
  // Scalar loads may be wider than what is left of the segment.
  if (Error error = allocate("kernel arguments", alignTo(segmentBytes, 64) + 64,
                             ctx.kernargAddress))
    return error;
  if (Error error = allocate("dispatch packet", 64, ctx.dispatchAddress))
    return error;
  if (Error error = allocate("queue", 256, ctx.queueAddress))
    return error;
  uint8_t *segment = machine.getHostPointer(ctx.kernargAddress);
  std::memcpy(segment, kernarg.data(), kernarg.size());
  fillHiddenArgs(*ctx.kernel, ctx, MutableArrayRef(segment, segmentBytes));
  fillDispatch(ctx, machine.getHostPointer(ctx.dispatchAddress),
               machine.getHostPointer(ctx.queueAddress));
  ctx.kernarg = segment;
  return Error::success();
}

/// Runs workgroups [begin, end) on `threads` host threads; the first error.
static Error runWorkgroups(LaunchContext &ctx, uint64_t begin, uint64_t end,
                           unsigned threads, FindingCollector &collector,
                           Statistics &statistics) {
  std::atomic<uint64_t> next{begin};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  Error firstError = Error::success();
  auto work = [&] {
    WorkgroupRunner runner(ctx, makeObservers(ctx, collector));
    while (!failed) {
      uint64_t linear = next++;
      if (linear >= end)
        break;
      if (Error error = runner.run(linear)) {
        std::lock_guard<std::mutex> lock(mutex);
        failed = true;
        if (firstError)
          consumeError(std::move(error));
        else
          firstError = std::move(error);
        break;
      }
    }
    std::lock_guard<std::mutex> lock(mutex);
    statistics += runner.getStatistics();
    for (const auto &observer : runner.getObservers())
      statistics.ldsBankConflicts += observer->getBankConflicts();
  };
  std::vector<std::thread> pool;
  for (unsigned n = 1; n < threads; ++n)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  return firstError;
}

Expected<Report> Machine::launch(const CodeObject &object,
                                 const LaunchConfig &config,
                                 ArrayRef<uint8_t> kernarg,
                                 const LaunchOptions &options) {
  if (object.getChip() != chip)
    return createStringError(object.getName() + ": is for " +
                             getChipName(object.getChip()) +
                             ", but the machine is a " + getChipName(chip));
  auto kernel = object.getKernel(config.kernel);
  if (!kernel)
    return kernel.takeError();
  if (Error error = checkConfig(**kernel, config, chip, kernarg.size()))
    return error;
  auto module = loadModule(object);
  if (!module)
    return module.takeError();
  LaunchContext ctx =
      makeContext(object, **kernel, **module, *memory, config, options);
  TemporaryBuffers temporary(*memory);
  if (Error error = makeDispatch(ctx, temporary, *this, kernarg))
    return error;

  uint64_t total = uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
  uint64_t begin = std::min(options.workgroupBegin, total);
  uint64_t end = std::min(options.workgroupEnd, total);
  uint64_t count = begin < end ? end - begin : 0;
  unsigned threads =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  threads = std::max<uint64_t>(1, std::min<uint64_t>(threads, count));
  if (options.trace.os)
    threads = 1;

  Report report;
  report.schedule = options.schedule;
  report.seed = options.seed;
  FindingCollector collector(ctx);
  Error error =
      runWorkgroups(ctx, begin, end, threads, collector, report.statistics);
  collector.moveTo(report);
  if (!error)
    return report;
  if (report.findings.empty())
    return error;
  // Execution went on past a violation, which often is the cause.
  const Finding &finding = report.findings.front();
  return createStringError(
      formatv("{0}; before that, check {1}: {2}, at {3:x} '{4}'",
              toString(std::move(error)), getCheckName(finding.check),
              finding.message, finding.where.pc, finding.where.text));
}

void Machine::checkOutputs(Report &report) const {
  for (const auto &buffer : memory->getBuffers()) {
    if (buffer->role != BufferRole::Output || !buffer->written.data)
      continue;
    auto ranges = buffer->ranges;
    if (ranges.empty())
      ranges.push_back({0, buffer->size});
    uint64_t missing = 0, first = 0;
    for (auto [from, to] : ranges)
      for (uint64_t at = from; at < to; ++at) {
        // Long written stretches are the rule: skip them eight at a time.
        uint64_t word;
        if (at + 8 <= to && (std::memcpy(&word, buffer->written.data + at, 8),
                             word == 0x0101010101010101ull)) {
          at += 7;
          continue;
        }
        if (!buffer->written.data[at]) {
          if (!missing)
            first = at;
          ++missing;
        }
      }
    if (!missing)
      continue;
    Finding finding;
    finding.check = Check::Unwritten;
    finding.message =
        formatv("{0} of {1} bytes of output '{2}' were never written, the "
                "first at offset {3}",
                missing, buffer->size, buffer->name, first);
    finding.hint = "store every element, or declare the buffer as in-out";
    report.counts[static_cast<unsigned>(Check::Unwritten)] += 1;
    report.findings.push_back(std::move(finding));
  }
}

//===----------------------------------------------------------------------===//
// KernargBuilder
//===----------------------------------------------------------------------===//

KernargBuilder::KernargBuilder(const Kernel &kernel) : kernel(kernel) {
  bytes.assign(kernel.getExplicitKernargBytes(), 0);
}

static Error setArg(const Kernel &kernel, const KernelArg &arg,
                    ArrayRef<uint8_t> value, MutableArrayRef<uint8_t> bytes) {
  if (value.size() != arg.size)
    return createStringError(
        formatv("kernel '{0}', argument '{1}': expects {2} bytes, but got {3}",
                kernel.name, arg.name, arg.size, value.size()));
  std::memcpy(bytes.data() + arg.offset, value.data(), value.size());
  return Error::success();
}

Error KernargBuilder::set(unsigned index, ArrayRef<uint8_t> value) {
  unsigned at = 0;
  for (const KernelArg &arg : kernel.args) {
    if (arg.isHidden())
      continue;
    if (at++ == index)
      return setArg(kernel, arg, value, bytes);
  }
  return createStringError(formatv("kernel '{0}' has {1} arguments, but "
                                   "argument {2} was set",
                                   kernel.name, at, index));
}

Error KernargBuilder::set(StringRef name, ArrayRef<uint8_t> value) {
  if (const KernelArg *arg = kernel.lookupArg(name))
    return setArg(kernel, *arg, value, bytes);
  return createStringError("kernel '" + kernel.name + "' has no argument '" +
                           name + "'");
}
