//===- Program.cpp - Decoded code of a code object ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Field positions: "AMD Instinct MI300 (CDNA3) ISA" and "AMD CDNA4 ISA"
// reference guides, chapter Microcode Formats.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "../Machine/Wave.h"
#include "Disassembler.h"
#include "OpTable.h"
#include "attn/Emulator/ISA.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <map>

using namespace attn::emu;
using namespace llvm;

static uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return word >> low & ((uint64_t(1) << (high - low + 1)) - 1);
}

namespace attn::emu {
/// Fills a Program.
class ProgramBuilder {
public:
  ProgramBuilder(Program &program, const CodeObject &object)
      : program(program), object(object) {}
  void build();
  void buildSkipped();

private:
  struct OpcodeEntry {
    uint16_t index = 0;
    const OpInfo *info = nullptr;
    bool isDPP = false, isSDWA = false;
  };

  const OpcodeEntry &getOpcode(const MCInst &mc, uint64_t address);
  void decode(Inst &inst, const OpcodeEntry &opcode, const MCInst &mc);
  void addRegs(Inst &inst, const MCInst &mc);
  void addReg(Inst &inst, MCRegister reg, bool write, bool implicit);

  void setSource(Inst &inst, unsigned index, unsigned encoding, Ty ty,
                 bool isAcc = false);
  void setVector(Inst &inst, unsigned index, unsigned reg, Ty ty);
  void setConstant(Src &src, Ty ty, uint64_t value);

  void decodeSOP(Inst &inst, const OpInfo &info);
  void decodeSMEM(Inst &inst, const OpInfo &info);
  void decodeVOP12C(Inst &inst, const OpInfo &info);
  void decodeVOP3(Inst &inst, const OpInfo &info);
  void decodeVOP3P(Inst &inst, const OpInfo &info);
  void decodeMAI(Inst &inst, const OpInfo &info);
  void decodeDS(Inst &inst, const OpInfo &info);
  void decodeFLAT(Inst &inst, const OpInfo &info);
  void decodeMUBUF(Inst &inst, const OpInfo &info);
  void setVectorDst(Inst &inst, const OpInfo &info, unsigned reg);

  uint32_t getLiteral(const Inst &inst) const {
    return inst.raw[inst.format == Format::VOP3 ? 2 : 1];
  }

  Program &program;
  const CodeObject &object;
  DenseMap<unsigned, OpcodeEntry> byMCOpcode;
  std::map<uint64_t, const uint32_t *> constantPool; // ~0 is a common key.
};
} // namespace attn::emu

/// Format from the leading bits of an encoding.
static Format getFormat(uint32_t word) {
  switch (bits(word, 31, 23)) {
  case 0x17d:
    return Format::SOP1;
  case 0x17e:
    return Format::SOPC;
  case 0x17f:
    return Format::SOPP;
  case 0x1a7:
    return Format::VOP3P;
  default:
    break;
  }
  if (bits(word, 31, 28) == 0xb)
    return Format::SOPK;
  if (bits(word, 31, 30) == 2)
    return Format::SOP2;
  switch (bits(word, 31, 26)) {
  case 0x30:
    return Format::SMEM;
  case 0x34:
    return Format::VOP3;
  case 0x36:
    return Format::DS;
  case 0x37:
    return Format::FLAT;
  case 0x38:
    return Format::MUBUF;
  default:
    break;
  }
  if (bits(word, 31, 31) == 0) {
    if (bits(word, 30, 25) == 0x3f)
      return Format::VOP1;
    if (bits(word, 30, 25) == 0x3e)
      return Format::VOPC;
    return Format::VOP2;
  }
  return Format::Unknown;
}

const ProgramBuilder::OpcodeEntry &ProgramBuilder::getOpcode(const MCInst &mc,
                                                             uint64_t address) {
  auto [it, inserted] = byMCOpcode.try_emplace(mc.getOpcode());
  if (inserted) {
    Mnemonic mnemonic = parseMnemonic(program.disassembler->print(mc, address));
    OpcodeEntry entry;
    entry.info = OpTable::get().lookup(mnemonic.base);
    entry.isDPP = mnemonic.isDPP;
    entry.isSDWA = mnemonic.isSDWA;
    entry.index = program.opcodes.size();
    program.opcodes.push_back({mnemonic.base, entry.info != nullptr});
    it->second = entry;
  }
  return it->second;
}

