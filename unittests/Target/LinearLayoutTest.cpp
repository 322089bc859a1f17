//===- LinearLayoutTest.cpp -----------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/LinearLayout.h"
#include "attn/Target/ChipInfo.h"

#include "gtest/gtest.h"

using namespace mlir::attn;
using llvm::StringRef;

using RowCol = std::pair<int64_t, int64_t>;
static RowCol rc(int64_t row, int64_t col) { return {row, col}; }

static RowCol at(const LinearLayout &layout,
                 llvm::ArrayRef<LinearLayout::Coord> c) {
  LinearLayout::Basis r = layout.apply(c);
  return {r[0], r[1]};
}

// The formulas on the right are AMD's operand maps, written out.
TEST(LinearLayout, AccumulatorMap) {
  LinearLayout layout = getAccumulatorLayout();
  EXPECT_TRUE(layout.isDisjoint());
  for (int lane = 0; lane < 64; ++lane)
    for (int reg = 0; reg < 16; ++reg)
      EXPECT_EQ(at(layout, {{"lane", lane}, {"reg", reg}}),
                rc(8 * (reg / 4) + 4 * (lane / 32) + reg % 4, lane % 32));
}

TEST(LinearLayout, OperandMap) {
  for (unsigned bytes : {2u, 4u}) {
    LinearLayout layout = getOperandLayout(bytes);
    EXPECT_TRUE(layout.isDisjoint());
    int e = 16 / bytes;
    for (int lane = 0; lane < 64; ++lane)
      for (int elt = 0; elt < e; ++elt)
        for (int step : {0, 1, 7, 12})
          for (int block : {0, 1})
            EXPECT_EQ(at(layout, {{"lane", lane},
                                  {"elt", elt},
                                  {"step", step},
                                  {"block", block}}),
                      rc(lane % 32 + 32 * block,
                         elt + e * (lane / 32) + 2 * e * step));
  }
}

// P^T is the B operand with no exchange: V's rows follow the registers of S^T.
TEST(LinearLayout, ValueRowsFollowTheAccumulator) {
  LinearLayout acc = getAccumulatorLayout();
  for (unsigned bytes : {2u, 4u})
    for (unsigned group : {1u, 2u, 4u}) {
      LinearLayout layout = getValueLayout(bytes, group);
      EXPECT_TRUE(layout.isDisjoint());
      int e = 16 / bytes, g = group;
      for (int lane = 0; lane < 64; ++lane)
        for (int reg = 0; reg < 32; ++reg)
          for (int block = 0; block < 8; ++block) {
            int64_t row = 32 * (reg / 16) +
                          at(acc, {{"lane", lane}, {"reg", reg % 16}}).first;
            EXPECT_EQ(at(layout, {{"lane", lane},
                                  {"elt", reg % e},
                                  {"step", reg / e},
                                  {"block", block}}),
                      rc(row, int64_t(32 * g * (block / g) + g * (lane % 32) +
                                      block % g)));
          }
    }
}

TEST(LinearLayout, TransposedReadIsItsOwnExchange) {
  LinearLayout exchange = getTransposedReadLayout();
  for (int lane = 0; lane < 64; ++lane)
    for (int elt = 0; elt < 4; ++elt) {
      int c = lane % 16;
      EXPECT_EQ(at(exchange, {{"lane", lane}, {"elt", elt}}),
                rc(lane / 16 * 16 + 4 * elt + c / 4, c % 4));
    }
  LinearLayout identity = exchange.then(exchange.invert({6, 2}));
  for (int lane = 0; lane < 64; ++lane)
    EXPECT_EQ(at(identity, {{"lane", lane}, {"elt", lane % 4}}),
              rc(lane, lane % 4));
}

TEST(LinearLayout, ComposesAddAndXor) {
  // Rows of 128 elements, the 8-element chunk swizzled by the row.
  LinearLayout tile({"offset"}, LinearLayout::Combine::Xor);
  tile.add("row", {{128 + 8}, {256 + 16}, {512 + 32}, {1024}, {2048}, {4096}})
      .addLinear("col", 9, {1});
  LinearLayout read = getOperandLayout(2).then(tile);
  LinearLayout::Basis offset =
      read.apply({{"lane", 32 + 5}, {"elt", 3}, {"step", 2}});
  int64_t row = 5, col = 3 + 8 + 32;
  EXPECT_EQ(offset[0], row * 128 + (((col / 8) ^ row) * 8 + col % 8));
  EXPECT_FALSE(tile.isDisjoint());

  LinearLayout padded({"offset"});
  padded.addLinear("row", 6, {520}).addLinear("col", 9, {1});
  EXPECT_EQ(getOperandLayout(2).then(padded).apply({{"lane", 7}})[0], 7 * 520);
}

TEST(LinearLayout, Prints) {
  std::string text;
  llvm::raw_string_ostream(text) << "";
  llvm::raw_string_ostream os(text);
  LinearLayout({"offset"}).addLinear("row", 2, {10}).print(os);
  EXPECT_EQ(text, "(offset) by add; row: (10) (20)");
}

TEST(ChipInfo, UnknownChipNamesTheKnownOnes) {
  auto chip = lookupChip("gfx90a");
  ASSERT_FALSE(chip);
  EXPECT_EQ(llvm::toString(chip.takeError()),
            "expects chip to be one of gfx942, gfx950, but got 'gfx90a'");
}

TEST(ChipInfo, PackMethodFollowsTheConversions) {
  EXPECT_EQ((*lookupChip("gfx950"))->getPackMethod(ElementKind::BF16),
            PackMethod::Convert);
  EXPECT_EQ((*lookupChip("gfx942"))->getPackMethod(ElementKind::BF16),
            PackMethod::RoundNearestEvenBits);
  EXPECT_EQ((*lookupChip("gfx942"))->getPackMethod(ElementKind::F16),
            PackMethod::Convert);
}
