//===- ScaledTest.cpp - Conversions of the small formats ------------------===//
//
// v_cvt_scalef32_* of gfx950 multiply by a power of two on the way up and
// divide by it on the way down: the exponent field of the f32 scale. Expected
// values come from APFloat.
//
//===----------------------------------------------------------------------===//

#include "../Corpus/Random.h"
#include "Harness.h"

#include <algorithm>

using namespace attn::emu;
using llvm::APFloat;
using llvm::fltSemantics;

namespace {

/// Exponent of a scale operand.
int scaleOf(uint32_t bits) { return int(bits >> 23 & 0xff) - 127; }

/// Up: code * 2^scale in f32, f16 or bf16 bits.
uint32_t up(const fltSemantics &to, const fltSemantics &from, uint32_t code,
            uint32_t scale) {
  unsigned bits = APFloat::getSizeInBits(from);
  APFloat value(from, llvm::APInt(bits, code & ((1u << bits) - 1)));
  if (value.isNaN() || (scale >> 23 & 0xff) == 0xff)
    return uint32_t(convertBits(std::nan(""), to));
  return uint32_t(convertBits(
      std::ldexp(fromBits(code & ((1u << bits) - 1), from), scaleOf(scale)),
      to));
}
/// Down: value * 2^-scale, saturating.
uint32_t down(const fltSemantics &to, double value, uint32_t scale) {
  double scaled = std::ldexp(value, -scaleOf(scale));
  double largest = [&] {
    APFloat max = APFloat::getLargest(to);
    bool loses;
    max.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return max.convertToDouble();
  }();
  return uint32_t(convertBits(std::clamp(scaled, -largest, largest), to));
}

const fltSemantics &f32 = APFloat::IEEEsingle();
const fltSemantics &f16 = APFloat::IEEEhalf();
const fltSemantics &bf16 = APFloat::BFloat();
const fltSemantics &fp8 = APFloat::Float8E4M3FN();
const fltSemantics &bf8 = APFloat::Float8E5M2();
const fltSemantics &fp6 = APFloat::Float6E2M3FN();
const fltSemantics &bf6 = APFloat::Float6E3M2FN();
const fltSemantics &fp4 = APFloat::Float4E2M1FN();

/// Makes the scale in v60 (a power of two by the lane, with sign and mantissa
/// bits that must not matter) and the same in C++.
#define SCALE                                                                  \
  "v_and_b32 v59, 15, v0\nv_add_u32 v59, 120, v59\nv_lshlrev_b32 v60, 23, "    \
  "v59\nv_or_b32 v60, 0x80012345, v60\n"
uint32_t laneScale(int lane) { return uint32_t(120 + lane % 16) << 23; }

using Wave = const uint32_t (*)[64];
using Results = uint32_t (*)[64];

/// A finite f32 of moderate size from random bits.
#define TAME(reg)                                                              \
  "v_and_b32 " reg ", 0x8fffffff, " reg "\nv_or_b32 " reg ", 0x38000000, " reg \
  "\n"
float tame(uint32_t bits) { return F((bits & 0x8fffffff) | 0x38000000); }

TEST(Scaled, UpFromPairs) {
  auto pair = [](const fltSemantics &to, const fltSemantics &from,
                 unsigned shift) {
    unsigned bits = APFloat::getSizeInBits(from);
    return [&to, &from, shift, bits](Wave in, Results out) {
      for (int lane = 0; lane != 64; ++lane)
        for (unsigned n = 0; n != 2; ++n) {
          uint32_t value =
              up(to, from, in[0][lane] >> (shift + bits * n), laneScale(lane));
          if (&to == &f32)
            out[n][lane] = value;
          else
            out[0][lane] = n ? out[0][lane] | value << 16 : value;
        }
    };
  };
  runWaveCases({
      {"pk_f32_fp8", "i", "ff",
       SCALE "v_cvt_scalef32_pk_f32_fp8 v[20:21], v2, v60", pair(f32, fp8, 0),
       2},
      {"pk_f32_bf8 high", "i", "ff",
       SCALE "v_cvt_scalef32_pk_f32_bf8 v[20:21], v2, v60 op_sel:[1,0,0]",
       pair(f32, bf8, 16), 2},
      {"pk_f16_fp8", "i", "p", SCALE "v_cvt_scalef32_pk_f16_fp8 v20, v2, v60",
       pair(f16, fp8, 0), 2},
      {"pk_f32_fp4", "i", "ff",
       SCALE "v_cvt_scalef32_pk_f32_fp4 v[20:21], v2, v60", pair(f32, fp4, 0),
       2},
      {"pk_f32_fp4 byte 3", "i", "ff",
       SCALE "v_cvt_scalef32_pk_f32_fp4 v[20:21], v2, v60 op_sel:[1,1,0]",
       pair(f32, fp4, 24), 2},
      {"pk_bf16_fp4 byte 2", "i", "u",
       SCALE "v_cvt_scalef32_pk_bf16_fp4 v20, v2, v60 op_sel:[0,1,0]",
       pair(bf16, fp4, 16), 2},
      {"f32_fp8 byte 3", "i", "f",
       SCALE "v_cvt_scalef32_f32_fp8 v20, v2, v60 op_sel:[1,1]",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane)
           out[0][lane] = up(f32, fp8, in[0][lane] >> 24, laneScale(lane));
       },
       2},
  });
}