void ProgramBuilder::setConstant(Src &src, Ty ty, uint64_t value) {
  src.kind = SrcKind::Const;
  src.value = value;
  // Scalar users read `value`; vector users want it in every lane.
  auto [it, inserted] = constantPool.try_emplace(value);
  if (inserted) {
    auto lanes = std::make_unique<uint32_t[]>(2 * numLanes);
    std::fill_n(lanes.get(), numLanes, static_cast<uint32_t>(value));
    std::fill_n(lanes.get() + numLanes, numLanes,
                static_cast<uint32_t>(value >> 32));
    it->second = lanes.get();
    program.constants.push_back(std::move(lanes));
  }
  src.lanes = it->second;
}

/// Inline floating-point constants 240..248 in the operand's width.
static uint64_t getInlineFloat(unsigned encoding, Ty ty) {
  static const double values[9] = {
      0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532};
  static const uint16_t halves[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                     0xc000, 0x4400, 0xc400, 0x3118};
  static const uint32_t singles[9] = {0x3f000000, 0xbf000000, 0x3f800000,
                                      0xbf800000, 0x40000000, 0xc0000000,
                                      0x40800000, 0xc0800000, 0x3e22f983};
  unsigned index = encoding - 240;
  switch (ty) {
  case Ty::B16:
  case Ty::F16:
  case Ty::PKF16:
    return halves[index];
  case Ty::B64:
  case Ty::I64:
  case Ty::F64:
  case Ty::Mask:
    return bit_cast<uint64_t>(values[index]);
  case Ty::PKB32:
  case Ty::PKF32:
    return uint64_t(singles[index]) << 32 | singles[index];
  default:
    return singles[index];
  }
}

void ProgramBuilder::setVector(Inst &inst, unsigned index, unsigned reg,
                               Ty ty) {
  Src &src = inst.src[index];
  src.kind = SrcKind::Vector;
  src.ty = ty;
  src.reg = reg;
}

void ProgramBuilder::setSource(Inst &inst, unsigned index, unsigned encoding,
                               Ty ty, bool isAcc) {
  Src &src = inst.src[index];
  src.ty = ty;
  if (encoding >= 256) {
    setVector(inst, index, encoding - 256 + (isAcc ? accBase : 0), ty);
    return;
  }
  if (encoding < 128) {
    src.kind = SrcKind::SGPR;
    src.reg = encoding;
    return;
  }
  if (encoding <= 208) {
    int64_t value =
        encoding <= 192 ? int64_t(encoding) - 128 : 192 - int64_t(encoding);
    // A half-width operand sees the low 16 bits, a packed one 32 bits.
    if (ty == Ty::B16 || ty == Ty::F16)
      value &= 0xffff;
    else if (ty == Ty::PKB32 || ty == Ty::PKF32)
      value = (uint64_t(uint32_t(value)) << 32) | uint32_t(value);
    else if (getWords(ty) < 2)
      value = uint32_t(value);
    setConstant(src, ty, value);
    return;
  }
  if (encoding >= 240 && encoding <= 248) {
    setConstant(src, ty, getInlineFloat(encoding, ty));
    return;
  }
  switch (encoding) {
  case 235: // src_shared_base
    setConstant(src, ty,
                getWords(ty) == 2 ? uint64_t(sharedApertureHi) << 32
                                  : sharedApertureHi);
    return;
  case 237: // src_private_base
    setConstant(src, ty,
                getWords(ty) == 2 ? uint64_t(privateApertureHi) << 32
                                  : privateApertureHi);
    return;
  case 236: // src_shared_limit
    setConstant(src, ty,
                getWords(ty) == 2
                    ? uint64_t(sharedApertureHi) << 32 | 0xffffffff
                    : sharedApertureHi);
    return;
  case 238: // src_private_limit
    setConstant(src, ty,
                getWords(ty) == 2
                    ? uint64_t(privateApertureHi) << 32 | 0xffffffff
                    : privateApertureHi);
    return;
  case 251:
  case 252:
  case 253:
    src.kind = SrcKind::Special;
    src.reg = encoding;
    return;
  case 255: {
    uint64_t literal = getLiteral(inst);
    if (ty == Ty::F64)
      literal <<= 32;
    else if (ty == Ty::I64)
      literal = static_cast<int64_t>(static_cast<int32_t>(literal));
    else if (ty == Ty::PKF32 || ty == Ty::PKB32)
      literal |= literal << 32;
    setConstant(src, ty, literal);
    return;
  }
  default:
    // The handler must not run with an operand we cannot read.
    inst.fn = executeUnknown;
    inst.inner = executeUnknown;
    return;
  }
}

