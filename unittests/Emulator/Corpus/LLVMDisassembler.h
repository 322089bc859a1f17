//===- LLVMDisassembler.h - LLVM's view of instruction bytes ----*- C++ -*-===//

#ifndef ATTN_UNITTESTS_EMULATOR_CORPUS_LLVMDISASSEMBLER_H
#define ATTN_UNITTESTS_EMULATOR_CORPUS_LLVMDISASSEMBLER_H

#include "attn/Emulator/Chip.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace attn::emu {

/// LLVM's view of bytes.
class LLVMDisassembler {
public:
  explicit LLVMDisassembler(Chip chip) {
    using namespace llvm;
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    Triple triple("amdgcn-amd-amdhsa");
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    registers.reset(target->createMCRegInfo(triple));
    asmInfo.reset(
        target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(
        target->createMCSubtargetInfo(triple, getChipName(chip), ""));
    context = std::make_unique<MCContext>(triple, asmInfo.get(),
                                          registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, 0, *asmInfo,
                                              *instructions, *registers));
  }

  /// Text and size, or "" if these are no instruction.
  std::string decode(llvm::ArrayRef<uint8_t> bytes, uint64_t &size) const {
    using namespace llvm;
    MCInst inst;
    if (disassembler->getInstruction(inst, size, bytes, 0, nulls()) !=
        MCDisassembler::Success)
      return "";
    std::string text;
    raw_string_ostream os(text);
    printer->printInst(&inst, 0, "", *subtarget, os);
    return StringRef(text).trim().str();
  }

private:
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_CORPUS_LLVMDISASSEMBLER_H
