//===- CUModelTest.cpp - One rule of the model at a time ------------------===//

#include "Microkernel.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace attn::emu;

namespace {

/// Clocks that \p text takes in a loop of one wave, over those of the loop
/// alone.
double costOf(Chip chip, const std::string &text,
              const std::string &prologue = "") {
  Microkernel kernel;
  kernel.chip = chip;
  kernel.waves = 1;
  kernel.prologue = prologue;
  double base = simulate(kernel).getIterationClocks();
  kernel.body = text;
  return simulate(kernel).getIterationClocks() - base;
}
double costOf(const std::string &text, const std::string &prologue = "") {
  return costOf(Chip::GFX950, text, prologue);
}
uint64_t clocksOf(const WaveTiming &wave, WaveActivity activity) {
  return wave.clocks[static_cast<unsigned>(activity)];
}

TEST(CUModel, VectorRates) {
  EXPECT_EQ(costOf(repeat(10, "  v_add_f32 v#0, v10, v11\n", 100)), 40);
  // Dependent ones go back to back.
  EXPECT_EQ(costOf(repeat(10, "  v_add_f32 v10, v10, v11\n")), 40);
  std::string exps = repeat(10, "  v_exp_f32 v#0, v10\n", 100);
  // The scalar end of the loop runs beside the last one.
  EXPECT_NEAR(costOf(Chip::GFX950, exps), 80, 8);
  EXPECT_NEAR(costOf(Chip::GFX942, exps), 160, 16);
  EXPECT_NEAR(costOf(repeat(10, "  v_mul_lo_u32 v#0, v10, v11\n", 100)), 160,
              16);
}

TEST(CUModel, ResultsAreWaitedFor) {
  // A reader of an exponential: 8 clk in the pipe, 4 more.
  EXPECT_EQ(costOf("  v_exp_f32 v100, v10\n  v_add_f32 v101, v100, v11\n"), 16);
  // A reader of a matrix result: 32 clk in the pipe, 20 more; then its own 4.
  std::string chain = mfma(Chip::GFX950, 32);
  EXPECT_EQ(costOf(chain + "  v_add_f32 v101, v40, v11\n"), 56);
  // A C operand on the same registers costs nothing.
  EXPECT_EQ(costOf(chain + chain + chain + "  v_add_f32 v101, v40, v11\n"),
            64 + 56);
}

TEST(CUModel, NopSleepAndBranch) {
  EXPECT_EQ(costOf("  s_nop 0\n"), 4);
  EXPECT_EQ(costOf("  s_nop 7\n"), 32);
  EXPECT_EQ(costOf("  s_sleep 2\n"), 128);
  EXPECT_EQ(costOf("  s_branch next\nnext:\n"),
            // The next instruction, but a branch all the same.
            TimingTable::get(Chip::GFX950).branchClocks);
}

TEST(CUModel, WaitsForLDS) {
  TimingTable table = TimingTable::get(Chip::GFX950);
  std::string read = "  ds_read_b128 v[100:103], v1\n";
  std::string wait = "  s_waitcnt lgkmcnt(0)\n";
  // 4 clk at full width, the latency, to the next turn, and the wait's own.
  EXPECT_EQ(costOf(read + wait), 4 + table.ldsLatency + 4);
  // Reads queue up behind each other.
  EXPECT_EQ(costOf(repeat(8, read) + wait), 8 * 4 + table.ldsLatency + 4);
  // A counted wait leaves the last ones out.
  EXPECT_EQ(costOf(repeat(8, read) + "  s_waitcnt lgkmcnt(7)\n" +
                   "  v_add_f32 v10, v10, v11\n" + wait),
            costOf(repeat(8, read) + wait));
}

TEST(CUModel, LDSIsSharedByTheWaves) {
  Microkernel kernel;
  kernel.waves = 8;
  for (unsigned n = 0; n < 12; ++n)
    kernel.body += "  ds_read_b128 v[100:103], v1\n";
  kernel.body += "  s_waitcnt lgkmcnt(0)\n";
  // 8 waves, 12 reads of 1 KB, 256 B a clock.
  CUTiming wide = simulate(kernel);
  EXPECT_NEAR(wide.getIterationClocks(), 8 * 12 * 4, 40);
  EXPECT_EQ(wide.getSteadyLDSConflicts(), 0);
  kernel.chip = Chip::GFX942;
  EXPECT_NEAR(simulate(kernel).getIterationClocks(), 8 * 12 * 8, 40);
  // All lanes in the same four banks.
  kernel.prologue = "  v_lshlrev_b32 v1, 8, v0\n";
  kernel.body = "  ds_read_b128 v[100:103], v1\n  s_waitcnt lgkmcnt(0)\n";
  CUTiming conflicts = simulate(kernel);
  EXPECT_GE(conflicts.getIterationClocks(), 8 * 64);
  EXPECT_EQ(conflicts.getSteadyLDSConflicts(), 8 * 56);
}

TEST(CUModel, CountedVMEMWaits) {
  TimingTable table = TimingTable::get(Chip::GFX950);
  std::string load =
      "  buffer_load_dwordx4 v[100:103], v1, s[12:15], 0 offen\n";
  double all = costOf(load + load + "  s_waitcnt vmcnt(0)\n");
  EXPECT_GT(all, table.vmemLatency);
  EXPECT_LT(all, table.vmemLatency + 100);
  // The first of two, an iteration later: no wait at all when the iteration
  // is long.
  std::string work = repeat(200, "  v_add_f32 v110, v10, v11\n");
  EXPECT_EQ(costOf(load + work + "  s_waitcnt vmcnt(1)\n"), 4 + 800 + 4);
}

TEST(CUModel, CountsBytesAfterAccessesOutOfRange) {
  Microkernel kernel;
  kernel.waves = 1;
  kernel.iterations = 2;
  kernel.prologue = "  v_mov_b32 v2, 0x7fffffff\n  s_mov_b32 m0, 0\n";
  kernel.body = "  buffer_load_dword v3, v2, s[12:15], 0 offen\n"
                "  buffer_load_dwordx4 v1, s[12:15], 0 offen lds\n"
                "  s_waitcnt vmcnt(0)\n";
  std::vector<WorkgroupTrace> traces = record(kernel);
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].globalBytes, 2u * 64 * 16);
}