void ProgramBuilder::setVectorDst(Inst &inst, const OpInfo &info,
                                  unsigned reg) {
  inst.dst = reg;
  // fmac and its kind read their destination as the last source.
  if (info.accumulates)
    setVector(inst, info.numSrcs - 1, reg, info.srcs[info.numSrcs - 1]);
}

void ProgramBuilder::decodeSOP(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0];
  inst.simm = static_cast<int16_t>(word & 0xffff);
  switch (inst.format) {
  case Format::SOP2:
    inst.dst = bits(word, 22, 16);
    setSource(inst, 0, bits(word, 7, 0), info.srcs[0]);
    setSource(inst, 1, bits(word, 15, 8), info.srcs[1]);
    break;
  case Format::SOPC:
    setSource(inst, 0, bits(word, 7, 0), info.srcs[0]);
    setSource(inst, 1, bits(word, 15, 8), info.srcs[1]);
    // s_set_gpr_idx_on has an immediate where others have a source.
    break;
  case Format::SOP1:
    inst.dst = bits(word, 22, 16);
    if (info.numSrcs)
      setSource(inst, 0, bits(word, 7, 0), info.srcs[0]);
    break;
  case Format::SOPK:
    inst.dst = bits(word, 22, 16);
    if (inst.bytes == 8)
      setConstant(inst.src[0], Ty::B32, inst.raw[1]);
    break;
  default:
    break;
  }
}

void ProgramBuilder::decodeSMEM(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0], high = inst.raw[1];
  inst.sbase = bits(word, 5, 0) << 1;
  inst.dst = bits(word, 12, 6);
  bool hasImm = bits(word, 17, 17), hasSOffset = bits(word, 14, 14);
  inst.offset = 0;
  inst.hasSAddr = false;
  if (hasImm) {
    inst.offset = SignExtend32<21>(high & 0x1fffff);
    if (hasSOffset) {
      inst.hasSAddr = true;
      inst.soffset = bits(high, 31, 25);
    }
  } else {
    // Without IMM the offset field names an SGPR.
    inst.hasSAddr = true;
    inst.soffset = hasSOffset ? bits(high, 31, 25) : bits(high, 6, 0);
  }
  inst.memWords = info.memWords;
  // Marks s_buffer_load, whose base is a descriptor.
  inst.lds =
      StringRef(program.opcodes[inst.op].mnemonic).starts_with("s_buffer_");
}

void ProgramBuilder::decodeVOP12C(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0];
  unsigned src0 = bits(word, 8, 0);
  uint32_t ext = inst.raw[1];
  inst.sdst = regVCC;
  bool sdwa = src0 == 249, dpp = src0 == 250;
  if (inst.format == Format::VOPC)
    inst.dst = regVCC;

  if (sdwa) {
    unsigned reg0 = bits(ext, 7, 0) + (bits(ext, 23, 23) ? 0 : 256);
    setSource(inst, 0, reg0, info.srcs[0]);
    inst.srcSel[0] = bits(ext, 18, 16);
    inst.srcSext[0] = bits(ext, 19, 19);
    inst.src[0].neg = bits(ext, 20, 20);
    inst.src[0].abs = bits(ext, 21, 21);
    inst.srcSel[1] = bits(ext, 26, 24);
    inst.srcSext[1] = bits(ext, 27, 27);
    if (inst.format == Format::VOPC) {
      if (bits(ext, 15, 15))
        inst.dst = bits(ext, 14, 8);
    } else {
      inst.dstSel = bits(ext, 10, 8);
      inst.dstUnused = bits(ext, 12, 11);
      inst.clamp = bits(ext, 13, 13);
      inst.omod = bits(ext, 15, 14);
    }
    if (inst.format != Format::VOP1) {
      unsigned reg1 = bits(word, 16, 9) + (bits(ext, 31, 31) ? 0 : 256);
      setSource(inst, 1, reg1, info.srcs[1]);
      inst.src[1].neg = bits(ext, 28, 28);
      inst.src[1].abs = bits(ext, 29, 29);
    }
  } else if (dpp) {
    setVector(inst, 0, bits(ext, 7, 0), info.srcs[0]);
    inst.dppCtrl = bits(ext, 16, 8);
    inst.boundCtrl = bits(ext, 19, 19);
    inst.src[0].neg = bits(ext, 20, 20);
    inst.src[0].abs = bits(ext, 21, 21);
    inst.bankMask = bits(ext, 27, 24);
    inst.rowMask = bits(ext, 31, 28);
    if (inst.format != Format::VOP1) {
      setVector(inst, 1, bits(word, 16, 9), info.srcs[1]);
      inst.src[1].neg = bits(ext, 22, 22);
      inst.src[1].abs = bits(ext, 23, 23);
    }
  } else {
    if (info.numSrcs)
      setSource(inst, 0, src0, info.srcs[0]);
    if (inst.format != Format::VOP1)
      setVector(inst, 1, bits(word, 16, 9), info.srcs[1]);
  }

  if (inst.format != Format::VOPC)
    setVectorDst(inst, info, bits(word, 24, 17));
  StringRef name = program.opcodes[inst.op].mnemonic;
  if (name.starts_with("v_madmk_") || name.starts_with("v_fmamk_")) {
    // d = src0 * K + src1
    inst.src[2] = inst.src[1];
    setSource(inst, 1, 255, info.srcs[1]);
  } else if (name.starts_with("v_madak_") || name.starts_with("v_fmaak_")) {
    setSource(inst, 2, 255, info.srcs[2]);
  }
  if (info.numSrcs == 3 && info.srcs[2] == Ty::Mask)
    setSource(inst, 2, regVCC, Ty::Mask);
  if (name == "v_accvgpr_mov_b32") {
    inst.dst += accBase;
    inst.src[0].reg += accBase;
  }
}

