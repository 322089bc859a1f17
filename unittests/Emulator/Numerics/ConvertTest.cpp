//===- ConvertTest.cpp - Formats and conversions against APFloat ----------===//

#include "attn/Emulator/Numerics/Convert.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace attn::emu;
using llvm::APFloat;
using llvm::APInt;
using llvm::fltSemantics;

namespace {

struct FormatCase {
  FloatFormat format;
  const fltSemantics &semantics;
  unsigned bits;
};

const FormatCase formatCases[] = {
    {FloatFormat::F32, APFloat::IEEEsingle(), 32},
    {FloatFormat::F16, APFloat::IEEEhalf(), 16},
    {FloatFormat::BF16, APFloat::BFloat(), 16},
    {FloatFormat::FP8E4M3FN, APFloat::Float8E4M3FN(), 8},
    {FloatFormat::FP8E5M2, APFloat::Float8E5M2(), 8},
    {FloatFormat::FP8E4M3FNUZ, APFloat::Float8E4M3FNUZ(), 8},
    {FloatFormat::FP8E5M2FNUZ, APFloat::Float8E5M2FNUZ(), 8},
    {FloatFormat::FP6E2M3, APFloat::Float6E2M3FN(), 6},
    {FloatFormat::FP6E3M2, APFloat::Float6E3M2FN(), 6},
    {FloatFormat::FP4E2M1, APFloat::Float4E2M1FN(), 4},
};

const std::pair<Rounding, llvm::RoundingMode> roundings[] = {
    {Rounding::NearestEven, llvm::RoundingMode::NearestTiesToEven},
    {Rounding::PlusInf, llvm::RoundingMode::TowardPositive},
    {Rounding::MinusInf, llvm::RoundingMode::TowardNegative},
    {Rounding::TowardZero, llvm::RoundingMode::TowardZero},
};

double toDouble(const APFloat &value) {
  APFloat wide = value;
  bool loses;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return wide.convertToDouble();
}

/// A fixed set of f32 bit patterns: specials and `count` random ones.
std::vector<uint32_t> makeF32Inputs(unsigned count) {
  std::vector<uint32_t> inputs = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
      0x3f800000, 0xbf800000, 0x3f800001, 0x477fe000, 0x477fefff, 0x477ff000,
      0x477fffff, 0x47800000, 0x33000000, 0x33000001, 0x33800000, 0x38800000,
      0x387fc000, 0x387fe000, 0x43e00000, 0x43e80000, 0x43e7ffff, 0x43f00000,
      0x7f7fffff, 0xff7fffff, 0x7f7f7fff, 0x7f7f8000, 0x7f000000, 0x47600000,
      0x47700000, 0x476fffff, 0x40f00000, 0x40e00000, 0x41e00000, 0x41f00000};
  std::mt19937 random(12345);
  for (unsigned i = 0; i != count; ++i)
    inputs.push_back(random());
  // Exponents near those of the small formats.
  for (unsigned i = 0; i != count; ++i)
    inputs.push_back((random() & 0x807fffff) | (100 + random() % 50) << 23);
  return inputs;
}

TEST(FormatsTest, EveryCodeDecodesAsInAPFloat) {
  for (const FormatCase &c : formatCases) {
    if (c.bits > 16)
      continue;
    for (uint32_t code = 0; code != 1u << c.bits; ++code) {
      APFloat expected(c.semantics, APInt(c.bits, code));
      double actual = decode(c.format, code);
      if (expected.isNaN())
        EXPECT_TRUE(std::isnan(actual)) << unsigned(c.format) << " " << code;
      else
        EXPECT_EQ(asBits(toDouble(expected)), asBits(actual))
            << unsigned(c.format) << " " << code;
    }
  }
}

