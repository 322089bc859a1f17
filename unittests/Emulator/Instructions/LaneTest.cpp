//===- LaneTest.cpp - Instructions across lanes ---------------------------===//

#include "Harness.h"

using namespace attn::emu;

namespace {

using Wave = const uint32_t (*)[64];
using Results = uint32_t (*)[64];

/// The DPP source lane of the guide's table, or -1 where it is out of range.
int dppSource(unsigned control, int lane) {
  int row = lane & ~15, inRow = lane & 15;
  if (control <= 0xff) // quad_perm
    return (lane & ~3) + (control >> (2 * (lane & 3)) & 3);
  unsigned n = control & 15;
  switch (control & ~15u) {
  case 0x100: // row_shl
    return inRow + int(n) < 16 ? lane + n : -1;
  case 0x110: // row_shr
    return inRow >= int(n) ? lane - n : -1;
  case 0x120: // row_ror
    return row + ((inRow - n) & 15);
  case 0x150: // row_newbcast
    return row + n;
  }
  switch (control) {
  case 0x130: // wave_shl:1
    return lane < 63 ? lane + 1 : -1;
  case 0x134: // wave_rol:1
    return (lane + 1) & 63;
  case 0x138: // wave_shr:1
    return lane > 0 ? lane - 1 : -1;
  case 0x13c: // wave_ror:1
    return (lane - 1) & 63;
  case 0x140: // row_mirror
    return row + 15 - inRow;
  case 0x141: // row_half_mirror
    return (lane & ~7) + 7 - (lane & 7);
  case 0x142: // row_bcast:15, into the next row
    return row >= 16 ? row - 1 : -1;
  case 0x143: // row_bcast:31, into rows 2 and 3
    return lane >= 32 ? 31 : -1;
  }
  return -1;
}

TEST(Lane, DPPControls) {
  struct Control {
    const char *text;
    unsigned code;
  } controls[] = {{"quad_perm:[3,1,0,2]", 0x87}, {"row_shl:1", 0x101},
                  {"row_shl:15", 0x10f},         {"row_shr:1", 0x111},
                  {"row_shr:8", 0x118},          {"row_ror:1", 0x121},
                  {"row_ror:13", 0x12d},         {"wave_shl:1", 0x130},
                  {"wave_rol:1", 0x134},         {"wave_shr:1", 0x138},
                  {"wave_ror:1", 0x13c},         {"row_mirror", 0x140},
                  {"row_half_mirror", 0x141},    {"row_bcast:15", 0x142},
                  {"row_bcast:31", 0x143},       {"row_newbcast:5", 0x155}};
  // Masks, bound_ctrl and a hole in EXEC.
  struct Modifier {
    const char *text;
    unsigned rows, banks;
    bool bound;
    uint64_t exec;
  } modifiers[] = {
      {"row_mask:0xf bank_mask:0xf", 15, 15, false, ~uint64_t(0)},
      {"row_mask:0xf bank_mask:0xf bound_ctrl:1", 15, 15, true, ~uint64_t(0)},
      {"row_mask:0xa bank_mask:0x5", 10, 5, false, ~uint64_t(0)},
      {"row_mask:0xf bank_mask:0xf", 15, 15, false, 0x0ff0c3a5f0f03377},
      {"row_mask:0xf bank_mask:0xf bound_ctrl:1", 15, 15, true,
       0x0ff0c3a5f0f03377}};
  std::vector<std::string> texts;
  texts.reserve(200);
  std::vector<WaveCase> cases;
  for (const Control &control : controls)
    for (const Modifier &modifier : modifiers) {
      std::string name = std::string(control.text) + " " + modifier.text;
      texts.push_back(name);
      const char *nameText = texts.back().c_str();
      texts.push_back(
          "s_mov_b32 s12, " + std::to_string(uint32_t(modifier.exec)) +
          "\ns_mov_b32 s13, " + std::to_string(uint32_t(modifier.exec >> 32)) +
          "\ns_mov_b64 exec, s[12:13]\ns_nop 4\nv_mov_b32_dpp v20, v2 " + name);
      cases.push_back(
          {nameText, "i", "u", texts.back().c_str(), [=](Wave in, Results out) {
             for (int lane = 0; lane != 64; ++lane) {
               bool on = modifier.exec >> lane & 1;
               bool masked = !(modifier.rows >> (lane / 16) & 1) ||
                             !(modifier.banks >> (lane / 4 % 4) & 1);
               if (!on || masked)
                 continue;
               int source = dppSource(control.code, lane);
               bool valid = source >= 0 && (modifier.exec >> source & 1);
               if (valid)
                 out[0][lane] = in[0][source];
               else if (modifier.bound)
                 out[0][lane] = 0;
             }
           }});
    }
  runWaveCases(cases);
}

TEST(Lane, DPPOfOtherInstructions) {
  runWaveCases({
      {"v_add_f32_dpp with modifiers", "ff", "f",
       "s_nop 1\n"
       "v_add_f32_dpp v20, -v2, |v3| row_shr:1 row_mask:0xf bank_mask:0xf "
       "bound_ctrl:1",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = U((lane % 16 ? -F(in[0][lane - 1]) : -0.0f) +
                            std::fabs(F(in[1][lane])));
       }},
      {"v_max_i32_dpp keeps the old value", "ii", "u",
       "s_nop 1\nv_max_i32_dpp v20, v2, v3 row_shl:4 row_mask:0xf "
       "bank_mask:0xf",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           if (lane % 16 < 12)
             out[0][lane] =
                 std::max(int32_t(in[0][lane + 4]), int32_t(in[1][lane]));
       }},
      {"v_cmp after dpp", "ii", "u",
       "s_nop 1\nv_cmp_lt_u32_e32 vcc, v2, v3\ns_nop 1\n"
       "v_cndmask_b32_dpp v20, v2, v3, vcc quad_perm:[1,0,3,2] row_mask:0xf "
       "bank_mask:0xf",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] =
               in[0][lane] < in[1][lane] ? in[1][lane] : in[0][lane ^ 1];
       }},
  });
}

