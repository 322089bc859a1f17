//===- EntryPoints.cpp - The stand-in's C interface
//------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HIP's entry points as hip/hip_runtime_api.h of ROCm 6 documents them, as far
// as the tests need them. Enumerators are plain integers here.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <cstring>

using namespace attn;
using namespace standin;

#define HIP_API extern "C"

/// hipDeviceProp_tR0600; the fields that are filled in, at their places.
struct Properties {
  char name[256];
  char before[132];
  int multiProcessorCount;
  char between[768];
  char gcnArchName[256];
  char after[56];
};
static_assert(offsetof(Properties, multiProcessorCount) == 388);
static_assert(offsetof(Properties, gcnArchName) == 1160);
static_assert(sizeof(Properties) == 1472);

static thread_local int currentDevice = 0;
static thread_local Status lastError = success;

/// The body of the entry point `name`: `run` with the current device and the
/// runtime.
template <typename Run> static Status call(const char *name, Run run) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> lock(runtime.mutex);
  Status status = runtime.devices.empty() ? noDevice
                  : runtime.shallFail(name)
                      ? unknown
                      : run(*runtime.devices[currentDevice], runtime);
  if (status != success)
    lastError = status;
  return status;
}

template <typename Run>
static Status callOn(const char *name, Stream *handle, Run run) {
  return call(name, [&](Device &device, Runtime &) {
    Stream *stream = device.find(handle);
    return stream ? run(device, *stream) : invalidHandle;
  });
}

//===----------------------------------------------------------------------===//
// Devices and errors
//===----------------------------------------------------------------------===//

HIP_API Status hipInit(unsigned flags) {
  return flags ? invalidValue : success;
}

HIP_API Status hipGetDeviceCount(int *count) {
  *count = Runtime::get().devices.size();
  return call(__func__, [](Device &, Runtime &) { return success; });
}

HIP_API Status hipGetDevice(int *device) {
  *device = currentDevice;
  return call(__func__, [](Device &, Runtime &) { return success; });
}

HIP_API Status hipSetDevice(int device) {
  return call(__func__, [&](Device &, Runtime &runtime) {
    if (device < 0 || static_cast<size_t>(device) >= runtime.devices.size())
      return invalidDevice;
    currentDevice = device;
    return success;
  });
}

HIP_API Status hipGetDevicePropertiesR0600(Properties *properties, int device) {
  return call(__func__, [&](Device &, Runtime &runtime) {
    if (device < 0 || static_cast<size_t>(device) >= runtime.devices.size())
      return invalidDevice;
    memset(properties, 0, sizeof(*properties));
    emu::Chip chip = runtime.devices[device]->getChip();
    bool isMI300 = chip == emu::Chip::GFX942;
    strcpy(properties->name, isMI300 ? "Emulated MI300X" : "Emulated MI350X");
    properties->multiProcessorCount = isMI300 ? 304 : 256;
    strcpy(properties->gcnArchName, emu::getChipName(chip).data());
    strcat(properties->gcnArchName, ":sramecc+:xnack-");
    return success;
  });
}

HIP_API Status hipDeviceSynchronize() {
  return call(__func__,
              [](Device &device, Runtime &) { return device.waitForAll(); });
}

HIP_API Status hipGetLastError() { return std::exchange(lastError, success); }

HIP_API const char *hipGetErrorString(Status status) {
  switch (status) {
  case success:
    return "no error";
  case invalidValue:
    return "invalid argument";
  case outOfMemory:
    return "out of memory";
  case invalidConfiguration:
    return "invalid configuration argument";
  case invalidMemcpyDirection:
    return "invalid copy direction for memcpy";
  case noDevice:
    return "no ROCm-capable device is detected";
  case invalidDevice:
    return "invalid device ordinal";
  case invalidImage:
    return "device kernel image is invalid";
  case noBinaryForGpu:
    return "no kernel image is available for execution on the device";
  case invalidHandle:
    return "invalid resource handle";
  case notFound:
    return "named symbol not found";
  case launchFailure:
    return "unspecified launch failure";
  case unknown:
    break;
  }
  return "unknown error";
}

//===----------------------------------------------------------------------===//
// Memory and streams
//===----------------------------------------------------------------------===//

HIP_API Status hipMalloc(void **address, size_t bytes) {
  return call(__func__, [&](Device &device, Runtime &) {
    return address ? device.allocate(address, bytes) : invalidValue;
  });
}

HIP_API Status hipFree(void *address) {
  return call(__func__, [&](Device &device, Runtime &runtime) {
    for (const auto &other : runtime.devices)
      if (other->owns(address))
        return other->free(address);
    return device.free(address);
  });
}

