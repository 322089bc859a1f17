//===- Disassembler.cpp - LLVM's MC layer for AMDGPU ----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Disassembler.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

using namespace attn::emu;
using namespace llvm;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUDisassembler(void);
}

Disassembler::~Disassembler() = default;

Expected<std::unique_ptr<Disassembler>> Disassembler::create(Chip chip) {
  static const bool initialized = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialized;
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + message);
  std::unique_ptr<Disassembler> result(new Disassembler());
  MCTargetOptions options;
  result->registerInfo.reset(target->createMCRegInfo(triple));
  result->asmInfo.reset(
      target->createMCAsmInfo(*result->registerInfo, triple, options));
  result->instrInfo.reset(target->createMCInstrInfo());
  result->subtarget.reset(
      target->createMCSubtargetInfo(triple, getChipName(chip), ""));
  if (!result->subtarget)
    return createStringError("LLVM does not know " + getChipName(chip));
  result->context = std::make_unique<MCContext>(triple, result->asmInfo.get(),
                                                result->registerInfo.get(),
                                                result->subtarget.get());
  result->disassembler.reset(
      target->createMCDisassembler(*result->subtarget, *result->context));
  result->printer.reset(target->createMCInstPrinter(
      triple, 0, *result->asmInfo, *result->instrInfo, *result->registerInfo));
  if (!result->disassembler || !result->printer)
    return createStringError("LLVM was built without the AMDGPU disassembler");
  result->printer->setPrintImmHex(true);
  return result;
}

bool Disassembler::decode(ArrayRef<uint8_t> bytes, uint64_t address,
                          MCInst &inst, uint64_t &size) const {
  std::lock_guard<std::mutex> lock(mutex);
  return disassembler->getInstruction(inst, size, bytes, address, nulls()) ==
             MCDisassembler::Success &&
         size >= 4;
}

std::string Disassembler::print(const MCInst &inst, uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  raw_string_ostream os(text);
  printer->printInst(&inst, address, "", *subtarget, os);
  return StringRef(text).trim().str();
}

Mnemonic attn::emu::parseMnemonic(StringRef text) {
  StringRef token = text.trim().split(' ').first.split('\t').first;
  Mnemonic result;
  if (token.consume_back("_dpp"))
    result.isDPP = true;
  else if (token.consume_back("_sdwa"))
    result.isSDWA = true;
  if (!token.consume_back("_e32"))
    token.consume_back("_e64");
  result.base = token.str();
  return result;
}
