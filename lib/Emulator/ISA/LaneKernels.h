//===- LaneKernels.h - 64-lane loops, one a vector operation ----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The interface of the files that are compiled once for each x86-64 level.
/// This header must stay free of inline functions: the linker would be free to
/// pick the copy made for the newest level, and the program would die on an
/// older host.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_ISA_LANEKERNELS_H
#define ATTN_LIB_EMULATOR_ISA_LANEKERNELS_H

#include <stddef.h>
#include <stdint.h>

namespace attn::emu {

/// d = op(a, b, c) for 64 lanes. Dword w of lane l of an operand is at
/// [w * 64 + l]. The result may be the same memory as a source.
using LaneKernel = void (*)(uint32_t *d, const uint32_t *a, const uint32_t *b,
                            const uint32_t *c);

/// Bit l of the result is the comparison's verdict for lane l.
using CompareKernel = uint64_t (*)(const uint32_t *a, const uint32_t *b);

struct LaneOp {
  const char *mnemonic;
  /// Result type, then source types, e.g. "f32 f32 f32"; see OpTable.cpp.
  const char *signature;
  LaneKernel kernel;
};

struct CompareOp {
  /// v_cmp_ and v_cmpx_ are put before it.
  const char *mnemonic;
  const char *signature;
  CompareKernel kernel;
};

struct LaneTables {
  const LaneOp *ops;
  size_t numOps;
  const CompareOp *compares;
  size_t numCompares;
};

LaneTables getLaneTablesBase();
LaneTables getLaneTablesV3();
LaneTables getLaneTablesV4();

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_ISA_LANEKERNELS_H
