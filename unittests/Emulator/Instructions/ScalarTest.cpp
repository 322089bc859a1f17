//===- ScalarTest.cpp - SALU instructions ---------------------------------===//

#include "Harness.h"

#include <algorithm>

using namespace attn::emu;

namespace {

int32_t S(uint32_t bits) { return int32_t(bits); }

/// Operands in s12, s13, ... as the case's inputs; results from s20, s21, ...
/// and SCC from s30 when the code saves it.
#define READ1 "v_readfirstlane_b32 s12, v2\n"
#define READ2 READ1 "v_readfirstlane_b32 s13, v3\n"
#define READ3 READ2 "v_readfirstlane_b32 s14, v4\n"
#define READ4 READ3 "v_readfirstlane_b32 s15, v5\n"
#define SAVE_SCC "s_cselect_b32 s30, 1, 0\n"
#define WRITE1 "v_mov_b32 v20, s20\n"
#define WRITE1_SCC WRITE1 "v_mov_b32 v21, s30\n"
#define WRITE2 WRITE1 "v_mov_b32 v21, s21\n"
#define WRITE2_SCC WRITE2 "v_mov_b32 v22, s30\n"

/// s20 = op s12, s13 with SCC.
Case binary(const char *name, const char *code,
            std::function<void(const uint32_t *, uint32_t *)> expected) {
  return {name, "ii", "uu", code, std::move(expected), /*uniform=*/true};
}

TEST(Scalar, Arithmetic) {
#define BINARY(op) READ2 op " s20, s12, s13\n" SAVE_SCC WRITE1_SCC
  runCases({
      binary("s_add_u32", BINARY("s_add_u32"),
             [](const uint32_t *in, uint32_t *out) {
               out[0] = in[0] + in[1];
               out[1] = out[0] < in[0];
             }),
      binary("s_sub_u32", BINARY("s_sub_u32"),
             [](const uint32_t *in, uint32_t *out) {
               out[0] = in[0] - in[1];
               out[1] = in[0] < in[1];
             }),
      binary("s_add_i32", BINARY("s_add_i32"),
             [](const uint32_t *in, uint32_t *out) {
               int64_t sum = int64_t(S(in[0])) + S(in[1]);
               out[0] = uint32_t(sum);
               out[1] = sum != S(out[0]);
             }),
      binary("s_sub_i32", BINARY("s_sub_i32"),
             [](const uint32_t *in, uint32_t *out) {
               int64_t sum = int64_t(S(in[0])) - S(in[1]);
               out[0] = uint32_t(sum);
               out[1] = sum != S(out[0]);
             }),
      binary("s_and_b32", BINARY("s_and_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = in[0] & in[1]) != 0;
             }),
      binary("s_andn2_b32", BINARY("s_andn2_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = in[0] & ~in[1]) != 0;
             }),
      binary("s_orn2_b32", BINARY("s_orn2_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = in[0] | ~in[1]) != 0;
             }),
      binary("s_nand_b32", BINARY("s_nand_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = ~(in[0] & in[1])) != 0;
             }),
      binary("s_xnor_b32", BINARY("s_xnor_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = ~(in[0] ^ in[1])) != 0;
             }),
      binary("s_lshl_b32", BINARY("s_lshl_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = in[0] << (in[1] & 31)) != 0;
             }),
      binary("s_lshr_b32", BINARY("s_lshr_b32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = in[0] >> (in[1] & 31)) != 0;
             }),
      binary("s_ashr_i32", BINARY("s_ashr_i32"),
             [](const uint32_t *in, uint32_t *out) {
               out[1] = (out[0] = S(in[0]) >> (in[1] & 31)) != 0;
             }),
      binary("s_min_i32", BINARY("s_min_i32"),
             [](const uint32_t *in, uint32_t *out) {
               out[0] = std::min(S(in[0]), S(in[1]));
               out[1] = S(in[0]) < S(in[1]);
             }),
      binary("s_max_u32", BINARY("s_max_u32"),
             [](const uint32_t *in, uint32_t *out) {
               out[0] = std::max(in[0], in[1]);
               out[1] = in[0] > in[1];
             }),
      binary("s_lshl3_add_u32", BINARY("s_lshl3_add_u32"),
             [](const uint32_t *in, uint32_t *out) {
               uint64_t sum = (uint64_t(in[0]) << 3) + in[1];
               out[0] = uint32_t(sum);
               out[1] = sum > UINT32_MAX;
             }),
      binary("s_absdiff_i32", BINARY("s_absdiff_i32"),
             [](const uint32_t *in, uint32_t *out) {
               uint32_t difference = in[0] - in[1];
               out[0] = S(difference) < 0 ? 0 - difference : difference;
               out[1] = out[0] != 0;
             }),
      binary("s_bfe_u32", BINARY("s_bfe_u32"),
             [](const uint32_t *in, uint32_t *out) {
               unsigned offset = in[1] & 31, width = in[1] >> 16 & 0x7f;
               uint64_t mask =
                   width >= 32 ? UINT32_MAX : (uint64_t(1) << width) - 1;
               out[1] = (out[0] = in[0] >> offset & mask) != 0;
             }),
      binary("s_bfe_i32", BINARY("s_bfe_i32"),
             [](const uint32_t *in, uint32_t *out) {
               unsigned offset = in[1] & 31, width = in[1] >> 16 & 0x7f;
               unsigned present = std::min(width, 32 - offset);
               out[0] = present == 0 ? 0
                                     : S(in[0] << (32 - offset - present)) >>
                                           (32 - present);
               out[1] = out[0] != 0;
             }),
      binary("no SCC change",
             READ2 "s_cmp_lg_u32 s12, s13\n"
                   "s_mul_i32 s20, s12, s13\n" SAVE_SCC WRITE1_SCC,
             [](const uint32_t *in, uint32_t *out) {
               out[0] = in[0] * in[1];
               out[1] = in[0] != in[1];
             }),
      binary("s_mul_hi",
             READ2 "s_mul_hi_u32 s20, s12, s13\n"
                   "s_mul_hi_i32 s21, s12, s13\n" WRITE2,
             [](const uint32_t *in, uint32_t *out) {
               out[0] = uint32_t(uint64_t(in[0]) * in[1] >> 32);
               out[1] = uint32_t(int64_t(S(in[0])) * S(in[1]) >> 32);
             }),
      binary("s_bfm_b32 keeps SCC",
             READ2
             "s_cmp_eq_u32 0, 1\ns_bfm_b32 s20, s12, s13\n" SAVE_SCC WRITE1_SCC,
             [](const uint32_t *in, uint32_t *out) {
               out[0] = ((1u << (in[0] & 31)) - 1) << (in[1] & 31);
               out[1] = 0;
             }),
      binary("s_pack",
             READ2 "s_pack_ll_b32_b16 s20, s12, s13\n"
                   "s_pack_lh_b32_b16 s21, s12, s13\n" WRITE2,
             [](const uint32_t *in, uint32_t *out) {
               out[0] = (in[0] & 0xffff) | in[1] << 16;
               out[1] = (in[0] & 0xffff) | (in[1] & 0xffff0000);
             }),
      {"carry chain", "ll", "uuu",
       READ4 "s_add_u32 s20, s12, s14\ns_addc_u32 s21, s13, s15\n" SAVE_SCC
           WRITE2_SCC,
       [](const uint32_t *in, uint32_t *out) {
         unsigned __int128 sum = (unsigned __int128)L(in) + L(in + 2);
         setL(out, uint64_t(sum));
         out[2] = uint32_t(sum >> 64);
       },
       true},
      {"borrow chain", "ll", "uuu",
       READ4 "s_sub_u32 s20, s12, s14\ns_subb_u32 s21, s13, s15\n" SAVE_SCC
           WRITE2_SCC,
       [](const uint32_t *in, uint32_t *out) {
         setL(out, L(in) - L(in + 2));
         out[2] = L(in) < L(in + 2);
       },
       true},
      {"64-bit logic", "ll", "uuu",
       READ4 "s_andn2_b64 s[20:21], s[12:13], s[14:15]\n" SAVE_SCC WRITE2_SCC,
       [](const uint32_t *in, uint32_t *out) {
         setL(out, L(in) & ~L(in + 2));
         out[2] = L(out) != 0;
       },
       true},
      {"64-bit shifts", "ls", "uuu",
       READ3 "s_ashr_i64 s[20:21], s[12:13], s14\n" SAVE_SCC WRITE2_SCC,
       [](const uint32_t *in, uint32_t *out) {
         setL(out, uint64_t(int64_t(L(in)) >> (in[2] & 63)));
         out[2] = L(out) != 0;
       },
       true},
      {"s_bfe_u64", "li", "uuu",
       READ3 "s_bfe_u64 s[20:21], s[12:13], s14\n" SAVE_SCC WRITE2_SCC,
       [](const uint32_t *in, uint32_t *out) {
         unsigned offset = in[2] & 63, width = in[2] >> 16 & 0x7f;
         uint64_t mask =
             width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
         setL(out, L(in) >> offset & mask);
         out[2] = L(out) != 0;
       },
       true},
  });
}

TEST(Scalar, Unary) {
#define UNARY(op) READ1 op " s20, s12\n" SAVE_SCC WRITE1_SCC
#define UNARY_KEEP(op)                                                         \
  READ1 "s_cmp_eq_u32 0, 0\n" op " s20, s12\n" SAVE_SCC WRITE1_SCC
  auto unary = [](const char *name, const char *code,
                  std::function<void(const uint32_t *, uint32_t *)> expected) {
    return Case{name, "i", "uu", code, std::move(expected), true};
  };
  runCases({
      unary("s_not_b32", UNARY("s_not_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[1] = (out[0] = ~in[0]) != 0;
            }),
      unary("s_abs_i32", UNARY("s_abs_i32"),
            [](const uint32_t *in, uint32_t *out) {
              out[1] = (out[0] = S(in[0]) < 0 ? 0 - in[0] : in[0]) != 0;
            }),
      unary("s_bcnt1_i32_b32", UNARY("s_bcnt1_i32_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[1] = (out[0] = std::popcount(in[0])) != 0;
            }),
      unary("s_bcnt0_i32_b32", UNARY("s_bcnt0_i32_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[1] = (out[0] = std::popcount(~in[0])) != 0;
            }),
      unary("s_ff1_i32_b32", UNARY_KEEP("s_ff1_i32_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[0] = in[0] ? std::countr_zero(in[0]) : -1;
              out[1] = 1;
            }),
      unary("s_flbit_i32_b32", UNARY_KEEP("s_flbit_i32_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[0] = in[0] ? std::countl_zero(in[0]) : -1;
              out[1] = 1;
            }),
      unary("s_flbit_i32", UNARY_KEEP("s_flbit_i32"),
            [](const uint32_t *in, uint32_t *out) {
              uint32_t flipped = S(in[0]) < 0 ? ~in[0] : in[0];
              out[0] = flipped ? std::countl_zero(flipped) : -1;
              out[1] = 1;
            }),
      unary("s_brev_b32", UNARY_KEEP("s_brev_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[0] = 0;
              for (int i = 0; i != 32; ++i)
                out[0] |= (in[0] >> i & 1) << (31 - i);
              out[1] = 1;
            }),
      unary("s_sext_i32_i8", UNARY_KEEP("s_sext_i32_i8"),
            [](const uint32_t *in, uint32_t *out) {
              out[0] = int8_t(in[0]);
              out[1] = 1;
            }),
      unary("s_sext_i32_i16", UNARY_KEEP("s_sext_i32_i16"),
            [](const uint32_t *in, uint32_t *out) {
              out[0] = int16_t(in[0]);
              out[1] = 1;
            }),
      unary("s_wqm_b32", UNARY("s_wqm_b32"),
            [](const uint32_t *in, uint32_t *out) {
              out[0] = 0;
              for (int i = 0; i != 32; ++i)
                if (in[0] >> (i & ~3) & 15)
                  out[0] |= 1u << i;
              out[1] = out[0] != 0;
            }),
      unary("s_bitset",
            READ1 "s_mov_b32 s20, 0\ns_mov_b32 s21, -1\n"
                  "s_bitset1_b32 s20, s12\n"
                  "s_bitset0_b32 s21, s12\n" WRITE2,
            [](const uint32_t *in, uint32_t *out) {
              out[0] = 1u << (in[0] & 31);
              out[1] = ~(1u << (in[0] & 31));
            }),
      unary("s_cmovk, s_addk, s_mulk",
            READ1 "s_mov_b32 s20, s12\ns_mov_b32 s21, s12\n"
                  "s_cmp_gt_i32 s12, 5\ns_cmovk_i32 s20, 0x7ff\n"
                  "s_addk_i32 s20, 0xffff\ns_mulk_i32 s21, 0x11\n" WRITE2,
            [](const uint32_t *in, uint32_t *out) {
              out[0] = (S(in[0]) > 5 ? 0x7ff : in[0]) - 1;
              out[1] = in[0] * 0x11;
            }),
      {"64-bit counts", "l", "uu",
       READ2
       "s_bcnt1_i32_b64 s20, s[12:13]\ns_ff1_i32_b64 s21, s[12:13]\n" WRITE2,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = std::popcount(L(in));
         out[1] = L(in) ? std::countr_zero(L(in)) : -1;
       },
       true},
  });
}

