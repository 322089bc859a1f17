//===- Assembler.cpp - LLVM's assembler and lld in process ----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Starting clang for a few lines takes longer than all that tests do with them.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "attn/Target/HSACO.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

Expected<SmallVector<char, 0>> attn::emu::assembleText(StringRef text,
                                                       Chip chip) {
  static const bool initialized = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    return true;
  }();
  (void)initialized;
  Triple triple("amdgcn-amd-amdhsa");
  std::string messages;
  const Target *target = TargetRegistry::lookupTarget(triple, messages);
  if (!target)
    return createStringError(messages);

  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "kernel.s"),
                             SMLoc());
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *log) {
        raw_string_ostream os(*static_cast<std::string *>(log));
        diagnostic.print(nullptr, os, /*ShowColors=*/false);
      },
      &messages);

  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, getChipName(chip), ""));
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(),
                    &sources, &options);
  std::unique_ptr<MCObjectFileInfo> objectInfo(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectInfo.get());

  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(os);
  std::unique_ptr<MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false) || context.hadError() ||
      !messages.empty())
    return createStringError("assembling failed:\n" + messages);
  return mlir::attn::linkCodeObject(object);
}
