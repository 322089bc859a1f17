//===- VectorIntTest.cpp - Integer VALU instructions ----------------------===//

#include "Harness.h"

#include <algorithm>

using namespace attn::emu;

namespace {

#define ONE(expression)                                                        \
  [](const uint32_t *in, uint32_t *out) { out[0] = (expression); }

int32_t S(uint32_t bits) { return int32_t(bits); }
int32_t sext24(uint32_t bits) { return int32_t(bits << 8) >> 8; }
uint32_t byteOf(uint32_t word, unsigned i) { return word >> (8 * i) & 0xff; }
/// Sum of absolute byte differences.
uint32_t sad(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (int i = 0; i != 4; ++i)
    sum += std::abs(int(byteOf(a, i)) - int(byteOf(b, i)));
  return sum;
}
uint32_t perm(uint32_t high, uint32_t low, uint32_t selector) {
  uint64_t bytes = uint64_t(high) << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i != 4; ++i) {
    uint32_t s = byteOf(selector, i), byte;
    if (s <= 7)
      byte = uint32_t(bytes >> (8 * s)) & 0xff;
    else if (s <= 11) // sign of byte 1, 3, 5, 7
      byte = bytes >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
    else
      byte = s == 12 ? 0 : 0xff;
    result |= byte << (8 * i);
  }
  return result;
}
uint32_t packed(uint32_t a, uint32_t b, int (*f)(int, int)) {
  return uint16_t(f(int16_t(a), int16_t(b))) |
         uint32_t(uint16_t(f(int16_t(a >> 16), int16_t(b >> 16)))) << 16;
}

