//===- OpTable.h - What the emulator knows of each mnemonic -----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Mnemonic to semantics. The files in Exec fill it; the decoder asks it once
/// for each opcode.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_ISA_OPTABLE_H
#define ATTN_LIB_EMULATOR_ISA_OPTABLE_H

#include "Inst.h"
#include "attn/Emulator/Chip.h"
#include "llvm/ADT/StringMap.h"

namespace attn::emu {

struct OpInfo {
  Handler fn = nullptr;
  LaneKernel kernel = nullptr;
  CompareKernel compare = nullptr;
  const void *extra = nullptr;
  Ty dst = Ty::None;
  Ty srcs[4] = {Ty::None, Ty::None, Ty::None, Ty::None};
  uint8_t numSrcs = 0;
  InstClass instClass = InstClass::Other;
  OpTraits traits;
  /// The destination is also the last source (fmac, dot2c).
  bool accumulates = false;
  /// 16-bit result that keeps the other half of the register.
  bool keepHalf = false;
  /// Encoded as VOP3B: a scalar destination where VOP3A has abs.
  bool hasScalarDst = false;
  /// Memory operations: dwords in registers, bytes in memory an address.
  uint8_t memWords = 0;
  uint8_t memBytes = 0;
  bool onlyGFX950 = false;
  bool onlyGFX942 = false;

  OpInfo &setClass(InstClass value) {
    instClass = value;
    return *this;
  }
};

class OpTable {
public:
  /// The table of all semantics, built on first use.
  static const OpTable &get();

  const OpInfo *lookup(llvm::StringRef mnemonic) const {
    auto it = ops.find(mnemonic);
    return it == ops.end() ? nullptr : &it->second;
  }
  OpInfo *find(llvm::StringRef mnemonic) {
    auto it = ops.find(mnemonic);
    return it == ops.end() ? nullptr : &it->second;
  }
  const llvm::StringMap<OpInfo> &getOps() const { return ops; }

  /// Adds \p mnemonic. \p signature lists the result and source types
  /// separated by spaces ("-" for none); "f32 f32 f32" is a binary f32 op.
  OpInfo &add(llvm::StringRef mnemonic, llvm::StringRef signature,
              InstClass instClass, Handler fn);

private:
  llvm::StringMap<OpInfo> ops;
};

void addScalarOps(OpTable &table);
void addScalarMemoryOps(OpTable &table);
void addVectorOps(OpTable &table);
void addSpecialVectorOps(OpTable &table);
void addMatrixOps(OpTable &table);
void addLDSOps(OpTable &table);
void addFlatOps(OpTable &table);
void addBufferOps(OpTable &table);

/// Handlers that replace an instruction's own when it is in DPP or SDWA form.
void executeDPP(Wave &wave, const Inst &inst);
void executeSDWA(Wave &wave, const Inst &inst);
/// For encodings without semantics: raises.
void executeUnknown(Wave &wave, const Inst &inst);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_ISA_OPTABLE_H