void ProgramBuilder::decodeVOP3(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0], high = inst.raw[1];
  inst.sdst = regVCC;
  unsigned encodings[3] = {bits(high, 8, 0), bits(high, 17, 9),
                           bits(high, 26, 18)};
  unsigned explicitSrcs = info.numSrcs - (info.accumulates ? 1 : 0);
  for (unsigned i = 0; i < explicitSrcs && i < 3; ++i)
    setSource(inst, i, encodings[i], info.srcs[i]);
  setVectorDst(inst, info, bits(word, 7, 0));
  inst.clamp = bits(word, 15, 15);
  inst.omod = bits(high, 28, 27);
  for (unsigned i = 0; i < 3; ++i)
    inst.src[i].neg = bits(high, 29 + i, 29 + i);
  if (info.hasScalarDst) {
    inst.sdst = bits(word, 14, 8);
  } else {
    unsigned opSel = bits(word, 14, 11);
    for (unsigned i = 0; i < 3; ++i) {
      inst.src[i].abs = bits(word, 8 + i, 8 + i);
      inst.src[i].opSel = opSel >> i & 1;
    }
    inst.dstOpSel = opSel >> 3 & 1;
  }
  StringRef name = program.opcodes[inst.op].mnemonic;
  if (name.starts_with("v_bitop3_")) {
    // The truth table sits where other operations have their modifiers.
    inst.simm =
        bits(high, 31, 29) | bits(word, 10, 8) << 3 | bits(high, 28, 27) << 6;
    inst.omod = 0;
    for (Src &src : inst.src)
      src.neg = src.abs = false;
  }
}

void ProgramBuilder::decodeVOP3P(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0], high = inst.raw[1];
  unsigned encodings[3] = {bits(high, 8, 0), bits(high, 17, 9),
                           bits(high, 26, 18)};
  unsigned explicitSrcs = info.numSrcs - (info.accumulates ? 1 : 0);
  for (unsigned i = 0; i < explicitSrcs && i < 3; ++i)
    setSource(inst, i, encodings[i], info.srcs[i]);
  setVectorDst(inst, info, bits(word, 7, 0));
  inst.clamp = bits(word, 15, 15);
  unsigned opSel = bits(word, 13, 11);
  unsigned opSelHi = bits(high, 28, 27) | bits(word, 14, 14) << 2;
  for (unsigned i = 0; i < 3; ++i) {
    inst.src[i].neg = bits(high, 29 + i, 29 + i);
    inst.src[i].negHi = bits(word, 8 + i, 8 + i);
    inst.src[i].opSel = opSel >> i & 1;
    inst.src[i].opSelHi = opSelHi >> i & 1;
  }
}

