//===- VectorFloatTest.cpp - Floating-point VALU instructions -------------===//

#include "../Corpus/Random.h"
#include "Harness.h"

#include <algorithm>

using namespace attn::emu;

namespace {

/// One result from an expression over in[0], in[1], in[2].
#define ONE(expression)                                                        \
  [](const uint32_t *in, uint32_t *out) { out[0] = (expression); }

constexpr uint32_t qNaN = 0x7fc00000;

bool isNaN(uint32_t bits) { return std::isnan(F(bits)); }

/// The guide's V_MIN_F32 with IEEE mode off: a NaN loses, -0 is below +0.
uint32_t minF32(uint32_t a, uint32_t b) {
  if (isNaN(a))
    return b;
  if (isNaN(b))
    return a;
  if (F(a) == 0 && F(b) == 0)
    return a >> 31 ? a : b;
  return F(a) < F(b) ? a : b;
}
uint32_t maxF32(uint32_t a, uint32_t b) {
  if (isNaN(a))
    return b;
  if (isNaN(b))
    return a;
  if (F(a) == 0 && F(b) == 0)
    return a >> 31 ? b : a;
  return F(a) > F(b) ? a : b;
}
/// V_MED3_F32: with a NaN among them the minimum, else the middle one.
uint32_t med3F32(uint32_t a, uint32_t b, uint32_t c) {
  if (isNaN(a) || isNaN(b) || isNaN(c))
    return minF32(minF32(a, b), c);
  uint32_t largest = maxF32(maxF32(a, b), c);
  if (F(largest) == F(a))
    return maxF32(b, c);
  if (F(largest) == F(b))
    return maxF32(a, c);
  return maxF32(a, b);
}
/// Result modifiers with DX10_CLAMP: NaN becomes 0, and so does -0.
uint32_t clampF32(float value) {
  return value > 0 ? U(std::min(value, 1.0f)) : 0;
}
/// Flushes denormals to a zero of the same sign.
uint32_t flush(uint32_t bits) {
  return bits & 0x7f800000 ? bits : bits & 0x80000000;
}
uint32_t flush(float value) { return flush(U(value)); }

/// V_CMP_CLASS_F32's bits: sNaN, qNaN, -inf, -normal, -denormal, -0, +0,
/// +denormal, +normal, +inf.
uint32_t classF32(uint32_t bits) {
  uint32_t magnitude = bits & 0x7fffffff;
  bool negative = bits >> 31;
  if (magnitude > 0x7f800000)
    return magnitude & 0x00400000 ? 1 << 1 : 1 << 0;
  if (magnitude == 0x7f800000)
    return negative ? 1 << 2 : 1 << 9;
  if (magnitude >= 0x00800000)
    return negative ? 1 << 3 : 1 << 8;
  if (magnitude != 0)
    return negative ? 1 << 4 : 1 << 7;
  return negative ? 1 << 5 : 1 << 6;
}

int32_t toI32(double value) {
  if (std::isnan(value))
    return 0;
  return int32_t(std::clamp(std::trunc(value), -2147483648.0, 2147483647.0));
}
uint32_t toU32(double value) {
  if (std::isnan(value))
    return 0;
  return uint32_t(std::clamp(std::trunc(value), 0.0, 4294967295.0));
}

float roundEven(float value) { return std::nearbyint(value); }

TEST(VectorFloat, F32Arithmetic) {
  runCases({
      {"v_add_f32", "ff", "f", "v_add_f32 v20, v2, v3",
       ONE(U(F(in[0]) + F(in[1])))},
      {"v_sub_f32", "ff", "f", "v_sub_f32 v20, v2, v3",
       ONE(U(F(in[0]) - F(in[1])))},
      {"v_subrev_f32", "ff", "f", "v_subrev_f32 v20, v2, v3",
       ONE(U(F(in[1]) - F(in[0])))},
      {"v_mul_f32", "ff", "f", "v_mul_f32 v20, v2, v3",
       ONE(U(F(in[0]) * F(in[1])))},
      {"v_mul_legacy_f32", "ff", "f", "v_mul_legacy_f32 v20, v2, v3",
       ONE(F(in[0]) == 0 || F(in[1]) == 0 ? 0 : U(F(in[0]) * F(in[1])))},
      {"v_fma_f32", "fff", "f", "v_fma_f32 v20, v2, v3, v4",
       ONE(U(std::fma(F(in[0]), F(in[1]), F(in[2]))))},
      {"v_fmac_f32", "fff", "f", "v_mov_b32 v20, v4\nv_fmac_f32 v20, v2, v3",
       ONE(U(std::fma(F(in[0]), F(in[1]), F(in[2]))))},
      {"v_fmamk_f32", "ff", "f", "v_fmamk_f32 v20, v2, 0x40490fdb, v3",
       ONE(U(std::fma(F(in[0]), F(0x40490fdb), F(in[1]))))},
      {"v_fmaak_f32", "ff", "f", "v_fmaak_f32 v20, v2, v3, 0x40490fdb",
       ONE(U(std::fma(F(in[0]), F(in[1]), F(0x40490fdb))))},
      {"v_min_f32", "ff", "f", "v_min_f32 v20, v2, v3",
       ONE(minF32(in[0], in[1]))},
      {"v_max_f32", "ff", "f", "v_max_f32 v20, v2, v3",
       ONE(maxF32(in[0], in[1]))},
      {"v_min3_f32", "fff", "f", "v_min3_f32 v20, v2, v3, v4",
       ONE(minF32(minF32(in[0], in[1]), in[2]))},
      {"v_max3_f32", "fff", "f", "v_max3_f32 v20, v2, v3, v4",
       ONE(maxF32(maxF32(in[0], in[1]), in[2]))},
      {"v_med3_f32", "fff", "f", "v_med3_f32 v20, v2, v3, v4",
       ONE(med3F32(in[0], in[1], in[2]))},
      {"neg and abs", "fff", "f", "v_fma_f32 v20, -v2, |v3|, -|v4|",
       ONE(U(std::fma(-F(in[0]), std::fabs(F(in[1])), -std::fabs(F(in[2])))))},
      {"literal", "f", "f", "v_add_f32 v20, 0x3dcccccd, v2",
       ONE(U(F(0x3dcccccd) + F(in[0])))},
      {"inline constants", "f", "fff",
       "v_add_f32 v20, -4.0, v2\nv_mul_f32 v21, 0.15915494, v2\n"
       "v_add_f32 v22, 3, v2",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = U(-4.0f + F(in[0]));
         out[1] = U(F(0x3e22f983) * F(in[0]));
         out[2] = U(F(3) + F(in[0])); // the integer's bits
       }},
      {"clamp", "ff", "f", "v_add_f32 v20, v2, v3 clamp",
       ONE(clampF32(F(in[0]) + F(in[1])))},
      {"clamp fma", "fff", "f", "v_fma_f32 v20, v2, v3, v4 clamp",
       ONE(clampF32(std::fma(F(in[0]), F(in[1]), F(in[2]))))},
  });
}

