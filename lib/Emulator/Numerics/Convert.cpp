//===- Convert.cpp - Conversions of gfx942 and gfx950 ---------------------===//

#include "attn/Emulator/Numerics/Convert.h"
#include "Rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace attn::emu;

//===----------------------------------------------------------------------===//
// Any format
//===----------------------------------------------------------------------===//

uint64_t attn::emu::encodeParts(FloatFormat format, bool negative,
                                uint64_t mantissa, int exponent, bool sticky,
                                const EncodeOptions &options) {
  const FormatInfo &info = getFormatInfo(format);
  uint64_t sign = uint64_t(negative) << (info.bits - 1);
  auto zero = [&] { return info.fnuz ? 0 : sign; };
  auto overflow = [&]() -> uint64_t {
    bool towardZero = options.round == Rounding::TowardZero ||
                      (options.round == Rounding::PlusInf && negative) ||
                      (options.round == Rounding::MinusInf && !negative);
    if (options.saturate || towardZero || !info.hasNaN)
      return sign | info.maxCode;
    if (info.hasInf)
      return sign | (info.maxCode + 1);
    return info.fnuz ? info.nanCode : sign | info.nanCode;
  };

  if (mantissa == 0 && !sticky)
    return zero();
  // Normalise so that bit 63 is set: |value| = mantissa * 2^exponent.
  if (mantissa == 0) {
    // Below every format's smallest code.
    mantissa = uint64_t(1) << 63;
    exponent = -100000;
  }
  int shift = std::countl_zero(mantissa);
  mantissa <<= shift;
  exponent -= shift;

  int valueExp = exponent + 63; // 2^valueExp <= |value|
  int minExp = 1 - info.bias;
  int quantum = std::max(valueExp, minExp) - info.manBits;
  int drop = quantum - exponent; // low bits that go, at least 11
  uint64_t kept = drop >= 64 ? 0 : mantissa >> drop;
  uint64_t half, rest;
  if (drop > 64) {
    half = 0;
    rest = 1;
  } else {
    half = (mantissa >> (drop - 1)) & 1;
    rest = mantissa << (65 - drop) != 0 || sticky;
  }
  bool inexact = half || rest;
  switch (options.round) {
  case Rounding::NearestEven:
    kept += half && (rest || (kept & 1));
    break;
  case Rounding::PlusInf:
    kept += inexact && !negative;
    break;
  case Rounding::MinusInf:
    kept += inexact && negative;
    break;
  case Rounding::TowardZero:
    break;
  }
  if (valueExp > info.bias + int(1 << info.expBits))
    return overflow();
  uint64_t code = valueExp < minExp
                      ? kept
                      : (uint64_t(valueExp - minExp) << info.manBits) + kept;
  if (code > info.maxCode)
    return overflow();
  if (!options.denormOut && code < (uint64_t(1) << info.manBits))
    code = 0;
  return code == 0 ? zero() : sign | code;
}

/// What encode() makes of infinity and NaN.
static uint64_t encodeSpecial(FloatFormat format, double value, bool saturate) {
  const FormatInfo &info = getFormatInfo(format);
  uint64_t bits = asBits(value);
  uint64_t sign = uint64_t(bits >> 63) << (info.bits - 1);
  if (!info.hasNaN)
    return sign | info.maxCode;
  if (std::isinf(value)) {
    if (info.hasInf)
      return sign | (info.maxCode + 1);
    if (saturate)
      return sign | info.maxCode;
  } else if (info.hasInf) {
    uint64_t payload = (bits & 0x000fffffffffffff) >> (52 - info.manBits);
    return sign | (info.maxCode + 1) | payload |
           uint64_t(1) << (info.manBits - 1);
  }
  return info.fnuz ? info.nanCode : sign | info.nanCode;
}

