//===- HIPDevice.cpp - An AMD GPU as a device
//------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/HIPDevice.h"
#include "attn/Runtime/HostBuffer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using attn::manifest::Kernel;
using attn::manifest::ResolvedBuffer;
using attn::manifest::Role;

namespace attn::rt {

namespace {
/// Makes a device current in this thread for a while.
class CurrentDevice {
public:
  CurrentDevice(const hip::Runtime &runtime, int index) : runtime(runtime) {
    int current = -1;
    if (runtime.GetDevice(&current) == 0 && current != index &&
        runtime.SetDevice(index) == 0)
      previous = current;
  }
  CurrentDevice(const CurrentDevice &) = delete;
  ~CurrentDevice() {
    if (previous >= 0)
      (void)runtime.SetDevice(previous);
  }

private:
  const hip::Runtime &runtime;
  int previous = -1; ///< none
};
} // namespace

static void *toPointer(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<HIPDevice>>
HIPDevice::create(std::optional<unsigned> wanted, StringRef chip) {
  Expected<hip::Runtime> runtime = hip::Runtime::load();
  if (!runtime)
    return runtime.takeError();
  int count = 0;
  if (Error error =
          runtime->check(runtime->GetDeviceCount(&count), "hipGetDeviceCount"))
    return error;
  if (count == 0)
    return createStringError("expects an AMD GPU, but the HIP runtime has no "
                             "device");
  if (wanted && *wanted >= static_cast<unsigned>(count))
    return createStringError(formatv(
        "expects a device from 0 to {0}, but got {1}", count - 1, *wanted));

  std::string others;
  for (int i = wanted.value_or(0); i < count; ++i) {
    auto properties = std::make_unique<hip::DeviceProperties>();
    if (Error error = runtime->check(
            runtime->GetDevicePropertiesR0600(properties.get(), i),
            "hipGetDeviceProperties"))
      return error;
    StringRef found = StringRef(properties->gcnArchName).split(':').first;
    if (chip.empty() || found == chip) {
      std::unique_ptr<HIPDevice> device(
          new HIPDevice(*runtime, i, found, properties->name));
      CurrentDevice current(device->runtime, i);
      if (Error error = runtime->check(runtime->StreamCreate(&device->stream),
                                       "hipStreamCreate"))
        return error;
      return device;
    }
    others += formatv("{0}device {1} is {2} ({3})", others.empty() ? "" : ", ",
                      i, found, properties->name);
    if (wanted)
      break;
  }
  return createStringError("expects a device of " + chip + ", but " + others);
}

HIPDevice::~HIPDevice() {
  CurrentDevice current(runtime, index);
  // Errors here have been told already or nobody can do anything about them.
  if (stream)
    (void)runtime.StreamSynchronize(stream);
  for (uint64_t address : allocations)
    (void)runtime.Free(toPointer(address));
  for (hip::Module module : modules)
    (void)runtime.ModuleUnload(module);
  if (stream)
    (void)runtime.StreamDestroy(stream);
}

Error HIPDevice::load(const KernelProgram &program) {
  if (program.manifest.chip != chip)
    return createStringError(formatv("expects kernels for {0}, which device "
                                     "{1} ({2}) is, but got kernels for {3}",
                                     chip, index, name, program.manifest.chip));
  if (program.manifest.kernels.empty())
    return Error::success();
  CurrentDevice current(runtime, index);
  hip::Module module;
  if (Error error = runtime.check(
          runtime.ModuleLoadData(&module, program.code->getBufferStart()),
          "hipModuleLoadData"))
    return error;
  modules.push_back(module);
  for (const Kernel &kernel : program.manifest.kernels) {
    hip::Function function;
    if (Error error = runtime.check(
            runtime.ModuleGetFunction(&function, module, kernel.name.c_str()),
            "hipModuleGetFunction of '" + kernel.name + "'"))
      return error;
    functions[&kernel] = function;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<uint64_t> HIPDevice::allocate(const ResolvedBuffer &layout,
                                       bool hasContent) {
  if (layout.bytes == 0)
    return 0;
  CurrentDevice current(runtime, index);
  void *pointer = nullptr;
  if (Error error = runtime.check(runtime.Malloc(&pointer, layout.bytes),
                                  formatv("hipMalloc of {0} bytes for '{1}'",
                                          layout.bytes, layout.buffer->name)
                                      .str()))
    return error;
  uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  allocations.push_back(address);
  if (layout.buffer->role == Role::Output && !hasContent)
    if (Error error =
            write(address, layout.bytes, [&](MutableArrayRef<char> bytes) {
              memset(bytes.data(), getPoisonByte(layout.buffer->dtype),
                     bytes.size());
            }))
      return error;
  return address;
}

Error HIPDevice::release(uint64_t address) {
  if (address == 0)
    return Error::success();
  auto *it = find(allocations, address);
  if (it == allocations.end())
    return createStringError(
        formatv("no buffer starts at address {0:x}", address));
  allocations.erase(it);
  CurrentDevice current(runtime, index);
  return runtime.check(runtime.Free(toPointer(address)), "hipFree");
}

Error HIPDevice::write(uint64_t address, uint64_t bytes,
                       function_ref<void(MutableArrayRef<char>)> fill) {
  if (bytes == 0)
    return Error::success();
  CurrentDevice current(runtime, index);
  // Gaps between rows hold NaN.
  std::vector<char> staging(bytes, char(0xff));
  fill(staging);
  // Not an asynchronous copy: one that fails would outlive the host's memory.
  return runtime.check(runtime.Memcpy(toPointer(address), staging.data(), bytes,
                                      hip::hostToDevice),
                       "hipMemcpy");
}

Error HIPDevice::read(uint64_t address, uint64_t bytes,
                      function_ref<Error(ArrayRef<char>)> use) {
  std::vector<char> staging(bytes);
  if (bytes != 0) {
    if (Error error = synchronize())
      return error;
    CurrentDevice current(runtime, index);
    if (Error error =
            runtime.check(runtime.Memcpy(staging.data(), toPointer(address),
                                         bytes, hip::deviceToHost),
                          "hipMemcpy"))
      return error;
  }
  return use(staging);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Error HIPDevice::launchOn(hip::Stream stream, const PreparedLaunch &launch) {
  assert(functions.contains(launch.kernel) && "load comes first");
  CurrentDevice current(runtime, index);
  const auto &[x, y, z] = launch.grid;
  const auto &[blockX, blockY, blockZ] = launch.kernel->block;
  // The runtime copies the arguments and appends the hidden ones.
  size_t size = launch.kernarg.size();
  void *extra[] = {hip::launchParamBufferPointer,
                   const_cast<uint8_t *>(launch.kernarg.data()),
                   hip::launchParamBufferSize, &size, hip::launchParamEnd};
  return runtime.check(
      runtime.ModuleLaunchKernel(functions.lookup(launch.kernel), x, y, z,
                                 blockX, blockY, blockZ, /*dynamicLDSBytes=*/0,
                                 stream, nullptr, extra),
      "hipModuleLaunchKernel of '" + launch.kernel->name + "'");
}

Error HIPDevice::synchronize() {
  CurrentDevice current(runtime, index);
  return runtime.check(runtime.StreamSynchronize(stream),
                       "hipStreamSynchronize");
}

} // namespace attn::rt