TEST(VectorFloat, FlushedDenormals) {
  // MODE.FP_DENORM of f32 is bits [5:4].
#define FLUSH_F32 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\ns_nop 1\n"
  runCases({
      {"no omod with denormals", "ff", "f", "v_add_f32 v20, v2, v3 mul:2",
       ONE(U(F(in[0]) + F(in[1])))},
      {"v_add_f32", "ff", "f", FLUSH_F32 "v_add_f32 v20, v2, v3",
       ONE(flush(F(flush(in[0])) + F(flush(in[1]))))},
      {"v_mul_f32", "ff", "f", FLUSH_F32 "v_mul_f32 v20, v2, v3",
       ONE(flush(F(flush(in[0])) * F(flush(in[1]))))},
      {"v_fma_f32", "fff", "f", FLUSH_F32 "v_fma_f32 v20, v2, v3, v4",
       ONE(flush(std::fma(F(flush(in[0])), F(flush(in[1])), F(flush(in[2])))))},
      // Output modifiers work when denormals are off.
      {"omod mul:2", "ff", "f", FLUSH_F32 "v_add_f32 v20, v2, v3 mul:2",
       ONE(flush(F(flush(F(flush(in[0])) + F(flush(in[1])))) * 2))},
      {"omod mul:4", "ff", "f", FLUSH_F32 "v_mul_f32 v20, v2, v3 mul:4",
       ONE(flush(F(flush(F(flush(in[0])) * F(flush(in[1])))) * 4))},
      {"omod div:2", "ff", "f", FLUSH_F32 "v_add_f32 v20, v2, v3 div:2",
       ONE(flush(F(flush(F(flush(in[0])) + F(flush(in[1])))) / 2))},
      {"v_cvt_f16_f32 input", "f", "u",
       FLUSH_F32 "v_cvt_f16_f32 v20, v2\nv_and_b32 v20, 0x7fff, v20",
       ONE(isNaN(in[0]) ? toH(F(in[0])) & 0x7fffu : toH(std::fabs(F(in[0]))))},
  });
}