TEST(VectorInt, Arithmetic) {
  runCases({
      {"v_add_u32", "ii", "u", "v_add_u32 v20, v2, v3", ONE(in[0] + in[1])},
      {"v_sub_u32", "ii", "u", "v_sub_u32 v20, v2, v3", ONE(in[0] - in[1])},
      {"v_subrev_u32", "ii", "u", "v_subrev_u32 v20, v2, v3",
       ONE(in[1] - in[0])},
      {"v_add_u32 clamp", "ii", "u", "v_add_u32 v20, v2, v3 clamp",
       ONE(uint32_t(std::min<uint64_t>(uint64_t(in[0]) + in[1], UINT32_MAX)))},
      {"v_sub_u32 clamp", "ii", "u", "v_sub_u32 v20, v2, v3 clamp",
       ONE(in[0] < in[1] ? 0 : in[0] - in[1])},
      {"v_add_i32 clamp", "ii", "u", "v_add_i32 v20, v2, v3 clamp",
       ONE(uint32_t(std::clamp<int64_t>(int64_t(S(in[0])) + S(in[1]), INT32_MIN,
                                        INT32_MAX)))},
      {"carry chain", "ll", "uu",
       "v_add_co_u32 v20, vcc, v2, v4\ns_nop 1\nv_addc_co_u32 v21, vcc, v3, "
       "v5, vcc",
       [](const uint32_t *in, uint32_t *out) { setL(out, L(in) + L(in + 2)); }},
      {"borrow chain", "ll", "uu",
       "v_sub_co_u32 v20, vcc, v2, v4\ns_nop 1\nv_subb_co_u32 v21, vcc, v3, "
       "v5, "
       "vcc",
       [](const uint32_t *in, uint32_t *out) { setL(out, L(in) - L(in + 2)); }},
      {"reversed borrow chain", "ll", "uu",
       "v_subrev_co_u32 v20, s[12:13], v2, v4\ns_nop 1\n"
       "v_subbrev_co_u32 v21, s[14:15], v3, v5, s[12:13]",
       [](const uint32_t *in, uint32_t *out) { setL(out, L(in + 2) - L(in)); }},
      {"v_mul_lo_u32", "ii", "u", "v_mul_lo_u32 v20, v2, v3",
       ONE(in[0] * in[1])},
      {"v_mul_hi_u32", "ii", "u", "v_mul_hi_u32 v20, v2, v3",
       ONE(uint32_t(uint64_t(in[0]) * in[1] >> 32))},
      {"v_mul_hi_i32", "ii", "u", "v_mul_hi_i32 v20, v2, v3",
       ONE(uint32_t(int64_t(S(in[0])) * S(in[1]) >> 32))},
      {"v_mul_u32_u24", "ii", "u", "v_mul_u32_u24 v20, v2, v3",
       ONE((in[0] & 0xffffff) * (in[1] & 0xffffff))},
      {"v_mul_hi_u32_u24", "ii", "u", "v_mul_hi_u32_u24 v20, v2, v3",
       ONE(uint32_t(uint64_t(in[0] & 0xffffff) * (in[1] & 0xffffff) >> 32))},
      {"v_mul_i32_i24", "ii", "u", "v_mul_i32_i24 v20, v2, v3",
       ONE(uint32_t(int64_t(sext24(in[0])) * sext24(in[1])))},
      {"v_mul_hi_i32_i24", "ii", "u", "v_mul_hi_i32_i24 v20, v2, v3",
       ONE(uint32_t(int64_t(sext24(in[0])) * sext24(in[1]) >> 32))},
      {"v_mad_u32_u24", "iii", "u", "v_mad_u32_u24 v20, v2, v3, v4",
       ONE((in[0] & 0xffffff) * (in[1] & 0xffffff) + in[2])},
      {"v_mad_i32_i24", "iii", "u", "v_mad_i32_i24 v20, v2, v3, v4",
       ONE(uint32_t(int64_t(sext24(in[0])) * sext24(in[1])) + in[2])},
      {"v_mad_u64_u32", "iil", "uuu",
       "v_mad_u64_u32 v[20:21], s[12:13], v2, v3, v[4:5]\ns_nop 1\n"
       "v_cndmask_b32 v22, 0, 1, s[12:13]",
       [](const uint32_t *in, uint32_t *out) {
         unsigned __int128 sum =
             (unsigned __int128)(uint64_t(in[0]) * in[1]) + L(in + 2);
         setL(out, uint64_t(sum));
         out[2] = uint32_t(sum >> 64);
       }},
      {"v_mad_i64_i32", "iil", "uu",
       "v_mad_i64_i32 v[20:21], s[12:13], v2, v3, v[4:5]",
       [](const uint32_t *in, uint32_t *out) {
         setL(out, uint64_t(int64_t(S(in[0])) * S(in[1])) + L(in + 2));
       }},
      {"v_add3_u32", "iii", "u", "v_add3_u32 v20, v2, v3, v4",
       ONE(in[0] + in[1] + in[2])},
      {"v_lshl_add_u32", "isi", "u", "v_lshl_add_u32 v20, v2, v3, v4",
       ONE((in[0] << (in[1] & 31)) + in[2])},
      {"v_add_lshl_u32", "iis", "u", "v_add_lshl_u32 v20, v2, v3, v4",
       ONE((in[0] + in[1]) << (in[2] & 31))},
      {"v_lshl_add_u64", "ll", "uu",
       "v_lshl_add_u64 v[20:21], v[2:3], 3, v[4:5]",
       [](const uint32_t *in, uint32_t *out) {
         setL(out, (L(in) << 3) + L(in + 2));
       }},
      {"v_xad_u32", "iii", "u", "v_xad_u32 v20, v2, v3, v4",
       ONE((in[0] ^ in[1]) + in[2])},
      {"v_min_i32 / v_max_i32", "ii", "uu",
       "v_min_i32 v20, v2, v3\nv_max_i32 v21, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = std::min(S(in[0]), S(in[1]));
         out[1] = std::max(S(in[0]), S(in[1]));
       }},
      {"v_min_u32 / v_max_u32", "ii", "uu",
       "v_min_u32 v20, v2, v3\nv_max_u32 v21, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = std::min(in[0], in[1]);
         out[1] = std::max(in[0], in[1]);
       }},
      {"min3, max3, med3 of i32", "iii", "uuu",
       "v_min3_i32 v20, v2, v3, v4\nv_max3_i32 v21, v2, v3, v4\n"
       "v_med3_i32 v22, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         int32_t v[3] = {S(in[0]), S(in[1]), S(in[2])};
         std::sort(v, v + 3);
         out[0] = v[0];
         out[1] = v[2];
         out[2] = v[1];
       }},
      {"min3, max3, med3 of u32", "iii", "uuu",
       "v_min3_u32 v20, v2, v3, v4\nv_max3_u32 v21, v2, v3, v4\n"
       "v_med3_u32 v22, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         uint32_t v[3] = {in[0], in[1], in[2]};
         std::sort(v, v + 3);
         out[0] = v[0];
         out[1] = v[2];
         out[2] = v[1];
       }},
      {"v_sad_u8", "iii", "u", "v_sad_u8 v20, v2, v3, v4",
       ONE(sad(in[0], in[1]) + in[2])},
      {"v_sad_hi_u8", "iii", "u", "v_sad_hi_u8 v20, v2, v3, v4",
       ONE((sad(in[0], in[1]) << 16) + in[2])},
      {"v_sad_u16", "iii", "u", "v_sad_u16 v20, v2, v3, v4",
       ONE(std::abs(int(in[0] & 0xffff) - int(in[1] & 0xffff)) +
           std::abs(int(in[0] >> 16) - int(in[1] >> 16)) + in[2])},
      {"v_sad_u32", "iii", "u", "v_sad_u32 v20, v2, v3, v4",
       ONE((in[0] > in[1] ? in[0] - in[1] : in[1] - in[0]) + in[2])},
      {"v_msad_u8", "iii", "u", "v_msad_u8 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[2];
         for (int i = 0; i != 4; ++i)
           if (byteOf(in[1], i))
             out[0] += std::abs(int(byteOf(in[0], i)) - int(byteOf(in[1], i)));
       }},
      {"v_lerp_u8", "iii", "u", "v_lerp_u8 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = 0;
         for (int i = 0; i != 4; ++i)
           out[0] |= ((byteOf(in[0], i) + byteOf(in[1], i) +
                       (byteOf(in[2], i) & 1)) >>
                      1)
                     << (8 * i);
       }},
  });
}

