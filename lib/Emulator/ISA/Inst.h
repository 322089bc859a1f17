//===- Inst.h - Decoded instructions ----------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the decoder hands to the machine: one compact record an instruction,
/// with its handler and its operands already resolved.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_ISA_INST_H
#define ATTN_LIB_EMULATOR_ISA_INST_H

#include "LaneKernels.h"
#include "attn/Emulator/Report.h"
#include <cstdint>
#include <string>
#include <vector>

namespace attn::emu {

struct Wave;
struct Inst;
using Handler = void (*)(Wave &, const Inst &);

/// Encoding families of the ISA documents.
enum class Format : uint8_t {
  SOP1,
  SOP2,
  SOPK,
  SOPC,
  SOPP,
  SMEM,
  VOP1,
  VOP2,
  VOPC,
  VOP3,
  VOP3P,
  MAI,
  DS,
  FLAT,
  MUBUF,
  Unknown,
};

/// Operand types: they decide the number of dwords, how a constant expands and
/// where the sign bits are that neg and abs touch.
enum class Ty : uint8_t {
  None,
  B16,
  F16,
  B32,
  F32,
  /// Unsigned and bitwise; a literal is zero-extended.
  B64,
  /// A literal is sign-extended.
  I64,
  F64,
  /// Two 16-bit halves, selected by op_sel / op_sel_hi.
  PKB16,
  PKF16,
  /// Two 32-bit halves in a register pair.
  PKB32,
  PKF32,
  /// One bit a lane in an SGPR pair (VCC in the short encodings).
  Mask,
  B96,
  B128,
  B192,
  B256,
  B512,
  B1024,
};

/// Dwords of one lane's operand.
constexpr unsigned getWords(Ty ty) {
  switch (ty) {
  case Ty::None:
    return 0;
  case Ty::B64:
  case Ty::I64:
  case Ty::F64:
  case Ty::PKB32:
  case Ty::PKF32:
  case Ty::Mask:
    return 2;
  case Ty::B96:
    return 3;
  case Ty::B128:
    return 4;
  case Ty::B192:
    return 6;
  case Ty::B256:
    return 8;
  case Ty::B512:
    return 16;
  case Ty::B1024:
    return 32;
  default:
    return 1;
  }
}

enum class SrcKind : uint8_t { None, SGPR, Special, Vector, Const };

/// One source operand.
struct Src {
  SrcKind kind = SrcKind::None;
  Ty ty = Ty::None;
  bool neg = false;
  bool abs = false;
  /// Packed operands: neg of the high half.
  bool negHi = false;
  /// Which half feeds the low / high result.
  bool opSel = false;
  bool opSelHi = false;
  /// SGPR number, special encoding (251..253), or vector register 0..511
  /// (accumulation registers from 256).
  uint16_t reg = 0;
  /// Constants: value, and the same value in every lane.
  uint64_t value = 0;
  const uint32_t *lanes = nullptr;
};

/// Registers as the checks see them: [first, first + count).
struct RegRange {
  enum Kind : uint8_t { Scalar, Vector, SCC };
  Kind kind = Scalar;
  bool write = false;
  /// Named by the instruction's definition, not by an operand.
  bool implicit = false;
  uint16_t first = 0;
  uint16_t count = 0;
};

/// Scalar operations through which undefined bits travel bit by bit, or, in
/// the 64-bit shifts, word by word.
enum class BitLogic : uint8_t {
  None,
  And,
  Or,
  AndN2,
  OrN2,
  Bitwise,
  ShiftLeft64,
  ShiftRight64,
  ShiftRightSigned64
};

/// Vector operations with a data flow of their own.
enum class Flow : uint8_t {
  LaneWise,
  /// Lane by lane; the low word of a 64-bit result needs the low words only.
  LowWord,
  /// Lane by lane; 64-bit shifts by 32 and more move a word out.
  ShiftLeft64,
  ShiftRight64,
  /// Select by a mask.
  Select,
  ReadFirstLane,
  ReadLane,
  WriteLane,
  Swap,
  PermlaneSwap16,
  PermlaneSwap32,
  Permute,
  BackwardPermute,
  Swizzle,
};

/// What the checks need to know of an opcode, beyond registers.
struct OpTraits {
  BitLogic logic = BitLogic::None;
  Flow flow = Flow::LaneWise;
  uint16_t isDot : 1 = 0;
  uint16_t isDivFmas : 1 = 0;
  uint16_t isFma64 : 1 = 0;
  uint16_t isWaitcnt : 1 = 0;
  uint16_t isNop : 1 = 0;
  uint16_t isSetReg : 1 = 0;
  uint16_t isGetReg : 1 = 0;
  uint16_t isEnd : 1 = 0;
  uint16_t isBranch : 1 = 0;
  uint16_t isCompare : 1 = 0;
  /// The result is shifted into place in the destination.
  uint16_t shiftsResult : 1 = 0;
  uint16_t readsM0 : 1 = 0;
  /// ds_read_*_tr_*: a lane's result comes from other lanes' addresses.
  uint16_t isTransposed : 1 = 0;
  /// DS read2, write2, wrxchg2.
  uint16_t hasTwoAddresses : 1 = 0;
  uint16_t isVALU : 1 = 0;
  uint16_t isTrans : 1 = 0;
  uint16_t isMFMA : 1 = 0;
  uint16_t isDGEMM : 1 = 0;
  uint16_t isXDL : 1 = 0;
  uint16_t isDS : 1 = 0;
  uint16_t isVMEM : 1 = 0;
  uint16_t isFlat : 1 = 0;
  uint16_t isSMEM : 1 = 0;
  uint16_t isLoad : 1 = 0;
  uint16_t isStore : 1 = 0;
  uint16_t isAtomic : 1 = 0;
  uint16_t isLDSDMA : 1 = 0;
  uint16_t isSALU : 1 = 0;
  uint16_t isDPP : 1 = 0;
  uint16_t isSDWA : 1 = 0;
  /// MFMA: 4-cycle passes until the result is written.
  uint8_t passes = 0;
};

struct Inst {
  Handler fn = nullptr;
  /// The handler behind a DPP or SDWA wrapper.
  Handler inner = nullptr;
  LaneKernel kernel = nullptr;
  CompareKernel compare = nullptr;
  const void *extra = nullptr;

