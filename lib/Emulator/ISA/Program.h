//===- Program.h - Decoded code of a code object ----------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Decodes the executable part of a code object once.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_ISA_PROGRAM_H
#define ATTN_LIB_EMULATOR_ISA_PROGRAM_H

#include "Inst.h"
#include "attn/Emulator/CodeObject.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace attn::emu {

class Disassembler;

/// Facts of one mnemonic that occurs in a program.
struct OpcodeName {
  std::string mnemonic;
  bool supported = false;
};

class Program {
public:
  static llvm::Expected<std::unique_ptr<Program>>
  create(const CodeObject &object);
  ~Program();

  /// The instruction at image offset \p address; null if none starts there.
  const Inst *lookup(uint64_t address, bool skipsVector = false) const {
    if (address < textBegin || address >= textEnd || address % 4)
      return nullptr;
    int32_t index = indexOfDword[(address - textBegin) / 4];
    return index < 0 ? nullptr : get(index, skipsVector);
  }
  const Inst *get(int32_t index, bool skipsVector = false) const {
    return skipsVector ? &skipped[index] : &insts[index];
  }
  /// \p inst in the code that s_setvskip selects.
  const Inst *getSkipped(const Inst *inst, bool skipsVector) const {
    bool isSkipped = !skipped.empty() && inst >= skipped.data() &&
                     inst < skipped.data() + skipped.size();
    size_t index = inst - (isSkipped ? skipped.data() : insts.data());
    return get(index, skipsVector);
  }
  llvm::ArrayRef<Inst> getInsts() const { return insts; }
  llvm::ArrayRef<RegRange> getRegs(const Inst &inst) const {
    return llvm::ArrayRef(regs).slice(inst.regsBegin, inst.regsCount);
  }
  const OpcodeName &getOpcode(const Inst &inst) const {
    return opcodes[inst.op];
  }

  /// Disassembly; thread safe.
  std::string getText(const Inst &inst) const;

private:
  Program();
  friend class ProgramBuilder;

  uint64_t textBegin = 0, textEnd = 0;
  std::vector<Inst> insts;
  /// The same code with vector instructions that do nothing; only for programs
  /// that use s_setvskip.
  std::vector<Inst> skipped;
  std::vector<int32_t> indexOfDword;
  std::vector<RegRange> regs;
  std::vector<OpcodeName> opcodes;
  /// Broadcast constants, 128 words each (a 64-bit constant needs two).
  std::vector<std::unique_ptr<uint32_t[]>> constants;
  std::unique_ptr<Disassembler> disassembler;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_ISA_PROGRAM_H
