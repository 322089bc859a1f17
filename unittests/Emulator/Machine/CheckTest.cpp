//===- CheckTest.cpp - Every check fires, and only when it should ---------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsmKernel.h"

using namespace attn::emu;
using namespace llvm;

namespace {

/// v1 = 4 * lane number in the workgroup; `out[i]` at offset v1 from s[10:11].
const char *const prologue = "v_and_b32 v1, 0x3ff, v0\n"
                             "v_lshlrev_b32 v1, 2, v1\n";

class CheckTest : public testing::TestWithParam<Chip> {
protected:
  /// Checks that fire for `body`, all on.
  std::string fired(const std::string &body, unsigned waves = 1,
                    uint32_t ldsBytes = 4096, uint32_t scratchBytes = 0) {
    AsmKernel kernel;
    kernel.body = prologue + body;
    kernel.ldsBytes = ldsBytes;
    kernel.scratchBytes = scratchBytes;
    run.in.assign(1024, 7);
    run.out.assign(1024, 0);
    run.block = {64 * waves, 1, 1};
    run.options.checks = CheckSet::all();
    auto report = run.run(GetParam(), kernel);
    if (!report)
      return "error: " + toString(report.takeError());
    last = *report;
    return getChecksFired(*report);
  }
  /// The first finding of `check`.
  const Finding *find(Check check) const {
    for (const Finding &finding : last.findings)
      if (finding.check == check)
        return &finding;
    return nullptr;
  }
  AsmRun run;
  Report last;
};

const char *const store = "global_store_dword v1, v2, s[10:11]\n";

TEST_P(CheckTest, CleanKernelIsClean) {
  EXPECT_EQ(fired("global_load_dword v2, v1, s[8:9]\n"
                  "s_waitcnt vmcnt(0)\n"
                  "v_add_u32 v2, 1, v2\n" +
                  std::string(store)),
            "");
  EXPECT_EQ(run.out[63], 8u);
}

TEST_P(CheckTest, WaitVMEM) {
  EXPECT_EQ(fired("global_load_dword v2, v1, s[8:9]\n"
                  "v_add_u32 v2, 1, v2\n" +
                  std::string(store)),
            "waits");
  EXPECT_EQ(last.findings[0].hint,
            "s_waitcnt vmcnt(0) before this instruction");
  ASSERT_TRUE(last.findings[0].other);
  EXPECT_EQ(last.findings[0].other->text.substr(0, 17), "global_load_dword");
  // The counter is in order: one later load may be outstanding.
  EXPECT_EQ(fired("global_load_dword v2, v1, s[8:9]\n"
                  "global_load_dword v3, v1, s[8:9]\n"
                  "s_waitcnt vmcnt(1)\n" +
                  std::string(store) + "s_waitcnt vmcnt(0)\n"),
            "");
  EXPECT_EQ(fired("global_load_dword v3, v1, s[8:9]\n"
                  "global_load_dword v2, v1, s[8:9]\n"
                  "s_waitcnt vmcnt(1)\n" +
                  std::string(store) + "s_waitcnt vmcnt(0)\n"),
            "waits");
}

TEST_P(CheckTest, WaitSMEMIsOutOfOrder) {
  // lgkmcnt(1) says nothing while a scalar load is outstanding.
  EXPECT_EQ(fired("s_load_dword s12, s[8:9], 0x0\n"
                  "s_load_dword s13, s[8:9], 0x4\n"
                  "s_waitcnt lgkmcnt(1)\n"
                  "v_mov_b32 v2, s12\n" +
                  std::string(store)),
            "waits");
  EXPECT_EQ(fired("s_load_dword s12, s[8:9], 0x0\n"
                  "s_waitcnt lgkmcnt(0)\n"
                  "v_mov_b32 v2, s12\n" +
                  std::string(store)),
            "");
}

TEST_P(CheckTest, WaitOverwrite) {
  EXPECT_EQ(fired("global_load_dword v2, v1, s[8:9]\n"
                  "v_mov_b32 v2, 1\n"
                  "s_waitcnt vmcnt(0)\n" +
                  std::string(store)),
            "waits");
  EXPECT_NE(last.findings[0].message.find("overwritten"), std::string::npos);
}

TEST_P(CheckTest, RaceWithoutBarrier) {
  const std::string write = "v_mov_b32 v2, v1\nds_write_b32 v1, v2\n";
  const std::string read = "v_xor_b32 v3, 0x100, v1\n"
                           "ds_read_b32 v2, v3\ns_waitcnt lgkmcnt(0)\n" +
                           std::string(store);
  EXPECT_EQ(fired(write + "s_waitcnt lgkmcnt(0)\ns_barrier\n" + read, 2), "");
  EXPECT_EQ(run.out[0], 256u);
  // The wave that runs first reads what nobody has written yet.
  EXPECT_EQ(fired(write + "s_waitcnt lgkmcnt(0)\n" + read, 2),
            "uninitialized races races");
  ASSERT_TRUE(find(Check::Races));
  EXPECT_TRUE(find(Check::Races)->otherWave.has_value());
  // A barrier alone does not say that the write has landed.
  EXPECT_EQ(fired(write + "s_barrier\n" + read, 2), "races");
  EXPECT_NE(last.findings[0].message.find("has not waited for"),
            std::string::npos);
}

TEST_P(CheckTest, RaceWriteAfterRead) {
  const std::string body = "v_mov_b32 v2, v1\n"
                           "ds_write_b32 v1, v2\n"
                           "s_waitcnt lgkmcnt(0)\ns_barrier\n"
                           "v_xor_b32 v3, 0x100, v1\n"
                           "ds_read_b32 v2, v3\ns_waitcnt lgkmcnt(0)\n";
  const std::string overwrite =
      "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n" + std::string(store);
  EXPECT_EQ(fired(body + "s_barrier\n" + overwrite, 2), "");
  // The overwriting wave clashes with the read before, and a wave that reads
  // late with the overwrite.
  EXPECT_EQ(fired(body + overwrite, 2), "races races");
}

TEST_P(CheckTest, RaceIsByteGranular) {
  // Waves write different bytes of the same dword.
  const std::string body = "v_lshrrev_b32 v3, 2, v1\n"
                           "v_lshrrev_b32 v4, 6, v3\n"
                           "v_and_b32 v5, 63, v3\n"
                           "v_lshl_add_u32 v5, v5, 2, v4\n"
                           "ds_write_b8 v5, v4\n"
                           "s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(fired(body, 2), "");
  EXPECT_EQ(fired("v_and_b32 v5, 63, v1\nds_write_b8 v5, v1\n"
                  "s_waitcnt lgkmcnt(0)\n",
                  2),
            "races");
}

TEST_P(CheckTest, RaceFoundUnderEverySchedule) {
  const std::string body = "v_mov_b32 v2, v1\nds_write_b32 v1, v2\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "v_xor_b32 v3, 0x100, v1\n"
                           "ds_read_b32 v2, v3\ns_waitcnt lgkmcnt(0)\n" +
                           std::string(store);
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reversed, Schedule::Random}) {
    run.options.schedule = schedule;
    std::string found = fired(body, 2);
    EXPECT_NE(found.find("races"), std::string::npos)
        << getScheduleName(schedule).str();
  }
}

