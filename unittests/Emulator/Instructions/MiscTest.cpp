//===- MiscTest.cpp - Rarer instructions ----------------------------------===//

#include "../Corpus/Random.h"
#include "Harness.h"

#include <algorithm>

using namespace attn::emu;

namespace {

#define ONE(expression)                                                        \
  [](const uint32_t *in, uint32_t *out) { out[0] = (expression); }

int16_t lo(uint32_t word) { return int16_t(word); }
int16_t hi(uint32_t word) { return int16_t(word >> 16); }
int16_t clamp16(int value) { return std::clamp(value, -32768, 32767); }

TEST(Misc, DotProducts) {
  runCases({
      {"v_dot2_i32_i16", "iii", "u", "v_dot2_i32_i16 v20, v2, v3, v4",
       ONE(uint32_t(int64_t(lo(in[0])) * lo(in[1]) +
                    int64_t(hi(in[0])) * hi(in[1])) +
           in[2])},
      {"v_dot2_u32_u16", "iii", "u", "v_dot2_u32_u16 v20, v2, v3, v4",
       ONE((in[0] & 0xffff) * (in[1] & 0xffff) + (in[0] >> 16) * (in[1] >> 16) +
           in[2])},
      {"v_dot4_i32_i8", "iii", "u", "v_dot4_i32_i8 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[2];
         for (int i = 0; i != 4; ++i)
           out[0] += int8_t(in[0] >> 8 * i) * int8_t(in[1] >> 8 * i);
       }},
      {"v_dot4_i32_i8 clamp", "iii", "u", "v_dot4_i32_i8 v20, v2, v3, v4 clamp",
       [](const uint32_t *in, uint32_t *out) {
         int64_t sum = int32_t(in[2]);
         for (int i = 0; i != 4; ++i)
           sum += int8_t(in[0] >> 8 * i) * int8_t(in[1] >> 8 * i);
         out[0] = uint32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
       }},
      {"v_dot8_u32_u4", "iii", "u", "v_dot8_u32_u4 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[2];
         for (int i = 0; i != 8; ++i)
           out[0] += (in[0] >> 4 * i & 15) * (in[1] >> 4 * i & 15);
       }},
      {"v_dot8_i32_i4", "iii", "u", "v_dot8_i32_i4 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[2];
         for (int i = 0; i != 8; ++i)
           out[0] += (int32_t(in[0] << (28 - 4 * i)) >> 28) *
                     (int32_t(in[1] << (28 - 4 * i)) >> 28);
       }},
  });
}

TEST(Misc, SixteenBitVOP3) {
  // These keep the other half of the register.
#define KEEP(value) ((untouched & 0xffff0000) | uint16_t(value))
  runCases({
      {"v_mad_i16", "iii", "u", "v_mad_i16 v20, v2, v3, v4",
       ONE(KEEP(in[0] * in[1] + in[2]))},
      {"v_mad_i32_i16", "iii", "u", "v_mad_i32_i16 v20, v2, v3, v4",
       ONE(uint32_t(lo(in[0]) * lo(in[1])) + in[2])},
      {"min3, max3, med3 of i16", "iii", "uuu",
       "v_min3_i16 v20, v2, v3, v4\nv_max3_i16 v21, v2, v3, v4\n"
       "v_med3_i16 v22, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         int16_t v[3] = {lo(in[0]), lo(in[1]), lo(in[2])};
         std::sort(v, v + 3);
         out[0] = KEEP(v[0]);
         out[1] = KEEP(v[2]);
         out[2] = KEEP(v[1]);
       }},
      {"min3, max3, med3 of u16", "iii", "uuu",
       "v_min3_u16 v20, v2, v3, v4\nv_max3_u16 v21, v2, v3, v4\n"
       "v_med3_u16 v22, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         uint16_t v[3] = {uint16_t(in[0]), uint16_t(in[1]), uint16_t(in[2])};
         std::sort(v, v + 3);
         out[0] = KEEP(v[0]);
         out[1] = KEEP(v[2]);
         out[2] = KEEP(v[1]);
       }},
      {"v_add_i16 and v_sub_i16 clamp", "ii", "uu",
       "v_add_i16 v20, v2, v3 clamp\nv_sub_i16 v21, v2, v3 clamp",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = KEEP(clamp16(lo(in[0]) + lo(in[1])));
         out[1] = KEEP(clamp16(lo(in[0]) - lo(in[1])));
       }},
      {"packed 16-bit", "ii", "uuuu",
       "v_pk_sub_i16 v20, v2, v3\nv_pk_min_i16 v21, v2, v3\n"
       "v_pk_max_u16 v22, v2, v3\nv_pk_lshrrev_b16 v23, v3, v2",
       [](const uint32_t *in, uint32_t *out) {
         auto pair = [](int low, int high) {
           return uint16_t(low) | uint32_t(uint16_t(high)) << 16;
         };
         uint32_t a = in[0], b = in[1];
         out[0] = pair(lo(a) - lo(b), hi(a) - hi(b));
         out[1] = pair(std::min(lo(a), lo(b)), std::min(hi(a), hi(b)));
         out[2] = pair(std::max(uint16_t(a), uint16_t(b)),
                       std::max(a >> 16, b >> 16));
         out[3] = pair(uint16_t(a) >> (b & 15), (a >> 16) >> (b >> 16 & 15));
       }},
      {"v_sat_pk_u8_i16", "i", "u", "v_sat_pk_u8_i16 v20, v2",
       ONE(std::clamp<int>(lo(in[0]), 0, 255) |
           std::clamp<int>(hi(in[0]), 0, 255) << 8)},
  });
}