HIP_API Status hipMemcpyAsync(void *to, const void *from, size_t bytes,
                              int kind, Stream *stream) {
  return callOn(__func__, stream, [&](Device &device, Stream &stream) {
    return device.copy(to, from, bytes, kind, stream);
  });
}

HIP_API Status hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  return callOn(__func__, nullptr, [&](Device &device, Stream &stream) {
    Status status = device.copy(to, from, bytes, kind, stream);
    return status == success ? device.wait(stream) : status;
  });
}

HIP_API Status hipMemset(void *to, int value, size_t bytes) {
  return callOn(__func__, nullptr, [&](Device &device, Stream &stream) {
    return device.fill(to, value, /*width=*/1, bytes, stream);
  });
}

HIP_API Status hipMemsetD32Async(void *to, int value, size_t count,
                                 Stream *stream) {
  return callOn(__func__, stream, [&](Device &device, Stream &stream) {
    return device.fill(to, value, /*width=*/4, count, stream);
  });
}

HIP_API Status hipStreamCreate(Stream **stream) {
  return call(__func__, [&](Device &device, Runtime &) {
    *stream = device.addStream();
    return success;
  });
}

HIP_API Status hipStreamDestroy(Stream *stream) {
  return callOn(__func__, stream, [&](Device &device, Stream &found) {
    if (!stream)
      return invalidHandle;
    device.removeStream(&found);
    return success;
  });
}

HIP_API Status hipStreamSynchronize(Stream *stream) {
  return callOn(__func__, stream, [&](Device &device, Stream &stream) {
    return device.wait(stream);
  });
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

HIP_API Status hipModuleLoadData(Module **module, const void *image) {
  return call(__func__, [&](Device &device, Runtime &runtime) {
    return module && image ? runtime.load(module, image, device) : invalidValue;
  });
}

HIP_API Status hipModuleUnload(Module *module) {
  return call(__func__, [&](Device &, Runtime &runtime) {
    if (!runtime.findModule(module))
      return invalidHandle;
    runtime.unload(module);
    return success;
  });
}

HIP_API Status hipModuleGetFunction(Function **function, Module *handle,
                                    const char *name) {
  return call(__func__, [&](Device &, Runtime &runtime) {
    Module *module = runtime.findModule(handle);
    if (!module)
      return invalidHandle;
    auto it = module->functions.find(name);
    if (it == module->functions.end())
      return notFound;
    *function = &it->getValue();
    return success;
  });
}

/// The explicit arguments out of `extra`, keys and values that end with 3.
static bool readExtra(void **extra, std::vector<uint8_t> &kernarg) {
  const uint8_t *data = nullptr;
  const size_t *size = nullptr;
  for (; *extra != reinterpret_cast<void *>(3); extra += 2) {
    if (extra[0] == reinterpret_cast<void *>(1))
      data = static_cast<const uint8_t *>(extra[1]);
    else if (extra[0] == reinterpret_cast<void *>(2))
      size = static_cast<const size_t *>(extra[1]);
    else
      return false;
  }
  if (!data || !size)
    return false;
  kernarg.assign(data, data + *size);
  return true;
}

HIP_API Status hipModuleLaunchKernel(Function *handle, unsigned gridX,
                                     unsigned gridY, unsigned gridZ,
                                     unsigned blockX, unsigned blockY,
                                     unsigned blockZ, unsigned dynamicLDSBytes,
                                     Stream *streamHandle, void **params,
                                     void **extra) {
  return call(__func__, [&](Device &device, Runtime &runtime) {
    Function *function = runtime.findFunction(handle);
    Stream *stream = device.find(streamHandle);
    if (!function || !stream)
      return invalidHandle;
    std::vector<uint8_t> kernarg;
    size_t explicitBytes = function->kernel->getExplicitKernargBytes();
    if (params && extra)
      return invalidValue;
    if (extra && !readExtra(extra, kernarg))
      return invalidValue;
    if (params) {
      kernarg.resize(explicitBytes);
      for (const emu::KernelArg &arg : function->kernel->args)
        if (!arg.isHidden())
          memcpy(&kernarg[arg.offset], *params++, arg.size);
    }
    // The hardware would read whatever lies behind.
    if (kernarg.size() < explicitBytes)
      return invalidValue;
    return device.launch(*function, {gridX, gridY, gridZ},
                         {blockX, blockY, blockZ}, dynamicLDSBytes, *stream,
                         std::move(kernarg));
  });
}