TEST(Scalar, CompareAndSelect) {
  runCases({
      {"s_cmp", "ii", "u",
       READ2 "s_mov_b32 s20, 0\n"
#define COMPARE(name, bit)                                                     \
  "s_cmp_" name " s12, s13\ns_cselect_b32 s21, 1 << " #bit                     \
  ", 0\ns_or_b32 s20, s20, s21\n"
       COMPARE("eq_i32", 0) COMPARE("lg_i32", 1) COMPARE("gt_i32",
                                                         2) COMPARE("ge_i32", 3)
           COMPARE("lt_i32", 4) COMPARE("le_i32", 5) COMPARE("gt_u32", 6)
               COMPARE("ge_u32", 7) COMPARE("lt_u32", 8) COMPARE(
                   "le_u32",
                   9) "s_bitcmp1_b32 s12, s13\ns_cselect_b32 s21, 1 << 10, "
                      "0\ns_or_b32 s20, s20, s21\n"
                      "s_cmpk_gt_u32 s12, 0x8000\ns_cselect_b32 s21, 1 << 11, "
                      "0\ns_or_b32 s20, s20, s21\n"
                      "s_cmpk_lt_i32 s12, 0x8000\ns_cselect_b32 s21, 1 << 12, "
                      "0\ns_or_b32 s20, s20, s21\n" WRITE1,
       [](const uint32_t *in, uint32_t *out) {
         int32_t a = S(in[0]), b = S(in[1]);
         bool r[13] = {a == b,
                       a != b,
                       a > b,
                       a >= b,
                       a<b, a <= b, in[0]>
                           in[1],
                       in[0] >= in[1],
                       in[0] < in[1],
                       in[0] <= in[1],
                       bool(in[0] >> (in[1] & 31) & 1),
                       in[0] > 0x8000,
                       a < -0x8000};
         out[0] = 0;
         for (int i = 0; i != 13; ++i)
           out[0] |= uint32_t(r[i]) << i;
       },
       true},
      {"s_cmp_eq_u64 and s_cselect_b64", "ll", "uu",
       READ4 "s_cmp_eq_u64 s[12:13], s[14:15]\n"
             "s_cselect_b64 s[20:21], s[12:13], -1\n" WRITE2,
       [](const uint32_t *in, uint32_t *out) {
         setL(out, L(in) == L(in + 2) ? L(in) : ~uint64_t(0));
       },
       true},
      {"s_cbranch", "i", "u",
       READ1
       "s_mov_b32 s20, 1\ns_cmp_lt_i32 s12, 0\n"
       "s_cbranch_scc1 1f\ns_mov_b32 s20, 2\n1:\n"
       "s_cmp_eq_u32 s12, 0\ns_cbranch_scc0 2f\ns_mov_b32 s20, 3\n2:\n" WRITE1,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] == 0 ? 3 : S(in[0]) < 0 ? 1 : 2;
       },
       true},
      {"s_and_saveexec and execz", "i", "u",
       "v_mov_b32 v20, 0\nv_cmp_gt_i32 vcc, 0, v2\ns_nop 1\n"
       "s_and_saveexec_b64 s[20:21], vcc\ns_cbranch_execz 1f\n"
       "v_mov_b32 v20, 1\n1:\ns_or_b64 exec, exec, s[20:21]\n"
       "v_or_b32 v20, 4, v20",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = S(in[0]) < 0 ? 5 : 4;
       }},
      {"all lanes off", "i", "u",
       "s_mov_b64 exec, 0\nv_mov_b32 v20, 1\nv_add_u32 v20, v20, v2\n"
       "v_readfirstlane_b32 s20, v2\ns_mov_b64 exec, -1\ns_nop 4\n"
       "v_cmp_eq_u32 vcc, v2, v2\ns_cmp_eq_u64 vcc, -1\n"
       "s_cbranch_scc0 1f\nv_mov_b32 v20, s20\n1:",
       // With no lane on, v_readfirstlane reads lane 0.
       [](const uint32_t *in, uint32_t *out) { out[0] = in[0]; }, true},
      {"m0 and v_readlane", "i", "u",
       "s_mov_b32 m0, 3\ns_nop 3\nv_readlane_b32 s20, v2, m0\n"
       "s_nop 1\nv_mov_b32 v20, s20",
       [](const uint32_t *in, uint32_t *out) { out[0] = in[0]; }, true},
  });
}

} // namespace
