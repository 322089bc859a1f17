//===- ProgramTest.cpp - Decoding -----------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoder reads fields from encodings while registers for the checks come
// from LLVM's MC layer: two views that must agree.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Emulator/ISA/Program.h"
#include "../../../lib/Emulator/ISA/OpTable.h"
#include "../../../lib/Emulator/Machine/Wave.h"
#include "AsmKernel.h"
#include "attn/Emulator/ISA.h"
#include <cstdlib>

using namespace attn::emu;
using namespace llvm;

namespace {

struct Decoded {
  std::unique_ptr<CodeObject> object;
  std::unique_ptr<Program> program;
  const Inst &first() const {
    return *program->lookup(cantFail(object->getKernel("k"))->entryAddress);
  }
};

Decoded decode(StringRef text, Chip chip = Chip::GFX950) {
  AsmKernel kernel;
  kernel.body = text.str();
  kernel.bare = true;
  Decoded result;
  result.object = cantFail(assemble(chip, kernel));
  result.program = cantFail(Program::create(*result.object));
  return result;
}

TEST(Program, Vector) {
  Decoded d = decode("v_fma_f32 v1, -v2, |v3|, s4 clamp mul:2");
  const Inst &inst = d.first();
  EXPECT_EQ(inst.format, Format::VOP3);
  EXPECT_EQ(inst.dst, 1);
  EXPECT_EQ(inst.src[0].reg, 2);
  EXPECT_TRUE(inst.src[0].neg && !inst.src[0].abs);
  EXPECT_TRUE(inst.src[1].abs && !inst.src[1].neg);
  EXPECT_EQ(inst.src[2].kind, SrcKind::SGPR);
  EXPECT_EQ(inst.src[2].reg, 4);
  EXPECT_TRUE(inst.clamp);
  EXPECT_EQ(inst.omod, 1);
}

TEST(Program, Constants) {
  EXPECT_EQ(decode("v_add_f32 v1, 0.5, v2").first().src[0].value, 0x3f000000u);
  EXPECT_EQ(decode("v_add_f16 v1, 0.5, v2").first().src[0].value, 0x3800u);
  EXPECT_EQ(decode("v_add_f64 v[0:1], 0.5, v[2:3]").first().src[0].value,
            0x3fe0000000000000u);
  EXPECT_EQ(decode("v_add_u32 v1, -16, v2").first().src[0].value, 0xfffffff0u);
  EXPECT_EQ(decode("v_add_u32 v1, 0x12345678, v2").first().src[0].value,
            0x12345678u);
  EXPECT_EQ(decode("s_mov_b64 s[0:1], -1").first().src[0].value, ~uint64_t(0));
  EXPECT_EQ(decode("s_mov_b64 s[0:1], 0x80000000").first().src[0].value,
            0x80000000u);
}

TEST(Program, Memory) {
  Decoded d = decode("buffer_load_dwordx4 v5, s[8:11], s3 offen offset:64 lds");
  const Inst &inst = d.first();
  EXPECT_EQ(inst.format, Format::MUBUF);
  EXPECT_TRUE(inst.offen && inst.lds && !inst.idxen);
  EXPECT_EQ(inst.offset, 64);
  EXPECT_EQ(inst.sbase, 8);
  EXPECT_EQ(inst.vaddr, 5);
  EXPECT_EQ(inst.src[3].reg, 3);
  EXPECT_TRUE(inst.traits.isLDSDMA);
  Decoded g = decode("global_load_dwordx2 v[4:5], v1, s[2:3] offset:-8");
  EXPECT_EQ(g.first().offset, -8);
  EXPECT_TRUE(g.first().hasSAddr);
  EXPECT_EQ(g.first().soffset, 2);
  Decoded l = decode("ds_read2st64_b64 v[0:3], v9 offset0:1 offset1:2");
  EXPECT_EQ(l.first().offset, 512);
  EXPECT_EQ(l.first().offset1, 1024);
}

TEST(Program, Matrix) {
  Decoded d =
      decode("v_mfma_f32_32x32x8_f16 a[0:15], v[16:17], a[18:19], 1.0 cbsz:1 "
             "abid:2 blgp:3");
  const Inst &inst = d.first();
  EXPECT_EQ(inst.format, Format::MAI);
  EXPECT_EQ(inst.dst, accBase);
  EXPECT_EQ(inst.src[0].reg, 16);
  EXPECT_EQ(inst.src[1].reg, accBase + 18);
  EXPECT_EQ(inst.src[2].value, 0x3f800000u);
  EXPECT_EQ(inst.cbsz, 1);
  EXPECT_EQ(inst.abid, 2);
  EXPECT_EQ(inst.blgp, 3);
}

TEST(Program, Branches) {
  Decoded d = decode("s_branch L\ns_nop 0\ns_nop 1\nL:\ns_nop 2");
  const Inst &inst = d.first();
  ASSERT_GE(inst.target, 0);
  EXPECT_EQ(d.program->get(inst.target)->pc, inst.pc + 12);
  EXPECT_EQ(d.program->getText(*d.program->get(inst.target)), "s_nop 2");
}

/// Vector registers that the decoder says an instruction touches must be among
/// those that MC lists, and the destination must be one that MC says is
/// written.
TEST(Program, AgreesWithMC) {
  const char *const lines[] = {
      "v_add_f32 v1, v2, v3",
      "v_add_f32_e64 v1, s2, v3",
      "v_fmac_f32 v1, v2, v3",
      "v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]",
      "v_lshlrev_b64 v[2:3], v4, v[6:7]",
      "v_cmp_lt_f32 vcc, v1, v2",
      "v_cmp_lt_f32 s[4:5], v1, v2",
      "v_addc_co_u32 v1, vcc, v2, v3, vcc",
      "v_mad_u64_u32 v[2:3], s[4:5], v6, v7, v[8:9]",
      "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
      "v_add_u32_sdwa v1, v2, v3 dst_sel:WORD_1 src0_sel:BYTE_0",
      "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]",
      "v_fma_mixhi_f16 v1, v2, v3, v4",
      "v_accvgpr_write_b32 a3, v4",
      "v_accvgpr_read_b32 v3, a4",
      "v_mfma_f32_16x16x32_bf16 a[0:3], v[4:7], a[8:11], a[0:3]",
      "v_permlane32_swap_b32 v1, v2",
      "v_cvt_scalef32_pk_fp4_f32 v1, v2, v3, v4",
      "v_readlane_b32 s3, v4, s5",
      "v_writelane_b32 v3, s4, 5",
  };
  for (const char *line : lines) {
    Decoded d = decode(line);
    const Inst &inst = d.first();
    ASSERT_TRUE(d.program->getOpcode(inst).supported) << line;
    auto touches = [&](bool vector, unsigned reg, bool write) {
      for (const RegRange &range : d.program->getRegs(inst))
        if ((range.kind == RegRange::Vector) == vector &&
            range.write == write && reg >= range.first &&
            reg < range.first + range.count)
          return true;
      return false;
    };
    for (unsigned n = 0; n < inst.numSrcs; ++n) {
      const Src &src = inst.src[n];
      for (unsigned word = 0; word < getWords(src.ty); ++word) {
        if (src.kind == SrcKind::Vector) {
          EXPECT_TRUE(touches(true, src.reg + word, false))
              << line << ": source " << n;
        }
        if (src.kind == SrcKind::SGPR) {
          EXPECT_TRUE(touches(false, src.reg + word, false))
              << line << ": source " << n;
        }
      }
    }
    bool scalarResult =
        inst.traits.isCompare || inst.traits.flow == Flow::ReadLane;
    EXPECT_TRUE(touches(!scalarResult, inst.dst, true)) << line;
  }
}

TEST(Program, UnknownIsMarked) {
  Decoded d = decode("s_cbranch_g_fork s[12:13], s[14:15]");
  EXPECT_FALSE(d.program->getOpcode(d.first()).supported);
  std::vector<std::string> unsupported =
      cantFail(findUnsupportedInstructions(*d.object));
  ASSERT_EQ(unsupported.size(), 1u);
  EXPECT_NE(unsupported[0].find("s_cbranch_g_fork"), std::string::npos);
  std::string text;
  raw_string_ostream os(text);
  cantFail(disassemble(*d.object, os));
  EXPECT_NE(text.find("k:\n"), std::string::npos);
  EXPECT_NE(text.find("; no semantics"), std::string::npos);
}

TEST(Program, InstructionTable) {
  std::vector<std::string> gfx942 = getSupportedMnemonics(Chip::GFX942);
  std::vector<std::string> gfx950 = getSupportedMnemonics(Chip::GFX950);
  auto has = [](const std::vector<std::string> &list, StringRef name) {
    return is_contained(list, name);
  };
  EXPECT_TRUE(has(gfx942, "v_mfma_f32_32x32x8_f16"));
  EXPECT_TRUE(has(gfx950, "ds_read_b64_tr_b16"));
  EXPECT_FALSE(has(gfx942, "ds_read_b64_tr_b16"));
  EXPECT_FALSE(has(gfx950, "v_mfma_f32_32x32x4_xf32"));
  std::string text;
  raw_string_ostream os(text);
  printInstructionTable(os);
  // ATTN_UPDATE_DOCS=1 in the environment rewrites the page.
  const char *path = ATTN_SOURCE_DIR "/docs/EmulatorInstructions.md";
  if (std::getenv("ATTN_UPDATE_DOCS")) {
    std::error_code error;
    raw_fd_ostream(path, error) << text;
    ASSERT_FALSE(error);
  }
  auto page = MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(page)) << path;
  EXPECT_EQ((*page)->getBuffer().str(), text)
      << "stale: run this test with ATTN_UPDATE_DOCS=1";
}

} // namespace
