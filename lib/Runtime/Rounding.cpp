//===- Rounding.cpp - Narrow floats ---------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Rounding.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

namespace attn::rt {

/// `value / 2^shift`, ties to even; `shift` from 1 to 31.
static uint32_t shiftRightRounded(uint32_t value, unsigned shift) {
  uint32_t quotient = value >> shift;
  uint32_t rest = value & ((1u << shift) - 1);
  uint32_t half = 1u << (shift - 1);
  return quotient + (rest > half || (rest == half && (quotient & 1)));
}

uint16_t roundToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>(shiftRightRounded(bits, 16));
}

uint16_t roundToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent > 15)
    return sign | 0x7c00;
  // A carry out of the mantissa moves to the next exponent, or to infinity.
  if (exponent >= -14)
    return static_cast<uint16_t>(
        sign | (shiftRightRounded(magnitude, 13) - ((127 - 15) << 10)));
  // Subnormal: units of 2^-24. Below 2^-25 everything rounds to zero.
  if (exponent < -25)
    return sign;
  uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
  return static_cast<uint16_t>(
      sign | shiftRightRounded(mantissa, static_cast<unsigned>(-1 - exponent)));
}

float widenF16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0x1f)
    return llvm::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0)
    return llvm::bit_cast<float>(sign | (exponent + 112) << 23 |
                                 mantissa << 13);
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  double back = nearest;
  if (back == value || value != value)
    return nearest;
  // Of the two neighbours, one has an odd last bit.
  if (llvm::bit_cast<uint32_t>(nearest) & 1)
    return nearest;
  float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, back < value ? infinity : -infinity);
}

} // namespace attn::rt
