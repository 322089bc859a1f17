//===- Access.h - Memory access of one instruction --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CHECK_ACCESS_H
#define ATTN_LIB_EMULATOR_CHECK_ACCESS_H

#include "../Exec/Memory.h"

namespace attn::emu {

/// Where an instruction is about to access memory, computed once for all
/// checks.
struct Access {
  /// No vector memory access.
  bool none = true;
  bool reads = false, writes = false, atomic = false;
  /// Addresses of each lane; DS read2/write2 have two.
  unsigned count = 0;
  /// Bytes at each address.
  unsigned bytes = 0;
  LaneAddresses at[2];
  /// DMA: lane l also writes LDS [ldsBase + l * ldsBytes, + ldsBytes).
  bool dma = false;
  uint32_t ldsBase = 0;
  unsigned ldsBytes = 0;
};

/// Fills \p access for \p inst; false if the instruction cannot run.
bool computeAccess(Wave &wave, const Inst &inst, Access &access);

/// "v5", "a[0:3]", "s[4:5]", "vcc", ...
std::string getRegisterName(bool isVector, unsigned first, unsigned count = 1);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CHECK_ACCESS_H
