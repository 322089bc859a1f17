//===- Convert.h - Conversions of gfx942 and gfx950 -------------*- C++ -*-===//
//
// One function a conversion instruction, on one lane's values. Register-level
// things (op_sel, packing into halves, input modifiers, EXEC) are the caller's.
//
// Rules common to all: one rounding from the exact value; NaN inputs give quiet
// NaNs that keep the upper payload bits; f32 denormal inputs are flushed when
// the mode says so. Where a function has no mode argument, the instruction
// ignores MODE.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_NUMERICS_CONVERT_H
#define ATTN_EMULATOR_NUMERICS_CONVERT_H

#include "attn/Emulator/Numerics/Formats.h"

namespace attn::emu {

//===----------------------------------------------------------------------===//
// Any format
//===----------------------------------------------------------------------===//

/// How encode() treats what does not fit.
struct EncodeOptions {
  Rounding round = Rounding::NearestEven;
  /// Overflow (and, in a format without infinity, an infinite input) gives the
  /// largest finite value instead of infinity/NaN. Formats with neither
  /// infinity nor NaN (fp6, bf6, fp4) always saturate, NaN included.
  bool saturate = false;
  /// Denormal results are kept, else they become signed zero. Decided after
  /// rounding.
  bool denormOut = true;
};

/// Rounds `value` to `format` once. Every source format here is exact in f64.
uint64_t encode(FloatFormat format, double value,
                const EncodeOptions &options = {});

/// Stochastic rounding as the CDNA "sr" conversions do it: the bits of the
/// mantissa below the target's last place are added to the top bits of `seed`
/// and a carry rounds away from zero. NaN and infinity as in encode().
uint64_t encodeStochastic(FloatFormat format, float value, uint32_t seed,
                          bool saturate);

//===----------------------------------------------------------------------===//
// f32 <-> f16, bf16, f64
//===----------------------------------------------------------------------===//

/// v_cvt_f16_f32: rounds by the f16/f64 field of MODE, flushes f32 inputs by
/// f32's denormal field and f16 results by f16's.
uint16_t cvtF16F32(float value, const FloatMode &f32Mode,
                   const FloatMode &f16Mode);
/// v_cvt_f32_f16: exact; f16 denormal inputs by f16's field.
float cvtF32F16(uint16_t value, const FloatMode &f16Mode);
/// One half of v_cvt_pkrtz_f16_f32: toward zero, overflow to the largest
/// finite value, denormals kept.
uint16_t cvtPkRtzF16F32(float value);
/// One half of v_cvt_pk_bf16_f32 (gfx950): MODE's f32 rounding; denormals kept.
uint16_t cvtBF16F32(float value, Rounding round = Rounding::NearestEven);
/// v_cvt_sr_f16_f32, v_cvt_sr_bf16_f32 (gfx950): stochastic.
uint16_t cvtSrF16F32(float value, uint32_t seed);
uint16_t cvtSrBF16F32(float value, uint32_t seed);
/// v_cvt_f32_f64 and v_cvt_f64_f32.
float cvtF32F64(double value, const FloatMode &f32Mode,
                const FloatMode &f64Mode);
double cvtF64F32(float value, const FloatMode &f32Mode);

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// v_cvt_i32_f32 and siblings: toward zero, saturating, NaN gives 0.
int32_t cvtI32F32(float value);
uint32_t cvtU32F32(float value);
int32_t cvtI32F64(double value);
uint32_t cvtU32F64(double value);
int16_t cvtI16F16(uint16_t value);
uint16_t cvtU16F16(uint16_t value);
/// v_cvt_rpi_i32_f32: floor(x + 0.5); v_cvt_flr_i32_f32: floor(x). Saturating.
int32_t cvtRpiI32F32(float value);
int32_t cvtFlrI32F32(float value);
/// v_cvt_f32_i32, v_cvt_f32_u32: MODE's f32 rounding. f64 forms are exact.
float cvtF32I32(int32_t value, Rounding round = Rounding::NearestEven);
float cvtF32U32(uint32_t value, Rounding round = Rounding::NearestEven);
/// v_cvt_f16_i16, v_cvt_f16_u16: MODE's f16 rounding and overflow.
uint16_t cvtF16I16(int16_t value, const FloatMode &f16Mode);
uint16_t cvtF16U16(uint16_t value, const FloatMode &f16Mode);
/// v_cvt_f32_ubyteN.
float cvtF32UByte(uint32_t value, unsigned byte);
/// v_cvt_off_f32_i4: a signed 4-bit integer over 16 (-0.5 .. 0.4375).
float cvtOffF32I4(uint32_t value);
/// v_cvt_pk_u8_f32: saturated byte (toward zero) put at byte `index` of `old`.
uint32_t cvtPkU8F32(float value, uint32_t index, uint32_t old);
/// One half of v_cvt_pknorm_{i16,u16}_{f32,f16}: round(clamp(x) * 32767 or
/// 65535) to nearest even; NaN gives 0.
int16_t cvtPkNormI16(float value);
uint16_t cvtPkNormU16(float value);
/// One half of v_cvt_pk_{i16_i32,u16_u32}: saturating.
int16_t cvtPkI16I32(int32_t value);
uint16_t cvtPkU16U32(uint32_t value);

//===----------------------------------------------------------------------===//
// fp8, bf8
//===----------------------------------------------------------------------===//

/// The format "fp8" (E4M3) or "bf8" (E5M2) names on a chip.
FloatFormat getFP8Format(bool isBF8, bool isOCP);

/// One element of v_cvt_pk_{fp8,bf8}_f32: nearest even; MODE.FP16_OVFL
/// saturates, otherwise overflow gives infinity (bf8 OCP) or NaN.
uint8_t cvtFP8F32(FloatFormat format, float value, bool saturate);
/// v_cvt_sr_{fp8,bf8}_f32.
uint8_t cvtSrFP8F32(FloatFormat format, float value, uint32_t seed,
                    bool saturate);

//===----------------------------------------------------------------------===//
// gfx950's scaled conversions (v_cvt_scalef32_*)
//===----------------------------------------------------------------------===//

/// The exponent of a v_cvt_scalef32_* scale operand: only bits [30:23] of the
/// f32 count (an E8M0 number), so sign and mantissa are ignored. 0xff is NaN.
struct ScaleF32 {
  int exponent = 0;
  bool isNaN = false;
};
ScaleF32 getScaleF32(uint32_t scaleBits);
/// An E8M0 byte, the scale of the v_mfma_scale_* instructions.
ScaleF32 getScaleE8M0(uint8_t code);

/// From a small format up: value * 2^scale, rounded to `dst` (F32, F16 or BF16)
/// to nearest even.
uint32_t cvtScaledUp(FloatFormat dst, FloatFormat src, uint32_t code,
                     ScaleF32 scale);
/// From F32, F16 or BF16 down: value * 2^-scale, rounded once to nearest even,
/// saturating.
uint32_t cvtScaledDown(FloatFormat dst, double value, ScaleF32 scale);
/// The same with stochastic rounding.
uint32_t cvtScaledDownStochastic(FloatFormat dst, float value, ScaleF32 scale,
                                 uint32_t seed);

/// Element `index` of a dense little-endian array of `bits`-wide codes.
uint32_t extractCode(const uint32_t *words, unsigned index, unsigned bits);
/// Puts it back; the word array must be zero there.
void insertCode(uint32_t *words, unsigned index, unsigned bits, uint32_t code);

} // namespace attn::emu

#endif // ATTN_EMULATOR_NUMERICS_CONVERT_H
