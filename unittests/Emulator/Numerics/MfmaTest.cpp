//===- MfmaTest.cpp - Matrix instructions ---------------------------------===//

#include "attn/Emulator/Numerics/Mfma.h"
#include "attn/Emulator/Numerics/Convert.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <random>
#include <vector>

using namespace attn::emu;

namespace {

/// Operands of one instruction with room for the largest.
struct Registers {
  uint32_t a[8 * 64] = {}, b[8 * 64] = {}, c[32 * 64] = {}, d[32 * 64] = {};
  uint32_t index[64] = {}, scaleA[64] = {}, scaleB[64] = {};

  MfmaOperands getOperands() {
    MfmaOperands operands;
    operands.a = a;
    operands.b = b;
    operands.c = c;
    operands.d = d;
    operands.index = index;
    operands.scaleA = scaleA;
    operands.scaleB = scaleB;
    return operands;
  }
};

/// Format of one input element; `code` picks among f8f6f4.
FloatFormat getFormat(MfmaType type, unsigned code, bool isOCP) {
  using enum FloatFormat;
  switch (type) {
  case MfmaType::F64:
    return F64;
  case MfmaType::F16:
    return F16;
  case MfmaType::BF16:
    return BF16;
  case MfmaType::FP8:
    return isOCP ? FP8E4M3FN : FP8E4M3FNUZ;
  case MfmaType::BF8:
    return isOCP ? FP8E5M2 : FP8E5M2FNUZ;
  case MfmaType::F8F6F4:
    return std::array{FP8E4M3FN, FP8E5M2, FP6E2M3, FP6E3M2, FP4E2M1}[code];
  default:
    return F32;
  }
}
unsigned getElementBits(MfmaType type, unsigned code) {
  return type == MfmaType::I8 ? 8
                              : getFormatInfo(getFormat(type, code, true)).bits;
}

/// The code of a small integer (exact in every format) in a type.
uint64_t encodeInteger(MfmaType type, unsigned code, bool isOCP, int value) {
  return type == MfmaType::I8 ? uint8_t(value)
                              : encode(getFormat(type, code, isOCP), value);
}

void put(uint32_t *regs, MfmaLocation at, unsigned bits, uint64_t code) {
  for (unsigned bit = 0; bit != bits; ++bit) {
    unsigned position = at.element * bits + bit;
    uint32_t &word = regs[64 * (position / 32) + at.lane];
    word &= ~(1u << (position % 32));
    word |= uint32_t((code >> bit) & 1) << (position % 32);
  }
}

/// D[i, j] of `block` as a number.
double readD(const MfmaInfo &info, const uint32_t *d, unsigned block,
             unsigned i, unsigned j) {
  MfmaLocation at = getDLocation(info, block, i, j);
  if (info.isF64())
    return asDouble(uint64_t(d[64 * (2 * at.element + 1) + at.lane]) << 32 |
                    d[64 * 2 * at.element + at.lane]);
  uint32_t word = d[64 * at.element + at.lane];
  return info.isInteger() ? double(int32_t(word)) : double(asFloat(word));
}
void writeC(const MfmaInfo &info, uint32_t *c, unsigned block, unsigned i,
            unsigned j, int value) {
  MfmaLocation at = getDLocation(info, block, i, j);
  put(c, at, info.isF64() ? 64 : 32,
      info.isF64()       ? asBits(double(value))
      : info.isInteger() ? uint64_t(uint32_t(value))
                         : asBits(float(value)));
}

const MfmaInfo &get(const char *name) {
  const MfmaInfo *info = lookupMfma(name);
  EXPECT_NE(info, nullptr) << name;
  return *info;
}

TEST(MfmaTableTest, NamesAreFoundInAllSpellings) {
  llvm::StringSet<> seen;
  for (const MfmaInfo &info : getMfmaTable()) {
    EXPECT_TRUE(seen.insert(info.name).second) << info.name.str();
    EXPECT_EQ(lookupMfma(info.name), &info);
    EXPECT_TRUE(info.isOn(false) || info.isOn(true));
  }
  const std::pair<const char *, const char *> spellings[] = {
      {"V_MFMA_F32_32X32X8F16_gfx940_vcd", "v_mfma_f32_32x32x8_f16"},
      {"V_MFMA_F32_32X32X8BF16_1K_gfx940_acd", "v_mfma_f32_32x32x8_bf16"},
      {"V_MFMA_F32_32X32X4BF16_1K_gfx940_acd", "v_mfma_f32_32x32x4_2b_bf16"},
      {"v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16"},
      {"v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32"},
      {"V_MFMA_F32_4X4X4F16_mac_e64", "v_mfma_f32_4x4x4_16b_f16"},
      {"V_MFMA_I32_16X16X32I8_gfx940_vcd", "v_mfma_i32_16x16x32_i8"},
      {"V_MFMA_F64_4X4X4F64_gfx90a_vcd", "v_mfma_f64_4x4x4_4b_f64"},
      {"V_MFMA_F32_16X16X8XF32_gfx940_vcd", "v_mfma_f32_16x16x8_xf32"},
      {"V_MFMA_F32_16X16X32_F16_gfx940_vcd", "v_mfma_f32_16x16x32_f16"},
      {"V_MFMA_F32_16X16X128_F8F6F4_f4_f8_gfx940_vcd",
       "v_mfma_f32_16x16x128_f8f6f4"},
      {"V_MFMA_SCALE_F32_32X32X64_F8F6F4_f8_f8_gfx940_vcd",
       "v_mfma_scale_f32_32x32x64_f8f6f4"},
      {"V_SMFMAC_F32_32X32X64_BF8_FP8_gfx940", "v_smfmac_f32_32x32x64_bf8_fp8"},
  };
  for (auto [spelling, name] : spellings) {
    const MfmaInfo *info = lookupMfma(spelling);
    ASSERT_NE(info, nullptr) << spelling;
    EXPECT_EQ(info->name, name);
  }
  EXPECT_EQ(lookupMfma("v_add_f32"), nullptr);
  EXPECT_EQ(lookupMfma("v_mfma_f32_64x64x4_f16"), nullptr);
}

TEST(MfmaTableTest, Passes) {
  // LLVM's latencies are these plus 4.
  EXPECT_EQ(get("v_mfma_f32_32x32x8_f16").getPasses(false), 8u);
  EXPECT_EQ(get("v_mfma_f64_16x16x4_f64").getPasses(false), 8u);
  EXPECT_EQ(get("v_mfma_f64_16x16x4_f64").getPasses(true), 16u);
  EXPECT_EQ(get("v_mfma_f32_16x16x128_f8f6f4").getPasses(true, 0, 4), 8u);
  EXPECT_EQ(get("v_mfma_f32_16x16x128_f8f6f4").getPasses(true, 2, 4), 4u);
  EXPECT_EQ(get("v_mfma_f32_32x32x64_f8f6f4").getPasses(true, 4, 4), 8u);
}

TEST(MfmaTableTest, RegisterCounts) {
  // From the assembler's operand classes.
  EXPECT_EQ(get("v_mfma_f32_32x32x8_f16").getARegs(), 2u);
  EXPECT_EQ(get("v_mfma_f32_32x32x8_f16").getDRegs(), 16u);
  EXPECT_EQ(get("v_mfma_f32_32x32x16_bf16").getBRegs(), 4u);
  EXPECT_EQ(get("v_mfma_i32_4x4x4_16b_i8").getARegs(), 1u);
  EXPECT_EQ(get("v_mfma_f32_32x32x1_2b_f32").getDRegs(), 32u);
  EXPECT_EQ(get("v_mfma_f64_16x16x4_f64").getDRegs(), 8u);
  EXPECT_EQ(get("v_mfma_f64_16x16x4_f64").getARegs(), 2u);
  EXPECT_EQ(get("v_smfmac_f32_16x16x32_f16").getARegs(), 2u);
  EXPECT_EQ(get("v_smfmac_f32_16x16x32_f16").getBRegs(), 4u);
  EXPECT_EQ(get("v_smfmac_i32_16x16x128_i8").getBRegs(), 8u);
  const MfmaInfo &mixed = get("v_mfma_f32_16x16x128_f8f6f4");
  EXPECT_EQ(mixed.getARegs(0), 8u);
  EXPECT_EQ(mixed.getARegs(2), 6u);
  EXPECT_EQ(mixed.getBRegs(4), 4u);
}

/// Where single elements live, from AMD's matrix instruction calculator
/// (CDNA3): operand, block, row, column (k takes the place of A's column and
/// B's row), lane, bit from the first register. For sparse A, k is dense.
struct LayoutPoint {
  const char *name;
  char operand;
  unsigned block, row, column, lane, bit;
};
const LayoutPoint layoutPoints[] = {
    {"v_mfma_f32_16x16x8_xf32", 'A', 0, 14, 3, 30, 32},
    {"v_mfma_f32_16x16x8_xf32", 'A', 0, 14, 7, 62, 32},
    {"v_mfma_f32_16x16x8_xf32", 'B', 0, 7, 3, 51, 32},
    {"v_mfma_f32_16x16x8_xf32", 'B', 0, 3, 0, 16, 32},
    {"v_mfma_f32_16x16x8_xf32", 'D', 0, 5, 14, 30, 32},
    {"v_mfma_f32_16x16x8_xf32", 'D', 0, 15, 3, 51, 96},
    {"v_mfma_f32_32x32x4_xf32", 'A', 0, 11, 3, 43, 32},
    {"v_mfma_f32_32x32x4_xf32", 'A', 0, 6, 0, 6, 0},
    {"v_mfma_f32_32x32x4_xf32", 'B', 0, 3, 18, 50, 32},
    {"v_mfma_f32_32x32x4_xf32", 'B', 0, 2, 13, 45, 0},
    {"v_mfma_f32_32x32x4_xf32", 'D', 0, 9, 2, 2, 160},
    {"v_mfma_f32_32x32x4_xf32", 'D', 0, 5, 25, 57, 32},
    {"v_mfma_f32_32x32x1_2b_f32", 'A', 0, 5, 0, 5, 0},
    {"v_mfma_f32_32x32x1_2b_f32", 'A', 1, 18, 0, 50, 0},
    {"v_mfma_f32_32x32x1_2b_f32", 'B', 1, 0, 25, 57, 0},
    {"v_mfma_f32_32x32x1_2b_f32", 'B', 0, 0, 20, 20, 0},
    {"v_mfma_f32_32x32x1_2b_f32", 'D', 0, 1, 29, 29, 32},
    {"v_mfma_f32_32x32x1_2b_f32", 'D', 0, 8, 2, 2, 128},
    {"v_mfma_f32_16x16x1_4b_f32", 'A', 0, 7, 0, 7, 0},
    {"v_mfma_f32_16x16x1_4b_f32", 'A', 0, 4, 0, 4, 0},
    {"v_mfma_f32_16x16x1_4b_f32", 'B', 1, 0, 8, 24, 0},
    {"v_mfma_f32_16x16x1_4b_f32", 'B', 1, 0, 14, 30, 0},
    {"v_mfma_f32_16x16x1_4b_f32", 'D', 0, 3, 13, 13, 96},
    {"v_mfma_f32_16x16x1_4b_f32", 'D', 3, 11, 6, 38, 480},
    {"v_mfma_f32_4x4x1_16b_f32", 'A', 10, 1, 0, 41, 0},
    {"v_mfma_f32_4x4x1_16b_f32", 'A', 14, 0, 0, 56, 0},
    {"v_mfma_f32_4x4x1_16b_f32", 'B', 6, 0, 1, 25, 0},
    {"v_mfma_f32_4x4x1_16b_f32", 'B', 7, 0, 1, 29, 0},
    {"v_mfma_f32_4x4x1_16b_f32", 'D', 9, 1, 2, 38, 32},
    {"v_mfma_f32_4x4x1_16b_f32", 'D', 15, 3, 3, 63, 96},
    {"v_mfma_f32_32x32x2_f32", 'A', 0, 0, 0, 0, 0},
    {"v_mfma_f32_32x32x2_f32", 'A', 0, 5, 0, 5, 0},
    {"v_mfma_f32_32x32x2_f32", 'B', 0, 1, 26, 58, 0},
    {"v_mfma_f32_32x32x2_f32", 'B', 0, 1, 3, 35, 0},
    {"v_mfma_f32_32x32x2_f32", 'D', 0, 26, 1, 1, 448},
    {"v_mfma_f32_32x32x2_f32", 'D', 0, 5, 10, 42, 32},
    {"v_mfma_f32_16x16x4_f32", 'A', 0, 8, 0, 8, 0},
    {"v_mfma_f32_16x16x4_f32", 'A', 0, 10, 0, 10, 0},
    {"v_mfma_f32_16x16x4_f32", 'B', 0, 1, 13, 29, 0},
    {"v_mfma_f32_16x16x4_f32", 'B', 0, 2, 4, 36, 0},
    {"v_mfma_f32_16x16x4_f32", 'D', 0, 0, 15, 15, 0},
    {"v_mfma_f32_16x16x4_f32", 'D', 0, 2, 3, 3, 64},
    {"v_mfma_f32_32x32x4_2b_f16", 'A', 0, 13, 3, 13, 48},
    {"v_mfma_f32_32x32x4_2b_f16", 'A', 1, 19, 1, 51, 16},
    {"v_mfma_f32_32x32x4_2b_f16", 'B', 0, 1, 23, 23, 16},
    {"v_mfma_f32_32x32x4_2b_f16", 'B', 1, 0, 20, 52, 0},
    {"v_mfma_f32_32x32x4_2b_f16", 'D', 1, 17, 15, 15, 800},
    {"v_mfma_f32_32x32x4_2b_f16", 'D', 0, 8, 17, 17, 128},
    {"v_mfma_f32_16x16x4_4b_f16", 'A', 0, 2, 0, 2, 0},
    {"v_mfma_f32_16x16x4_4b_f16", 'A', 0, 0, 0, 0, 0},
    {"v_mfma_f32_16x16x4_4b_f16", 'B', 1, 2, 13, 29, 32},
    {"v_mfma_f32_16x16x4_4b_f16", 'B', 1, 2, 11, 27, 32},
    {"v_mfma_f32_16x16x4_4b_f16", 'D', 0, 6, 11, 27, 64},
    {"v_mfma_f32_16x16x4_4b_f16", 'D', 3, 12, 2, 50, 384},
    {"v_mfma_f32_4x4x4_16b_f16", 'A', 12, 0, 0, 48, 0},
    {"v_mfma_f32_4x4x4_16b_f16", 'A', 12, 2, 3, 50, 48},
    {"v_mfma_f32_4x4x4_16b_f16", 'B', 13, 1, 2, 54, 16},
    {"v_mfma_f32_4x4x4_16b_f16", 'B', 2, 1, 1, 9, 16},
    {"v_mfma_f32_4x4x4_16b_f16", 'D', 6, 1, 1, 25, 32},
    {"v_mfma_f32_4x4x4_16b_f16", 'D', 8, 2, 2, 34, 64},
    {"v_mfma_f32_32x32x8_f16", 'A', 0, 21, 4, 53, 0},
    {"v_mfma_f32_32x32x8_f16", 'A', 0, 5, 4, 37, 0},
    {"v_mfma_f32_32x32x8_f16", 'B', 0, 4, 31, 63, 0},
    {"v_mfma_f32_32x32x8_f16", 'B', 0, 5, 10, 42, 16},
    {"v_mfma_f32_32x32x8_f16", 'D', 0, 0, 31, 31, 0},
    {"v_mfma_f32_32x32x8_f16", 'D', 0, 26, 7, 7, 448},
    {"v_mfma_f32_16x16x16_f16", 'A', 0, 3, 12, 51, 0},
    {"v_mfma_f32_16x16x16_f16", 'A', 0, 4, 4, 20, 0},
    {"v_mfma_f32_16x16x16_f16", 'B', 0, 7, 14, 30, 48},
    {"v_mfma_f32_16x16x16_f16", 'B', 0, 3, 3, 3, 48},
    {"v_mfma_f32_16x16x16_f16", 'D', 0, 0, 5, 5, 0},
    {"v_mfma_f32_16x16x16_f16", 'D', 0, 1, 14, 14, 32},
    {"v_mfma_i32_32x32x4_2b_i8", 'A', 1, 27, 2, 59, 16},
    {"v_mfma_i32_32x32x4_2b_i8", 'A', 1, 30, 1, 62, 8},
    {"v_mfma_i32_32x32x4_2b_i8", 'B', 0, 2, 26, 26, 16},
    {"v_mfma_i32_32x32x4_2b_i8", 'B', 0, 3, 0, 0, 24},
    {"v_mfma_i32_32x32x4_2b_i8", 'D', 1, 25, 8, 8, 928},
    {"v_mfma_i32_32x32x4_2b_i8", 'D', 0, 24, 13, 13, 384},
    {"v_mfma_i32_16x16x4_4b_i8", 'A', 1, 0, 3, 16, 24},
    {"v_mfma_i32_16x16x4_4b_i8", 'A', 3, 5, 2, 53, 16},
    {"v_mfma_i32_16x16x4_4b_i8", 'B', 3, 0, 4, 52, 0},
    {"v_mfma_i32_16x16x4_4b_i8", 'B', 0, 3, 11, 11, 24},
    {"v_mfma_i32_16x16x4_4b_i8", 'D', 3, 2, 8, 8, 448},
    {"v_mfma_i32_16x16x4_4b_i8", 'D', 3, 5, 13, 29, 416},
    {"v_mfma_i32_4x4x4_16b_i8", 'A', 6, 3, 0, 27, 0},
    {"v_mfma_i32_4x4x4_16b_i8", 'A', 0, 0, 0, 0, 0},
    {"v_mfma_i32_4x4x4_16b_i8", 'B', 8, 2, 2, 34, 16},
    {"v_mfma_i32_4x4x4_16b_i8", 'B', 9, 2, 3, 39, 16},
    {"v_mfma_i32_4x4x4_16b_i8", 'D', 0, 2, 2, 2, 64},
    {"v_mfma_i32_4x4x4_16b_i8", 'D', 6, 2, 3, 27, 64},
    {"v_mfma_i32_32x32x16_i8", 'A', 0, 11, 15, 43, 56},
    {"v_mfma_i32_32x32x16_i8", 'A', 0, 25, 3, 25, 24},
    {"v_mfma_i32_32x32x16_i8", 'B', 0, 3, 6, 6, 24},
    {"v_mfma_i32_32x32x16_i8", 'B', 0, 1, 11, 11, 8},
    {"v_mfma_i32_32x32x16_i8", 'D', 0, 9, 11, 11, 160},
    {"v_mfma_i32_32x32x16_i8", 'D', 0, 13, 20, 52, 160},
    {"v_mfma_i32_16x16x32_i8", 'A', 0, 14, 4, 14, 32},
    {"v_mfma_i32_16x16x32_i8", 'A', 0, 8, 8, 24, 0},
    {"v_mfma_i32_16x16x32_i8", 'B', 0, 0, 9, 9, 0},
    {"v_mfma_i32_16x16x32_i8", 'B', 0, 21, 0, 32, 40},
    {"v_mfma_i32_16x16x32_i8", 'D', 0, 9, 7, 39, 32},
    {"v_mfma_i32_16x16x32_i8", 'D', 0, 12, 5, 53, 0},
    {"v_smfmac_f32_16x16x32_f16", 'A', 0, 2, 11, 18, 0},
    {"v_smfmac_f32_16x16x32_f16", 'A', 0, 2, 12, 18, 32},
    {"v_smfmac_f32_16x16x32_f16", 'B', 0, 5, 12, 12, 80},
    {"v_smfmac_f32_16x16x32_f16", 'B', 0, 13, 5, 21, 80},
    {"v_smfmac_f32_16x16x32_f16", 'D', 0, 7, 12, 28, 96},
    {"v_smfmac_f32_16x16x32_f16", 'D', 0, 0, 7, 7, 0},
    {"v_smfmac_f32_32x32x16_f16", 'A', 0, 23, 9, 55, 0},
    {"v_smfmac_f32_32x32x16_f16", 'A', 0, 23, 12, 55, 32},
    {"v_smfmac_f32_32x32x16_f16", 'B', 0, 14, 16, 48, 96},
    {"v_smfmac_f32_32x32x16_f16", 'B', 0, 4, 2, 2, 64},
    {"v_smfmac_f32_32x32x16_f16", 'D', 0, 30, 30, 62, 448},
    {"v_smfmac_f32_32x32x16_f16", 'D', 0, 8, 21, 21, 128},
    {"v_smfmac_i32_16x16x64_i8", 'A', 0, 12, 22, 28, 16},
    {"v_smfmac_i32_16x16x64_i8", 'A', 0, 5, 54, 53, 16},
    {"v_smfmac_i32_16x16x64_i8", 'B', 0, 19, 11, 27, 24},
    {"v_smfmac_i32_16x16x64_i8", 'B', 0, 39, 12, 44, 56},
    {"v_smfmac_i32_16x16x64_i8", 'D', 0, 7, 4, 20, 96},
    {"v_smfmac_i32_16x16x64_i8", 'D', 0, 7, 15, 31, 96},
    {"v_smfmac_i32_32x32x32_i8", 'A', 0, 12, 4, 12, 16},
    {"v_smfmac_i32_32x32x32_i8", 'A', 0, 10, 4, 10, 16},
    {"v_smfmac_i32_32x32x32_i8", 'B', 0, 12, 18, 18, 96},
    {"v_smfmac_i32_32x32x32_i8", 'B', 0, 24, 27, 59, 64},
    {"v_smfmac_i32_32x32x32_i8", 'D', 0, 30, 28, 60, 448},
    {"v_smfmac_i32_32x32x32_i8", 'D', 0, 5, 0, 32, 32},
    {"v_mfma_f64_16x16x4_f64", 'A', 0, 13, 1, 29, 0},
    {"v_mfma_f64_16x16x4_f64", 'A', 0, 1, 2, 33, 0},
    {"v_mfma_f64_16x16x4_f64", 'B', 0, 0, 13, 13, 0},
    {"v_mfma_f64_16x16x4_f64", 'B', 0, 0, 4, 4, 0},
    {"v_mfma_f64_16x16x4_f64", 'D', 0, 8, 2, 2, 128},
    {"v_mfma_f64_16x16x4_f64", 'D', 0, 7, 10, 58, 64},
    {"v_mfma_f64_4x4x4_4b_f64", 'A', 3, 0, 2, 44, 0},
    {"v_mfma_f64_4x4x4_4b_f64", 'A', 2, 0, 0, 8, 0},
    {"v_mfma_f64_4x4x4_4b_f64", 'B', 3, 1, 1, 29, 0},
    {"v_mfma_f64_4x4x4_4b_f64", 'B', 3, 3, 2, 62, 0},
    {"v_mfma_f64_4x4x4_4b_f64", 'D', 2, 1, 1, 25, 0},
    {"v_mfma_f64_4x4x4_4b_f64", 'D', 1, 1, 2, 22, 0},
    {"v_mfma_f32_16x16x32_fp8_fp8", 'A', 0, 2, 6, 2, 48},
    {"v_mfma_f32_16x16x32_fp8_fp8", 'A', 0, 4, 1, 4, 8},
    {"v_mfma_f32_16x16x32_fp8_fp8", 'B', 0, 14, 9, 25, 48},
    {"v_mfma_f32_16x16x32_fp8_fp8", 'B', 0, 30, 10, 58, 48},
    {"v_mfma_f32_16x16x32_fp8_fp8", 'D', 0, 2, 5, 5, 64},
    {"v_mfma_f32_16x16x32_fp8_fp8", 'D', 0, 8, 15, 47, 0},
    {"v_mfma_f32_32x32x16_fp8_fp8", 'A', 0, 13, 9, 45, 8},
    {"v_mfma_f32_32x32x16_fp8_fp8", 'A', 0, 13, 0, 13, 0},
    {"v_mfma_f32_32x32x16_fp8_fp8", 'B', 0, 0, 16, 16, 0},
    {"v_mfma_f32_32x32x16_fp8_fp8", 'B', 0, 2, 6, 6, 16},
    {"v_mfma_f32_32x32x16_fp8_fp8", 'D', 0, 17, 7, 7, 288},
    {"v_mfma_f32_32x32x16_fp8_fp8", 'D', 0, 26, 10, 10, 448},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 'A', 0, 14, 16, 30, 0},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 'A', 0, 7, 62, 55, 48},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 'B', 0, 7, 11, 11, 56},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 'B', 0, 5, 15, 15, 40},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 'D', 0, 5, 10, 26, 32},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 'D', 0, 9, 0, 32, 32},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 'A', 0, 23, 19, 55, 0},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 'A', 0, 8, 13, 8, 48},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 'B', 0, 5, 28, 28, 40},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 'B', 0, 23, 5, 37, 56},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 'D', 0, 8, 27, 27, 128},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 'D', 0, 28, 26, 58, 384},
};

