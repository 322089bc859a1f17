//===- AsmKernel.h - Kernels written in assembly ----------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_EMULATOR_MACHINE_ASMKERNEL_H
#define ATTN_UNITTESTS_EMULATOR_MACHINE_ASMKERNEL_H

#include "attn/Emulator/Machine.h"
#include "gtest/gtest.h"

namespace attn::emu {

/// A kernel with two pointer arguments. On entry: s[0:1] kernarg segment,
/// s2/s3/s4 workgroup id, v0 packed work-item id. The tests' prologue leaves
/// s[8:9] = first pointer and s[10:11] = second pointer.
struct AsmKernel {
  std::string body;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;
  /// Without the prologue that loads the pointers.
  bool bare = false;
};

/// Assembles and links in this process.
llvm::Expected<std::vector<char>> assembleBytes(Chip chip,
                                                const AsmKernel &kernel);
llvm::Expected<std::unique_ptr<CodeObject>> assemble(Chip chip,
                                                     const AsmKernel &kernel);

/// Runs a kernel on words: `in` is an input buffer, `out` an output one.
struct AsmRun {
  std::vector<uint32_t> in, out;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {64, 1, 1};
  uint32_t dynamicLDSBytes = 0;
  BufferRole outRole = BufferRole::Output;
  LaunchOptions options;
  /// Also look for output bytes that were never stored.
  bool checkOutputs = false;

  llvm::Expected<Report> run(Chip chip, const AsmKernel &kernel);
};

/// Names of the checks that fired, one for each finding, joined by spaces.
std::string getChecksFired(const Report &report);

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_MACHINE_ASMKERNEL_H
