//===- HazardTest.cpp - Hand-made bad listings (F1) -----------------------===//
//
// Public bug reports about waits and hazards of compiled kernels, each as a
// good listing that must be clean and a bad one that must be reported.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "llvm/Support/Error.h"

#include <numeric>

using namespace attn::emu;

namespace {

constexpr Chip bothChips[] = {Chip::GFX942, Chip::GFX950};

/// Expects findings of `check` and of no other.
void expectReported(const Snippet &snippet, Chip chip, Check check,
                    std::vector<uint32_t> in, std::vector<uint32_t> out) {
  auto report = runSnippet(snippet, chip, in, out, getCheckedOptions());
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  bool found = false;
  for (const Finding &finding : report->findings) {
    found |= finding.check == check;
    // A report names the instruction, and what would fix it.
    EXPECT_FALSE(finding.where.text.empty());
    EXPECT_FALSE(finding.hint.empty()) << finding.message;
  }
  EXPECT_TRUE(found) << getCheckName(check).str() << " expected, got "
                     << describe(*report);
}

const std::string resource =
    "s_mov_b32 s12, s6\ns_and_b32 s13, s7, 0xffff\ns_mov_b32 s14, 1024\n"
    "s_mov_b32 s15, 0x27000\nv_readfirstlane_b32 s20, v1\ns_mov_b32 m0, s20\n"
    "s_nop 0\n";

TEST(F1, LDSReadAfterDMAWithoutWait) {
  // llvm-project#75245, #142018, #147258, #179305.
  for (Chip chip : bothChips)
    for (bool waits : {true, false}) {
      Snippet snippet;
      snippet.code =
          resource + "buffer_load_dword v1, s[12:15], 0 offen lds\n" +
          (waits ? "s_waitcnt vmcnt(0)\n" : "s_waitcnt lgkmcnt(0)\n") +
          "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n"
          "global_store_dword v1, v2, s[4:5]\n";
      std::vector<uint32_t> in(256, 1), out(256);
      if (waits)
        expectSnippet(snippet, chip, in, out);
      else
        expectReported(snippet, chip, Check::Waits, in, out);
    }
}

TEST(F1, LDSReadOfAnotherWavesDMAWithoutBarrier) {
  for (Chip chip : bothChips)
    for (bool hasBarrier : {true, false}) {
      Snippet snippet;
      snippet.block = 256;
      snippet.code = resource +
                     "buffer_load_dword v1, s[12:15], 0 offen lds\n"
                     "s_waitcnt vmcnt(0)\n" +
                     (hasBarrier ? "s_barrier\n" : "") +
                     "v_xor_b32 v2, 0x100, v1\nds_read_b32 v2, v2\n"
                     "s_waitcnt lgkmcnt(0)\n"
                     "global_store_dword v1, v2, s[4:5]\n";
      std::vector<uint32_t> in(256, 1), out(256);
      if (hasBarrier)
        expectSnippet(snippet, chip, in, out);
      else
        expectReported(snippet, chip, Check::Races, in, out);
    }
}

TEST(F1, WaitBeforeTheBarrierNotBehindIt) {
  // The wait must come first: behind the barrier it waits for the wave's own
  // DMA only.
  for (Chip chip : bothChips) {
    Snippet snippet;
    snippet.block = 256;
    snippet.code = resource + "buffer_load_dword v1, s[12:15], 0 offen lds\n"
                              "s_barrier\ns_waitcnt vmcnt(0)\n"
                              "v_xor_b32 v2, 0x100, v1\nds_read_b32 v2, v2\n"
                              "s_waitcnt lgkmcnt(0)\n"
                              "global_store_dword v1, v2, s[4:5]\n";
    std::vector<uint32_t> in(256, 1), out(256);
    auto report = runSnippet(snippet, chip, in, out, getCheckedOptions());
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    EXPECT_FALSE(report->isClean());
  }
}

TEST(F1, CountedWaitsAreInOrder) {
  // Three loads; vmcnt(1) makes the first two valid, not the third.
  for (Chip chip : bothChips)
    for (int use : {2, 3, 4}) {
      Snippet snippet;
      snippet.code = "global_load_dword v2, v1, s[6:7]\n"
                     "global_load_dword v3, v1, s[6:7] offset:256\n"
                     "global_load_dword v4, v1, s[6:7] offset:512\n"
                     "s_waitcnt vmcnt(1)\n"
                     "v_add_u32 v5, 1, v" +
                     std::to_string(use) +
                     "\nglobal_store_dword v1, v5, s[4:5]\n"
                     "s_waitcnt vmcnt(0)\n";
      std::vector<uint32_t> in(256, 1), out(64);
      if (use < 4)
        expectSnippet(snippet, chip, in, out);
      else
        expectReported(snippet, chip, Check::Waits, in, out);
    }
}

TEST(F1, MoreThan63LoadsInFlight) {
  // llvm-project#172932: the counter ends at 63. The 64th load waits for a
  // place, so a wait for vmcnt(0) is still right, and one for vmcnt(6) makes
  // all but the last six valid.
  for (Chip chip : bothChips)
    for (auto [wait, use, clean] :
         {std::tuple(0, 69, true), std::tuple(6, 63, true),
          std::tuple(6, 64, false)}) {
      Snippet snippet;
      for (int i = 0; i != 70; ++i)
        snippet.code += "global_load_dword " +
                        (i < 44 ? "v" + std::to_string(20 + i)
                                : "a" + std::to_string(i - 44)) +
                        ", v1, s[6:7]\n";
      std::string reg = use < 44 ? "v" + std::to_string(20 + use)
                                 : "a" + std::to_string(use - 44);
      snippet.code += "s_waitcnt vmcnt(" + std::to_string(wait) +
                      ")\nglobal_store_dword v1, " + reg +
                      ", s[4:5]\ns_waitcnt vmcnt(0)\n";
      std::vector<uint32_t> in(64, 1), out(64);
      if (clean)
        expectSnippet(snippet, chip, in, out);
      else
        expectReported(snippet, chip, Check::Waits, in, out);
    }
}

TEST(F1, ScalarLoadsNeedZero) {
  // Scalar loads return in any order: lgkmcnt(1) proves nothing.
  for (Chip chip : bothChips)
    for (int wait : {0, 1}) {
      Snippet snippet;
      snippet.code = "s_load_dword s20, s[6:7], 0x0\n"
                     "s_load_dword s21, s[6:7], 0x4\ns_waitcnt lgkmcnt(" +
                     std::to_string(wait) +
                     ")\nv_mov_b32 v2, s20\ns_waitcnt lgkmcnt(0)\n"
                     "global_store_dword v1, v2, s[4:5]\n";
      std::vector<uint32_t> in(2, 1), out(64);
      if (wait == 0)
        expectSnippet(snippet, chip, in, out);
      else
        expectReported(snippet, chip, Check::Waits, in, out);
    }
}

/// Wait states by s_nop.
std::string nops(unsigned count) {
  std::string text;
  for (; count > 16; count -= 16)
    text += "s_nop 15\n";
  return count ? text + "s_nop " + std::to_string(count - 1) + "\n" : text;
}

TEST(F1, MatrixResultDistances) {
  // Wait states between a matrix instruction and a VALU read of its result, as
  // LLVM's GCNHazardRecognizer has them (#222040: gfx950's 19 after f64).
  struct Distance {
    const char *code;
    const char *result;
    unsigned gfx942, gfx950;
  } distances[] = {
      {"v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[4:5], 0\n", "v16", 11, 12},
      {"v_mfma_f32_16x16x16_bf16 v[16:19], v[4:5], v[4:5], 0\n", "v19", 7, 8},
      {"v_mfma_f32_32x32x2_f32 v[16:31], v4, v5, 0\n", "v31", 18, 18},
      {"v_mfma_f64_16x16x4_f64 v[16:23], v[4:5], v[4:5], 0\n", "v16", 11, 19},
      {"v_mfma_f32_4x4x4_16b_f16 v[16:19], v[4:5], v[4:5], 0\n", "v16", 5, 5},
  };
  for (Chip chip : bothChips)
    for (const Distance &distance : distances)
      for (bool enough : {true, false}) {
        unsigned needed =
            chip == Chip::GFX942 ? distance.gfx942 : distance.gfx950;
        Snippet snippet;
        snippet.code = "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\ns_nop 4\n" +
                       std::string(distance.code) +
                       nops(enough ? needed : needed - 1) +
                       "v_add_u32 v2, 1, " + distance.result +
                       "\nglobal_store_dword v1, v2, s[4:5]\n";
        std::vector<uint32_t> in(64), out(64);
        SCOPED_TRACE(distance.code);
        if (enough)
          expectSnippet(snippet, chip, in, out);
        else
          expectReported(snippet, chip, Check::Hazards, in, out);
      }
}

TEST(F1, MatrixOperandWrittenByVALU) {
  // Also: a VGPR written by the VALU needs no distance on these chips before a
  // matrix instruction reads it, except in an overlapped result.
  for (Chip chip : bothChips) {
    Snippet snippet;
    snippet.code = "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\ns_nop 1\n"
                   "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[4:5], 0\n"
                   "v_mov_b32 v16, 1.0\n" +
                   nops(16) + "global_store_dword v1, v16, s[4:5]\n";
    // The move overtakes the matrix instruction's write.
    expectReported(snippet, chip, Check::Hazards, std::vector<uint32_t>(64),
                   std::vector<uint32_t>(64));
  }
}

TEST(Checks, BoundsUninitialisedAndAlignment) {
  struct Bad {
    Check check;
    const char *code;
  } bads[] = {
      {Check::Bounds, "v_add_u32 v2, 0x100, v1\n"
                      "global_load_dword v3, v2, s[6:7]\ns_waitcnt vmcnt(0)\n"
                      "global_store_dword v1, v3, s[4:5]\n"},
      {Check::Bounds, "v_mov_b32 v3, 0\n"
                      "global_store_dword v1, v3, s[6:7]\n"}, // an input
      {Check::Uninitialized, "global_store_dword v1, v9, s[4:5]\n"},
      {Check::Uninitialized, "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n"
                             "global_store_dword v1, v2, s[4:5]\n"},
      {Check::Uninitialized, "v_mov_b32 v2, s40\n"
                             "global_store_dword v1, v2, s[4:5]\n"},
      {Check::Alignment, "v_add_u32 v2, 1, v1\nds_write_b32 v2, v0\n"
                         "s_waitcnt lgkmcnt(0)\n"},
      {Check::Alignment, "v_add_u32 v2, 4, v1\nv_mov_b32 v4, 0\n"
                         "v_mov_b32 v5, 0\nv_mov_b32 v6, 0\nv_mov_b32 v7, 0\n"
                         "ds_write_b128 v2, v[4:7]\ns_waitcnt lgkmcnt(0)\n"},
  };
  for (Chip chip : bothChips)
    for (const Bad &bad : bads) {
      SCOPED_TRACE(bad.code);
      Snippet snippet;
      snippet.code = bad.code;
      expectReported(snippet, chip, bad.check, std::vector<uint32_t>(64, 1),
                     std::vector<uint32_t>(64));
    }
}

TEST(Checks, RacesBetweenWaves) {
  for (Chip chip : bothChips) {
    // Two waves write the same byte of a dword; neighbours in one dword are
    // no race.
    for (bool same : {true, false}) {
      Snippet snippet;
      snippet.block = 128;
      std::string shift =
          same ? "v_mov_b32 v2, 0\n" : "v_lshrrev_b32 v2, 6, v0\n";
      snippet.code = shift + "ds_write_b8 v2, v0\ns_waitcnt lgkmcnt(0)\n"
                             "s_barrier\n";
      std::vector<uint32_t> in(64), out(64);
      if (same)
        expectReported(snippet, chip, Check::Races, in, out);
      else
        expectSnippet(snippet, chip, in, out);
    }
  }
}

TEST(Checks, LimitsEndALaunch) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64);
    Snippet endless, divergent;
    endless.code = "1:\ns_branch 1b\n";
    auto report = runSnippet(endless, chip, in, out, getCheckedOptions());
    EXPECT_FALSE(bool(report));
    llvm::consumeError(report.takeError());
    // One wave waits at a barrier that the other never reaches and loops.
    divergent.block = 128;
    divergent.code = "v_readfirstlane_b32 s20, v0\ns_cmp_eq_u32 s20, 0\n"
                     "s_cbranch_scc1 2f\n1:\ns_branch 1b\n2:\ns_barrier\n";
    report = runSnippet(divergent, chip, in, out, getCheckedOptions());
    EXPECT_FALSE(bool(report));
    llvm::consumeError(report.takeError());
  }
}

