//===- LaunchEstimateTest.cpp ---------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/LaunchEstimate.h"

#include "gtest/gtest.h"

using namespace mlir::attn;

namespace {

// 256 compute units.
const ChipInfo &chip = **lookupChip("gfx950");

double estimate(LaunchShape shape, int64_t rows) {
  WorkgroupCost cost;
  cost.rows = rows;
  cost.roundKeys = 64;
  cost.fixedClocks = 1000;
  cost.roundClocks = double(rows) * 8;
  return estimateMakespan(chip, shape, cost);
}

TEST(LaunchEstimate, NothingToDo) {
  EXPECT_EQ(estimate({0, 512, 512, {}}, 256), 0);
  EXPECT_EQ(estimate({8, 0, 512, {}}, 256), 0);
}

TEST(LaunchEstimate, WorkgroupsComeInWaves) {
  double one = 1000 + 8 * 2048;
  EXPECT_EQ(estimate({256, 256, 512, {}}, 256), one);
  EXPECT_EQ(estimate({257, 256, 512, {}}, 256), 2 * one);
  EXPECT_EQ(estimate({1, 1, 512, {}}, 256), one);
}

TEST(LaunchEstimate, CausalTilesWeighWhatTheySee) {
  // One workgroup a unit: the last row tile has all keys.
  EXPECT_EQ(estimate({32, 2048, 2048, 0}, 256), 1000 + 32 * 2048);
  // Two a unit of half the rows: 16 tiles that weigh 1 to 16, in pairs of 17.
  EXPECT_EQ(estimate({32, 2048, 2048, 0}, 128), 2 * 1000 + 17 * 2 * 1024);
  // Many a unit: their sum, evenly.
  EXPECT_EQ(estimate({256, 2048, 2048, 0}, 256), 8 * 1000 + 36 * 4 * 2048);
}

TEST(LaunchEstimate, RowsBeforeTheFirstKeySeeNothing) {
  EXPECT_EQ(estimate({1, 256, 64, -256}, 256), 1000);
  EXPECT_EQ(estimate({1, 256, 64, 1000}, 256), 1000 + 2048);
}

TEST(LaunchEstimate, PackedRowsShareAPlaceOnTheDiagonal) {
  // The last of 256 rows is row 31 of its head.
  EXPECT_EQ(estimate({1, 256, 512, 32, /*packing=*/8}, 256), 1000 + 2048);
  EXPECT_EQ(estimate({1, 256, 512, 33, /*packing=*/8}, 256), 1000 + 2 * 2048);
}

} // namespace
