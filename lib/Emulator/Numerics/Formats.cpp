//===- Formats.cpp - Number formats of gfx942 and gfx950 ------------------===//

#include "attn/Emulator/Numerics/Formats.h"

#include <array>
#include <cmath>
#include <limits>

using namespace attn::emu;

static FloatMode decodeMode(uint32_t modeReg, unsigned field) {
  FloatMode mode;
  mode.round = Rounding((modeReg >> (2 * field)) & 3);
  mode.denormIn = (modeReg >> (4 + 2 * field)) & 1;
  mode.denormOut = (modeReg >> (5 + 2 * field)) & 1;
  mode.fp16Ovfl = (modeReg >> 23) & 1;
  return mode;
}

FloatMode attn::emu::getF32Mode(uint32_t modeReg) {
  return decodeMode(modeReg, 0);
}
FloatMode attn::emu::getF16F64Mode(uint32_t modeReg) {
  return decodeMode(modeReg, 1);
}

const FormatInfo &attn::emu::getFormatInfo(FloatFormat format) {
  // bits, exponent, mantissa, bias, hasInf, hasNaN, fnuz, maxCode, nanCode
  static const FormatInfo table[] = {
      {64, 11, 52, 1023, true, true, false, 0x7fefffffffffffff,
       0x7ff8000000000000},                                        // F64
      {32, 8, 23, 127, true, true, false, 0x7f7fffff, 0x7fc00000}, // F32
      {16, 5, 10, 15, true, true, false, 0x7bff, 0x7e00},          // F16
      {16, 8, 7, 127, true, true, false, 0x7f7f, 0x7fc0},          // BF16
      {8, 4, 3, 7, false, true, false, 0x7e, 0x7f},                // E4M3FN
      {8, 5, 2, 15, true, true, false, 0x7b, 0x7e},                // E5M2
      {8, 4, 3, 8, false, true, true, 0x7f, 0x80},                 // E4M3FNUZ
      {8, 5, 2, 16, false, true, true, 0x7f, 0x80},                // E5M2FNUZ
      {6, 2, 3, 1, false, false, false, 0x1f, 0x1f},               // E2M3
      {6, 3, 2, 3, false, false, false, 0x1f, 0x1f},               // E3M2
      {4, 2, 1, 1, false, false, false, 0x7, 0x7},                 // E2M1
  };
  return table[unsigned(format)];
}

double attn::emu::decode(FloatFormat format, uint64_t code) {
  if (format == FloatFormat::F64) {
    double value = asDouble(code);
    if (std::isnan(value))
      return asDouble(code | 0x0008000000000000);
    return value;
  }
  const FormatInfo &info = getFormatInfo(format);
  code &= (uint64_t(1) << info.bits) - 1;
  uint64_t signBit = uint64_t(1) << (info.bits - 1);
  bool negative = code & signBit;
  uint64_t magnitude = code & (signBit - 1);
  if (info.fnuz && code == signBit)
    return std::numeric_limits<double>::quiet_NaN();

  uint64_t expField = magnitude >> info.manBits;
  uint64_t man = magnitude & ((uint64_t(1) << info.manBits) - 1);
  uint64_t sign64 = uint64_t(negative) << 63;
  if (info.hasInf && expField == (uint64_t(1) << info.expBits) - 1) {
    uint64_t bits = sign64 | 0x7ff0000000000000;
    if (man)
      bits |= 0x0008000000000000 | (man << (52 - info.manBits));
    return asDouble(bits);
  }
  if (!info.hasInf && info.hasNaN && !info.fnuz && magnitude == info.nanCode)
    return asDouble(sign64 | 0x7ff8000000000000);

  int exponent = expField == 0 ? 1 : int(expField);
  if (expField != 0)
    man |= uint64_t(1) << info.manBits;
  double value = std::ldexp(double(man), exponent - info.bias - info.manBits);
  return negative ? -value : value;
}

float attn::emu::f16ToF32(uint16_t code) {
  uint32_t sign = uint32_t(code & 0x8000) << 16;
  uint32_t magnitude = code & 0x7fff;
  if (magnitude >= 0x7c00) {
    uint32_t bits = 0x7f800000 | (magnitude & 0x3ff) << 13;
    if (magnitude > 0x7c00)
      bits |= 0x00400000;
    return asFloat(sign | bits);
  }
  if (magnitude >= 0x400)
    return asFloat(sign | ((magnitude << 13) + ((127 - 15) << 23)));
  // Denormal: an integer count of 2^-24.
  return asFloat(sign | asBits(float(magnitude) * 0x1p-24f));
}

namespace {
/// Decoded codes of one small format.
template <FloatFormat format, unsigned size>
struct DecodeTable : std::array<float, size> {
  DecodeTable() {
    for (unsigned code = 0; code != size; ++code)
      (*this)[code] = float(decode(format, code));
  }
};
} // namespace

template <FloatFormat format, unsigned size> static const float *table() {
  static const DecodeTable<format, size> values;
  return values.data();
}

const float *attn::emu::getDecodeTable(FloatFormat format) {
  switch (format) {
  case FloatFormat::FP8E4M3FN:
    return table<FloatFormat::FP8E4M3FN, 256>();
  case FloatFormat::FP8E5M2:
    return table<FloatFormat::FP8E5M2, 256>();
  case FloatFormat::FP8E4M3FNUZ:
    return table<FloatFormat::FP8E4M3FNUZ, 256>();
  case FloatFormat::FP8E5M2FNUZ:
    return table<FloatFormat::FP8E5M2FNUZ, 256>();
  case FloatFormat::FP6E2M3:
    return table<FloatFormat::FP6E2M3, 64>();
  case FloatFormat::FP6E3M2:
    return table<FloatFormat::FP6E3M2, 64>();
  case FloatFormat::FP4E2M1:
    return table<FloatFormat::FP4E2M1, 16>();
  default:
    return nullptr;
  }
}
