//===- Scalar.cpp - SALU and program control ------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ISA/OpTable.h"
#include "../Machine/Wave.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace attn::emu;
using namespace llvm;

namespace {

void write32(Wave &w, const Inst &i, uint32_t value) { w.sgpr[i.dst] = value; }
void write64(Wave &w, const Inst &i, uint64_t value) { w.set64(i.dst, value); }

/// d = f(a, b), SCC = d != 0.
template <uint32_t (*fn)(uint32_t, uint32_t)>
void logic32(Wave &w, const Inst &i) {
  uint32_t value = fn(w.read32(i.src[0]), w.read32(i.src[1]));
  write32(w, i, value);
  w.scc = value != 0;
}
template <uint64_t (*fn)(uint64_t, uint64_t)>
void logic64(Wave &w, const Inst &i) {
  uint64_t value = fn(w.read64(i.src[0]), w.read64(i.src[1]));
  write64(w, i, value);
  w.scc = value != 0;
}
/// d = f(a), SCC = d != 0.
template <uint32_t (*fn)(uint32_t)> void unary32(Wave &w, const Inst &i) {
  uint32_t value = fn(w.read32(i.src[0]));
  write32(w, i, value);
  w.scc = value != 0;
}
template <uint64_t (*fn)(uint64_t)> void unary64(Wave &w, const Inst &i) {
  uint64_t value = fn(w.read64(i.src[0]));
  write64(w, i, value);
  w.scc = value != 0;
}
/// As above, but SCC stays.
template <uint32_t (*fn)(uint32_t)> void move32(Wave &w, const Inst &i) {
  write32(w, i, fn(w.read32(i.src[0])));
}
template <uint64_t (*fn)(uint64_t)> void move64(Wave &w, const Inst &i) {
  write64(w, i, fn(w.read64(i.src[0])));
}
/// 64-bit source, 32-bit result.
template <uint32_t (*fn)(uint64_t)> void narrow(Wave &w, const Inst &i) {
  write32(w, i, fn(w.read64(i.src[0])));
}
template <uint32_t (*fn)(uint64_t)> void narrowSCC(Wave &w, const Inst &i) {
  uint32_t value = fn(w.read64(i.src[0]));
  write32(w, i, value);
  w.scc = value != 0;
}
template <bool (*fn)(uint32_t, uint32_t)> void compare(Wave &w, const Inst &i) {
  w.scc = fn(w.read32(i.src[0]), w.read32(i.src[1]));
}
template <bool (*fn)(uint32_t, uint32_t)>
void compareK(Wave &w, const Inst &i) {
  w.scc = fn(w.sgpr[i.dst], static_cast<uint32_t>(i.simm));
}
/// The unsigned forms zero-extend the immediate.
template <bool (*fn)(uint32_t, uint32_t)>
void compareKU(Wave &w, const Inst &i) {
  w.scc = fn(w.sgpr[i.dst], static_cast<uint32_t>(i.simm) & 0xffff);
}
/// s_OP_saveexec: d = EXEC, EXEC = f(source, EXEC).
template <uint64_t (*fn)(uint64_t, uint64_t)>
void saveExec(Wave &w, const Inst &i) {
  uint64_t exec = w.exec();
  uint64_t value = fn(w.read64(i.src[0]), exec);
  write64(w, i, exec);
  w.setExec(value);
  w.scc = value != 0;
}
/// s_OP_wrexec: EXEC = d = f(source, EXEC).
template <uint64_t (*fn)(uint64_t, uint64_t)>
void writeExec(Wave &w, const Inst &i) {
  uint64_t value = fn(w.read64(i.src[0]), w.exec());
  w.setExec(value);
  write64(w, i, value);
  w.scc = value != 0;
}

template <typename T> T opAnd(T a, T b) { return a & b; }
template <typename T> T opOr(T a, T b) { return a | b; }
template <typename T> T opXor(T a, T b) { return a ^ b; }
template <typename T> T opAndN2(T a, T b) { return a & ~b; }
template <typename T> T opOrN2(T a, T b) { return a | ~b; }
template <typename T> T opNand(T a, T b) { return ~(a & b); }
template <typename T> T opNor(T a, T b) { return ~(a | b); }
template <typename T> T opXnor(T a, T b) { return ~(a ^ b); }
template <typename T> T opAndN1(T a, T b) { return ~a & b; }
template <typename T> T opOrN1(T a, T b) { return ~a | b; }
template <typename T> T opNot(T a) { return ~a; }
template <typename T> T opSame(T a) { return a; }

uint32_t lshl32(uint32_t a, uint32_t b) { return a << (b & 31); }
uint32_t lshr32(uint32_t a, uint32_t b) { return a >> (b & 31); }
uint32_t ashr32(uint32_t a, uint32_t b) { return int32_t(a) >> (b & 31); }
uint32_t bfeU32(uint32_t a, uint32_t b) {
  unsigned offset = b & 31, width = b >> 16 & 0x7f;
  if (width == 0)
    return 0;
  uint32_t shifted = a >> offset;
  return width >= 32 ? shifted : shifted & ((1u << width) - 1);
}
uint32_t bfeI32(uint32_t a, uint32_t b) {
  unsigned offset = b & 31, width = b >> 16 & 0x7f;
  if (width == 0)
    return 0;
  uint32_t shifted = int32_t(a) >> offset;
  return width >= 32 ? shifted : SignExtend32(shifted, width);
}
uint64_t bfeU64(uint64_t a, uint64_t b) {
  unsigned offset = b & 63, width = b >> 16 & 0x7f;
  if (width == 0)
    return 0;
  uint64_t shifted = a >> offset;
  return width >= 64 ? shifted : shifted & ((uint64_t(1) << width) - 1);
}
uint64_t bfeI64(uint64_t a, uint64_t b) {
  unsigned offset = b & 63, width = b >> 16 & 0x7f;
  if (width == 0)
    return 0;
  uint64_t shifted = int64_t(a) >> offset;
  return width >= 64 ? shifted : SignExtend64(shifted, width);
}

uint32_t packLL(uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }
uint32_t packLH(uint32_t a, uint32_t b) {
  return (a & 0xffff) | (b & 0xffff0000);
}
uint32_t packHH(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); }