uint64_t attn::emu::encode(FloatFormat format, double value,
                           const EncodeOptions &options) {
  if (!std::isfinite(value))
    return encodeSpecial(format, value, options.saturate);
  uint64_t bits = asBits(value);
  uint64_t man = bits & 0x000fffffffffffff;
  int exp = int((bits >> 52) & 0x7ff);
  if (exp)
    man |= 0x0010000000000000;
  return encodeParts(format, bits >> 63, man, std::max(exp, 1) - 1075,
                     /*sticky=*/false, options);
}

/// encodeStochastic() for a value that is exact in f64.
static uint64_t encodeStochasticF64(FloatFormat format, double value,
                                    uint32_t seed, bool saturate) {
  if (!std::isfinite(value))
    return encodeSpecial(format, value, saturate);
  const FormatInfo &info = getFormatInfo(format);
  // The seed's top bit weighs half a last place of a normal result.
  uint64_t bits = asBits(value);
  bits += uint64_t(seed) << (52 - info.manBits - 32);
  EncodeOptions options;
  options.round = Rounding::TowardZero;
  options.saturate = saturate;
  uint64_t code = encode(format, asDouble(bits), options);
  // Toward zero never overflows, but the instruction does.
  double largest = decode(format, info.maxCode);
  double step = largest - decode(format, info.maxCode - 1);
  if (std::fabs(asDouble(bits)) >= largest + step) {
    options.round = Rounding::NearestEven;
    code = encode(format, std::copysign(HUGE_VAL, value), options);
    if (saturate)
      code = encode(format, std::copysign(largest, value), options);
  }
  return code;
}

uint64_t attn::emu::encodeStochastic(FloatFormat format, float value,
                                     uint32_t seed, bool saturate) {
  return encodeStochasticF64(format, double(value), seed, saturate);
}

//===----------------------------------------------------------------------===//
// f32 <-> f16, bf16, f64
//===----------------------------------------------------------------------===//

static float flushIn(float value, const FloatMode &mode) {
  if (!mode.denormIn && std::fabs(value) < std::numeric_limits<float>::min())
    return std::copysign(0.0f, value);
  return value;
}
static double flushIn(double value, const FloatMode &mode) {
  if (!mode.denormIn && std::fabs(value) < std::numeric_limits<double>::min())
    return std::copysign(0.0, value);
  return value;
}
static uint16_t flushInF16(uint16_t value, const FloatMode &mode) {
  if (!mode.denormIn && (value & 0x7c00) == 0)
    return value & 0x8000;
  return value;
}

static EncodeOptions f16Options(const FloatMode &mode) {
  EncodeOptions options;
  options.round = mode.round;
  options.saturate = mode.fp16Ovfl;
  options.denormOut = mode.denormOut;
  return options;
}

/// The common case of a conversion from f32: a normal result in range, to
/// nearest even or toward zero. False leaves the work to encode().
static inline bool encodeNormal(float value, unsigned manBits, unsigned bias,
                                unsigned maxCode, bool nearest,
                                uint32_t &code) {
  uint32_t magnitude = asBits(value) & 0x7fffffff;
  uint32_t smallest = (127 - bias + 1) << 23; // of the normal results
  if (magnitude < smallest || magnitude >= 0x7f800000)
    return false;
  unsigned shift = 23 - manBits;
  uint32_t rebased = magnitude - ((127 - bias) << 23);
  if (nearest)
    rebased += (1u << (shift - 1)) - 1 + (rebased >> shift & 1);
  code = rebased >> shift;
  return code <= maxCode;
}

uint16_t attn::emu::cvtF16F32(float value, const FloatMode &f32Mode,
                              const FloatMode &f16Mode) {
  return encode(FloatFormat::F16, flushIn(value, f32Mode), f16Options(f16Mode));
}

float attn::emu::cvtF32F16(uint16_t value, const FloatMode &f16Mode) {
  return f16ToF32(flushInF16(value, f16Mode));
}

uint16_t attn::emu::cvtPkRtzF16F32(float value) {
  uint32_t code;
  if (encodeNormal(value, 10, 15, 0x7bff, /*nearest=*/false, code))
    return code | (asBits(value) >> 16 & 0x8000);
  EncodeOptions options;
  options.round = Rounding::TowardZero;
  return encode(FloatFormat::F16, value, options);
}