  Src src[4];
  uint16_t dst = 0;
  uint16_t sdst = 0;
  Ty dstTy = Ty::None;
  uint8_t numSrcs = 0;
  Format format = Format::Unknown;
  InstClass instClass = InstClass::Other;

  // VOP modifiers.
  bool clamp = false;
  uint8_t omod = 0;
  bool dstOpSel = false;
  /// 16-bit result: keep the other half of the register.
  bool keepHalf = false;
  /// Some source has neg, abs or a half select.
  bool hasSrcMods = false;
  bool hasOutMods = false;
  bool isDPP = false;
  bool isSDWA = false;

  // DPP.
  uint16_t dppCtrl = 0;
  uint8_t rowMask = 0xf, bankMask = 0xf;
  bool boundCtrl = false;
  // SDWA.
  uint8_t dstSel = 6, dstUnused = 0, srcSel[2] = {6, 6};
  bool srcSext[2] = {false, false};

  // MAI.
  uint8_t cbsz = 0, abid = 0, blgp = 0;

  // Memory and scalar immediates.
  int32_t offset = 0;
  int32_t offset1 = 0;
  uint16_t vaddr = 0, vdata = 0, vdata1 = 0;
  uint16_t sbase = 0, soffset = 0;
  uint8_t memWords = 0;
  uint8_t memBytes = 0;
  bool hasVAddr = false, hasSAddr = false;
  bool offen = false, idxen = false, lds = false, returns = false;
  bool nontemporal = false, sc0 = false, sc1 = false;
  uint8_t segment = 0;

  int32_t simm = 0;
  /// Index of the branch target; -1 if there is none.
  int32_t target = -1;

  uint32_t pc = 0;
  uint8_t bytes = 4;
  /// Index into Program::opcodes.
  uint16_t op = 0;
  OpTraits traits;
  /// Index and count of its RegRanges.
  uint32_t regsBegin = 0;
  uint16_t regsCount = 0;
  uint32_t raw[4] = {0, 0, 0, 0};
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_ISA_INST_H
