//===- BlockTest.cpp - Kernels of co-operating work-items -----------------===//

#include "Corpus.h"
#include "Random.h"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace attn::emu;

namespace {

class BlockCorpus : public CorpusTest {};
ATTN_INSTANTIATE_CORPUS(BlockCorpus);

TEST_P(BlockCorpus, ReduceTree) {
  // Small integers: exact in any order. A ragged last group.
  std::vector<float> in(1000);
  for (int i = 0; i != 1000; ++i)
    in[i] = float(i % 23 - 11);
  std::vector<float> out(4);
  launch("block.cl", "reduceTree")
      .grid(4)
      .block(256)
      .output(out)
      .input(in)
      .value(1000)
      .run();
  for (int g = 0; g != 4; ++g)
    EXPECT_EQ(out[g], std::accumulate(
                          in.begin() + 256 * g,
                          in.begin() + std::min(1000, 256 * (g + 1)), 0.0f));
}

TEST_P(BlockCorpus, ReduceWaves) {
  auto in = randomInts<int32_t>(512, 1);
  std::vector<int32_t> out(2);
  launch("block.cl", "reduceWaves")
      .grid(2)
      .block(256)
      .output(out)
      .input(in)
      .run();
  for (int g = 0; g != 2; ++g) {
    uint32_t sum = 0;
    for (int i = 0; i != 256; ++i)
      sum += in[256 * g + i];
    EXPECT_EQ(uint32_t(out[g]), sum);
  }
}

TEST_P(BlockCorpus, F2_MaxByDppOneHot) {
  // One large value among equal negative ones, at every position.
  std::vector<int32_t> in(64 * 64, -1000), out(64 * 64);
  for (int p = 0; p != 64; ++p)
    in[64 * p + p] = -8;
  launch("block.cl", "maxDpp").grid(64).block(64).output(out).input(in).run();
  EXPECT_EQ(out, std::vector<int32_t>(64 * 64, -8));
  // All equal: the neutral element must not win.
  std::fill(in.begin(), in.end(), -1000);
  launch("block.cl", "maxDpp").grid(64).block(64).output(out).input(in).run();
  EXPECT_EQ(out, std::vector<int32_t>(64 * 64, -1000));
}

TEST_P(BlockCorpus, DppMoves) {
  std::vector<int32_t> in(64), out(8 * 64);
  std::iota(in.begin(), in.end(), 100);
  launch("block.cl", "dppMoves").grid(1).block(64).output(out).input(in).run();
  for (int lane = 0; lane != 64; ++lane) {
    int row = lane / 16 * 16, inRow = lane % 16;
    auto from = [&](int source) { return 100 + source; };
    int expected[8] = {// quad_perm [3, 2, 1, 0]
                       from(lane / 4 * 4 + 3 - lane % 4),
                       // row_shl:1, the last lane of a row keeps the old value
                       inRow == 15 ? -1 : from(lane + 1),
                       // row_ror:3
                       from(row + (inRow + 13) % 16),
                       // wave_shr:1, bound_ctrl gives 0
                       lane == 0 ? 0 : from(lane - 1),
                       // wave_ror:1
                       from((lane + 63) % 64),
                       // row_mirror
                       from(row + 15 - inRow),
                       // row_half_mirror in rows 0 and 2, banks 0 and 1
                       lane / 16 % 2 == 0 && inRow < 8
                           ? from(row + inRow / 8 * 8 + 7 - inRow % 8)
                           : -1,
                       // swizzle: bit mode, xor 1
                       from(lane ^ 1)};
    for (int k = 0; k != 8; ++k)
      EXPECT_EQ(out[8 * lane + k], expected[k])
          << "move " << k << " lane " << lane;
  }
}

TEST_P(BlockCorpus, WaveOps) {
  auto in = randomInts<uint32_t>(64, 2);
  for (int i = 0; i < 64; i += 3)
    in[i] %= 1500;
  std::vector<uint32_t> out(8 * 64);
  launch("block.cl", "waveOps").grid(1).block(64).output(out).input(in).run();
  uint64_t ballot = 0;
  for (int i = 0; i != 64; ++i)
    ballot |= uint64_t(in[i] < 1000) << i;
  for (int lane = 0; lane != 64; ++lane) {
    uint32_t x = in[lane];
    // Bytes 0-3 come from the second operand, 4-7 from the first.
    uint64_t bytes = uint64_t(x) << 32 | uint32_t(~x);
    auto byte = [&](int i) { return uint32_t(bytes >> (8 * i)) & 0xff; };
    int source = 0;
    while (((source * 5 + 3) & 63) != lane)
      ++source;
    uint32_t expected[8] = {
        uint32_t(ballot),
        uint32_t(ballot >> 32),
        in[0],
        uint32_t(std::popcount(ballot & ((uint64_t(1) << lane) - 1))),
        byte(7) << 24 | byte(2) << 16 | byte(5) << 8 | byte(0),
        uint32_t((uint64_t(x) << 32 | uint32_t(x * 3u)) >> 7),
        (x >> 5) & 0x1ff,
        in[source]};
    for (int k = 0; k != 8; ++k)
      EXPECT_EQ(out[8 * lane + k], expected[k])
          << "value " << k << " lane " << lane;
  }
}

TEST_P(BlockCorpus, Scan) {
  auto in = randomInts<int32_t>(512, 3);
  std::vector<int32_t> out(512);
  launch("block.cl", "scanBlock")
      .grid(2)
      .block(256)
      .output(out)
      .input(in)
      .run();
  for (int g = 0; g != 2; ++g) {
    uint32_t sum = 0;
    for (int i = 256 * g; i != 256 * (g + 1); ++i) {
      sum += in[i];
      ASSERT_EQ(uint32_t(out[i]), sum) << i;
    }
  }
}

TEST_P(BlockCorpus, Transpose) {
  // Not a multiple of the tile in either direction.
  int width = 70, height = 45;
  std::vector<float> in(width * height), out(width * height);
  std::iota(in.begin(), in.end(), 0.0f);
  launch("block.cl", "transpose")
      .grid(3, 2)
      .block(32, 8)
      .output(out)
      .input(in)
      .value(width)
      .value(height)
      .run();
  for (int y = 0; y != height; ++y)
    for (int x = 0; x != width; ++x)
      ASSERT_EQ(out[x * height + y], in[y * width + x]);
}

TEST_P(BlockCorpus, Histogram) {
  auto in = randomInts<uint8_t>(5000, 4);
  std::vector<uint32_t> bins(256, 0), expected(256, 0);
  for (uint8_t value : in)
    ++expected[value];
  launch("block.cl", "histogram")
      .grid(4)
      .block(256)
      .inout(bins)
      .input(in)
      .value(5000)
      .run();
  EXPECT_EQ(bins, expected);
}

TEST_P(BlockCorpus, DynamicLDS) {
  for (uint32_t size : {64u, 200u, 1024u}) {
    std::vector<float> in(4 * size), out(4 * size);
    std::iota(in.begin(), in.end(), 0.0f);
    launch("block.cl", "dynamicLds")
        .grid(1)
        .block(size)
        .dynamicLDS(16 * size)
        .output(out)
        .input(in)
        .value(uint32_t(0)) // the LDS address of the argument
        .run();
    for (uint32_t i = 0; i != 4 * size; ++i)
      ASSERT_EQ(out[i], in[4 * size - 1 - i]);
  }
}

TEST_P(BlockCorpus, LDSWidths) {
  auto in = randomInts<int32_t>(64, 5);
  std::vector<int32_t> out(256);
  launch("block.cl", "ldsWidths").grid(1).block(64).output(out).input(in).run();
  for (int lane = 0; lane != 64; ++lane) {
    int j = 63 - lane;
    uint32_t x = in[j];
    EXPECT_EQ(out[4 * lane], int(uint8_t(x)) + int8_t(x >> 8));
    EXPECT_EQ(out[4 * lane + 1], int(int16_t(x)) + int(uint16_t(x)));
    EXPECT_EQ(uint32_t(out[4 * lane + 2]), x + 1 + 2 + j + x);
    EXPECT_EQ(uint32_t(out[4 * lane + 3]), x);
  }
}

TEST_P(BlockCorpus, Ids) {
  struct {
    uint32_t grid[3], block[3];
  } shapes[] = {{{3, 2, 4}, {4, 3, 2}},    {{1, 1, 1}, {1, 1, 1}},
                {{2, 3, 1}, {64, 2, 2}},   {{1, 1, 5}, {5, 1, 13}},
                {{2, 1, 1}, {1024, 1, 1}}, {{1, 2, 1}, {1, 1024, 1}}};
  for (auto &shape : shapes) {
    auto [gx, gy, gz] = shape.grid;
    auto [sx, sy, sz] = shape.block;
    std::vector<int32_t> out(4 * gx * gy * gz * sx * sy * sz);
    launch("block.cl", "ids")
        .grid(gx, gy, gz)
        .block(sx, sy, sz)
        .output(out)
        .run();
    size_t at = 0;
    for (uint32_t z = 0; z != gz; ++z)
      for (uint32_t y = 0; y != gy; ++y)
        for (uint32_t x = 0; x != gx; ++x)
          for (uint32_t lz = 0; lz != sz; ++lz)
            for (uint32_t ly = 0; ly != sy; ++ly)
              for (uint32_t lx = 0; lx != sx; ++lx, at += 4) {
                ASSERT_EQ(out[at], int(x | y << 10 | z << 20));
                ASSERT_EQ(out[at + 1], int(lx | ly << 10 | lz << 20));
                ASSERT_EQ(out[at + 2], int(sx | sy << 10 | sz << 20));
                ASSERT_EQ(out[at + 3], int(gx * gy * gz));
              }
  }
}

TEST_P(BlockCorpus, F8_LastWorkgroupOfALargeGrid) {
  // The largest legal y and z; only the last workgroup runs, in a buffer of
  // which nothing else is touched.
  const CodeObject &object = compileCorpus("block.cl", variant());
  Machine machine(object.getChip());
  uint64_t groups = uint64_t(2) * 65535 * 3, bytes = groups * 64 * 16;
  auto out = machine.allocate("out", bytes);
  ASSERT_TRUE(bool(out)) << llvm::toString(out.takeError());
  auto kernel = object.getKernel("ids");
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  KernargBuilder kernarg(**kernel);
  ASSERT_FALSE(bool(kernarg.setValue(0, *out)));
  LaunchConfig config;
  config.kernel = "ids";
  config.grid = {2, 65535, 3};
  LaunchOptions options;
  options.checks = CheckSet::all();
  options.workgroupBegin = groups - 1;
  auto report = machine.launch(object, config, kernarg.getBytes(), options);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_TRUE(report->isClean());
  EXPECT_EQ(report->statistics.workgroups, 1u);
  // The kernel's packing lets y's high bits run into z's.
  const auto *words = reinterpret_cast<const int32_t *>(
      machine.getHostPointer(*out + (groups - 1) * 64 * 16));
  for (int lane = 0; lane != 64; ++lane) {
    EXPECT_EQ(words[4 * lane], int32_t(1 | 65534u << 10 | 2u << 20));
    EXPECT_EQ(words[4 * lane + 1], lane);
    EXPECT_EQ(words[4 * lane + 3], int32_t(groups));
  }
}

} // namespace