TEST(CUModel, DMAWritesLDS) {
  Microkernel kernel;
  kernel.waves = 4;
  kernel.prologue = "  s_mov_b32 m0, 0\n";
  kernel.body = "  buffer_load_dwordx4 v1, s[12:15], 0 offen lds\n"
                "  s_waitcnt vmcnt(0)\n";
  CUTiming timing = simulate(kernel);
  // 4 waves, 8 iterations, 1 KB at 256 B a clock.
  EXPECT_EQ(timing.ldsBusy, 4u * 8 * 4);
  EXPECT_GT(clocksOf(timing.waves[0], WaveActivity::VMEMWait), 8u * 500);
}

TEST(CUModel, BarrierWaitsForTheSlowest) {
  Microkernel kernel;
  kernel.waves = 4;
  // Wave 3 has more to do.
  kernel.body = "  s_cmp_lt_u32 s21, 3\n  s_cbranch_scc1 short\n" +
                repeat(100, "  v_add_f32 v110, v10, v11\n") +
                "short:\n  s_barrier\n";
  CUTiming timing = simulate(kernel);
  uint64_t fast = clocksOf(timing.waves[0], WaveActivity::Barrier);
  uint64_t slow = clocksOf(timing.waves[3], WaveActivity::Barrier);
  EXPECT_NEAR(double(fast - slow), 8 * (400 - 16), 8 * 8);
  // The barrier's own cost is a constant of the table.
  TimingTable table = TimingTable::get(Chip::GFX950);
  table.barrierClocks += 24;
  EXPECT_EQ(simulate(kernel, &table).getIterationClocks(),
            timing.getIterationClocks() + 24);
}

TEST(CUModel, PriorityDecides) {
  // Two waves of a SIMD that want the vector pipe all the time.
  Microkernel kernel;
  kernel.waves = 8;
  kernel.body = repeat(100, "  v_add_f32 v110, v10, v11\n");
  auto endsBefore = [&](unsigned a, unsigned b) {
    CUTiming timing = simulate(kernel);
    return timing.waves[a].end < timing.waves[b].end;
  };
  // The oldest first.
  EXPECT_TRUE(endsBefore(0, 4));
  kernel.prologue = "  s_cmp_lt_u32 s21, 4\n  s_cbranch_scc1 low\n"
                    "  s_setprio 3\nlow:\n";
  EXPECT_TRUE(endsBefore(4, 0));
}

TEST(CUModel, ActivitiesSumToTheWavesTime) {
  Microkernel kernel;
  kernel.waves = 8;
  kernel.workgroups = 2;
  kernel.body = mfma(Chip::GFX950, 32) +
                "  ds_read_b128 v[100:103], v1\n"
                "  s_waitcnt lgkmcnt(0)\n  s_barrier\n  s_nop 3\n"
                "  v_add_f32 v101, v40, v11\n";
  CUTiming timing = simulate(kernel);
  ASSERT_EQ(timing.waves.size(), 16u);
  EXPECT_EQ(timing.workgroups, 2u);
  EXPECT_EQ(timing.iterations, 8u);
  for (const WaveTiming &wave : timing.waves)
    EXPECT_EQ(
        std::accumulate(wave.clocks.begin(), wave.clocks.end(), uint64_t(0)),
        wave.end - wave.begin);
  EXPECT_GT(timing.prologueClocks, 0);
  EXPECT_GT(timing.epilogueClocks, 0);
}

TEST(CUModel, InnermostLoopIsTheMainOne) {
  Microkernel kernel;
  kernel.iterations = 3;
  kernel.body = "  s_movk_i32 s24, 5\ninner:\n" + mfma(Chip::GFX950, 32) +
                "  s_sub_u32 s24, s24, 1\n  s_cmp_lg_u32 s24, 0\n"
                "  s_cbranch_scc1 inner\n";
  CUTiming timing = simulate(kernel);
  EXPECT_EQ(timing.iterations, 15u);
}

TEST(CUModel, Errors) {
  TimingTable table = TimingTable::get(Chip::GFX950);
  EXPECT_EQ(llvm::toString(simulateCU(table, {}).takeError()),
            "the timing model expects a workgroup, but none was recorded");
  Microkernel kernel;
  kernel.waves = 16;
  kernel.workgroups = 3;
  std::vector<WorkgroupTrace> groups = record(kernel);
  std::vector<const WorkgroupTrace *> pointers;
  for (const WorkgroupTrace &group : groups)
    pointers.push_back(&group);
  EXPECT_EQ(llvm::toString(simulateCU(table, pointers).takeError()),
            "a compute unit expects at most 32 waves, but got 48");
  CUOptions options;
  options.maxClocks = 100;
  pointers.resize(1);
  EXPECT_EQ(llvm::toString(simulateCU(table, pointers, options).takeError()),
            "the timing model gave up after 100 clocks");
}

} // namespace
