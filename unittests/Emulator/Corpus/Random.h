//===- Random.h - Seeded inputs and host conversions ------------*- C++ -*-===//

#ifndef ATTN_UNITTESTS_EMULATOR_CORPUS_RANDOM_H
#define ATTN_UNITTESTS_EMULATOR_CORPUS_RANDOM_H

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace attn::emu {

/// All values of T are equally likely.
template <typename T> std::vector<T> randomInts(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result(count);
  for (T &value : result)
    value = T(random() >> 7);
  return result;
}

/// Magnitudes from 2^-6 to 2^6, both signs.
template <typename T> std::vector<T> randomFloats(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::vector<T> result(count);
  for (T &value : result) {
    value = T(std::ldexp(mantissa(random), int(random() % 12) - 6));
    if (random() & 1)
      value = -value;
  }
  return result;
}

/// Conversions by LLVM's APFloat, nearest even.
inline uint64_t convertBits(double value, const llvm::fltSemantics &to) {
  llvm::APFloat result(value);
  bool loses;
  result.convert(to, llvm::APFloat::rmNearestTiesToEven, &loses);
  return result.bitcastToAPInt().getZExtValue();
}
inline double fromBits(uint64_t bits, const llvm::fltSemantics &from) {
  llvm::APFloat value(from,
                      llvm::APInt(llvm::APFloat::getSizeInBits(from), bits));
  bool loses;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &loses);
  return value.convertToDouble();
}
inline uint16_t toHalf(double value) {
  return uint16_t(convertBits(value, llvm::APFloat::IEEEhalf()));
}
inline float fromHalf(uint16_t bits) {
  return float(fromBits(bits, llvm::APFloat::IEEEhalf()));
}
inline uint16_t toBFloat(double value) {
  return uint16_t(convertBits(value, llvm::APFloat::BFloat()));
}
inline float fromBFloat(uint16_t bits) {
  return float(fromBits(bits, llvm::APFloat::BFloat()));
}

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_CORPUS_RANDOM_H