TEST_P(CheckTest, DMANeedsWaitAndBarrier) {
  // Each wave moves 256 bytes to LDS and reads what the other moved.
  const std::string head = "v_lshrrev_b32 v3, 8, v1\n"
                           "s_nop 1\n"
                           "v_readfirstlane_b32 s12, v3\n"
                           "s_lshl_b32 m0, s12, 8\n"
                           "s_nop 0\n"
                           "global_load_lds_dword v1, s[8:9]\n";
  const std::string tail = "v_xor_b32 v4, 0x100, v1\n"
                           "ds_read_b32 v2, v4\ns_waitcnt lgkmcnt(0)\n" +
                           std::string(store);
  const std::string own =
      "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" + std::string(store);
  EXPECT_EQ(fired(head + "s_waitcnt vmcnt(0)\ns_barrier\n" + tail, 2), "");
  EXPECT_EQ(run.out[5], 7u);
  EXPECT_EQ(fired(head + "s_waitcnt vmcnt(0)\n" + tail, 2),
            "uninitialized races races");
  EXPECT_EQ(fired(head + "s_barrier\n" + tail + "s_waitcnt vmcnt(0)\n", 2),
            "races");
  EXPECT_EQ(fired(head + own + "s_waitcnt vmcnt(0)\n", 2), "waits");
  // Nothing waits for it before the end.
  EXPECT_EQ(fired(head, 2), "waits");
  EXPECT_NE(last.findings[0].message.find("ends"), std::string::npos);
}

