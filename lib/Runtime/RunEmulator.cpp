//===- RunEmulator.cpp - Files through the emulator -----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunEmulator.h"
#include "attn/Emulator/Machine.h"
#include "attn/Runtime/HostBuffer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace llvm;
using attn::manifest::Buffer;
using attn::manifest::DimMap;
using attn::manifest::Kernel;
using attn::manifest::Manifest;
using attn::manifest::ResolvedBuffer;
using attn::manifest::Role;

namespace attn::rt {

Expected<Manifest> readManifest(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (std::error_code ec = buffer.getError())
    return createStringError("cannot read '" + path + "': " + ec.message());
  Expected<Manifest> manifest = Manifest::parse((*buffer)->getBuffer());
  if (!manifest)
    return createStringError("'" + path +
                             "': " + toString(manifest.takeError()));
  return manifest;
}

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

//===----------------------------------------------------------------------===//
// Does the manifest describe this code object?
//===----------------------------------------------------------------------===//

static Error checkKernel(const emu::CodeObject &object, const Kernel &kernel) {
  Expected<const emu::Kernel *> found = object.getKernel(kernel.name);
  if (!found)
    return found.takeError();
  auto mismatch = [&](StringRef what, uint64_t manifest, uint64_t code) {
    return createStringError(
        formatv("kernel '{0}': the manifest has {1} {2}, but the code object "
                "has {3}",
                kernel.name, what, manifest, code));
  };
  if (kernel.kernargBytes != (*found)->kernargSegmentBytes)
    return mismatch("kernarg_bytes", kernel.kernargBytes,
                    (*found)->kernargSegmentBytes);
  if (kernel.ldsBytes != (*found)->groupSegmentBytes)
    return mismatch("lds_bytes", kernel.ldsBytes, (*found)->groupSegmentBytes);
  // Arguments by position: names are free, places are not.
  for (const emu::KernelArg &arg : (*found)->args) {
    if (arg.isHidden())
      continue;
    auto same = [&](const manifest::Arg &a) {
      return a.offset == arg.offset && a.size == arg.size;
    };
    if (none_of(kernel.args, same))
      return createStringError(
          formatv("kernel '{0}': expects an argument of {1} bytes at offset "
                  "{2} in the manifest, as in the code object",
                  kernel.name, arg.size, arg.offset));
  }
  return Error::success();
}

static Error checkManifest(const emu::CodeObject *object,
                           const Manifest &manifest, StringRef kernel) {
  assert((object || manifest.kernels.empty()) && "kernels need their code");
  StringRef chip = object ? emu::getChipName(object->getChip()) : manifest.chip;
  if (manifest.chip != chip)
    return createStringError(formatv("the manifest is for {0}, but the code "
                                     "object is for {1}",
                                     manifest.chip, chip));
  for (const Kernel &k : manifest.kernels)
    if (Error error = checkKernel(*object, k))
      return error;
  if (!kernel.empty() && none_of(manifest.launches, [&](const auto &launch) {
        return launch.kernel == kernel;
      }))
    return createStringError(
        "expects a kernel that the manifest launches (" +
        join(map_range(manifest.launches,
                       [](const auto &launch) { return launch.kernel; }),
             ", ") +
        "), but got '" + kernel + "'");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

namespace {
/// Host memory beyond this is not filled just to be recognisable: a sparse
/// buffer of many GiB is cheap as long as nobody touches it.
constexpr uint64_t maxFill = uint64_t(256) << 20;

struct DeviceBuffer {
  ResolvedBuffer layout;
  std::optional<NpyFile> file;
  uint64_t address = 0;
  /// Where the emulator keeps it; null without bytes.
  uint8_t *host = nullptr;

  ArrayView getView() const {
    return {layout.buffer->dtype, layout.shape, layout.strides,
            reinterpret_cast<const char *>(host)};
  }
};

/// One run: the device and what is in its memory.
class EmulatorRun {
public:
  EmulatorRun(const Manifest &manifest, emu::Chip chip)
      : manifest(manifest), machine(chip) {}

  Error readFiles(const Bindings &bindings);
  Error makeBuffers();
  Error launch(const emu::CodeObject *object, StringRef kernel,
               const emu::LaunchOptions &options, emu::Report &report);
  Error passOutputs(const FileMap &outputs, OutputSink sink);

private:
  Error checkNames(const Bindings &bindings);
  Error limitToElements(const DeviceBuffer &buffer);
  Expected<uint64_t> readScalar(StringRef name);

  const Manifest &manifest;
  emu::Machine machine;
  DimMap dims;
  /// In the order of the manifest.
  std::vector<DeviceBuffer> buffers;
  StringMap<size_t> indexOf;
  bool launched = false;
};
} // namespace

static std::string listNames(const Manifest &manifest) {
  std::string names;
  for (const Buffer &buffer : manifest.buffers)
    if (buffer.role != Role::Workspace)
      names += (names.empty() ? "" : ", ") + buffer.name;
  return names.empty() ? "none" : names;
}

/// For a buffer without a file: what an input holds cannot be made up.
static Error checkHasFile(const Buffer &buffer) {
  if (buffer.role != Role::Input)
    return Error::success();
  return createStringError("argument '" + buffer.name + "' needs --in " +
                           buffer.name + "=FILE.npy");
}

Error EmulatorRun::checkNames(const Bindings &bindings) {
  for (const auto &[name, path] : bindings.inputs) {
    const Buffer *buffer = manifest.findBuffer(name);
    if (!buffer || buffer->role == Role::Workspace)
      return createStringError("--in expects the name of an argument (" +
                               listNames(manifest) + "), but got '" + name +
                               "'");
  }
  for (const auto &[name, path] : bindings.outputs) {
    // An input may be a destination that turned out to be left alone.
    const Buffer *buffer = manifest.findBuffer(name);
    if (!buffer || buffer->role == Role::Workspace)
      return createStringError("--out expects the name of an argument or "
                               "result (" +
                               listNames(manifest) + "), but got '" + name +
                               "'");
  }
  for (const Buffer &buffer : manifest.buffers)
    if (!bindings.inputs.count(buffer.name) &&
        !bindings.outputs.count(buffer.name))
      if (Error error = checkHasFile(buffer))
        return error;
  return Error::success();
}

Error EmulatorRun::readFiles(const Bindings &bindings) {
  if (Error error = checkNames(bindings))
    return error;
  StringMap<SmallVector<int64_t>> shapes;
  for (const Buffer &buffer : manifest.buffers) {
    indexOf[buffer.name] = buffers.size();
    DeviceBuffer &device = buffers.emplace_back();
    device.layout.buffer = &buffer;
    auto input = bindings.inputs.find(buffer.name);
    if (input == bindings.inputs.end())
      continue;
    Expected<NpyFile> file = NpyFile::open(input->second);
    if (!file)
      return file.takeError();
    // Static sizes here, with a message about the whole shape; dynamic ones in
    // inferDims.
    SmallVector<int64_t> shape;
    for (const manifest::SizeExpr &size : buffer.shape)
      shape.push_back(size.getConstant().value_or(-1));
    // As everywhere, a scalar may come as an array of one element.
    bool scalar = shape.empty() && file->getShape() == ArrayRef<int64_t>(1);
    if (Error error = checkFile(buffer.name, *file, buffer.dtype,
                                scalar ? ArrayRef<int64_t>(1) : shape))
      return error;
    if (!scalar)
      shapes[buffer.name].assign(file->getShape().begin(),
                                 file->getShape().end());
    device.file = std::move(*file);
  }
  Expected<DimMap> inferred = manifest.inferDims(shapes);
  if (!inferred)
    return inferred.takeError();
  dims = std::move(*inferred);
  return Error::success();
}

Error EmulatorRun::makeBuffers() {
  for (DeviceBuffer &device : buffers) {
    const Buffer &buffer = *device.layout.buffer;
    Expected<ResolvedBuffer> layout = resolve(buffer, dims);
    if (!layout) {
      std::string message = toString(layout.takeError());
      if (!device.file && buffer.role == Role::Output)
        message += "; --in " + buffer.name + "=FILE.npy would give it";
      return createStringError(message);
    }
    device.layout = std::move(*layout);
    if (!device.file && device.layout.bytes != 0)
      if (Error error = checkHasFile(buffer))
        return error;
    emu::BufferRole role = buffer.role == Role::Input ? emu::BufferRole::Input
                           : buffer.role != Role::Output
                               ? emu::BufferRole::Workspace
                           : device.file ? emu::BufferRole::InOut
                                         : emu::BufferRole::Output;
    Expected<uint64_t> address =
        machine.allocate(buffer.name, device.layout.bytes, role);
    if (!address)
      return address.takeError();
    device.address = *address;
    device.host = machine.getHostPointer(*address);
    if (device.layout.bytes == 0 || !device.host)
      continue;
    uint8_t poison = getPoisonByte(buffer.dtype);
    if (device.layout.bytes <= maxFill)
      memset(device.host, poison, device.layout.bytes);
    else if (buffer.role == Role::Output)
      forEachElement(device.getView(),
                     [&, width = manifest::getByteWidth(buffer.dtype)](
                         char *first, int64_t count, int64_t stride) {
                       for (int64_t i = 0; i < count; ++i)
                         memset(first + i * stride, poison, width);
                     });
    if (buffer.role == Role::Output)
      if (Error error = limitToElements(device))
        return error;
    if (!device.file)
      continue;
    SmallVector<int64_t> strides(device.file->getShape().size(), 1);
    if (!device.layout.shape.empty())
      strides = device.layout.strides;
    device.file->copyTo(buffer.dtype, reinterpret_cast<char *>(device.host),
                        strides);
  }
  return Error::success();
}

/// A store between the rows of an output is as wrong as one behind its end.
Error EmulatorRun::limitToElements(const DeviceBuffer &device) {
  uint64_t width = manifest::getByteWidth(device.layout.buffer->dtype);
  if (device.layout.bytes ==
      static_cast<uint64_t>(device.layout.getNumElements()) * width)
    return Error::success();
  // Rows that touch become one range.
  SmallVector<std::pair<uint64_t, uint64_t>> ranges;
  auto add = [&](uint64_t begin, uint64_t end) {
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.push_back({begin, end});
  };
  forEachElement(
      device.getView(), [&](char *first, int64_t count, int64_t stride) {
        uint64_t begin = first - reinterpret_cast<char *>(device.host);
        if (static_cast<uint64_t>(stride) == width)
          return add(begin, begin + count * width);
        for (int64_t i = 0; i < count; ++i)
          add(begin + i * stride, begin + i * stride + width);
      });
  for (auto [begin, end] : ranges)
    if (Error error =
            machine.addAccessibleRange(device.address, begin, end - begin))
      return error;
  return Error::success();
}

Expected<uint64_t> EmulatorRun::readScalar(StringRef name) {
  const DeviceBuffer &device = buffers[indexOf.lookup(name)];
  return rt::readScalar(name, *device.file, device.layout.buffer->dtype);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void addReport(emu::Report &total, emu::Report &&part) {
  append_range(total.findings, std::move(part.findings));
  for (auto [sum, count] : zip_equal(total.counts, part.counts))
    sum += count;
  total.statistics += part.statistics;
  total.schedule = part.schedule;
  total.seed = part.seed;
}

Error EmulatorRun::launch(const emu::CodeObject *object, StringRef only,
                          const emu::LaunchOptions &options,
                          emu::Report &report) {
  for (const manifest::Launch &launch : manifest.launches) {
    if (!only.empty() && launch.kernel != only)
      continue;
    auto grid = resolveGrid(launch, dims);
    if (!grid)
      return grid.takeError();
    if (is_contained(*grid, 0u))
      continue;
    const Kernel &kernel = *manifest.findKernel(launch.kernel);
    auto kernarg = packKernarg(
        kernel, dims,
        [&](StringRef name) -> Expected<uint64_t> {
          return buffers[indexOf.lookup(name)].address;
        },
        [&](StringRef name) { return readScalar(name); });
    if (!kernarg)
      return kernarg.takeError();
    emu::LaunchConfig config;
    config.kernel = kernel.name;
    config.grid = *grid;
    config.block = kernel.block;
    Expected<emu::Report> part =
        machine.launch(*object, config, *kernarg, options);
    if (!part)
      return part.takeError();
    launched = true;
    addReport(report, std::move(*part));
  }
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

Error EmulatorRun::passOutputs(const FileMap &outputs, OutputSink sink) {
  for (const auto &[name, path] : outputs) {
    const DeviceBuffer &device = buffers[indexOf.lookup(name)];
    if (!launched && !device.file && device.layout.bytes != 0)
      return createStringError("'" + name +
                               "': expects a launch that writes it, but no "
                               "launch has workgroups");
    if (Error error = sink(name, device.getView()))
      return error;
  }
  return Error::success();
}

Error runOnEmulator(const emu::CodeObject *object, const Manifest &manifest,
                    StringRef kernel, const Bindings &bindings,
                    const emu::LaunchOptions &options, emu::Report &report,
                    OutputSink sink) {
  if (Error error = checkManifest(object, manifest, kernel))
    return error;
  Expected<emu::Chip> chip = emu::parseChip(manifest.chip);
  if (!chip)
    return chip.takeError();
  EmulatorRun run(manifest, *chip);
  if (Error error = run.readFiles(bindings))
    return error;
  if (Error error = run.makeBuffers())
    return error;
  if (Error error = run.launch(object, kernel, options, report))
    return error;
  return run.passOutputs(bindings.outputs, sink);
}

} // namespace attn::rt
