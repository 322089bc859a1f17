//===- VectorTest.cpp - Element-wise kernels ------------------------------===//

#include "Corpus.h"
#include "Random.h"

#include <bit>
#include <cmath>

using namespace attn::emu;

namespace {

class VectorCorpus : public CorpusTest {};
ATTN_INSTANTIATE_CORPUS(VectorCorpus);

constexpr int numItems = 192;

/// Launches `kernel(out, a, b)` over numItems work-items.
template <typename T>
std::vector<T> runBinary(Launcher launcher, const std::vector<T> &a,
                         const std::vector<T> &b, int perItem) {
  std::vector<T> out(numItems * perItem);
  launcher.grid(3).block(64).output(out).input(a).input(b).run();
  return out;
}

TEST_P(VectorCorpus, Saxpy) {
  // A ragged end: 3 * 128 work-items for 300 elements.
  auto x = randomFloats<float>(300, 1), y = randomFloats<float>(300, 2);
  std::vector<float> expected(300);
  for (int i = 0; i != 300; ++i)
    expected[i] = std::fma(1.25f, x[i], y[i]);
  launch("vector.cl", "saxpy")
      .grid(3)
      .block(128)
      .inout(y)
      .input(x)
      .value(1.25f)
      .value(300)
      .run();
  EXPECT_EQ(y, expected);
}

TEST_P(VectorCorpus, Int32) {
  auto a = randomInts<int32_t>(numItems, 3),
       b = randomInts<int32_t>(numItems, 4);
  a[0] = 0, b[0] = 0, a[1] = INT32_MIN, b[1] = -1, a[2] = -1, b[2] = 1;
  auto out = runBinary(launch("vector.cl", "int32"), a, b, 16);
  for (int i = 0; i != numItems; ++i) {
    int64_t x = a[i], y = b[i];
    uint32_t ux = a[i], uy = b[i];
    uint32_t expected[16] = {uint32_t(x * y),
                             uint32_t(uint64_t(x * y) >> 32),
                             uint32_t(uint64_t(ux) * uy >> 32),
                             y ? uint32_t(x / (int64_t(b[i]) | 1)) : 0,
                             uint32_t(x % ((y & 0xffff) + 1)),
                             ux / ((uy >> 7) + 1),
                             ux % ((uy >> 3) + 1),
                             ux << (uy & 31),
                             uint32_t(a[i] >> (uy & 31)),
                             ux >> (uy & 31),
                             uint32_t(std::countl_zero(ux)),
                             uint32_t(std::popcount(ux)),
                             uint32_t(std::countr_zero(ux)),
                             uint32_t(std::min(a[i], b[i])),
                             std::max(ux, uy),
                             std::rotl(ux, 13) ^ ~uy};
    for (int k = 0; k != 16; ++k)
      ASSERT_EQ(uint32_t(out[16 * i + k]), expected[k])
          << "operation " << k << " of " << a[i] << ", " << b[i];
  }
}

TEST_P(VectorCorpus, Int64) {
  auto a = randomInts<int64_t>(numItems, 5),
       b = randomInts<int64_t>(numItems, 6);
  for (int i = 0; i != numItems; i += 2)
    b[i] >>= 40;
  b[0] = 0, a[1] = 0, a[2] = 1, b[2] = INT64_MAX;
  auto out = runBinary(launch("vector.cl", "int64"), a, b, 10);
  for (int i = 0; i != numItems; ++i) {
    int64_t x = a[i], y = b[i];
    uint64_t ux = x, uy = y;
    uint64_t expected[10] = {ux + uy,
                             ux - uy,
                             ux * uy,
                             uint64_t(x / (y | 1)),
                             ux % (uy | 1),
                             ux << (y & 63),
                             uint64_t(x >> (y & 63)),
                             ux >> (y & 63),
                             uint64_t(std::min(x, y)),
                             ux > uy};
    for (int k = 0; k != 10; ++k)
      ASSERT_EQ(uint64_t(out[10 * i + k]), expected[k])
          << "operation " << k << " of " << x << ", " << y;
  }
}

TEST_P(VectorCorpus, Int16) {
  auto a = randomInts<int16_t>(numItems, 7),
       b = randomInts<int16_t>(numItems, 8);
  auto out = runBinary(launch("vector.cl", "shorts"), a, b, 8);
  for (int i = 0; i != numItems; ++i) {
    int x = a[i], y = b[i];
    uint16_t ux = a[i], uy = b[i];
    uint16_t expected[8] = {uint16_t(x + y),          uint16_t(x * y),
                            uint16_t(x >> (y & 15)),  uint16_t(x << (y & 15)),
                            std::max(ux, uy),         uint16_t(std::min(x, y)),
                            uint16_t(ux >> (y & 15)), uint16_t(x - y)};
    for (int k = 0; k != 8; ++k)
      ASSERT_EQ(uint16_t(out[8 * i + k]), expected[k]) << "operation " << k;
  }
}

TEST_P(VectorCorpus, Packed16) {
  auto a = randomInts<int16_t>(2 * numItems, 9),
       b = randomInts<int16_t>(2 * numItems, 10);
  auto out = runBinary(launch("vector.cl", "packed16"), a, b, 8);
  for (int i = 0; i != 2 * numItems; ++i) {
    int x = a[i], y = b[i];
    int16_t expected[4] = {int16_t(x + y), int16_t(x * y + x),
                           int16_t(std::max(x, y)), int16_t(x >> (y & 15))};
    for (int k = 0; k != 4; ++k)
      ASSERT_EQ(out[8 * (i / 2) + 2 * k + i % 2], expected[k])
          << "operation " << k;
  }
}

TEST_P(VectorCorpus, Float32) {
  auto a = randomFloats<float>(numItems, 11),
       b = randomFloats<float>(numItems, 12);
  a[0] = 0x1p-140f, b[0] = 0.25f; // denormals are kept by default
  a[1] = 2.5f, a[2] = -2.5f, a[3] = 3.5f;
  b[4] = 0x1p-130f, a[5] = 0x1p100f, b[5] = 0x1p-20f;
  auto out = runBinary(launch("vector.cl", "float32"), a, b, 16);
  for (int i = 0; i != numItems; ++i) {
    float x = a[i], y = b[i];
    bool fits = std::fabs(x) < 0x1p31f;
    float expected[16] = {x + y,
                          x - y,
                          x * y,
                          x / y,
                          std::fma(x, y, 1.5f),
                          std::sqrt(std::fabs(x)),
                          std::floor(x),
                          std::ceil(x),
                          std::trunc(x),
                          std::nearbyint(x),
                          std::fmin(x, y),
                          std::fmax(x, y),
                          std::copysign(x, y),
                          fits ? float(int(x)) : out[16 * i + 13],
                          fits ? float(unsigned(std::fabs(x)))
                               : out[16 * i + 14],
                          x < y ? -x : y};
    for (int k = 0; k != 16; ++k)
      ASSERT_EQ(std::bit_cast<uint32_t>(out[16 * i + k]),
                std::bit_cast<uint32_t>(expected[k]))
          << "operation " << k << " of " << x << ", " << y << ": "
          << out[16 * i + k] << ", not " << expected[k];
  }
}

TEST_P(VectorCorpus, Float64) {
  auto a = randomFloats<double>(numItems, 13),
       b = randomFloats<double>(numItems, 14);
  a[0] = 0x1p-1050, b[0] = 3.0;
  auto out = runBinary(launch("vector.cl", "float64"), a, b, 10);
  for (int i = 0; i != numItems; ++i) {
    double x = a[i], y = b[i];
    double expected[10] = {x + y,
                           x * y,
                           x / y,
                           std::fma(x, y, 0.25),
                           std::sqrt(std::fabs(x)),
                           std::floor(x),
                           std::fmin(x, y),
                           double(float(x)),
                           double(int(x)),
                           double(int64_t(x))};
    for (int k = 0; k != 10; ++k)
      ASSERT_EQ(out[10 * i + k], expected[k])
          << "operation " << k << " of " << x << ", " << y;
  }
}

TEST_P(VectorCorpus, Halves) {
  auto x = randomFloats<float>(numItems, 15),
       y = randomFloats<float>(numItems, 16);
  std::vector<uint16_t> a(numItems), b(numItems);
  for (int i = 0; i != numItems; ++i) {
    a[i] = toHalf(x[i]), b[i] = toHalf(y[i]);
    x[i] = fromHalf(a[i]), y[i] = fromHalf(b[i]);
  }
  auto out = runBinary(launch("vector.cl", "halves"), a, b, 8);
  for (int i = 0; i != numItems; ++i) {
    uint16_t expected[8] = {toHalf(x[i] + y[i]),
                            toHalf(x[i] * y[i]),
                            toHalf(double(x[i]) * y[i] + x[i]),
                            toHalf(double(x[i]) / y[i]),
                            toHalf(std::sqrt(double(std::fabs(x[i])))),
                            a[i],
                            toHalf(x[i] * 1.0009765625f),
                            x[i] < y[i] ? a[i] : b[i]};
    for (int k = 0; k != 8; ++k) {
      // OpenCL lets half division err by a place.
      int tolerance = k == 3 ? 1 : 0;
      ASSERT_LE(std::abs(out[8 * i + k] - expected[k]), tolerance)
          << "operation " << k << " of " << x[i] << ", " << y[i];
    }
  }
}

TEST_P(VectorCorpus, PackedHalf) {
  auto x = randomFloats<float>(2 * numItems, 17),
       y = randomFloats<float>(2 * numItems, 18);
  std::vector<uint16_t> a(2 * numItems), b(2 * numItems);
  for (int i = 0; i != 2 * numItems; ++i) {
    a[i] = toHalf(x[i]), b[i] = toHalf(y[i]);
    x[i] = fromHalf(a[i]), y[i] = fromHalf(b[i]);
  }
  auto out = runBinary(launch("vector.cl", "packedHalf"), a, b, 8);
  for (int i = 0; i != 2 * numItems; ++i) {
    int other = i ^ 1;
    uint16_t expected[4] = {toHalf(x[i] + y[i]), toHalf(x[i] * y[i]),
                            toHalf(double(x[i]) * y[other] - x[i]),
                            toHalf(x[other] - y[i])};
    for (int k = 0; k != 4; ++k)
      ASSERT_EQ(out[8 * (i / 2) + 2 * k + i % 2], expected[k])
          << "operation " << k;
  }
}

TEST_P(VectorCorpus, PackedFloat) {
  auto a = randomFloats<float>(2 * numItems, 19),
       b = randomFloats<float>(2 * numItems, 20);
  auto out = runBinary(launch("vector.cl", "packedFloat"), a, b, 8);
  for (int i = 0; i != numItems; ++i) {
    float x0 = a[2 * i], x1 = a[2 * i + 1], y0 = b[2 * i], y1 = b[2 * i + 1];
    float expected[8] = {x0 + y0,
                         x1 + y1,
                         x0 * y1,
                         x1 * y0,
                         std::fma(x0, y0, -x1),
                         std::fma(x1, y1, -x0),
                         x0 + y1,
                         x0 - y0};
    for (int k = 0; k != 8; ++k)
      ASSERT_EQ(out[8 * i + k], expected[k]) << "operation " << k;
  }
}

TEST_P(VectorCorpus, BFloat) {
  auto a = randomFloats<float>(numItems, 21);
  a[0] = std::bit_cast<float>(0x3f808000u); // ties
  a[1] = std::bit_cast<float>(0x3f818000u);
  a[2] = HUGE_VALF, a[3] = std::bit_cast<float>(0x7f7fffffu);
  std::vector<uint16_t> out(2 * numItems);
  launch("vector.cl", "bfloat").grid(3).block(64).output(out).input(a).run();
  for (int i = 0; i != numItems; ++i) {
    uint16_t x = toBFloat(a[i]);
    ASSERT_EQ(out[2 * i], x) << a[i];
    float wide = std::bit_cast<float>(uint32_t(x) << 16);
    ASSERT_EQ(out[2 * i + 1], toBFloat(wide * 3.0f)) << a[i];
  }
}

TEST_P(VectorCorpus, Widths) {
  constexpr int n = 150;
  auto c = randomInts<int8_t>(3 * n, 22);
  auto s = randomInts<int16_t>(2 * n, 23);
  auto w = randomInts<int32_t>(3 * n, 24);
  auto l = randomInts<int64_t>(n, 25);
  auto expectedC = c;
  auto expectedS = s;
  auto expectedW = w;
  auto expectedL = l;
  for (int i = 0; i != n; ++i) {
    int c0 = c[3 * i], c2 = uint8_t(c[3 * i + 2]);
    int s0 = s[2 * i], s1 = uint16_t(s[2 * i + 1]);
    expectedC[3 * i + 1] = int8_t(c0 + c2);
    expectedS[2 * i] = int16_t(s1 - s0);
    expectedW[3 * i + 1] = w[3 * i] ^ w[3 * i + 2];
    expectedL[i] = int64_t(uint64_t(l[i]) * 3 + c0 * 1000000007l + s1);
  }
  launch("vector.cl", "widths")
      .grid(3)
      .block(64)
      .inout(c)
      .inout(s)
      .inout(w)
      .inout(l)
      .value(n)
      .run();
  EXPECT_EQ(c, expectedC);
  EXPECT_EQ(s, expectedS);
  EXPECT_EQ(w, expectedW);
  EXPECT_EQ(l, expectedL);
}

TEST_P(VectorCorpus, Wide) {
  auto in = randomInts<int32_t>(4 * numItems, 26),
       in2 = randomInts<int32_t>(2 * numItems, 27);
  std::vector<int32_t> out(4 * numItems), out3(4 * numItems, 77);
  launch("vector.cl", "wide")
      .grid(3)
      .block(64)
      .output(out)
      .input(in)
      .inout(out3)
      .input(in2)
      .run();
  for (int i = 0; i != numItems; ++i) {
    const int32_t *x = &in[4 * i], *y = &in2[2 * i];
    for (int k = 0; k != 4; ++k)
      ASSERT_EQ(uint32_t(out[4 * i + k]),
                uint32_t(x[3 - k]) + uint32_t(y[k & 1]));
    for (int k = 0; k != 3; ++k)
      ASSERT_EQ(uint32_t(out3[4 * i + k]),
                uint32_t(x[k]) - uint32_t(y[k == 2 ? 1 : 0]));
  }
}

TEST_P(VectorCorpus, Arguments) {
  struct Pair {
    int first;
    float second;
    int16_t third[3];
  } pair = {100000, 12.75f, {-5, 6, 7}};
  struct alignas(16) Vec {
    float x, y, z, padding;
  } vec = {1, 2, 3.5f, 0};
  const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  std::vector<int32_t> out(numItems);
  launch("vector.cl", "arguments")
      .grid(3)
      .block(64)
      .output(out)
      .value(pair)
      .value(int8_t(-3))
      .value(int64_t(-9) << 32)
      .value(vec)
      .run();
  for (int i = 0; i != numItems; ++i)
    ASSERT_EQ(out[i],
              100000 + 12 + pair.third[i % 3] - 3 - 9 + 3 + table[i & 7]);
}

} // namespace
