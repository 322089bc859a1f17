//===- MatrixTest.cpp - Products by matrix instructions -------------------===//

#include "Corpus.h"
#include "Random.h"

#include <cmath>

using namespace attn::emu;

namespace {

class MatrixCorpus : public CorpusTest {
protected:
  /// Runs a one-wave kernel(d, a, b, depth) on small integers, for which every
  /// order of summation gives the exact product.
  template <typename D, typename Element, typename Encode>
  void checkGemm(const char *kernel, int m, int n, int depth, Encode encode) {
    std::mt19937 random(42);
    std::vector<int> a(m * depth), b(depth * n);
    std::vector<Element> codesA, codesB;
    for (int &value : a)
      codesA.push_back(encode(value = int(random() % 9) - 4));
    for (int &value : b)
      codesB.push_back(encode(value = int(random() % 9) - 4));
    std::vector<D> d(m * n);
    launch("matrix.cl", kernel)
        .grid(1)
        .block(64)
        .output(d)
        .input(codesA)
        .input(codesB)
        .value(depth)
        .run();
    for (int i = 0; i != m; ++i)
      for (int j = 0; j != n; ++j) {
        int sum = 0;
        for (int k = 0; k != depth; ++k)
          sum += a[i * depth + k] * b[k * n + j];
        ASSERT_EQ(d[i * n + j], D(sum))
            << kernel << " [" << i << ", " << j << "]";
      }
  }
};
ATTN_INSTANTIATE_CORPUS(MatrixCorpus);

TEST_P(MatrixCorpus, Gemm) {
  checkGemm<float, uint16_t>("gemmF16_32x32", 32, 32, 48, toHalf);
  checkGemm<float, uint16_t>("gemmBF16_16x16", 16, 16, 64, toBFloat);
  checkGemm<float, float>("gemmF32_16x16", 16, 16, 20, [](int x) { return x; });
  checkGemm<double, double>("gemmF64_16x16", 16, 16, 20,
                            [](int x) { return x; });
  checkGemm<int32_t, int8_t>("gemmI8_32x32", 32, 32, 64,
                             [](int x) { return x; });
  bool isOCP = isGfx950();
  checkGemm<float, uint8_t>("gemmFP8_16x16", 16, 16, 96, [&](int x) {
    return convertBits(x, isOCP ? llvm::APFloat::Float8E4M3FN()
                                : llvm::APFloat::Float8E4M3FNUZ());
  });
}

TEST_P(MatrixCorpus, GemmDoubleDepth) {
  if (!isGfx950())
    GTEST_SKIP() << "the double-depth forms are gfx950's";
  checkGemm<float, uint16_t>("gemmF16_32x32x16", 32, 32, 64, toHalf);
  checkGemm<float, uint16_t>("gemmBF16_16x16x32", 16, 16, 64, toBFloat);
}

TEST_P(MatrixCorpus, GemmTiled) {
  int m = 128, n = 64, depth = 48;
  std::mt19937 random(7);
  std::vector<int> a(m * depth), b(depth * n);
  std::vector<uint16_t> codesA, codesB;
  for (int &value : a)
    codesA.push_back(toHalf(value = int(random() % 9) - 4));
  for (int &value : b)
    codesB.push_back(toHalf(value = int(random() % 9) - 4));
  std::vector<float> d(m * n);
  launch("matrix.cl", "gemmTiled")
      .grid(1, 2)
      .block(256)
      .output(d)
      .input(codesA)
      .input(codesB)
      .value(m)
      .value(n)
      .value(depth)
      .run();
  for (int i = 0; i != m; ++i)
    for (int j = 0; j != n; ++j) {
      int sum = 0;
      for (int k = 0; k != depth; ++k)
        sum += a[i * depth + k] * b[k * n + j];
      ASSERT_EQ(d[i * n + j], float(sum)) << i << ", " << j;
    }
}

TEST_P(MatrixCorpus, BroadcastBlock) {
  std::mt19937 random(8);
  std::vector<int> a(256), b(256);
  std::vector<uint16_t> codesA, codesB;
  for (int &value : a)
    codesA.push_back(toHalf(value = int(random() % 9) - 4));
  for (int &value : b)
    codesB.push_back(toHalf(value = int(random() % 9) - 4));
  std::vector<float> d(16 * 64);
  launch("matrix.cl", "broadcastF16")
      .grid(1)
      .block(64)
      .output(d)
      .input(codesA)
      .input(codesB)
      .run();
  // D[block, i, j] is register 4 * block + i % 4 of lane 16 * (i / 4) + j.
  // A's block 1 serves all four.
  for (int block = 0; block != 4; ++block)
    for (int i = 0; i != 16; ++i)
      for (int j = 0; j != 16; ++j) {
        int sum = 0;
        for (int k = 0; k != 4; ++k)
          sum += a[(16 * 1 + i) * 4 + k] * b[(16 * block + j) * 4 + k];
        ASSERT_EQ(d[(4 * block + i % 4) * 64 + 16 * (i / 4) + j], float(sum));
      }
}

TEST_P(MatrixCorpus, Sparse) {
  std::mt19937 random(9);
  std::vector<uint16_t> a(256), b(512);
  std::vector<int32_t> index(64);
  std::vector<int> dense(16 * 32, 0), wideB(32 * 16);
  for (int lane = 0; lane != 64; ++lane) {
    int i = lane % 16, group = lane / 16;
    for (int pair = 0; pair != 2; ++pair) {
      int first = random() % 3, second = first + 1 + random() % (3 - first);
      index[lane] |= (first | second << 2) << (4 * pair);
      for (int which = 0; which != 2; ++which) {
        int value = int(random() % 9) - 4;
        a[lane * 4 + 2 * pair + which] = toHalf(value);
        dense[i * 32 + 8 * group + 4 * pair + (which ? second : first)] = value;
      }
    }
    for (int e = 0; e != 8; ++e) {
      int value = int(random() % 9) - 4;
      b[lane * 8 + e] = toHalf(value);
      wideB[(8 * group + e) * 16 + i] = value;
    }
  }
  std::vector<float> d(4 * 64);
  launch("matrix.cl", "sparseF16")
      .grid(1)
      .block(64)
      .output(d)
      .input(a)
      .input(b)
      .input(index)
      .run();
  for (int i = 0; i != 16; ++i)
    for (int j = 0; j != 16; ++j) {
      int sum = 1;
      for (int k = 0; k != 32; ++k)
        sum += dense[i * 32 + k] * wideB[k * 16 + j];
      ASSERT_EQ(d[(i % 4) * 64 + 16 * (i / 4) + j], float(sum))
          << i << ", " << j;
    }
}

TEST_P(MatrixCorpus, MXFP4) {
  if (!isGfx950())
    GTEST_SKIP() << "scaled forms are gfx950's";
  std::mt19937 random(10);
  auto a = randomInts<uint8_t>(16 * 64, 11),
       b = randomInts<uint8_t>(16 * 64, 12);
  std::vector<uint8_t> scaleA(64), scaleB(64);
  for (int i = 0; i != 64; ++i) {
    scaleA[i] = 125 + random() % 5;
    scaleB[i] = 125 + random() % 5;
  }
  std::vector<float> d(256);
  launch("matrix.cl", "gemmMXFP4")
      .grid(1)
      .block(64)
      .output(d)
      .input(a)
      .input(b)
      .input(scaleA)
      .input(scaleB)
      .run();
  auto value = [](const std::vector<uint8_t> &codes,
                  const std::vector<uint8_t> &scales, int row, int k) {
    uint8_t code = (codes[row * 64 + k / 2] >> (4 * (k & 1))) & 15;
    return std::ldexp(fromBits(code, llvm::APFloat::Float4E2M1FN()),
                      scales[row * 4 + k / 32] - 127);
  };
  for (int i = 0; i != 16; ++i)
    for (int j = 0; j != 16; ++j) {
      double sum = 0;
      for (int k = 0; k != 128; ++k)
        sum += value(a, scaleA, i, k) * value(b, scaleB, j, k);
      ASSERT_EQ(double(d[i * 16 + j]), sum) << i << ", " << j;
    }
}

TEST_P(MatrixCorpus, TransposedRead) {
  if (!isGfx950())
    GTEST_SKIP() << "ds_read_b64_tr_b16 is gfx950's";
  auto in = randomInts<int16_t>(256, 13);
  std::vector<int16_t> out(256);
  launch("matrix.cl", "transposedRead")
      .grid(1)
      .block(64)
      .output(out)
      .input(in)
      .run();
  // In each group of 16 lanes: element r of lane c is element c % 4 of what
  // lane 4 r + c / 4 of the group read.
  for (int lane = 0; lane != 64; ++lane)
    for (int r = 0; r != 4; ++r) {
      int group = lane / 16 * 16, c = lane % 16;
      ASSERT_EQ(out[lane * 4 + r], in[(group + 4 * r + c / 4) * 4 + c % 4]);
    }
}

TEST_P(MatrixCorpus, LaneSwaps) {
  if (!isGfx950())
    GTEST_SKIP() << "v_permlane*_swap is gfx950's";
  std::vector<int32_t> in(128), out(256);
  for (int i = 0; i != 128; ++i)
    in[i] = i;
  launch("matrix.cl", "laneSwaps")
      .grid(1)
      .block(64)
      .output(out)
      .input(in)
      .run();
  for (int lane = 0; lane != 64; ++lane) {
    // The upper half of the first trades with the lower half of the second.
    EXPECT_EQ(out[4 * lane], lane < 32 ? lane : 64 + lane - 32);
    EXPECT_EQ(out[4 * lane + 1], lane < 32 ? lane + 32 : 64 + lane);
    // Odd rows of 16 of the first trade with even rows of the second.
    bool odd = lane / 16 % 2;
    EXPECT_EQ(out[4 * lane + 2], odd ? 64 + lane - 16 : lane);
    EXPECT_EQ(out[4 * lane + 3], odd ? 64 + lane : lane + 16);
  }
}

TEST_P(MatrixCorpus, PerturbedProductStaysInTolerance) {
  int depth = 64;
  auto numbers = randomFloats<float>(2 * 32 * depth, 14);
  std::vector<uint16_t> a, b;
  for (int i = 0; i != 32 * depth; ++i) {
    a.push_back(toHalf(numbers[i]));
    b.push_back(toHalf(numbers[32 * depth + i]));
  }
  std::vector<float> plain;
  unsigned changed = 0;
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<float> d(32 * 32);
    LaunchOptions options;
    options.perturbSeed = seed;
    auto report = launch("matrix.cl", "gemmF16_32x32")
                      .grid(1)
                      .block(64)
                      .output(d)
                      .input(a)
                      .input(b)
                      .value(depth)
                      .runOnce(options);
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    if (seed == 0)
      plain = d;
    for (int i = 0; i != 32; ++i)
      for (int j = 0; j != 32; ++j) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k != depth; ++k) {
          double product =
              double(fromHalf(a[i * depth + k])) * fromHalf(b[k * 32 + j]);
          sum += product;
          magnitude += std::fabs(product);
        }
        // One f32 rounding a product.
        ASSERT_NEAR(d[i * 32 + j], sum, depth * 0x1p-24 * magnitude);
        changed += d[i * 32 + j] != plain[i * 32 + j];
      }
  }
  EXPECT_GT(changed, 100u);
}

} // namespace