uint16_t attn::emu::cvtBF16F32(float value, Rounding round) {
  uint32_t bits = asBits(value);
  if (round == Rounding::NearestEven && (bits & 0x7f800000) != 0x7f800000)
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  EncodeOptions options;
  options.round = round;
  return encode(FloatFormat::BF16, value, options);
}

uint16_t attn::emu::cvtSrF16F32(float value, uint32_t seed) {
  return encodeStochastic(FloatFormat::F16, value, seed, /*saturate=*/false);
}
uint16_t attn::emu::cvtSrBF16F32(float value, uint32_t seed) {
  return encodeStochastic(FloatFormat::BF16, value, seed, /*saturate=*/false);
}

float attn::emu::cvtF32F64(double value, const FloatMode &f32Mode,
                           const FloatMode &f64Mode) {
  EncodeOptions options;
  options.round = f32Mode.round;
  options.denormOut = f32Mode.denormOut;
  return asFloat(encode(FloatFormat::F32, flushIn(value, f64Mode), options));
}

double attn::emu::cvtF64F32(float value, const FloatMode &f32Mode) {
  return decode(FloatFormat::F32, asBits(flushIn(value, f32Mode)));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Truncates toward zero and saturates; NaN gives 0.
template <typename T> static T toInteger(double value) {
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  if (value <= double(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= double(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return T(value);
}

int32_t attn::emu::cvtI32F32(float value) { return toInteger<int32_t>(value); }
uint32_t attn::emu::cvtU32F32(float value) {
  return toInteger<uint32_t>(value);
}
int32_t attn::emu::cvtI32F64(double value) { return toInteger<int32_t>(value); }
uint32_t attn::emu::cvtU32F64(double value) {
  return toInteger<uint32_t>(value);
}
int16_t attn::emu::cvtI16F16(uint16_t value) {
  return toInteger<int16_t>(f16ToF32(value));
}
uint16_t attn::emu::cvtU16F16(uint16_t value) {
  return toInteger<uint16_t>(f16ToF32(value));
}
int32_t attn::emu::cvtRpiI32F32(float value) {
  return toInteger<int32_t>(std::floor(double(value) + 0.5));
}
int32_t attn::emu::cvtFlrI32F32(float value) {
  return toInteger<int32_t>(std::floor(double(value)));
}

static float integerToF32(double value, Rounding round) {
  EncodeOptions options;
  options.round = round;
  return asFloat(encode(FloatFormat::F32, value, options));
}
float attn::emu::cvtF32I32(int32_t value, Rounding round) {
  return round == Rounding::NearestEven ? float(value)
                                        : integerToF32(value, round);
}
float attn::emu::cvtF32U32(uint32_t value, Rounding round) {
  return round == Rounding::NearestEven ? float(value)
                                        : integerToF32(value, round);
}
uint16_t attn::emu::cvtF16I16(int16_t value, const FloatMode &f16Mode) {
  return encode(FloatFormat::F16, value, f16Options(f16Mode));
}
uint16_t attn::emu::cvtF16U16(uint16_t value, const FloatMode &f16Mode) {
  return encode(FloatFormat::F16, value, f16Options(f16Mode));
}
float attn::emu::cvtF32UByte(uint32_t value, unsigned byte) {
  return float((value >> (8 * byte)) & 0xff);
}
float attn::emu::cvtOffF32I4(uint32_t value) {
  int signedValue = int(value & 7) - int(value & 8);
  return float(signedValue) / 16.0f;
}
uint32_t attn::emu::cvtPkU8F32(float value, uint32_t index, uint32_t old) {
  unsigned shift = 8 * (index & 3);
  uint32_t byte = toInteger<uint8_t>(value);
  return (old & ~(0xffu << shift)) | byte << shift;
}

/// Nearest integer, ties to even, of a value in f64's exact integer range.
static double roundEven(double value) {
  double floor = std::floor(value), rest = value - floor;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) != 0.0))
    return floor + 1;
  return floor;
}
int16_t attn::emu::cvtPkNormI16(float value) {
  if (std::isnan(value))
    return 0;
  return int16_t(roundEven(std::clamp(double(value), -1.0, 1.0) * 32767.0));
}
uint16_t attn::emu::cvtPkNormU16(float value) {
  if (std::isnan(value))
    return 0;
  return uint16_t(roundEven(std::clamp(double(value), 0.0, 1.0) * 65535.0));
}
int16_t attn::emu::cvtPkI16I32(int32_t value) {
  return std::clamp<int32_t>(value, -32768, 32767);
}
uint16_t attn::emu::cvtPkU16U32(uint32_t value) {
  return std::min<uint32_t>(value, 65535);
}

//===----------------------------------------------------------------------===//
// fp8, bf8
//===----------------------------------------------------------------------===//

FloatFormat attn::emu::getFP8Format(bool isBF8, bool isOCP) {
  if (isOCP)
    return isBF8 ? FloatFormat::FP8E5M2 : FloatFormat::FP8E4M3FN;
  return isBF8 ? FloatFormat::FP8E5M2FNUZ : FloatFormat::FP8E4M3FNUZ;
}

uint8_t attn::emu::cvtFP8F32(FloatFormat format, float value, bool saturate) {
  const FormatInfo &info = getFormatInfo(format);
  uint32_t code;
  if (encodeNormal(value, info.manBits, info.bias, info.maxCode,
                   /*nearest=*/true, code))
    return code | (asBits(value) >> 24 & 0x80);
  EncodeOptions options;
  options.saturate = saturate;
  return encode(format, value, options);
}

uint8_t attn::emu::cvtSrFP8F32(FloatFormat format, float value, uint32_t seed,
                               bool saturate) {
  return encodeStochastic(format, value, seed, saturate);
}

//===----------------------------------------------------------------------===//
// gfx950's scaled conversions
//===----------------------------------------------------------------------===//

ScaleF32 attn::emu::getScaleE8M0(uint8_t code) {
  return {int(code) - 127, code == 0xff};
}
ScaleF32 attn::emu::getScaleF32(uint32_t scaleBits) {
  return getScaleE8M0(scaleBits >> 23);
}

uint32_t attn::emu::cvtScaledUp(FloatFormat dst, FloatFormat src, uint32_t code,
                                ScaleF32 scale) {
  double value = scale.isNaN ? std::numeric_limits<double>::quiet_NaN()
                             : std::ldexp(decode(src, code), scale.exponent);
  return encode(dst, value);
}

/// value * 2^-scale, NaN for a NaN scale. Exact: both exponents are small.
static double unscale(double value, ScaleF32 scale) {
  return scale.isNaN ? std::numeric_limits<double>::quiet_NaN()
                     : std::ldexp(value, -scale.exponent);
}

uint32_t attn::emu::cvtScaledDown(FloatFormat dst, double value,
                                  ScaleF32 scale) {
  EncodeOptions options;
  options.saturate = true;
  return encode(dst, unscale(value, scale), options);
}

uint32_t attn::emu::cvtScaledDownStochastic(FloatFormat dst, float value,
                                            ScaleF32 scale, uint32_t seed) {
  return encodeStochasticF64(dst, unscale(value, scale), seed,
                             /*saturate=*/true);
}

uint32_t attn::emu::extractCode(const uint32_t *words, unsigned index,
                                unsigned bits) {
  unsigned bit = index * bits, word = bit / 32, offset = bit % 32;
  uint64_t pair = words[word];
  if (offset + bits > 32)
    pair |= uint64_t(words[word + 1]) << 32;
  return (pair >> offset) & ((uint64_t(1) << bits) - 1);
}

void attn::emu::insertCode(uint32_t *words, unsigned index, unsigned bits,
                           uint32_t code) {
  unsigned bit = index * bits, word = bit / 32, offset = bit % 32;
  uint64_t placed = uint64_t(code) << offset;
  words[word] |= uint32_t(placed);
  if (offset + bits > 32)
    words[word + 1] |= uint32_t(placed >> 32);
}