TEST(VectorFloat, RoundingModes) {
  // FP_ROUND of f32 is bits [1:0]: 1 is up, 2 down, 3 toward zero.
#define ROUND(mode)                                                            \
  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), " #mode "\ns_nop 1\n"
  auto rounded = [](int op, llvm::RoundingMode mode) {
    return [=](const uint32_t *in, uint32_t *out) {
      llvm::APFloat a(F(in[0])), b(F(in[1]));
      if (op == 0)
        a.add(b, mode);
      else if (op == 1)
        a.multiply(b, mode);
      else
        a.fusedMultiplyAdd(b, llvm::APFloat(F(in[2])), mode);
      out[0] = a.isNaN() ? qNaN : uint32_t(a.bitcastToAPInt().getZExtValue());
    };
  };
  runCases({
      {"add up", "ff", "f", ROUND(1) "v_add_f32 v20, v2, v3",
       rounded(0, llvm::RoundingMode::TowardPositive)},
      {"add down", "ff", "f", ROUND(2) "v_add_f32 v20, v2, v3",
       rounded(0, llvm::RoundingMode::TowardNegative)},
      {"mul to zero", "ff", "f", ROUND(3) "v_mul_f32 v20, v2, v3",
       rounded(1, llvm::RoundingMode::TowardZero)},
      {"fma up", "fff", "f", ROUND(1) "v_fma_f32 v20, v2, v3, v4",
       rounded(2, llvm::RoundingMode::TowardPositive)},
      {"fma to zero", "fff", "f", ROUND(3) "v_fma_f32 v20, v2, v3, v4",
       rounded(2, llvm::RoundingMode::TowardZero)},
      // The f32 field does not touch f16.
      {"f16 keeps its own", "hh", "h", ROUND(1) "v_add_f16 v20, v2, v3",
       ONE(toH(H(in[0]) + H(in[1])))},
  });
}

TEST(VectorFloat, F32Unary) {
  runCases({
      {"v_floor_f32", "f", "f", "v_floor_f32 v20, v2",
       ONE(U(std::floor(F(in[0]))))},
      {"v_ceil_f32", "f", "f", "v_ceil_f32 v20, v2",
       ONE(U(std::ceil(F(in[0]))))},
      {"v_trunc_f32", "f", "f", "v_trunc_f32 v20, v2",
       ONE(U(std::trunc(F(in[0]))))},
      {"v_rndne_f32", "f", "f", "v_rndne_f32 v20, v2",
       ONE(U(roundEven(F(in[0]))))},
      {"v_fract_f32", "f", "f", "v_fract_f32 v20, v2",
       ONE(std::isinf(F(in[0]))
               ? qNaN
               : U(std::fmin(
                       float(double(F(in[0])) - std::floor(double(F(in[0])))),
                       0x1.fffffep-1f) +
                   (isNaN(in[0]) ? F(in[0]) : 0.0f)))},
      {"v_frexp_exp_i32_f32", "f", "u", "v_frexp_exp_i32_f32 v20, v2",
       [](const uint32_t *in, uint32_t *out) {
         int exponent = 0;
         if (std::isfinite(F(in[0])))
           std::frexp(F(in[0]), &exponent);
         out[0] = exponent;
       }},
      {"v_frexp_mant_f32", "f", "f", "v_frexp_mant_f32 v20, v2",
       [](const uint32_t *in, uint32_t *out) {
         int exponent;
         out[0] = std::isfinite(F(in[0])) ? U(std::frexp(F(in[0]), &exponent))
                                          : in[0];
       }},
      {"v_ldexp_f32", "fs", "f",
       "v_subrev_u32 v3, 35, v3\nv_ldexp_f32 v20, v2, v3",
       ONE(U(std::ldexp(F(in[0]), int(in[1]) - 35)))},
      {"v_cvt_i32_f32", "f", "u", "v_cvt_i32_f32 v20, v2",
       ONE(uint32_t(toI32(F(in[0]))))},
      {"v_cvt_u32_f32", "f", "u", "v_cvt_u32_f32 v20, v2",
       ONE(toU32(F(in[0])))},
      {"v_cvt_flr_i32_f32", "f", "u", "v_cvt_flr_i32_f32 v20, v2",
       ONE(uint32_t(toI32(std::floor(double(F(in[0]))))))},
      {"v_cvt_rpi_i32_f32", "f", "u", "v_cvt_rpi_i32_f32 v20, v2",
       ONE(uint32_t(toI32(std::floor(double(F(in[0])) + 0.5))))},
      {"v_cvt_f32_i32", "i", "f", "v_cvt_f32_i32 v20, v2",
       ONE(U(float(int32_t(in[0]))))},
      {"v_cvt_f32_u32", "i", "f", "v_cvt_f32_u32 v20, v2",
       ONE(U(float(in[0])))},
      {"v_cvt_f32_ubyte", "i", "ffff",
       "v_cvt_f32_ubyte0 v20, v2\nv_cvt_f32_ubyte1 v21, v2\n"
       "v_cvt_f32_ubyte2 v22, v2\nv_cvt_f32_ubyte3 v23, v2",
       [](const uint32_t *in, uint32_t *out) {
         for (int i = 0; i != 4; ++i)
           out[i] = U(float(in[0] >> (8 * i) & 0xff));
       }},
      {"v_cvt_off_f32_i4", "i", "f", "v_cvt_off_f32_i4 v20, v2",
       ONE(U(float(int32_t(in[0] << 28) >> 28) / 16))},
      {"v_cvt_pk_u8_f32", "fsi", "u", "v_cvt_pk_u8_f32 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         unsigned shift = 8 * (in[1] & 3);
         uint32_t byte = std::min(toU32(F(in[0])), 255u);
         out[0] = (in[2] & ~(255u << shift)) | byte << shift;
       }},
  });
}