TEST(MfmaLayoutTest, AgreesWithAMDsCalculator) {
  for (const LayoutPoint &point : layoutPoints) {
    const MfmaInfo &info = get(point.name);
    MfmaLocation at;
    unsigned bits = getElementBits(info.a, 0);
    if (point.operand == 'A') {
      at = getALocation(info, 0, point.block, point.row,
                        info.sparse ? point.column / 4 * 2 : point.column);
    } else if (point.operand == 'B') {
      at = getBLocation(info, 0, point.block, point.column, point.row);
    } else {
      at = getDLocation(info, point.block, point.row, point.column);
      bits = info.isF64() ? 64 : 32;
    }
    EXPECT_EQ(at.lane, point.lane) << point.name << " " << point.operand;
    EXPECT_EQ(at.element * bits, point.bit)
        << point.name << " " << point.operand;
  }
}

TEST(MfmaLayoutTest, Gfx950DoubleDepth) {
  // 32x32x16: k = 8 * (lane / 32) + e; 16x16x32: k = 8 * (lane / 16) + e.
  for (unsigned k = 0; k != 16; ++k) {
    MfmaLocation at = getALocation(get("v_mfma_f32_32x32x16_f16"), 0, 0, 5, k);
    EXPECT_EQ(at.lane, 32 * (k / 8) + 5);
    EXPECT_EQ(at.element, k % 8);
  }
  for (unsigned k = 0; k != 32; ++k) {
    MfmaLocation at = getBLocation(get("v_mfma_f32_16x16x32_bf16"), 0, 0, 9, k);
    EXPECT_EQ(at.lane, 16 * (k / 8) + 9);
    EXPECT_EQ(at.element, k % 8);
  }
  // f8f6f4: 32 consecutive k a lane, but 8-bit operands are halved: 16 from
  // the lower and 16 from the upper half of k.
  const MfmaInfo &mixed = get("v_mfma_f32_16x16x128_f8f6f4");
  for (unsigned k = 0; k != 128; ++k) {
    MfmaLocation fp4 = getALocation(mixed, 4, 0, 3, k);
    EXPECT_EQ(fp4.lane, 16 * (k / 32) + 3);
    EXPECT_EQ(fp4.element, k % 32);
    MfmaLocation fp8 = getALocation(mixed, 0, 0, 3, k);
    EXPECT_EQ(fp8.lane, 16 * (k / 16 % 4) + 3);
    EXPECT_EQ(fp8.element, 16 * (k / 64) + k % 16);
  }
}