uint32_t bcnt0(uint32_t a) { return 32 - popcount(a); }
uint32_t bcnt1(uint32_t a) { return popcount(a); }
uint32_t bcnt0L(uint64_t a) { return 64 - popcount(a); }
uint32_t bcnt1L(uint64_t a) { return popcount(a); }
uint32_t ff1(uint32_t a) { return a ? countr_zero(a) : ~0u; }
uint32_t ff0(uint32_t a) { return ff1(~a); }
uint32_t ff1L(uint64_t a) { return a ? countr_zero(a) : ~0u; }
uint32_t ff0L(uint64_t a) { return ff1L(~a); }
uint32_t flbit(uint32_t a) { return a ? countl_zero(a) : ~0u; }
uint32_t flbitL(uint64_t a) { return a ? countl_zero(a) : ~0u; }
uint32_t flbitI(uint32_t a) {
  uint32_t v = int32_t(a) < 0 ? ~a : a;
  return v ? countl_zero(v) : ~0u;
}
uint32_t flbitIL(uint64_t a) {
  uint64_t v = int64_t(a) < 0 ? ~a : a;
  return v ? countl_zero(v) : ~0u;
}
uint32_t brev(uint32_t a) { return reverseBits(a); }
uint64_t brevL(uint64_t a) { return reverseBits(a); }
uint32_t sext8(uint32_t a) { return SignExtend32<8>(a & 0xff); }
uint32_t sext16(uint32_t a) { return SignExtend32<16>(a & 0xffff); }
uint32_t wqm(uint32_t a) {
  uint32_t any = (a | a >> 1 | a >> 2 | a >> 3) & 0x11111111;
  return any * 15;
}
uint64_t wqmL(uint64_t a) {
  return uint64_t(wqm(a >> 32)) << 32 | wqm(uint32_t(a));
}
uint32_t quadmask(uint32_t a) {
  uint32_t result = 0;
  for (unsigned q = 0; q < 8; ++q)
    result |= uint32_t((a >> 4 * q & 15) != 0) << q;
  return result;
}
uint64_t quadmaskL(uint64_t a) {
  return quadmask(uint32_t(a)) | quadmask(a >> 32) << 8;
}

template <bool (*fn)(uint32_t, uint32_t)> void minMax(Wave &w, const Inst &i) {
  uint32_t a = w.read32(i.src[0]), b = w.read32(i.src[1]);
  w.scc = fn(a, b);
  write32(w, i, w.scc ? a : b);
}
bool ltI(uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b); }
bool gtI(uint32_t a, uint32_t b) { return int32_t(a) > int32_t(b); }
bool leI(uint32_t a, uint32_t b) { return int32_t(a) <= int32_t(b); }
bool geI(uint32_t a, uint32_t b) { return int32_t(a) >= int32_t(b); }
bool ltU(uint32_t a, uint32_t b) { return a < b; }
bool gtU(uint32_t a, uint32_t b) { return a > b; }
bool leU(uint32_t a, uint32_t b) { return a <= b; }
bool geU(uint32_t a, uint32_t b) { return a >= b; }
bool eq(uint32_t a, uint32_t b) { return a == b; }
bool ne(uint32_t a, uint32_t b) { return a != b; }

