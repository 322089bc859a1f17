//===- KernelConfigTest.cpp - The rule and its LDS tiles ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/KernelConfig.h"

#include "gtest/gtest.h"
#include <set>

using namespace mlir::attn;

namespace {
class KernelConfigs
    : public testing::TestWithParam<std::tuple<const char *, ElementKind>> {
protected:
  /// Calls `check` for all pairs of head dims.
  template <typename F> void forEachConfig(F check) {
    auto [chip, kind] = GetParam();
    const ChipInfo &info = **lookupChip(chip);
    for (int64_t dqk = minHeadDim; dqk <= maxHeadDim; dqk += headDimStep)
      for (int64_t dv = minHeadDim; dv <= maxHeadDim; dv += headDimStep) {
        auto config = chooseKernelConfig(info, kind, dqk, dv);
        ASSERT_TRUE(bool(config)) << llvm::toString(config.takeError());
        check(*config);
      }
  }
};
} // namespace

TEST_P(KernelConfigs, FitsTheChip) {
  forEachConfig([](const KernelConfig &config) {
    EXPECT_LE(config.getLDSBytes(), int64_t(config.chip->ldsBytes));
    EXPECT_GE(config.stepsQK * 2 * config.getFragment(), config.headDimQK);
    EXPECT_GE(config.splitV * config.blocksV * 32, config.headDimV);
    EXPECT_EQ(config.blocksV % config.groupV, 0);
    // A few more than a cluster needs hold addresses.
    EXPECT_LE(config.getVGPREstimate(), int64_t(vgprBudget) - 16);
  });
}

// A DMA instruction puts its lanes side by side, and all of them together fill
// every element of the tile once.
TEST_P(KernelConfigs, StagingFillsTheTile) {
  forEachConfig([](const KernelConfig &config) {
    if (config.headDimQK % 64 || config.headDimV % 64)
      return; // the layouts depend on whole lines only
    for (bool isV : {false, true}) {
      LinearLayout source = config.getStagingLayout(isV);
      LinearLayout tile = config.getTileLayout(isV);
      LinearLayout target = source.then(tile);
      int64_t width = config.chip->dmaBytesPerLane / config.getElementBytes();
      std::set<int64_t> offsets;
      std::set<std::pair<int64_t, int64_t>> elements;
      for (int64_t i = 0; i < config.getStagingInstructions(isV); ++i)
        for (int64_t wave = 0; wave < wavesPerGroup; ++wave) {
          int64_t base = target.apply({{"instr", i}, {"wave", wave}})[0];
          for (int64_t lane = 0; lane < 64; ++lane)
            for (int64_t elt = 0; elt < width; ++elt) {
              LinearLayout::Coord at[] = {
                  {"instr", i}, {"wave", wave}, {"lane", lane}, {"elt", elt}};
              int64_t offset = target.apply(at)[0];
              ASSERT_EQ(offset, base + lane * width + elt);
              ASSERT_LT(offset, config.getTileElements(isV));
              LinearLayout::Basis rowCol = source.apply(at);
              ASSERT_LT(rowCol[0], config.tileKV);
              offsets.insert(offset);
              elements.insert({rowCol[0], rowCol[1]});
            }
        }
      size_t count = config.tileKV * config.getLine() *
                     (isV ? config.getLinesV() : config.getLinesK());
      EXPECT_EQ(offsets.size(), count);
      EXPECT_EQ(elements.size(), count);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, KernelConfigs,
                         testing::Combine(testing::Values("gfx942", "gfx950"),
                                          testing::Values(ElementKind::F16,
                                                          ElementKind::BF16,
                                                          ElementKind::F32)));

TEST(KernelConfig, PipelinesWhereItFits) {
  auto pipelined = [](llvm::StringRef chip, ElementKind kind, int64_t dqk,
                      int64_t dv) {
    return chooseKernelConfig(**lookupChip(chip), kind, dqk, dv)->pipelined;
  };
  EXPECT_TRUE(pipelined("gfx950", ElementKind::BF16, 128, 128));
  EXPECT_TRUE(pipelined("gfx942", ElementKind::BF16, 128, 128));
  EXPECT_TRUE(pipelined("gfx950", ElementKind::F16, 192, 128));
  EXPECT_TRUE(pipelined("gfx942", ElementKind::F16, 192, 128));
  EXPECT_TRUE(pipelined("gfx950", ElementKind::BF16, 256, 256));
  EXPECT_TRUE(pipelined("gfx942", ElementKind::BF16, 256, 256));
  EXPECT_FALSE(pipelined("gfx950", ElementKind::F32, 64, 64));
}

// Bias and mask go through LDS where it has room; else smaller parts do.
TEST(KernelConfig, StagesScoresWhereTheyFit) {
  auto choose = [](int64_t headDim, int64_t tileQ, int64_t bytes) {
    ScoreNeeds needs;
    needs.vgprs = needs.ldsVgprs = 8 * bytes;
    needs.ldsBytes = 2112 * bytes; // 32 rows of 64 keys, padded
    needs.ldsAddresses = 2;
    needs.clocks = 4;
    KernelKnobs knobs;
    knobs.tileQ = tileQ;
    return *chooseKernelConfig(**lookupChip("gfx950"), ElementKind::BF16,
                               headDim, headDim, /*shape=*/std::nullopt, knobs,
                               needs);
  };
  KernelConfig config = choose(128, 256, 4);
  EXPECT_TRUE(config.stagesScores);
  EXPECT_EQ(config.clustersQK, 1);
  EXPECT_EQ(config.getScoreVGPRs(), 0);
  EXPECT_LE(config.getLDSBytes(), int64_t(config.chip->ldsBytes));
  // Two groups of waves have tiles of K and V of their own.
  config = choose(128, 128, 4);
  EXPECT_FALSE(config.stagesScores);
  EXPECT_GT(config.clustersQK, 1);
  EXPECT_EQ(config.getScoreVGPRs(), 32);
  EXPECT_TRUE(choose(64, 128, 2).stagesScores);
  EXPECT_FALSE(choose(256, 128, 2).stagesScores);
}

// What the rule took is legal, and taken again changes nothing.
TEST_P(KernelConfigs, TakesItsOwnKnobs) {
  forEachConfig([](const KernelConfig &config) {
    KernelKnobs knobs = config.getKnobs();
    auto again =
        chooseKernelConfig(*config.chip, config.kind, config.headDimQK,
                           config.headDimV, /*shape=*/std::nullopt, knobs);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    KernelKnobs taken = again->getKnobs();
    for (const KernelKnob &knob : getKernelKnobs())
      EXPECT_EQ(taken.*knob.value, knobs.*knob.value) << knob.name.str();
  });
}
