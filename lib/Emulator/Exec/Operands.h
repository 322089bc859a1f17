//===- Operands.h - Vector operands of one instruction ----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Fetches sources as 64-lane arrays with modifiers applied, and stores
/// results under EXEC with output modifiers.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_EXEC_OPERANDS_H
#define ATTN_LIB_EMULATOR_EXEC_OPERANDS_H

#include "../Machine/Wave.h"

namespace attn::emu {

/// Room for the widest operand: 32 dwords a lane.
inline constexpr unsigned maxOperandWords = 32;

/// Sources of one instruction.
struct Operands {
  const uint32_t *src[4] = {nullptr, nullptr, nullptr, nullptr};
  /// Broadcast and modified copies (two dwords a lane at most).
  alignas(64) uint32_t buffer[4][2 * numLanes];
};

/// Lane that \p lane reads from under a DPP control; -1 if outside the row or
/// the wave, -2 if the chip has no such control.
int getDPPSource(unsigned control, unsigned lane);

/// The 64-lane array of \p src, without modifiers.
const uint32_t *fetchRaw(Wave &wave, const Src &src, uint32_t *buffer);
/// With modifiers.
const uint32_t *fetch(Wave &wave, const Inst &inst, unsigned index,
                      uint32_t *buffer);

/// Applies omod and clamp to \p d in place.
void applyOutputModifiers(Wave &wave, const Inst &inst, uint32_t *d);

/// Copies \p words registers to \p reg where EXEC is set.
void storeMasked(Wave &wave, unsigned reg, const uint32_t *from,
                 unsigned words);
/// Stores a result: 16-bit halves, EXEC.
void storeResult(Wave &wave, const Inst &inst, const uint32_t *d);

/// Body of an operation: d = f(sources), all 64 lanes.
using Body = void (*)(Wave &wave, const Inst &inst, uint32_t *d,
                      const uint32_t *const *src);

/// A handler that fetches, runs \p body and stores.
template <Body body> void execute(Wave &wave, const Inst &inst) {
  Operands operands;
  for (unsigned n = 0; n < inst.numSrcs; ++n)
    if (inst.src[n].ty != Ty::Mask)
      operands.src[n] = fetch(wave, inst, n, operands.buffer[n]);
  alignas(64) uint32_t result[maxOperandWords * numLanes];
  body(wave, inst, result, operands.src);
  if (inst.hasOutMods)
    applyOutputModifiers(wave, inst, result);
  storeResult(wave, inst, result);
}

/// The EXEC-sized mask operand \p index (VCC or an SGPR pair).
inline uint64_t readMask(const Wave &wave, const Inst &inst, unsigned index) {
  return wave.read64(inst.src[index]);
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_EXEC_OPERANDS_H