TEST(Lane, ReadAndWrite) {
  runWaveCases({
      {"v_readlane", "i", "uu",
       "v_readlane_b32 s20, v2, 17\ns_mov_b32 s21, 200\n"
       "v_readlane_b32 s22, v2, s21\ns_nop 1\nv_mov_b32 v20, s20\nv_mov_b32 "
       "v21, s22",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane) {
           out[0][lane] = in[0][17];
           out[1][lane] = in[0][200 % 64];
         }
       }},
      {"v_readfirstlane of the first active lane", "i", "u",
       "s_mov_b64 exec, 0xf0\nv_readfirstlane_b32 s20, v2\n"
       "s_mov_b64 exec, -1\ns_nop 0\nv_mov_b32 v20, s20",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = in[0][4];
       }},
      {"v_readfirstlane with no active lane", "i", "u",
       "s_mov_b64 exec, 0\nv_readfirstlane_b32 s20, v2\n"
       "s_mov_b64 exec, -1\ns_nop 0\nv_mov_b32 v20, s20",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = in[0][0];
       }},
      {"v_writelane ignores EXEC", "i", "u",
       "s_mov_b32 s20, 0x1234\ns_mov_b64 exec, 1\n"
       "v_writelane_b32 v20, s20, 63\ns_mov_b64 exec, -1",
       [](Wave, Results out) { out[0][63] = 0x1234; }},
      {"all lanes off", "i", "u", "s_mov_b64 exec, 0\nv_mov_b32 v20, v2",
       [](Wave, Results) {}},
      {"upper half", "i", "u", "s_mov_b32 exec_lo, 0\nv_add_u32 v20, 5, v2",
       [](Wave in, Results out) {
         for (int lane = 32; lane != 64; ++lane)
           out[0][lane] = in[0][lane] + 5;
       }},
      {"v_cmp writes 0 for lanes that are off", "i", "uu",
       "s_mov_b64 exec, 0xff\nv_cmp_eq_u32 s[20:21], v2, v2\n"
       "s_mov_b64 exec, -1\ns_nop 0\nv_mov_b32 v20, s20\nv_mov_b32 v21, s21",
       [](Wave, Results out) {
         for (int lane = 0; lane != 64; ++lane) {
           out[0][lane] = 0xff;
           out[1][lane] = 0;
         }
       }},
      {"v_mbcnt", "i", "u",
       "s_mov_b32 s20, 0x12345678\ns_mov_b32 s21, 0x9abcdef0\n"
       "v_mbcnt_lo_u32_b32 v20, s20, 7\nv_mbcnt_hi_u32_b32 v20, s21, v20",
       [](Wave, Results out) {
         uint64_t mask = 0x9abcdef012345678;
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = 7 + std::popcount(mask & ((uint64_t(1) << lane) - 1));
       }},
  });
}

