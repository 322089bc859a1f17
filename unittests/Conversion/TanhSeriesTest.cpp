//===- TanhSeriesTest.cpp - The error of the polynomial -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/TanhSeries.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::attn;

TEST(TanhSeries, HoldsItsErrorWithinItsRange) {
  constexpr int points = 10000;
  double worst = 0;
  for (int i = 1; i <= points; ++i) {
    double y = TanhSeries::range * i / points;
    double u = y * y + TanhSeries::offset;
    double series = y * TanhSeries::factor * (u * u + TanhSeries::rest);
    worst = std::max(worst, std::fabs(series / std::tanh(y) - 1));
  }
  EXPECT_LE(worst, TanhSeries::maxError);
  EXPECT_GE(worst, TanhSeries::maxError * 0.9); // the bound is no guess
}

/// As a kernel computes it: coefficients of products, in f32.
TEST(TanhSeries, HoldsTwiceItsErrorInF32AtAnyRate) {
  for (double rate :
       {TanhSeries::minRate, 1e-3, 0.03, 1.0, 7.0, TanhSeries::maxRate}) {
    auto offset = float(TanhSeries::offset / (rate * rate));
    auto rest = float(TanhSeries::rest / std::pow(rate, 4));
    auto factor = float(TanhSeries::factor * std::pow(rate, 5));
    for (int i = 1; i <= 1000; ++i) {
      auto s = float(TanhSeries::range / rate * i / 1000);
      float u = std::fma(s, s, offset);
      float y = s * (std::fma(u, u, rest) * factor);
      double exact = std::tanh(rate * s);
      EXPECT_LE(std::fabs(y / exact - 1), 2 * TanhSeries::maxError)
          << "s = " << s << ", rate = " << rate;
    }
  }
}