void ProgramBuilder::decodeMAI(Inst &inst, const OpInfo &info) {
  // The scaled forms are a prefix with the scales and the plain form.
  unsigned base = inst.bytes == 16 ? 2 : 0;
  uint32_t word = inst.raw[base], high = inst.raw[base + 1];
  StringRef name = program.opcodes[inst.op].mnemonic;
  if (name == "v_accvgpr_read_b32" || name == "v_accvgpr_write_b32") {
    inst.dst = bits(word, 7, 0);
    setSource(inst, 0, bits(high, 8, 0), Ty::B32);
    if (name == "v_accvgpr_write_b32")
      inst.dst += accBase;
    else
      inst.src[0].reg += accBase;
    return;
  }
  bool accCD = bits(word, 15, 15);
  inst.dst = bits(word, 7, 0) + (accCD ? accBase : 0);
  inst.cbsz = bits(word, 10, 8);
  inst.abid = bits(word, 14, 11);
  inst.blgp = bits(high, 31, 29);
  setSource(inst, 0, bits(high, 8, 0), info.srcs[0], bits(high, 27, 27));
  setSource(inst, 1, bits(high, 17, 9), info.srcs[1], bits(high, 28, 28));
  // The index of a sparse form is always an architected register.
  setSource(inst, 2, bits(high, 26, 18), info.srcs[2],
            accCD && !name.starts_with("v_smfmac"));
  if (base) {
    uint32_t prefix = inst.raw[0], prefixHigh = inst.raw[1];
    inst.src[3].ty = Ty::B32;
    setSource(inst, 3, bits(prefixHigh, 8, 0), Ty::B32);
    // The second scale has no slot of its own.
    inst.vdata1 = bits(prefixHigh, 17, 9);
    inst.simm = bits(prefix, 11, 11) | bits(prefixHigh, 27, 27) << 1 |
                bits(prefix, 12, 12) << 2 | bits(prefixHigh, 28, 28) << 3;
  }
}

void ProgramBuilder::decodeDS(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0], high = inst.raw[1];
  unsigned acc = bits(word, 25, 25) ? accBase : 0;
  StringRef name = program.opcodes[inst.op].mnemonic;
  bool two = name.contains("read2") || name.contains("write2") ||
             name.contains("wrxchg2");
  inst.traits.hasTwoAddresses = two;
  if (two) {
    // Two offsets, counted in elements or in 64 elements.
    unsigned unit = info.memBytes * (name.contains("st64") ? 64 : 1);
    inst.offset = bits(word, 7, 0) * unit;
    inst.offset1 = bits(word, 15, 8) * unit;
  } else {
    inst.offset = bits(word, 15, 0);
  }
  inst.vaddr = bits(high, 7, 0);
  inst.vdata = bits(high, 15, 8) + acc;
  inst.vdata1 = bits(high, 23, 16) + acc;
  inst.dst = bits(high, 31, 24) + acc;
  inst.memWords = info.memWords;
  inst.memBytes = info.memBytes;
  if (bits(word, 16, 16)) // GDS does not exist here.
    inst.fn = executeUnknown;
}

void ProgramBuilder::decodeFLAT(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0], high = inst.raw[1];
  unsigned acc = bits(high, 23, 23) ? accBase : 0;
  inst.segment = bits(word, 15, 14);
  inst.offset = inst.segment == 0 ? int32_t(bits(word, 11, 0))
                                  : SignExtend32<13>(bits(word, 12, 0));
  inst.lds = bits(word, 13, 13);
  inst.sc0 = bits(word, 16, 16);
  inst.nontemporal = bits(word, 17, 17);
  inst.sc1 = bits(word, 25, 25);
  inst.vaddr = bits(high, 7, 0);
  inst.vdata = bits(high, 15, 8) + acc;
  inst.dst = bits(high, 31, 24) + acc;
  inst.soffset = bits(high, 22, 16);
  inst.hasSAddr = inst.segment != 0 && inst.soffset != 0x7f;
  // In SCRATCH encodings bit 13 says whether VADDR is used.
  inst.hasVAddr = inst.segment != 1 || inst.lds;
  inst.memWords = info.memWords;
  inst.memBytes = info.memBytes;
  inst.returns = info.traits.isAtomic && inst.sc0;
}

void ProgramBuilder::decodeMUBUF(Inst &inst, const OpInfo &info) {
  uint32_t word = inst.raw[0], high = inst.raw[1];
  unsigned acc = bits(high, 23, 23) ? accBase : 0;
  inst.offset = bits(word, 11, 0);
  inst.offen = bits(word, 12, 12);
  inst.idxen = bits(word, 13, 13);
  inst.sc0 = bits(word, 14, 14);
  inst.sc1 = bits(word, 15, 15);
  inst.lds = bits(word, 16, 16);
  inst.nontemporal = bits(word, 17, 17);
  inst.vaddr = bits(high, 7, 0);
  inst.vdata = bits(high, 15, 8) + acc;
  inst.dst = inst.vdata;
  inst.sbase = bits(high, 20, 16) << 2;
  setSource(inst, 3, bits(high, 31, 24), Ty::B32);
  inst.memWords = info.memWords;
  inst.memBytes = info.memBytes;
  inst.returns = info.traits.isAtomic && inst.sc0;
  inst.traits.isLDSDMA = inst.lds;
}

