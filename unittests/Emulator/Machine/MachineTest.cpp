//===- MachineTest.cpp - Launches, memory, limits -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsmKernel.h"
#include "llvm/Support/JSON.h"
#include <cstring>

using namespace attn::emu;
using namespace llvm;

namespace {

class MachineTest : public testing::TestWithParam<Chip> {
protected:
  std::string errorOf(AsmRun &run, const AsmKernel &kernel) {
    if (run.in.empty())
      run.in.assign(64, 0);
    if (run.out.empty())
      run.out.assign(64, 0);
    auto report = run.run(GetParam(), kernel);
    return report ? "" : toString(report.takeError());
  }
};

TEST_P(MachineTest, IdsOfGridAndBlock) {
  // out[linear work-item] = x | y << 10 | z << 20 | group x << 4 ... packed.
  AsmKernel kernel;
  kernel.body = R"(
    v_and_b32 v1, 0x3ff, v0
    v_bfe_u32 v2, v0, 10, 10
    v_bfe_u32 v3, v0, 20, 10
    ; item = (z * 2 + y) * 40 + x in a block of 40 x 2 x 3
    v_lshl_add_u32 v4, v3, 1, v2
    v_mul_u32_u24 v4, 40, v4
    v_add_u32 v4, v4, v1
    ; group = (gz * 3 + gy) * 2 + gx in a grid of 2 x 3 x 2
    s_mul_i32 s12, s4, 3
    s_add_u32 s12, s12, s3
    s_lshl_b32 s12, s12, 1
    s_add_u32 s12, s12, s2
    s_mul_i32 s13, s12, 240
    v_add_u32 v4, s13, v4
    v_lshlrev_b32 v5, 2, v4
    v_mov_b32 v6, s12
    v_lshl_or_b32 v6, v6, 16, v1
    v_lshl_or_b32 v6, v2, 8, v6
    v_lshl_or_b32 v6, v3, 12, v6
    global_store_dword v5, v6, s[10:11]
  )";
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(12 * 240, 0xffffffff);
  run.grid = {2, 3, 2};
  run.block = {40, 2, 3};
  run.options.checks = CheckSet::all();
  run.checkOutputs = true;
  Report report = cantFail(run.run(GetParam(), kernel));
  EXPECT_EQ(getChecksFired(report), "");
  for (unsigned group = 0; group < 12; ++group)
    for (unsigned item = 0; item < 240; ++item) {
      unsigned x = item % 40, y = item / 40 % 2, z = item / 80;
      ASSERT_EQ(run.out[group * 240 + item], group << 16 | z << 12 | y << 8 | x)
          << group << " " << item;
    }
  EXPECT_EQ(report.statistics.workgroups, 12u);
  EXPECT_EQ(report.statistics.waves, 48u);
  EXPECT_EQ(report.statistics.globalWriteBytes, 12u * 240 * 4);
}

TEST_P(MachineTest, HiddenArguments) {
  AsmKernel kernel;
  kernel.body = R"(
    s_load_dwordx4 s[12:15], s[0:1], 0x10
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v2, s12
    v_mov_b32 v3, s13
    v_mov_b32 v4, s14
    global_store_dwordx3 v1, v[2:4], s[10:11]
  )";
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(3, 0);
  run.grid = {7, 1, 1};
  run.block = {96, 1, 1};
  run.dynamicLDSBytes = 1234;
  cantFail(run.run(GetParam(), kernel));
  EXPECT_EQ(run.out[0], 7u);
  EXPECT_EQ(run.out[1] & 0xffff, 96u);
  EXPECT_EQ(run.out[2], 1234u);
}

TEST_P(MachineTest, BadLaunches) {
  AsmKernel kernel;
  kernel.body = "s_nop 0";
  AsmRun run;
  run.grid = {0, 1, 1};
  EXPECT_EQ(errorOf(run, kernel), "kernel 'k': expects a grid of at least 1 "
                                  "workgroup in x, but got 0");
  run.grid = {1, 65536, 1};
  EXPECT_EQ(errorOf(run, kernel), "kernel 'k': expects at most 65535 "
                                  "workgroups in y, but got 65536");
  run.grid = {1, 1, 1};
  run.block = {512, 4, 1};
  EXPECT_EQ(errorOf(run, kernel), "kernel 'k': expects at most 1024 "
                                  "work-items in a workgroup, but got 2048");
  run.block = {64, 1, 1};
  run.dynamicLDSBytes = 163841;
  std::string limit = std::to_string(getMaxLDSBytes(GetParam()));
  EXPECT_EQ(errorOf(run, kernel),
            "kernel 'k': expects at most " + limit + " bytes of LDS on " +
                getChipName(GetParam()).str() + ", but got 163841");
}

