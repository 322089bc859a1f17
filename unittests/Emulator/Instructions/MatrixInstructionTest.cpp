//===- MatrixInstructionTest.cpp - Every matrix instruction ---------------===//
//
// One kernel a chip runs them all on random registers: A and B from vector
// registers, C and D in accumulation registers. Elements are small integers,
// for which the exact product is the only right answer. Layouts are those that
// the numerics tests compare with AMD's calculator.
//
//===----------------------------------------------------------------------===//

#include "../Corpus/Random.h"
#include "Harness.h"
#include "attn/Emulator/Numerics/Mfma.h"

using namespace attn::emu;

namespace {

/// A small integer as an input element.
struct Element {
  uint64_t code;
  unsigned bits;
};
Element encodeInteger(MfmaType type, bool isOCP, int value) {
  switch (type) {
  case MfmaType::F64:
    return {std::bit_cast<uint64_t>(double(value)), 64};
  case MfmaType::F32:
  case MfmaType::XF32:
    return {U(float(value)), 32};
  case MfmaType::F16:
    return {toHalf(value), 16};
  case MfmaType::BF16:
    return {toBFloat(value), 16};
  case MfmaType::I8:
    return {uint8_t(value), 8};
  case MfmaType::BF8:
    return {convertBits(value, isOCP ? llvm::APFloat::Float8E5M2()
                                     : llvm::APFloat::Float8E5M2FNUZ()),
            8};
  default: // FP8, and F8F6F4 with format code 0
    return {convertBits(value, isOCP ? llvm::APFloat::Float8E4M3FN()
                                     : llvm::APFloat::Float8E4M3FNUZ()),
            8};
  }
}

void put(uint32_t *regs, MfmaLocation at, Element element) {
  auto [code, bits] = element;
  for (unsigned bit = 0; bit < bits; bit += 8) {
    unsigned position = at.element * bits + bit;
    regs[64 * (position / 32) + at.lane] |= uint32_t((code >> bit) & 0xff)
                                            << (position % 32);
  }
}

std::string range(char file, unsigned first, unsigned count) {
  std::string start =
      file + std::string(count > 1 ? "[" : "") + std::to_string(first);
  return count > 1 ? start + ":" + std::to_string(first + count - 1) + "]"
                   : start;
}

class MatrixInstruction : public testing::TestWithParam<Chip> {};
INSTANTIATE_TEST_SUITE_P(, MatrixInstruction,
                         testing::Values(Chip::GFX942, Chip::GFX950),
                         [](const testing::TestParamInfo<Chip> &info) {
                           return getChipName(info.param).str();
                         });

TEST_P(MatrixInstruction, ExactProducts) {
  bool isGfx950 = GetParam() == Chip::GFX950;
  std::mt19937 random(17);
  struct Expectation {
    const MfmaInfo *info;
    std::vector<double> d; ///< [block][i][j]
    size_t outBase;
  };
  std::vector<Expectation> expectations;
  std::vector<uint32_t> in;
  std::string code;
  size_t outWords = 0;
  for (const MfmaInfo &info : getMfmaTable()) {
    if (!info.isOn(isGfx950))
      continue;
    // [A 8][B 8][index, scales 3][C 32] registers.
    std::vector<uint32_t> regs(51 * 64, 0);
    uint32_t *regsA = regs.data(), *regsB = regsA + 8 * 64,
             *extra = regsB + 8 * 64, *regsC = extra + 3 * 64;
    for (unsigned lane = 0; lane != 64; ++lane) {
      extra[lane] = 0x44444444; // elements 0 and 1 of each four
      extra[64 + lane] = extra[128 + lane] = 0x7f7f7f7f; // 2^0
    }
    unsigned depthA = info.k / (info.sparse ? 2 : 1);
    Expectation expectation{
        &info, std::vector<double>(info.blocks * info.m * info.n), outWords};
    for (unsigned block = 0; block != info.blocks; ++block) {
      std::vector<int> a(info.m * depthA), b(info.k * info.n);
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned k = 0; k != depthA; ++k) {
          a[i * depthA + k] = int(random() % 7) - 3;
          put(regsA, getALocation(info, 0, block, i, k),
              encodeInteger(info.a, isGfx950, a[i * depthA + k]));
        }
      for (unsigned k = 0; k != info.k; ++k)
        for (unsigned j = 0; j != info.n; ++j) {
          b[k * info.n + j] = int(random() % 7) - 3;
          put(regsB, getBLocation(info, 0, block, j, k),
              encodeInteger(info.b, isGfx950, b[k * info.n + j]));
        }
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned j = 0; j != info.n; ++j) {
          int sum = int(random() % 100) - 50;
          MfmaLocation at = getDLocation(info, block, i, j);
          put(regsC, at,
              info.isF64() ? Element{std::bit_cast<uint64_t>(double(sum)), 64}
              : info.isInteger() ? Element{uint32_t(sum), 32}
                                 : Element{U(float(sum)), 32});
          for (unsigned k = 0; k != depthA; ++k) {
            unsigned dense = info.sparse ? k / 2 * 4 + k % 2 : k;
            sum += a[i * depthA + k] * b[dense * info.n + j];
          }
          expectation.d[(block * info.m + i) * info.n + j] = sum;
        }
    }