/// True when the operation's result may be scaled or clamped as a float.
static bool isFloatTy(Ty ty) {
  return ty == Ty::F16 || ty == Ty::F32 || ty == Ty::F64 || ty == Ty::PKF16 ||
         ty == Ty::PKF32;
}

void ProgramBuilder::decode(Inst &inst, const OpcodeEntry &opcode,
                            const MCInst &mc) {
  inst.op = opcode.index;
  inst.fn = executeUnknown;
  addRegs(inst, mc);
  // Matrix instructions share VOP3P's leading bits but not its fields.
  StringRef mnemonic = program.opcodes[inst.op].mnemonic;
  if (inst.format == Format::VOP3P &&
      (mnemonic.starts_with("v_mfma_") || mnemonic.starts_with("v_smfmac_") ||
       mnemonic.starts_with("v_accvgpr_")))
    inst.format = Format::MAI;
  if (!opcode.info)
    return;
  const OpInfo &info = *opcode.info;
  inst.fn = info.fn;
  inst.kernel = info.kernel;
  inst.compare = info.compare;
  inst.extra = info.extra;
  inst.dstTy = info.dst;
  inst.numSrcs = info.numSrcs;
  inst.instClass = info.instClass;
  inst.traits = info.traits;
  inst.keepHalf = info.keepHalf;
  inst.isDPP = opcode.isDPP;
  inst.isSDWA = opcode.isSDWA;
  switch (inst.format) {
  case Format::SOP1:
  case Format::SOP2:
  case Format::SOPC:
  case Format::SOPK:
  case Format::SOPP:
    decodeSOP(inst, info);
    break;
  case Format::SMEM:
    decodeSMEM(inst, info);
    break;
  case Format::VOP1:
  case Format::VOP2:
  case Format::VOPC:
    decodeVOP12C(inst, info);
    break;
  case Format::VOP3:
    decodeVOP3(inst, info);
    break;
  case Format::VOP3P:
    decodeVOP3P(inst, info);
    break;
  case Format::MAI:
    decodeMAI(inst, info);
    break;
  case Format::DS:
    decodeDS(inst, info);
    break;
  case Format::FLAT:
    decodeFLAT(inst, info);
    break;
  case Format::MUBUF:
    decodeMUBUF(inst, info);
    break;
  case Format::Unknown:
    inst.fn = executeUnknown;
    break;
  }
  // v_pk_mov_b32 takes the upper result from the word of the second source that
  // op_sel names; op_sel_hi plays no part.
  if (mnemonic == "v_pk_mov_b32")
    inst.src[1].opSelHi = inst.src[1].opSel;
  for (const Src &src : inst.src) {
    bool packedTy = src.ty == Ty::PKB16 || src.ty == Ty::PKF16 ||
                    src.ty == Ty::PKB32 || src.ty == Ty::PKF32;
    inst.hasSrcMods |= src.neg || src.abs || src.negHi ||
                       (packedTy ? src.opSel || !src.opSelHi : src.opSel);
  }
  inst.hasOutMods = inst.omod || inst.clamp;
  if (inst.omod && !isFloatTy(info.dst))
    inst.omod = 0;
  if (inst.clamp && !isFloatTy(info.dst) && info.dst != Ty::Mask &&
      info.kernel) {
    // Integer clamps saturate, which is another loop.
    const OpInfo *saturating = OpTable::get().lookup((mnemonic + ".sat").str());
    if (saturating)
      inst.kernel = saturating->kernel;
    else
      inst.fn = executeUnknown;
  }
  if (inst.fn != executeUnknown && (inst.isDPP || inst.isSDWA)) {
    inst.inner = inst.fn;
    inst.fn = inst.isDPP ? executeDPP : executeSDWA;
    inst.traits.isDPP = inst.isDPP;
    inst.traits.isSDWA = inst.isSDWA;
  }
}