TEST(FormatsTest, FastDecodersAgreeWithAPFloat) {
  for (uint32_t code = 0; code != 0x10000; ++code) {
    APFloat half(APFloat::IEEEhalf(), APInt(16, code));
    APFloat bfloat(APFloat::BFloat(), APInt(16, code));
    if (!half.isNaN())
      ASSERT_EQ(float(toDouble(half)), f16ToF32(code)) << code;
    else
      ASSERT_TRUE(std::isnan(f16ToF32(code)));
    if (!bfloat.isNaN()) {
      ASSERT_EQ(float(toDouble(bfloat)), bf16ToF32(code)) << code;
    }
  }
  // NaNs keep sign and payload and become quiet.
  EXPECT_EQ(asBits(f16ToF32(0xfc01)), 0xffc02000u);
  EXPECT_EQ(asBits(f16ToF32(0x7d55)), 0x7feaa000u);
}

TEST(FormatsTest, ModeRegisterFields) {
  // LLVM's default: f32 flushes, f16/f64 keep denormals.
  FloatMode f32 = getF32Mode(0xc0), f16 = getF16F64Mode(0xc0);
  EXPECT_FALSE(f32.denormIn || f32.denormOut);
  EXPECT_TRUE(f16.denormIn && f16.denormOut);
  EXPECT_EQ(getF32Mode(0x1).round, Rounding::PlusInf);
  EXPECT_EQ(getF16F64Mode(0xc).round, Rounding::TowardZero);
  EXPECT_EQ(getF16F64Mode(0x8).round, Rounding::MinusInf);
  // "1 = allow input denormals, flush output denormals".
  EXPECT_TRUE(getF32Mode(0x10).denormIn);
  EXPECT_FALSE(getF32Mode(0x10).denormOut);
  EXPECT_TRUE(getF32Mode(0x00800000).fp16Ovfl);
}

TEST(ConvertTest, EncodeRoundsAsAPFloat) {
  std::vector<uint32_t> inputs = makeF32Inputs(4000);
  for (const FormatCase &c : formatCases) {
    const FormatInfo &info = getFormatInfo(c.format);
    double largest = decode(c.format, info.maxCode);
    for (auto [mode, apMode] : roundings) {
      EncodeOptions options;
      options.round = mode;
      for (uint32_t bits : inputs) {
        float value = asFloat(bits);
        if (!std::isfinite(value))
          continue;
        // Formats that cannot overflow saturate here; see below.
        if (!info.hasNaN && std::fabs(value) > largest)
          continue;
        APFloat expected(value);
        bool loses;
        expected.convert(c.semantics, apMode, &loses);
        uint64_t code = encode(c.format, value, options);
        // FNUZ zeros have no sign; NaN overflow codes are compared below.
        if (expected.isNaN()) {
          EXPECT_TRUE(std::isnan(decode(c.format, code)))
              << std::hex << bits << " format " << unsigned(c.format);
          continue;
        }
        ASSERT_EQ(expected.bitcastToAPInt().getZExtValue(), code)
            << std::hex << bits << " format " << unsigned(c.format)
            << " rounding " << unsigned(mode);
      }
    }
  }
}