    // Loads, the instruction, stores; bases move on by what was used.
    unsigned regCount = 0;
    auto load = [&](char file, unsigned reg) {
      code += "global_load_dword " + range(file, reg, 1) +
              ", v2, s[6:7]\n"
              "v_add_u32 v2, 0x100, v2\n";
      in.insert(in.end(), regs.begin() + 64 * regCount,
                regs.begin() + 64 * (regCount + 1));
      ++regCount;
    };
    for (unsigned reg = 0; reg != 19; ++reg)
      load('v', 16 + reg);
    for (unsigned reg = 0; reg != 32; ++reg)
      load('a', reg);
    unsigned dRegs = info.getDRegs();
    std::string d = range('a', 0, dRegs);
    code += "s_waitcnt vmcnt(0)\n" + info.name.str() + " " + d + ", " +
            range('v', 16, info.getARegs()) + ", " +
            range('v', 24, info.getBRegs()) + ", " +
            (info.sparse ? std::string("v32") : d);
    if (info.scaled)
      code += ", v33, v34";
    code += "\ns_nop 15\ns_nop 5\n";
    for (unsigned reg = 0; reg != dRegs; ++reg)
      code += "global_store_dword v3, a" + std::to_string(reg) +
              ", s[4:5]\nv_add_u32 v3, 0x100, v3\n";
    outWords += 64 * dRegs;
    expectations.push_back(std::move(expectation));
  }
  ASSERT_GT(expectations.size(), 40u);

  std::vector<uint32_t> out(outWords);
  Snippet snippet;
  snippet.code = "v_mov_b32 v2, v1\nv_mov_b32 v3, v1\n" + code;
  auto report = runSnippet(snippet, GetParam(), in, out, getCheckedOptions());
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_TRUE(report->isClean()) << describe(*report);
  for (const Expectation &expectation : expectations) {
    const MfmaInfo &info = *expectation.info;
    const uint32_t *d = out.data() + expectation.outBase;
    unsigned bad = 0;
    for (unsigned block = 0; block != info.blocks; ++block)
      for (unsigned i = 0; i != info.m; ++i)
        for (unsigned j = 0; j != info.n && bad < 3; ++j) {
          MfmaLocation at = getDLocation(info, block, i, j);
          uint32_t word = d[64 * at.element + at.lane];
          double actual;
          if (info.isF64()) {
            uint32_t pair[2] = {d[64 * 2 * at.element + at.lane],
                                d[64 * (2 * at.element + 1) + at.lane]};
            actual = D(pair);
          } else {
            actual = info.isInteger() ? double(int32_t(word)) : double(F(word));
          }
          double expected = expectation.d[(block * info.m + i) * info.n + j];
          bad += actual != expected;
          EXPECT_EQ(actual, expected) << info.name.str() << " block " << block
                                      << " [" << i << ", " << j << "]";
        }
  }
}

} // namespace