TEST_P(CheckTest, UninitializedData) {
  EXPECT_EQ(fired(store), "uninitialized");
  EXPECT_EQ(fired("v_add_u32 v2, v1, v3\n" + std::string(store)),
            "uninitialized");
  // Computing with it is no error as long as it goes nowhere.
  EXPECT_EQ(
      fired("v_add_u32 v3, v1, v4\nv_mov_b32 v2, v1\n" + std::string(store)),
      "");
  // A select that does not choose it.
  EXPECT_EQ(fired("v_mov_b32 v3, 1\nv_cmp_lt_u32 vcc, 0x1000, v1\n"
                  "s_nop 1\nv_cndmask_b32 v2, v3, v9, vcc\n" +
                  std::string(store)),
            "");
}

TEST_P(CheckTest, UninitializedElsewhere) {
  EXPECT_EQ(fired("global_load_dword v2, v9, s[8:9]\ns_waitcnt vmcnt(0)\n"),
            "uninitialized");
  EXPECT_EQ(fired("s_cmp_eq_u32 s40, 0\ns_cbranch_scc1 L\ns_nop 0\nL:\n"),
            "uninitialized");
  EXPECT_EQ(
      fired("ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" + std::string(store)),
      "uninitialized");
  // A defined bit decides the conjunction.
  EXPECT_EQ(fired("s_mov_b32 s41, 0\ns_and_b32 s42, s40, s41\n"
                  "s_cmp_eq_u32 s42, 0\ns_cbranch_scc1 L\ns_nop 0\nL:\n"),
            "");
}

// Unoptimised code widens a 32-bit value with any register as the upper half
// and shifts that half out again.
TEST_P(CheckTest, UninitializedWordsOfAScalarShift) {
  struct {
    const char *shift, *written;
    const char *undefined[2];
  } const cases[] = {
      // The word that is written, the shift, and which words have no value.
      {"s_lshl_b64 s[42:43], s[40:41], 32", "s40", {"", ""}},
      {"s_lshl_b64 s[42:43], s[40:41], 31", "s40", {"", "uninitialized"}},
      {"s_lshl_b64 s[42:43], s[40:41], 32", "s41", {"", "uninitialized"}},
      {"s_lshr_b64 s[42:43], s[40:41], 32", "s41", {"", ""}},
      {"s_lshr_b64 s[42:43], s[40:41], 31", "s41", {"uninitialized", ""}},
      {"s_lshr_b64 s[42:43], s[40:41], 32", "s40", {"uninitialized", ""}},
      {"s_ashr_i64 s[42:43], s[40:41], 32", "s41", {"", ""}},
      {"s_ashr_i64 s[42:43], s[40:41], 32",
       "s40",
       {"uninitialized", "uninitialized"}},
      {"s_lshl_b64 s[42:43], s[40:41], s44",
       "s40",
       {"uninitialized", "uninitialized"}},
  };
  for (const auto &test : cases)
    for (int word : {0, 1}) {
      std::string body = "s_mov_b32 " + std::string(test.written) + ", 5\n" +
                         test.shift + "\nv_mov_b32 v2, s" +
                         std::to_string(42 + word) + "\n" + store;
      EXPECT_EQ(fired(body), test.undefined[word]) << body;
    }
}