TEST(VectorFloat, Conversions) {
  runCases({
      {"v_cvt_f16_f32", "f", "h", "v_cvt_f16_f32 v20, v2", ONE(toH(F(in[0])))},
      {"v_cvt_f32_f16", "h", "f", "v_cvt_f32_f16 v20, v2",
       ONE(U(float(H(in[0]))))},
      {"v_cvt_pkrtz_f16_f32", "ff", "p", "v_cvt_pkrtz_f16_f32 v20, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = 0;
         for (int i = 0; i != 2; ++i) {
           llvm::APFloat value(F(in[i]));
           bool loses;
           value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmTowardZero,
                         &loses);
           out[0] |= uint32_t(value.bitcastToAPInt().getZExtValue()) << 16 * i;
         }
       }},
      {"v_cvt_f32_f64", "d", "f", "v_cvt_f32_f64 v20, v[2:3]",
       ONE(U(float(D(in))))},
      {"v_cvt_f64_f32", "f", "d", "v_cvt_f64_f32 v[20:21], v2",
       [](const uint32_t *in, uint32_t *out) { setD(out, double(F(in[0]))); }},
      {"v_cvt_i32_f64", "d", "u", "v_cvt_i32_f64 v20, v[2:3]",
       ONE(uint32_t(toI32(D(in))))},
      {"v_cvt_u32_f64", "d", "u", "v_cvt_u32_f64 v20, v[2:3]",
       ONE(toU32(D(in)))},
      {"v_cvt_f64_i32", "i", "d", "v_cvt_f64_i32 v[20:21], v2",
       [](const uint32_t *in, uint32_t *out) { setD(out, int32_t(in[0])); }},
      {"v_cvt_f64_u32", "i", "d", "v_cvt_f64_u32 v[20:21], v2",
       [](const uint32_t *in, uint32_t *out) { setD(out, in[0]); }},
      {"v_cvt_f16_i16", "i", "h", "v_cvt_f16_i16 v20, v2",
       ONE(toH(int16_t(in[0])))},
      {"v_cvt_f16_u16", "i", "h", "v_cvt_f16_u16 v20, v2",
       ONE(toH(uint16_t(in[0])))},
      {"v_cvt_i16_f16", "h", "u", "v_cvt_i16_f16 v20, v2",
       ONE(uint16_t(std::clamp(toI32(H(in[0])), -32768, 32767)))},
      {"v_cvt_u16_f16", "h", "u", "v_cvt_u16_f16 v20, v2",
       ONE(std::min(toU32(H(in[0])), 65535u))},
      {"v_cvt_pk_i16_i32", "ii", "u", "v_cvt_pk_i16_i32 v20, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         auto clamp = [](uint32_t value) {
           return uint16_t(std::clamp(int32_t(value), -32768, 32767));
         };
         out[0] = clamp(in[0]) | clamp(in[1]) << 16;
       }},
      {"v_cvt_pk_u16_u32", "ii", "u", "v_cvt_pk_u16_u32 v20, v2, v3",
       ONE(std::min(in[0], 65535u) | std::min(in[1], 65535u) << 16)},
      {"v_cvt_pk_bf16_f32", "ff", "u",
       "v_cvt_pk_bf16_f32 v20, v2, v3\n"
       // NaN payloads are compared by class only: keep ordinary numbers.
       "v_cmp_u_f32 vcc, v2, v3\ns_nop 1\nv_cndmask_b32 v20, v20, 0, vcc",
       ONE(isNaN(in[0]) || isNaN(in[1])
               ? 0
               : toBFloat(F(in[0])) | toBFloat(F(in[1])) << 16),
       false, 2},
  });
}

