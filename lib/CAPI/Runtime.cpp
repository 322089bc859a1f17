//===- Runtime.cpp - Devices and launches ---------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Runtime.h"
#include "Handles.h"
#include "attn/Runtime/CheckArrays.h"
#include "attn/Runtime/EmulatorDevice.h"
#include "attn/Runtime/HIPDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cstring>
#include <mutex>

using namespace llvm;
using attn::manifest::Buffer;
using attn::manifest::Role;
using attn::rt::ArrayView;

namespace attn::capi {

/// Arrays of a launch by their names.
using Arrays = StringMap<ArrayView>;

//===----------------------------------------------------------------------===//
// Kernels and devices
//===----------------------------------------------------------------------===//

/// A program on a device. Several threads may launch it at a time.
class Kernel {
public:
  explicit Kernel(std::shared_ptr<const Program> program)
      : program(std::move(program)) {}
  virtual ~Kernel() = default;

  const Program &getProgram() const { return *program; }
  /// Whether the arrays are in memory that this process can read.
  virtual bool isOnHost() const { return true; }
  /// `arrays` have been checked.
  virtual Error launch(const Arrays &arrays, void *stream) = 0;

protected:
  std::shared_ptr<const Program> program;
};

class Device {
public:
  virtual ~Device() = default;
  virtual attnDeviceKind getKind() const = 0;
  virtual StringRef getTarget() const = 0;
  virtual Expected<std::unique_ptr<Kernel>>
  load(std::shared_ptr<const Program> program) = 0;
};

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

namespace {
class CPUKernel : public Kernel {
public:
  CPUKernel(std::shared_ptr<const Program> program,
            std::unique_ptr<rt::CPUProgram> code)
      : Kernel(std::move(program)), code(std::move(code)) {}