TEST_P(CheckTest, UninitializedWordsOfAVectorShift) {
  struct {
    const char *shift, *written;
    const char *undefined[2];
  } const cases[] = {
      {"v_lshlrev_b64 v[6:7], 32, v[4:5]", "v4", {"", ""}},
      {"v_lshlrev_b64 v[6:7], 31, v[4:5]", "v4", {"", "uninitialized"}},
      {"v_lshlrev_b64 v[6:7], 32, v[4:5]", "v5", {"", "uninitialized"}},
      {"v_lshrrev_b64 v[6:7], 32, v[4:5]", "v5", {"", ""}},
      {"v_lshrrev_b64 v[6:7], 31, v[4:5]", "v5", {"uninitialized", ""}},
      {"v_lshrrev_b64 v[6:7], 32, v[4:5]", "v4", {"uninitialized", ""}},
      {"v_ashrrev_i64 v[6:7], 32, v[4:5]", "v5", {"", ""}},
      {"v_ashrrev_i64 v[6:7], 32, v[4:5]",
       "v4",
       {"uninitialized", "uninitialized"}},
      // Amounts of lanes: all at least 32, or one below.
      {"v_or_b32 v8, 32, v1\nv_lshlrev_b64 v[6:7], v8, v[4:5]", "v4", {"", ""}},
      {"v_lshlrev_b64 v[6:7], v1, v[4:5]", "v4", {"", "uninitialized"}},
      {"v_lshlrev_b64 v[6:7], v9, v[4:5]",
       "v4",
       {"uninitialized", "uninitialized"}},
  };
  for (const auto &test : cases)
    for (int word : {0, 1}) {
      std::string body = "v_mov_b32 " + std::string(test.written) + ", 5\n" +
                         test.shift + "\nv_mov_b32 v2, v" +
                         std::to_string(6 + word) + "\n" + store;
      EXPECT_EQ(fired(body), test.undefined[word]) << body;
    }
}

TEST_P(CheckTest, UninitializedScratch) {
  EXPECT_EQ(fired("v_mov_b32 v2, 5\nscratch_store_dword off, v2, off\n"
                  "s_waitcnt vmcnt(0)\nscratch_load_dword v2, off, off\n"
                  "s_waitcnt vmcnt(0)\n" +
                      std::string(store),
                  1, 0, 16),
            "");
  EXPECT_EQ(fired("scratch_load_dword v2, off, off offset:4\n"
                  "s_waitcnt vmcnt(0)\n" +
                      std::string(store),
                  1, 0, 16),
            "uninitialized");
}

// A spilled tuple of registers is defined in those parts that were written:
// what LLVM does with a buffer descriptor whose base changes from store to
// store.
TEST_P(CheckTest, UninitializedPartsOfATuple) {
  for (const char *memory : {"scratch_store_dwordx4 off, v[4:7], off\n"
                             "s_waitcnt vmcnt(0)\n"
                             "scratch_load_dwordx4 v[8:11], off, off\n"
                             "s_waitcnt vmcnt(0)\n",
                             "v_lshlrev_b32 v3, 2, v1\n"
                             "ds_write_b128 v3, v[4:7]\n"
                             "s_waitcnt lgkmcnt(0)\n"
                             "ds_read_b128 v[8:11], v3\n"
                             "s_waitcnt lgkmcnt(0)\n",
                             "v_lshlrev_b32 v3, 2, v1\n"
                             "ds_write2_b64 v3, v[4:5], v[6:7] offset1:1\n"
                             "s_waitcnt lgkmcnt(0)\n"
                             "ds_read2_b64 v[8:11], v3 offset1:1\n"
                             "s_waitcnt lgkmcnt(0)\n"})
    for (int part = 0; part < 4; ++part) {
      std::string body = "v_mov_b32 v6, 5\n" + std::string(memory) +
                         "v_mov_b32 v2, v" + std::to_string(8 + part) + "\n" +
                         store;
      EXPECT_EQ(fired(body, 1, 4096, 16), part == 2 ? "" : "uninitialized")
          << body;
    }
}

