//===- Chip.h - The chips the emulator models -------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Chip names and the per-chip facts that the machine needs. Sources: AMD
/// Instinct MI300 ISA guide, LLVM's AMDGPU usage guide.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_CHIP_H
#define ATTN_EMULATOR_CHIP_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace attn::emu {

enum class Chip : uint8_t { GFX942, GFX950 };

/// "gfx942" or "gfx950".
llvm::StringRef getChipName(Chip chip);

/// Parses "gfx942" or "gfx950"; anything else is an error that lists both.
llvm::Expected<Chip> parseChip(llvm::StringRef name);

/// LDS bytes one workgroup may use: 65536 on gfx942, 163840 on gfx950.
unsigned getMaxLDSBytes(Chip chip);

/// LDS banks of 4 bytes each: 32 on gfx942, 64 on gfx950.
unsigned getNumLDSBanks(Chip chip);

} // namespace attn::emu

#endif // ATTN_EMULATOR_CHIP_H