TEST(Misc, F16) {
  runCases({
      {"unary", "h", "hhh",
       "v_ceil_f16 v20, v2\nv_trunc_f16 v21, v2\nv_cos_f16 v22, 0\n",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = toH(std::ceil(H(in[0])));
         out[1] = toH(std::trunc(H(in[0])));
         out[2] = 0x3c00;
       }},
      {"frexp", "h", "uh",
       "v_frexp_exp_i16_f16 v20, v2\nv_frexp_mant_f16 v21, v2",
       [](const uint32_t *in, uint32_t *out) {
         int exponent = 0;
         double mantissa = H(in[0]);
         if (std::isfinite(mantissa))
           mantissa = std::frexp(mantissa, &exponent);
         out[0] = uint16_t(exponent);
         out[1] = toH(mantissa);
       }},
      {"v_subrev_f16", "hh", "h", "v_subrev_f16 v20, v2, v3",
       ONE(toH(H(in[1]) - H(in[0])))},
      {"pknorm", "ff", "u", "v_cvt_pknorm_i16_f32 v20, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = 0;
         for (int i = 0; i != 2; ++i) {
           double value = F(in[i]);
           int norm =
               std::isnan(value)
                   ? 0
                   : int(std::nearbyint(std::clamp(value, -1.0, 1.0) * 32767));
           out[0] |= uint32_t(uint16_t(norm)) << 16 * i;
         }
       }},
  });
}

TEST(Misc, BitOperations950) {
  // v_bitop3: bit n of the table is the result for the source bits n, the
  // first source being the most significant.
  auto bitop3 = [](uint32_t a, uint32_t b, uint32_t c, unsigned table) {
    uint32_t result = 0;
    for (int bit = 0; bit != 32; ++bit) {
      unsigned index =
          (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
      result |= (table >> index & 1) << bit;
    }
    return result;
  };
  runCases({
      {"v_bitop3_b32", "iii", "uu",
       "v_bitop3_b32 v20, v2, v3, v4 bitop3:0x6c\n"
       "v_bitop3_b32 v21, v2, v3, v4 bitop3:0xe8",
       [=](const uint32_t *in, uint32_t *out) {
         out[0] = bitop3(in[0], in[1], in[2], 0x6c);
         out[1] = bitop3(in[0], in[1], in[2], 0xe8);
       },
       false, 2},
      {"minimum3 and maximum3", "fff", "ff",
       "v_minimum3_f32 v20, v2, v3, v4\nv_maximum3_f32 v21, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         // IEEE 754-2019: a NaN wins, -0 is below +0.
         float a = F(in[0]), b = F(in[1]), c = F(in[2]);
         if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
           out[0] = out[1] = 0x7fc00000;
           return;
         }
         auto below = [](float x, float y) {
           return x < y || (x == y && std::signbit(x) && !std::signbit(y));
         };
         float v[3] = {a, b, c};
         std::sort(v, v + 3, below);
         out[0] = U(v[0]);
         out[1] = U(v[2]);
       },
       false, 2},
      {"v_ashr_pk_i8_i32", "iis", "u", "v_ashr_pk_i8_i32 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         auto clamp8 = [&](uint32_t value) {
           return uint8_t(
               std::clamp(int32_t(value) >> (in[2] & 31), -128, 127));
         };
         out[0] = (untouched & 0xffff0000) | clamp8(in[0]) |
                  uint32_t(clamp8(in[1])) << 8;
       },
       false, 2},
  });
}