/// The operand maps of the instructions that our kernels are built on, written
/// out from the lane's side after the register tables of AMD's CDNA3 and CDNA4
/// instruction set guides: what lane l holds. Nothing here asks get*Location.
struct HandMap {
  const char *name;
  unsigned size, depth;
  /// k of a lane's element e in A and B; row of its register r in D. A's row,
  /// B's column and D's column are the lane modulo the size.
  unsigned (*k)(unsigned lane, unsigned e);
  unsigned (*row)(unsigned lane, unsigned r);
};
unsigned rowOf32(unsigned lane, unsigned r) {
  return 8 * (r / 4) + 4 * (lane / 32) + r % 4;
}
unsigned rowOf16(unsigned lane, unsigned r) { return 4 * (lane / 16) + r; }
const HandMap handMaps[] = {
    {"v_mfma_f32_32x32x8_f16", 32, 8,
     [](unsigned lane, unsigned e) { return 4 * (lane / 32) + e; }, rowOf32},
    {"v_mfma_f32_32x32x16_f16", 32, 16,
     [](unsigned lane, unsigned e) { return 8 * (lane / 32) + e; }, rowOf32},
    {"v_mfma_f32_16x16x16_f16", 16, 16,
     [](unsigned lane, unsigned e) { return 4 * (lane / 16) + e; }, rowOf16},
    {"v_mfma_f32_16x16x32_f16", 16, 32,
     [](unsigned lane, unsigned e) { return 8 * (lane / 16) + e; }, rowOf16},
};