TEST(VectorInt, Bits) {
  runCases({
      {"and, or, xor, xnor, not", "ii", "uuuuu",
       "v_and_b32 v20, v2, v3\nv_or_b32 v21, v2, v3\nv_xor_b32 v22, v2, v3\n"
       "v_xnor_b32 v23, v2, v3\nv_not_b32 v24, v2",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] & in[1];
         out[1] = in[0] | in[1];
         out[2] = in[0] ^ in[1];
         out[3] = ~(in[0] ^ in[1]);
         out[4] = ~in[0];
       }},
      {"three-operand logic", "iii", "uuu",
       "v_and_or_b32 v20, v2, v3, v4\nv_or3_b32 v21, v2, v3, v4\n"
       "v_bfi_b32 v22, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = (in[0] & in[1]) | in[2];
         out[1] = in[0] | in[1] | in[2];
         out[2] = (in[0] & in[1]) | (~in[0] & in[2]);
       }},
      {"v_lshl_or_b32", "isi", "u", "v_lshl_or_b32 v20, v2, v3, v4",
       ONE((in[0] << (in[1] & 31)) | in[2])},
      {"shifts", "is", "uuu",
       "v_lshlrev_b32 v20, v3, v2\nv_lshrrev_b32 v21, v3, v2\n"
       "v_ashrrev_i32 v22, v3, v2",
       [](const uint32_t *in, uint32_t *out) {
         unsigned n = in[1] & 31;
         out[0] = in[0] << n;
         out[1] = in[0] >> n;
         out[2] = S(in[0]) >> n;
       }},
      {"64-bit shifts", "ls", "uuuuuu",
       "v_lshlrev_b64 v[20:21], v4, v[2:3]\n"
       "v_lshrrev_b64 v[22:23], v4, v[2:3]\n"
       "v_ashrrev_i64 v[24:25], v4, v[2:3]",
       [](const uint32_t *in, uint32_t *out) {
         unsigned n = in[2] & 63;
         setL(out, L(in) << n);
         setL(out + 2, L(in) >> n);
         setL(out + 4, uint64_t(int64_t(L(in)) >> n));
       }},
      {"v_bfe_u32", "iss", "u", "v_bfe_u32 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         unsigned offset = in[1] & 31, width = in[2] & 31;
         out[0] = in[0] >> offset & ((uint64_t(1) << width) - 1);
       }},
      {"v_bfe_i32", "iss", "u", "v_bfe_i32 v20, v2, v3, v4",
       [](const uint32_t *in, uint32_t *out) {
         unsigned offset = in[1] & 31, width = in[2] & 31;
         uint32_t field = in[0] >> offset & ((uint64_t(1) << width) - 1);
         // Sign of the field's top bit; a field past bit 31 takes bit 31.
         if (width != 0) {
           unsigned top = offset + width < 32 ? width - 1 : 31 - offset;
           field = uint32_t(int32_t(field << (31 - top)) >> (31 - top));
         }
         out[0] = field;
       }},
      {"v_bfm_b32", "ss", "u", "v_bfm_b32 v20, v2, v3",
       ONE(((1u << (in[0] & 31)) - 1) << (in[1] & 31))},
      {"v_bfrev_b32", "i", "u", "v_bfrev_b32 v20, v2",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = 0;
         for (int i = 0; i != 32; ++i)
           out[0] |= (in[0] >> i & 1) << (31 - i);
       }},
      {"ffbh, ffbl, bcnt", "ii", "uuuu",
       "v_ffbh_u32 v20, v2\nv_ffbl_b32 v21, v2\nv_bcnt_u32_b32 v22, v2, v3\n"
       "v_ffbh_i32 v23, v2",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[0] ? std::countl_zero(in[0]) : -1;
         out[1] = in[0] ? std::countr_zero(in[0]) : -1;
         out[2] = std::popcount(in[0]) + in[1];
         uint32_t flipped = S(in[0]) < 0 ? ~in[0] : in[0];
         out[3] = flipped ? std::countl_zero(flipped) : -1;
       }},
      {"v_alignbit_b32", "iis", "u", "v_alignbit_b32 v20, v2, v3, v4",
       ONE(uint32_t((uint64_t(in[0]) << 32 | in[1]) >> (in[2] & 31)))},
      {"v_alignbyte_b32", "iis", "u", "v_alignbyte_b32 v20, v2, v3, v4",
       ONE(uint32_t((uint64_t(in[0]) << 32 | in[1]) >> (8 * (in[2] & 3))))},
      {"v_perm_b32", "iii", "uu",
       "v_perm_b32 v20, v2, v3, v4\nv_and_b32 v40, 0x0f0f0f0f, v4\n"
       "v_perm_b32 v21, v2, v3, v40",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = perm(in[0], in[1], in[2]);
         out[1] = perm(in[0], in[1], in[2] & 0x0f0f0f0f);
       }},
      {"v_cmp of i32 and u32", "ii", "u",
       "v_mov_b32 v20, 0\n"
#define COMPARE(name, bit)                                                     \
  "v_cmp_" name " vcc, v2, v3\ns_nop 1\nv_cndmask_b32 v40, 0, 1, vcc\n"        \
  "v_lshl_or_b32 v20, v40, " #bit ", v20\n"
       COMPARE("lt_i32", 0) COMPARE("eq_i32", 1) COMPARE("le_i32", 2) COMPARE(
           "gt_i32", 3) COMPARE("ne_i32", 4) COMPARE("ge_i32", 5)
           COMPARE("lt_u32", 6) COMPARE("le_u32", 7) COMPARE("gt_u32", 8)
               COMPARE("ge_u32", 9) COMPARE("lt_i16", 10) COMPARE("gt_u16", 11)
                   COMPARE("t_u32", 12) COMPARE("f_i32", 13),
       [](const uint32_t *in, uint32_t *out) {
         int32_t a = S(in[0]), b = S(in[1]);
         bool r[14] = {a<b, a == b, a <= b, a> b,
                       a != b,
                       a >= b,
                       in[0]<in[1], in[0] <= in[1], in[0]>
                           in[1],
                       in[0] >= in[1],
                       int16_t(a) < int16_t(b),
                       uint16_t(a) > uint16_t(b),
                       true,
                       false};
         out[0] = 0;
         for (int i = 0; i != 14; ++i)
           out[0] |= uint32_t(r[i]) << i;
       }},
      {"v_cmp of 64 bits", "ll", "uu",
       "v_cmp_lt_i64 vcc, v[2:3], v[4:5]\ns_nop 1\n"
       "v_cndmask_b32 v20, 0, 1, vcc\n"
       "v_cmp_ge_u64 vcc, v[2:3], v[4:5]\ns_nop 1\n"
       "v_cndmask_b32 v21, 0, 1, vcc",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = int64_t(L(in)) < int64_t(L(in + 2));
         out[1] = L(in) >= L(in + 2);
       }},
      {"v_swap_b32", "ii", "uu",
       "v_mov_b32 v20, v2\nv_mov_b32 v21, v3\nv_swap_b32 v20, v21",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = in[1];
         out[1] = in[0];
       }},
      {"v_accvgpr moves", "i", "uu",
       "v_accvgpr_write_b32 a7, v2\ns_nop 1\nv_accvgpr_read_b32 v20, a7\n"
       "v_accvgpr_mov_b32 a8, a7\ns_nop 1\nv_accvgpr_read_b32 v21, a8",
       [](const uint32_t *in, uint32_t *out) { out[0] = out[1] = in[0]; }},
  });
}