template <unsigned n> void lshlAdd(Wave &w, const Inst &i) {
  uint64_t value = (uint64_t(w.read32(i.src[0])) << n) + w.read32(i.src[1]);
  write32(w, i, value);
  w.scc = value >> 32 != 0;
}

void addU32(Wave &w, const Inst &i) {
  uint64_t value = uint64_t(w.read32(i.src[0])) + w.read32(i.src[1]);
  write32(w, i, value);
  w.scc = value >> 32;
}
void subU32(Wave &w, const Inst &i) {
  uint32_t a = w.read32(i.src[0]), b = w.read32(i.src[1]);
  write32(w, i, a - b);
  w.scc = b > a;
}
void addI32(Wave &w, const Inst &i) {
  uint32_t a = w.read32(i.src[0]), b = w.read32(i.src[1]), d = a + b;
  write32(w, i, d);
  w.scc = (~(a ^ b) & (a ^ d)) >> 31;
}
void subI32(Wave &w, const Inst &i) {
  uint32_t a = w.read32(i.src[0]), b = w.read32(i.src[1]), d = a - b;
  write32(w, i, d);
  w.scc = ((a ^ b) & (a ^ d)) >> 31;
}
void addcU32(Wave &w, const Inst &i) {
  uint64_t value = uint64_t(w.read32(i.src[0])) + w.read32(i.src[1]) + w.scc;
  write32(w, i, value);
  w.scc = value >> 32;
}
void subbU32(Wave &w, const Inst &i) {
  uint64_t a = w.read32(i.src[0]), b = w.read32(i.src[1]);
  uint64_t value = a - b - w.scc;
  write32(w, i, value);
  w.scc = b + w.scc > a;
}
void addkI32(Wave &w, const Inst &i) {
  uint32_t a = w.sgpr[i.dst], b = i.simm, d = a + b;
  write32(w, i, d);
  w.scc = (~(a ^ b) & (a ^ d)) >> 31;
}
void absI32(Wave &w, const Inst &i) {
  uint32_t a = w.read32(i.src[0]);
  uint32_t value = int32_t(a) < 0 ? 0 - a : a;
  write32(w, i, value);
  w.scc = value != 0;
}
void absdiffI32(Wave &w, const Inst &i) {
  uint32_t d = w.read32(i.src[0]) - w.read32(i.src[1]);
  uint32_t value = int32_t(d) < 0 ? 0 - d : d;
  write32(w, i, value);
  w.scc = value != 0;
}

void jump(Wave &w, const Inst &i) {
  if (i.target < 0) {
    w.raise("branches to an address where no instruction starts");
    return;
  }
  w.pc = w.ctx->program->get(i.target, w.skipsVector);
}
template <bool (*fn)(const Wave &)> void branchIf(Wave &w, const Inst &i) {
  if (fn(w))
    jump(w, i);
}
bool sccIs0(const Wave &w) { return !w.scc; }
bool sccIs1(const Wave &w) { return w.scc; }
bool vccIsZero(const Wave &w) { return w.vcc() == 0; }
bool vccIsNotZero(const Wave &w) { return w.vcc() != 0; }
bool execIsZero(const Wave &w) { return w.exec() == 0; }
bool execIsNotZero(const Wave &w) { return w.exec() != 0; }

/// Device address of the instruction after \p i.
uint64_t nextAddress(const Wave &w, const Inst &i) {
  return w.ctx->loadAddress + i.pc + i.bytes;
}
void jumpTo(Wave &w, uint64_t address) {
  const Inst *target =
      w.ctx->program->lookup(address - w.ctx->loadAddress, w.skipsVector);
  if (!target)
    w.raise("jumps to address 0x" + Twine::utohexstr(address) +
            ", where no instruction starts");
  else
    w.pc = target;
}

void nothing(Wave &, const Inst &) {}
void endProgram(Wave &w, const Inst &) { w.stop(WaveState::Ended); }
void barrier(Wave &w, const Inst &) { w.stop(WaveState::AtBarrier); }
void trap(Wave &w, const Inst &i) {
  w.raise("executed s_trap " + Twine(i.simm & 0xff) +
          " (the kernel aborted itself)");
}
/// Lets another wave run: what the program waits for may need it.
void yieldWave(Wave &w, const Inst &) { w.budget = 0; }

