//===- Hazards.h - Wait states between dependent instructions ---*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The dependencies that gfx942 and gfx950 do not resolve in hardware: so many
/// wait states (instructions, or s_nop counts) must lie between. The distances
/// are those of LLVM's GCNHazardRecognizer; docs/Emulator.md lists them.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CHECK_HAZARDS_H
#define ATTN_LIB_EMULATOR_CHECK_HAZARDS_H

#include "Access.h"
#include "Observers.h"

namespace attn::emu {

/// One wave's recent writes. Time counts wait states.
class WaveHazards {
public:
  void reset();
  void step(FindingCollector &collector, const Wave &wave, const Inst &inst,
            llvm::ArrayRef<RegRange> regs);

private:
  struct Event {
    const Inst *inst = nullptr;
    /// Time after which wait states count.
    uint64_t time = 0;
  };

  /// Reports if fewer than \p needed wait states lie since \p event.
  void require(FindingCollector &collector, const Wave &wave, const Inst &inst,
               const Event &event, unsigned needed, const char *what,
               bool isVector, unsigned reg);

  void checkVector(FindingCollector &collector, const Wave &wave,
                   const Inst &inst, const RegRange &range, bool isGFX950);
  void checkMatrix(FindingCollector &collector, const Wave &wave,
                   const Inst &inst, const RegRange &range, bool isGFX950);
  void checkScalar(FindingCollector &collector, const Wave &wave,
                   const Inst &inst, const RegRange &range);
  void record(const Inst &inst, llvm::ArrayRef<RegRange> regs);

  uint64_t now = 0;
  /// Last write of each vector register, and last reads that must be kept in
  /// mind: an MFMA's C operand, the data of a wide store.
  std::array<Event, 512> vectorWrite, matrixReadC, wideStore;
  /// Last VALU write of each scalar register.
  std::array<Event, numScalarRegs> scalarByVALU;
  Event m0BySALU, setReg, doubleMatrix;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CHECK_HAZARDS_H