TEST(Checks, ErrorNamesTheFindingBeforeIt) {
  // The load is dropped (0), and the jump to that 0 ends the launch.
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64);
    Snippet snippet;
    snippet.code = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\n"
                   "global_load_dwordx2 v[2:3], v[2:3], off\n"
                   "s_waitcnt vmcnt(0)\ns_nop 0\n"
                   "v_readfirstlane_b32 s20, v2\n"
                   "v_readfirstlane_b32 s21, v3\ns_setpc_b64 s[20:21]\n";
    auto report = runSnippet(snippet, chip, in, out, getCheckedOptions());
    ASSERT_FALSE(bool(report));
    std::string message = llvm::toString(report.takeError());
    EXPECT_NE(message.find("jumps to address 0x0"), std::string::npos);
    EXPECT_NE(message.find("; before that, check bounds: load of 8 bytes"),
              std::string::npos)
        << message;
  }
}

TEST(Checks, AtomicsBuildOnDefinedLDS) {
  // A counter in LDS that nobody has set, and one that an exchange sets.
  const std::string show = "s_waitcnt lgkmcnt(0)\nds_read_b32 v4, v3\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_store_dword v1, v4, s[4:5]\n";
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64);
    for (const char *code : {"ds_add_u32 v3, v0\n", "ds_append v5\n"}) {
      Snippet snippet;
      snippet.code =
          "v_mov_b32 v3, 0\ns_mov_b32 m0, 0\n" + std::string(code) + show;
      expectReported(snippet, chip, Check::Uninitialized, in, out);
    }
    Snippet snippet;
    snippet.code = "v_mov_b32 v3, 0\nds_wrxchg_rtn_b32 v5, v3, v0\n" + show;
    expectSnippet(snippet, chip, in, out);
  }
}