TEST(Scaled, DownToPairs) {
  auto pair = [](const fltSemantics &to, unsigned shift) {
    unsigned bits = APFloat::getSizeInBits(to);
    return [&to, shift, bits](Wave in, Results out) {
      for (int lane = 0; lane != 64; ++lane) {
        uint32_t codes = 0;
        for (unsigned n = 0; n != 2; ++n)
          codes |= down(to, tame(in[n][lane]), laneScale(lane)) << (bits * n);
        uint32_t mask = ((1u << (2 * bits)) - 1) << shift;
        out[0][lane] = (out[0][lane] & ~mask) | codes << shift;
      }
    };
  };
  runWaveCases({
      {"pk_fp8_f32", "ii", "u",
       SCALE TAME("v2") TAME("v3") "v_cvt_scalef32_pk_fp8_f32 v20, v2, v3, v60",
       pair(fp8, 0), 2},
      {"pk_bf8_f32 high", "ii", "u",
       SCALE TAME("v2") TAME(
           "v3") "v_cvt_scalef32_pk_bf8_f32 v20, v2, v3, v60 op_sel:[0,0,0,1]",
       pair(bf8, 16), 2},
      {"pk_fp4_f32", "ii", "u",
       SCALE TAME("v2") TAME("v3") "v_cvt_scalef32_pk_fp4_f32 v20, v2, v3, v60",
       pair(fp4, 0), 2},
      {"pk_fp4_f32 byte 3", "ii", "u",
       SCALE TAME("v2") TAME("v3") "v_cvt_scalef32_pk_fp4_f32 v20, v2, v3, v60 "
                                   "op_sel:[0,0,1,1]",
       pair(fp4, 24), 2},
      {"pk_fp8_f16", "i", "u",
       SCALE "v_and_b32 v2, 0xbfffbfff, v2\n"
             "v_cvt_scalef32_pk_fp8_f16 v20, v2, v60",
       [](Wave in, Results out) {
         for (int lane = 0; lane != 64; ++lane) {
           uint32_t word = in[0][lane] & 0xbfffbfff, codes = 0;
           for (unsigned n = 0; n != 2; ++n)
             codes |= down(fp8, H(word >> (16 * n)), laneScale(lane))
                      << (8 * n);
           out[0][lane] = (out[0][lane] & 0xffff0000) | codes;
         }
       },
       2},
  });
}

TEST(Scaled, Sixes) {
  auto upAll = [](const fltSemantics &from) {
    return [&from](Wave in, Results out) {
      for (int lane = 0; lane != 64; ++lane)
        for (unsigned n = 0; n != 32; ++n) {
          unsigned bit = 6 * n;
          uint64_t pair = in[bit / 32][lane];
          if (bit / 32 < 5)
            pair |= uint64_t(in[bit / 32 + 1][lane]) << 32;
          out[n][lane] =
              up(f32, from, uint32_t(pair >> (bit % 32)) & 63, laneScale(lane));
        }
    };
  };
  const char *all = "ffffffffffffffffffffffffffffffff";
  runWaveCases({
      {"pk32_f32_fp6", "iiiiii", all,
       SCALE "v_cvt_scalef32_pk32_f32_fp6 v[20:51], v[2:7], v60", upAll(fp6),
       2},
      {"pk32_f32_bf6", "iiiiii", all,
       SCALE "v_cvt_scalef32_pk32_f32_bf6 v[20:51], v[2:7], v60", upAll(bf6),
       2},
  });
}

TEST(Scaled, Stochastic) {
  // A seed of zero truncates; all ones round away from zero unless exact.
  runCases({
      {"sr_bf16_f32", "i", "uu",
       TAME("v2") "v_mov_b32 v40, 0\nv_mov_b32 v41, -1\n"
                  "v_mov_b32 v20, 0\nv_mov_b32 v21, 0\n"
                  "v_cvt_sr_bf16_f32 v20, v2, v40\n"
                  "v_cvt_sr_bf16_f32 v21, v2, v41",
       [](const uint32_t *in, uint32_t *out) {
         uint32_t bits = U(tame(in[0]));
         out[0] = bits >> 16;
         out[1] = (bits + 0xffff) >> 16;
       },
       false, 2},
      {"sr_fp8_f32", "i", "u",
       TAME("v2") "v_mov_b32 v40, 0\nv_mov_b32 v41, -1\nv_mov_b32 v2, "
                  "0x3fa00000\n"
                  "v_cvt_sr_fp8_f32 v20, v2, v40\ns_nop 0\n"
                  "v_cvt_sr_fp8_f32 v20, v2, v41 op_sel:[0,0,1,1]\ns_nop 0\n"
                  "v_mov_b32 v2, 0x3fa80000\n"
                  "v_cvt_sr_fp8_f32 v20, v2, v40 op_sel:[0,0,1,0]\ns_nop 0\n"
                  "v_cvt_sr_fp8_f32 v20, v2, v41 op_sel:[0,0,0,1]",
       // 1.25 is exact; 1.3125 lies between 1.25 and 1.375 (OCP: bias 7).
       [](const uint32_t *, uint32_t *out) { out[0] = 0x3a3b3a3a; }, false, 2},
  });
}

TEST(Scaled, F32ToF16Pairs) {
  runCases({
      {"v_cvt_pk_f16_f32", "ff", "p", "v_cvt_pk_f16_f32 v20, v2, v3",
       [](const uint32_t *in, uint32_t *out) {
         out[0] = toH(F(in[0])) | uint32_t(toH(F(in[1]))) << 16;
       },
       false, 2},
      {"v_cvt_f32_bf16", "i", "f", "v_cvt_f32_bf16 v20, v2",
       [](const uint32_t *in, uint32_t *out) { out[0] = in[0] << 16; }, false,
       2},
  });
}

} // namespace
