//===- CodeObjectFuzzer.cpp - Any bytes as a code object ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes are either refused in one line, or loaded, decoded and run for a
// few instructions without a stray access.
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/ISA.h"
#include "attn/Emulator/Machine.h"
#include <cstdlib>

using namespace llvm;
using namespace attn::emu;

/// Unlike assert, stays in every build.
static void require(bool condition) {
  if (!condition)
    abort();
}

static void requireOneLine(Error error) {
  require(!StringRef(toString(std::move(error))).contains('\n'));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto object = CodeObject::create(MemoryBufferRef(bytes, "f.hsaco"));
  if (!object) {
    requireOneLine(object.takeError());
    return 0;
  }
  // A big image is only slow.
  if ((*object)->getImage().size() > (1 << 16))
    return 0;
  auto unsupported = findUnsupportedInstructions(**object);
  if (!unsupported)
    consumeError(unsupported.takeError());
  for (const Kernel &kernel : (*object)->getKernels()) {
    if (kernel.privateSegmentBytes > 256)
      continue;
    Machine machine((*object)->getChip());
    LaunchConfig config;
    config.kernel = kernel.name;
    LaunchOptions options;
    options.checks = CheckSet::all();
    options.threads = 1;
    options.maxInstructionsPerWave = 1000;
    SmallVector<uint8_t, 64> kernarg(kernel.getExplicitKernargBytes());
    auto report = machine.launch(**object, config, kernarg, options);
    if (!report)
      requireOneLine(report.takeError());
  }
  return 0;
}
