//===- Definedness.cpp - Values that nobody wrote -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Definedness.h"
#include "../Exec/Operands.h"
#include "attn/Emulator/Numerics/Mfma.h"

using namespace attn::emu;
using namespace llvm;

void Definedness::reset(ArrayRef<Wave> waves) {
  states.resize(waves.size());
  lds.assign(ctx.ldsBytes, 0);
  for (const Wave &wave : waves) {
    WaveState &state = states[wave.id];
    state.vector.fill(allLanes);
    state.scalar.fill(~0u);
    state.scc = true;
    state.anyVector = true;
    state.scratch.assign(size_t(ctx.scratchBytes) * numLanes, 0);
    // Work-item ids, user and system registers.
    state.vector[0] = ~wave.exec();
    const Kernel &kernel = *ctx.kernel;
    static const unsigned sizes[7] = {4, 2, 2, 2, 2, 2, 1};
    unsigned count = kernel.preloadDwords;
    for (unsigned bit = 0; bit < 7; ++bit)
      if (kernel.properties >> bit & 1)
        count += sizes[bit];
    count = std::max<unsigned>(count, kernel.rsrc2 >> 1 & 31);
    for (unsigned bit = 7; bit <= 10; ++bit)
      count += kernel.rsrc2 >> bit & 1;
    for (unsigned reg = 0; reg < count && reg < numScalarRegs; ++reg)
      state.scalar[reg] = 0;
    for (unsigned reg :
         {regFlatScratch, regFlatScratch + 1, regEXEC, regEXEC + 1})
      state.scalar[reg] = 0;
    // Trap temporaries belong to the system.
    for (unsigned reg = 108; reg < 124; ++reg)
      state.scalar[reg] = 0;
  }
}

void Definedness::report(Wave &wave, const Inst &inst, int lane,
                         const Twine &what) {
  collector.add(
      Check::Uninitialized, wave, inst, lane, nullptr, std::nullopt, [&] {
        return std::make_pair(
            (what + " depends on a value that was never written").str(),
            std::string("initialise the register, LDS or scratch "
                        "bytes it comes from"));
      });
}

uint64_t Definedness::getSource(const WaveState &state, const Src &src) const {
  unsigned words = getWords(src.ty);
  if (src.kind == SrcKind::Vector)
    return getVector(state, src.reg, words);
  if (src.kind == SrcKind::SGPR)
    for (unsigned word = 0; word < words; ++word)
      if (state.scalar[(src.reg + word) & (numScalarRegs - 1)])
        return allLanes;
  return 0;
}

uint64_t Definedness::getWord(const WaveState &state, const Src &src,
                              bool high) const {
  if (getWords(src.ty) < 2)
    return getSource(state, src);
  if (src.kind == SrcKind::Vector)
    return state.vector[(src.reg + high) & 511];
  if (src.kind == SrcKind::SGPR)
    return state.scalar[(src.reg + high) & (numScalarRegs - 1)] ? allLanes : 0;
  return 0;
}

uint64_t Definedness::getMask(const WaveState &state, const Src &src) const {
  return src.kind == SrcKind::SGPR ? getScalar64(state, src.reg) : 0;
}

void Definedness::setVector(WaveState &state, unsigned reg, unsigned words,
                            uint64_t lanes, uint64_t undefined) {
  for (unsigned word = 0; word < words; ++word) {
    uint64_t &entry = state.vector[(reg + word) & 511];
    entry = (entry & ~lanes) | (undefined & lanes);
  }
}

void Definedness::setScalar64(Wave &wave, WaveState &state, const Inst &inst,
                              unsigned reg, uint64_t bits) {
  state.scalar[reg & (numScalarRegs - 1)] = bits;
  state.scalar[(reg + 1) & (numScalarRegs - 1)] = bits >> 32;
  if (bits && (reg == regEXEC || reg == regEXEC + 1)) {
    report(wave, inst, countr_zero(bits), "EXEC");
    state.scalar[regEXEC] = state.scalar[regEXEC + 1] = 0;
  }
}

//===----------------------------------------------------------------------===//
// Scalar
//===----------------------------------------------------------------------===//

/// Every word with an undefined bit as undefined as a whole, which a partly
/// defined one no longer is once it is spilled (see Flow::WriteLane).
static uint64_t fillWords(uint64_t undefined) {
  return (undefined >> 32 ? ~uint64_t(0) << 32 : 0) |
         (uint32_t(undefined) ? uint64_t(~uint32_t(0)) : 0);
}