TEST(Misc, Scalar) {
#define READ2 "v_readfirstlane_b32 s12, v2\nv_readfirstlane_b32 s13, v3\n"
#define WRITE2 "v_mov_b32 v20, s20\nv_mov_b32 v21, s21\n"
  runCases({
      {"s_nor, s_nand, s_xnor of 64 bits", "l", "uuuu",
       READ2 "s_nor_b64 s[20:21], s[12:13], 15\n"
             "s_xnor_b64 s[22:23], s[12:13], -1\n" WRITE2
             "v_mov_b32 v22, s22\nv_mov_b32 v23, s23\n",
       [](const uint32_t *in, uint32_t *out) {
         setL(out, ~(L(in) | 15));
         setL(out + 2, L(in));
       },
       true},
      {"s_flbit, s_ff0, s_brev of 64 bits", "l", "uuuu",
       READ2 "s_flbit_i32_b64 s20, s[12:13]\ns_ff0_i32_b64 s21, s[12:13]\n"
             "s_brev_b64 s[22:23], s[12:13]\n" WRITE2
             "v_mov_b32 v22, s22\nv_mov_b32 v23, s23\n",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = L(in) ? std::countl_zero(L(in)) : -1;
         out[1] = ~L(in) ? std::countr_one(L(in)) : -1;
         uint64_t reversed = 0;
         for (int i = 0; i != 64; ++i)
           reversed |= (L(in) >> i & 1) << (63 - i);
         setL(out + 2, reversed);
       },
       true},
      {"s_bfm_b64, s_bitset1_b64, s_bitreplicate", "ii", "uuuu",
       READ2 "s_bfm_b64 s[20:21], s12, s13\n"
             "s_bitreplicate_b64_b32 s[22:23], s12\n" WRITE2
             "v_mov_b32 v22, s22\nv_mov_b32 v23, s23\n",
       [](const uint32_t *in, uint32_t *out) {
         setL(out, ((uint64_t(1) << (in[0] & 63)) - 1) << (in[1] & 63));
         uint64_t doubled = 0;
         for (int i = 0; i != 32; ++i)
           if (in[0] >> i & 1)
             doubled |= uint64_t(3) << (2 * i);
         setL(out + 2, doubled);
       },
       true},
      {"s_bfe_i64 and s_quadmask", "l", "uuuu",
       READ2 "s_bfe_i64 s[20:21], s[12:13], 0x000c0014\n"
             "s_quadmask_b64 s[22:23], s[12:13]\n" WRITE2
             "v_mov_b32 v22, s22\nv_mov_b32 v23, s23\n",
       [](const uint32_t *in, uint32_t *out) { // 12 bits from bit 20.
         setL(out, uint64_t(int64_t(L(in) << 32) >> 52));
         uint64_t quads = 0;
         for (int i = 0; i != 16; ++i)
           if (L(in) >> (4 * i) & 15)
             quads |= uint64_t(1) << i;
         setL(out + 2, quads);
       },
       true},
      {"s_cmov and s_cmpk", "ii", "uu",
       READ2 "s_mov_b32 s20, 5\ns_cmpk_eq_u32 s12, 0x1f\ns_cmov_b32 s20, s13\n"
             "s_mov_b32 s21, 6\ns_cmpk_lg_i32 s12, 0x8000\n"
             "s_cmov_b32 s21, s13\n" WRITE2,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] == 0x1f ? in[1] : 5;
         out[1] = in[0] != 0xffff8000 ? in[1] : 6;
       },
       true},
      {"saveexec forms", "ll", "uuuu",
       READ2 "v_readfirstlane_b32 s14, v4\nv_readfirstlane_b32 s15, v5\n"
             "s_mov_b64 exec, s[14:15]\n"
             "s_andn1_saveexec_b64 s[20:21], s[12:13]\n"
             "s_mov_b64 s[22:23], exec\ns_mov_b64 exec, -1\ns_nop 1\n" WRITE2
             "v_mov_b32 v22, s22\nv_mov_b32 v23, s23\n",
       [](const uint32_t *in, uint32_t *out) {
         setL(out, L(in + 2));
         setL(out + 2, ~L(in) & L(in + 2));
       },
       true},
      {"s_getreg and s_setreg of MODE", "i", "uu",
       "v_readfirstlane_b32 s12, v2\ns_and_b32 s12, s12, 15\n"
       "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s12\ns_nop 1\n"
       "s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 4)\n"
       "s_getreg_b32 s21, hwreg(HW_REG_MODE, 4, 4)\n"
       "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n" WRITE2,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] & 15;
         out[1] = 15;
       },
       true},
      {"s_movrels and s_movreld", "i", "uu",
       "v_readfirstlane_b32 s12, v2\ns_mov_b32 s13, 111\ns_mov_b32 s14, 222\n"
       "s_and_b32 m0, s12, 1\ns_nop 1\ns_movrels_b32 s20, s13\n"
       "s_mov_b32 s21, 7\ns_mov_b32 s22, 8\ns_movreld_b32 s21, s12\n" WRITE2,
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] & 1 ? 222 : 111;
         out[1] = in[0] & 1 ? 7 : in[0];
       },
       true},
      {"s_call_b64 and s_setpc", "i", "u",
       "v_mov_b32 v20, 0\ns_call_b64 s[20:21], 1f\nv_add_u32 v20, 1, v20\n"
       "s_branch 2f\n1:\nv_add_u32 v20, 10, v20\ns_setpc_b64 s[20:21]\n2:",
       ONE(11), true},
      {"s_cbranch_vccz and vccnz", "i", "u",
       "v_mov_b32 v20, 0\nv_cmp_gt_u32 vcc, 5, v2\ns_nop 4\n"
       "s_cbranch_vccz 1f\nv_or_b32 v20, 1, v20\n1:\n"
       "s_cbranch_vccnz 2f\nv_or_b32 v20, 2, v20\n2:",
       ONE(in[0] < 5 ? 1 : 2), true},
  });
}

} // namespace