TEST_P(MachineTest, WrongChipAndArguments) {
  Chip other = GetParam() == Chip::GFX942 ? Chip::GFX950 : Chip::GFX942;
  AsmKernel kernel;
  kernel.body = "s_nop 0";
  auto object = cantFail(assemble(GetParam(), kernel));
  Machine wrong(other);
  uint8_t bytes[40] = {};
  auto report = wrong.launch(*object, {}, ArrayRef(bytes, 16));
  ASSERT_FALSE(report);
  EXPECT_NE(toString(report.takeError()).find("but the machine is a"),
            std::string::npos);
  Machine machine(GetParam());
  for (size_t size : {15, 33}) {
    auto mismatch = machine.launch(*object, {}, ArrayRef(bytes, size));
    ASSERT_FALSE(mismatch);
    EXPECT_EQ(toString(mismatch.takeError()),
              "kernel 'k': expects 16 bytes of kernel arguments, but got " +
                  std::to_string(size));
  }
  KernargBuilder args(*cantFail(object->getKernel("k")));
  EXPECT_EQ(toString(args.setValue<uint32_t>(0, 1)),
            "kernel 'k', argument 'in': expects 8 bytes, but got 4");
  EXPECT_EQ(toString(args.setValue<uint64_t>(2, 1)),
            "kernel 'k' has 2 arguments, but argument 2 was set");
  EXPECT_EQ(toString(args.set("x", {})), "kernel 'k' has no argument 'x'");
}

TEST_P(MachineTest, FaultsNameTheInstruction) {
  AsmKernel kernel;
  kernel.body = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\n"
                "global_load_dword v4, v[2:3], off\n";
  AsmRun run;
  std::string error = errorOf(run, kernel);
  EXPECT_NE(error.find("'global_load_dword v4, v[2:3], off' loads 4 bytes at "
                       "address 0x0, which is in no buffer"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("workgroup (0, 0, 0), wave 0"), std::string::npos);
}

TEST_P(MachineTest, UnknownInstruction) {
  AsmKernel kernel;
  kernel.body = "v_interp_p1_f32 v0, v1, attr0.x";
  kernel.body = "s_cbranch_g_fork s[12:13], s[14:15]";
  AsmRun run;
  std::string error = errorOf(run, kernel);
  EXPECT_NE(error.find("no semantics for 's_cbranch_g_fork' (encoding "),
            std::string::npos)
      << error;
}

TEST_P(MachineTest, EndlessLoop) {
  AsmKernel kernel;
  kernel.body = "L:\ns_branch L";
  AsmRun run;
  run.options.maxInstructionsPerWave = 10000;
  EXPECT_NE(errorOf(run, kernel).find("has not ended after 10000 instructions"),
            std::string::npos);
}

TEST_P(MachineTest, SchedulesDiffer) {
  // Every wave adds its turn to a counter in LDS and stores what it found.
  AsmKernel kernel;
  kernel.ldsBytes = 64;
  kernel.body = R"(
    v_lshrrev_b32 v1, 6, v0
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    s_mov_b64 exec, 1
    ds_add_rtn_u32 v4, v2, v3
    s_waitcnt lgkmcnt(0)
    v_lshlrev_b32 v1, 2, v1
    global_store_dword v1, v4, s[10:11]
  )";
  auto order = [&](Schedule schedule, uint64_t seed) {
    AsmRun run;
    run.in.assign(1, 0);
    run.out.assign(16, 99);
    run.block = {1024, 1, 1};
    run.options.schedule = schedule;
    run.options.seed = seed;
    cantFail(run.run(GetParam(), kernel));
    return run.out;
  };
  std::vector<uint32_t> up = order(Schedule::RoundRobin, 1);
  std::vector<uint32_t> down = order(Schedule::Reversed, 1);
  for (unsigned wave = 0; wave < 16; ++wave) {
    EXPECT_EQ(up[wave], wave);
    EXPECT_EQ(down[wave], 15 - wave);
  }
  EXPECT_EQ(order(Schedule::Random, 5), order(Schedule::Random, 5));
  EXPECT_NE(order(Schedule::Random, 5), order(Schedule::Random, 6));
}

TEST_P(MachineTest, ThreadsAgree) {
  AsmKernel kernel;
  kernel.body = "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\n"
                "global_atomic_add v1, v2, s[10:11]\n";
  for (unsigned threads : {1, 2, 5}) {
    AsmRun run;
    run.in.assign(1, 0);
    run.out.assign(1, 0);
    run.outRole = BufferRole::InOut;
    run.grid = {100, 1, 1};
    run.options.threads = threads;
    Report report = cantFail(run.run(GetParam(), kernel));
    EXPECT_EQ(run.out[0], 6400u);
    EXPECT_EQ(report.statistics.getTotalInstructions(), 600u);
  }
}