TEST(VectorFloat, FP8) {
  runCases({
      {"v_cvt_pk_fp8_f32 fnuz", "ff", "u", "v_cvt_pk_fp8_f32 v20, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = 0xdead0000;
         for (int i = 0; i != 2; ++i) {
           llvm::APFloat converted(F(in[i]));
           bool loses;
           converted.convert(llvm::APFloat::Float8E4M3FNUZ(),
                             llvm::APFloat::rmNearestTiesToEven, &loses);
           out[0] |= uint32_t(converted.bitcastToAPInt().getZExtValue())
                     << (8 * i);
         }
       },
       false, 1},
      {"v_cvt_pk_fp8_f32 OCP", "ff", "u",
       "v_cvt_pk_fp8_f32 v20, v2, v3\nv_and_b32 v20, 0xffff7f7f, v20",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = 0xdead0000;
         for (int i = 0; i != 2; ++i) {
           llvm::APFloat converted(F(in[i]));
           bool loses;
           converted.convert(llvm::APFloat::Float8E4M3FN(),
                             llvm::APFloat::rmNearestTiesToEven, &loses);
           uint32_t code =
               converted.isNaN()
                   ? 0x7f
                   : uint32_t(converted.bitcastToAPInt().getZExtValue());
           out[0] |= (code & 0x7f) << (8 * i);
         }
       },
       false, 2},
      {"v_cvt_pk_fp8_f32 op_sel", "ff", "u",
       "v_mov_b32 v2, 1.0\nv_mov_b32 v3, 2.0\n"
       "v_cvt_pk_fp8_f32 v20, v2, v3 op_sel:[0,0,1]",
       [](const uint32_t *, uint32_t *out) { out[0] = 0x4840beef; }, false, 1},
      {"v_cvt_f32_fp8 bytes", "i", "ffff",
       "v_cvt_f32_fp8 v20, v2\nv_cvt_f32_fp8_sdwa v21, v2 src0_sel:BYTE_1\n"
       "v_cvt_f32_bf8_sdwa v22, v2 src0_sel:BYTE_2\n"
       "v_cvt_f32_bf8_sdwa v23, v2 src0_sel:BYTE_3",
       [](const uint32_t *in, uint32_t *out) {
         for (int i = 0; i != 4; ++i)
           out[i] = U(float(fromBits(in[0] >> (8 * i) & 0xff,
                                     i < 2 ? llvm::APFloat::Float8E4M3FNUZ()
                                           : llvm::APFloat::Float8E5M2FNUZ())));
       },
       false, 1},
      {"v_cvt_f32_fp8 bytes OCP", "i", "ffff",
       "v_cvt_f32_fp8 v20, v2\nv_cvt_f32_fp8_sdwa v21, v2 src0_sel:BYTE_1\n"
       "v_cvt_f32_bf8_sdwa v22, v2 src0_sel:BYTE_2\n"
       "v_cvt_f32_bf8_sdwa v23, v2 src0_sel:BYTE_3",
       [](const uint32_t *in, uint32_t *out) {
         for (int i = 0; i != 4; ++i)
           out[i] = U(float(fromBits(in[0] >> (8 * i) & 0xff,
                                     i < 2 ? llvm::APFloat::Float8E4M3FN()
                                           : llvm::APFloat::Float8E5M2())));
       },
       false, 2},
      {"v_cvt_pk_f32_fp8", "i", "ff", "v_cvt_pk_f32_fp8 v[20:21], v2",
       [](const uint32_t *in, uint32_t *out) {
         for (int i = 0; i != 2; ++i)
           out[i] = U(float(fromBits(in[0] >> (8 * i) & 0xff,
                                     llvm::APFloat::Float8E4M3FNUZ())));
       },
       false, 1},
      {"v_cvt_pk_f32_bf8 high", "i", "ff",
       "v_cvt_pk_f32_bf8_sdwa v[20:21], v2 src0_sel:WORD_1",
       [](const uint32_t *in, uint32_t *out) {
         for (int i = 0; i != 2; ++i)
           out[i] = U(float(fromBits(in[0] >> (16 + 8 * i) & 0xff,
                                     llvm::APFloat::Float8E5M2())));
       },
       false, 2},
  });
}

TEST(VectorFloat, Compare) {
  runCases({
      {"v_cmp_*_f32", "ff", "u",
       "v_mov_b32 v20, 0\n"
#define COMPARE(name, bit)                                                     \
  "v_cmp_" name "_f32 vcc, v2, v3\ns_nop 1\n"                                  \
  "v_cndmask_b32 v40, 0, 1, vcc\nv_lshl_or_b32 v20, v40, " #bit ", v20\n"
       COMPARE("f", 0) COMPARE("lt", 1) COMPARE("eq", 2) COMPARE("le", 3)
           COMPARE("gt", 4) COMPARE("lg", 5) COMPARE("ge", 6) COMPARE("o", 7)
               COMPARE("u", 8) COMPARE("nge", 9) COMPARE("nlg", 10)
                   COMPARE("ngt", 11) COMPARE("nle", 12) COMPARE("neq", 13)
                       COMPARE("nlt", 14) COMPARE("tru", 15),
       [](const uint32_t *in, uint32_t *out) {
         float a = F(in[0]), b = F(in[1]);
         bool u = std::isnan(a) || std::isnan(b);
         bool results[16] = {false,
                             a<b, a == b, a <= b, a>
                                 b,
                             a < b || a > b,
                             a >= b,
                             !u,
                             u,
                             !(a >= b),
                             !(a < b || a > b),
                             !(a > b),
                             !(a <= b),
                             a != b,
                             !(a < b),
                             true};
         out[0] = 0;
         for (int i = 0; i != 16; ++i)
           out[0] |= uint32_t(results[i]) << i;
       }},
      {"v_cmp_class_f32", "f", "u",
       "v_mov_b32 v20, 0\n"
#define CLASS(bit)                                                             \
  "v_mov_b32 v40, 1 << " #bit "\nv_cmp_class_f32 vcc, v2, v40\ns_nop 1\n"      \
  "v_cndmask_b32 v41, 0, 1, vcc\nv_lshl_or_b32 v20, v41, " #bit ", v20\n"
       CLASS(0) CLASS(1) CLASS(2) CLASS(3) CLASS(4) CLASS(5) CLASS(6) CLASS(7)
           CLASS(8) CLASS(9),
       ONE(classF32(in[0]))},
      {"v_cmpx_lt_f32", "ff", "u",
       "v_cmpx_lt_f32 vcc, v2, v3\nv_mov_b32 v20, 1",
       ONE(F(in[0]) < F(in[1]) ? 1 : untouched)},
      {"v_cmp_lt_f64", "dd", "u",
       "v_cmp_lt_f64 s[12:13], v[2:3], v[4:5]\ns_nop 1\n"
       "v_cndmask_b32 v20, 5, 7, s[12:13]",
       ONE(D(in) < D(in + 2) ? 7 : 5)},
      {"v_cmp_ngt_f16", "hh", "u",
       "v_cmp_ngt_f16 vcc, v2, v3\ns_nop 1\nv_cndmask_b32 v20, 5, 7, vcc",
       ONE(!(H(in[0]) > H(in[1])) ? 7 : 5)},
      {"v_cndmask_b32 with modifiers", "ff", "u",
       "v_cmp_gt_f32 s[12:13], 0, v2\ns_nop 1\n"
       "v_cndmask_b32 v20, -v2, |v3|, s[12:13]",
       ONE(F(in[0]) < 0 ? in[1] & 0x7fffffff : in[0] ^ 0x80000000)},
  });
}