TEST(VectorInt, SixteenBits) {
  // Plain 16-bit results clear the upper half, mad forms keep it.
  runCases({
      {"add, sub, mul of u16", "ii", "uuu",
       "v_add_u16 v20, v2, v3\nv_sub_u16 v21, v2, v3\nv_mul_lo_u16 v22, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = uint16_t(in[0] + in[1]);
         out[1] = uint16_t(in[0] - in[1]);
         out[2] = uint16_t(in[0] * in[1]);
       }},
      {"16-bit shifts", "is", "uuu",
       "v_lshlrev_b16 v20, v3, v2\nv_lshrrev_b16 v21, v3, v2\n"
       "v_ashrrev_i16 v22, v3, v2",
       [](const uint32_t *in, uint32_t *out) {
         unsigned n = in[1] & 15;
         out[0] = uint16_t(in[0] << n);
         out[1] = uint16_t(in[0]) >> n;
         out[2] = uint16_t(int16_t(in[0]) >> n);
       }},
      {"16-bit min and max", "ii", "uuuu",
       "v_min_i16 v20, v2, v3\nv_max_i16 v21, v2, v3\n"
       "v_min_u16 v22, v2, v3\nv_max_u16 v23, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = uint16_t(std::min(int16_t(in[0]), int16_t(in[1])));
         out[1] = uint16_t(std::max(int16_t(in[0]), int16_t(in[1])));
         out[2] = std::min(uint16_t(in[0]), uint16_t(in[1]));
         out[3] = std::max(uint16_t(in[0]), uint16_t(in[1]));
       }},
      {"v_mad_u16", "iii", "u", "v_mad_u16 v20, v2, v3, v4",
       ONE((untouched & 0xffff0000) | uint16_t(in[0] * in[1] + in[2]))},
      {"v_pk_add_u16", "ii", "u", "v_pk_add_u16 v20, v2, v3",
       ONE(packed(in[0], in[1], [](int a, int b) { return a + b; }))},
      {"v_pk_add_i16 clamp", "ii", "u", "v_pk_add_i16 v20, v2, v3 clamp",
       ONE(packed(
           in[0], in[1],
           [](int a, int b) { return std::clamp(a + b, -32768, 32767); }))},
      {"v_pk_sub_u16 clamp", "ii", "u", "v_pk_sub_u16 v20, v2, v3 clamp",
       ONE(packed(in[0], in[1],
                  [](int a, int b) {
                    return std::max(0, int(uint16_t(a)) - int(uint16_t(b)));
                  }))},
      {"v_pk_mul_lo_u16", "ii", "u", "v_pk_mul_lo_u16 v20, v2, v3",
       ONE(packed(in[0], in[1], [](int a, int b) { return a * b; }))},
      {"v_pk_max_i16", "ii", "u", "v_pk_max_i16 v20, v2, v3",
       ONE(packed(in[0], in[1], [](int a, int b) { return std::max(a, b); }))},
      {"v_pk_min_u16", "ii", "u", "v_pk_min_u16 v20, v2, v3",
       ONE(packed(in[0], in[1],
                  [](int a, int b) {
                    return int(std::min(uint16_t(a), uint16_t(b)));
                  }))},
      {"v_pk_lshlrev_b16", "ii", "u", "v_pk_lshlrev_b16 v20, v3, v2",
       ONE(packed(in[0], in[1], [](int a, int b) { return a << (b & 15); }))},
      {"v_pk_ashrrev_i16", "ii", "u", "v_pk_ashrrev_i16 v20, v3, v2",
       ONE(packed(in[0], in[1], [](int a, int b) { return a >> (b & 15); }))},
      {"v_pk_mad_i16", "iii", "u", "v_pk_mad_i16 v20, v2, v3, v4",
       ONE(uint16_t(in[0] * in[1] + in[2]) |
           ((in[0] >> 16) * (in[1] >> 16) + (in[2] >> 16)) << 16)},
      {"v_pk_add_u16 swapped", "ii", "u",
       "v_pk_add_u16 v20, v2, v3 op_sel:[1,0] op_sel_hi:[0,0]",
       ONE(uint16_t((in[0] >> 16) + in[1]) | (in[0] + in[1]) << 16)},
      {"v_mad_u32_u16 with op_sel", "iii", "u",
       "v_mad_u32_u16 v20, v2, v3, v4 op_sel:[1,0,0,0]",
       ONE((in[0] >> 16) * (in[1] & 0xffff) + in[2])},
  });
}

