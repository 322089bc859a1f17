//===- TranscendentalTest.cpp - Special functions and division ------------===//

#include "attn/Emulator/Numerics/Transcendental.h"
#include "attn/Emulator/Numerics/Convert.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace attn::emu;
using llvm::APFloat;
using llvm::APInt;

namespace {

constexpr TransOp allOps[] = {TransOp::Exp, TransOp::Log,  TransOp::Rcp,
                              TransOp::Rsq, TransOp::Sqrt, TransOp::Sin,
                              TransOp::Cos};
const std::pair<Rounding, llvm::RoundingMode> roundings[] = {
    {Rounding::NearestEven, llvm::RoundingMode::NearestTiesToEven},
    {Rounding::PlusInf, llvm::RoundingMode::TowardPositive},
    {Rounding::MinusInf, llvm::RoundingMode::TowardNegative},
    {Rounding::TowardZero, llvm::RoundingMode::TowardZero},
};

/// The function by the host's libm in long double.
long double reference(TransOp op, long double x) {
  constexpr long double tau = 6.283185307179586476925286766559L;
  switch (op) {
  case TransOp::Exp:
    return exp2l(x);
  case TransOp::Log:
    return log2l(x);
  case TransOp::Rcp:
    return 1.0L / x;
  case TransOp::Rsq:
    return 1.0L / sqrtl(x);
  case TransOp::Sqrt:
    return sqrtl(x);
  case TransOp::Sin:
    return sinl(tau * (x - nearbyintl(x)));
  case TransOp::Cos:
    return cosl(tau * (x - nearbyintl(x)));
  }
  return 0;
}

/// Distance in units of the last place of `digits`-bit numbers, minimum
/// exponent `minExp` (of the last normal binade).
double ulps(long double actual, long double exact, int digits, int minExp) {
  if (actual == exact)
    return 0;
  int exponent;
  frexpl(exact, &exponent);
  exponent = std::max(exponent - 1, minExp);
  return double(fabsl(actual - exact) / ldexpl(1.0L, exponent - (digits - 1)));
}

bool isOrdinary(TransOp op, float x) {
  if (!std::isfinite(x) || x == 0)
    return false;
  if (op == TransOp::Log || op == TransOp::Rsq || op == TransOp::Sqrt)
    return x > 0;
  if (op == TransOp::Sin || op == TransOp::Cos)
    return std::fabs(x) <= 256;
  return true;
}

TEST(TransTest, F32IsCorrectlyRounded) {
  std::mt19937 random(99);
  for (TransOp op : allOps) {
    for (int i = 0; i != 100000; ++i) {
      uint32_t bits = random();
      if (i & 1) // ordinary magnitudes
        bits = (bits & 0x807fffff) | (117 + random() % 17) << 23;
      float x = asFloat(bits);
      if (!isOrdinary(op, x) || !std::isnormal(x))
        continue;
      long double exact = reference(op, x);
      float actual = transF32(op, x);
      if (fabsl(exact) < 0x1p-126L) {
        // Denormal results are flushed; the last half place rounds to normal.
        ASSERT_TRUE(actual == 0 || std::fabs(actual) == 0x1p-126f);
        continue;
      }
      if (std::isinf(actual)) {
        ASSERT_GE(fabsl(exact), 0x1.fffffep127L);
        continue;
      }
      ASSERT_LE(ulps(actual, exact, 24, -126), 0.50001)
          << unsigned(op) << " " << x;
    }
  }
}

TEST(TransTest, F16IsCorrectlyRounded) {
  for (TransOp op : allOps) {
    for (uint32_t code = 0; code != 0x10000; ++code) {
      float x = f16ToF32(code);
      if (!isOrdinary(op, x))
        continue;
      long double exact = reference(op, x);
      double actual = decode(FloatFormat::F16, transF16(op, code, {}));
      if (std::isinf(actual)) {
        ASSERT_GE(fabsl(exact), 65520.0L);
        continue;
      }
      // The guide promises 0.51.
      ASSERT_LE(ulps(actual, exact, 11, -14), 0.51)
          << unsigned(op) << " " << code;
    }
  }
}

TEST(TransTest, GuidesFunctionalExamples) {
  struct Case {
    TransOp op;
    uint32_t input, result;
  } cases[] = {
      {TransOp::Exp, 0xff800000, 0x00000000},
      {TransOp::Exp, 0x80000000, 0x3f800000},
      {TransOp::Exp, 0x7f800000, 0x7f800000},
      {TransOp::Exp, 0x43000000, 0x7f800000}, // 2^128
      {TransOp::Exp, 0xc3000000, 0x00000000}, // 2^-128 is denormal
      {TransOp::Exp, 0xc2fc0000, 0x00800000}, // 2^-126
      {TransOp::Log, 0xff800000, 0xffc00000},
      {TransOp::Log, 0xbf800000, 0xffc00000},
      {TransOp::Log, 0x80000000, 0xff800000},
      {TransOp::Log, 0x00000000, 0xff800000},
      {TransOp::Log, 0x3f800000, 0x00000000},
      {TransOp::Log, 0x7f800000, 0x7f800000},
      {TransOp::Log, 0x007fffff, 0xff800000}, // denormal input
      {TransOp::Rcp, 0xff800000, 0x80000000},
      {TransOp::Rcp, 0xc0000000, 0xbf000000},
      {TransOp::Rcp, 0x80000000, 0xff800000},
      {TransOp::Rcp, 0x00000000, 0x7f800000},
      {TransOp::Rcp, 0x7f800000, 0x00000000},
      {TransOp::Rcp, 0x00000001, 0x7f800000},
      {TransOp::Rcp, 0x7f000000, 0x00000000}, // 2^-127 is denormal
      {TransOp::Rsq, 0xff800000, 0xffc00000},
      {TransOp::Rsq, 0x80000000, 0xff800000},
      {TransOp::Rsq, 0x00000000, 0x7f800000},
      {TransOp::Rsq, 0x40800000, 0x3f000000},
      {TransOp::Rsq, 0x7f800000, 0x00000000},
      {TransOp::Sqrt, 0xff800000, 0xffc00000},
      {TransOp::Sqrt, 0x80000000, 0x80000000},
      {TransOp::Sqrt, 0x40800000, 0x40000000},
      {TransOp::Sqrt, 0x7f800000, 0x7f800000},
      {TransOp::Sin, 0xff800000, 0xffc00000},
      {TransOp::Sin, 0x80000000, 0x80000000},
      {TransOp::Sin, 0x3e800000, 0x3f800000}, // a quarter turn
      {TransOp::Sin, 0x3f000000, 0x00000000},
      {TransOp::Sin, 0x43800080, 0x00000000}, // beyond 256 turns
      {TransOp::Cos, 0x3e800000, 0x00000000},
      {TransOp::Cos, 0x3f000000, 0xbf800000},
      {TransOp::Cos, 0x43800080, 0x3f800000},
      {TransOp::Cos, 0x00000000, 0x3f800000},
  };
  for (const Case &c : cases) {
    uint32_t expected = c.result;
    uint32_t actual = asBits(transF32(c.op, asFloat(c.input)));
    if ((expected & 0x7fffffff) == 0 && c.op != TransOp::Sin) {
      // The guides leave the sign of these zeros to the operation.
      actual &= c.op == TransOp::Cos ? 0x7fffffff : ~0u;
    } else if (c.op == TransOp::Sin && expected == 0) {
      actual &= 0x7fffffff;
    }
    EXPECT_EQ(actual, expected) << unsigned(c.op) << " " << std::hex << c.input;
  }
  for (TransOp op : allOps) {
    EXPECT_EQ(asBits(transF32(op, asFloat(0x7f800001))), 0x7fc00001u);
    EXPECT_EQ(asBits(transF32(op, asFloat(0xffc12345))), 0xffc12345u);
    EXPECT_EQ(transF16(op, 0x7c01, {}), 0x7e01);
  }
}

TEST(TransTest, WaveFormAgreesWithLanes) {
  std::mt19937 random(5);
  for (TransOp op : allOps) {
    for (int round = 0; round != 300; ++round) {
      uint32_t source[64], result[64];
      for (uint32_t &bits : source) {
        bits = random();
        if (round % 3)
          bits = (bits & 0x7fffff) | (120 + random() % 14) << 23;
      }
      if (round % 5 == 0)
        source[random() % 64] = round & 1 ? 0x80000000 : 0x7f800000;
      Perturb perturb{round % 7 == 0, uint64_t(round)};
      transF32Wave(op, source, result, perturb);
      for (int i = 0; i != 64; ++i)
        ASSERT_EQ(result[i], asBits(transF32(op, asFloat(source[i]), perturb)));
    }
  }
}

TEST(TransTest, PerturbMovesInexactResultsByOnePlace) {
  Perturb perturb{true, 42};
  int moved[3] = {};
  std::mt19937 random(3);
  for (int i = 0; i != 3000; ++i) {
    float x = asFloat((random() & 0x007fffff) | 0x3f800000);
    int32_t plain = asBits(transF32(TransOp::Exp, x));
    int32_t disturbed = asBits(transF32(TransOp::Exp, x, perturb));
    ASSERT_LE(std::abs(plain - disturbed), 1);
    ASSERT_LE(std::abs(asFloat(disturbed) - std::exp2(double(x))), 0x1p-22);
    ++moved[disturbed - plain + 1];
    // The same again.
    ASSERT_EQ(disturbed, int32_t(asBits(transF32(TransOp::Exp, x, perturb))));
    int16_t half = transF16(TransOp::Log, 0x3c00 + i % 1024, {});
    int16_t halfMoved = transF16(TransOp::Log, 0x3c00 + i % 1024, {}, perturb);
    ASSERT_LE(std::abs(half - halfMoved), 1);
  }
  for (int count : moved)
    EXPECT_GT(count, 500);
  // Results that underflow or overflow stay, too.
  for (float x : {-130.3f, -126.1f, -200.7f, 127.99999f, 200.3f, -1e30f})
    for (uint64_t seed = 0; seed != 20; ++seed) {
      float plain = transF32(TransOp::Exp, x);
      float moved = transF32(TransOp::Exp, x, {true, seed});
      ASSERT_FALSE(std::isnan(moved)) << x;
      if (plain == 0 || std::isinf(plain)) {
        ASSERT_EQ(moved, plain) << x;
      }
    }
  // Exact results and specials stay.
  EXPECT_EQ(transF32(TransOp::Exp, 3.0f, perturb), 8.0f);
  EXPECT_EQ(transF32(TransOp::Exp, 0.0f, perturb), 1.0f);
  EXPECT_EQ(transF32(TransOp::Rcp, 4.0f, perturb), 0.25f);
  EXPECT_EQ(transF32(TransOp::Log, 0.0f, perturb), -HUGE_VALF);
  EXPECT_EQ(transF32(TransOp::Exp, -HUGE_VALF, perturb), 0.0f);
}

TEST(TransTest, F64HasTheGuidesAccuracyAndNoMore) {
  std::mt19937_64 random(11);
  bool sawError = false;
  for (TransOp op : {TransOp::Rcp, TransOp::Rsq, TransOp::Sqrt}) {
    for (int i = 0; i != 20000; ++i) {
      double x = asDouble((random() & 0x000fffffffffffff) |
                          (800 + random() % 400) << 52);
      double actual = transF64(op, x, {});
      double error = ulps(actual, reference(op, x), 53, -1022);
      ASSERT_LE(error, 0x1p29);
      sawError |= error > 0x1p20;
    }
  }
  EXPECT_TRUE(sawError);
  EXPECT_EQ(transF64(TransOp::Rcp, 0.0, {}), HUGE_VAL);
  EXPECT_EQ(transF64(TransOp::Rcp, -HUGE_VAL, {}), 0.0);
  EXPECT_TRUE(std::isnan(transF64(TransOp::Sqrt, -1.0, {})));
  EXPECT_EQ(transF64(TransOp::Sqrt, HUGE_VAL, {}), HUGE_VAL);
  EXPECT_EQ(transF64(TransOp::Rsq, 0x1p-1074, {}), 0x1p537);
}

//===----------------------------------------------------------------------===//
// Division: LLVM's expansions over the helper instructions are IEEE division
//===----------------------------------------------------------------------===//

/// AMDGPU's f32 fdiv (LowerFDIV32 in SIISelLowering.cpp).
float divideF32(float n, float d) {
  FloatMode mode;
  bool vcc, ignored;
  float dScaled = divScaleF32(d, d, n, ignored);
  float nScaled = divScaleF32(n, d, n, vcc);
  float rcp = transF32(TransOp::Rcp, dScaled);
  float f0 = std::fma(-dScaled, rcp, 1.0f);
  float f1 = std::fma(f0, rcp, rcp);
  float mul = nScaled * f1;
  float f2 = std::fma(-dScaled, mul, nScaled);
  float f3 = std::fma(f2, f1, mul);
  float f4 = std::fma(-dScaled, f3, nScaled);
  return divFixupF32(divFmasF32(f4, f1, f3, vcc, mode), d, n, mode);
}

/// AMDGPU's f64 fdiv (LowerFDIV64).
double divideF64(double n, double d) {
  FloatMode mode;
  bool vcc, ignored;
  double dScaled = divScaleF64(d, d, n, ignored);
  double rcp = transF64(TransOp::Rcp, dScaled, mode);
  double f0 = std::fma(-dScaled, rcp, 1.0);
  double f1 = std::fma(rcp, f0, rcp);
  double f2 = std::fma(-dScaled, f1, 1.0);
  double nScaled = divScaleF64(n, d, n, vcc);
  double f3 = std::fma(f1, f2, f1);
  double mul = nScaled * f3;
  double f4 = std::fma(-dScaled, mul, nScaled);
  return divFixupF64(divFmasF64(f4, f3, mul, vcc, mode), d, n, mode);
}

template <typename T> bool sameOrBothNaN(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || asBits(a) == asBits(b);
}

TEST(DivisionTest, F32ExpansionIsCorrectlyRounded) {
  std::mt19937 random(2024);
  const float specials[] = {0.0f,      -0.0f,       1.0f,       -3.0f,
                            0x1p-149f, 0x1.8p-140f, 0x1p-126f,  0x1.fffffep127f,
                            0x1p127f,  HUGE_VALF,   -HUGE_VALF, std::nanf("")};
  for (float n : specials)
    for (float d : specials)
      EXPECT_TRUE(sameOrBothNaN(divideF32(n, d), n / d)) << n << " / " << d;
  for (int i = 0; i != 400000; ++i) {
    float n = asFloat(random()), d = asFloat(random());
    if (std::isnan(n) || std::isnan(d))
      continue;
    ASSERT_TRUE(sameOrBothNaN(divideF32(n, d), n / d))
        << std::hexfloat << n << " / " << d << ": " << divideF32(n, d)
        << ", not " << n / d;
  }
}

TEST(DivisionTest, F64ExpansionIsCorrectlyRounded) {
  std::mt19937_64 random(2025);
  const double specials[] = {
      0.0,       -0.0,        1.0,       -3.0,
      0x1p-1074, 0x1.8p-1060, 0x1p-1022, 0x1.fffffffffffffp1023,
      HUGE_VAL,  -HUGE_VAL};
  for (double n : specials)
    for (double d : specials)
      EXPECT_TRUE(sameOrBothNaN(divideF64(n, d), n / d)) << n << " / " << d;
  for (int i = 0; i != 400000; ++i) {
    double n = asDouble(random()), d = asDouble(random());
    if (std::isnan(n) || std::isnan(d))
      continue;
    ASSERT_TRUE(sameOrBothNaN(divideF64(n, d), n / d))
        << std::hexfloat << n << " / " << d << ": " << divideF64(n, d)
        << ", not " << n / d;
  }
}

TEST(DivisionTest, FixupF16) {
  FloatMode mode;
  EXPECT_EQ(divFixupF16(0x1234, 0x0000, 0x3c00, mode), 0x7c00); // 1 / 0
  EXPECT_EQ(divFixupF16(0x1234, 0x8000, 0x3c00, mode), 0xfc00); // 1 / -0
  EXPECT_EQ(divFixupF16(0x1234, 0x0000, 0x0000, mode), 0xfe00); // 0 / 0
  EXPECT_EQ(divFixupF16(0x1234, 0x7c00, 0xbc00, mode), 0x8000); // -1 / inf
  EXPECT_EQ(divFixupF16(0x1234, 0xc000, 0x3c00, mode), 0x9234); // sign only
  EXPECT_EQ(divFixupF16(0x1234, 0x7c01, 0x3c00, mode), 0x7e01); // NaN
}

//===----------------------------------------------------------------------===//
// ldexp, frexp, fract, trig_preop
//===----------------------------------------------------------------------===//

TEST(ScaleTest, LdexpRoundsAsAPFloat) {
  std::mt19937 random(8);
  for (int i = 0; i != 20000; ++i) {
    float x = asFloat(random());
    int exponent = int(random() % 400) - 200;
    if (std::isnan(x))
      continue;
    for (auto [round, apRound] : roundings) {
      FloatMode mode;
      mode.round = round;
      APFloat expected = llvm::scalbn(APFloat(x), exponent, apRound);
      ASSERT_EQ(asBits(ldexpF32(x, exponent, mode)),
                expected.bitcastToAPInt().getZExtValue());
    }
    double y = asDouble(uint64_t(random()) << 32 | random());
    if (!std::isnan(y)) {
      APFloat expected =
          llvm::scalbn(APFloat(y), exponent * 8, APFloat::rmNearestTiesToEven);
      ASSERT_EQ(asBits(ldexpF64(y, exponent * 8, {})),
                expected.bitcastToAPInt().getZExtValue());
    }
  }
  EXPECT_EQ(ldexpF16(0x3c00, -24, {}), 0x0001);
  EXPECT_EQ(ldexpF16(0x3c00, 16, {}), 0x7c00);
  EXPECT_EQ(ldexpF32(1.0f, INT32_MAX, {}), HUGE_VALF);
  EXPECT_EQ(ldexpF32(1.0f, INT32_MIN, {}), 0.0f);
  FloatMode flush;
  flush.denormOut = false;
  EXPECT_EQ(ldexpF32(1.0f, -130, flush), 0.0f);
}

TEST(ScaleTest, FrexpTakesApartWhatLdexpPutsTogether) {
  std::mt19937 random(9);
  for (int i = 0; i != 20000; ++i) {
    float x = asFloat(random());
    if (!std::isfinite(x))
      continue;
    float mantissa = frexpMantF32(x, {});
    if (x != 0) {
      ASSERT_GE(std::fabs(mantissa), 0.5f);
      ASSERT_LT(std::fabs(mantissa), 1.0f);
    }
    ASSERT_EQ(std::ldexp(mantissa, frexpExpF32(x, {})), x);
  }
  for (uint32_t code = 0; code != 0x7c00; ++code) {
    double mantissa = decode(FloatFormat::F16, frexpMantF16(code, {}));
    ASSERT_EQ(std::ldexp(mantissa, frexpExpF16(code, {})),
              decode(FloatFormat::F16, code));
  }
  EXPECT_EQ(frexpExpF32(HUGE_VALF, {}), 0);
  EXPECT_EQ(frexpMantF32(-HUGE_VALF, {}), -HUGE_VALF);
  EXPECT_EQ(frexpExpF64(0x1p-1074, {}), -1073);
  FloatMode flush;
  flush.denormIn = false;
  EXPECT_EQ(frexpExpF64(0x1p-1074, flush), 0);
  EXPECT_EQ(frexpMantF16(0x7c00, {}), 0x7c00);
  EXPECT_EQ(frexpExpF16(0x7e00, {}), 0);
}

TEST(ScaleTest, FractStaysBelowOne) {
  EXPECT_EQ(fractF32(1.25f, {}), 0.25f);
  EXPECT_EQ(fractF32(-1.25f, {}), 0.75f);
  EXPECT_EQ(fractF32(-0x1p-40f, {}), 0x1.fffffep-1f);
  EXPECT_EQ(fractF32(3.0f, {}), 0.0f);
  EXPECT_TRUE(std::isnan(fractF32(HUGE_VALF, {})));
  EXPECT_EQ(fractF16(0x8001, {}), 0x3bff);
  EXPECT_EQ(fractF64(-0x1p-80, {}), 0x1.fffffffffffffp-1);
  EXPECT_EQ(fractF64(2.75, {}), 0.75);
}

TEST(ScaleTest, TrigPreopReadsTwoOverPi) {
  // 2/pi in two parts, from public tables of the constant.
  double high = 0x1.45f306dc9c882p-1, low = 0x1.4a7f09d5f47d4p-54;
  double s0 = trigPreopF64(1.0, 0), s1 = trigPreopF64(1.0, 1);
  // Segments are truncated, not rounded: s0 <= 2/pi.
  EXPECT_EQ(s0, high + (s0 > high ? -1 : 0) * 0x1p-53);
  EXPECT_NEAR((s0 - high) + s1, low, 0x1p-104);
  EXPECT_LT(trigPreopF64(1.0, 2), 0x1p-105);
  // A large argument shifts the window: bits from 2^-k on, k = e - 1077.
  double x = 0x1p100; // biased exponent 1123: shift 46
  double shifted = trigPreopF64(x, 0);
  EXPECT_NEAR(shifted, std::fmod(high, 0x1p-46) + low, 0x1p-98);
  // From 1968 on the result is scaled up by 2^128.
  EXPECT_GT(trigPreopF64(0x1p1000, 0), 0x1p-950);
}

//===----------------------------------------------------------------------===//
// Arithmetic under rounding modes
//===----------------------------------------------------------------------===//

template <typename Bits, typename Float>
void checkArithmetic(Float (*fma)(Float, Float, Float, Rounding),
                     Float (*add)(Float, Float, Rounding),
                     Float (*mul)(Float, Float, Rounding)) {
  std::mt19937_64 random(77);
  auto make = [&] {
    Bits bits = Bits(random());
    // Close exponents, so that sums cancel and round.
    constexpr int manBits = sizeof(Bits) == 4 ? 23 : 52;
    constexpr int bias = sizeof(Bits) == 4 ? 127 : 1023;
    if (random() & 1)
      bits = (bits & ~(Bits(2 * bias + 1) << manBits)) |
             Bits(bias - 3 + random() % 6) << manBits;
    Float value;
    std::memcpy(&value, &bits, sizeof(bits));
    return std::isnan(value) ? Float(1) : value;
  };
  for (int i = 0; i != 30000; ++i) {
    Float a = make(), b = make(), c = i % 16 ? make() : Float(-a * b);
    for (auto [round, apRound] : roundings) {
      APFloat fused(a), sum(a), product(a);
      fused.fusedMultiplyAdd(APFloat(b), APFloat(c), apRound);
      sum.add(APFloat(b), apRound);
      product.multiply(APFloat(b), apRound);
      auto check = [&](const APFloat &expected, Float actual) {
        if (expected.isNaN())
          ASSERT_TRUE(std::isnan(actual));
        else
          ASSERT_EQ(expected.bitcastToAPInt().getZExtValue(), asBits(actual))
              << std::hexfloat << a << " " << b << " " << c << " "
              << unsigned(round);
      };
      check(fused, fma(a, b, c, round));
      check(sum, add(a, b, round));
      check(product, mul(a, b, round));
    }
  }
}

TEST(RoundingTest, F32AsInAPFloat) {
  checkArithmetic<uint32_t, float>(fmaF32, addF32, mulF32);
}
TEST(RoundingTest, F64AsInAPFloat) {
  checkArithmetic<uint64_t, double>(fmaF64, addF64, mulF64);
}

TEST(RoundingTest, F16AsInAPFloat) {
  std::mt19937 random(78);
  for (int i = 0; i != 100000; ++i) {
    uint16_t a = random(), b = random(), c = random();
    APFloat x(APFloat::IEEEhalf(), APInt(16, a));
    APFloat y(APFloat::IEEEhalf(), APInt(16, b));
    APFloat z(APFloat::IEEEhalf(), APInt(16, c));
    if (x.isNaN() || y.isNaN() || z.isNaN())
      continue;
    for (auto [round, apRound] : roundings) {
      FloatMode mode;
      mode.round = round;
      auto check = [&](const APFloat &expected, uint16_t actual) {
        if (expected.isNaN())
          ASSERT_TRUE(std::isnan(f16ToF32(actual)));
        else
          ASSERT_EQ(expected.bitcastToAPInt().getZExtValue(), actual);
      };
      APFloat fused = x, sum = x, product = x;
      fused.fusedMultiplyAdd(y, z, apRound);
      sum.add(y, apRound);
      product.multiply(y, apRound);
      check(fused, fmaF16(a, b, c, mode));
      check(sum, addF16(a, b, mode));
      check(product, mulF16(a, b, mode));
    }
  }
  FloatMode clamp;
  clamp.fp16Ovfl = true;
  EXPECT_EQ(addF16(0x7bff, 0x7bff, clamp), 0x7bff);
  EXPECT_EQ(addF16(0x7c00, 0x3c00, clamp), 0x7c00);
  EXPECT_EQ(mulF16(0xfbff, 0x4000, clamp), 0xfbff);
}

TEST(CubeTest, FacesAndCoordinates) {
  // Direction, face, s, t, 2 * major axis: the table in the guide.
  struct Case {
    float x, y, z, id, sc, tc, ma;
  } cases[] = {
      {4, 1, 2, 0, -2, -1, 8}, {-4, 1, 2, 1, 2, -1, -8},
      {1, 4, 2, 2, 1, 2, 8},   {1, -4, 2, 3, 1, -2, -8},
      {1, 2, 4, 4, 1, -2, 8},  {1, 2, -4, 5, -1, -2, -8},
      {3, 3, 3, 4, 3, -3, 6},  {3, 3, 1, 2, 3, 1, 6},
  };
  for (const Case &c : cases) {
    EXPECT_EQ(cubeIdF32(c.x, c.y, c.z), c.id);
    EXPECT_EQ(cubeScF32(c.x, c.y, c.z), c.sc);
    EXPECT_EQ(cubeTcF32(c.x, c.y, c.z), c.tc);
    EXPECT_EQ(cubeMaF32(c.x, c.y, c.z), c.ma);
  }
}

} // namespace
