//===- MemoryTest.cpp - LDS, global and buffer instructions ---------------===//

#include "Harness.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace attn::emu;

namespace {

#define ONE(expression)                                                        \
  [](const uint32_t *in, uint32_t *out) { out[0] = (expression); }
#define LGKM "s_waitcnt lgkmcnt(0)\n"
#define VM "s_waitcnt vmcnt(0)\n"

constexpr Chip bothChips[] = {Chip::GFX942, Chip::GFX950};

TEST(LDS, WidthsAndSigns) {
  // Every lane has its own 16 bytes at lane * 16 (v41).
#define SLOT "v_lshlrev_b32 v41, 4, v0\n"
  // clang-format off: the strings between macros confuse it.
  runCases({
      {"bytes and shorts", "i", "uuuu",
       SLOT "ds_write_b32 v41, v2\n" LGKM
       "ds_read_u8 v20, v41 offset:1\nds_read_i8 v21, v41 offset:3\n"
       "ds_read_u16 v22, v41 offset:2\nds_read_i16 v23, v41\n" LGKM,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] >> 8 & 0xff;
         out[1] = int8_t(in[0] >> 24);
         out[2] = in[0] >> 16;
         out[3] = int16_t(in[0]);
       }},
      {"d16 loads keep the other half", "i", "uuu",
       SLOT "ds_write_b32 v41, v2\n" LGKM "ds_read_u8_d16 v20, v41 offset:1\n"
       "ds_read_i8_d16_hi v21, v41 offset:3\n"
       "ds_read_u16_d16_hi v22, v41\n" LGKM,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = (untouched & 0xffff0000) | (in[0] >> 8 & 0xff);
         out[1] = (untouched & 0xffff) |
                  uint32_t(uint16_t(int8_t(in[0] >> 24))) << 16;
         out[2] = (untouched & 0xffff) | in[0] << 16;
       }},
      {"narrow stores", "ii", "u",
       SLOT "ds_write_b32 v41, v2\n" LGKM
       "ds_write_b8 v41, v3 offset:1\nds_write_b16_d16_hi v41, v3 "
       "offset:2\n" LGKM "ds_read_b32 v20, v41\n" LGKM,
       ONE((in[0] & 0xff) | (in[1] & 0xff) << 8 | (in[1] & 0xffff0000))},
      {"b64, b96, b128", "iiii", "uuuuuuuu",
       SLOT "ds_write_b64 v41, v[2:3]\nds_write_b64 v41, v[4:5] offset:8\n" LGKM
       "ds_read_b96 v[20:22], v41\nds_read_b128 v[24:27], v41\n" LGKM
       "v_mov_b32 v23, v27",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0];
         out[1] = in[1];
         out[2] = in[2];
         out[3] = in[3];
         out[4] = in[0];
         out[5] = in[1];
         out[6] = in[2];
         out[7] = in[3];
       }},
      {"write b96 and b128", "iiii", "uuuu",
       SLOT "ds_write_b128 v41, v[2:5]\n" LGKM
       "v_mov_b32 v42, v3\nv_mov_b32 v43, v4\nv_mov_b32 v44, v5\n"
       "ds_write_b96 v41, v[42:44]\n" LGKM "ds_read_b128 v[20:23], v41\n" LGKM,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[1];
         out[1] = in[2];
         out[2] = in[3];
         out[3] = in[3];
       }},
      {"read2 and write2", "ii", "uuuu",
       SLOT "ds_write2_b32 v41, v3, v2 offset0:1 offset1:3\n"
       "ds_write2_b32 v41, v2, v3 offset0:0 offset1:2\n" LGKM
       "ds_read2_b32 v[20:21], v41 offset0:3 offset1:1\n"
       "ds_read2_b32 v[22:23], v41 offset1:2\n" LGKM,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0];
         out[1] = in[1];
         out[2] = in[0];
         out[3] = in[1];
       }},
      {"read2st64", "ii", "uu",
       "v_lshlrev_b32 v41, 2, v0\n"
       "ds_write2st64_b32 v41, v2, v3 offset0:2 offset1:5\n" LGKM
       "ds_read_b32 v20, v41 offset:512\nds_read2st64_b32 v[22:23], v41 "
       "offset0:5 offset1:2\n" LGKM "v_mov_b32 v21, v22\n",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0];
         out[1] = in[1];
       }},
      {"read2 of b64", "iiii", "uuuu",
       SLOT "ds_write2_b64 v41, v[2:3], v[4:5] offset1:1\n" LGKM
       "ds_read2_b64 v[20:23], v41 offset0:1 offset1:0\n" LGKM,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[2];
         out[1] = in[3];
         out[2] = in[0];
         out[3] = in[1];
       }},
      {"lanes off write nothing", "ii", "u",
       SLOT "ds_write_b32 v41, v2\n" LGKM
       "s_mov_b64 exec, 0\nds_write_b32 v41, v3\ns_mov_b64 exec, -1\n" LGKM
       "ds_read_b32 v20, v41\n" LGKM,
       ONE(in[0])},
  });
  // clang-format on
}