TEST_P(CheckTest, Bounds) {
  EXPECT_EQ(fired("global_load_dword v2, v1, s[8:9] offset:-4\n"
                  "s_waitcnt vmcnt(0)\n"),
            "bounds");
  EXPECT_EQ(last.findings[0].lane, 0);
  EXPECT_NE(last.findings[0].message.find("4 bytes before buffer 'in'"),
            std::string::npos);
  EXPECT_EQ(fired("v_mov_b32 v2, 1\nglobal_store_dword v1, v2, s[8:9]\n"),
            "bounds");
  EXPECT_EQ(run.in[0], 7u) << "an input must not change";
  EXPECT_EQ(fired("v_mov_b32 v2, 1\nds_write_b32 v1, v2\n"
                  "s_waitcnt lgkmcnt(0)\n",
                  1, 128),
            "bounds");
}

TEST_P(CheckTest, Unwritten) {
  run.checkOutputs = true;
  EXPECT_EQ(fired("v_mov_b32 v2, 1\n" + std::string(store), 16), "");
  EXPECT_EQ(fired("v_mov_b32 v2, 1\n" + std::string(store), 8), "unwritten");
  EXPECT_EQ(last.findings[0].message,
            "2048 of 4096 bytes of output 'out' were never written, the first "
            "at offset 2048");
  run.checkOutputs = false;
  EXPECT_EQ(fired("global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\n"),
            "unwritten");
}

TEST_P(CheckTest, Alignment) {
  const std::string data = "v_mov_b32 v2, 1\nv_mov_b32 v3, 2\n"
                           "v_lshlrev_b32 v4, 1, v1\n";
  EXPECT_EQ(fired(data + "ds_write_b64 v4, v[2:3]\ns_waitcnt lgkmcnt(0)\n"),
            "");
  EXPECT_EQ(fired(data + "ds_write_b64 v4, v[2:3] offset:4\n"
                         "s_waitcnt lgkmcnt(0)\n"),
            "alignment");
}

TEST_P(CheckTest, BufferRange) {
  // 256 bytes: lanes 0..63. Word 3 as compilers set it.
  const std::string rsrc = "s_mov_b64 s[12:13], s[8:9]\n"
                           "s_movk_i32 s14, 0x100\n"
                           "s_mov_b32 s15, 0x27000\n"
                           "s_movk_i32 s16, 0x80\n";
  EXPECT_EQ(fired(rsrc +
                  "buffer_load_dword v2, v1, s[12:15], 0 offen\n"
                  "s_waitcnt vmcnt(0)\n" +
                  store),
            "");
  EXPECT_EQ(run.out[63], 7u);
  // Out of range either way: 0, no question.
  EXPECT_EQ(fired(rsrc +
                  "buffer_load_dword v2, v1, s[12:15], 0 offen "
                  "offset:256\ns_waitcnt vmcnt(0)\n" +
                  store),
            "");
  EXPECT_EQ(run.out[0], 0u);
  // The upper half is in range only without soffset.
  EXPECT_EQ(fired(rsrc +
                  "buffer_load_dword v2, v1, s[12:15], s16 offen\n"
                  "s_waitcnt vmcnt(0)\n" +
                  store),
            "buffer-range");
  EXPECT_EQ(run.out[31], 7u);
  EXPECT_EQ(run.out[32], 0u);
}

TEST_P(CheckTest, BarrierNotReached) {
  EXPECT_EQ(fired("s_cmp_eq_u32 s2, 0\n"
                  "v_cmp_gt_u32 vcc, 0x100, v1\n"
                  "s_cbranch_vccnz L\ns_barrier\nL:\n",
                  2),
            "barriers");
}