void Definedness::stepScalar(Wave &wave, const Inst &inst,
                             ArrayRef<RegRange> regs) {
  WaveState &state = states[wave.id];
  const OpTraits &traits = inst.traits;

  // Bitwise logic: a defined bit can decide the result alone.
  if (traits.logic != BitLogic::None) {
    bool saves = false, writesExec = false;
    for (const RegRange &range : regs)
      if (range.write && range.implicit && range.kind == RegRange::Scalar)
        writesExec = true;
    saves = writesExec;
    bool wide = inst.dstTy == Ty::B64;
    auto undefinedOf = [&](const Src &src) -> uint64_t {
      if (src.kind != SrcKind::SGPR)
        return 0;
      return getWords(src.ty) == 2 ? getScalar64(state, src.reg)
                                   : state.scalar[src.reg];
    };
    auto valueOf = [&](const Src &src) -> uint64_t {
      return getWords(src.ty) == 2 ? wave.read64(src) : wave.read32(src);
    };
    uint64_t ua = undefinedOf(inst.src[0]), a = valueOf(inst.src[0]), ub = 0,
             b = wave.exec();
    if (!saves && inst.numSrcs > 1) {
      ub = undefinedOf(inst.src[1]);
      b = valueOf(inst.src[1]);
    }
    uint64_t undefined = ua | ub;
    switch (traits.logic) {
    case BitLogic::And:
      undefined &= ~((~ua & ~a) | (~ub & ~b));
      break;
    case BitLogic::AndN2:
      undefined &= ~((~ua & ~a) | (~ub & b));
      break;
    case BitLogic::Or:
      undefined &= ~((~ua & a) | (~ub & b));
      break;
    case BitLogic::OrN2:
      undefined &= ~((~ua & a) | (~ub & ~b));
      break;
    case BitLogic::ShiftLeft64:
      undefined = ub ? ~uint64_t(0) : fillWords(ua << (b & 63));
      break;
    case BitLogic::ShiftRight64:
      undefined = ub ? ~uint64_t(0) : fillWords(ua >> (b & 63));
      break;
    case BitLogic::ShiftRightSigned64:
      undefined = ub ? ~uint64_t(0) : fillWords(int64_t(ua) >> (b & 63));
      break;
    default:
      break;
    }
    for (const RegRange &range : regs)
      if (range.kind == RegRange::SCC && !range.write && state.scc)
        undefined = ~uint64_t(0);
    // SCC depends on every bit, unless a defined one is set already.
    for (const RegRange &range : regs)
      if (range.kind == RegRange::SCC && range.write)
        state.scc = undefined != 0;
    if (saves) {
      // d = EXEC, EXEC = result.
      state.scalar[inst.dst] = 0;
      state.scalar[(inst.dst + 1) & (numScalarRegs - 1)] = 0;
      setScalar64(wave, state, inst, regEXEC, undefined);
    } else if (wide) {
      setScalar64(wave, state, inst, inst.dst, undefined);
    } else {
      state.scalar[inst.dst & (numScalarRegs - 1)] = undefined;
      if (undefined && inst.dst >= regEXEC)
        setScalar64(wave, state, inst, regEXEC, undefined);
    }
    return;
  }

  bool undefined = false;
  for (const RegRange &range : regs) {
    if (range.write)
      continue;
    if (range.kind == RegRange::SCC) {
      undefined |= state.scc;
      continue;
    }
    if (range.kind != RegRange::Scalar)
      continue;
    for (unsigned n = 0; n < range.count; ++n)
      undefined |= state.scalar[(range.first + n) & (numScalarRegs - 1)] != 0;
  }
  if (traits.isBranch && undefined) {
    report(wave, inst, -1, "the branch");
    state.scc = false;
    return;
  }
  if (traits.isSMEM && undefined) {
    report(wave, inst, -1, "the address of the scalar load");
    undefined = false;
  }
  for (const RegRange &range : regs) {
    if (!range.write)
      continue;
    if (range.kind == RegRange::SCC) {
      state.scc = undefined;
    } else if (range.kind == RegRange::Scalar) {
      for (unsigned n = 0; n < range.count; ++n)
        state.scalar[(range.first + n) & (numScalarRegs - 1)] =
            undefined ? ~0u : 0;
      if (undefined && range.first >= regEXEC)
        setScalar64(wave, state, inst, regEXEC, ~uint64_t(0));
    }
  }
}

//===----------------------------------------------------------------------===//
// Vector
//===----------------------------------------------------------------------===//

