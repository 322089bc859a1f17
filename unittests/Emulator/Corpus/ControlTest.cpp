//===- ControlTest.cpp - Divergence, calls, scratch, atomics --------------===//

#include "Corpus.h"
#include "Random.h"

#include <numeric>

using namespace attn::emu;

namespace {

class ControlCorpus : public CorpusTest {
protected:
  /// out[i] = kernel(in[i]) over 3 groups of 64.
  void check(const char *kernel, const std::vector<int32_t> &in,
             int (*reference)(int)) {
    std::vector<int32_t> out(in.size());
    launch("control.cl", kernel)
        .grid(in.size() / 64)
        .block(64)
        .output(out)
        .input(in)
        .run();
    for (size_t i = 0; i != in.size(); ++i)
      ASSERT_EQ(out[i], reference(in[i])) << kernel << " of " << in[i];
  }
};
ATTN_INSTANTIATE_CORPUS(ControlCorpus);

TEST_P(ControlCorpus, Collatz) {
  std::vector<int32_t> in(192);
  std::iota(in.begin(), in.end(), 1);
  check("collatz", in, [](int start) {
    uint32_t x = start;
    int steps = 0;
    for (; x != 1; ++steps)
      x = x & 1 ? 3 * x + 1 : x / 2;
    return steps;
  });
}

TEST_P(ControlCorpus, NestedLoops) {
  auto in = randomInts<int32_t>(192, 1);
  for (int32_t &x : in)
    x = uint32_t(x) % 1000;
  check("nested", in, [](int x) {
    int sum = 0;
    for (int i = 0; i < (x & 15); ++i) {
      if ((i + x) % 3 == 0)
        continue;
      for (int j = i; j < 10; ++j) {
        if (j == (x & 7))
          break;
        sum += i * j + x;
      }
      if (sum > 100000)
        break;
    }
    return sum;
  });
}

TEST_P(ControlCorpus, Switch) {
  auto in = randomInts<int32_t>(192, 2);
  for (int32_t &x : in)
    x >>= 8;
  check("switches", in, [](int x) {
    switch (x & 15) {
    case 0:
      return x + 7;
    case 1:
      return (x * 3) ^ 0x55;
    case 2:
      return x ^ 0x55;
    case 3:
      return x - 1;
    case 5:
      return -x;
    case 8:
      return int(uint32_t(x) << 2);
    case 9:
      return (x >> 1) + 1000;
    case 10:
      return x + 1000;
    case 15:
      return 42;
    default:
      return ~x;
    }
  });
}

int fibonacci(int n) {
  int a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    int c = a + b;
    a = b;
    b = c;
  }
  return a;
}

TEST_P(ControlCorpus, Calls) {
  auto in = randomInts<int32_t>(192, 3);
  for (int32_t &x : in)
    x = uint32_t(x) % 5000;
  check("calls", in, [](int start) {
    int state[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
    for (int i = 0; i < 5; ++i) {
      int x = start + i;
      state[x & 7] += x;
      sum += state[(x + 1) & 7] + fibonacci(x & 15);
    }
    return sum;
  });
}

TEST_P(ControlCorpus, Scratch) {
  auto in = randomInts<int32_t>(192, 4);
  for (int32_t &x : in)
    x = uint32_t(x) % 5000;
  check("scratch", in, [](int value) {
    int words[32], x = value & 31, sum = 0;
    int16_t halves[16];
    for (int i = 0; i < 32; ++i)
      words[i] = value * (i + 1);
    for (int i = 0; i < 16; ++i)
      halves[i] = int16_t(value + i * i);
    for (int i = 0; i < 8; ++i) {
      sum += words[x] - halves[x & 15];
      words[(x * 7) & 31] = sum;
      x = (x * 5 + 3) & 31;
    }
    return sum;
  });
}

TEST_P(ControlCorpus, GlobalAtomics) {
  constexpr int n = 320;
  std::vector<int32_t> counters = {5, 10, -1, 0, 0, 100, -7, 0, 1}, order(n, 0);
  std::vector<uint32_t> unsignedOnes = {0, 0x90000000};
  std::vector<int64_t> longs = {1, 0};
  std::vector<float> floats = {1.0f};
  std::vector<double> doubles = {2.0};
  launch("control.cl", "atomics")
      .grid(5)
      .block(64)
      .inout(counters)
      .inout(unsignedOnes)
      .inout(longs)
      .inout(floats)
      .inout(doubles)
      .inout(order)
      .run();
  uint32_t product = 1, xored = 0;
  for (int i = 0; i != n; ++i) {
    product *= 3;
    xored ^= i;
  }
  std::vector<int32_t> expected = {5 + n * (n - 1) / 2,
                                   10 - n,
                                   0,
                                   -1,
                                   int32_t(xored),
                                   50 - (n - 1),
                                   3 * (n - 1) - 100,
                                   n,
                                   int32_t(product)};
  EXPECT_EQ(counters, expected);
  EXPECT_EQ(order, std::vector<int32_t>(n, 1));
  EXPECT_EQ(unsignedOnes, (std::vector<uint32_t>{uint32_t(-1), 0}));
  EXPECT_EQ(longs, (std::vector<int64_t>{1 + (int64_t(n * (n - 1) / 2) << 33),
                                         int64_t(n - 1) << 40}));
  EXPECT_EQ(floats[0], 1.0f + 0.5f * n);
  EXPECT_EQ(doubles[0], 2.0 + 0.25 * n);
}

TEST_P(ControlCorpus, LDSAtomics) {
  std::vector<int32_t> out(8);
  std::vector<float> floats(2);
  launch("control.cl", "ldsAtomics")
      .grid(1)
      .block(256)
      .output(out)
      .output(floats)
      .run();
  uint32_t xored = 0;
  for (int i = 0; i != 256; ++i)
    xored ^= i * 5;
  EXPECT_EQ(out, (std::vector<int32_t>{255 * 128, int32_t(xored), -1, 255, 245,
                                       -256, 77, 0}));
  EXPECT_EQ(floats[0], 1.5f * 256);
  EXPECT_EQ(floats[1], 255.0f * 128);
}

} // namespace
