//===- ChipInfo.cpp -------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ChipInfo.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir::attn;

unsigned mlir::attn::getByteWidth(ElementKind kind) {
  return kind == ElementKind::F32 ? 4 : 2;
}

llvm::StringRef mlir::attn::getName(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return "f16";
  case ElementKind::BF16:
    return "bf16";
  case ElementKind::F32:
    return "f32";
  }
  llvm_unreachable("unknown element kind");
}

// Sources: AMD's CDNA3 and CDNA4 instruction set documents for sizes and
// instructions; clocks from published microbenchmarks (docs/Lowering.md).
static constexpr ChipInfo chips[] = {
    {.name = "gfx942",
     .computeUnits = 304,
     .ldsBytes = 65536,
     .ldsBanks = 32,
     .dmaBytesPerLane = 4,
     .hasTransposedRead = false,
     .hasPermlaneSwap = false,
     .hasPackedBF16Convert = false,
     .mfmaDepth16 = 8,
     .mfmaDepth32 = 2,
     .mfmaShadowClocks = 28,
     .transcendentalClocks = 16,
     .packedF32Hides = true},
    {.name = "gfx950",
     .computeUnits = 256,
     .ldsBytes = 163840,
     .ldsBanks = 64,
     .dmaBytesPerLane = 16,
     .hasTransposedRead = true,
     .hasPermlaneSwap = true,
     .hasPackedBF16Convert = true,
     .mfmaDepth16 = 16,
     .mfmaDepth32 = 2,
     .mfmaShadowClocks = 24,
     .transcendentalClocks = 8,
     .packedF32Hides = false},
};

llvm::ArrayRef<ChipInfo> mlir::attn::getChips() { return chips; }

llvm::Expected<const ChipInfo *> mlir::attn::lookupChip(llvm::StringRef name) {
  std::string known;
  for (const ChipInfo &chip : chips) {
    if (chip.name == name)
      return &chip;
    known += (known.empty() ? "" : ", ") + chip.name.str();
  }
  return llvm::createStringError("expects chip to be one of " + known +
                                 ", but got '" + name + "'");
}

PackMethod ChipInfo::getPackMethod(ElementKind kind) const {
  return kind == ElementKind::BF16 && !hasPackedBF16Convert
             ? PackMethod::RoundNearestEvenBits
             : PackMethod::Convert;
}

unsigned ChipInfo::getPackClocks(ElementKind kind) const {
  if (kind == ElementKind::F32)
    return 0;
  if (getPackMethod(kind) == PackMethod::RoundNearestEvenBits)
    return 20;
  return hasPackedBF16Convert ? 4 : 12;
}