TEST(VectorFloat, F64) {
  runCases({
      {"v_add_f64", "dd", "d", "v_add_f64 v[20:21], v[2:3], v[4:5]",
       [](const uint32_t *in, uint32_t *out) { setD(out, D(in) + D(in + 2)); }},
      {"v_mul_f64", "dd", "d", "v_mul_f64 v[20:21], v[2:3], v[4:5]",
       [](const uint32_t *in, uint32_t *out) { setD(out, D(in) * D(in + 2)); }},
      {"v_fma_f64", "ddd", "d", "v_fma_f64 v[20:21], v[2:3], v[4:5], -v[6:7]",
       [](const uint32_t *in, uint32_t *out) {
         setD(out, std::fma(D(in), D(in + 2), -D(in + 4)));
       }},
      {"v_fmac_f64", "ddd", "d",
       "v_mov_b32 v20, v6\nv_mov_b32 v21, v7\n"
       "v_fmac_f64 v[20:21], v[2:3], v[4:5]",
       [](const uint32_t *in, uint32_t *out) {
         setD(out, std::fma(D(in), D(in + 2), D(in + 4)));
       }},
      {"v_min_f64", "dd", "d", "v_min_f64 v[20:21], v[2:3], v[4:5]",
       [](const uint32_t *in, uint32_t *out) {
         double a = D(in), b = D(in + 2);
         setD(out, std::isnan(a)      ? b
                   : std::isnan(b)    ? a
                   : a == 0 && b == 0 ? (std::signbit(a) ? a : b)
                   : a < b            ? a
                                      : b);
       }},
      {"v_max_f64", "dd", "d", "v_max_f64 v[20:21], v[2:3], v[4:5]",
       [](const uint32_t *in, uint32_t *out) {
         double a = D(in), b = D(in + 2);
         setD(out, std::isnan(a)      ? b
                   : std::isnan(b)    ? a
                   : a == 0 && b == 0 ? (std::signbit(a) ? b : a)
                   : a > b            ? a
                                      : b);
       }},
      {"v_floor_f64", "d", "d", "v_floor_f64 v[20:21], v[2:3]",
       [](const uint32_t *in, uint32_t *out) { setD(out, std::floor(D(in))); }},
      {"v_ceil_f64", "d", "d", "v_ceil_f64 v[20:21], v[2:3]",
       [](const uint32_t *in, uint32_t *out) { setD(out, std::ceil(D(in))); }},
      {"v_trunc_f64", "d", "d", "v_trunc_f64 v[20:21], v[2:3]",
       [](const uint32_t *in, uint32_t *out) { setD(out, std::trunc(D(in))); }},
      {"v_rndne_f64", "d", "d", "v_rndne_f64 v[20:21], v[2:3]",
       [](const uint32_t *in, uint32_t *out) {
         setD(out, std::nearbyint(D(in)));
       }},
      {"v_ldexp_f64", "ds", "d", "v_ldexp_f64 v[20:21], v[2:3], v4",
       [](const uint32_t *in, uint32_t *out) {
         setD(out, std::ldexp(D(in), int(in[2])));
       }},
      {"v_frexp_exp_i32_f64", "d", "u", "v_frexp_exp_i32_f64 v20, v[2:3]",
       [](const uint32_t *in, uint32_t *out) {
         int exponent = 0;
         if (std::isfinite(D(in)))
           std::frexp(D(in), &exponent);
         out[0] = exponent;
       }},
      {"v_pk_mov_b32", "ll", "uu",
       "v_pk_mov_b32 v[20:21], v[2:3], v[4:5] op_sel:[1,0]",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[1];
         out[1] = in[2];
       }},
  });
}

