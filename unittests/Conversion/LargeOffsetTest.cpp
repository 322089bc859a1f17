//===- LargeOffsetTest.cpp - Offsets that do not fit in 32 bits -----------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The public bug cases E6, E7 and F8 on both chips, in buffers of many GiB of
// which the emulator touches a few pages, with every check on: an access that
// wraps hits unmapped memory or the wrong rows.
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Machine.h"
#include "attn/InitAll.h"
#include "attn/Pipelines.h"
#include "attn/Target/Compiler.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::attn;
namespace emu = ::attn::emu;
namespace mf = ::attn::manifest;

namespace {

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

// f16 numbers of the tests.
constexpr uint16_t one = 0x3c00, two = 0x4000;

/// A program of one attention, compiled, with its buffers in an emulator.
class Program {
public:
  Program(llvm::StringRef text, llvm::StringRef chip) {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registerAllAttnDialects(registry);
    registerKernelTranslation(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    auto module = parseSourceString<ModuleOp>(text, &context);
    PassManager pm(&context);
    AttnToROCDLOptions options;
    options.chip = chip.str();
    buildAttnToROCDLPipeline(pm, options);
    if (!module || failed(pm.run(*module)))
      llvm::report_fatal_error("the program does not lower");
    llvm::LLVMContext llvmContext;
    auto kernels = translateKernels(*module, llvmContext, chip);
    auto object = take(emitObject(**kernels, chip));
    code = take(linkCodeObject(object));
    auto info = take(readKernelInfo(code));
    auto function = findEntry(*module);
    manifest = *buildManifest(*function, chip, info);
    loaded = take(emu::CodeObject::create(llvm::MemoryBufferRef(
        llvm::StringRef(code.data(), code.size()), "code object")));
    machine = std::make_unique<emu::Machine>(loaded->getChip());
    for (const mf::Buffer &buffer : manifest.buffers)
      addresses[buffer.name] = take(machine->allocate(
          buffer.name, take(mf::resolve(buffer, {})).bytes,
          buffer.role == mf::Role::Input ? emu::BufferRole::Input
                                         : emu::BufferRole::InOut));
  }

  uint16_t &at(llvm::StringRef buffer, int64_t element) {
    return reinterpret_cast<uint16_t *>(
        machine->getHostPointer(addresses[buffer]))[element];
  }

  /// Runs the last workgroup (or all); the number of findings.
  size_t run(bool lastOnly) {
    const mf::Launch &launch = manifest.launches.front();
    const mf::Kernel &kernel = manifest.kernels.front();
    emu::LaunchConfig config;
    config.kernel = kernel.name;
    config.grid = take(mf::resolveGrid(launch, {}));
    config.block = kernel.block;
    emu::LaunchOptions options;
    options.checks = emu::CheckSet::all();
    options.threads = 1;
    if (lastOnly)
      options.workgroupBegin = uint64_t(config.grid[0]) - 1;
    auto kernarg = take(mf::packKernarg(
        kernel, {},
        [&](llvm::StringRef name) -> llvm::Expected<uint64_t> {
          return addresses[name];
        },
        [&](llvm::StringRef) -> llvm::Expected<uint64_t> { return 0; }));
    emu::Report report =
        take(machine->launch(*loaded, config, kernarg, options));
    report.printFindings(llvm::errs());
    return report.findings.size();
  }

private:
  llvm::SmallVector<char, 0> code;
  mf::Manifest manifest;
  std::unique_ptr<emu::CodeObject> loaded;
  std::unique_ptr<emu::Machine> machine;
  llvm::StringMap<uint64_t> addresses;
};

std::string module(llvm::StringRef q, llvm::StringRef kv, llvm::StringRef o,
                   llvm::StringRef options = "") {
  return ("func.func @f(%q: memref<" + q + ">, %k: memref<" + kv +
          ">, %v: memref<" + kv + ">, %o: memref<" + o +
          ">) {\n attn.attention ins(%q, %k, %v : memref<" + q + ">, memref<" +
          kv + ">, memref<" + kv + ">) outs(%o : memref<" + o + ">) " +
          options + "\n return\n}\n")
      .str();
}

class LargeOffset : public testing::TestWithParam<const char *> {};

} // namespace

// E6 (a) and (c), E7: a batch begins behind 2^31 elements, 4 GiB.
TEST_P(LargeOffset, E6BatchStride) {
  constexpr int64_t batch = (int64_t(1) << 31) + 64;
  std::string far = "2x1x16x64xf16, strided<[2147483712, 1024, 64, 1]>";
  Program program(module("2x1x16x64xf16", far, far), GetParam());
  for (int64_t b : {0, 1})
    for (int64_t i = 0; i < 16 * 64; ++i)
      program.at("arg2", b * batch + i) = b ? two : one;
  EXPECT_EQ(program.run(/*lastOnly=*/false), 0u);
  for (int64_t b : {0, 1})
    for (int64_t i = 0; i < 16 * 64; ++i)
      ASSERT_EQ(program.at("arg3", b * batch + i), b ? two : one) << b << i;
}

// E6 (b): a row number times a large row stride. Row 225304 begins at element
// 2191757312, which is negative in 32 bits.
TEST_P(LargeOffset, E6RowTimesStride) {
  constexpr int64_t stride = 9728, rows = 225320;
  std::string tall =
      "1x1x225320x64xf16, strided<[2191912960, 2191912960, 9728, 1]>";
  Program program(module(tall, "1x1x16x64xf16", tall), GetParam());
  // Key j has weight only in column j, as has row j of the last 16 of Q.
  for (int64_t j = 0; j < 16; ++j) {
    program.at("arg1", j * 64 + j) = 0x5400;                   // 64
    program.at("arg0", (rows - 16 + j) * stride + j) = 0x5400; // 64
    for (int64_t c = 0; c < 64; ++c)
      program.at("arg2", j * 64 + c) = j % 2 ? two : one;
  }
  EXPECT_EQ(program.run(/*lastOnly=*/true), 0u);
  for (int64_t j = 0; j < 16; ++j)
    for (int64_t c = 0; c < 64; ++c)
      ASSERT_EQ(program.at("arg3", (rows - 16 + j) * stride + c),
                j % 2 ? two : one)
          << j << ", " << c;
}

// E7: an output of 2^32 bytes, a size that 32 bits take for 0.
TEST_P(LargeOffset, E7OutputOfFourGigabytes) {
  std::string whole = "4x512x16384x64xf16";
  Program program(module(whole, "4x1x16x64xf16", whole), GetParam());
  for (int64_t i = 3 * 16 * 64; i < 4 * 16 * 64; ++i)
    program.at("arg2", i) = two;
  EXPECT_EQ(program.run(/*lastOnly=*/true), 0u);
  constexpr int64_t end = int64_t(1) << 31;
  for (int64_t i = end - 16 * 64; i < end; ++i)
    ASSERT_EQ(program.at("arg3", i), two) << i;
}

// E7: keys of 2^31 + 4096 bytes, of which a window sees the last.
TEST_P(LargeOffset, E7KeysBeyondTwoGigabytes) {
  constexpr int64_t keys = 16777248;
  Program program(module("1x1x16x64xf16", "1x1x16777248x64xf16",
                         "1x1x16x64xf16", "{causal, window_left = 15}"),
                  GetParam());
  // Row i has weight only at key i of the last 16.
  for (int64_t j = 0; j < 16; ++j) {
    program.at("arg0", j * 64 + j) = 0x5400;               // 64
    program.at("arg1", (keys - 16 + j) * 64 + j) = 0x5400; // 64
    for (int64_t c = 0; c < 64; ++c)
      program.at("arg2", (keys - 16 + j) * 64 + c) = j % 2 ? two : one;
  }
  EXPECT_EQ(program.run(/*lastOnly=*/false), 0u);
  for (int64_t j = 0; j < 16; ++j)
    for (int64_t c = 0; c < 64; ++c)
      ASSERT_EQ(program.at("arg3", j * 64 + c), j % 2 ? two : one)
          << j << ", " << c;
}

// Heads of a group share a tile, however far apart they lie.
TEST_P(LargeOffset, PackedHeads) {
  constexpr int64_t stride = (int64_t(1) << 31) + 64;
  std::string far = "1x2x4x64xf16, strided<[4294967424, 2147483712, 64, 1]>";
  Program program(module(far, "1x1x8x64xf16", far), GetParam());
  // Key 4 h + i has weight only in its column, as has row i of head h.
  for (int64_t key = 0; key < 8; ++key) {
    program.at("arg1", key * 64 + key) = 0x5400;                        // 64
    program.at("arg0", key / 4 * stride + key % 4 * 64 + key) = 0x5400; // 64
    for (int64_t c = 0; c < 64; ++c)
      program.at("arg2", key * 64 + c) = key % 3 ? two : one;
  }
  EXPECT_EQ(program.run(/*lastOnly=*/false), 0u);
  for (int64_t key = 0; key < 8; ++key)
    for (int64_t c = 0; c < 64; ++c)
      ASSERT_EQ(program.at("arg3", key / 4 * stride + key % 4 * 64 + c),
                key % 3 ? two : one)
          << key << ", " << c;
}

// F8: more batches and heads than a second grid dimension counts.
TEST_P(LargeOffset, F8ManyBatches) {
  Program program(
      module("65536x8x4x64xf16", "65536x8x4x64xf16", "65536x8x4x64xf16"),
      GetParam());
  constexpr int64_t last = (int64_t(65536) * 8 - 1) * 4 * 64;
  for (int64_t i = 0; i < 4 * 64; ++i)
    program.at("arg2", last + i) = two;
  EXPECT_EQ(program.run(/*lastOnly=*/true), 0u);
  for (int64_t i = 0; i < 4 * 64; ++i)
    ASSERT_EQ(program.at("arg3", last + i), two);
  EXPECT_EQ(program.at("arg3", last - 1), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, LargeOffset,
                         testing::Values("gfx942", "gfx950"));