TEST(LDS, AtomicsOfOneLane) {
  // old = memory (v2), operand v3, compare value v4; result: old, new.
#define ATOMIC(name, operands)                                                 \
  SLOT "ds_write_b32 v41, v2\n" LGKM name " v20, v41, " operands "\n" LGKM     \
       "ds_read_b32 v21, v41\n" LGKM
  auto atomic = [](const char *name, const char *code, const char *inputs,
                   const char *results,
                   std::function<uint32_t(const uint32_t *)> updated) {
    return Case{name, inputs, results, code,
                [=](const uint32_t *in, uint32_t *out) {
                  out[0] = in[0];
                  out[1] = updated(in);
                }};
  };
  using In = const uint32_t *;
  runCases({
      atomic("add", ATOMIC("ds_add_rtn_u32", "v3"), "ii", "uu",
             [](In in) { return in[0] + in[1]; }),
      atomic("sub", ATOMIC("ds_sub_rtn_u32", "v3"), "ii", "uu",
             [](In in) { return in[0] - in[1]; }),
      atomic("rsub", ATOMIC("ds_rsub_rtn_u32", "v3"), "ii", "uu",
             [](In in) { return in[1] - in[0]; }),
      atomic("inc", ATOMIC("ds_inc_rtn_u32", "v3"), "ii", "uu",
             [](In in) { return in[0] >= in[1] ? 0 : in[0] + 1; }),
      atomic("dec", ATOMIC("ds_dec_rtn_u32", "v3"), "ii", "uu",
             [](In in) {
               return in[0] == 0 || in[0] > in[1] ? in[1] : in[0] - 1;
             }),
      atomic("min i32", ATOMIC("ds_min_rtn_i32", "v3"), "ii", "uu",
             [](In in) {
               return uint32_t(std::min(int32_t(in[0]), int32_t(in[1])));
             }),
      atomic("max u32", ATOMIC("ds_max_rtn_u32", "v3"), "ii", "uu",
             [](In in) { return std::max(in[0], in[1]); }),
      atomic("and", ATOMIC("ds_and_rtn_b32", "v3"), "ii", "uu",
             [](In in) { return in[0] & in[1]; }),
      atomic("or", ATOMIC("ds_or_rtn_b32", "v3"), "ii", "uu",
             [](In in) { return in[0] | in[1]; }),
      atomic("xor", ATOMIC("ds_xor_rtn_b32", "v3"), "ii", "uu",
             [](In in) { return in[0] ^ in[1]; }),
      atomic("mskor", ATOMIC("ds_mskor_rtn_b32", "v3, v4"), "iii", "uu",
             [](In in) { return (in[0] & ~in[1]) | in[2]; }),
      atomic("wrxchg", ATOMIC("ds_wrxchg_rtn_b32", "v3"), "ii", "uu",
             [](In in) { return in[1]; }),
      // Compare with the first operand, store the second.
      atomic("cmpst", ATOMIC("ds_cmpst_rtn_b32", "v3, v4"), "iii", "uu",
             [](In in) { return in[0] == in[1] ? in[2] : in[0]; }),
      atomic("add f32", ATOMIC("ds_add_rtn_f32", "v3"), "ff", "uf",
             [](In in) { return U(F(in[0]) + F(in[1])); }),
      atomic("pk_add f16", ATOMIC("ds_pk_add_rtn_f16", "v3"), "pp", "up",
             [](In in) {
               return toH(H(in[0]) + H(in[1])) |
                      uint32_t(toH(H(in[0] >> 16) + H(in[1] >> 16))) << 16;
             }),
  });
}

TEST(LDS, AtomicsOfManyLanes) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(4, 0);
    Snippet snippet;
    snippet.block = 256;
    snippet.code = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\n"
                   "v_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[12:13], vcc\n"
                   "ds_write_b64 v2, v[2:3]\ns_mov_b64 exec, s[12:13]\n" LGKM
                   "s_barrier\nds_add_u32 v2, v0\n"
                   "ds_max_u32 v2, v0 offset:4\n" LGKM "s_barrier\n"
                   "v_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[12:13], vcc\n"
                   "ds_read_b64 v[4:5], v2\n" LGKM
                   "global_store_dwordx2 v2, v[4:5], s[4:5]\n";
    expectSnippet(snippet, chip, in, out);
    EXPECT_EQ(out[0], 255u * 128);
    EXPECT_EQ(out[1], 255u);
  }
}