TEST(VectorFloat, F16) {
  // Most f16 results clear the upper half; fused and mad forms keep it.
  runCases({
      {"v_add_f16", "hh", "h", "v_add_f16 v20, v2, v3",
       ONE(toH(H(in[0]) + H(in[1])))},
      {"v_sub_f16", "hh", "h", "v_sub_f16 v20, v2, v3",
       ONE(toH(H(in[0]) - H(in[1])))},
      {"v_mul_f16", "hh", "h", "v_mul_f16 v20, v2, v3",
       ONE(toH(H(in[0]) * H(in[1])))},
      {"v_floor_f16", "h", "h", "v_floor_f16 v20, v2",
       ONE(toH(std::floor(H(in[0]))))},
      {"v_rndne_f16", "h", "h", "v_rndne_f16 v20, v2",
       ONE(toH(std::nearbyint(H(in[0]))))},
      {"v_ldexp_f16", "hs", "h", "v_ldexp_f16 v20, v2, v3",
       ONE(toH(std::ldexp(H(in[0]), int(in[1]))))},
      {"v_fma_f16", "hhh", "h", "v_fma_f16 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         llvm::APFloat a(llvm::APFloat::IEEEhalf(),
                         llvm::APInt(16, in[0] & 0xffff)),
             b(llvm::APFloat::IEEEhalf(), llvm::APInt(16, in[1] & 0xffff)),
             c(llvm::APFloat::IEEEhalf(), llvm::APInt(16, in[2] & 0xffff));
         a.fusedMultiplyAdd(b, c, llvm::APFloat::rmNearestTiesToEven);
         out[0] = (untouched & 0xffff0000) |
                  uint32_t(a.bitcastToAPInt().getZExtValue());
       }},
      {"v_fma_f16 op_sel", "pp", "p",
       "v_fma_f16 v20, v2, 1.0, v3 op_sel:[1,0,0,1]",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = (untouched & 0xffff) |
                  uint32_t(toH(H(in[0] >> 16) + H(in[1]))) << 16;
       }},
      {"v_pk_add_f16", "pp", "p", "v_pk_add_f16 v20, v2, v3",
       ONE(toH(H(in[0]) + H(in[1])) |
           uint32_t(toH(H(in[0] >> 16) + H(in[1] >> 16))) << 16)},
      {"v_pk_mul_f16 swapped", "pp", "p",
       "v_pk_mul_f16 v20, v2, v3 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]",
       ONE(toH(H(in[0] >> 16) * -H(in[1])) |
           uint32_t(toH(H(in[0]) * H(in[1] >> 16))) << 16)},
      {"v_pk_fma_f16 neg_hi", "pp", "p",
       "v_pk_fma_f16 v20, v2, v3, 0 neg_hi:[1,0,0]",
       // A sum with +0: exact in f64 before the one rounding.
       ONE(toH(H(in[0]) * H(in[1]) + 0.0) |
           uint32_t(toH(-H(in[0] >> 16) * H(in[1] >> 16) + 0.0)) << 16)},
      {"v_pk_max_f16", "pp", "p", "v_pk_max_f16 v20, v2, v2", ONE(in[0])},
      {"v_fma_mix_f32", "pfp", "f",
       "v_fma_mix_f32 v20, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[1,0,1]",
       ONE(U(std::fma(float(H(in[0] >> 16)), F(in[1]), float(H(in[2])))))},
      {"v_fma_mixlo_f16", "fff", "h", "v_fma_mixlo_f16 v20, v2, v3, v4",
       ONE((untouched & 0xffff0000) |
           toH(std::fma(F(in[0]), F(in[1]), F(in[2]))))},
      {"v_fma_mixhi_f16", "fff", "p", "v_fma_mixhi_f16 v20, v2, v3, v4",
       ONE((untouched & 0xffff) |
           uint32_t(toH(std::fma(F(in[0]), F(in[1]), F(in[2])))) << 16)},
      {"v_dot2_f32_f16", "ppf", "f",
       "v_mov_b32 v2, 0x40003c00\nv_mov_b32 v3, 0x44004200\n"
       "v_mov_b32 v4, 0.5\nv_dot2_f32_f16 v20, v2, v3, v4",
       ONE(U(1 * 3 + 2 * 4 + 0.5f))},
      {"v_pack_b32_f16", "pp", "p", "v_pack_b32_f16 v20, v2, v3 op_sel:[1,0]",
       ONE((in[0] >> 16) | in[1] << 16)},
  });
}

