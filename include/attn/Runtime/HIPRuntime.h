//===- HIPRuntime.h - The HIP runtime library -------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few entry points of libamdhip64 that a launch needs, found at run time,
// so that nothing of ROCm is needed to build. Declarations follow HIP's
// documented C interface (hip/hip_runtime_api.h of ROCm 6): enumerators by
// value, handles as opaque pointers.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_HIPRUNTIME_H
#define ATTN_RUNTIME_HIPRUNTIME_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstddef>

namespace attn::rt::hip {

/// hipError_t. Values: 0 is hipSuccess.
using Error = int;
/// hipStream_t, hipModule_t, hipFunction_t.
using Stream = struct StreamTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;

/// hipMemcpyKind.
enum MemcpyKind : int { hostToDevice = 1, deviceToHost = 2 };

/// hipDeviceProp_tR0600, the layout that ROCm 6 fixed under this name: 1472
/// bytes, of which two fields matter here.
struct DeviceProperties {
  char name[256];
  char unused[904];
  /// "gfx942:sramecc+:xnack-".
  char gcnArchName[256];
  /// With room should a later version append fields.
  char more[4096];
};
static_assert(offsetof(DeviceProperties, gcnArchName) == 1160);

/// `HIP_LAUNCH_PARAM_*`: keys of the last argument of hipModuleLaunchKernel.
inline void *const launchParamBufferPointer = reinterpret_cast<void *>(1);
inline void *const launchParamBufferSize = reinterpret_cast<void *>(2);
inline void *const launchParamEnd = reinterpret_cast<void *>(3);

// The name without "hip", the type of the result, the parameters.
#define ATTN_HIP_ENTRY_POINTS(X)                                               \
  X(GetDeviceCount, Error, (int *count))                                       \
  X(GetDevice, Error, (int *device))                                           \
  X(SetDevice, Error, (int device))                                            \
  X(GetDevicePropertiesR0600, Error,                                           \
    (DeviceProperties * properties, int device))                               \
  X(Malloc, Error, (void **address, size_t bytes))                             \
  X(Free, Error, (void *address))                                              \
  X(Memcpy, Error, (void *to, const void *from, size_t bytes, int kind))       \
  X(StreamCreate, Error, (Stream * stream))                                    \
  X(StreamDestroy, Error, (Stream stream))                                     \
  X(StreamSynchronize, Error, (Stream stream))                                 \
  X(ModuleLoadData, Error, (Module * module, const void *image))               \
  X(ModuleUnload, Error, (Module module))                                      \
  X(ModuleGetFunction, Error,                                                  \
    (Function * function, Module module, const char *name))                    \
  X(ModuleLaunchKernel, Error,                                                 \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ,        \
     unsigned blockX, unsigned blockY, unsigned blockZ,                        \
     unsigned dynamicLDSBytes, Stream stream, void **params, void **extra))    \
  X(GetLastError, Error, ())                                                   \
  X(GetErrorString, const char *, (Error error))

/// The entry points of a loaded library. It stays loaded: the runtime has
/// threads of its own.
struct Runtime {
#define ATTN_HIP_POINTER(NAME, RESULT, PARAMS) RESULT(*NAME) PARAMS = nullptr;
  ATTN_HIP_ENTRY_POINTS(ATTN_HIP_POINTER)
#undef ATTN_HIP_POINTER

  /// Loads the file that the environment variable ATTN_HIP_LIBRARY names, or
  /// else the libamdhip64 that the process has already, the one that the
  /// dynamic linker finds, or those of ROCM_PATH and /opt/rocm. Errors name
  /// what was tried, or the entry point that is missing.
  static llvm::Expected<Runtime> load();

  /// Success, or "hipMalloc: out of memory (HIP error 2)". A failure does not
  /// stay behind as the thread's last error.
  llvm::Error check(Error error, llvm::StringRef call) const;
};

} // namespace attn::rt::hip

#endif // ATTN_RUNTIME_HIPRUNTIME_H
