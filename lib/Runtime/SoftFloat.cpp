//===- SoftFloat.cpp - Narrow float conversions ---------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SoftFloat.h"
#include "attn/Runtime/Rounding.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace attn::rt {

// A half or bfloat travels in the low 16 bits of a vector register, as the low
// bits of a float do: this spelling needs no 16-bit type of the host compiler.
static float inLowBits(uint16_t bits) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
}

static float truncateF32ToF16(float value) {
  return inLowBits(roundToF16(value));
}
static float truncateF32ToBF16(float value) {
  return inLowBits(roundToBF16(value));
}
static float truncateF64ToF16(double value) {
  return inLowBits(roundToF16(roundToOdd(value)));
}
static float truncateF64ToBF16(double value) {
  return inLowBits(roundToBF16(roundToOdd(value)));
}
static float extendF16ToF32(float value) {
  return widenF16(static_cast<uint16_t>(llvm::bit_cast<uint32_t>(value)));
}

orc::SymbolMap getSoftFloatSymbols(orc::MangleAndInterner mangle) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[mangle(name)] = {orc::ExecutorAddr::fromPtr(function),
                             JITSymbolFlags::Exported |
                                 JITSymbolFlags::Callable};
  };
  add("__truncsfhf2", &truncateF32ToF16);
  add("__truncdfhf2", &truncateF64ToF16);
  add("__truncsfbf2", &truncateF32ToBF16);
  add("__truncdfbf2", &truncateF64ToBF16);
  add("__extendhfsf2", &extendF16ToF32);
  return symbols;
}

} // namespace attn::rt