  Error launch(const Arrays &arrays, void *) override {
    std::vector<rt::ArgValue> args;
    for (const rt::ValueInfo &info : code->getSignature().args) {
      const ArrayView &array = arrays.find(info.name)->second;
      if (info.isShaped()) {
        args.emplace_back(array);
        continue;
      }
      uint64_t bits = 0;
      memcpy(&bits, array.base, manifest::getByteWidth(array.dtype));
      args.emplace_back(bits);
    }
    Expected<rt::CPUResults> results = code->run(args);
    if (!results)
      return results.takeError();
    const auto &infos = code->getSignature().results;
    for (auto [info, view] : zip_equal(infos, results->views))
      if (view.shape != arrays.find(info.name)->second.shape)
        return fail(
            ATTN_INVALID_ARGUMENT,
            formatv("buffer '{0}': expects shape {1}, but got {2}", info.name,
                    rt::printShape(view.shape),
                    rt::printShape(arrays.find(info.name)->second.shape)));
    for (auto [info, view] : zip_equal(infos, results->views))
      rt::copyElements(view, arrays.find(info.name)->second);
    return Error::success();
  }

private:
  std::unique_ptr<rt::CPUProgram> code;
};

class CPUDevice : public Device {
public:
  attnDeviceKind getKind() const override { return ATTN_DEVICE_CPU; }
  StringRef getTarget() const override { return "cpu"; }
  Expected<std::unique_ptr<Kernel>>
  load(std::shared_ptr<const Program> program) override {
    auto code = rt::CPUProgram::load(program->signature, program->code);
    if (!code)
      return code.takeError();
    return std::make_unique<CPUKernel>(std::move(program), std::move(*code));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// GPU code
//===----------------------------------------------------------------------===//

static Expected<std::shared_ptr<const rt::KernelProgram>>
createKernelProgram(const Program &program) {
  std::unique_ptr<MemoryBuffer> code;
  if (!program.manifest.kernels.empty())
    code = std::make_unique<SmallVectorMemoryBuffer>(
        SmallVector<char, 0>(program.code), program.entry,
        /*RequiresNullTerminator=*/false);
  auto created = rt::KernelProgram::create(std::move(code), program.manifest);
  if (!created)
    return created.takeError();
  return std::make_shared<const rt::KernelProgram>(std::move(*created));
}

/// Whether a kernel takes the one element of a buffer by value.
static bool isPassedByValue(const manifest::Manifest &manifest,
                            StringRef buffer) {
  return any_of(manifest.kernels, [&](const manifest::Kernel &kernel) {
    return any_of(kernel.args, [&](const manifest::Arg &arg) {
      return arg.kind != manifest::ArgKind::Pointer && arg.buffer == buffer;
    });
  });
}

static rt::Operand makeOperand(const Buffer &buffer, const ArrayView &array) {
  rt::Operand operand;
  operand.name = buffer.name;
  operand.dtype = buffer.dtype;
  operand.shape = array.shape;
  return operand;
}

static rt::Operand makeOperand(const manifest::ResolvedBuffer &layout,
                               uint64_t address) {
  rt::Operand operand;
  operand.name = layout.buffer->name;
  operand.dtype = layout.buffer->dtype;
  operand.shape = layout.shape;
  operand.strides = layout.strides;
  operand.address = address;
  return operand;
}

static uint64_t readElement(const ArrayView &array) {
  uint64_t bits = 0;
  memcpy(&bits, array.base, manifest::getByteWidth(array.dtype));
  return bits;
}

namespace {
/// Copies arrays to the emulator's memory and back.
class EmulatorKernel : public Kernel {
public:
  EmulatorKernel(std::shared_ptr<const Program> program,
                 std::shared_ptr<const rt::KernelProgram> code,
                 const emu::LaunchOptions &options, emu::Chip chip)
      : Kernel(std::move(program)), code(std::move(code)), options(options),
        chip(chip) {}

  Error launch(const Arrays &arrays, void *) override;

private:
  std::shared_ptr<const rt::KernelProgram> code;
  emu::LaunchOptions options;
  emu::Chip chip;
};

class EmulatorDevice : public Device {
public:
  explicit EmulatorDevice(const emu::LaunchOptions &options)
      : options(options) {}
  attnDeviceKind getKind() const override { return ATTN_DEVICE_EMULATOR; }
  StringRef getTarget() const override { return ""; }
  Expected<std::unique_ptr<Kernel>>
  load(std::shared_ptr<const Program> program) override {
    Expected<emu::Chip> chip = emu::parseChip(program->target);
    if (!chip)
      return chip.takeError();
    auto code = createKernelProgram(*program);
    if (!code)
      return code.takeError();
    return std::make_unique<EmulatorKernel>(std::move(program),
                                            std::move(*code), options, *chip);
  }

private:
  emu::LaunchOptions options;
};
} // namespace

/// Adds the first finding of the checks to their error.
static Error describeFindings(Error error, const emu::Report &report) {
  if (!error || report.isClean())
    return error;
  std::string text;
  raw_string_ostream os(text);
  report.findings.front().print(os);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return createStringError(toString(std::move(error)) +
                           ", the first: " + StringRef(text).trim());
}

/// Copies arrays of this process to the device, launches, copies outputs back.
/// The device has loaded the code.
static Error launchCopied(rt::Device &device,
                          const manifest::Manifest &manifest,
                          const Arrays &arrays) {
  // Strides that the manifest leaves open are contiguous on the device.
  std::vector<rt::Operand> operands;
  for (const Buffer &buffer : manifest.buffers)
    if (auto array = arrays.find(buffer.name); array != arrays.end())
      operands.push_back(makeOperand(buffer, array->second));
  manifest::DimMap dims;
  if (Error error = rt::inferDims(manifest, operands).moveInto(dims))
    return error;
  operands.clear();
  std::vector<manifest::ResolvedBuffer> layouts;
  SmallVector<uint64_t> addresses;
  // After an error there is a first one to report already.
  llvm::scope_exit release([&] {
    for (uint64_t address : addresses)
      consumeError(device.release(address));
  });
  for (const Buffer &buffer : manifest.buffers) {
    Expected<manifest::ResolvedBuffer> layout = resolve(buffer, dims);
    if (!layout)
      return layout.takeError();
    auto array = arrays.find(buffer.name);
    bool isInput = buffer.role == Role::Input;
    bool hasContent =
        isInput || (buffer.role == Role::Output && array != arrays.end() &&
                    manifest.keepsContent(buffer));
    Expected<uint64_t> address = device.allocate(*layout, hasContent);
    if (!address)
      return address.takeError();
    addresses.push_back(*address);
    rt::Operand &operand =
        operands.emplace_back(makeOperand(*layout, *address));
    if (hasContent) {
      auto fill = [&](MutableArrayRef<char> bytes) {
        rt::copyElements(array->second, {buffer.dtype, layout->shape,
                                         layout->strides, bytes.data()});
      };
      if (Error error = device.write(*address, layout->bytes, fill))
        return error;
      if (isInput && layout->getNumElements() == 1)
        operand.value = readElement(array->second);
    }
    layouts.push_back(std::move(*layout));
  }
  Expected<std::vector<rt::PreparedLaunch>> launches =
      rt::prepareLaunches(manifest, operands);
  if (!launches)
    return launches.takeError();
  // Nothing to compute: outputs without rows, or rows that nobody writes.
  if (launches->empty())
    return Error::success();
  for (const rt::PreparedLaunch &launch : *launches)
    if (Error error = device.launch(launch))
      return error;
  if (Error error = device.synchronize())
    return error;
  for (auto [layout, operand] : zip_equal(layouts, operands)) {
    auto array = arrays.find(operand.name);
    if (layout.buffer->role != Role::Output || array == arrays.end())
      continue;
    auto copy = [&](ArrayRef<char> bytes) {
      rt::copyElements(
          {operand.dtype, layout.shape, layout.strides, bytes.data()},
          array->second);
      return Error::success();
    };
    if (Error error = device.read(operand.address, layout.bytes, copy))
      return error;
  }
  return Error::success();
}

Error EmulatorKernel::launch(const Arrays &arrays, void *) {
  emu::Report report;
  rt::EmulatorDevice device(chip, options, report);
  if (Error error = device.load(*code))
    return error;
  return describeFindings(launchCopied(device, code->manifest, arrays), report);
}

namespace {
/// One GPU; whoever uses the device holds the mutex.
struct SharedHIPDevice {
  std::unique_ptr<rt::HIPDevice> device;
  std::mutex mutex;
  /// What the device has loaded has to outlive it.
  std::vector<std::shared_ptr<const rt::KernelProgram>> programs;

  ~SharedHIPDevice() { device.reset(); }
};

/// Launches on memory of the GPU, or of this process by copying.
class HIPKernel : public Kernel {
public:
  HIPKernel(std::shared_ptr<const Program> program,
            std::shared_ptr<const rt::KernelProgram> code,
            std::shared_ptr<SharedHIPDevice> shared, bool hostMemory)
      : Kernel(std::move(program)), code(std::move(code)),
        shared(std::move(shared)), hostMemory(hostMemory) {}

  bool isOnHost() const override { return hostMemory; }
  Error launch(const Arrays &arrays, void *stream) override;

private:
  std::shared_ptr<const rt::KernelProgram> code;
  std::shared_ptr<SharedHIPDevice> shared;
  bool hostMemory;
};

class HIPDevice : public Device {
public:
  HIPDevice(std::unique_ptr<rt::HIPDevice> device, bool hostMemory)
      : shared(std::make_shared<SharedHIPDevice>()), target(device->getChip()),
        hostMemory(hostMemory) {
    shared->device = std::move(device);
  }
  attnDeviceKind getKind() const override { return ATTN_DEVICE_HIP; }
  StringRef getTarget() const override { return target; }
  Expected<std::unique_ptr<Kernel>>
  load(std::shared_ptr<const Program> program) override {
    auto code = createKernelProgram(*program);
    if (!code)
      return code.takeError();
    std::lock_guard<std::mutex> lock(shared->mutex);
    if (Error error = shared->device->load(**code))
      return std::move(error);
    shared->programs.push_back(*code);
    return std::make_unique<HIPKernel>(std::move(program), std::move(*code),
                                       shared, hostMemory);
  }

private:
  std::shared_ptr<SharedHIPDevice> shared;
  std::string target;
  bool hostMemory;
};
} // namespace

Error HIPKernel::launch(const Arrays &arrays, void *stream) {
  const manifest::Manifest &manifest = code->manifest;
  std::lock_guard<std::mutex> lock(shared->mutex);
  rt::HIPDevice &device = *shared->device;
  if (hostMemory)
    return launchCopied(device, manifest, arrays);
  std::vector<rt::Operand> operands;
  for (const Buffer &buffer : manifest.buffers) {
    auto it = arrays.find(buffer.name);
    if (it == arrays.end())
      continue;
    const ArrayView &array = it->second;
    rt::Operand &operand = operands.emplace_back(makeOperand(buffer, array));
    if (array.shape.empty()) {
      operand.value = readElement(array);
      continue;
    }
    operand.strides = array.strides;
    operand.address = reinterpret_cast<uintptr_t>(array.base);
    if (!isPassedByValue(manifest, buffer.name))
      continue;
    auto read = [&](ArrayRef<char> bytes) {
      operand.value =
          readElement({array.dtype, array.shape, array.strides, bytes.data()});
      return Error::success();
    };
    if (Error error = device.read(operand.address,
                                  manifest::getByteWidth(array.dtype), read))
      return error;
  }
  manifest::DimMap dims;
  if (Error error = rt::inferDims(manifest, operands).moveInto(dims))
    return error;
  SmallVector<uint64_t> workspaces;
  for (const Buffer &buffer : manifest.buffers) {
    if (arrays.contains(buffer.name))
      continue;
    Expected<manifest::ResolvedBuffer> layout = resolve(buffer, dims);
    if (!layout)
      return layout.takeError();
    Expected<uint64_t> address = device.allocate(*layout, false);
    if (!address)
      return address.takeError();
    workspaces.push_back(*address);
    operands.push_back(makeOperand(*layout, *address));
  }
  Error error = [&]() -> Error {
    Expected<std::vector<rt::PreparedLaunch>> launches =
        rt::prepareLaunches(manifest, operands);
    if (!launches)
      return launches.takeError();
    for (const rt::PreparedLaunch &launch : *launches)
      if (Error error =
              device.launchOn(static_cast<rt::hip::Stream>(stream), launch))
        return error;
    return Error::success();
  }();
  // Freeing waits for the kernels that use the memory.
  for (uint64_t address : workspaces)
    error = joinErrors(std::move(error), device.release(address));
  return error;
}

//===----------------------------------------------------------------------===//
// Opening devices
//===----------------------------------------------------------------------===//

static Expected<std::unique_ptr<Device>>
createDevice(attnDeviceKind kind, const attnDeviceOptions *options) {
  if (options && options->structSize < sizeof(attnDeviceOptions))
    return fail(ATTN_INVALID_ARGUMENT,
                "expects options with structSize at least " +
                    Twine(sizeof(attnDeviceOptions)));
  int32_t index = options ? options->index : 0;
  StringRef checks = options && options->checks ? options->checks : "none";
  if (index < 0 || (index > 0 && kind != ATTN_DEVICE_HIP))
    return fail(ATTN_INVALID_ARGUMENT,
                "index: expects 0, or more for HIP, but got " + Twine(index));
  bool hostMemory = options && options->hostMemory;
  if (hostMemory && kind != ATTN_DEVICE_HIP)
    return fail(ATTN_INVALID_ARGUMENT,
                "hostMemory: expects HIP, which has memory of its own");
  if (checks != "none" && kind != ATTN_DEVICE_EMULATOR)
    return fail(ATTN_INVALID_ARGUMENT,
                "checks: expects the emulator, which has checks");
  switch (kind) {
  case ATTN_DEVICE_CPU:
    return std::make_unique<CPUDevice>();
  case ATTN_DEVICE_EMULATOR: {
    emu::LaunchOptions launch;
    Expected<emu::CheckSet> set = emu::parseCheckSet(checks);
    if (!set)
      return fail(ATTN_INVALID_ARGUMENT,
                  "checks: " + toString(set.takeError()));
    launch.checks = *set;
    return std::make_unique<EmulatorDevice>(launch);
  }
  case ATTN_DEVICE_HIP: {
    auto device = rt::HIPDevice::create(index);
    if (!device)
      return withCode(ATTN_UNAVAILABLE, device.takeError());
    return std::make_unique<HIPDevice>(std::move(*device), hostMemory);
  }
  }
  return fail(ATTN_INVALID_ARGUMENT,
              "kind: expects a device, but got " + Twine(int(kind)));
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static Expected<ArrayView> readBuffer(const attnBuffer &buffer) {
  auto wrong = [&](const Twine &message) {
    return createStringError("buffer '" + Twine(buffer.name) + "': " + message);
  };
  ArrayView view;
  std::optional<manifest::DType> dtype =
      manifest::symbolizeDType(buffer.dtype ? buffer.dtype : "");
  if (!dtype)
    return wrong("expects a dtype of MLIR, but got '" +
                 Twine(buffer.dtype ? buffer.dtype : "") + "'");
  view.dtype = *dtype;
  // As many as MLIR's memrefs could ever have is as good as any limit.
  if (buffer.rank < 0 || buffer.rank > 64 || (buffer.rank && !buffer.shape))
    return wrong("expects a rank of 0 to 64 and as many sizes");
  view.shape.assign(buffer.shape, buffer.shape + buffer.rank);
  if (buffer.strides)
    view.strides.assign(buffer.strides, buffer.strides + buffer.rank);
  else
    view.strides = rt::getContiguousStrides(view.shape);
  view.base = static_cast<const char *>(buffer.data);
  return view;
}

static Error launch(Kernel &kernel, const attnBuffer *buffers, size_t count,
                    void *stream) {
  Arrays arrays;
  if (count && !buffers)
    return createStringError("expects buffers, but got NULL");
  for (const attnBuffer &buffer : ArrayRef(buffers, count)) {
    if (!buffer.name)
      return createStringError("expects every buffer to have a name");
    Expected<ArrayView> array = readBuffer(buffer);
    if (!array)
      return array.takeError();
    if (!arrays.try_emplace(buffer.name, *array).second)
      return createStringError("expects every buffer once, but got two '" +
                               Twine(buffer.name) + "'");
  }
  if (stream && kernel.isOnHost())
    return createStringError("expects a stream for HIP only");
  if (Error error = rt::checkArrays(kernel.getProgram().interface, arrays,
                                    kernel.isOnHost()))
    return error;
  return withCode(ATTN_FAILED, kernel.launch(arrays, stream));
}

} // namespace attn::capi

//===----------------------------------------------------------------------===//
// The C functions
//===----------------------------------------------------------------------===//

using namespace attn::capi;

struct attnDeviceStorage {
  std::shared_ptr<Device> device;
  std::string target;
};

struct attnKernelStorage {
  std::unique_ptr<Kernel> kernel;
};

attnResult attnDeviceIsAvailable(attnDeviceKind kind) {
  return toResult(createDevice(kind, nullptr).takeError());
}

attnResult attnDeviceCreate(attnDeviceKind kind,
                            const attnDeviceOptions *options,
                            attnDevice *device) {
  if (Error error = refuseNull({{"device", device}}))
    return toResult(std::move(error));
  auto created = createDevice(kind, options);
  if (!created)
    return toResult(created.takeError());
  std::string target = (*created)->getTarget().str();
  *device = new attnDeviceStorage{std::move(*created), std::move(target)};
  return nullptr;
}

void attnDeviceDestroy(attnDevice device) { delete device; }

attnDeviceKind attnDeviceGetKind(attnDevice device) {
  return device ? device->device->getKind() : ATTN_DEVICE_CPU;
}

const char *attnDeviceGetTarget(attnDevice device) {
  return device ? device->target.c_str() : "";
}

attnResult attnKernelLoad(attnDevice device, attnProgram program,
                          attnKernel *kernel) {
  if (Error error = refuseNull(
          {{"device", device}, {"program", program}, {"kernel", kernel}}))
    return toResult(std::move(error));
  const Program &compiled = *program->program;
  bool fits = device->target.empty() ? !compiled.isForCPU()
                                     : compiled.target == device->target;
  if (!fits)
    return toResult(
        fail(ATTN_INVALID_ARGUMENT,
             formatv("expects a program for {0}, but got one for {1}",
                     device->target.empty() ? "a chip" : device->target.c_str(),
                     compiled.target)));
  auto loaded = device->device->load(program->program);
  if (!loaded)
    return toResult(loaded.takeError());
  *kernel = new attnKernelStorage{std::move(*loaded)};
  return nullptr;
}

void attnKernelDestroy(attnKernel kernel) { delete kernel; }

attnResult attnKernelLaunch(attnKernel kernel, const attnBuffer *buffers,
                            size_t count, void *stream) {
  if (Error error = refuseNull({{"kernel", kernel}}))
    return toResult(std::move(error));
  return toResult(withCode(ATTN_INVALID_ARGUMENT,
                           launch(*kernel->kernel, buffers, count, stream)));
}
