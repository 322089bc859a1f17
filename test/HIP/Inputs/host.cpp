//===- host.cpp - A HIP program of somebody else --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches what attn-compile wrote, with HIP's C interface and nothing of this
// project: `launch.h` holds the manifest's numbers.
//
//   host CODE.hsaco        NAME.bin for every buffer, read and written
//   host CODE.hsaco wrong  every mistake is refused by its error code
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "launch.h"

// From hip/hip_runtime_api.h, which a machine without ROCm lacks.
extern "C" {
typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
enum { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)
hipError_t hipSetDevice(int deviceId);
hipError_t hipMalloc(void **ptr, size_t size);
hipError_t hipFree(void *ptr);
hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, int kind);
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes,
                          int kind, hipStream_t stream);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipDeviceSynchronize(void);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                const char *kname);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gridDimX,
                                 unsigned gridDimY, unsigned gridDimZ,
                                 unsigned blockDimX, unsigned blockDimY,
                                 unsigned blockDimZ, unsigned sharedMemBytes,
                                 hipStream_t stream, void **kernelParams,
                                 void **extra);
hipError_t hipGetLastError(void);
const char *hipGetErrorString(hipError_t hipError);
}

#define CHECK(CALL)                                                            \
  if (hipError_t error = CALL) {                                               \
    printf("%s: %s\n", #CALL, hipGetErrorString(error));                       \
    exit(1);                                                                   \
  }

static std::vector<char> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The arguments at their offsets.
static std::vector<char> pack(const std::vector<void *> &memory) {
  std::vector<char> kernarg(kernargBytes);
  for (const auto &arg : args) {
    long value = arg.value;
    if (arg.buffer >= 0)
      value += reinterpret_cast<long>(memory[arg.buffer]);
    memcpy(&kernarg[arg.offset], &value, arg.size);
  }
  return kernarg;
}

static hipError_t launch(hipFunction_t function, std::vector<char> kernarg,
                         hipStream_t stream) {
  size_t size = kernarg.size();
  void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, kernarg.data(),
                    HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  return hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                               block[1], block[2], 0, stream, nullptr, config);
}

/// The other way: a pointer at each argument.
static hipError_t launchWithParams(hipFunction_t function,
                                   std::vector<char> kernarg,
                                   hipStream_t stream) {
  std::vector<void *> params;
  for (const auto &arg : args)
    params.push_back(&kernarg[arg.offset]);
  return hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                               block[1], block[2], 0, stream, params.data(),
                               nullptr);
}

static void compute(hipFunction_t function) {
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  std::vector<void *> memory;
  std::vector<std::vector<char>> content;
  for (const auto &buffer : buffers) {
    content.push_back(readFile(std::string(buffer.name) + ".bin"));
    content.back().resize(buffer.bytes);
    memory.push_back(nullptr);
    CHECK(hipMalloc(&memory.back(), buffer.bytes));
    if (!buffer.isOutput)
      CHECK(hipMemcpyAsync(memory.back(), content.back().data(), buffer.bytes,
                           hipMemcpyHostToDevice, stream));
  }
  for (auto *run : {&launch, &launchWithParams}) {
    CHECK(run(function, pack(memory), stream));
    for (size_t i = 0; i < memory.size(); ++i) {
      if (!buffers[i].isOutput)
        continue;
      std::vector<char> result(buffers[i].bytes);
      CHECK(hipMemcpyAsync(result.data(), memory[i], result.size(),
                           hipMemcpyDeviceToHost, stream));
      CHECK(hipStreamSynchronize(stream));
      if (run == &launchWithParams && result != content[i])
        printf("%s differs\n", buffers[i].name);
      content[i] = result;
      std::ofstream(std::string(buffers[i].name) + ".bin", std::ios::binary)
          .write(result.data(), result.size());
    }
  }
  for (void *pointer : memory)
    CHECK(hipFree(pointer));
  CHECK(hipStreamDestroy(stream));
}

static void expect(const char *what, hipError_t code) {
  printf("%s: %d %s\n", what, code, hipGetErrorString(code));
}

/// Each line is checked by the test.
static void makeMistakes(hipModule_t module, hipFunction_t function) {
  hipFunction_t other;
  expect("no such kernel", hipModuleGetFunction(&other, module, "no_such"));
  expect("last error", hipGetLastError());
  expect("reset", hipGetLastError());
  char text[256] = "not a code object";
  hipModule_t bad;
  expect("not a code object", hipModuleLoadData(&bad, text));
  expect("no such device", hipSetDevice(7));

  void *pointer;
  CHECK(hipMalloc(&pointer, 64));
  expect("too long a copy",
         hipMemcpy(pointer, text, 65, hipMemcpyHostToDevice));
  expect("a host pointer", hipFree(text));

  std::vector<void *> memory(std::size(buffers), pointer);
  std::vector<char> kernarg = pack(memory);
  expect("too few arguments",
         launch(function, {kernarg.begin(), kernarg.end() - 8}, nullptr));
  // A real device would read and write somewhere.
  expect("too small buffers", launch(function, kernarg, nullptr));
  expect("the wait", hipDeviceSynchronize());
  expect("free", hipFree(pointer));
  expect("free again", hipFree(pointer));
}

int main(int argc, char **argv) {
  std::vector<char> code = readFile(argv[1]);
  hipModule_t module;
  hipFunction_t function;
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&function, module, kernelName));
  if (argc == 2)
    compute(function);
  else
    makeMistakes(module, function);
  CHECK(hipModuleUnload(module));
}