/// Applies a DPP permutation to a lane mask; lanes that are not written are
/// left out of \p written.
static uint64_t permuteDPP(const Wave &wave, const Inst &inst, uint64_t lanes,
                           uint64_t &written) {
  uint64_t result = 0, exec = wave.exec();
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    int source = getDPPSource(inst.dppCtrl, lane);
    bool valid = source >= 0 && (exec >> source & 1);
    uint64_t bit = uint64_t(1) << lane;
    if (valid && (lanes >> source & 1))
      result |= bit;
    if ((!valid && !inst.boundCtrl) || !(inst.rowMask >> (lane / 16) & 1) ||
        !(inst.bankMask >> (lane / 4 % 4) & 1))
      written &= ~bit;
  }
  return result;
}

void Definedness::stepVector(Wave &wave, const Inst &inst,
                             ArrayRef<RegRange> regs) {
  WaveState &state = states[wave.id];
  uint64_t exec = wave.exec();
  switch (inst.traits.flow) {
  case Flow::ReadFirstLane: {
    uint64_t source = getSource(state, inst.src[0]);
    unsigned lane = exec ? countr_zero(exec) : 0;
    state.scalar[inst.dst & (numScalarRegs - 1)] = source >> lane & 1 ? ~0u : 0;
    return;
  }
  case Flow::ReadLane: {
    uint64_t source = getSource(state, inst.src[0]);
    unsigned lane = wave.read32(inst.src[1]) & 63;
    state.scalar[inst.dst & (numScalarRegs - 1)] = source >> lane & 1 ? ~0u : 0;
    return;
  }
  case Flow::WriteLane: {
    unsigned lane = wave.read32(inst.src[1]) & 63;
    // A vector register has one bit a lane, a scalar one a bit. Spilled masks
    // are undefined outside EXEC in unoptimised code and masked again after
    // the reload, so a partly defined scalar counts as defined here.
    const Src &src = inst.src[0];
    bool undefined =
        src.kind == SrcKind::SGPR &&
        state.scalar[src.reg & (numScalarRegs - 1)] == ~uint32_t(0);
    setVector(state, inst.dst, 1, uint64_t(1) << lane,
              undefined ? allLanes : 0);
    return;
  }
  case Flow::Swap: {
    uint64_t &a = state.vector[inst.dst & 511];
    uint64_t &b = state.vector[inst.src[0].reg & 511];
    uint64_t oldA = a, oldB = b;
    a = (oldA & ~exec) | (oldB & exec);
    b = (oldB & ~exec) | (oldA & exec);
    return;
  }
  case Flow::PermlaneSwap16:
  case Flow::PermlaneSwap32: {
    bool is32 = inst.traits.flow == Flow::PermlaneSwap32;
    unsigned shift = is32 ? 32 : 16;
    uint64_t lower = is32 ? 0x00000000ffffffffull : 0x0000ffff0000ffffull;
    uint64_t &d = state.vector[inst.dst & 511];
    uint64_t &s = state.vector[inst.src[0].reg & 511];
    uint64_t newD = (d & lower) | (s & lower) << shift;
    uint64_t newS = (s & ~lower) | (d >> shift & lower);
    d = (d & ~exec) | (newD & exec);
    s = (s & ~exec) | (newS & exec);
    return;
  }
  case Flow::ShiftLeft64:
  case Flow::ShiftRight64: {
    const Src &amount = inst.src[0], &value = inst.src[1];
    uint64_t far = 0; // lanes that shift by 32 or more
    if (amount.kind != SrcKind::Vector)
      far = wave.read32(amount) & 32 ? allLanes : 0;
    else
      for (unsigned lane = 0; lane < numLanes; ++lane)
        far |= uint64_t(wave.vgpr(amount.reg)[lane] >> 5 & 1) << lane;
    // `near` is the word that every amount keeps in its place or clears.
    bool isLeft = inst.traits.flow == Flow::ShiftLeft64;
    uint64_t near = getWord(state, value, !isLeft),
             other = getWord(state, value, isLeft);
    uint64_t moved = (far & near) | (~far & (near | other));
    // What comes in from the end is 0, or the sign.
    bool isSigned = value.ty == Ty::I64;
    uint64_t kept = isSigned ? near : near & ~far;
    uint64_t all = getSource(state, amount);
    setVector(state, inst.dst, 1, exec, all | (isLeft ? kept : moved));
    setVector(state, inst.dst + 1, 1, exec, all | (isLeft ? moved : kept));
    return;
  }
  default:
    break;
  }

  // Packed results have a word of each source, 64-bit sums and shifts to the
  // left carry upwards only: compilers leave the other word undefined.
  uint64_t undefined = 0, written = exec;
  bool packed = inst.dstTy == Ty::PKF32 || inst.dstTy == Ty::PKB32;
  uint64_t undefinedLow = 0, undefinedHigh = 0;
  if (inst.traits.flow == Flow::Select && !inst.isSDWA) {
    uint64_t a = getSource(state, inst.src[0]);
    if (inst.isDPP)
      a = permuteDPP(wave, inst, a, written);
    uint64_t b = getSource(state, inst.src[1]);
    uint64_t mask = wave.read64(inst.src[2]);
    undefined = (mask & b) | (~mask & a) | getMask(state, inst.src[2]);
  } else {
    for (unsigned n = 0; n < inst.numSrcs; ++n) {
      if (inst.src[n].ty == Ty::Mask) {
        undefined |= getMask(state, inst.src[n]);
        continue;
      }
      uint64_t source = getSource(state, inst.src[n]);
      if (n == 0 && inst.isDPP)
        source = permuteDPP(wave, inst, source, written);
      undefined |= source;
      const Src &src = inst.src[n];
      // v_pk_mov_b32 takes one word of each source.
      bool isMove = inst.dstTy == Ty::PKB32;
      if (!isMove || n == 0)
        undefinedLow |= getWord(state, src, packed && src.opSel);
      if (!isMove || n == 1)
        undefinedHigh |= packed ? getWord(state, src, src.opSelHi) : source;
    }
    if (inst.traits.isDivFmas)
      undefined |= getScalar64(state, regVCC);
  }

  for (const RegRange &range : regs) {
    if (!range.write || range.kind == RegRange::SCC)
      continue;
    if (range.kind == RegRange::Vector) {
      if ((packed || inst.traits.flow == Flow::LowWord) && range.count == 2) {
        setVector(state, range.first, 1, written, undefinedLow);
        setVector(state, range.first + 1, 1, written, undefinedHigh);
      } else {
        setVector(state, range.first, range.count, written, undefined);
      }
      continue;
    }
    // A mask: one bit a lane, and 0 for lanes that are off.
    setScalar64(wave, state, inst, range.first, undefined & exec);
  }
}

