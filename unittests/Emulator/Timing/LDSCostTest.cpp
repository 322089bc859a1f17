//===- LDSCostTest.cpp - Bank conflicts -----------------------------------===//

#include "attn/Emulator/Timing/TimingTrace.h"
#include "gtest/gtest.h"
#include <functional>

using namespace attn::emu;

namespace {

LDSCost cost(Chip chip, unsigned bytes, bool isRead,
             const std::function<uint64_t(unsigned)> &address,
             uint64_t active = ~uint64_t(0)) {
  uint64_t addresses[64];
  for (unsigned lane = 0; lane < 64; ++lane)
    addresses[lane] = address(lane);
  return getLDSCost(chip, addresses, active, bytes, isRead);
}

TEST(LDSCost, ConsecutiveAccessesFillTheBanks) {
  // 64 lanes of n bytes over 128 or 256 bytes a clock.
  for (unsigned bytes : {4, 8, 16})
    for (bool isRead : {false, true}) {
      auto address = [&](unsigned lane) { return uint64_t(lane) * bytes; };
      LDSCost gfx942 = cost(Chip::GFX942, bytes, isRead, address);
      EXPECT_EQ(gfx942.passes, 64 * bytes / 128) << bytes;
      EXPECT_EQ(gfx942.conflicts, 0u);
      LDSCost gfx950 = cost(Chip::GFX950, bytes, isRead, address);
      EXPECT_EQ(gfx950.passes, 64 * bytes / 256) << bytes;
      EXPECT_EQ(gfx950.conflicts, 0u);
    }
}

TEST(LDSCost, SameDwordIsBroadcast) {
  LDSCost all = cost(Chip::GFX942, 4, true, [](unsigned) { return 64; });
  EXPECT_EQ(all.passes, 2u);
  EXPECT_EQ(all.conflicts, 0u);
}

TEST(LDSCost, PowerOfTwoStrideSerialises) {
  // Every lane of a group of 32 in one bank.
  LDSCost worst = cost(Chip::GFX942, 4, true,
                       [](unsigned lane) { return uint64_t(lane) * 128; });
  EXPECT_EQ(worst.passes, 64u);
  EXPECT_EQ(worst.conflicts, 62u);
  // The same addresses use two of the 64 banks of the other chip.
  EXPECT_EQ(cost(Chip::GFX950, 4, true,
                 [](unsigned lane) { return uint64_t(lane) * 128; })
                .passes,
            32u);
}

TEST(LDSCost, WideReadsGoInTheMeasuredGroups) {
  // Lanes 0-3 and 20-23 are one group of gfx942, lanes 0-3 and 4-7 are not:
  // put each pair on the same banks.
  auto clash = [](unsigned other) {
    return [other](unsigned lane) -> uint64_t {
      return lane < 4 ? lane * 16 : 128 * 4 + (lane - other) * 16;
    };
  };
  uint64_t firstAnd20 = 0xfull | 0xfull << 20, firstAnd4 = 0xffull;
  EXPECT_EQ(cost(Chip::GFX942, 16, true, clash(20), firstAnd20).conflicts, 1u);
  EXPECT_EQ(cost(Chip::GFX942, 16, true, clash(4), firstAnd4).conflicts, 0u);
  // Writes go by consecutive lanes.
  EXPECT_EQ(cost(Chip::GFX942, 16, false, clash(4), firstAnd4).conflicts, 1u);
  EXPECT_EQ(cost(Chip::GFX942, 16, false, clash(20), firstAnd20).conflicts, 0u);
  // gfx950: lanes 0-3, 12-15, 20-23, 24-27.
  uint64_t firstAnd12 = 0xfull | 0xfull << 12;
  EXPECT_EQ(cost(Chip::GFX950, 16, true, clash(12), firstAnd12).conflicts, 1u);
  EXPECT_EQ(cost(Chip::GFX950, 16, true, clash(4), firstAnd4).conflicts, 0u);
}

TEST(LDSCost, LanesThatAreOffCostNothing) {
  EXPECT_EQ(
      cost(Chip::GFX950, 16, true, [](unsigned) { return 0; }, 0).passes, 0u);
  EXPECT_EQ(cost(
                Chip::GFX942, 16, false,
                [](unsigned lane) { return uint64_t(lane) * 16; }, 0xff)
                .passes,
            1u);
}

} // namespace