TEST(MfmaTest, PlainProductThroughHandWrittenMaps) {
  std::mt19937 random(36);
  for (const HandMap &map : handMaps) {
    unsigned size = map.size, depth = map.depth;
    std::vector<int> a(size * depth), b(depth * size);
    for (std::vector<int> *matrix : {&a, &b})
      for (int &value : *matrix)
        value = int(random() % 7) - 3;
    Registers regs;
    for (unsigned lane = 0; lane != 64; ++lane)
      for (unsigned e = 0; e != size * depth / 64; ++e) {
        unsigned index = lane % size, k = map.k(lane, e);
        unsigned word = 64 * (e / 2) + lane, shift = 16 * (e % 2);
        regs.a[word] |= encode(FloatFormat::F16, a[index * depth + k]) << shift;
        regs.b[word] |= encode(FloatFormat::F16, b[k * size + index]) << shift;
      }
    runMfma(get(map.name), regs.getOperands(), {});
    for (unsigned lane = 0; lane != 64; ++lane)
      for (unsigned r = 0; r != size * size / 64; ++r) {
        unsigned i = map.row(lane, r), j = lane % size;
        int expected = 0;
        for (unsigned k = 0; k != depth; ++k)
          expected += a[i * depth + k] * b[k * size + j];
        ASSERT_EQ(asFloat(regs.d[64 * r + lane]), float(expected))
            << map.name << " lane " << lane << " register " << r;
      }
  }
}

