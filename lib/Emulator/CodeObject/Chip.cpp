//===- Chip.cpp - The chips the emulator models ---------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Chip.h"

using namespace attn::emu;

llvm::StringRef attn::emu::getChipName(Chip chip) {
  return chip == Chip::GFX942 ? "gfx942" : "gfx950";
}

llvm::Expected<Chip> attn::emu::parseChip(llvm::StringRef name) {
  if (name == "gfx942")
    return Chip::GFX942;
  if (name == "gfx950")
    return Chip::GFX950;
  return llvm::createStringError("expects chip to be gfx942 or gfx950, but "
                                 "got '" +
                                 name + "'");
}

unsigned attn::emu::getMaxLDSBytes(Chip chip) {
  return chip == Chip::GFX942 ? 65536 : 163840;
}

unsigned attn::emu::getNumLDSBanks(Chip chip) {
  return chip == Chip::GFX942 ? 32 : 64;
}