TEST(ConvertTest, EncodeFromF64RoundsOnce) {
  // 1 + 2^-11 + 2^-40 is above the f16 tie; rounding to f32 first would land
  // on it and then go to even.
  EXPECT_EQ(encode(FloatFormat::F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(encode(FloatFormat::F16, 1 + 0x1p-11), 0x3c00u);
  std::mt19937_64 random(7);
  for (int i = 0; i != 20000; ++i) {
    uint64_t bits = random();
    if (i & 1) // exponents around f32's denormals
      bits = (bits & 0x800fffffffffffff) | (860 + random() % 60) << 52;
    double value = asDouble(bits);
    if (!std::isfinite(value))
      continue;
    for (auto [mode, apMode] : roundings) {
      EncodeOptions options;
      options.round = mode;
      APFloat expected(value);
      bool loses;
      expected.convert(APFloat::IEEEsingle(), apMode, &loses);
      ASSERT_EQ(expected.bitcastToAPInt().getZExtValue(),
                encode(FloatFormat::F32, value, options));
    }
  }
}

TEST(ConvertTest, OverflowAndSpecials) {
  float inf = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  EncodeOptions saturate;
  saturate.saturate = true;
  struct Case {
    FloatFormat format;
    float value;
    uint64_t plain, saturated;
  } cases[] = {
      {FloatFormat::F16, 65520.0f, 0x7c00, 0x7bff},
      {FloatFormat::F16, -65520.0f, 0xfc00, 0xfbff},
      {FloatFormat::F16, inf, 0x7c00, 0x7c00},      // a true infinity stays
      {FloatFormat::FP8E4M3FN, 464.0f, 0x7e, 0x7e}, // ties to even: 448
      {FloatFormat::FP8E4M3FN, 465.0f, 0x7f, 0x7e},
      {FloatFormat::FP8E4M3FN, -465.0f, 0xff, 0xfe},
      {FloatFormat::FP8E4M3FN, inf, 0x7f, 0x7e},
      {FloatFormat::FP8E4M3FN, nan, 0x7f, 0x7f},
      {FloatFormat::FP8E5M2, 61440.0f, 0x7c, 0x7b},
      {FloatFormat::FP8E5M2, -inf, 0xfc, 0xfc},
      {FloatFormat::FP8E5M2, nan, 0x7e, 0x7e},
      {FloatFormat::FP8E4M3FNUZ, 240.0f, 0x7f, 0x7f},
      {FloatFormat::FP8E4M3FNUZ, 249.0f, 0x80, 0x7f},
      {FloatFormat::FP8E4M3FNUZ, -249.0f, 0x80, 0xff},
      {FloatFormat::FP8E4M3FNUZ, nan, 0x80, 0x80},
      {FloatFormat::FP8E4M3FNUZ, -0.0f, 0x00, 0x00},
      {FloatFormat::FP8E5M2FNUZ, 57344.0f, 0x7f, 0x7f},
      {FloatFormat::FP8E5M2FNUZ, 65000.0f, 0x80, 0x7f},
      // Finite-only formats saturate in any case.
      {FloatFormat::FP6E2M3, 100.0f, 0x1f, 0x1f},
      {FloatFormat::FP6E3M2, -100.0f, 0x3f, 0x3f},
      {FloatFormat::FP4E2M1, 5.0f, 0x6, 0x6}, // tie between 4 and 6
      {FloatFormat::FP4E2M1, 7.5f, 0x7, 0x7},
      {FloatFormat::FP4E2M1, -inf, 0xf, 0xf},
      {FloatFormat::FP4E2M1, nan, 0x7, 0x7},
  };
  for (const Case &c : cases) {
    EXPECT_EQ(encode(c.format, c.value), c.plain)
        << unsigned(c.format) << " " << c.value;
    EXPECT_EQ(encode(c.format, c.value, saturate), c.saturated)
        << unsigned(c.format) << " " << c.value;
  }
  // NaN payloads: the upper bits stay, the result is quiet.
  EXPECT_EQ(cvtBF16F32(asFloat(0x7f800001)), 0x7fc0u);
  EXPECT_EQ(cvtBF16F32(asFloat(0xffaa0000)), 0xffeau);
  EXPECT_EQ(cvtF16F32(asFloat(0x7fc02000), {}, {}), 0x7e01u);
  EXPECT_EQ(cvtF16F32(asFloat(0xff802000), {}, {}), 0xfe01u);
}

TEST(ConvertTest, F16AndBF16FromF32) {
  for (uint32_t bits : makeF32Inputs(20000)) {
    float value = asFloat(bits);
    if (std::isnan(value))
      continue;
    for (auto [mode, apMode] : roundings) {
      bool loses;
      APFloat bfloat(value), half(value);
      bfloat.convert(APFloat::BFloat(), apMode, &loses);
      half.convert(APFloat::IEEEhalf(), apMode, &loses);
      ASSERT_EQ(bfloat.bitcastToAPInt().getZExtValue(),
                cvtBF16F32(value, mode));
      FloatMode f16Mode;
      f16Mode.round = mode;
      ASSERT_EQ(half.bitcastToAPInt().getZExtValue(),
                cvtF16F32(value, {}, f16Mode));
      if (mode == Rounding::TowardZero) {
        ASSERT_EQ(half.bitcastToAPInt().getZExtValue(), cvtPkRtzF16F32(value));
      }
    }
  }
  // Ties of bf16 (case F6 d of the public bug list): to even.
  EXPECT_EQ(cvtBF16F32(asFloat(0x3f808000)), 0x3f80u);
  EXPECT_EQ(cvtBF16F32(asFloat(0x3f818000)), 0x3f82u);
}

TEST(ConvertTest, FP8FromF32) {
  for (const FormatCase &c : formatCases) {
    if (c.bits != 8)
      continue;
    for (uint32_t bits : makeF32Inputs(20000)) {
      float value = asFloat(bits);
      if (!std::isfinite(value))
        continue;
      APFloat expected(value);
      bool loses;
      expected.convert(c.semantics, APFloat::rmNearestTiesToEven, &loses);
      uint8_t code = cvtFP8F32(c.format, value, /*saturate=*/false);
      if (expected.isNaN())
        ASSERT_TRUE(std::isnan(decode(c.format, code))) << std::hex << bits;
      else
        ASSERT_EQ(expected.bitcastToAPInt().getZExtValue(), code)
            << std::hex << bits << " format " << unsigned(c.format);
    }
    // Every pair of neighbours: below, at and above the middle.
    for (unsigned code = 0; code + 1 < getFormatInfo(c.format).maxCode;
         ++code) {
      float low = float(decode(c.format, code));
      float high = float(decode(c.format, code + 1));
      float middle = (low + high) / 2;
      EXPECT_EQ(cvtFP8F32(c.format, middle, true), code + (code & 1));
      EXPECT_EQ(cvtFP8F32(c.format, std::nextafter(middle, 0.0f), true), code);
      EXPECT_EQ(cvtFP8F32(c.format, std::nextafter(middle, 1e9f), true),
                code + 1);
    }
  }
}

TEST(ConvertTest, DenormalModes) {
  FloatMode keep, flush;
  flush.denormIn = flush.denormOut = false;
  // 2^-24 is f16's smallest denormal.
  EXPECT_EQ(cvtF16F32(0x1p-24f, keep, keep), 0x0001u);
  EXPECT_EQ(cvtF16F32(-0x1p-24f, keep, flush), 0x8000u);
  // An f32 denormal never reaches f16, except by rounding up.
  FloatMode up;
  up.round = Rounding::PlusInf;
  EXPECT_EQ(cvtF16F32(0x1p-140f, keep, up), 0x0001u);
  EXPECT_EQ(cvtF16F32(0x1p-140f, flush, up), 0x0000u);
  EXPECT_EQ(asBits(cvtF32F16(0x8001, flush)), 0x80000000u);
  EXPECT_EQ(cvtF32F16(0x8001, keep), -0x1p-24f);
  EXPECT_EQ(cvtF32F64(0x1p-140, keep, keep), 0x1p-140f);
  EXPECT_EQ(cvtF32F64(0x1p-140, flush, keep), 0.0f);
  EXPECT_EQ(asBits(cvtF64F32(-0x1p-140f, flush)), 0x8000000000000000u);
}

TEST(ConvertTest, FloatToInteger) {
  float inf = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(cvtI32F32(nan), 0);
  EXPECT_EQ(cvtU32F32(nan), 0u);
  EXPECT_EQ(cvtI32F32(inf), INT32_MAX);
  EXPECT_EQ(cvtI32F32(-inf), INT32_MIN);
  EXPECT_EQ(cvtI32F32(2147483648.0f), INT32_MAX);
  EXPECT_EQ(cvtI32F32(-2147483648.0f), INT32_MIN);
  EXPECT_EQ(cvtI32F32(-1.9f), -1);
  EXPECT_EQ(cvtU32F32(-1.0f), 0u);
  EXPECT_EQ(cvtU32F32(-0.9f), 0u);
  EXPECT_EQ(cvtU32F32(4294967296.0f), UINT32_MAX);
  EXPECT_EQ(cvtU32F32(4294967040.0f), 4294967040u);
  EXPECT_EQ(cvtI32F64(2147483646.9), 2147483646);
  EXPECT_EQ(cvtI32F64(1e300), INT32_MAX);
  EXPECT_EQ(cvtU32F64(-1e300), 0u);
  EXPECT_EQ(cvtI16F16(0x7bff), 32767);  // 65504
  EXPECT_EQ(cvtI16F16(0xfbff), -32768); // -65504
  EXPECT_EQ(cvtI16F16(0xbe00), -1);     // -1.5
  EXPECT_EQ(cvtU16F16(0x7bff), 65504);
  EXPECT_EQ(cvtU16F16(0x7c00), 65535); // infinity
  EXPECT_EQ(cvtU16F16(0xbc00), 0);
  EXPECT_EQ(cvtRpiI32F32(0.5f), 1);
  EXPECT_EQ(cvtRpiI32F32(-0.5f), 0);
  EXPECT_EQ(cvtRpiI32F32(0.49999997f), 0);
  EXPECT_EQ(cvtFlrI32F32(-0.1f), -1);
  EXPECT_EQ(cvtPkU8F32(300.0f, 2, 0x11223344), 0x11ff3344u);
  EXPECT_EQ(cvtPkU8F32(-3.0f, 5, 0x11223344), 0x11220044u);
  EXPECT_EQ(cvtPkU8F32(nan, 3, 0x11223344), 0x00223344u);
}

TEST(ConvertTest, IntegerToFloat) {
  EXPECT_EQ(cvtF32I32(16777217), 16777216.0f);
  EXPECT_EQ(cvtF32I32(16777217, Rounding::PlusInf), 16777218.0f);
  EXPECT_EQ(cvtF32I32(-16777217, Rounding::TowardZero), -16777216.0f);
  EXPECT_EQ(cvtF32I32(-16777217, Rounding::MinusInf), -16777218.0f);
  EXPECT_EQ(cvtF32U32(0xffffffff), 4294967296.0f);
  EXPECT_EQ(cvtF32U32(0xffffffff, Rounding::TowardZero), 4294967040.0f);
  EXPECT_EQ(cvtF16U16(65535, {}), 0x7c00u);
  FloatMode clamp;
  clamp.fp16Ovfl = true;
  EXPECT_EQ(cvtF16U16(65535, clamp), 0x7bffu);
  EXPECT_EQ(cvtF16I16(-2049, {}), 0xe800u); // -2048, tie to even
  EXPECT_EQ(cvtF32UByte(0x11223344, 0), 68.0f);
  EXPECT_EQ(cvtF32UByte(0x11223344, 3), 17.0f);
  for (int code = 0; code != 16; ++code)
    EXPECT_EQ(cvtOffF32I4(0xabcdef00 | code),
              (code < 8 ? code : code - 16) / 16.0f);
}

TEST(ConvertTest, PackedNormAndSaturatingInteger) {
  EXPECT_EQ(cvtPkNormI16(1.0f), 32767);
  EXPECT_EQ(cvtPkNormI16(-2.0f), -32767);
  EXPECT_EQ(cvtPkNormI16(std::nanf("")), 0);
  EXPECT_EQ(cvtPkNormI16(0.5f), 16384); // 16383.5 to even
  EXPECT_EQ(cvtPkNormU16(0.5f), 32768); // 32767.5 to even
  EXPECT_EQ(cvtPkNormU16(-1.0f), 0);
  EXPECT_EQ(cvtPkNormU16(7.0f), 65535);
  EXPECT_EQ(cvtPkI16I32(40000), 32767);
  EXPECT_EQ(cvtPkI16I32(-40000), -32768);
  EXPECT_EQ(cvtPkU16U32(70000), 65535);
}

TEST(ConvertTest, StochasticRoundingHasTheRightOdds) {
  // Over all values of the seed bits that matter, the number of times the
  // result is the upper neighbour is the fraction of the way to it.
  struct Case {
    FloatFormat format;
    unsigned manBits;
  };
  for (Case c : {Case{FloatFormat::FP8E4M3FN, 3},
                 {FloatFormat::FP8E5M2, 2},
                 {FloatFormat::FP8E4M3FNUZ, 3},
                 {FloatFormat::BF16, 7},
                 {FloatFormat::F16, 10}}) {
    for (int eighths = 0; eighths != 8; ++eighths) {
      double step = std::ldexp(1.0, -int(c.manBits));
      float value = float(1.0 + step + step * eighths / 8);
      int up = 0;
      for (uint32_t seed = 0; seed != 256; ++seed) {
        double rounded = decode(
            c.format, encodeStochastic(c.format, value, seed << 24, false));
        ASSERT_TRUE(rounded == 1 + step || rounded == 1 + 2 * step);
        up += rounded == 1 + 2 * step;
      }
      EXPECT_EQ(up, 32 * eighths) << unsigned(c.format);
      // The sign does not change the odds.
      EXPECT_EQ(decode(c.format, encodeStochastic(c.format, -value, ~0u, 0)),
                -(1 + (eighths ? 2 : 1) * step));
    }
  }
  // A carry may move to the next binade and past the largest value.
  EXPECT_EQ(decode(FloatFormat::FP8E4M3FN,
                   encodeStochastic(FloatFormat::FP8E4M3FN, 1.99f, ~0u, true)),
            2.0);
  EXPECT_EQ(cvtSrFP8F32(FloatFormat::FP8E4M3FN, 470.0f, ~0u, true), 0x7e);
  EXPECT_EQ(cvtSrFP8F32(FloatFormat::FP8E4M3FN, 479.0f, ~0u, false), 0x7f);
  EXPECT_EQ(cvtSrFP8F32(FloatFormat::FP8E4M3FN, 479.0f, 0, false), 0x7e);
  EXPECT_EQ(cvtSrFP8F32(FloatFormat::FP8E5M2, 1e30f, 0, false), 0x7c);
}

TEST(ConvertTest, ScaledConversions) {
  // Only the exponent field of the scale counts.
  EXPECT_EQ(getScaleF32(asBits(-1.5f)).exponent, 0);
  EXPECT_EQ(getScaleF32(asBits(4.0f)).exponent, 2);
  EXPECT_TRUE(getScaleF32(0x7f800000).isNaN);
  EXPECT_EQ(getScaleE8M0(0).exponent, -127);

  for (const FormatCase &c : formatCases) {
    if (c.bits > 8)
      continue;
    for (int exponent : {-9, 0, 3}) {
      ScaleF32 scale{exponent, false};
      for (uint32_t code = 0; code != 1u << c.bits; ++code) {
        APFloat exact(c.semantics, APInt(c.bits, code));
        if (exact.isNaN() || exact.isInfinity())
          continue;
        double value = toDouble(exact);
        // Up is exact in f32, and down undoes it.
        ASSERT_EQ(asFloat(cvtScaledUp(FloatFormat::F32, c.format, code, scale)),
                  float(std::ldexp(value, exponent)));
        ASSERT_EQ(cvtScaledDown(c.format, std::ldexp(value, exponent), scale),

                  code);
      }
    }
  }
  // 448 * 2^10 does not fit f16; 448 * 2^7 does.
  EXPECT_EQ(
      cvtScaledUp(FloatFormat::F16, FloatFormat::FP8E4M3FN, 0x7e, {10, false}),
      0x7c00u);
  EXPECT_EQ(
      cvtScaledUp(FloatFormat::F16, FloatFormat::FP8E4M3FN, 0x7e, {7, false}),
      0x7b00u);
  // Down saturates.
  EXPECT_EQ(cvtScaledDown(FloatFormat::FP8E4M3FN, 1000.0, {0, false}), 0x7eu);
  EXPECT_EQ(cvtScaledDown(FloatFormat::FP4E2M1, 1.25, {-1, false}), 0x4u);
  EXPECT_EQ(cvtScaledDownStochastic(FloatFormat::FP4E2M1, 2.5f, {0, false}, 0),
            0x4u); // 2
  EXPECT_EQ(
      cvtScaledDownStochastic(FloatFormat::FP4E2M1, 2.5f, {0, false}, ~0u),
      0x5u); // 3
}

TEST(ConvertTest, DenseCodeArrays) {
  uint32_t words[6] = {};
  for (unsigned i = 0; i != 32; ++i)
    insertCode(words, i, 6, (i * 7) & 63);
  for (unsigned i = 0; i != 32; ++i) {
    unsigned bit = 6 * i, value = 0;
    for (unsigned b = 0; b != 6; ++b)
      value |= ((words[(bit + b) / 32] >> ((bit + b) % 32)) & 1) << b;
    EXPECT_EQ(value, (i * 7) & 63);
    EXPECT_EQ(extractCode(words, i, 6), value);
  }
}

} // namespace