/// Small integers are exact everywhere, so D must be the exact product
/// whatever the order.
TEST(MfmaTest, IntegerMatricesAreExact) {
  std::mt19937 random(31);
  for (const MfmaInfo &info : getMfmaTable()) {
    if (info.sparse)
      continue;
    bool mixed = info.a == MfmaType::F8F6F4;
    for (unsigned codeA = 0; codeA != (mixed ? 5u : 1u); ++codeA)
      for (unsigned codeB = 0; codeB != (mixed ? 5u : 1u); ++codeB)
        for (uint64_t seed : {0, 6, 7}) {
          Registers regs;
          std::vector<int> a(info.blocks * info.m * info.k),
              b(info.blocks * info.n * info.k),
              c(info.blocks * info.m * info.n);
          bool isOCP = info.isOn(true) && (seed || !info.isOn(false));
          for (unsigned block = 0; block != info.blocks; ++block) {
            for (unsigned k = 0; k != info.k; ++k) {
              for (unsigned i = 0; i != info.m; ++i) {
                int &value = a[(block * info.m + i) * info.k + k];
                value = int(random() % 7) - 3;
                put(regs.a, getALocation(info, codeA, block, i, k),
                    getElementBits(info.a, codeA),
                    encodeInteger(info.a, codeA, isOCP, value));
              }
              for (unsigned j = 0; j != info.n; ++j) {
                int &value = b[(block * info.n + j) * info.k + k];
                value = int(random() % 7) - 3;
                put(regs.b, getBLocation(info, codeB, block, j, k),
                    getElementBits(info.b, codeB),
                    encodeInteger(info.b, codeB, isOCP, value));
              }
            }
            for (unsigned i = 0; i != info.m; ++i)
              for (unsigned j = 0; j != info.n; ++j) {
                int &value = c[(block * info.m + i) * info.n + j];
                value = int(random() % 1000) - 500;
                writeC(info, regs.c, block, i, j, value);
              }
          }
          MfmaOperands operands = regs.getOperands();
          MfmaOptions options;
          options.isOCP = isOCP;
          options.perturb = {seed != 0, seed};
          if (mixed) {
            operands.cbsz = codeA;
            operands.blgp = codeB;
          }
          for (unsigned lane = 0; lane != 64; ++lane)
            regs.scaleA[lane] = regs.scaleB[lane] = 0x7f7f7f7f; // 2^0
          runMfma(info, operands, options);
          for (unsigned block = 0; block != info.blocks; ++block)
            for (unsigned i = 0; i != info.m; ++i)
              for (unsigned j = 0; j != info.n; ++j) {
                int expected = c[(block * info.m + i) * info.n + j];
                for (unsigned k = 0; k != info.k; ++k)
                  expected += a[(block * info.m + i) * info.k + k] *
                              b[(block * info.n + j) * info.k + k];
                ASSERT_EQ(readD(info, regs.d, block, i, j), double(expected))
                    << info.name.str() << " " << codeA << codeB << " block "
                    << block << " [" << i << ", " << j << "] seed " << seed;
              }
        }
  }
}

