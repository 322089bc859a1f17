//===- Formats.h - Number formats of gfx942 and gfx950 ----------*- C++ -*-===//
//
// The floating-point formats AMD's CDNA 3 and CDNA 4 compute in, as data: field
// widths, bias and special values, and an exact decode of every code to f64.
// Sources: "AMD Instinct MI300 (CDNA3) ISA" and "AMD CDNA4 ISA" reference
// guides, the OCP 8-bit floating point and OCP Microscaling (MX)
// specifications.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_NUMERICS_FORMATS_H
#define ATTN_EMULATOR_NUMERICS_FORMATS_H

#include <cstdint>
#include <cstring>

namespace attn::emu {

/// Same bits, other type (std::bit_cast with a name the ISA manual uses).
inline float asFloat(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t asBits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}
inline double asDouble(uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, 8);
  return d;
}
inline uint64_t asBits(double d) {
  uint64_t bits;
  std::memcpy(&bits, &d, 8);
  return bits;
}

/// Every floating-point format an instruction of either chip reads or writes.
enum class FloatFormat : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  FP8E4M3FN,   ///< "fp8" of gfx950 (OCP): no infinity, NaN = 0x7f / 0xff
  FP8E5M2,     ///< "bf8" of gfx950 (OCP): IEEE-like
  FP8E4M3FNUZ, ///< "fp8" of gfx942: bias 8, NaN = 0x80, no negative zero
  FP8E5M2FNUZ, ///< "bf8" of gfx942: bias 16, NaN = 0x80, no negative zero
  FP6E2M3,     ///< "fp6": finite only
  FP6E3M2,     ///< "bf6": finite only
  FP4E2M1,     ///< "fp4": finite only
};

/// The rounding modes in the encoding of MODE.FP_ROUND (two bits a field).
enum class Rounding : uint8_t {
  NearestEven = 0,
  PlusInf = 1,
  MinusInf = 2,
  TowardZero = 3,
};

/// The part of the MODE register that numerics see for one operand width: the
/// f32 fields, or the fields that f16 and f64 share.
struct FloatMode {
  Rounding round = Rounding::NearestEven;
  /// MODE.FP_DENORM bit 0: denormal inputs are kept (else read as signed zero).
  bool denormIn = true;
  /// MODE.FP_DENORM bit 1: denormal results are kept (else signed zero).
  bool denormOut = true;
  /// MODE.FP16_OVFL: an f16 or fp8/bf8 result that overflows becomes the
  /// largest finite value, not infinity or NaN.
  bool fp16Ovfl = false;
};

/// Decodes MODE (hwreg 1): round in [3:0], denorm in [7:4], FP16_OVFL in [23].
/// In each pair the low field is f32's, the high one f16's and f64's.
FloatMode getF32Mode(uint32_t modeReg);
FloatMode getF16F64Mode(uint32_t modeReg);

/// Field widths and special values of a format.
struct FormatInfo {
  uint8_t bits;    ///< width of a code
  uint8_t expBits; ///< exponent field
  uint8_t manBits; ///< stored mantissa bits
  int16_t bias;
  bool hasInf;
  bool hasNaN;
  bool fnuz;        ///< 0b10..0 is the only NaN and there is no -0
  uint64_t maxCode; ///< largest positive finite code
  uint64_t nanCode; ///< code written for a NaN input with an empty payload
};
const FormatInfo &getFormatInfo(FloatFormat format);

/// The value of `code` (low bits; higher ones are ignored), exactly. NaNs come
/// out quiet, with the payload left-aligned where the format has one.
double decode(FloatFormat format, uint64_t code);

/// decode() for the formats every lane of a wave converts, as f32.
float f16ToF32(uint16_t code);
inline float bf16ToF32(uint16_t code) { return asFloat(uint32_t(code) << 16); }
/// Tables of 256 (fp8/bf8), 64 (fp6/bf6) or 16 (fp4) entries.
const float *getDecodeTable(FloatFormat format);

} // namespace attn::emu

#endif // ATTN_EMULATOR_NUMERICS_FORMATS_H