TEST(LDS, TransposedReads) {
  // Group of 16 lanes, 8 bytes each: a matrix whose row r fills lanes
  // r * 16 / rows on; results are columns.
  std::vector<uint32_t> in(128), out(128);
  std::iota(in.begin(), in.end(), 0x01000000);
  for (uint32_t i = 0; i != 128; ++i)
    in[i] = (4 * i + 3) << 24 | ((4 * i + 2) & 0xff) << 16 |
            ((4 * i + 1) & 0xff) << 8 | ((4 * i) & 0xff);
  const auto *bytes = reinterpret_cast<const uint8_t *>(in.data());
  auto run = [&](const char *name) {
    Snippet snippet;
    snippet.code = "v_lshlrev_b32 v1, 3, v0\n"
                   "global_load_dwordx2 v[2:3], v1, s[6:7]\n" VM
                   "ds_write_b64 v1, v[2:3]\n" LGKM +
                   std::string(name) +
                   " v[4:5], v1\n" LGKM
                   "global_store_dwordx2 v1, v[4:5], s[4:5]\n";
    expectSnippet(snippet, Chip::GFX950, in, out);
    return reinterpret_cast<const uint8_t *>(out.data());
  };
  const uint8_t *result = run("ds_read_b64_tr_b16");
  for (int lane = 0; lane != 64; ++lane)
    for (int r = 0; r != 4; ++r)
      for (int byte = 0; byte != 2; ++byte) {
        int group = lane / 16 * 16, c = lane % 16;
        EXPECT_EQ(result[lane * 8 + 2 * r + byte],
                  bytes[(group + 4 * r + c / 4) * 8 + 2 * (c % 4) + byte]);
      }
  // Eight rows of 16 bytes, two lanes a row.
  result = run("ds_read_b64_tr_b8");
  for (int lane = 0; lane != 64; ++lane)
    for (int r = 0; r != 8; ++r) {
      int group = lane / 16 * 16, c = lane % 16;
      EXPECT_EQ(result[lane * 8 + r],
                bytes[(group + 2 * r + c / 8) * 8 + c % 8]);
    }
}

TEST(Global, WidthsAndOffsets) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(256), out(64 * 8, 0);
    for (uint32_t i = 0; i != 256; ++i)
      in[i] = 0x8091a2b3 + i * 0x01010101;
    Snippet snippet;
    snippet.code = "v_lshlrev_b32 v2, 2, v0\ns_add_u32 s8, s6, 256\n"
                   "s_addc_u32 s9, s7, 0\nv_mov_b32 v4, s6\nv_mov_b32 v5, s7\n"
                   "v_add_co_u32 v4, vcc, v4, v2\ns_nop 1\nv_addc_co_u32 v5, "
                   "vcc, 0, v5, vcc\n"
                   "global_load_ubyte v20, v2, s[8:9] offset:-256\n"
                   "global_load_sbyte v21, v2, s[8:9] offset:3\n"
                   "global_load_ushort v22, v[4:5], off offset:2\n"
                   "global_load_sshort v23, v[4:5], off offset:2\n"
                   "v_mov_b32 v24, -1\nv_mov_b32 v25, -1\n"
                   "global_load_short_d16 v24, v[4:5], off\n"
                   "global_load_ubyte_d16_hi v25, v[4:5], off offset:1\n"
                   "flat_load_dword v26, v[4:5] offset:256\n"
                   "global_load_dword v27, v2, s[6:7]\n"
                   "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_lshlrev_b32 v3, 5, v0\n"
                   "global_store_dwordx4 v3, v[20:23], s[4:5]\n"
                   "global_store_dwordx4 v3, v[24:27], s[4:5] offset:16\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 64; ++i) {
      const uint32_t *o = &out[8 * i];
      EXPECT_EQ(o[0], in[i] & 0xff);
      EXPECT_EQ(int32_t(o[1]), int8_t(in[64 + i] >> 24));
      EXPECT_EQ(o[2], in[i] >> 16);
      EXPECT_EQ(int32_t(o[3]), int16_t(in[i] >> 16));
      EXPECT_EQ(o[4], 0xffff0000 | (in[i] & 0xffff));
      EXPECT_EQ(o[5], 0x0000ffff | (in[i] >> 8 & 0xff) << 16);
      EXPECT_EQ(o[6], in[64 + i]);
      EXPECT_EQ(o[7], in[i]);
    }
  }
}

TEST(Global, NarrowStores) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64, 0x11223344);
    std::iota(in.begin(), in.end(), 0xa0b0c0d0);
    Snippet snippet;
    snippet.code = "v_lshlrev_b32 v2, 2, v0\n"
                   "global_load_dword v3, v2, s[6:7]\n" VM
                   "global_store_byte v2, v3, s[4:5]\n"
                   "global_store_byte_d16_hi v2, v3, s[4:5] offset:1\n"
                   "global_store_short_d16_hi v2, v3, s[4:5] offset:2\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 64; ++i)
      EXPECT_EQ(out[i], (in[i] & 0xff) | (in[i] >> 16 & 0xff) << 8 |
                            (in[i] & 0xffff0000));
  }
}