TEST(MfmaTest, SparseFormsPickTheIndexedRows) {
  std::mt19937 random(32);
  for (const MfmaInfo &info : getMfmaTable()) {
    if (!info.sparse)
      continue;
    for (unsigned trial = 0; trial != 4; ++trial) {
      Registers regs;
      unsigned depth = info.k / 2, perLane = depth / (64 / info.m);
      // Two bits an element; 8-, 16- or 32-bit sets.
      unsigned setBits = 2 * perLane, sets = 32 / setBits;
      unsigned set = trial % sets;
      std::vector<int> dense(info.m * info.k), b(info.n * info.k),
          c(info.m * info.n);
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned four = 0; four != info.k / 4u; ++four) {
          unsigned first = random() % 3,
                   second = first + 1 + random() % (3 - first);
          for (unsigned which : {0, 1}) {
            unsigned k = 2 * four + which, inFour = which ? second : first;
            int value = int(random() % 7) - 3;
            dense[i * info.k + 4 * four + inFour] = value;
            MfmaLocation at = getALocation(info, 0, 0, i, k);
            put(regs.a, at, getElementBits(info.a, 0),
                encodeInteger(info.a, 0, true, value));
            regs.index[at.lane] |= inFour << (setBits * set + 2 * at.element);
          }
        }
      // Other sets hold rubbish.
      for (unsigned lane = 0; lane != 64; ++lane)
        if (sets > 1)
          regs.index[lane] |=
              ~(((uint64_t(1) << setBits) - 1) << (setBits * set));
      for (unsigned k = 0; k != info.k; ++k)
        for (unsigned j = 0; j != info.n; ++j) {
          b[k * info.n + j] = int(random() % 7) - 3;
          put(regs.b, getBLocation(info, 0, 0, j, k), getElementBits(info.b, 0),
              encodeInteger(info.b, 0, true, b[k * info.n + j]));
        }
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned j = 0; j != info.n; ++j) {
          c[i * info.n + j] = int(random() % 100);
          writeC(info, regs.c, 0, i, j, c[i * info.n + j]);
        }
      MfmaOperands operands = regs.getOperands();
      operands.abid = set;
      MfmaOptions options;
      options.isOCP = true;
      options.perturb = {trial == 3, 5};
      runMfma(info, operands, options);
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned j = 0; j != info.n; ++j) {
          int expected = c[i * info.n + j];
          for (unsigned k = 0; k != info.k; ++k)
            expected += dense[i * info.k + k] * b[k * info.n + j];
          ASSERT_EQ(readD(info, regs.d, 0, i, j), double(expected))
              << info.name.str() << " [" << i << ", " << j << "]";
        }
    }
  }
}