TEST_P(CheckTest, Hazards) {
  // Transcendental result read by the next vector operation.
  EXPECT_EQ(fired("v_rcp_f32 v2, v1\nv_mov_b32 v3, v2\n"), "hazards");
  EXPECT_EQ(last.findings[0].hint, "s_nop 0 in between");
  EXPECT_EQ(fired("v_rcp_f32 v2, v1\ns_nop 0\nv_mov_b32 v3, v2\n"), "");
  // A vector compare's mask as an operand: two wait states.
  EXPECT_EQ(fired("v_cmp_lt_u32 s[12:13], v1, v1\ns_nop 0\n"
                  "v_cndmask_b32 v2, v1, v1, s[12:13]\n"),
            "hazards");
  EXPECT_EQ(fired("v_cmp_lt_u32 s[12:13], v1, v1\ns_nop 1\n"
                  "v_cndmask_b32 v2, v1, v1, s[12:13]\n"),
            "");
  // M0 right before DMA.
  EXPECT_EQ(fired("s_mov_b32 m0, 0\nglobal_load_lds_dword v1, s[8:9]\n"
                  "s_waitcnt vmcnt(0)\n"),
            "hazards");
  // DPP reads a register two wait states after its write.
  EXPECT_EQ(fired("v_mov_b32 v2, v1\ns_nop 0\n"
                  "v_mov_b32_dpp v2, v2 quad_perm:[0,0,0,0] row_mask:0xf "
                  "bank_mask:0xf\n"),
            "hazards");
}

TEST_P(CheckTest, MatrixHazards) {
  std::string zero;
  for (unsigned reg = 2; reg < 32; ++reg)
    zero += "v_mov_b32 v" + std::to_string(reg) + ", 0\n";
  zero += "s_nop 1\n";
  const std::string matrix =
      zero + "v_mfma_f32_32x32x8_f16 v[4:19], v[20:21], v[22:23], v[4:19]\n";
  // 8 passes: 11 wait states on gfx942, 12 on gfx950.
  unsigned needed = GetParam() == Chip::GFX950 ? 12 : 11;
  auto nops = [](unsigned count) {
    std::string text;
    for (; count > 8; count -= 8)
      text += "s_nop 7\n";
    return text + "s_nop " + std::to_string(count - 1) + "\n";
  };
  EXPECT_EQ(fired(matrix + nops(needed) + "v_mov_b32 v2, v4\n"), "");
  EXPECT_EQ(fired(matrix + nops(needed - 1) + "v_mov_b32 v2, v4\n"), "hazards");
  EXPECT_EQ(fired(matrix + nops(needed - 1) +
                  "global_store_dword v1, v4, s[10:11]\n"),
            "hazards");
  // Accumulating into the same registers needs nothing.
  EXPECT_EQ(
      fired(matrix +
            "v_mfma_f32_32x32x8_f16 v[4:19], v[20:21], v[22:23], v[4:19]\n"),
      "");
  // The result as A of the next one does.
  EXPECT_EQ(
      fired(matrix + "v_mfma_f32_32x32x8_f16 v[24:39], v[4:5], v[22:23], 0\n"),
      "hazards");
}

TEST_P(CheckTest, ChecksAreSeparate) {
  const std::string body = "global_load_dword v2, v1, s[8:9]\n"
                           "v_rcp_f32 v3, v1\nv_mov_b32 v4, v3\n"
                           "v_add_u32 v2, 1, v2\n" +
                           std::string(store);
  AsmKernel kernel;
  kernel.body = prologue + body;
  run.in.assign(64, 7);
  run.out.assign(64, 0);
  auto only = [&](const char *checks) {
    run.options.checks = cantFail(parseCheckSet(checks));
    return getChecksFired(cantFail(run.run(GetParam(), kernel)));
  };
  EXPECT_EQ(only("none"), "");
  EXPECT_EQ(only("waits"), "waits");
  EXPECT_EQ(only("hazards"), "hazards");
  EXPECT_EQ(only("all,-hazards"), "waits");
  EXPECT_EQ(only("all"), "waits hazards");
}

INSTANTIATE_TEST_SUITE_P(Chips, CheckTest,
                         testing::Values(Chip::GFX942, Chip::GFX950),
                         [](const auto &info) {
                           return getChipName(info.param).str();
                         });

} // namespace