TEST(Lane, Permutes) {
  runWaveCases({
      {"ds_bpermute", "ii", "u",
       "ds_bpermute_b32 v20, v3, v2 offset:8\ns_waitcnt lgkmcnt(0)",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = in[0][(in[1][lane] + 8) / 4 % 64];
       }},
      {"ds_bpermute from a lane that is off", "i", "u",
       "s_mov_b32 exec_hi, 0\nv_sub_u32 v40, 0xfc, v1\n"
       "ds_bpermute_b32 v20, v40, v2\ns_waitcnt lgkmcnt(0)",
       [](Wave, Results out) {
         // Lane i reads lane 63 - i, all of which are off: 0.
         for (int lane = 0; lane != 32; ++lane)
           out[0][lane] = 0;
       }},
      {"ds_permute", "i", "u",
       "v_mul_u32_u24 v40, 20, v0\nds_permute_b32 v20, v40, v2\n"
       "s_waitcnt lgkmcnt(0)",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane * 5 % 64] = in[0][lane];
       }},
      {"ds_permute with collisions and gaps", "i", "u",
       "v_lshlrev_b32 v40, 2, v0\nv_and_b32 v40, 0x3c, v40\n"
       "ds_permute_b32 v20, v40, v2\ns_waitcnt lgkmcnt(0)",
       [](Wave in, Results out) {
         // The highest lane wins; lanes nobody writes to get 0.
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = lane < 16 ? in[0][48 + lane] : 0;
       }},
      {"ds_swizzle modes", "i", "uuu",
       "ds_swizzle_b32 v20, v2 offset:swizzle(QUAD_PERM,3,0,1,2)\n"
       "ds_swizzle_b32 v21, v2 offset:swizzle(BITMASK_PERM,\"01pip\")\n"
       "ds_swizzle_b32 v22, v2 offset:swizzle(SWAP,8)\ns_waitcnt lgkmcnt(0)",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane) {
           const int quad[4] = {3, 0, 1, 2};
           out[0][lane] = in[0][(lane & ~3) + quad[lane & 3]];
           // From the left, bits 4 to 0 of the lane in a half wave: clear, set,
           // keep, invert, keep.
           int low = lane & 31;
           int source = ((low & ~16) | 8) ^ 2;
           out[1][lane] = in[0][(lane & 32) + source];
           out[2][lane] = in[0][lane ^ 8];
         }
       }},
      {"v_permlane32_swap", "ii", "uu",
       "v_mov_b32 v20, v2\nv_mov_b32 v21, v3\ns_nop 1\n"
       "v_permlane32_swap_b32 v20, v21",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane) {
           out[0][lane] = lane < 32 ? in[0][lane] : in[1][lane - 32];
           out[1][lane] = lane < 32 ? in[0][lane + 32] : in[1][lane];
         }
       },
       2},
      {"v_permlane16_swap", "ii", "uu",
       "v_mov_b32 v20, v2\nv_mov_b32 v21, v3\ns_nop 1\n"
       "v_permlane16_swap_b32 v20, v21",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane) {
           bool odd = lane & 16;
           out[0][lane] = odd ? in[1][lane - 16] : in[0][lane];
           out[1][lane] = odd ? in[1][lane] : in[0][lane + 16];
         }
       },
       2},
  });
}

} // namespace