TEST(VectorInt, SDWA) {
  runCases({
      {"source bytes, zero and sign extended", "ii", "uu",
       "v_add_u32_sdwa v20, v2, v3 dst_sel:DWORD src0_sel:BYTE_2 "
       "src1_sel:WORD_1\n"
       "v_add_u32_sdwa v21, sext(v2), sext(v3) dst_sel:DWORD src0_sel:BYTE_1 "
       "src1_sel:WORD_0",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = byteOf(in[0], 2) + (in[1] >> 16);
         out[1] = int8_t(in[0] >> 8) + int16_t(in[1]);
       }},
      {"destination byte, unused preserved", "ii", "u",
       "v_add_u32_sdwa v20, v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
       "src0_sel:DWORD src1_sel:DWORD",
       ONE((untouched & 0xffff00ff) | ((in[0] + in[1]) & 0xff) << 8)},
      {"destination word, unused padded", "ii", "u",
       "v_add_u32_sdwa v20, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
       "src0_sel:DWORD src1_sel:DWORD",
       ONE((in[0] + in[1]) << 16)},
      {"destination word, unused sign", "ii", "u",
       "v_add_u32_sdwa v20, v2, v3 dst_sel:BYTE_0 dst_unused:UNUSED_SEXT "
       "src0_sel:DWORD src1_sel:DWORD",
       ONE(uint32_t(int32_t(int8_t(in[0] + in[1]))))},
      {"f16 with modifiers", "pp", "h",
       "v_add_f16_sdwa v20, -v2, |v3| dst_sel:DWORD src0_sel:WORD_1 "
       "src1_sel:WORD_0",
       ONE(toH(-H(in[0] >> 16) + std::fabs(H(in[1]))))},
      {"compare", "ii", "u",
       "v_cmp_lt_u32_sdwa vcc, v2, v3 src0_sel:BYTE_3 src1_sel:BYTE_0\n"
       "s_nop 1\nv_cndmask_b32 v20, 0, 1, vcc",
       ONE(byteOf(in[0], 3) < byteOf(in[1], 0))},
  });
}

} // namespace
