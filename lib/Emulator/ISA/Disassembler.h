//===- Disassembler.h - LLVM's MC layer for AMDGPU --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_ISA_DISASSEMBLER_H
#define ATTN_LIB_EMULATOR_ISA_DISASSEMBLER_H

#include "attn/Emulator/Chip.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include <mutex>

namespace attn::emu {

/// Owns the MC objects for one chip.
class Disassembler {
public:
  static llvm::Expected<std::unique_ptr<Disassembler>> create(Chip chip);
  ~Disassembler();

  /// Decodes one instruction; false if the bytes are none. \p size is its
  /// length.
  bool decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address,
              llvm::MCInst &inst, uint64_t &size) const;
  std::string print(const llvm::MCInst &inst, uint64_t address) const;

  const llvm::MCInstrInfo &getInstrInfo() const { return *instrInfo; }
  const llvm::MCRegisterInfo &getRegisterInfo() const { return *registerInfo; }

private:
  Disassembler() = default;
  mutable std::mutex mutex;
  std::unique_ptr<llvm::MCRegisterInfo> registerInfo;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instrInfo;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

/// "v_add_f32" from "v_add_f32_e64 v0, ..."; also says the form.
struct Mnemonic {
  std::string base;
  bool isDPP = false;
  bool isSDWA = false;
};
Mnemonic parseMnemonic(llvm::StringRef text);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_ISA_DISASSEMBLER_H
