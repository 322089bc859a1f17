//===- PublicCasesTest.cpp - Bugs others reported, as small kernels -------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Named after the cases of the public bug list: F1 (waits and hazards around
// LDS DMA and MFMA; llvm/llvm-project#172932, #142018, #222040) and F6
// (emulator conformance; ROCm/rocm-systems#10192, #8784, #11446).
//
//===----------------------------------------------------------------------===//

#include "AsmKernel.h"

using namespace attn::emu;
using namespace llvm;

namespace {

class PublicCases : public testing::TestWithParam<Chip> {
protected:
  std::string fired(const std::string &body) {
    AsmKernel kernel;
    // v1 = 4 * work-item; s[12:15] = a resource over `in` of s14 bytes.
    kernel.body = "v_and_b32 v1, 0x3ff, v0\n"
                  "v_lshlrev_b32 v1, 2, v1\n"
                  "s_mov_b64 s[12:13], s[8:9]\n"
                  "s_movk_i32 s14, 0x1000\n"
                  "s_mov_b32 s15, 0x27000\n" +
                  body;
    kernel.ldsBytes = ldsBytes;
    if (run.in.empty())
      for (unsigned n = 0; n < 1024; ++n)
        run.in.push_back(1000 + n);
    run.out.resize(1024, 0);
    run.options.checks = CheckSet::all();
    auto report = run.run(GetParam(), kernel);
    return report ? getChecksFired(*report) : toString(report.takeError());
  }
  AsmRun run;
  uint32_t ldsBytes = 4096;
};

const std::string storeV2 = "global_store_dword v1, v2, s[10:11]\n";

// A DMA's result read after a wait on the wrong counter.
TEST_P(PublicCases, F1BadListingWrongCounter) {
  const std::string dma = "s_mov_b32 m0, 0\ns_nop 0\n"
                          "buffer_load_dword v1, s[12:15], 0 offen lds\n";
  const std::string use = "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n" +
                          storeV2 + "s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(fired(dma + "s_waitcnt lgkmcnt(0)\n" + use), "waits");
  EXPECT_EQ(fired(dma + "s_waitcnt vmcnt(0)\n" + use), "");
  EXPECT_EQ(run.out[63], 1063u);
}

// 65 loads and a wait for all but 62: the first three are there, no more.
TEST_P(PublicCases, F1CounterLimit) {
  std::string loads;
  for (unsigned n = 0; n < 65; ++n)
    loads += "global_load_dword v" + std::to_string(100 + n) +
             ", v1, s[8:9] offset:" + std::to_string(4 * n) + "\n";
  loads += "s_waitcnt vmcnt(62)\n";
  EXPECT_EQ(fired(loads + "v_mov_b32 v2, v102\n" + storeV2), "");
  EXPECT_EQ(fired(loads + "v_mov_b32 v2, v103\n" + storeV2), "waits");
}

// A matrix result stored too early.
TEST_P(PublicCases, F1BadListingMatrix) {
  std::string zero;
  for (unsigned reg = 2; reg < 24; ++reg)
    zero += "v_mov_b32 v" + std::to_string(reg) + ", 0\n";
  const std::string matrix =
      zero + "s_nop 1\n"
             "v_mfma_f32_32x32x8_f16 v[2:17], v[18:19], v[20:21], 0\n";
  EXPECT_EQ(fired(matrix + "s_nop 7\ns_nop 1\n" + storeV2), "hazards");
  EXPECT_EQ(fired(matrix + "s_nop 7\ns_nop 3\n" + storeV2), "");
}

// The instruction offset moves the LDS side of a DMA as well.
TEST_P(PublicCases, F6aOffsetMovesLDS) {
  std::string body = "s_mov_b32 m0, 0\ns_nop 0\n";
  for (const char *offset : {"0", "256", "512"})
    body += std::string("buffer_load_dword v1, s[12:15], 0 offen offset:") +
            offset + " lds\n";
  body += "s_waitcnt vmcnt(0)\n";
  for (unsigned tile = 0; tile < 3; ++tile)
    body += "ds_read_b32 v2, v1 offset:" + std::to_string(256 * tile) +
            "\ns_waitcnt lgkmcnt(0)\n"
            "global_store_dword v1, v2, s[10:11] offset:" +
            std::to_string(256 * tile) + "\n";
  EXPECT_EQ(fired(body), "");
  for (unsigned n = 0; n < 192; ++n)
    ASSERT_EQ(run.out[n], 1000 + n);
}

// num_records 0 is empty, not unlimited.
TEST_P(PublicCases, F6bNoRecords) {
  run.outRole = BufferRole::InOut;
  run.out.assign(1024, 5);
  EXPECT_EQ(fired("s_mov_b32 s14, 0\n"
                  "buffer_load_dword v2, v1, s[12:15], 0 offen\n"
                  "s_mov_b64 s[16:17], s[10:11]\n"
                  "s_mov_b64 s[18:19], s[14:15]\n"
                  "s_waitcnt vmcnt(0)\n"
                  "buffer_store_dword v2, v1, s[16:19], 0 offen\n"
                  "global_store_dword v1, v2, s[10:11] offset:1024\n"),
            "");
  EXPECT_EQ(run.out[0], 5u);
  EXPECT_EQ(run.out[256], 0u);
}

// A dword across the end is out of range; a wider load is cut dword by dword.
TEST_P(PublicCases, F6cStraddlesTheEnd) {
  EXPECT_EQ(fired("s_movk_i32 s14, 6\nv_mov_b32 v3, 0\n"
                  "buffer_load_dwordx2 v[4:5], v3, s[12:15], 0 offen\n"
                  "buffer_load_ushort v6, v3, s[12:15], 0 offen offset:4\n"
                  "s_waitcnt vmcnt(0)\n"
                  "global_store_dwordx3 v3, v[4:6], s[10:11]\n"),
            "");
  EXPECT_EQ(run.out[0], 1000u);
  EXPECT_EQ(run.out[1], 0u);
  EXPECT_EQ(run.out[2], 1001u);
}

// bf16 addition: ties to even.
TEST_P(PublicCases, F6dPackedBF16) {
  run.outRole = BufferRole::InOut;
  run.out.assign(1024, 0);
  run.out[0] = 0x3f813f80;
  EXPECT_EQ(fired("s_mov_b64 exec, 1\nv_mov_b32 v3, 0\n"
                  "v_mov_b32 v2, 0x3b803b80\n"
                  "global_atomic_pk_add_bf16 v3, v2, s[10:11]\n"),
            "");
  EXPECT_EQ(run.out[0], 0x3f823f80u);
}

// Four waves move more into LDS than there is.
TEST_P(PublicCases, F6eDMABeyondLDS) {
  ldsBytes = 256;
  run.block = {256, 1, 1};
  const std::string body = "v_lshrrev_b32 v3, 8, v1\ns_nop 1\n"
                           "v_readfirstlane_b32 s16, v3\n"
                           "s_lshl_b32 m0, s16, 8\ns_nop 0\n"
                           "buffer_load_dword v1, s[12:15], 0 offen lds\n"
                           "s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(fired(body), "bounds");
  ldsBytes = 1024;
  EXPECT_EQ(fired(body), "");
}

// Vector offset + soffset beyond 32 bits must not come back into range.
TEST_P(PublicCases, F6fOffsetsDoNotWrap) {
  EXPECT_EQ(fired("s_movk_i32 s16, 0x200\nv_mov_b32 v3, 0xffffff00\n"
                  "buffer_load_dword v2, v3, s[12:15], s16 offen\n"
                  "s_waitcnt vmcnt(0)\n" +
                  storeV2),
            "buffer-range");
  EXPECT_EQ(run.out[0], 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, PublicCases,
                         testing::Values(Chip::GFX942, Chip::GFX950),
                         [](const auto &info) {
                           return getChipName(info.param).str();
                         });

} // namespace
