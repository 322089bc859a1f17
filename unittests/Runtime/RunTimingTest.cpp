//===- RunTimingTest.cpp - Timing a code object with its manifest ---------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunTiming.h"
#include "gtest/gtest.h"

using namespace attn::rt;

TEST(FindRowTiles, HeadsFirst) {
  // 2 batches of 16 heads, 2048 rows in tiles of 256.
  EXPECT_EQ(findRowTiles(256, {2, 16, 2048, 128}), 8u);
  EXPECT_EQ(findRowTiles(512, {2, 16, 2048, 128}), 16u);
  // A ragged last tile.
  EXPECT_EQ(findRowTiles(2 * 16 * 9, {2, 16, 2049, 128}), 9u);
  EXPECT_EQ(findRowTiles(3 * 5, {3, 5, 1, 64}), 1u);
}

TEST(FindRowTiles, RowsFirst) {
  EXPECT_EQ(findRowTiles(256, {2, 2048, 16, 128}), 8u);
}

TEST(FindRowTiles, AnythingElseIsOneHead) {
  EXPECT_EQ(findRowTiles(100, {2, 16, 2048}), 100u);
  // Not a multiple of the heads.
  EXPECT_EQ(findRowTiles(255, {2, 16, 2048, 128}), 255u);
  // One workgroup for 2048 rows is no tile of ours.
  EXPECT_EQ(findRowTiles(32, {2, 16, 2048, 128}), 32u);
  EXPECT_EQ(findRowTiles(7, {0, 0, 0, 0}), 7u);
}