TEST(Global, AtomicsOfOneLane) {
  struct Atomic {
    const char *name;
    int words;
    uint64_t memory, operand, compare, expected;
  } atomics[] = {
      {"add", 1, 0xfffffffe, 5, 0, 3},
      {"sub", 1, 3, 5, 0, 0xfffffffe},
      {"smin", 1, 0xffffffff, 1, 0, 0xffffffff},
      {"umin", 1, 0xffffffff, 1, 0, 1},
      {"smax", 1, 0xffffffff, 1, 0, 1},
      {"umax", 1, 0xffffffff, 1, 0, 0xffffffff},
      {"and", 1, 0xf0f0, 0xff00, 0, 0xf000},
      {"or", 1, 0xf0f0, 0xff00, 0, 0xfff0},
      {"xor", 1, 0xf0f0, 0xff00, 0, 0x0ff0},
      {"inc", 1, 7, 7, 0, 0},
      {"inc", 1, 6, 7, 0, 7},
      {"dec", 1, 0, 7, 0, 7},
      {"dec", 1, 9, 7, 0, 7},
      {"swap", 1, 1, 2, 0, 2},
      {"cmpswap", 1, 5, 9, 5, 9},
      {"cmpswap", 1, 6, 9, 5, 6},
      {"add_f32", 1, 0x3f800000, 0x40000000, 0, 0x40400000},
      {"pk_add_f16", 1, 0x3c003c00, 0x40003c00, 0, 0x42004000},
      {"pk_add_bf16", 1, 0x3f803f80, 0x40003f80, 0, 0x40404000},
      {"add_x2", 2, 0xffffffff, 1, 0, 0x100000000},
      {"smax_x2", 2, ~uint64_t(0), 1, 0, 1},
      {"cmpswap_x2", 2, 77, 0x123456789a, 77, 0x123456789a},
      {"add_f64", 2, 0x3ff0000000000000, 0x4000000000000000, 0,
       0x4008000000000000},
      {"max_f64", 2, 0x3ff0000000000000, 0xc000000000000000, 0,
       0x3ff0000000000000},
  };
  auto literal = [](int reg, uint64_t value) {
    return "v_mov_b32 v" + std::to_string(reg) + ", " +
           std::to_string(uint32_t(value)) + "\n";
  };
  // All in one kernel: memory at 16 bytes each, the returned value behind it.
  std::vector<uint32_t> initial;
  std::string code = "s_mov_b64 exec, 1\nv_mov_b32 v2, 0\n"
                     "v_mov_b32 v8, s4\nv_mov_b32 v9, s5\n"
                     "s_mov_b32 s16, s4\ns_and_b32 s17, s5, 0xffff\n"
                     "s_mov_b32 s18, 0x10000\ns_mov_b32 s19, 0x27000\n";
  std::vector<const Atomic *> order;
  for (llvm::StringRef family : {"global", "flat", "buffer"})
    for (const Atomic &atomic : atomics) {
      llvm::StringRef name = atomic.name;
      if (family == "buffer" && name == "pk_add_bf16")
        continue; // gfx950 only
      order.push_back(&atomic);
      std::string offset =
          " offset:" + std::to_string(4 * initial.size() % 2048);
      std::string behind = std::to_string(4 * initial.size() + 8);
      std::string base = std::to_string(4 * initial.size() / 2048 * 2048);
      bool wide = atomic.words == 2;
      bool compares = name.starts_with("cmpswap");
      initial.insert(initial.end(), {uint32_t(atomic.memory),
                                     uint32_t(atomic.memory >> 32), 0, 0});
      // The operand, then (in the upper registers) the compare value.
      code += literal(4, atomic.operand);
      if (wide)
        code += literal(5, atomic.operand >> 32);
      if (compares) {
        code += literal(4 + atomic.words, atomic.compare);
        if (wide)
          code += literal(7, atomic.compare >> 32);
      }
      std::string data =
          compares ? (wide ? "v[4:7]" : "v[4:5]") : (wide ? "v[4:5]" : "v4");
      std::string result = wide ? "v[20:21]" : "v20";
      std::string op = (family + "_atomic_" + name).str();
      code += "v_mov_b32 v2, " + base + "\n";
      if (family == "global")
        code += op + " " + result + ", v2, " + data + ", s[4:5]" + offset +
                " sc0\n" VM;
      else if (family == "flat")
        code += "v_add_co_u32 v10, vcc, v8, v2\ns_nop 1\n"
                "v_addc_co_u32 v11, vcc, 0, v9, vcc\n" +
                op + " " + result + ", v[10:11], " + data + offset +
                " sc0\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
      else
        // The old value comes back in the data registers.
        code += op + " " + data + ", v2, s[16:19], 0 offen" + offset +
                " sc0\n" VM "v_mov_b32 v20, v4\nv_mov_b32 v21, v5\n";
      code +=
          "v_mov_b32 v2, " + behind + "\n" +
          std::string(wide ? "global_store_dwordx2" : "global_store_dword") +
          " v2, " + result + ", s[4:5]\n";
    }
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(1), out = initial;
    Snippet snippet;
    snippet.code = code;
    expectSnippet(snippet, chip, in, out);
    for (size_t i = 0; i != order.size(); ++i) {
      const Atomic &atomic = *order[i];
      const uint32_t *words = &out[4 * i];
      EXPECT_EQ(words[0], uint32_t(atomic.expected)) << i << atomic.name;
      EXPECT_EQ(words[2], uint32_t(atomic.memory)) << i << atomic.name;
      if (atomic.words == 2) {
        EXPECT_EQ(words[1], uint32_t(atomic.expected >> 32)) << atomic.name;
        EXPECT_EQ(words[3], uint32_t(atomic.memory >> 32)) << atomic.name;
      }
    }
  }
}

