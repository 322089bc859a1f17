//===- Hazards.cpp - Wait states between dependent instructions -----------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Hazards.h"
#include "attn/Emulator/Numerics/Mfma.h"

using namespace attn::emu;
using namespace llvm;

/// No hazard reaches further than this many wait states.
static constexpr unsigned maxDistance = 20;

void WaveHazards::reset() {
  // Start late enough that nothing seems recent.
  now = 1000;
  vectorWrite.fill({});
  matrixReadC.fill({});
  wideStore.fill({});
  scalarByVALU.fill({});
  m0BySALU = setReg = doubleMatrix = {};
}

void WaveHazards::require(FindingCollector &collector, const Wave &wave,
                          const Inst &inst, const Event &event, unsigned needed,
                          const char *what, bool isVector, unsigned reg) {
  uint64_t between = now - event.time;
  if (between >= needed)
    return;
  collector.add(Check::Hazards, wave, inst, -1, event.inst, std::nullopt, [&] {
    std::string name =
        reg == ~0u ? std::string("MODE") : getRegisterName(isVector, reg);
    return std::make_pair(
        formatv("{0} ({1}): expects {2} wait states between the two "
                "instructions, but got {3}",
                what, name, needed, between)
            .str(),
        formatv("s_nop {0} in between", needed - between - 1).str());
  });
}

/// Passes of 4 clocks of the matrix instruction \p inst.
static unsigned getPasses(const Inst &inst, bool isGFX950) {
  const MfmaInfo &info = *static_cast<const MfmaInfo *>(inst.extra);
  return info.getPasses(isGFX950, inst.cbsz, inst.blgp);
}

/// Wait states until a matrix result may be read or overwritten by anything
/// but a matrix instruction's C operand.
static unsigned getResultDistance(const Inst &matrix, bool isGFX950,
                                  bool byMemory, bool byMatrix, bool write) {
  unsigned passes = getPasses(matrix, isGFX950);
  if (matrix.traits.isDGEMM) {
    bool small = passes == 4;
    if (write)
      return small ? 6 : 11;
    if (byMemory)
      return small ? 9 : 18;
    return small ? 6 : isGFX950 ? 19 : 11;
  }
  if (!matrix.traits.isXDL)
    return passes + 2;
  return passes + 3 + (passes != 2 && isGFX950);
}

/// The same for the C operand of matrix instruction \p inst.
static unsigned getAccumulateDistance(const Inst &matrix, const Inst &inst,
                                      bool isGFX950, bool sameTuple) {
  unsigned passes = getPasses(matrix, isGFX950);
  if (sameTuple) {
    if (matrix.traits.isDGEMM && inst.traits.isDGEMM && passes == 4 &&
        getPasses(inst, isGFX950) == 4)
      return 4;
    return passes == 2 ? 2 : 0;
  }
  if (matrix.traits.isDGEMM) {
    if (inst.traits.isXDL)
      return 0;
    return passes == 4 ? 4 : isGFX950 ? 17 : 9;
  }
  if (!matrix.traits.isXDL)
    return inst.traits.isXDL ? 0 : passes;
  if (inst.traits.isXDL)
    return passes + 1 + isGFX950;
  return passes + 1 + (passes != 2 && isGFX950);
}

void WaveHazards::checkMatrix(FindingCollector &collector, const Wave &wave,
                              const Inst &inst, const RegRange &range,
                              bool isGFX950) {
  // C is the operand whose first register the decoder put in source 2; A and
  // B may be the same registers.
  bool isSparse = static_cast<const MfmaInfo *>(inst.extra)->sparse;
  unsigned cReg = isSparse ? inst.dst : inst.src[2].reg;
  bool hasC = isSparse || inst.src[2].kind == SrcKind::Vector;
  unsigned dRegs = static_cast<const MfmaInfo *>(inst.extra)->getDRegs();
  bool isC = hasC && range.first == cReg && range.count == dRegs;
  for (unsigned n = 0; n < range.count; ++n) {
    unsigned reg = range.first + n;
    const Event &event = vectorWrite[reg & 511];
    if (!event.inst || now - event.time >= maxDistance)
      continue;
    const Inst &writer = *event.inst;
    if (writer.traits.isMFMA) {
      unsigned writerRegs =
          static_cast<const MfmaInfo *>(writer.extra)->getDRegs();
      bool sameTuple = writer.dst == range.first && writerRegs == range.count;
      unsigned needed =
          isC ? getAccumulateDistance(writer, inst, isGFX950, sameTuple)
              : getResultDistance(writer, isGFX950, false, true, false);
      require(collector, wave, inst, event, needed,
              isC ? "matrix result read as C" : "matrix result read as A or B",
              true, reg);
    } else if (writer.traits.isVALU && !writer.traits.isDot) {
      require(collector, wave, inst, event, 2,
              "vector result read by a matrix instruction", true, reg);
    }
  }
}

