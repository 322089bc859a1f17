//===- RoundingTest.cpp - Narrow floats -----------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Rounding.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace attn::rt;

namespace {

uint16_t reference(float value, const fltSemantics &semantics) {
  APFloat wide(value);
  bool losesInfo;
  wide.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(wide.bitcastToAPInt().getZExtValue());
}

void expectRounded(uint32_t bits) {
  float value = llvm::bit_cast<float>(bits);
  if (value != value) {
    // Payloads are free, NaN-ness is not.
    EXPECT_GT(roundToF16(value) & 0x7fff, 0x7c00) << std::hex << bits;
    EXPECT_GT(roundToBF16(value) & 0x7fff, 0x7f80) << std::hex << bits;
    return;
  }
  ASSERT_EQ(roundToF16(value), reference(value, APFloat::IEEEhalf()))
      << std::hex << bits;
  ASSERT_EQ(roundToBF16(value), reference(value, APFloat::BFloat()))
      << std::hex << bits;
}

TEST(RoundingTest, AroundEveryTie) {
  // Both formats: all upper halves with the low bits that decide a rounding.
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (uint32_t lower : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x2000u,
                           0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      expectRounded(upper << 16 | lower);
}

TEST(RoundingTest, RandomBits) {
  std::mt19937 random(20260101);
  for (unsigned i = 0; i < 200000; ++i)
    expectRounded(random());
}

TEST(RoundingTest, WidenF16) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    APFloat wide(APFloat::IEEEhalf(), APInt(16, bits));
    bool losesInfo;
    wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    float value = widenF16(static_cast<uint16_t>(bits));
    if (wide.isNaN())
      EXPECT_TRUE(value != value) << bits;
    else
      EXPECT_EQ(llvm::bit_cast<uint32_t>(value),
                wide.bitcastToAPInt().getZExtValue())
          << bits;
  }
}

TEST(RoundingTest, OddThenNarrowIsOneRounding) {
  std::mt19937_64 random(20260102);
  auto check = [](double value) {
    bool losesInfo;
    APFloat half(value);
    half.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
    APFloat bfloat(value);
    bfloat.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &losesInfo);
    ASSERT_EQ(roundToF16(roundToOdd(value)),
              half.bitcastToAPInt().getZExtValue())
        << value;
    ASSERT_EQ(roundToBF16(roundToOdd(value)),
              bfloat.bitcastToAPInt().getZExtValue())
        << value;
  };
  // Just above and below ties, where two roundings go wrong.
  for (double tie : {1.0 + 0x1p-11, 1.0 + 0x1.8p-10, 1.0 + 0x1p-8, 65520.0,
                     0x1p-25, 0x1.8p-24, 3.0e38, 1e300, 1e-300, 0.0})
    for (double nudge : {-0x1p-50, 0.0, 0x1p-50})
      for (double sign : {-1.0, 1.0})
        check(sign * tie * (1.0 + nudge));
  for (unsigned i = 0; i < 100000; ++i) {
    double value = llvm::bit_cast<double>(
        // Exponents near one, so that most values are in range.
        (random() & 0x800fffffffffffff) | ((random() % 64 + 991) << 52));
    check(value);
  }
}

TEST(RoundingTest, KnownValues) {
  EXPECT_EQ(roundToF16(65504.0f), 0x7bff);
  EXPECT_EQ(roundToF16(65519.9f), 0x7bff);
  EXPECT_EQ(roundToF16(65520.0f), 0x7c00);
  EXPECT_EQ(roundToF16(-0.0f), 0x8000);
  EXPECT_EQ(roundToF16(0x1p-24f), 0x0001);
  EXPECT_EQ(roundToF16(0x1p-25f), 0x0000);
  EXPECT_EQ(roundToF16(0x1.8p-24f), 0x0002);
  EXPECT_EQ(roundToBF16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(roundToBF16(1.0f + 0x1.8p-7f), 0x3f82);
  EXPECT_EQ(roundToBF16(3.4028235e38f), 0x7f80);
}

} // namespace
