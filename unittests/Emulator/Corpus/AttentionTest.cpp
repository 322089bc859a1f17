//===- AttentionTest.cpp - Building blocks of attention kernels -----------===//

#include "Corpus.h"
#include "Random.h"

#include <bit>
#include <cmath>
#include <numeric>

using namespace attn::emu;

namespace {

class AttentionCorpus : public CorpusTest {};
ATTN_INSTANTIATE_CORPUS(AttentionCorpus);

TEST_P(AttentionCorpus, Softmax) {
  int rows = 7;
  auto in = randomFloats<float>(rows * 256, 1);
  float inf = HUGE_VALF;
  std::fill_n(in.begin() + 2 * 256, 256, -inf); // an empty row
  std::fill_n(in.begin() + 3 * 256, 255, -inf); // one key
  std::fill_n(in.begin() + 4 * 256, 256, -1000.0f);
  std::vector<float> out(rows * 256), lse(rows);
  launch("attention.cl", "softmax")
      .grid(4)
      .block(128)
      .output(out)
      .output(lse)
      .input(in)
      .value(rows)
      .run();
  for (int row = 0; row != rows; ++row) {
    double m = -inf, sum = 0;
    for (int i = 0; i != 256; ++i)
      m = std::max(m, double(in[row * 256 + i]));
    for (int i = 0; i != 256; ++i)
      sum += m == -inf ? 0 : std::exp(in[row * 256 + i] - m);
    for (int i = 0; i != 256; ++i) {
      double expected = sum == 0 ? 0 : std::exp(in[row * 256 + i] - m) / sum;
      ASSERT_NEAR(out[row * 256 + i], expected, 2e-6) << row << ", " << i;
    }
    if (sum == 0)
      EXPECT_EQ(lse[row], -inf);
    else
      EXPECT_NEAR(lse[row], m + std::log(sum),
                  1e-6 * std::max(1.0, std::fabs(m)));
  }
  EXPECT_EQ(out[3 * 256 + 255], 1.0f);
}

TEST_P(AttentionCorpus, FP8Conversions) {
  auto in = randomFloats<float>(384, 2);
  const llvm::fltSemantics &fp8 = isGfx950() ? llvm::APFloat::Float8E4M3FN()
                                             : llvm::APFloat::Float8E4M3FNUZ();
  const llvm::fltSemantics &bf8 = isGfx950() ? llvm::APFloat::Float8E5M2()
                                             : llvm::APFloat::Float8E5M2FNUZ();
  in[0] = 0.0f, in[1] = 1.0625f /* a tie */, in[2] = 0x1p-9f, in[3] = 240.0f;
  std::vector<uint32_t> codes(192);
  std::vector<float> values(4 * 192);
  launch("attention.cl", "fp8")
      .grid(3)
      .block(64)
      .output(codes)
      .output(values)
      .input(in)
      .run();
  for (int i = 0; i != 192; ++i)
    for (int which = 0; which != 4; ++which) {
      const llvm::fltSemantics &format = which < 2 ? fp8 : bf8;
      uint64_t code = convertBits(in[2 * i + which % 2], format);
      ASSERT_EQ((codes[i] >> (8 * which)) & 0xff, code)
          << in[2 * i + which % 2];
      ASSERT_EQ(values[4 * i + which], fromBits(code, format));
    }
}

TEST_P(AttentionCorpus, PackTowardZero) {
  auto in = randomFloats<float>(384, 3);
  in[0] = 1.9999f, in[1] = -1.9999f, in[2] = 1e6f, in[3] = -0x1p-25f;
  std::vector<uint16_t> out(384);
  launch("attention.cl", "pkrtz").grid(3).block(64).output(out).input(in).run();
  for (int i = 0; i != 384; ++i) {
    llvm::APFloat expected(in[i]);
    bool loses;
    expected.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmTowardZero,
                     &loses);
    ASSERT_EQ(out[i], expected.bitcastToAPInt().getZExtValue()) << in[i];
  }
}