TEST(VectorFloat, PackedF32) {
  runCases({
      {"v_pk_fma_f32", "ffff", "ff",
       "v_pk_fma_f32 v[20:21], v[2:3], v[4:5], v[2:3] "
       "op_sel_hi:[1,0,1] neg_lo:[1,0,0]",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = U(std::fma(-F(in[0]), F(in[2]), F(in[0])));
         out[1] = U(std::fma(F(in[1]), F(in[2]), F(in[1])));
       }},
      {"v_pk_mul_f32", "ffff", "ff",
       "v_pk_mul_f32 v[20:21], v[2:3], v[4:5] op_sel:[0,1] op_sel_hi:[1,0]",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = U(F(in[0]) * F(in[3]));
         out[1] = U(F(in[1]) * F(in[2]));
       }},
      {"v_pk_add_f32", "ffff", "ff",
       "v_pk_add_f32 v[20:21], v[2:3], v[4:5] neg_hi:[0,1]",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = U(F(in[0]) + F(in[2]));
         out[1] = U(F(in[1]) - F(in[3]));
       }},
      {"v_pk_mul_f32 by scalars", "ff", "ff",
       "s_mov_b32 s12, 2.0\ns_mov_b32 s13, -3.0\n"
       "v_pk_mul_f32 v[20:21], v[2:3], s[12:13]",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = U(F(in[0]) * 2.0f);
         out[1] = U(F(in[1]) * -3.0f);
       }},
  });
}

TEST(VectorFloat, Special) {
  auto special = [](double (*function)(double), bool flushInput = true) {
    return [=](const uint32_t *in, uint32_t *out) {
      double x = F(flushInput ? flush(in[0]) : in[0]);
      out[0] = flush(float(function(x)));
    };
  };
  // The edges are exact or correctly rounded by the host, and the model rounds
  // correctly.
  runCases({
      {"v_rcp_f32", "f", "f", "v_rcp_f32 v20, v2",
       special([](double x) { return 1 / x; })},
      {"v_sqrt_f32", "f", "f", "v_sqrt_f32 v20, v2",
       special([](double x) { return std::sqrt(x); })},
      {"v_rsq_f32", "f", "f", "v_rsq_f32 v20, v2",
       special([](double x) { return 1 / std::sqrt(x); })},
      {"v_exp_f32", "f", "f", "v_exp_f32 v20, v2",
       special([](double x) { return std::exp2(x); })},
      {"v_log_f32", "f", "f", "v_log_f32 v20, v2",
       special([](double x) { return std::log2(x); })},
      {"v_rcp_f16", "h", "h", "v_rcp_f16 v20, v2", ONE(toH(1 / H(in[0])))},
      {"v_sqrt_f16", "h", "h", "v_sqrt_f16 v20, v2",
       ONE(toH(std::sqrt(H(in[0]))))},
      {"v_exp_f16", "h", "h", "v_exp_f16 v20, v2",
       ONE(toH(std::exp2(H(in[0]))))},
      {"v_rcp_f32 with neg", "f", "f", "v_rcp_f32 v20, -|v2|",
       ONE(flush(float(-1 / std::fabs(double(F(flush(in[0])))))))},
      {"f32 division", "ff", "f",
       "v_div_scale_f32 v40, s[12:13], v3, v3, v2\n"
       "v_div_scale_f32 v41, vcc, v2, v3, v2\n"
       "v_rcp_f32 v42, v40\ns_nop 0\n"
       "v_fma_f32 v43, -v40, v42, 1.0\nv_fma_f32 v42, v43, v42, v42\n"
       "v_mul_f32 v43, v41, v42\nv_fma_f32 v44, -v40, v43, v41\n"
       "v_fma_f32 v43, v44, v42, v43\nv_fma_f32 v44, -v40, v43, v41\n"
       "v_div_fmas_f32 v44, v44, v42, v43\nv_div_fixup_f32 v20, v44, v3, v2",
       ONE(U(F(in[0]) / F(in[1])))},
      {"f64 division", "dd", "d",
       "v_div_scale_f64 v[40:41], s[12:13], v[4:5], v[4:5], v[2:3]\n"
       "v_rcp_f64 v[42:43], v[40:41]\ns_nop 0\n"
       "v_fma_f64 v[44:45], -v[40:41], v[42:43], 1.0\n"
       "v_fma_f64 v[42:43], v[42:43], v[44:45], v[42:43]\n"
       "v_fma_f64 v[44:45], -v[40:41], v[42:43], 1.0\n"
       "v_fma_f64 v[42:43], v[42:43], v[44:45], v[42:43]\n"
       "v_div_scale_f64 v[44:45], vcc, v[2:3], v[4:5], v[2:3]\n"
       "v_mul_f64 v[46:47], v[44:45], v[42:43]\n"
       "v_fma_f64 v[40:41], -v[40:41], v[46:47], v[44:45]\n"
       "s_nop 1\n"
       "v_div_fmas_f64 v[40:41], v[40:41], v[42:43], v[46:47]\n"
       "v_div_fixup_f64 v[20:21], v[40:41], v[4:5], v[2:3]",
       [](const uint32_t *in, uint32_t *out) { setD(out, D(in) / D(in + 2)); }},
  });
}

} // namespace
