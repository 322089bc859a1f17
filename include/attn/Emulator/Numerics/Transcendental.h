//===- Transcendental.h - Models of the special-function unit ---*- C++ -*-===//
//
// The ISA guides give accuracy bounds, not bits, for these instructions. The
// model here: the f64 value rounded once to the result type, so within 1/2 ulp
// (bounds: 1 ulp for f32, 0.51 ulp for f16). f64 rcp, rsq and sqrt are cut to
// 24 significant bits, because the guide promises only 2^29 ulp and code must
// not rely on more. A Perturb moves every inexact result by at most one last
// place (of the promised precision; f32 ones to the other neighbour of the
// exact value, within the bound), so that tests can show that they do not
// depend on the choice.
//
// f32 exp, log, rcp, rsq, sqrt, sin, cos flush denormal inputs and results to
// signed zero whatever MODE says (the guides: "denormals are flushed").
// f16 and f64 forms obey MODE. A NaN that an operation makes is the negative
// quiet NaN (0xffc00000), as in the guides' functional examples.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_NUMERICS_TRANSCENDENTAL_H
#define ATTN_EMULATOR_NUMERICS_TRANSCENDENTAL_H

#include "attn/Emulator/Numerics/Formats.h"

namespace attn::emu {

/// Deterministic disturbance of results the ISA leaves free.
struct Perturb {
  bool enabled = false;
  uint64_t seed = 0;
};

enum class TransOp : uint8_t { Exp, Log, Rcp, Rsq, Sqrt, Sin, Cos };

/// v_exp_f32 (2^x), v_log_f32 (log2), v_rcp_f32 (and _iflag), v_rsq_f32,
/// v_sqrt_f32, v_sin_f32 and v_cos_f32 (argument in turns; |x| > 256 gives 0
/// and 1).
float transF32(TransOp op, float value, const Perturb &perturb = {});
/// One wave: result[i] = transF32(op, source[i]) for the 64 lanes, vectorised.
void transF32Wave(TransOp op, const uint32_t *source, uint32_t *result,
                  const Perturb &perturb = {});
/// The f16 forms.
uint16_t transF16(TransOp op, uint16_t value, const FloatMode &f16Mode,
                  const Perturb &perturb = {});
/// v_rcp_f64, v_rsq_f64, v_sqrt_f64.
double transF64(TransOp op, double value, const FloatMode &f64Mode,
                const Perturb &perturb = {});

/// v_ldexp_f32/f16/f64: value * 2^exponent, rounded once.
float ldexpF32(float value, int32_t exponent, const FloatMode &mode);
uint16_t ldexpF16(uint16_t value, int16_t exponent, const FloatMode &mode);
double ldexpF64(double value, int32_t exponent, const FloatMode &mode);

/// v_frexp_exp_*: e with |x| = m * 2^e, 1/2 <= m < 1; 0 for 0, infinity, NaN.
int32_t frexpExpF32(float value, const FloatMode &mode);
int16_t frexpExpF16(uint16_t value, const FloatMode &mode);
int32_t frexpExpF64(double value, const FloatMode &mode);
/// v_frexp_mant_*: m with x's sign; infinity and NaN are returned (NaN quiet).
float frexpMantF32(float value, const FloatMode &mode);
uint16_t frexpMantF16(uint16_t value, const FloatMode &mode);
double frexpMantF64(double value, const FloatMode &mode);

/// v_fract_*: x - floor(x), at most the largest value below 1; infinity gives
/// NaN.
float fractF32(float value, const FloatMode &mode);
uint16_t fractF16(uint16_t value, const FloatMode &mode);
double fractF64(double value, const FloatMode &mode);

/// v_trig_preop_f64: segment `segment` (53 bits) of 2/pi, scaled for `value`.
double trigPreopF64(double value, uint32_t segment);

/// v_div_scale_*: `value` is S0, denominator S1, numerator S2. `vcc` receives
/// the lane's bit.
float divScaleF32(float value, float denominator, float numerator, bool &vcc);
double divScaleF64(double value, double denominator, double numerator,
                   bool &vcc);
/// v_div_fmas_*: fma(a, b, c), times 2^32 (f32) or 2^64 (f64) when `vcc`.
float divFmasF32(float a, float b, float c, bool vcc, const FloatMode &mode);
double divFmasF64(double a, double b, double c, bool vcc,
                  const FloatMode &mode);
/// v_div_fixup_*: `quotient` S0, denominator S1, numerator S2.
float divFixupF32(float quotient, float denominator, float numerator,
                  const FloatMode &mode);
uint16_t divFixupF16(uint16_t quotient, uint16_t denominator,
                     uint16_t numerator, const FloatMode &mode);
double divFixupF64(double quotient, double denominator, double numerator,
                   const FloatMode &mode);

/// fma rounded by `round` (one rounding), denormals kept.
float fmaF32(float a, float b, float c, Rounding round);
double fmaF64(double a, double b, double c, Rounding round);
/// a + b and a * b in f64 and f32 under a rounding mode, denormals kept.
float addF32(float a, float b, Rounding round);
float mulF32(float a, float b, Rounding round);
double addF64(double a, double b, Rounding round);
double mulF64(double a, double b, Rounding round);
/// fma in f16 (one rounding); v_fma_f16, v_pk_fma_f16; add = fma(a, 1, b),
/// mul = fma(a, b, -0) with the sign rules of the operation.
uint16_t fmaF16(uint16_t a, uint16_t b, uint16_t c, const FloatMode &mode);
uint16_t addF16(uint16_t a, uint16_t b, const FloatMode &mode);
uint16_t mulF16(uint16_t a, uint16_t b, const FloatMode &mode);

/// v_cubeid/sc/tc/ma_f32.
float cubeIdF32(float x, float y, float z);
float cubeScF32(float x, float y, float z);
float cubeTcF32(float x, float y, float z);
float cubeMaF32(float x, float y, float z);

} // namespace attn::emu

#endif // ATTN_EMULATOR_NUMERICS_TRANSCENDENTAL_H