TEST(Memory, LoadAndStoreFamilies) {
  // Every width through FLAT, GLOBAL, SCRATCH and MUBUF. A load's result has
  // `words` registers, starting from -1.
  struct Width {
    const char *load, *store;
    unsigned words;
    uint32_t (*loaded)(const uint8_t *bytes, unsigned word);
    /// What a store of registers 0x83828180 + word * 0x04040404 leaves.
    unsigned storedBytes;
    unsigned storedShift;
  };
  static const auto at = [](const uint8_t *bytes, unsigned word) {
    uint32_t value;
    std::memcpy(&value, bytes + 4 * word, 4);
    return value;
  };
  const Width widths[] = {
      {"ubyte", "byte", 1,
       [](const uint8_t *b, unsigned) { return uint32_t(b[0]); }, 1, 0},
      {"sbyte", nullptr, 1,
       [](const uint8_t *b, unsigned) { return uint32_t(int8_t(b[0])); }, 0, 0},
      {"ushort", "short", 1,
       [](const uint8_t *b, unsigned) { return uint32_t(b[0] | b[1] << 8); }, 2,
       0},
      {"sshort", nullptr, 1,
       [](const uint8_t *b, unsigned) {
         return uint32_t(int16_t(b[0] | b[1] << 8));
       },
       0, 0},
      {"ubyte_d16", nullptr, 1,
       [](const uint8_t *b, unsigned) { return 0xffff0000u | b[0]; }, 0, 0},
      {"ubyte_d16_hi", "byte_d16_hi", 1,
       [](const uint8_t *b, unsigned) {
         return 0xffffu | uint32_t(b[0]) << 16;
       },
       1, 16},
      {"sbyte_d16", nullptr, 1,
       [](const uint8_t *b, unsigned) {
         return 0xffff0000u | uint16_t(int8_t(b[0]));
       },
       0, 0},
      {"sbyte_d16_hi", nullptr, 1,
       [](const uint8_t *b, unsigned) {
         return 0xffffu | uint32_t(uint16_t(int8_t(b[0]))) << 16;
       },
       0, 0},
      {"short_d16", nullptr, 1,
       [](const uint8_t *b, unsigned) {
         return 0xffff0000u | uint32_t(b[0] | b[1] << 8);
       },
       0, 0},
      {"short_d16_hi", "short_d16_hi", 1,
       [](const uint8_t *b, unsigned) {
         return 0xffffu | uint32_t(b[0] | b[1] << 8) << 16;
       },
       2, 16},
      {"dword", "dword", 1, at, 4, 0},
      {"dwordx2", "dwordx2", 2, at, 8, 0},
      {"dwordx3", "dwordx3", 3, at, 12, 0},
      {"dwordx4", "dwordx4", 4, at, 16, 0},
  };
  auto range = [](unsigned first, unsigned count) {
    return count == 1 ? "v" + std::to_string(first)
                      : "v[" + std::to_string(first) + ":" +
                            std::to_string(first + count - 1) + "]";
  };
  for (llvm::StringRef family : {"global", "flat", "scratch", "buffer"}) {
    SCOPED_TRACE(family.str());
    std::vector<uint32_t> in(256);
    for (uint32_t i = 0; i != 256; ++i)
      in[i] = 0x8191a1b1 + i * 0x03050709;
    // Lane's 16 bytes; v[10:11] and v[12:13] point to them in in and out.
    std::string code =
        "v_lshlrev_b32 v2, 4, v0\n"
        "s_mov_b32 s12, s6\ns_and_b32 s13, s7, 0xffff\ns_mov_b32 s14, 1024\n"
        "s_mov_b32 s15, 0x27000\ns_mov_b32 s16, s4\n"
        "s_and_b32 s17, s5, 0xffff\ns_mov_b32 s18, 0x10000\n"
        "s_mov_b32 s19, 0x27000\nv_mov_b32 v10, s6\nv_mov_b32 v11, s7\n"
        "v_add_co_u32 v10, vcc, v10, v2\ns_nop 1\n"
        "v_addc_co_u32 v11, vcc, 0, v11, vcc\n"
        "global_load_dwordx4 v[4:7], v2, s[6:7]\n" VM
        "scratch_store_dwordx4 off, v[4:7], off offset:16\n" VM;
    auto access = [&](bool isLoad, const char *name, const std::string &regs) {
      std::string op = (family + (isLoad ? "_load_" : "_store_") + name).str();
      // Stores go to out at v3.
      if (family == "global")
        return isLoad ? op + " " + regs + ", v2, s[6:7]\n"
                      : op + " v3, " + regs + ", s[4:5]\n";
      if (family == "flat")
        return isLoad ? op + " " + regs + ", v[10:11]\n"
                      : "v_mov_b32 v12, s4\nv_mov_b32 v13, s5\n"
                        "v_add_co_u32 v12, vcc, v12, v3\ns_nop 1\n"
                        "v_addc_co_u32 v13, vcc, 0, v13, vcc\n" +
                            op + " v[12:13], " + regs + "\n";
      if (family == "scratch")
        return isLoad ? op + " " + regs + ", off, off offset:16\n"
                      : op + " off, " + regs + ", off offset:32\n";
      return isLoad ? op + " " + regs + ", v2, s[12:15], 0 offen\n"
                    : op + " " + regs + ", v3, s[16:19], 0 offen\n";
    };
    // Out: for each width 4 words loaded and 4 words stored, a lane.
    unsigned base = 0;
    for (const Width &width : widths) {
      for (unsigned word = 0; word != 4; ++word)
        code += "v_mov_b32 v" + std::to_string(20 + word) + ", -1\n";
      code += access(true, width.load, range(20, width.words)) +
              "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v3, " +
              std::to_string(base) +
              ", v2\n"
              "global_store_dwordx4 v3, v[20:23], s[4:5]\ns_nop 1\n";
      base += 1024;
      if (width.store) {
        for (unsigned word = 0; word != 4; ++word)
          code += "v_mov_b32 v" + std::to_string(20 + word) + ", " +
                  std::to_string(0x83828180u + word * 0x04040404u) + "\n";
        code += "v_add_u32 v3, " + std::to_string(base) + ", v2\n";
        if (family == "scratch") {
          // Zeros first; read back after.
          code += "v_mov_b32 v24, 0\nv_mov_b32 v25, 0\nv_mov_b32 v26, 0\n"
                  "v_mov_b32 v27, 0\n"
                  "scratch_store_dwordx4 off, v[24:27], off offset:32\n" VM;
        }
        code +=
            access(false, width.store, range(20, width.words)) + "s_nop 1\n";
        if (family == "scratch")
          code += VM "scratch_load_dwordx4 v[24:27], off, off offset:32\n" VM
                     "global_store_dwordx4 v3, v[24:27], s[4:5]\ns_nop 1\n";
        base += 1024;
      }
    }
    code += "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    for (Chip chip : bothChips) {
      std::vector<uint32_t> out(base / 4, 0);
      Snippet snippet;
      snippet.code = code;
      expectSnippet(snippet, chip, in, out);
      unsigned row = 0;
      for (const Width &width : widths) {
        for (unsigned lane = 0; lane != 64; ++lane)
          for (unsigned word = 0; word != 4; ++word)
            EXPECT_EQ(out[row + 4 * lane + word],
                      word < width.words
                          ? width.loaded(reinterpret_cast<const uint8_t *>(
                                             &in[4 * lane]),
                                         word)
                          : ~0u)
                << "load " << width.load << " lane " << lane;
        row += 256;
        if (!width.store)
          continue;
        for (unsigned lane = 0; lane != 64; ++lane) {
          uint8_t expected[16] = {};
          for (unsigned byte = 0; byte != width.storedBytes; ++byte)
            expected[byte] = uint8_t(0x80 + byte + width.storedShift / 8);
          EXPECT_EQ(std::memcmp(expected, &out[row + 4 * lane], 16), 0)
              << "store " << width.store << " lane " << lane;
        }
        row += 256;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Buffers: case F6 of the public bug list
//===----------------------------------------------------------------------===//

/// s[12:15] describes `bytes` bytes of in, s[16:19] of out.
std::string resources(const std::string &bytes, const char *stride = "0") {
  return "s_mov_b32 s12, s6\ns_and_b32 s13, s7, 0xffff\n"
         "s_or_b32 s13, s13, " +
         std::string(stride) + " << 16\ns_mov_b32 s14, " + bytes +
         "\ns_mov_b32 s15, 0x27000\n"
         "s_mov_b32 s16, s4\ns_and_b32 s17, s5, 0xffff\ns_mov_b32 s18, " +
         bytes + "\ns_mov_b32 s19, 0x27000\ns_nop 0\n";
}

TEST(Buffer, F6a_OffsetOfLDSDMAMovesBothEnds) {
  // M0 is set once; the instruction's offset moves the global address and the
  // LDS address (rocm-systems#10192).
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(192), out(192, 0);
    std::iota(in.begin(), in.end(), 1000);
    Snippet snippet;
    snippet.code = resources("768") +
                   "s_mov_b32 m0, 128\ns_nop 0\n"
                   "buffer_load_dword v1, s[12:15], 0 offen lds\n"
                   "buffer_load_dword v1, s[12:15], 0 offen offset:256 lds\n"
                   "buffer_load_dword v1, s[12:15], 0 offen offset:512 lds\n" VM
                   "ds_read_b32 v2, v1 offset:128\n"
                   "ds_read_b32 v3, v1 offset:384\n"
                   "ds_read_b32 v4, v1 offset:640\n" LGKM
                   "global_store_dword v1, v2, s[4:5]\n"
                   "global_store_dword v1, v3, s[4:5] offset:256\n"
                   "global_store_dword v1, v4, s[4:5] offset:512\n";
    expectSnippet(snippet, chip, in, out);
    EXPECT_EQ(out, in);
  }
}

TEST(Buffer, F6b_NoRecordsMeansNothingInRange) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64, 7), out(64, 99);
    Snippet snippet;
    snippet.code = resources("0") +
                   "v_mov_b32 v2, -1\n"
                   "buffer_load_dword v2, v1, s[12:15], 0 offen\n" VM
                   "v_add_u32 v2, 5, v2\n"
                   "buffer_store_dword v2, v1, s[16:19], 0 offen\n"
                   "global_store_dword v1, v2, s[4:5]\n" VM
                   "v_mov_b32 v3, 123\n"
                   "buffer_store_dword v3, v1, s[16:19], 0 offen\n";
    expectSnippet(snippet, chip, in, out);
    EXPECT_EQ(out, std::vector<uint32_t>(64, 5));
  }
}