TEST_P(MachineTest, WorkgroupRange) {
  AsmKernel kernel;
  kernel.body = "s_lshl_b32 s12, s2, 2\nv_mov_b32 v1, s12\nv_mov_b32 v2, 1\n"
                "global_store_dword v1, v2, s[10:11]\n";
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(8, 0);
  run.grid = {8, 1, 1};
  run.options.workgroupBegin = 6;
  cantFail(run.run(GetParam(), kernel));
  EXPECT_EQ(run.out, (std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 1, 1}));
}

TEST_P(MachineTest, SparseBufferBeyond4GiB) {
  // One word at 6 GiB of an 8 GiB buffer; nothing else is touched.
  AsmKernel kernel;
  kernel.body = R"(
    s_mov_b32 s12, 0x80000000
    s_add_u32 s14, s10, s12
    s_addc_u32 s15, s11, 1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 42
    global_store_dword v1, v2, s[14:15]
  )";
  auto object = cantFail(assemble(GetParam(), kernel));
  Machine machine(GetParam());
  uint64_t size = uint64_t(8) << 30, at = uint64_t(6) << 30;
  uint64_t out = cantFail(machine.allocate("big", size, BufferRole::InOut));
  KernargBuilder args(*cantFail(object->getKernel("k")));
  cantFail(args.setValue<uint64_t>(0, out));
  cantFail(args.setValue<uint64_t>(1, out));
  LaunchOptions options;
  options.checks = CheckSet::all();
  Report report =
      cantFail(machine.launch(*object, {}, args.getBytes(), options));
  EXPECT_EQ(getChecksFired(report), "");
  uint32_t value;
  std::memcpy(&value, machine.getHostPointer(out + at), 4);
  EXPECT_EQ(value, 42u);
  // Outside the parts that count as mapped it is a violation.
  cantFail(machine.addAccessibleRange(out, 0, 4096));
  report = cantFail(machine.launch(*object, {}, args.getBytes(), options));
  EXPECT_EQ(getChecksFired(report), "bounds");
  cantFail(machine.addAccessibleRange(out, at, 4));
  report = cantFail(machine.launch(*object, {}, args.getBytes(), options));
  EXPECT_EQ(getChecksFired(report), "");
}

TEST_P(MachineTest, FloatModes) {
  AsmKernel kernel;
  kernel.body = R"(
    v_mov_b32 v1, 0
    v_mov_b32 v2, 0x00000001
    v_mov_b32 v3, 1.0
    v_mov_b32 v4, 0x33800000
    v_mul_f32 v6, v2, v3
    v_add_f32 v7, v3, v4
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    s_nop 1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
    v_mul_f32 v8, v2, v3
    v_add_f32 v9, v3, v4
    global_store_dwordx4 v1, v[6:9], s[10:11]
  )";
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(4, 0);
  cantFail(run.run(GetParam(), kernel));
  EXPECT_EQ(run.out[0], 1u) << "denormals are kept by default";
  EXPECT_EQ(run.out[1], 0x3f800000u) << "ties to even";
  EXPECT_EQ(run.out[2], 0u) << "flushed";
  EXPECT_EQ(run.out[3], 0x3f800001u) << "toward plus infinity";
}

TEST_P(MachineTest, FlatApertures) {
  // A flat store through the LDS aperture and one through scratch.
  AsmKernel kernel;
  kernel.ldsBytes = 256;
  kernel.scratchBytes = 16;
  kernel.body = R"(
    s_mov_b64 s[12:13], src_shared_base
    s_mov_b64 s[14:15], src_private_base
    v_mov_b32 v2, 16
    v_mov_b32 v3, s13
    v_mov_b32 v4, 11
    flat_store_dword v[2:3], v4
    v_mov_b32 v6, 4
    v_mov_b32 v7, s15
    v_mov_b32 v8, 22
    flat_store_dword v[6:7], v8
    s_waitcnt vmcnt(0) lgkmcnt(0)
    ds_read_b32 v10, v2
    scratch_load_dword v11, off, off offset:4
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_mov_b32 v1, 0
    global_store_dwordx2 v1, v[10:11], s[10:11]
  )";
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(2, 0);
  run.options.checks = CheckSet::all();
  Report report = cantFail(run.run(GetParam(), kernel));
  // All lanes write the same LDS dword, which one wave may do.
  EXPECT_EQ(getChecksFired(report), "");
  EXPECT_EQ(run.out[0], 11u);
  EXPECT_EQ(run.out[1], 22u);
}

