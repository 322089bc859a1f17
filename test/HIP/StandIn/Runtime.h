//===- Runtime.h - Devices of the stand-in HIP runtime ----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is behind the entry points: devices that are emulators, streams that are
// queues. Nothing runs before somebody waits for it, so that a program that
// forgets to wait sees the old content.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_HIP_STANDIN_RUNTIME_H
#define ATTN_TEST_HIP_STANDIN_RUNTIME_H

#include "attn/Emulator/Machine.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <deque>
#include <functional>
#include <mutex>
#include <set>

namespace standin {

/// hipError_t, with HIP's values.
enum Status : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  invalidConfiguration = 9,
  invalidMemcpyDirection = 21,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  noBinaryForGpu = 209,
  invalidHandle = 400,
  notFound = 500,
  launchFailure = 719,
  unknown = 999,
};

class Device;

/// hipStream_t: work in order.
struct Stream {
  struct Work {
    /// Position in the order of all calls.
    uint64_t ticket;
    std::function<Status()> run;
  };
  Device *device;
  std::deque<Work> queue;
};

struct Module;

/// hipFunction_t.
struct Function {
  Module *module;
  const attn::emu::Kernel *kernel;
};

/// hipModule_t.
struct Module {
  Device *device;
  std::unique_ptr<attn::emu::CodeObject> object;
  llvm::StringMap<Function> functions;
};

/// One emulated GPU.
class Device {
public:
  explicit Device(attn::emu::Chip chip)
      : machine(chip), defaultStream{this, {}} {}

  attn::emu::Chip getChip() const { return machine.getChip(); }

  Status allocate(void **address, size_t bytes);
  Status free(void *address);
  bool owns(const void *address) const;

  /// Appends a copy; `kind` is hipMemcpyKind.
  Status copy(void *to, const void *from, size_t bytes, int kind,
              Stream &stream);
  Status fill(void *to, uint32_t value, unsigned width, size_t count,
              Stream &stream);
  Status launch(const Function &function, std::array<uint32_t, 3> grid,
                std::array<uint32_t, 3> block, unsigned dynamicLDSBytes,
                Stream &stream, std::vector<uint8_t> kernarg);

  /// Runs what is queued there and what that has to wait for. A launch that
  /// failed makes every later wait fail, as a device that lost its context.
  Status wait(Stream &stream);
  Status waitForAll();

  /// The default stream for null; null if there is no such stream.
  Stream *find(Stream *handle);
  Stream *addStream();
  void removeStream(Stream *stream);

  size_t countAllocations() const { return allocations.size(); }
  size_t countStreams() const { return streams.size(); }

private:
  uint8_t *getHost(const void *address, size_t bytes);
  void append(Stream &stream, std::function<Status()> run);
  void runUntil(Stream &stream, uint64_t ticket);
  Status run(const Function &function, const attn::emu::LaunchConfig &config,
             const std::vector<uint8_t> &kernarg);

  attn::emu::Machine machine;
  /// Address to bytes.
  std::map<uint64_t, size_t> allocations;
  /// HIP's legacy stream: waits for the others, and they for it.
  Stream defaultStream;
  std::set<std::unique_ptr<Stream>> streams;
  Status failure = success;
};

/// The process's state. Calls of the API hold `mutex`.
class Runtime {
public:
  /// Devices are those of the environment variable ATTN_STANDIN_CHIPS; one of
  /// each chip without it.
  static Runtime &get();
  /// Says on stderr what the program did not give back.
  ~Runtime();

  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> devices;
  std::set<std::unique_ptr<Module>> modules;

  Module *findModule(Module *handle);
  Function *findFunction(Function *handle);
  /// Copies the ELF file at `image`.
  Status load(Module **module, const void *image, Device &device);
  void unload(Module *module);

  /// True once, at the call that ATTN_STANDIN_FAIL=NAME:N names, counted
  /// from 1.
  bool shallFail(llvm::StringRef name);

private:
  Runtime();

  std::string failingName;
  unsigned callsToFailure = 0;
};

} // namespace standin

#endif // ATTN_TEST_HIP_STANDIN_RUNTIME_H
