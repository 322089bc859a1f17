//===- Rounding.h - Rounding an exact value to a format ---------*- C++ -*-===//

#ifndef ATTN_LIB_EMULATOR_NUMERICS_ROUNDING_H
#define ATTN_LIB_EMULATOR_NUMERICS_ROUNDING_H

#include "attn/Emulator/Numerics/Convert.h"

#include <cmath>

namespace attn::emu {

/// Rounds (-1)^negative * mantissa * 2^exponent, plus a positive amount below
/// the last mantissa bit when `sticky`, to `format`.
uint64_t encodeParts(FloatFormat format, bool negative, uint64_t mantissa,
                     int exponent, bool sticky, const EncodeOptions &options);

/// a + b rounded to odd in f64: any later rounding to at most 51 bits is then
/// a single rounding of the exact sum (Boldo and Melquiond).
inline double addRoundOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  double bb = sum - a;
  double error = (a - (sum - bb)) + (b - bb);
  if (error == 0)
    return sum;
  uint64_t bits = asBits(sum);
  if ((error > 0) != (sum > 0))
    --bits;
  return asDouble(bits | 1);
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_NUMERICS_ROUNDING_H
