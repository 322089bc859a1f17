//===- LaunchTest.cpp - A whole launch on the whole chip ------------------===//

#include "attn/Emulator/Timing/Launch.h"
#include "gtest/gtest.h"

using namespace attn::emu;

namespace {

TEST(Launch, WorkgroupsPerComputeUnit) {
  TimingTable table = TimingTable::get(Chip::GFX950);
  // 8 waves of 256 registers: two waves a SIMD, nothing left.
  EXPECT_EQ(getWorkgroupsPerCU(table, {8, 256, 65536}), 1u);
  EXPECT_EQ(getWorkgroupsPerCU(table, {8, 128, 65536}), 2u);
  // LDS allows two (160 KB), registers four.
  EXPECT_EQ(getWorkgroupsPerCU(table, {4, 128, 65536}), 2u);
  EXPECT_EQ(getWorkgroupsPerCU(TimingTable::get(Chip::GFX942), {4, 128, 65536}),
            1u);
  // At most 8 waves a SIMD; registers go by eights.
  EXPECT_EQ(getWorkgroupsPerCU(table, {4, 1, 0}), 8u);
  EXPECT_EQ(getWorkgroupsPerCU(table, {4, 121, 0}), 4u);
  EXPECT_EQ(getWorkgroupsPerCU(table, {4, 129, 0}), 3u);
  EXPECT_EQ(getWorkgroupsPerCU(table, {1, 512, 0}), 1u);
}

TEST(Launch, Interpolation) {
  std::pair<uint64_t, double> samples[] = {{0, 100}, {4, 20}, {8, 60}};
  EXPECT_EQ(interpolate(samples, 0), 100);
  EXPECT_EQ(interpolate(samples, 1), 80);
  EXPECT_EQ(interpolate(samples, 4), 20);
  EXPECT_EQ(interpolate(samples, 7), 50);
  EXPECT_EQ(interpolate(samples, 9), 60);
  EXPECT_EQ(interpolate({}, 9), 0);
}

LaunchProjection project(uint64_t workgroups, unsigned perCU,
                         llvm::function_ref<double(uint64_t)> clocks,
                         uint64_t memoryBytes = 0, uint64_t globalBytes = 0) {
  TimingTable table = TimingTable::get(Chip::GFX950);
  table.workgroupStart = 0;
  LaunchRequest request;
  request.workgroups = workgroups;
  request.perCU = perCU;
  request.clocks = clocks;
  request.memoryBytes = memoryBytes;
  request.globalBytes = globalBytes;
  return projectLaunch(table, request);
}

TEST(Launch, Makespan) {
  auto same = [](uint64_t) { return 2200.0; };
  // 256 compute units: one round, then a second one for the one too many.
  EXPECT_EQ(project(256, 1, same).makespanClocks, 2200);
  EXPECT_EQ(project(257, 1, same).makespanClocks, 4400);
  EXPECT_EQ(project(512, 2, same).makespanClocks, 2200);
  EXPECT_DOUBLE_EQ(project(256, 1, same).occupancy, 1);
  EXPECT_DOUBLE_EQ(project(128, 1, same).occupancy, 0.5);
  // 1 us at the nominal clock, and 2 us of overhead.
  EXPECT_DOUBLE_EQ(project(256, 1, same).microseconds, 3);
  EXPECT_EQ(project(0, 1, same).makespanClocks, 0);
}

TEST(Launch, HeaviestFirstIsShorter) {
  // Work falls or rises with the id.
  auto falling = [](uint64_t id) { return 1000.0 * (512 - id); };
  auto rising = [](uint64_t id) { return 1000.0 * (id + 1); };
  EXPECT_LT(project(512, 1, falling).makespanClocks,
            0.8 * project(512, 1, rising).makespanClocks);
}

TEST(Launch, XCDsInTurn) {
  // Every eighth workgroup is long: all of them on one die.
  auto clocks = [](uint64_t id) { return id % 8 ? 1.0 : 1000.0; };
  EXPECT_EQ(project(256, 1, clocks).makespanClocks, 1000);
  EXPECT_EQ(project(512, 1, clocks).makespanClocks, 2000);
}

TEST(Launch, BandwidthBounds) {
  auto none = [](uint64_t) { return 1.0; };
  LaunchProjection result = project(8, 1, none, 8000 * 1000ull * 10, 0);
  EXPECT_DOUBLE_EQ(result.hbmMicroseconds, 10);
  EXPECT_DOUBLE_EQ(result.microseconds, 12);
  // 8 dies, 2048 B a clock, 2200 clocks a microsecond.
  result = project(8, 1, none, 0, 8ull * 2048 * 2200 * 5);
  EXPECT_DOUBLE_EQ(result.l2Microseconds, 5);
}

} // namespace