void Definedness::stepMatrix(Wave &wave, const Inst &inst) {
  WaveState &state = states[wave.id];
  const MfmaInfo &info = *static_cast<const MfmaInfo *>(inst.extra);
  unsigned dRegs = info.getDRegs();
  auto gather = [&](const Src &src, unsigned regs) {
    return src.kind == SrcKind::Vector ? getVector(state, src.reg, regs) : 0;
  };
  uint64_t a = gather(inst.src[0], info.getARegs(inst.cbsz));
  uint64_t b = gather(inst.src[1], info.getBRegs(inst.blgp));
  // Scales and sparse indices go with their rows.
  if (info.scaled)
    a |= gather(inst.src[3], 1);
  bool cIsVector = inst.src[2].kind == SrcKind::Vector && !info.sparse;
  unsigned cReg = info.sparse ? inst.dst : inst.src[2].reg;
  if (info.sparse)
    a |= gather(inst.src[2], 1);
  bool hasC = cIsVector || info.sparse;
  uint64_t result[32] = {};
  for (unsigned n = 0; n < dRegs; ++n)
    result[n] = hasC ? state.vector[(cReg + n) & 511] : 0;
  if (a | b) {
    // Lane l holds row (A) or column (B) l % m of its block; with broadcasts
    // a block may feed others, so be coarse there.
    bool coarse = !info.isF64() && !info.sparse && info.blocks > 1 &&
                  (inst.cbsz || inst.blgp);
    for (unsigned block = 0; block < info.blocks; ++block) {
      uint64_t rows = 0, columns = 0;
      unsigned lanesPerBlock = info.blocks > 1 ? info.m : numLanes;
      if (coarse || info.blocks > 1) {
        for (unsigned l = 0; l < info.m; ++l) {
          unsigned lane = (block * lanesPerBlock + l) % numLanes;
          rows |= uint64_t(coarse ? a != 0 : a >> lane & 1) << l;
          columns |= uint64_t(coarse ? b != 0 : b >> lane & 1) << l;
        }
      } else {
        for (unsigned lane = 0; lane < numLanes; ++lane) {
          rows |= (a >> lane & 1) << (lane % info.m);
          columns |= (b >> lane & 1) << (lane % info.n);
        }
      }
      unsigned perElement = info.isF64() ? 2 : 1;
      for (unsigned i = 0; i < info.m; ++i)
        for (unsigned j = 0; j < info.n; ++j)
          if ((rows >> i & 1) || (columns >> j & 1)) {
            MfmaLocation at = getDLocation(info, block, i, j);
            for (unsigned word = 0; word < perElement; ++word)
              result[(at.element * perElement + word) & 31] |= uint64_t(1)
                                                               << at.lane;
          }
    }
  }
  for (unsigned n = 0; n < dRegs; ++n)
    state.vector[(inst.dst + n) & 511] = result[n];
}