TEST(Buffer, F6c_DwordsAcrossTheEnd) {
  // 250 bytes: dword 62 starts at 248 and straddles the end. A dword that is
  // not wholly inside is out of range; a dwordx4 is checked dword by dword.
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64 * 4, 0);
    std::iota(in.begin(), in.end(), 1);
    Snippet snippet;
    snippet.code = resources("250") +
                   "v_min_u32 v3, 240, v1\n"
                   "buffer_load_dword v4, v1, s[12:15], 0 offen\n"
                   "buffer_load_dwordx4 v[8:11], v3, s[12:15], 0 offen\n" VM
                   "v_lshlrev_b32 v2, 4, v0\n"
                   "v_mov_b32 v5, v9\nv_mov_b32 v6, v10\nv_mov_b32 v7, v11\n"
                   "global_store_dwordx4 v2, v[4:7], s[4:5]\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 64; ++i) {
      EXPECT_EQ(out[4 * i], 4 * i + 4 <= 250 ? in[i] : 0) << i;
      for (uint32_t k = 1; k != 4; ++k) {
        uint32_t at = std::min(60u, i) + k;
        EXPECT_EQ(out[4 * i + k], 4 * at + 4 <= 250 ? in[at] : 0) << i;
      }
    }
  }
}

TEST(Buffer, F6d_BFloatTiesGoToEven) {
  // v_cvt_pk_bf16_f32 on gfx950; the add of two values whose sum is a tie.
  std::vector<uint32_t> in(64), out(64);
  Snippet snippet;
  snippet.code = "v_mov_b32 v2, 1.0\nv_mov_b32 v3, 0x3b800000\n" // 2^-8
                 "v_add_f32 v4, v2, v3\n" // 1 + 2^-8: between 1 and 1 + 2^-7
                 "v_mov_b32 v5, 0x3f810000\nv_add_f32 v5, v5, v3\n"
                 "v_cvt_pk_bf16_f32 v6, v4, v5\n"
                 "global_store_dword v1, v6, s[4:5]\n";
  expectSnippet(snippet, Chip::GFX950, in, out);
  EXPECT_EQ(out[0], 0x3f823f80u);
}