/// hwreg(id, offset, size) as s_getreg and s_setreg encode it.
struct HwReg {
  unsigned id, offset, size;
};
HwReg parseHwReg(const Inst &i) {
  unsigned imm = i.simm & 0xffff;
  return {imm & 63, imm >> 6 & 31, (imm >> 11) + 1};
}
uint32_t fieldMask(const HwReg &reg) {
  return (reg.size >= 32 ? ~0u : (1u << reg.size) - 1) << reg.offset;
}

void getReg(Wave &w, const Inst &i) {
  HwReg reg = parseHwReg(i);
  uint32_t value = 0;
  switch (reg.id) {
  case 1: // MODE
    value = w.mode;
    break;
  case 2: // STATUS: SCC, EXECZ, VCCZ
    value = uint32_t(w.scc) | uint32_t(w.exec() == 0) << 9 |
            uint32_t(w.vcc() == 0) << 10;
    break;
  case 4:  // HW_ID
  case 20: // XCC_ID
    value = 0;
    break;
  case 5: // GPR_ALLOC: vector register count in eights, less one.
    value = (w.ctx->kernel->totalVGPRs / 8 - 1) << 6;
    break;
  case 6: // LDS_ALLOC: size in units of 128 dwords.
    value = (w.ctx->ldsBytes + 511) / 512 << 12;
    break;
  default:
    w.raise("reads hardware register " + Twine(reg.id) +
            ", which the emulator does not model");
    return;
  }
  write32(w, i, (value & fieldMask(reg)) >> reg.offset);
}
void setRegTo(Wave &w, const Inst &i, uint32_t value) {
  HwReg reg = parseHwReg(i);
  if (reg.id != 1) {
    w.raise("writes hardware register " + Twine(reg.id) +
            ", which the emulator does not model");
    return;
  }
  uint32_t mask = fieldMask(reg);
  w.setMode((w.mode & ~mask) | (value << reg.offset & mask));
}
void setReg(Wave &w, const Inst &i) { setRegTo(w, i, w.sgpr[i.dst]); }
void setRegImm(Wave &w, const Inst &i) { setRegTo(w, i, i.src[0].value); }

bool checkIndex(Wave &w, unsigned reg, unsigned words) {
  if (reg + words <= 102)
    return true;
  w.raise("indexes scalar register " + Twine(reg) + ", which is out of range");
  return false;
}

} // namespace

void attn::emu::executeUnknown(Wave &w, const Inst &i) {
  std::string words;
  for (unsigned n = 0; n < i.bytes / 4u; ++n)
    words += (n ? " " : "") + llvm::utohexstr(i.raw[n], /*LowerCase=*/false, 8);
  w.raise("no semantics for '" + w.ctx->program->getOpcode(i).mnemonic +
          "' (encoding " + words + ")");
}

/// What the checks want to know.
static void addScalarTraits(OpTable &t) {
  auto logic = [&](const Twine &stem, BitLogic value) {
    for (const char *suffix : {"_b32", "_b64", "_saveexec_b64", "_wrexec_b64"})
      if (OpInfo *info = t.find((stem + suffix).str()))
        info->traits.logic = value;
  };
  logic("s_and", BitLogic::And);
  logic("s_or", BitLogic::Or);
  logic("s_andn2", BitLogic::AndN2);
  logic("s_orn2", BitLogic::OrN2);
  for (const char *stem : {"s_xor", "s_xnor", "s_nand", "s_nor", "s_not",
                           "s_mov", "s_cselect", "s_andn1", "s_orn1"})
    logic(stem, BitLogic::Bitwise);
  t.find("s_lshl_b64")->traits.logic = BitLogic::ShiftLeft64;
  t.find("s_lshr_b64")->traits.logic = BitLogic::ShiftRight64;
  t.find("s_ashr_i64")->traits.logic = BitLogic::ShiftRightSigned64;
  t.find("s_waitcnt")->traits.isWaitcnt = 1;
  t.find("s_nop")->traits.isNop = 1;
  t.find("s_endpgm")->traits.isEnd = 1;
  t.find("s_setreg_b32")->traits.isSetReg = 1;
  t.find("s_setreg_imm32_b32")->traits.isSetReg = 1;
  t.find("s_getreg_b32")->traits.isGetReg = 1;
  for (const char *name :
       {"s_cbranch_scc0", "s_cbranch_scc1", "s_cbranch_vccz", "s_cbranch_vccnz",
        "s_cbranch_execz", "s_cbranch_execnz", "s_setpc_b64", "s_swappc_b64"})
    t.find(name)->traits.isBranch = 1;
  for (const char *name :
       {"s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64"})
    t.find(name)->traits.readsM0 = 1;
}