void WaveHazards::checkVector(FindingCollector &collector, const Wave &wave,
                              const Inst &inst, const RegRange &range,
                              bool isGFX950) {
  const OpTraits &traits = inst.traits;
  bool isMemory = traits.isVMEM || traits.isDS;
  bool isPermlane = traits.flow == Flow::PermlaneSwap16 ||
                    traits.flow == Flow::PermlaneSwap32;
  for (unsigned n = 0; n < range.count; ++n) {
    unsigned reg = range.first + n;
    const Event &event = vectorWrite[reg & 511];
    bool recent = event.inst && now - event.time < maxDistance;
    if (recent) {
      const Inst &writer = *event.inst;
      auto need = [&](unsigned states, const char *what) {
        require(collector, wave, inst, event, states, what, true, reg);
      };
      if (writer.traits.isMFMA && !traits.isMFMA) {
        need(getResultDistance(writer, isGFX950, isMemory, false, range.write),
             range.write ? "matrix result overwritten" : "matrix result read");
      } else if (!range.write) {
        if (writer.traits.isTrans && traits.isVALU && !traits.isTrans)
          need(1, "transcendental result read by another vector operation");
        if (writer.traits.isDot && (traits.isVALU || isMemory) &&
            !(writer.op == inst.op && inst.src[2].kind == SrcKind::Vector &&
              inst.src[2].reg == reg))
          need(3, "dot product read");
        if (traits.isDPP && inst.src[0].kind == SrcKind::Vector &&
            reg >= inst.src[0].reg &&
            reg < inst.src[0].reg + getWords(inst.src[0].ty))
          need(2, "vector register read through DPP");
        if ((traits.flow == Flow::ReadLane ||
             traits.flow == Flow::ReadFirstLane) &&
            writer.traits.isVALU)
          need(1, "vector result read by a lane read");
        if (isPermlane && isGFX950 && writer.traits.isVALU)
          need(2, "vector result read by a lane swap");
      } else if (writer.traits.isDot && writer.op != inst.op &&
                 (traits.isVALU || isMemory)) {
        need(3, "dot product overwritten");
      }
      // A result that is shifted into place is forwarded a step later.
      bool shifted = writer.traits.isVALU &&
                     ((writer.isSDWA && writer.dstSel != 6 &&
                       writer.format != Format::VOPC) ||
                      writer.dstOpSel ||
                      (writer.traits.shiftsResult && writer.src[2].opSel));
      if (shifted && traits.isVALU)
        need(1, "result with a destination select used");
    }
    if (!range.write)
      continue;
    const Event &readC = matrixReadC[reg & 511];
    if (readC.inst && (traits.isVALU || isMemory) && !traits.isMFMA) {
      unsigned passes = getPasses(*readC.inst, isGFX950);
      require(collector, wave, inst, readC, passes - 1,
              "C operand of a matrix instruction overwritten", true, reg);
    }
    const Event &store = wideStore[reg & 511];
    if (store.inst && traits.isVALU)
      require(collector, wave, inst, store, 2,
              "data of a store of more than 8 bytes overwritten", true, reg);
  }
}