TEST(Buffer, F6e_DMAOfMoreLanesThanLDSHolds) {
  // 256 work-items DMA a dword each into a tile of 64 dwords: three of the four
  // waves write past the end, which must be reported.
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(256, 3), out(64, 0);
    Snippet snippet;
    snippet.block = 256;
    snippet.ldsBytes = 256;
    snippet.code = resources("1024") +
                   "v_readfirstlane_b32 s20, v1\ns_mov_b32 m0, s20\ns_nop 0\n"
                   "buffer_load_dword v1, s[12:15], 0 offen lds\n" VM
                   "s_barrier\n";
    auto report = runSnippet(snippet, chip, in, out, getCheckedOptions());
    if (!report) {
      llvm::consumeError(report.takeError());
      continue; // a fault is a report too
    }
    EXPECT_FALSE(report->isClean());
  }
}

TEST(Buffer, F6f_OffsetsDoNotWrapIntoRange) {
  // The sum of a lane's offset, the instruction's and soffset is compared
  // without wrapping at 2^32.
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64 * 2, 77);
    std::iota(in.begin(), in.end(), 1);
    Snippet snippet;
    snippet.code = resources("256") +
                   "v_add_u32 v3, 0xfffffff0, v1\n"
                   "buffer_load_dword v4, v3, s[12:15], 0 offen offset:16\n"
                   "v_mov_b32 v5, 0xfffffff0\n"
                   "buffer_load_dword v5, v5, s[12:15], 0 offen offset:32\n" VM
                   "v_lshlrev_b32 v2, 3, v0\n"
                   "global_store_dwordx2 v2, v[4:5], s[4:5]\n";
    // Sources disagree on such sums, so the access is reported as well.
    auto report = runSnippet(snippet, chip, in, out, getCheckedOptions());
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    for (const Finding &finding : report->findings)
      EXPECT_EQ(finding.check, Check::BufferRange) << describe(*report);
    EXPECT_FALSE(report->isClean());
    for (uint32_t i = 0; i != 64; ++i) {
      // Lanes 4 and up wrapped in the v_add already: offset 4 i - 16 + 16.
      EXPECT_EQ(out[2 * i], i < 4 ? 0 : in[i]) << i;
      EXPECT_EQ(out[2 * i + 1], 0u) << i;
    }
  }
}

TEST(LDS, AppendAndConsumeCountAtM0) {
  // The LDS pointer is in the lower half of M0, as clang's
  // __builtin_amdgcn_ds_append puts it, directly before its use.
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64 * 2, 77);
    Snippet snippet;
    snippet.code =
        "v_mov_b32 v2, 100\nv_mov_b32 v3, 0\n"
        "ds_write_b32 v3, v3\nds_write_b32 v3, v2 offset:16\n" LGKM
        "v_lshlrev_b32 v2, 3, v0\ns_mov_b32 exec_lo, 0x55\n"
        "s_mov_b32 m0, 12\nds_append v4 offset:4\n"
        "s_mov_b32 exec_lo, 1\n"
        "ds_consume v5 offset:4\n" LGKM "s_mov_b64 exec, -1\nv_mov_b32 v6, v4\n"
        "v_cndmask_b32 v6, 0, v6, s[20:21]\n"
        "ds_read_b32 v7, v3 offset:16\n" LGKM
        "global_store_dwordx2 v2, v[6:7], s[4:5]\n";
    snippet.code = "s_mov_b64 s[20:21], 0x55\n" + snippet.code;
    expectSnippet(snippet, chip, in, out);
    // 36 lanes counted (bits of 0x55 and the upper half), one taken back.
    for (uint32_t i = 0; i != 64; ++i) {
      EXPECT_EQ(out[2 * i], i < 8 && i % 2 == 0 ? 100u : 0u) << i;
      EXPECT_EQ(out[2 * i + 1], 100u + 36 - 33) << i;
    }
  }
}