void Definedness::stepCrossbar(Wave &wave, const Inst &inst) {
  WaveState &state = states[wave.id];
  uint64_t exec = wave.exec(), result = 0;
  if (inst.traits.flow == Flow::Swizzle) {
    uint64_t data = state.vector[inst.vaddr & 511];
    for (unsigned lane = 0; lane < numLanes; ++lane) {
      unsigned from = getSwizzleSource(inst.offset, lane);
      result |= (data & exec) >> from & 1 ? uint64_t(1) << lane : 0;
    }
  } else {
    uint64_t addresses = state.vector[inst.vaddr & 511] & exec;
    uint64_t data = state.vector[inst.vdata & 511] & exec;
    const uint32_t *address = wave.vgpr(inst.vaddr);
    forEachLane(exec, [&](unsigned lane) {
      unsigned other = (address[lane] + inst.offset) / 4 % numLanes;
      unsigned from = lane, to = lane;
      (inst.traits.flow == Flow::Permute ? to : from) = other;
      if (data >> from & 1)
        result |= uint64_t(1) << to;
    });
    result |= addresses;
  }
  setVector(state, inst.dst, 1, exec, result);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t Definedness::getUndefinedAddress(const WaveState &state,
                                          const Inst &inst,
                                          ArrayRef<RegRange> regs) const {
  uint64_t lanes = 0;
  bool usesVAddr = inst.traits.isDS               ? !inst.traits.readsM0
                   : inst.format == Format::MUBUF ? inst.offen || inst.idxen
                                                  : inst.hasVAddr;
  if (usesVAddr) {
    bool isPair =
        inst.format == Format::FLAT
            ? inst.segment != 1 && !inst.hasSAddr
            : inst.format == Format::MUBUF && inst.offen && inst.idxen;
    lanes |= getVector(state, inst.vaddr, isPair ? 2 : 1);
  }
  bool needsM0 = inst.traits.isLDSDMA || inst.traits.readsM0;
  for (const RegRange &range : regs) {
    if (range.write || range.kind != RegRange::Scalar)
      continue;
    bool isM0 = range.first == regM0;
    if (range.implicit && !(isM0 && needsM0))
      continue;
    for (unsigned n = 0; n < range.count; ++n)
      if (state.scalar[(range.first + n) & (numScalarRegs - 1)])
        lanes = allLanes;
  }
  return lanes;
}

uint8_t *Definedness::getShadow(WaveState &state, Space space, unsigned lane,
                                uint64_t address, unsigned bytes) {
  switch (space) {
  case Space::Global:
    return nullptr;
  case Space::LDS:
    return address + bytes <= lds.size() ? &lds[address] : nullptr;
  case Space::Scratch:
    if (address + bytes > ctx.scratchBytes)
      return nullptr;
    return &state.scratch[size_t(lane) * ctx.scratchBytes + address];
  }
  llvm_unreachable("unknown space");
}

Definedness::MemoryWords Definedness::readMemory(WaveState &state,
                                                 const Access &access) {
  MemoryWords memory;
  memory.words = std::clamp(access.bytes / 4, 1u, maxWords);
  memory.bytes = access.bytes / memory.words;
  for (unsigned n = 0; access.reads && n < access.count; ++n)
    forEachLane(access.at[0].active, [&](unsigned lane) {
      const uint8_t *shadow =
          getShadow(state, access.at[n].space[lane], lane,
                    access.at[n].address[lane], access.bytes);
      for (unsigned word = 0; shadow && word < memory.words; ++word)
        if (std::memchr(shadow + word * memory.bytes, 0, memory.bytes))
          memory.undefined[n][word] |= uint64_t(1) << lane;
    });
  return memory;
}

// ds_append and ds_consume have no data operand.
static bool isCounter(const Inst &inst, const Access &access) {
  return access.atomic && inst.traits.readsM0;
}

void Definedness::store(Wave &wave, const Inst &inst, const Access &access,
                        const MemoryWords &memory) {
  WaveState &state = states[wave.id];
  const LaneAddresses &at = access.at[0];
  unsigned dataWords = inst.memBytes < 4 ? 1 : inst.memBytes / 4;
  // All atomics but an exchange build on what memory held.
  bool keepsOld =
      isCounter(inst, access) ||
      (access.atomic && inst.extra && inst.extra != getAtomicOp("swap") &&
       inst.extra != getAtomicOp("swap_x2"));
  for (unsigned n = 0; n < access.count; ++n) {
    unsigned reg = n ? inst.vdata1 : inst.vdata;
    uint64_t undefined =
        isCounter(inst, access) ? 0 : getVector(state, reg, dataWords);
    if (access.atomic && inst.format != Format::DS)
      undefined = getVector(state, inst.vdata, inst.memWords);
    if (keepsOld)
      undefined |= memory.getLanes(n);
    forEachLane(at.active & ~at.outOfRange, [&](unsigned lane) {
      bool bad = undefined >> lane & 1;
      Space space = access.at[n].space[lane];
      if (space == Space::Global) {
        if (bad)
          report(wave, inst, lane, "the stored value");
        return;
      }
      uint8_t *shadow = getShadow(state, space, lane,
                                  access.at[n].address[lane], access.bytes);
      for (unsigned word = 0; shadow && word < memory.words; ++word) {
        bool isUndefined =
            access.atomic ? bad : getVector(state, reg + word, 1) >> lane & 1;
        std::memset(shadow + word * memory.bytes, !isUndefined, memory.bytes);
      }
    });
  }
}

void Definedness::load(Wave &wave, const Inst &inst, ArrayRef<RegRange> regs,
                       const Access &access, const MemoryWords &memory) {
  uint64_t active = access.at[0].active;
  uint64_t undefined[2] = {memory.getLanes(0), memory.getLanes(1)};
  if (isCounter(inst, access)) {
    // One lane does the work, all of EXEC get the result.
    active = wave.exec();
    if (undefined[0])
      undefined[0] = active;
  }
  if (inst.traits.isTransposed) {
    // A lane's result comes from lanes of its group of 16.
    uint64_t spread = 0;
    for (unsigned group = 0; group < numLanes; group += 16)
      if (undefined[0] >> group & 0xffff)
        spread |= 0xffffull << group;
    undefined[0] = spread;
  }
  for (const RegRange &range : regs) {
    if (!range.write || range.kind != RegRange::Vector)
      continue;
    bool isWordByWord = !access.atomic && !inst.traits.isTransposed &&
                        range.count == access.count * memory.words;
    for (unsigned n = 0; n < range.count; ++n) {
      unsigned part = n * access.count / range.count;
      setVector(states[wave.id], range.first + n, 1, active,
                isWordByWord ? memory.undefined[part][n % memory.words]
                             : undefined[part]);
    }
  }
}

void Definedness::stepMemory(Wave &wave, const Inst &inst,
                             ArrayRef<RegRange> regs, const Access &access) {
  WaveState &state = states[wave.id];
  uint64_t active = access.at[0].active;
  if (uint64_t lanes = getUndefinedAddress(state, inst, regs) & active)
    report(wave, inst, countr_zero(lanes), "the address");
  // Before the instruction.
  MemoryWords memory = readMemory(state, access);
  if (access.writes)
    store(wave, inst, access, memory);
  if (access.dma) {
    forEachLane(active, [&](unsigned lane) {
      uint64_t address = uint64_t(access.ldsBase) + lane * access.ldsBytes;
      if (address + access.ldsBytes <= lds.size())
        std::memset(&lds[address], 1, access.ldsBytes);
    });
  } else if (access.reads) {
    load(wave, inst, regs, access, memory);
  }
}

void Definedness::step(Wave &wave, const Inst &inst, ArrayRef<RegRange> regs,
                       const Access &access) {
  if (!access.none)
    return stepMemory(wave, inst, regs, access);
  if (inst.traits.isDS)
    return inst.traits.flow == Flow::LaneWise ? void()
                                              : stepCrossbar(wave, inst);
  if (inst.traits.isMFMA)
    return stepMatrix(wave, inst);
  if (inst.traits.isVALU)
    return stepVector(wave, inst, regs);
  stepScalar(wave, inst, regs);
}
