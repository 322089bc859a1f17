//===- mlir_rocm_runtime.cpp - What gpu-to-llvm calls ---------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's runtime wrappers over HIP, as far as a launch needs them. MLIR builds
// its own (libmlir_rocm_runtime.so) only where ROCm is installed.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>

extern "C" {
const char *hipGetErrorString(int error);
int hipModuleLoadData(void **module, const void *image);
int hipModuleUnload(void *module);
int hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                          unsigned gridZ, unsigned blockX, unsigned blockY,
                          unsigned blockZ, unsigned dynamicLDS, void *stream,
                          void **params, void **extra);
int hipStreamCreate(void **stream);
int hipStreamDestroy(void *stream);
int hipStreamSynchronize(void *stream);
int hipMalloc(void **pointer, size_t bytes);
int hipFree(void *pointer);
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                   void *stream);
}

/// hipMemcpyDefault: the runtime knows its own addresses.
constexpr int byAddress = 4;

static void check(int error, const char *call) {
  if (error)
    printf("%s: %s\n", call, hipGetErrorString(error));
}
#define CHECK(CALL) check(CALL, #CALL)

extern "C" {
void *mgpuModuleLoad(void *data, size_t) {
  void *module = nullptr;
  CHECK(hipModuleLoadData(&module, data));
  return module;
}

void mgpuModuleUnload(void *module) { CHECK(hipModuleUnload(module)); }

void *mgpuModuleGetFunction(void *module, const char *name) {
  void *function = nullptr;
  CHECK(hipModuleGetFunction(&function, module, name));
  return function;
}

void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t dynamicLDS, void *stream,
                      void **params, void **extra, size_t) {
  CHECK(hipModuleLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY,
                              blockZ, dynamicLDS, stream, params, extra));
}

void *mgpuStreamCreate() {
  void *stream = nullptr;
  CHECK(hipStreamCreate(&stream));
  return stream;
}

void mgpuStreamDestroy(void *stream) { CHECK(hipStreamDestroy(stream)); }

void mgpuStreamSynchronize(void *stream) {
  CHECK(hipStreamSynchronize(stream));
}

void *mgpuMemAlloc(uint64_t bytes, void *, bool) {
  void *pointer = nullptr;
  CHECK(hipMalloc(&pointer, bytes));
  return pointer;
}

void mgpuMemFree(void *pointer, void *) { CHECK(hipFree(pointer)); }

void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream) {
  CHECK(hipMemcpyAsync(to, from, bytes, byAddress, stream));
}
}