void WaveHazards::checkScalar(FindingCollector &collector, const Wave &wave,
                              const Inst &inst, const RegRange &range) {
  const OpTraits &traits = inst.traits;
  for (unsigned n = 0; n < range.count; ++n) {
    unsigned reg = (range.first + n) & (numScalarRegs - 1);
    const Event &event = scalarByVALU[reg];
    if (!event.inst || now - event.time >= maxDistance)
      continue;
    auto need = [&](unsigned states, const char *what) {
      require(collector, wave, inst, event, states, what, false, reg);
    };
    bool isExec = reg >= regEXEC;
    if (isExec) {
      if (traits.isDPP)
        need(5, "EXEC written by a vector operation before DPP");
      if (traits.flow == Flow::ReadLane || traits.flow == Flow::WriteLane ||
          traits.flow == Flow::ReadFirstLane)
        need(4, "EXEC written by a vector operation before a lane access");
      if (traits.isMFMA)
        need(4, "EXEC written by a vector operation before a matrix "
                "instruction");
      if (traits.flow == Flow::PermlaneSwap16 ||
          traits.flow == Flow::PermlaneSwap32)
        need(4, "EXEC written by a vector operation before a lane swap");
      continue;
    }
    if (traits.isVMEM && !range.implicit)
      need(5, "scalar register written by a vector operation, read by a "
              "memory instruction");
    if (traits.isDivFmas && (reg == regVCC || reg == regVCC + 1))
      need(4, "VCC written by a vector operation before v_div_fmas");
    bool isLaneSelect =
        (traits.flow == Flow::ReadLane || traits.flow == Flow::WriteLane) &&
        inst.src[1].kind == SrcKind::SGPR && inst.src[1].reg == reg;
    if (isLaneSelect)
      need(4, "lane select written by a vector operation");
    if (traits.isVALU)
      need(2, "scalar register written by a vector operation, read by another");
  }
}

void WaveHazards::record(const Inst &inst, ArrayRef<RegRange> regs) {
  const OpTraits &traits = inst.traits;
  // Wait states are counted from the instruction after this one.
  Event event{&inst, now};
  for (const RegRange &range : regs) {
    for (unsigned n = 0; n < range.count; ++n) {
      unsigned reg = range.first + n;
      if (range.kind == RegRange::Vector) {
        if (range.write)
          vectorWrite[reg & 511] = event;
        else if (traits.isStore && traits.isVMEM && inst.memWords > 2 &&
                 reg >= inst.vdata && reg < inst.vdata + inst.memWords &&
                 !(inst.format == Format::MUBUF &&
                   inst.src[3].kind == SrcKind::SGPR))
          wideStore[reg & 511] = event;
      } else if (range.kind == RegRange::Scalar && range.write) {
        unsigned scalar = reg & (numScalarRegs - 1);
        scalarByVALU[scalar] = traits.isVALU ? event : Event();
        if (scalar == regM0)
          m0BySALU = traits.isSALU ? event : Event();
      }
    }
  }
  if (traits.isMFMA) {
    const MfmaInfo &info = *static_cast<const MfmaInfo *>(inst.extra);
    if (traits.isDGEMM)
      doubleMatrix = event;
    bool isSparse = info.sparse;
    if (traits.isXDL && (isSparse || inst.src[2].kind == SrcKind::Vector)) {
      unsigned first = isSparse ? inst.dst : inst.src[2].reg;
      for (unsigned n = 0; n < info.getDRegs(); ++n)
        matrixReadC[(first + n) & 511] = event;
    }
  }
  if (traits.isSetReg)
    setReg = event;
}

void WaveHazards::step(FindingCollector &collector, const Wave &wave,
                       const Inst &inst, ArrayRef<RegRange> regs) {
  bool isGFX950 = wave.ctx->chip == Chip::GFX950;
  const OpTraits &traits = inst.traits;
  bool isVector = traits.isVALU || traits.isVMEM || traits.isDS;
  if (isVector)
    for (const RegRange &range : regs) {
      if (range.kind == RegRange::Vector) {
        if (traits.isMFMA && !range.write)
          checkMatrix(collector, wave, inst, range, isGFX950);
        else
          checkVector(collector, wave, inst, range, isGFX950);
      } else if (range.kind == RegRange::Scalar && !range.write) {
        checkScalar(collector, wave, inst, range);
      }
    }
  // ds_append and ds_consume are not in the guide's list.
  bool readsM0 = traits.isLDSDMA || (traits.readsM0 && !traits.isAtomic);
  if (readsM0 && m0BySALU.inst)
    require(collector, wave, inst, m0BySALU, 1,
            "M0 written by a scalar operation just before its use", false,
            regM0);
  if ((traits.isSetReg || traits.isGetReg) && setReg.inst &&
      (setReg.inst->simm & 63) == (inst.simm & 63))
    require(collector, wave, inst, setReg, 2,
            "hardware register written just before", false, ~0u);
  if (traits.isFma64 && doubleMatrix.inst)
    require(collector, wave, inst, doubleMatrix, 2,
            "f64 matrix instruction before an f64 fma", true, inst.dst);

  // The instruction itself is not a wait state between it and the next.
  uint64_t states = traits.isNop ? (inst.simm & 15) + 1 : 1;
  now += states;
  record(inst, regs);
}