TEST_P(AttentionCorpus, F6_BoundedBuffer) {
  for (int bytes : {0, 4, 200, 256}) {
    std::vector<int32_t> in(64), out(64, -1);
    std::iota(in.begin(), in.end(), 1);
    launch("attention.cl", "bounded")
        .grid(1)
        .block(64)
        .inout(out)
        .inout(in)
        .value(bytes)
        .run();
    for (int i = 0; i != 64; ++i)
      ASSERT_EQ(out[i], 4 * i < bytes ? in[i] + 1000 : -1) << bytes;
  }
}

TEST_P(AttentionCorpus, DMA) {
  auto in = randomInts<int32_t>(256, 4);
  std::vector<int32_t> out(256);
  launch("attention.cl", "dma").grid(1).block(64).output(out).input(in).run();
  for (int i = 0; i != 256; ++i)
    ASSERT_EQ(out[i], in[i / 64 * 64 + ((i % 64) ^ (i / 64))]) << i;
}

TEST_P(AttentionCorpus, DMAWide) {
  if (!isGfx950())
    GTEST_SKIP() << "16 bytes a lane are gfx950's";
  auto in = randomInts<int32_t>(256, 5);
  std::vector<int32_t> out(256);
  launch("attention.cl", "dmaWide")
      .grid(1)
      .block(64)
      .output(out)
      .input(in)
      .run();
  for (int i = 0; i != 256; ++i)
    ASSERT_EQ(out[i], in[4 * (63 - i / 4) + i % 4]) << i;
}

TEST_P(AttentionCorpus, DotProducts) {
  auto a = randomInts<int32_t>(64, 6), b = randomInts<int32_t>(64, 7);
  std::vector<int32_t> out(256);
  launch("attention.cl", "dots")
      .grid(1)
      .block(64)
      .output(out)
      .input(a)
      .input(b)
      .run();
  for (int i = 0; i != 64; ++i) {
    int32_t s4 = 7, s8 = -3, s2 = 1;
    uint32_t u4 = 7;
    for (int e = 0; e != 4; ++e) {
      s4 += int8_t(a[i] >> (8 * e)) * int8_t(b[i] >> (8 * e));
      u4 += uint32_t(uint8_t(a[i] >> (8 * e))) * uint8_t(b[i] >> (8 * e));
    }
    for (int e = 0; e != 8; ++e) {
      auto nibble = [&](int32_t word) {
        return int8_t(uint32_t(word) >> (4 * e) << 4) >> 4;
      };
      s8 += nibble(a[i]) * nibble(b[i]);
    }
    int64_t wide = s2;
    for (int e = 0; e != 2; ++e)
      wide += int64_t(int16_t(a[i] >> (16 * e))) * int16_t(b[i] >> (16 * e));
    ASSERT_EQ(out[4 * i], s4);
    ASSERT_EQ(uint32_t(out[4 * i + 1]), u4);
    ASSERT_EQ(out[4 * i + 2], s8);
    ASSERT_EQ(out[4 * i + 3], int32_t(wide));
  }
}

TEST_P(AttentionCorpus, SpecialFunctions) {
  std::vector<float> in(64);
  for (int i = 0; i != 64; ++i)
    in[i] = float(i - 30) * 0.37f + 0.01f;
  std::vector<float> out(8 * 64);
  launch("attention.cl", "specials")
      .grid(1)
      .block(64)
      .output(out)
      .input(in)
      .run();
  for (int i = 0; i != 64; ++i) {
    double x = in[i], expected[8] = {std::exp2(x),
                                     std::log2(std::fabs(x)),
                                     1 / x,
                                     1 / std::sqrt(std::fabs(x)),
                                     std::sin(2 * M_PI * x),
                                     std::clamp(x, -1.0, 1.0),
                                     std::ldexp(x, i - 32),
                                     x - std::floor(x)};
    // One place is what the guide promises; sine has an absolute bound.
    for (int k = 0; k != 8; ++k)
      ASSERT_NEAR(out[8 * i + k], expected[k],
                  k == 4 ? 1e-6 : std::fabs(expected[k]) * 0x1p-23)
          << "function " << k << " of " << x;
  }
}