TEST(MfmaTest, SparseFormsDoNotTouchUnindexedRows) {
  const MfmaInfo &info = get("v_smfmac_f32_16x16x32_f16");
  Registers regs;
  // All of B is NaN but the rows that index 0, 1 picks.
  for (unsigned k = 0; k != info.k; ++k)
    for (unsigned j = 0; j != info.n; ++j)
      put(regs.b, getBLocation(info, 0, 0, j, k), 16,
          k % 4 < 2 ? 0x3c00 : 0x7e00);
  for (unsigned lane = 0; lane != 64; ++lane)
    regs.index[lane] = 0x44;
  runMfma(info, regs.getOperands(), {});
  for (unsigned i = 0; i != 16; ++i)
    EXPECT_EQ(readD(info, regs.d, 0, i, i), 0.0);
}

/// f16 and bf16: a chain of fused multiply-adds in ascending k, bit for bit.
TEST(MfmaTest, AccumulationOrder) {
  std::mt19937 random(33);
  for (const char *name :
       {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x32_bf16",
        "v_mfma_f32_32x32x16_bf16", "v_mfma_f32_16x16x4_f32",
        "v_mfma_f32_4x4x4_16b_f16", "v_mfma_f32_32x32x16_fp8_fp8"}) {
    const MfmaInfo &info = get(name);
    Registers regs;
    for (uint32_t &word : regs.a)
      word = random();
    for (uint32_t &word : regs.b)
      word = random();
    for (uint32_t &word : regs.c)
      word = random();
    runMfma(info, regs.getOperands(), {});
    unsigned bits = getElementBits(info.a, 0);
    FloatFormat format = info.a == MfmaType::F16    ? FloatFormat::F16
                         : info.a == MfmaType::BF16 ? FloatFormat::BF16
                         : info.a == MfmaType::FP8  ? FloatFormat::FP8E4M3FNUZ
                                                    : FloatFormat::F32;
    auto read = [&](const uint32_t *words, MfmaLocation at) {
      unsigned bit = at.element * bits;
      uint32_t word = words[64 * (bit / 32) + at.lane] >> (bit % 32);
      return float(decode(format, word));
    };
    for (unsigned block = 0; block != info.blocks; ++block)
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned j = 0; j != info.n; ++j) {
          MfmaLocation at = getDLocation(info, block, i, j);
          float expected = asFloat(regs.c[64 * at.element + at.lane]);
          for (unsigned k = 0; k != info.k; ++k)
            expected = std::fma(
                read(regs.a, getALocation(info, 0, block, i, k)),
                read(regs.b, getBLocation(info, 0, block, j, k)), expected);
          uint32_t actual = regs.d[64 * at.element + at.lane];
          ASSERT_EQ(actual,
                    std::isnan(expected) ? 0x7fc00000 : asBits(expected))
              << name << " " << block << " " << i << " " << j;
        }
  }
}

TEST(MfmaTest, DenormalsInfinitiesAndConstants) {
  const MfmaInfo &info = get("v_mfma_f32_16x16x16_f16");
  Registers regs;
  put(regs.a, getALocation(info, 0, 0, 0, 0), 16, 0x0001); // 2^-24
  put(regs.b, getBLocation(info, 0, 0, 0, 0), 16, 0x3c00);
  put(regs.a, getALocation(info, 0, 0, 1, 3), 16, 0x7c00); // inf * 0 = NaN
  put(regs.a, getALocation(info, 0, 0, 2, 3), 16, 0x7bff);
  MfmaOperands operands = regs.getOperands();
  operands.c = nullptr;
  operands.cConstant = asBits(1.0f);
  runMfma(info, operands, {});
  EXPECT_EQ(readD(info, regs.d, 0, 0, 0), 1.0 + 0x1p-24 - 0x1p-24);
  EXPECT_TRUE(std::isnan(readD(info, regs.d, 0, 1, 0)));
  EXPECT_EQ(readD(info, regs.d, 0, 2, 0), 1.0);
  operands.cConstant = 0;
  runMfma(info, operands, {});
  EXPECT_EQ(readD(info, regs.d, 0, 0, 0), 0x1p-24);

  // bf16 products below f32's normal range stay.
  const MfmaInfo &bfloat = get("v_mfma_f32_16x16x16_bf16");
  Registers small;
  put(small.a, getALocation(bfloat, 0, 0, 0, 0), 16, 0x0080); // 2^-126
  put(small.b, getBLocation(bfloat, 0, 0, 0, 0), 16, 0x3f00); // 2^-1
  runMfma(bfloat, small.getOperands(), {});
  EXPECT_EQ(readD(bfloat, small.d, 0, 0, 0), 0x1p-127);

  // i8 wraps.
  const MfmaInfo &integer = get("v_mfma_i32_16x16x32_i8");
  Registers bytes;
  for (uint32_t &word : bytes.a)
    word = 0x80808080;
  for (uint32_t &word : bytes.b)
    word = 0x80808080;
  for (uint32_t &word : bytes.c)
    word = 0x7fffffff;
  runMfma(integer, bytes.getOperands(), {});
  EXPECT_EQ(bytes.d[0], 0x7fffffffu + 32 * 16384);
}

TEST(MfmaTest, XF32RoundsItsInputs) {
  const MfmaInfo &info = get("v_mfma_f32_16x16x8_xf32");
  Registers regs;
  put(regs.a, getALocation(info, 0, 0, 0, 0), 32, asBits(1 + 0x1p-10f));
  put(regs.a, getALocation(info, 0, 0, 1, 0), 32, asBits(1 + 0x1p-11f)); // tie
  put(regs.a, getALocation(info, 0, 0, 2, 0), 32,
      asBits(1 + 0x1p-11f + 0x1p-20f));
  put(regs.b, getBLocation(info, 0, 0, 0, 0), 32, asBits(1.0f));
  runMfma(info, regs.getOperands(), {});
  EXPECT_EQ(readD(info, regs.d, 0, 0, 0), 1 + 0x1p-10);
  EXPECT_EQ(readD(info, regs.d, 0, 1, 0), 1.0);
  EXPECT_EQ(readD(info, regs.d, 0, 2, 0), 1 + 0x1p-10);
}