TEST_P(MachineTest, TraceAndStatistics) {
  AsmKernel kernel;
  kernel.body = "v_mov_b32 v1, 3\nv_add_u32 v2, 4, v1\n";
  std::string text;
  raw_string_ostream os(text);
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(1, 0);
  run.grid = {2, 1, 1};
  run.options.trace.os = &os;
  run.options.trace.workgroup = 1;
  Report report = cantFail(run.run(GetParam(), kernel));
  EXPECT_NE(text.find("v_add_u32_e32 v2, 4, v1 | v1=3 -> v2=7\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(StringRef(text).count('\n'), 5u);
  auto *object = report.toJSON().getAsObject();
  ASSERT_TRUE(object);
  json::Value value = report.toJSON();
  const json::Object &statistics =
      *value.getAsObject()->getObject("statistics");
  EXPECT_EQ(statistics.getInteger("totalInstructions"), 10);
  EXPECT_EQ(statistics.getObject("instructions")->getInteger("valu"), 4);
}

TEST_P(MachineTest, SkippedVectorInstructions) {
  AsmKernel kernel;
  kernel.body = R"(
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_mov_b32 s12, 2
    s_setvskip s12, 1
    v_mov_b32 v2, 2
    s_mov_b32 s13, 5
    s_branch L
    s_nop 0
  L:
    global_store_dword v1, v2, s[10:11] offset:4
    s_setvskip 0, 0
    v_add_u32 v2, s13, v2
    global_store_dword v1, v2, s[10:11]
  )";
  AsmRun run;
  run.in.assign(1, 0);
  run.out.assign(2, 77);
  cantFail(run.run(GetParam(), kernel));
  EXPECT_EQ(run.out[0], 6u) << "scalar instructions go on";
  EXPECT_EQ(run.out[1], 77u) << "the store was skipped";
}

TEST_P(MachineTest, ScalarStoresAndAtomics) {
  AsmKernel kernel;
  kernel.body = R"(
    s_mov_b32 s12, 0x11
    s_mov_b32 s13, 0x22
    s_store_dwordx2 s[12:13], s[10:11], 0x4
    s_mov_b32 s14, 100
    s_atomic_add s14, s[10:11], 0x0 glc
    s_waitcnt lgkmcnt(0)
    s_store_dword s14, s[10:11], 0xc
    s_dcache_wb
  )";
  AsmRun run;
  run.in.assign(1, 0);
  run.out = {7, 0, 0, 0};
  run.outRole = BufferRole::InOut;
  cantFail(run.run(GetParam(), kernel));
  EXPECT_EQ(run.out, (std::vector<uint32_t>{107, 0x11, 0x22, 7}));
}

TEST_P(MachineTest, AllocateAndRelease) {
  Machine machine(GetParam());
  uint64_t first = cantFail(machine.allocate("a", 100));
  uint64_t second = cantFail(machine.allocate("b", 0));
  EXPECT_EQ(first % 4096, 0u);
  EXPECT_GE(second - first, 100u + (1 << 20));
  ASSERT_TRUE(machine.getHostPointer(first + 99));
  EXPECT_EQ(machine.getHostPointer(first + 100), nullptr);
  cantFail(machine.release(first));
  EXPECT_EQ(machine.getHostPointer(first), nullptr);
  EXPECT_TRUE(errorToBool(machine.release(first)));
}

INSTANTIATE_TEST_SUITE_P(Chips, MachineTest,
                         testing::Values(Chip::GFX942, Chip::GFX950),
                         [](const auto &info) {
                           return getChipName(info.param).str();
                         });

TEST(Options, Parse) {
  EXPECT_EQ(cantFail(parseCheckSet("all")), CheckSet::all());
  EXPECT_EQ(cantFail(parseCheckSet("none")), CheckSet::none());
  CheckSet set = cantFail(parseCheckSet("races,waits"));
  EXPECT_TRUE(set.has(Check::Races) && set.has(Check::Waits));
  EXPECT_FALSE(set.has(Check::Bounds));
  EXPECT_FALSE(cantFail(parseCheckSet("all,-hazards")).has(Check::Hazards));
  auto bad = parseCheckSet("race");
  ASSERT_FALSE(bad);
  EXPECT_EQ(toString(bad.takeError()),
            "expects checks out of none, all, bounds, unwritten, "
            "uninitialized, races, waits, hazards, alignment, buffer-range, "
            "barriers, but got 'race'");
  EXPECT_EQ(cantFail(parseSchedule("reversed")), Schedule::Reversed);
  auto schedule = parseSchedule("x");
  ASSERT_FALSE(schedule);
  EXPECT_EQ(toString(schedule.takeError()),
            "expects a schedule out of round-robin, reversed, random, but got "
            "'x'");
}

} // namespace
