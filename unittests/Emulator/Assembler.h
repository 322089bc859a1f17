//===- Assembler.h - LLVM's assembler and lld in process --------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_EMULATOR_ASSEMBLER_H
#define ATTN_UNITTESTS_EMULATOR_ASSEMBLER_H

#include "attn/Emulator/CodeObject.h"

namespace attn::emu {

/// The code object of `text`, a whole .s file, as the bytes of an ELF file. An
/// error holds all that the assembler says, warnings too.
llvm::Expected<llvm::SmallVector<char, 0>> assembleText(llvm::StringRef text,
                                                        Chip chip);

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_ASSEMBLER_H