void ProgramBuilder::addReg(Inst &inst, MCRegister reg, bool write,
                            bool implicit) {
  const MCRegisterInfo &info = program.disassembler->getRegisterInfo();
  StringRef name = info.getName(reg);
  RegRange range;
  range.write = write;
  range.implicit = implicit;
  auto set = [&](unsigned first, unsigned count) {
    range.first = first;
    range.count = count;
  };
  // The number after a prefix of four letters; tuples are "VGPR4_VGPR5".
  unsigned number = 0, count = name.count('_') + 1;
  name.drop_front(std::min<size_t>(4, name.size())).consumeInteger(10, number);
  if (name.starts_with("VGPR") || name.starts_with("AGPR")) {
    range.kind = RegRange::Vector;
    set(number + (name.starts_with("AGPR") ? accBase : 0), count);
  } else if (name.starts_with("SGPR") && !name.starts_with("SGPR_NULL")) {
    set(number, count);
  } else if (name.starts_with("TTMP")) {
    set(108 + number, name.count("TTMP")); // "TTMP0_gfx9plus" is one
  } else if (name.starts_with("VCC")) {
    set(name == "VCC_HI" ? regVCC + 1 : regVCC, name == "VCC" ? 2 : 1);
  } else if (name.starts_with("EXEC")) {
    set(name == "EXEC_HI" ? regEXEC + 1 : regEXEC, name == "EXEC" ? 2 : 1);
  } else if (name.starts_with("FLAT_SCR")) {
    set(name.contains("HI") ? regFlatScratch + 1 : regFlatScratch,
        name.contains("LO") || name.contains("HI") ? 1 : 2);
  } else if (name == "M0" || name.starts_with("M0_")) {
    set(regM0, 1);
  } else if (name == "SCC" || name == "SRC_SCC") {
    range.kind = RegRange::SCC;
    set(0, 1);
  } else {
    return; // MODE, apertures, null: nothing to check.
  }
  program.regs.push_back(range);
  ++inst.regsCount;
}

void ProgramBuilder::addRegs(Inst &inst, const MCInst &mc) {
  const MCInstrDesc &desc =
      program.disassembler->getInstrInfo().get(mc.getOpcode());
  inst.regsBegin = program.regs.size();
  for (unsigned i = 0; i < mc.getNumOperands(); ++i) {
    const MCOperand &operand = mc.getOperand(i);
    if (operand.isReg() && operand.getReg())
      addReg(inst, operand.getReg(), i < desc.getNumDefs(), false);
  }
  for (MCPhysReg reg : desc.implicit_uses())
    addReg(inst, reg, false, true);
  for (MCPhysReg reg : desc.implicit_defs())
    addReg(inst, reg, true, true);
}

void ProgramBuilder::build() {
  program.textBegin = object.getTextBegin();
  program.textEnd = object.getTextEnd();
  ArrayRef<uint8_t> text = object.getImage().slice(
      program.textBegin, program.textEnd - program.textBegin);
  program.indexOfDword.assign(text.size() / 4 + 1, -1);
  program.insts.reserve(text.size() / 6);
  // A name for bytes that are no instruction.
  program.opcodes.push_back({"(not an instruction)", false});

  for (uint64_t at = 0; at + 4 <= text.size();) {
    Inst inst;
    inst.pc = program.textBegin + at;
    for (unsigned i = 0; i < 4 && at + 4 * i + 4 <= text.size(); ++i)
      inst.raw[i] = support::endian::read32le(text.data() + at + 4 * i);
    MCInst mc;
    uint64_t size = 0;
    if (program.disassembler->decode(text.drop_front(at), inst.pc, mc, size) &&
        at + size <= text.size()) {
      inst.bytes = size;
      inst.format = getFormat(inst.raw[0]);
      decode(inst, getOpcode(mc, inst.pc), mc);
    } else {
      inst.fn = executeUnknown;
    }
    program.indexOfDword[at / 4] = program.insts.size();
    program.insts.push_back(inst);
    at += inst.bytes;
  }
  // Running off the end lands on a record that raises.
  Inst end;
  end.fn = executeUnknown;
  end.pc = program.textEnd;
  program.insts.push_back(end);

  for (Inst &inst : program.insts) {
    if (inst.format != Format::SOPP && inst.format != Format::SOPK)
      continue;
    const Inst *target = program.lookup(inst.pc + 4 + int64_t(inst.simm) * 4);
    if (target)
      inst.target = target - program.insts.data();
  }
  buildSkipped();
}

/// What s_setvskip turns off.
static bool isVectorFormat(Format format) {
  switch (format) {
  case Format::VOP1:
  case Format::VOP2:
  case Format::VOPC:
  case Format::VOP3:
  case Format::VOP3P:
  case Format::MAI:
  case Format::DS:
  case Format::FLAT:
  case Format::MUBUF:
    return true;
  default:
    return false;
  }
}

void ProgramBuilder::buildSkipped() {
  bool used = false;
  for (const Inst &inst : program.insts)
    used |= program.opcodes[inst.op].mnemonic == "s_setvskip";
  if (!used)
    return;
  program.skipped = program.insts;
  for (Inst &inst : program.skipped) {
    if (!isVectorFormat(inst.format))
      continue;
    inst.fn = [](Wave &, const Inst &) {};
    inst.instClass = InstClass::Other;
    inst.traits = OpTraits();
    inst.regsCount = 0;
  }
}

