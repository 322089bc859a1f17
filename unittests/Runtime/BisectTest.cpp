//===- BisectTest.cpp - The level that differs ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bisect.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace attn::rt;

namespace {

template <typename T>
ArrayView view(const std::vector<T> &values, DType dtype,
               ArrayRef<int64_t> shape) {
  return {dtype, SmallVector<int64_t>(shape), getContiguousStrides(shape),
          reinterpret_cast<const char *>(values.data())};
}

Difference compareFloats(std::vector<float> expected,
                         std::vector<float> actual) {
  int64_t size = expected.size();
  return compare(view(expected, DType::F32, {size}),
                 view(actual, DType::F32, {size}));
}

TEST(BisectTest, DistanceIsRelativeToTheLargest) {
  EXPECT_EQ(compareFloats({1, 2}, {1, 2}).distance, 0);
  EXPECT_EQ(compareFloats({1, 8}, {2, 8}).distance, 0.125);
  // Small arrays are measured against 1.
  EXPECT_EQ(compareFloats({0, 0.5}, {0.25, 0.5}).distance, 0.25);
  // An infinity is no measure.
  EXPECT_EQ(compareFloats({INFINITY, 4}, {INFINITY, 5}).distance, 0.25);
}

TEST(BisectTest, SpecialValuesHaveToAgree) {
  float inf = INFINITY, nan = NAN;
  EXPECT_EQ(compareFloats({-inf, nan}, {-inf, nan}).distance, 0);
  EXPECT_EQ(compareFloats({-inf}, {-3e38f}).distance, INFINITY);
  EXPECT_EQ(compareFloats({-inf}, {inf}).distance, INFINITY);
  EXPECT_EQ(compareFloats({-inf}, {nan}).distance, INFINITY);
  EXPECT_EQ(compareFloats({nan}, {1}).distance, INFINITY);
  EXPECT_EQ(compareFloats({1}, {nan}).distance, INFINITY);
  EXPECT_EQ(compareFloats({0}, {-0.0f}).distance, 0);
}

TEST(BisectTest, TheWorstElementIsNamed) {
  std::vector<float> expected(24), actual(24);
  actual[3] = 0.5;
  actual[17] = 1;
  Difference difference = compare(view(expected, DType::F32, {2, 3, 4}),
                                  view(actual, DType::F32, {2, 3, 4}));
  EXPECT_EQ(difference.index, (SmallVector<int64_t>{1, 1, 1}));
  EXPECT_EQ(difference.expected, 0);
  EXPECT_EQ(difference.actual, 1);
}

TEST(BisectTest, EveryType) {
  std::vector<uint16_t> one = {0x3c00}, two = {0x4000};
  EXPECT_EQ(
      compare(view(one, DType::F16, {1}), view(two, DType::F16, {1})).distance,
      1);
  one = {0x3f80};
  EXPECT_EQ(
      compare(view(one, DType::BF16, {}), view(two, DType::BF16, {})).distance,
      1);
  std::vector<int32_t> minus = {-1}, plus = {3};
  EXPECT_EQ(compare(view(minus, DType::I32, {1}), view(plus, DType::I32, {1}))
                .distance,
            4);
  std::vector<double> none;
  EXPECT_EQ(
      compare(view(none, DType::F64, {0, 3}), view(none, DType::F64, {0, 3}))
          .distance,
      0);
}

} // namespace