TEST(Checks, AppendRacesWithReads) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64);
    Snippet snippet;
    snippet.block = 128;
    snippet.code = "v_mov_b32 v3, 0\ns_mov_b32 m0, 0\n"
                   "v_readfirstlane_b32 s20, v0\ns_cmp_eq_u32 s20, 0\n"
                   "s_cbranch_scc0 1f\nds_write_b32 v3, v3\n"
                   "1:\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                   "s_cbranch_scc0 2f\nds_append v5\ns_branch 3f\n"
                   "2:\nds_read_b32 v5, v3\n3:\ns_waitcnt lgkmcnt(0)\n";
    expectReported(snippet, chip, Check::Races, in, out);
  }
}

TEST(Checks, RacesWithOneOfManyReaders) {
  // Waves 0 to 2 read what wave 3 overwrites after a barrier; one of them has
  // not waited for its read, and the others are slow to.
  for (Chip chip : bothChips)
    for (unsigned careless = 0; careless != 4; ++careless) {
      SCOPED_TRACE(careless);
      std::vector<uint32_t> in(64), out(64);
      Snippet snippet;
      snippet.block = 256;
      snippet.code =
          "v_readfirstlane_b32 s20, v0\ns_lshr_b32 s20, s20, 6\n"
          "v_and_b32 v2, 63, v0\nv_lshlrev_b32 v2, 2, v2\n"
          "s_cmp_eq_u32 s20, 3\ns_cbranch_scc0 1f\nds_write_b32 v2, v0\n"
          "1:\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
          "s_cmp_eq_u32 s20, 3\ns_cbranch_scc1 2f\nds_read_b32 v3, v2\n"
          "s_cmp_eq_u32 s20, " +
          std::to_string(careless) +
          "\ns_cbranch_scc1 2f\n.rept 400\ns_nop 0\n.endr\n"
          "s_waitcnt lgkmcnt(0)\n"
          "2:\ns_barrier\ns_cmp_eq_u32 s20, 3\ns_cbranch_scc0 3f\n"
          "ds_write_b32 v2, v0\n3:\ns_waitcnt lgkmcnt(0)\n";
      if (careless < 3)
        expectReported(snippet, chip, Check::Races, in, out);
      else
        expectSnippet(snippet, chip, in, out);
    }
}

TEST(Checks, UnknownInstructionIsAnError) {
  // s_rfe_restore_b64: known to LLVM, not to the emulator.
  std::vector<uint32_t> in(64), out(64);
  Snippet snippet;
  snippet.code = "s_rfe_restore_b64 s[12:13], s14\n";
  auto report = runSnippet(snippet, Chip::GFX942, in, out, getCheckedOptions());
  ASSERT_FALSE(bool(report));
  std::string message = llvm::toString(report.takeError());
  EXPECT_NE(message.find("s_rfe_restore_b64"), std::string::npos) << message;
  EXPECT_NE(message.find("0x"), std::string::npos) << message;
}

} // namespace
