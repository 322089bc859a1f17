//===- ISA.h - Disassembly and the instruction table ------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Text views of the instruction set the emulator knows.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_ISA_H
#define ATTN_EMULATOR_ISA_H

#include "attn/Emulator/CodeObject.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace attn::emu {

/// Prints the code of \p object, one instruction a line: address, encoding,
/// text, and a mark at instructions the emulator has no semantics for.
llvm::Error disassemble(const CodeObject &object, llvm::raw_ostream &os);

/// Address and text of every instruction of \p object that has no semantics.
llvm::Expected<std::vector<std::string>>
findUnsupportedInstructions(const CodeObject &object);

/// Every mnemonic that has semantics on \p chip, sorted.
std::vector<std::string> getSupportedMnemonics(Chip chip);

/// docs/EmulatorInstructions.md: every mnemonic with semantics, by class and
/// chip.
void printInstructionTable(llvm::raw_ostream &os);

} // namespace attn::emu

#endif // ATTN_EMULATOR_ISA_H