Program::Program() = default;
Program::~Program() = default;

Expected<std::unique_ptr<Program>> Program::create(const CodeObject &object) {
  std::unique_ptr<Program> program(new Program());
  auto disassembler = Disassembler::create(object.getChip());
  if (!disassembler)
    return disassembler.takeError();
  program->disassembler = std::move(*disassembler);
  ProgramBuilder(*program, object).build();
  return std::move(program);
}

std::string Program::getText(const Inst &inst) const {
  uint8_t bytes[16];
  for (unsigned i = 0; i < 4; ++i)
    support::endian::write32le(bytes + 4 * i, inst.raw[i]);
  MCInst mc;
  uint64_t size = 0;
  if (!disassembler->decode(ArrayRef(bytes, inst.bytes), inst.pc, mc, size))
    return "(not an instruction)";
  std::string text = disassembler->print(mc, inst.pc);
  for (char &c : text)
    if (c == '\t')
      c = ' ';
  return text;
}

Error attn::emu::disassemble(const CodeObject &object, raw_ostream &os) {
  auto program = Program::create(object);
  if (!program)
    return program.takeError();
  DenseMap<uint64_t, StringRef> entries;
  for (const Kernel &kernel : object.getKernels())
    entries[kernel.entryAddress] = kernel.name;
  for (const Inst &inst : (*program)->getInsts().drop_back()) {
    if (auto it = entries.find(inst.pc); it != entries.end())
      os << '\n' << it->second << ":\n";
    os << formatv("{0,8:x-}  ", inst.pc);
    std::string words;
    for (unsigned i = 0; i < inst.bytes / 4u; ++i)
      words += utohexstr(inst.raw[i], /*LowerCase=*/false, 8) + " ";
    os << formatv("{0,-36}", words) << (*program)->getText(inst);
    if (!(*program)->getOpcode(inst).supported)
      os << "  ; no semantics";
    os << '\n';
  }
  return Error::success();
}

Expected<std::vector<std::string>>
attn::emu::findUnsupportedInstructions(const CodeObject &object) {
  auto program = Program::create(object);
  if (!program)
    return program.takeError();
  std::vector<std::string> result;
  for (const Inst &inst : (*program)->getInsts().drop_back())
    if (inst.fn == executeUnknown)
      result.push_back(
          formatv("{0:x}: {1}", inst.pc, (*program)->getText(inst)));
  return result;
}

std::vector<std::string> attn::emu::getSupportedMnemonics(Chip chip) {
  std::vector<std::string> result;
  for (const auto &entry : OpTable::get().getOps())
    if (!entry.first().ends_with(".sat") &&
        !(chip == Chip::GFX942 ? entry.second.onlyGFX950
                               : entry.second.onlyGFX942))
      result.push_back(entry.first().str());
  sort(result);
  return result;
}

void attn::emu::printInstructionTable(raw_ostream &os) {
  // Class, then availability: both chips, gfx942 only, gfx950 only.
  std::vector<StringRef> names[numInstClasses][3];
  unsigned total = 0;
  for (const auto &entry : OpTable::get().getOps()) {
    // Variants that a modifier selects are no mnemonics.
    if (entry.first().ends_with(".sat"))
      continue;
    const OpInfo &info = entry.second;
    unsigned where = info.onlyGFX942 ? 1 : info.onlyGFX950 ? 2 : 0;
    names[static_cast<unsigned>(info.instClass)][where].push_back(
        entry.first());
    ++total;
  }
  os << "# Instructions the emulator runs\n\n"
     << total
     << " mnemonics have semantics; any other one is an error when it is "
        "reached.\n";
  static const char *const headings[3] = {"Both chips", "gfx942 only",
                                          "gfx950 only"};
  for (unsigned n = 0; n < numInstClasses; ++n) {
    bool any = false;
    for (const auto &list : names[n])
      any |= !list.empty();
    if (!any)
      continue;
    os << "\n## " << getInstClassName(static_cast<InstClass>(n)) << "\n";
    for (unsigned where = 0; where < 3; ++where) {
      auto &list = names[n][where];
      if (list.empty())
        continue;
      sort(list);
      os << "\n" << headings[where] << " (" << list.size() << "):\n";
      size_t column = 0;
      for (StringRef name : list) {
        // Lines of a readable length.
        if (column && column + name.size() + 3 > 78)
          column = 0;
        os << (column ? " " : "\n") << '`' << name << '`';
        column += name.size() + 3;
      }
      os << "\n";
    }
  }
}