void attn::emu::addScalarOps(OpTable &t) {
  auto add = [&](StringRef name, StringRef signature, Handler fn) {
    t.add(name, signature, InstClass::SALU, fn);
  };
  const char *u3 = "b32 b32 b32", *l3 = "b64 b64 b64", *u2 = "b32 b32",
             *l2 = "b64 b64", *ul = "b32 b64", *shiftL = "b64 b64 b32";

  add("s_add_u32", u3, addU32);
  add("s_sub_u32", u3, subU32);
  add("s_add_i32", u3, addI32);
  add("s_sub_i32", u3, subI32);
  add("s_addc_u32", u3, addcU32);
  add("s_subb_u32", u3, subbU32);
  add("s_min_i32", u3, minMax<ltI>);
  add("s_min_u32", u3, minMax<ltU>);
  add("s_max_i32", u3, minMax<gtI>);
  add("s_max_u32", u3, minMax<gtU>);
  add("s_cselect_b32", u3, [](Wave &w, const Inst &i) {
    write32(w, i, w.read32(i.src[w.scc ? 0 : 1]));
  });
  add("s_cselect_b64", l3, [](Wave &w, const Inst &i) {
    write64(w, i, w.read64(i.src[w.scc ? 0 : 1]));
  });

#define ATTN_LOGIC(NAME, FN)                                                   \
  add("s_" NAME "_b32", u3, logic32<FN<uint32_t>>);                            \
  add("s_" NAME "_b64", l3, logic64<FN<uint64_t>>);                            \
  add("s_" NAME "_saveexec_b64", l2, saveExec<FN<uint64_t>>);
  ATTN_LOGIC("and", opAnd)
  ATTN_LOGIC("or", opOr)
  ATTN_LOGIC("xor", opXor)
  ATTN_LOGIC("andn2", opAndN2)
  ATTN_LOGIC("orn2", opOrN2)
  ATTN_LOGIC("nand", opNand)
  ATTN_LOGIC("nor", opNor)
  ATTN_LOGIC("xnor", opXnor)
#undef ATTN_LOGIC
  add("s_andn1_saveexec_b64", l2, saveExec<opAndN1<uint64_t>>);
  add("s_orn1_saveexec_b64", l2, saveExec<opOrN1<uint64_t>>);
  add("s_andn1_wrexec_b64", l2, writeExec<opAndN1<uint64_t>>);
  add("s_andn2_wrexec_b64", l2, writeExec<opAndN2<uint64_t>>);

  add("s_lshl_b32", u3, logic32<lshl32>);
  add("s_lshr_b32", u3, logic32<lshr32>);
  add("s_ashr_i32", u3, logic32<ashr32>);
  add("s_lshl_b64", shiftL, [](Wave &w, const Inst &i) {
    uint64_t value = w.read64(i.src[0]) << (w.read32(i.src[1]) & 63);
    write64(w, i, value);
    w.scc = value != 0;
  });
  add("s_lshr_b64", shiftL, [](Wave &w, const Inst &i) {
    uint64_t value = w.read64(i.src[0]) >> (w.read32(i.src[1]) & 63);
    write64(w, i, value);
    w.scc = value != 0;
  });
  add("s_ashr_i64", "b64 i64 b32", [](Wave &w, const Inst &i) {
    uint64_t value = int64_t(w.read64(i.src[0])) >> (w.read32(i.src[1]) & 63);
    write64(w, i, value);
    w.scc = value != 0;
  });
  add("s_bfm_b32", u3, [](Wave &w, const Inst &i) {
    write32(w, i,
            ((1u << (w.read32(i.src[0]) & 31)) - 1)
                << (w.read32(i.src[1]) & 31));
  });
  add("s_bfm_b64", "b64 b32 b32", [](Wave &w, const Inst &i) {
    write64(w, i,
            ((uint64_t(1) << (w.read32(i.src[0]) & 63)) - 1)
                << (w.read32(i.src[1]) & 63));
  });
  add("s_mul_i32", u3, [](Wave &w, const Inst &i) {
    write32(w, i, w.read32(i.src[0]) * w.read32(i.src[1]));
  });
  add("s_mul_hi_u32", u3, [](Wave &w, const Inst &i) {
    write32(w, i, uint64_t(w.read32(i.src[0])) * w.read32(i.src[1]) >> 32);
  });
  add("s_mul_hi_i32", u3, [](Wave &w, const Inst &i) {
    write32(w, i,
            int64_t(int32_t(w.read32(i.src[0]))) *
                    int32_t(w.read32(i.src[1])) >>
                32);
  });
  add("s_bfe_u32", u3, logic32<bfeU32>);
  add("s_bfe_i32", u3, logic32<bfeI32>);
  add("s_bfe_u64", shiftL, [](Wave &w, const Inst &i) {
    uint64_t value = bfeU64(w.read64(i.src[0]), w.read32(i.src[1]));
    write64(w, i, value);
    w.scc = value != 0;
  });
  add("s_bfe_i64", "b64 i64 b32", [](Wave &w, const Inst &i) {
    uint64_t value = bfeI64(w.read64(i.src[0]), w.read32(i.src[1]));
    write64(w, i, value);
    w.scc = value != 0;
  });
  add("s_absdiff_i32", u3, absdiffI32);
  add("s_lshl1_add_u32", u3, lshlAdd<1>);
  add("s_lshl2_add_u32", u3, lshlAdd<2>);
  add("s_lshl3_add_u32", u3, lshlAdd<3>);
  add("s_lshl4_add_u32", u3, lshlAdd<4>);
  auto pack = [&](StringRef name, Handler fn) { add(name, u3, fn); };
  pack("s_pack_ll_b32_b16", [](Wave &w, const Inst &i) {
    write32(w, i, packLL(w.read32(i.src[0]), w.read32(i.src[1])));
  });
  pack("s_pack_lh_b32_b16", [](Wave &w, const Inst &i) {
    write32(w, i, packLH(w.read32(i.src[0]), w.read32(i.src[1])));
  });
  pack("s_pack_hh_b32_b16", [](Wave &w, const Inst &i) {
    write32(w, i, packHH(w.read32(i.src[0]), w.read32(i.src[1])));
  });

  // One source.
  add("s_mov_b32", u2, move32<opSame<uint32_t>>);
  add("s_mov_b64", l2, move64<opSame<uint64_t>>);
  add("s_cmov_b32", u2, [](Wave &w, const Inst &i) {
    if (w.scc)
      write32(w, i, w.read32(i.src[0]));
  });
  add("s_cmov_b64", l2, [](Wave &w, const Inst &i) {
    if (w.scc)
      write64(w, i, w.read64(i.src[0]));
  });
  add("s_not_b32", u2, unary32<opNot<uint32_t>>);
  add("s_not_b64", l2, unary64<opNot<uint64_t>>);
  add("s_wqm_b32", u2, unary32<wqm>);
  add("s_wqm_b64", l2, unary64<wqmL>);
  add("s_quadmask_b32", u2, unary32<quadmask>);
  add("s_quadmask_b64", l2, unary64<quadmaskL>);
  add("s_brev_b32", u2, move32<brev>);
  add("s_brev_b64", l2, move64<brevL>);
  add("s_bcnt0_i32_b32", u2, unary32<bcnt0>);
  add("s_bcnt1_i32_b32", u2, unary32<bcnt1>);
  add("s_bcnt0_i32_b64", ul, narrowSCC<bcnt0L>);
  add("s_bcnt1_i32_b64", ul, narrowSCC<bcnt1L>);
  add("s_ff0_i32_b32", u2, move32<ff0>);
  add("s_ff1_i32_b32", u2, move32<ff1>);
  add("s_ff0_i32_b64", ul, narrow<ff0L>);
  add("s_ff1_i32_b64", ul, narrow<ff1L>);
  add("s_flbit_i32_b32", u2, move32<flbit>);
  add("s_flbit_i32_b64", ul, narrow<flbitL>);
  add("s_flbit_i32", u2, move32<flbitI>);
  add("s_flbit_i32_i64", ul, narrow<flbitIL>);
  add("s_sext_i32_i8", u2, move32<sext8>);
  add("s_sext_i32_i16", u2, move32<sext16>);
  add("s_abs_i32", u2, absI32);
  add("s_bitset0_b32", u2, [](Wave &w, const Inst &i) {
    w.sgpr[i.dst] &= ~(1u << (w.read32(i.src[0]) & 31));
  });
  add("s_bitset1_b32", u2, [](Wave &w, const Inst &i) {
    w.sgpr[i.dst] |= 1u << (w.read32(i.src[0]) & 31);
  });
  add("s_bitset0_b64", "b64 b32", [](Wave &w, const Inst &i) {
    w.set64(i.dst,
            w.get64(i.dst) & ~(uint64_t(1) << (w.read32(i.src[0]) & 63)));
  });
  add("s_bitset1_b64", "b64 b32", [](Wave &w, const Inst &i) {
    w.set64(i.dst, w.get64(i.dst) | uint64_t(1) << (w.read32(i.src[0]) & 63));
  });
  add("s_bitreplicate_b64_b32", "b64 b32", [](Wave &w, const Inst &i) {
    uint32_t a = w.read32(i.src[0]);
    uint64_t value = 0;
    for (unsigned n = 0; n < 32; ++n)
      value |= uint64_t(a >> n & 1) * 3 << 2 * n;
    write64(w, i, value);
  });
  add("s_movrels_b32", u2, [](Wave &w, const Inst &i) {
    unsigned reg = i.src[0].reg + w.sgpr[regM0];
    if (checkIndex(w, reg, 1))
      write32(w, i, w.sgpr[reg]);
  });
  add("s_movrels_b64", l2, [](Wave &w, const Inst &i) {
    unsigned reg = i.src[0].reg + w.sgpr[regM0];
    if (checkIndex(w, reg, 2))
      write64(w, i, w.get64(reg));
  });
  add("s_movreld_b32", u2, [](Wave &w, const Inst &i) {
    unsigned reg = i.dst + w.sgpr[regM0];
    if (checkIndex(w, reg, 1))
      w.sgpr[reg] = w.read32(i.src[0]);
  });
  add("s_movreld_b64", l2, [](Wave &w, const Inst &i) {
    unsigned reg = i.dst + w.sgpr[regM0];
    if (checkIndex(w, reg, 2))
      w.set64(reg, w.read64(i.src[0]));
  });

  // Immediates.
  add("s_movk_i32", "b32",
      [](Wave &w, const Inst &i) { write32(w, i, i.simm); });
  add("s_cmovk_i32", "b32", [](Wave &w, const Inst &i) {
    if (w.scc)
      write32(w, i, i.simm);
  });
  add("s_addk_i32", "b32", addkI32);
  add("s_mulk_i32", "b32",
      [](Wave &w, const Inst &i) { w.sgpr[i.dst] *= uint32_t(i.simm); });
#define ATTN_COMPARE(NAME, FN) add("s_cmp_" NAME, "- b32 b32", compare<FN>);
  ATTN_COMPARE("eq_i32", eq)
  ATTN_COMPARE("lg_i32", ne)
  ATTN_COMPARE("gt_i32", gtI)
  ATTN_COMPARE("ge_i32", geI)
  ATTN_COMPARE("lt_i32", ltI)
  ATTN_COMPARE("le_i32", leI)
  ATTN_COMPARE("eq_u32", eq)
  ATTN_COMPARE("lg_u32", ne)
  ATTN_COMPARE("gt_u32", gtU)
  ATTN_COMPARE("ge_u32", geU)
  ATTN_COMPARE("lt_u32", ltU)
  ATTN_COMPARE("le_u32", leU)
#undef ATTN_COMPARE
  add("s_cmpk_eq_i32", "b32", compareK<eq>);
  add("s_cmpk_lg_i32", "b32", compareK<ne>);
  add("s_cmpk_gt_i32", "b32", compareK<gtI>);
  add("s_cmpk_ge_i32", "b32", compareK<geI>);
  add("s_cmpk_lt_i32", "b32", compareK<ltI>);
  add("s_cmpk_le_i32", "b32", compareK<leI>);
  add("s_cmpk_eq_u32", "b32", compareKU<eq>);
  add("s_cmpk_lg_u32", "b32", compareKU<ne>);
  add("s_cmpk_gt_u32", "b32", compareKU<gtU>);
  add("s_cmpk_ge_u32", "b32", compareKU<geU>);
  add("s_cmpk_lt_u32", "b32", compareKU<ltU>);
  add("s_cmpk_le_u32", "b32", compareKU<leU>);
  add("s_cmp_eq_u64", "- b64 b64", [](Wave &w, const Inst &i) {
    w.scc = w.read64(i.src[0]) == w.read64(i.src[1]);
  });
  add("s_cmp_lg_u64", "- b64 b64", [](Wave &w, const Inst &i) {
    w.scc = w.read64(i.src[0]) != w.read64(i.src[1]);
  });
  add("s_bitcmp0_b32", "- b32 b32", [](Wave &w, const Inst &i) {
    w.scc = !(w.read32(i.src[0]) >> (w.read32(i.src[1]) & 31) & 1);
  });
  add("s_bitcmp1_b32", "- b32 b32", [](Wave &w, const Inst &i) {
    w.scc = w.read32(i.src[0]) >> (w.read32(i.src[1]) & 31) & 1;
  });
  add("s_bitcmp0_b64", "- b64 b32", [](Wave &w, const Inst &i) {
    w.scc = !(w.read64(i.src[0]) >> (w.read32(i.src[1]) & 63) & 1);
  });
  add("s_bitcmp1_b64", "- b64 b32", [](Wave &w, const Inst &i) {
    w.scc = w.read64(i.src[0]) >> (w.read32(i.src[1]) & 63) & 1;
  });

  // Control.
  auto control = [&](StringRef name, InstClass instClass, Handler fn) {
    t.add(name, "-", instClass, fn);
  };
  control("s_branch", InstClass::Branch, jump);
  control("s_cbranch_scc0", InstClass::Branch, branchIf<sccIs0>);
  control("s_cbranch_scc1", InstClass::Branch, branchIf<sccIs1>);
  control("s_cbranch_vccz", InstClass::Branch, branchIf<vccIsZero>);
  control("s_cbranch_vccnz", InstClass::Branch, branchIf<vccIsNotZero>);
  control("s_cbranch_execz", InstClass::Branch, branchIf<execIsZero>);
  control("s_cbranch_execnz", InstClass::Branch, branchIf<execIsNotZero>);
  t.add("s_getpc_b64", "b64", InstClass::SALU,
        [](Wave &w, const Inst &i) { write64(w, i, nextAddress(w, i)); });
  t.add("s_setpc_b64", "- b64", InstClass::Branch,
        [](Wave &w, const Inst &i) { jumpTo(w, w.read64(i.src[0])); });
  t.add("s_swappc_b64", "b64 b64", InstClass::Branch,
        [](Wave &w, const Inst &i) {
          uint64_t target = w.read64(i.src[0]);
          write64(w, i, nextAddress(w, i));
          jumpTo(w, target);
        });
  t.add("s_call_b64", "b64", InstClass::Branch, [](Wave &w, const Inst &i) {
    write64(w, i, nextAddress(w, i));
    jump(w, i);
  });
  t.add("s_setvskip", "- b32 b32", InstClass::SALU, [](Wave &w, const Inst &i) {
    w.skipsVector = w.read32(i.src[0]) >> (w.read32(i.src[1]) & 31) & 1;
    w.pc = w.ctx->program->getSkipped(w.pc, w.skipsVector);
  });
  // Vector registers relative to M0; the second operand is an immediate.
  t.add("s_set_gpr_idx_on", "- b32", InstClass::SALU,
        [](Wave &w, const Inst &i) {
          uint32_t enables = i.raw[0] >> 8 & 15;
          w.sgpr[regM0] = (w.sgpr[regM0] & ~0xf0ffu) |
                          (w.read32(i.src[0]) & 0xff) | enables << 12;
          w.indexMode = true;
        });
  control("s_set_gpr_idx_off", InstClass::SALU,
          [](Wave &w, const Inst &) { w.indexMode = false; });
  t.add("s_set_gpr_idx_idx", "- b32", InstClass::SALU,
        [](Wave &w, const Inst &i) {
          w.sgpr[regM0] =
              (w.sgpr[regM0] & ~0xffu) | (w.read32(i.src[0]) & 0xff);
        });
  control("s_set_gpr_idx_mode", InstClass::SALU, [](Wave &w, const Inst &i) {
    w.sgpr[regM0] = (w.sgpr[regM0] & ~0xf000u) | (i.simm & 15) << 12;
  });
  control("s_endpgm", InstClass::Other, endProgram);
  control("s_barrier", InstClass::Barrier, barrier);
  control("s_waitcnt", InstClass::Wait, nothing);
  control("s_nop", InstClass::Wait, nothing);
  control("s_sleep", InstClass::Wait, yieldWave);
  control("s_setprio", InstClass::Other, nothing);
  control("s_sethalt", InstClass::Other, nothing);
  control("s_wakeup", InstClass::Other, nothing);
  control("s_icache_inv", InstClass::Other, nothing);
  control("s_incperflevel", InstClass::Other, nothing);
  control("s_decperflevel", InstClass::Other, nothing);
  control("s_ttracedata", InstClass::Other, nothing);
  control("s_sendmsg", InstClass::Other, nothing);
  control("s_trap", InstClass::Other, trap);
  t.add("s_getreg_b32", "b32", InstClass::SALU, getReg);
  t.add("s_setreg_b32", "b32", InstClass::SALU, setReg);
  t.add("s_setreg_imm32_b32", "-", InstClass::SALU, setRegImm);
  addScalarTraits(t);
}
