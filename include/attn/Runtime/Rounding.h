//===- Rounding.h - Narrow floats -------------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narrow floats as bit patterns.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ROUNDING_H
#define ATTN_RUNTIME_ROUNDING_H

#include <cstdint>

namespace attn::rt {

/// The nearest f16 to an f32, ties to even; overflow gives infinity, a NaN
/// stays a (quiet) NaN.
uint16_t roundToF16(float value);

/// Same for bf16.
uint16_t roundToBF16(float value);

/// The value of an f16; exact.
float widenF16(uint16_t bits);

/// The f32 below or above an f64 whose last mantissa bit is 1, or the equal
/// one: a second rounding of it to f16 or bf16 gives what one rounding would
/// give.
float roundToOdd(double value);

} // namespace attn::rt

#endif // ATTN_RUNTIME_ROUNDING_H