TEST(MfmaTest, BroadcastAndLanePermutation) {
  // 16 blocks of 4x4: A's element is its block number, B's its lane.
  const MfmaInfo &info = get("v_mfma_f32_4x4x1_16b_f32");
  for (unsigned cbsz = 0; cbsz <= 4; ++cbsz)
    for (unsigned abid = 0; abid != 1u << cbsz; ++abid)
      for (unsigned blgp = 0; blgp != 8; ++blgp) {
        Registers regs;
        for (unsigned lane = 0; lane != 64; ++lane) {
          regs.a[lane] = asBits(float(lane / 4 + 1));
          regs.b[lane] = asBits(float(lane + 1));
        }
        MfmaOperands operands = regs.getOperands();
        operands.cbsz = cbsz;
        operands.abid = abid;
        operands.blgp = blgp;
        runMfma(info, operands, {});
        for (unsigned block = 0; block != 16; ++block)
          for (unsigned j = 0; j != 4; ++j) {
            unsigned from = (block >> cbsz << cbsz) + abid;
            unsigned lane = 4 * block + j;
            // The guide's table of lane group patterns.
            const unsigned source[8] = {
                lane,      lane % 32,      lane % 32 + 32, (lane + 16) % 64,
                lane % 16, lane % 16 + 16, lane % 16 + 32, lane % 16 + 48};
            ASSERT_EQ(readD(info, regs.d, block, 2, j),
                      double((from + 1) * (source[blgp] + 1)))
                << cbsz << " " << abid << " " << blgp << " " << block;
          }
      }
}

TEST(MfmaTest, F64NegatesByBlgp) {
  const MfmaInfo &info = get("v_mfma_f64_16x16x4_f64");
  for (unsigned blgp = 0; blgp != 8; ++blgp) {
    Registers regs;
    put(regs.a, getALocation(info, 0, 0, 3, 1), 64, asBits(3.0));
    put(regs.b, getBLocation(info, 0, 0, 7, 1), 64, asBits(5.0));
    writeC(info, regs.c, 0, 3, 7, 100);
    MfmaOperands operands = regs.getOperands();
    operands.blgp = blgp;
    runMfma(info, operands, {});
    double expected = (blgp & 4 ? -100.0 : 100.0) +
                      (blgp & 1 ? -3.0 : 3.0) * (blgp & 2 ? -5.0 : 5.0);
    EXPECT_EQ(readD(info, regs.d, 0, 3, 7), expected) << blgp;
  }
}

TEST(MfmaTest, ScalesApplyToBlocksOf32) {
  const MfmaInfo &info = get("v_mfma_scale_f32_16x16x128_f8f6f4");
  for (unsigned code : {0u, 4u})
    for (int large : {0, 1}) {
      Registers regs;
      // A[2, k] = 1 for all k; B[k, 5] = 1.
      for (unsigned k = 0; k != 128; ++k) {
        put(regs.a, getALocation(info, code, 0, 2, k),
            getElementBits(info.a, code), encodeInteger(info.a, code, true, 1));
        put(regs.b, getBLocation(info, code, 0, 5, k),
            getElementBits(info.b, code), encodeInteger(info.b, code, true, 1));
      }
      // Lane 16 g + row scales k in [32 g, 32 g + 32). Byte 2 counts for A,
      // byte 1 for B.
      for (unsigned lane = 0; lane != 64; ++lane) {
        regs.scaleA[lane] = (127 + lane / 16 + (large ? 110 : 0)) << 16;
        regs.scaleB[lane] = (127 - (large ? 110 : 0)) << 8;
      }
      MfmaOperands operands = regs.getOperands();
      operands.cbsz = operands.blgp = code;
      operands.scaleByteA = 2;
      operands.scaleByteB = 1;
      MfmaOptions options;
      options.isOCP = true;
      runMfma(info, operands, options);
      EXPECT_EQ(readD(info, regs.d, 0, 2, 5), 32.0 * (1 + 2 + 4 + 8));
      // A NaN scale poisons its row alone.
      regs.scaleA[2 + 16] = 0xff << 16;
      runMfma(info, operands, options);
      EXPECT_TRUE(std::isnan(readD(info, regs.d, 0, 2, 5)));
      EXPECT_EQ(readD(info, regs.d, 0, 3, 5), 0.0);
    }
}

TEST(MfmaTest, PerturbChangesRoundingOnly) {
  const MfmaInfo &info = get("v_mfma_f32_32x32x16_bf16");
  std::mt19937 random(34);
  Registers regs;
  for (uint32_t *words : {regs.a, regs.b})
    for (unsigned i = 0; i != 4 * 64; ++i)
      words[i] = (random() & 0x87ff87ff) | 0x38003800;
  MfmaOperands operands = regs.getOperands();
  runMfma(info, operands, {});
  std::vector<uint32_t> plain(regs.d, regs.d + 16 * 64);
  for (uint64_t seed : {1, 2, 3, 4}) {
    MfmaOptions options;
    options.perturb = {true, seed};
    runMfma(info, operands, options);
    unsigned changed = 0;
    for (unsigned i = 0; i != plain.size(); ++i) {
      changed += plain[i] != regs.d[i];
      // 16 products below 4 in magnitude: each rounding errs by 2^-19 at most.
      ASSERT_NEAR(asFloat(plain[i]), asFloat(regs.d[i]), 16 * 0x1p-18);
    }
    EXPECT_GT(changed, 100u) << seed;
  }
}

TEST(MfmaTest, InPlace) {
  const MfmaInfo &info = get("v_mfma_f32_32x32x8_f16");
  std::mt19937 random(35);
  Registers regs, copy;
  for (unsigned i = 0; i != 2 * 64; ++i) {
    regs.a[i] = random() & 0xbfffbfff;
    regs.b[i] = random() & 0xbfffbfff;
  }
  for (unsigned i = 0; i != 16 * 64; ++i)
    regs.c[i] = asBits(float(i));
  copy = regs;
  runMfma(info, regs.getOperands(), {});
  MfmaOperands operands = copy.getOperands();
  operands.d = copy.c;
  runMfma(info, operands, {});
  for (unsigned i = 0; i != 16 * 64; ++i)
    ASSERT_EQ(regs.d[i], copy.c[i]);
}

} // namespace