TEST_P(AttentionCorpus, Flash) {
  struct Shape {
    int sq, skv, causal;
  };
  for (auto [sq, skv, causal] : {Shape{128, 64, 0}, Shape{100, 77, 0},
                                 Shape{130, 130, 1}, Shape{40, 20, 1}}) {
    SCOPED_TRACE(std::to_string(sq) + " x " + std::to_string(skv));
    constexpr int head = 64;
    float scale = 0.125f;
    auto codes = [](size_t count, uint32_t seed) {
      std::vector<uint16_t> result;
      for (float number : randomFloats<float>(count, seed))
        result.push_back(toHalf(number / 8));
      return result;
    };
    auto q = codes(sq * head, 9), k = codes(skv * head, 10),
         v = codes(skv * head, 11);
    std::vector<uint16_t> o(sq * head);
    std::vector<float> lse(sq);
    launch("flash.cl", "flash")
        .grid((sq + 127) / 128)
        .block(256)
        .output(o)
        .output(lse)
        .input(q)
        .input(k)
        .input(v)
        .value(sq)
        .value(skv)
        .value(scale)
        .value(causal)
        .run();
    for (int i = 0; i != sq; ++i) {
      std::vector<double> s(skv);
      double m = -HUGE_VAL, sum = 0;
      for (int j = 0; j != skv; ++j) {
        for (int d = 0; d != head; ++d)
          s[j] += double(fromHalf(q[i * head + d])) * fromHalf(k[j * head + d]);
        s[j] = causal && j > i + skv - sq ? -HUGE_VAL : s[j] * scale;
        m = std::max(m, s[j]);
      }
      for (double &x : s)
        sum += x = m == -HUGE_VAL ? 0 : std::exp(x - m);
      if (sum == 0)
        ASSERT_EQ(lse[i], -HUGE_VALF) << i;
      else
        ASSERT_NEAR(lse[i], m + std::log(sum), 2e-5) << i;
      for (int d = 0; d != head; ++d) {
        double expected = 0, magnitude = 0;
        for (int j = 0; j != skv; ++j) {
          double value = fromHalf(v[j * head + d]);
          expected += sum == 0 ? 0 : s[j] / sum * value;
          magnitude = std::max(magnitude, std::fabs(value));
        }
        ASSERT_NEAR(fromHalf(o[i * head + d]), expected,
                    std::fabs(expected) * 0x1p-10 + magnitude * 0x1p-11)
            << i << ", " << d;
      }
    }
  }
}

/// Tolerances must not depend on what the ISA leaves open: the last place of
/// special functions and the order of matrix accumulation.
TEST_P(AttentionCorpus, PerturbedSoftmaxStaysInTolerance) {
  auto in = randomFloats<float>(4 * 256, 8);
  unsigned changed = 0;
  std::vector<float> plain;
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    std::vector<float> out(4 * 256), lse(4);
    LaunchOptions options;
    options.perturbSeed = seed;
    auto report = launch("attention.cl", "softmax")
                      .grid(2)
                      .block(128)
                      .output(out)
                      .output(lse)
                      .input(in)
                      .value(4)
                      .runOnce(options);
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    if (seed == 0)
      plain = out;
    for (int row = 0; row != 4; ++row) {
      double m = -HUGE_VAL, sum = 0;
      for (int i = 0; i != 256; ++i)
        m = std::max(m, double(in[row * 256 + i]));
      for (int i = 0; i != 256; ++i)
        sum += std::exp(in[row * 256 + i] - m);
      for (int i = 0; i != 256; ++i) {
        ASSERT_NEAR(out[row * 256 + i], std::exp(in[row * 256 + i] - m) / sum,
                    2e-6);
        changed += out[row * 256 + i] != plain[row * 256 + i];
      }
      ASSERT_NEAR(lse[row], m + std::log(sum), 1e-6 * std::max(1.0, m));
    }
  }
  // The mode does something.
  EXPECT_GT(changed, 100u);
}

} // namespace