TEST(Buffer, AddressingModes) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(256), out(64 * 4, 0);
    std::iota(in.begin(), in.end(), 1);
    Snippet snippet;
    // Stride 16 for the indexed forms; soffset and offset add up.
    snippet.code = resources("1024") +
                   "s_mov_b32 s20, 64\n"
                   "buffer_load_dword v4, v1, s[12:15], s20 offen offset:8\n" VM
                   "s_or_b32 s13, s13, 16 << 16\ns_mov_b32 s14, 64\ns_nop 0\n"
                   "buffer_load_dword v5, v0, s[12:15], 0 idxen offset:4\n"
                   "v_mov_b32 v8, v0\nv_mov_b32 v9, 12\n"
                   "buffer_load_dword v6, v[8:9], s[12:15], 0 idxen offen\n"
                   "buffer_load_ubyte v7, v0, s[12:15], 0 idxen\n" VM
                   "v_lshlrev_b32 v2, 4, v0\n"
                   "global_store_dwordx4 v2, v[4:7], s[4:5]\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 64; ++i) {
      EXPECT_EQ(out[4 * i], in[i + 18]);
      EXPECT_EQ(out[4 * i + 1], in[4 * i + 1]);
      EXPECT_EQ(out[4 * i + 2], in[4 * i + 3]);
      EXPECT_EQ(out[4 * i + 3], in[4 * i] & 0xff);
    }
  }
}

TEST(Buffer, StructuredRangeIsTheIndex) {
  // With a stride, num_records counts records: index 5 of 5 is out of range.
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(256), out(64, 0);
    std::iota(in.begin(), in.end(), 1);
    Snippet snippet;
    snippet.code = resources("5", "16") +
                   "buffer_load_dword v4, v0, s[12:15], 0 idxen\n" VM
                   "global_store_dword v1, v4, s[4:5]\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 64; ++i)
      EXPECT_EQ(out[i], i < 5 ? in[4 * i] : 0);
  }
}

TEST(Buffer, StoresPastTheEndVanish) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64, 0), out(64 * 2, 77);
    Snippet snippet;
    snippet.code = resources("100") +
                   "v_mov_b32 v2, 1\nv_mov_b32 v3, 2\nv_lshlrev_b32 v4, 3, v0\n"
                   "buffer_store_dwordx2 v[2:3], v4, s[16:19], 0 offen\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 128; ++i)
      EXPECT_EQ(out[i], 4 * i + 4 <= 100 ? 1 + i % 2 : 77) << i;
  }
}

TEST(Buffer, DMAWritesZeroOutOfRangeAndNothingWhenOff) {
  for (Chip chip : bothChips) {
    std::vector<uint32_t> in(64), out(64, 0);
    std::iota(in.begin(), in.end(), 1);
    Snippet snippet;
    snippet.code = resources("128") +
                   "v_mov_b32 v2, 77\nds_write_b32 v1, v2\n" LGKM
                   "s_mov_b32 m0, 0\ns_mov_b32 exec_lo, 0x0000ffff\n"
                   "buffer_load_dword v1, s[12:15], 0 offen lds\n"
                   "s_mov_b64 exec, -1\n" VM "ds_read_b32 v3, v1\n" LGKM
                   "global_store_dword v1, v3, s[4:5]\n";
    expectSnippet(snippet, chip, in, out);
    for (uint32_t i = 0; i != 64; ++i)
      EXPECT_EQ(out[i], i < 16 ? in[i] : i < 32 ? 77u : 0u) << i;
  }
}

TEST(Buffer, WideDMA) {
  std::vector<uint32_t> in(256), out(256, 0);
  std::iota(in.begin(), in.end(), 1);
  Snippet snippet;
  snippet.code = resources("1024") +
                 "v_sub_u32 v2, 63, v0\nv_lshlrev_b32 v2, 4, v2\n"
                 "s_mov_b32 m0, 256\ns_nop 0\n"
                 "buffer_load_dwordx4 v2, s[12:15], 0 offen lds\n" VM
                 "v_lshlrev_b32 v3, 4, v0\nds_read_b128 v[4:7], v3 "
                 "offset:256\n" LGKM
                 "global_store_dwordx4 v3, v[4:7], s[4:5]\n";
  expectSnippet(snippet, Chip::GFX950, in, out);
  for (uint32_t i = 0; i != 256; ++i)
    EXPECT_EQ(out[i], in[(63 - i / 4) * 4 + i % 4]);
}

} // namespace
