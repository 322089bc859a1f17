//===- LaunchTest.cpp - What may be launched ------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace attn;
using namespace attn::rt;
using manifest::DType;

namespace {

/// An entry with dynamic sizes and strides, a workspace, an LSE, a scalar.
constexpr StringLiteral text = R"json({
  "version": 1, "chip": "gfx942",
  "buffers": [
    {"name": "query", "dtype": "f16", "shape": ["B", "S", 64],
     "strides": ["query.stride0", "query.stride1", 1], "role": "input",
     "alignment": 4},
    {"name": "scale", "dtype": "f32", "shape": [], "strides": [],
     "role": "input"},
    {"name": "partial", "dtype": "f32", "shape": ["B", "S"],
     "strides": ["S", 1], "role": "workspace"},
    {"name": "output", "dtype": "f16", "shape": ["B", "S", 64],
     "strides": ["S * 64", 64, 1], "role": "output"},
    {"name": "lse", "dtype": "f32", "shape": ["B", "S"],
     "strides": ["lse.stride0", 1], "role": "output"}],
  "kernels": [
    {"name": "first", "block": [512, 1, 1], "lds_bytes": 0,
     "kernarg_bytes": 288, "vgprs": 0, "agprs": 0, "sgprs": 0,
     "scratch_bytes": 0,
     "args": [
       {"name": "q", "kind": "pointer", "offset": 0, "size": 8,
        "buffer": "query"},
       {"name": "pitch", "kind": "i64", "offset": 8, "size": 8,
        "value": "query.stride1"},
       {"name": "p", "kind": "pointer", "offset": 16, "size": 8,
        "buffer": "partial"},
       {"name": "scale", "kind": "f32", "offset": 24, "size": 4,
        "buffer": "scale"}]},
    {"name": "second", "block": [64, 1, 1], "lds_bytes": 0,
     "kernarg_bytes": 280, "vgprs": 0, "agprs": 0, "sgprs": 0,
     "scratch_bytes": 0,
     "args": [
       {"name": "o", "kind": "pointer", "offset": 0, "size": 8,
        "buffer": "output"},
       {"name": "l", "kind": "pointer", "offset": 8, "size": 8,
        "buffer": "lse", "value": "4 * lse.stride0"}]}],
  "launches": [
    {"kernel": "first", "grid": ["ceildiv(S, 128)", "B", 1]
},
    {"kernel": "second", "grid": ["S", "B", 1]}]
})json";

class LaunchTest : public testing::Test {
protected:
  void SetUp() override {
    Expected<manifest::Manifest> parsed = manifest::Manifest::parse(text);
    ASSERT_TRUE(bool(parsed)) << toString(parsed.takeError());
    manifest = std::move(*parsed);
  }

  Operand &get(StringRef name) {
    return *find_if(operands, [&](const Operand &o) { return o.name == name; });
  }

  void drop(StringRef name) {
    erase_if(operands, [&](const Operand &o) { return o.name == name; });
  }

  /// The one line of the error that prepareLaunches has to give.
  std::string getError(StringRef kernel = "") {
    auto launches = prepareLaunches(manifest, operands, kernel);
    if (launches)
      return "no error";
    return toString(launches.takeError());
  }

  manifest::Manifest manifest;
  /// Of B = 2 and S = 200, with rows of query 80 elements apart.
  std::vector<Operand> operands = {
      {"query", DType::F16, {2, 200, 64}, {{16000, 80, 1}}, 0x1000, {}},
      {"scale", DType::F32, {}, {}, 0, 0x3f000000},
      {"partial", DType::F32, {2, 200}, {}, 0x2000, {}},
      {"output", DType::F16, {2, 200, 64}, {}, 0x3000, {}},
      {"lse", DType::F32, {2, 200}, {{256, 1}}, 0x4000, {}}};
};

TEST_F(LaunchTest, PacksArgumentsOfEveryLaunch) {
  auto launches = prepareLaunches(manifest, operands);
  ASSERT_TRUE(bool(launches)) << toString(launches.takeError());
  ASSERT_EQ(launches->size(), 2u);
  const PreparedLaunch &first = launches->front(), &second = launches->back();
  EXPECT_EQ(first.kernel->name, "first");
  EXPECT_EQ(first.grid, (std::array<uint32_t, 3>{2, 2, 1}));
  ASSERT_EQ(first.kernarg.size(), 28u); // no hidden arguments
  EXPECT_EQ(support::endian::read64le(&first.kernarg[0]), 0x1000u);
  EXPECT_EQ(support::endian::read64le(&first.kernarg[8]), 80u);
  EXPECT_EQ(support::endian::read64le(&first.kernarg[16]), 0x2000u);
  EXPECT_EQ(support::endian::read32le(&first.kernarg[24]), 0x3f000000u);
  EXPECT_EQ(second.grid, (std::array<uint32_t, 3>{200, 2, 1}));
  ASSERT_EQ(second.kernarg.size(), 16u);
  EXPECT_EQ(support::endian::read64le(&second.kernarg[8]), 0x4000u + 4 * 256);
}

TEST_F(LaunchTest, LeavesOneKernel) {
  auto launches = prepareLaunches(manifest, operands, "second");
  ASSERT_TRUE(bool(launches)) << toString(launches.takeError());
  ASSERT_EQ(launches->size(), 1u);
  EXPECT_EQ(getError("third"), "expects a kernel that the manifest launches "
                               "(first, second), but got 'third'");
}

TEST_F(LaunchTest, WantsEveryBuffer) {
  for (const Operand &operand : std::vector<Operand>(operands)) {
    std::vector<Operand> all = operands;
    drop(operand.name);
    EXPECT_TRUE(
        StringRef(getError()).contains("'" + operand.name + "': expects the "))
        << operand.name << ": " << getError();
    operands = all;
  }
  drop("lse");
  EXPECT_EQ(getError(),
            "buffer 'lse': expects the output 2x200 (f32), but got none");
}

TEST_F(LaunchTest, WantsMultiples) {
  using manifest::SizeExpr;
  manifest.multiples = {{SizeExpr::dim("S"), SizeExpr::dim("B")}};
  EXPECT_EQ(getError(), "no error");
  manifest.multiples = {{SizeExpr::dim("B"), SizeExpr::dim("S")}};
  EXPECT_EQ(getError(), "expects the number of query heads to be a multiple of "
                        "that of key and value heads, but got 2 and 200");
}

TEST_F(LaunchTest, WantsRowsWithinReach) {
  manifest.buffers[0].reach = {1, 256, 64};
  EXPECT_EQ(getError(), "no error");
  // 199 rows further, and the 64 elements of the last one: just below 2^31.
  int64_t most = ((int64_t(1) << 30) - 65) / 199 / 2 * 2;
  get("query").strides = {200 * most, most, 1};
  EXPECT_EQ(getError(), "no error");
  int64_t least = most + 2;
  get("query").strides = {200 * least, least, 1};
  EXPECT_EQ(getError(),
            "buffer 'query': expects 1x200x64 neighbouring elements "
            "to span less than 2147483648 bytes, but got " +
                std::to_string((199 * least + 64) * 2));
  manifest.buffers[0].reach = {1, 128, 64};
  EXPECT_EQ(getError(), "no error");
}

TEST_F(LaunchTest, WantsMemory) {
  get("lse").address = 0;
  EXPECT_EQ(getError(), "buffer 'lse': expects an address of the output 2x200 "
                        "(f32), but got null");
  get("lse").address = 0x4000;
  get("partial").address = 0;
  EXPECT_EQ(getError(), "buffer 'partial': expects an address of the workspace "
                        "2x200 (f32), but got null");
  get("partial").address = 0x2000;
  get("scale").value.reset();
  EXPECT_EQ(getError(),
            "buffer 'scale': expects a value to pass, but got none");
}

TEST_F(LaunchTest, EmptyBuffersNeedNoMemory) {
  for (Operand &operand : operands) {
    operand.address = 0;
    if (!operand.shape.empty())
      operand.shape[1] = 0;
  }
  auto launches = prepareLaunches(manifest, operands);
  ASSERT_TRUE(bool(launches)) << toString(launches.takeError());
  EXPECT_TRUE(launches->empty());
}

TEST_F(LaunchTest, RefusesOtherNamesTypesAndSizes) {
  get("lse").name = "LSE";
  EXPECT_EQ(getError(), "expects buffers of the manifest (query, scale, "
                        "partial, output, lse), but got 'LSE'");
  get("LSE").name = "query";
  EXPECT_EQ(getError(), "buffer 'query': expects one operand, but got two");
  operands.back().name = "lse";
  get("lse").dtype = DType::F64;
  EXPECT_EQ(getError(), "buffer 'lse': expects f32, but got f64");
  get("lse").dtype = DType::F32;
  get("lse").shape = {2, 201};
  EXPECT_EQ(getError(), "buffer 'lse': expects dimension 1 to be 200 (S, from "
                        "dimension 1 of 'query'), but got 201");
  get("lse").shape = {400};
  get("lse").strides.reset();
  EXPECT_EQ(getError(), "buffer 'lse': expects rank 2, but got 1");
  get("lse").shape = {2, -1};
  EXPECT_EQ(getError(), "buffer 'lse': expects dimension 1 to be non-negative, "
                        "but got -1");
  get("lse").shape = {2, 200};
  get("lse").strides = {{1}};
  EXPECT_EQ(getError(), "buffer 'lse': expects a stride for each of 2 "
                        "dimensions, but got 1");
}

TEST_F(LaunchTest, RefusesStridesThatKernelsCannotServe) {
  get("query").strides = {{16000, 81, 1}};
  EXPECT_EQ(getError(), "buffer 'query': expects stride 1 to be a multiple of "
                        "4 bytes, but got 81 elements of 2");
  get("query").strides = {{16000, -80, 1}};
  EXPECT_EQ(getError(),
            "buffer 'query': expects stride 1 to be non-negative, but got -80");
  get("query").strides = {{16000, 80, 2}};
  EXPECT_EQ(getError(), "buffer 'query': expects stride 2 to be 1, but got 2");
  get("query").strides = {{0, 80, 1}}; // one query for all batches
  EXPECT_EQ(getError(), "no error");
  get("output").strides = {{12800, 64, 1}};
  EXPECT_EQ(getError(), "no error");
  get("output").strides = {{12800, 65, 1}};
  EXPECT_EQ(getError(),
            "buffer 'output': expects stride 1 to be 64, but got 65");
  get("output").strides = {{12864, 64, 1}};
  EXPECT_EQ(getError(), "buffer 'output': expects stride 0 to be 12800 (S * "
                        "64), but got 12864");
  get("output").strides.reset();
  get("lse").strides = {{0, 1}};
  EXPECT_EQ(getError(), "buffer 'lse': expects stride 0 to be positive, since "
                        "kernels write it, but got 0");
}

TEST_F(LaunchTest, StridesOfOneIndexDoNotMatter) {
  for (Operand &operand : operands)
    if (!operand.shape.empty())
      operand.shape[0] = 1;
  get("query").strides = {{-3, 80, 1}};
  get("lse").strides = {{0, 1}};
  get("output").strides = {{7, 64, 1}};
  EXPECT_EQ(getError(), "no error");
}

TEST_F(LaunchTest, WantsAlignedAddresses) {
  get("query").address = 0x1002;
  EXPECT_EQ(getError(), "buffer 'query': expects an address that is a multiple "
                        "of 4 bytes, but got 0x1002");
  get("query").address = 0x1004;
  EXPECT_EQ(getError(), "no error");
  get("output").address = 0x3001;
  EXPECT_EQ(getError(), "buffer 'output': expects an address that is a "
                        "multiple of 2 bytes, but got 0x3001");
}

TEST_F(LaunchTest, WantsAlignedViews) {
  manifest.kernels.back().args.back().value = manifest::SizeExpr(8);
  EXPECT_EQ(getError(), "no error");
  manifest.buffers.back().alignment = 16;
  EXPECT_EQ(getError(), "buffer 'lse': expects the view that 'second' takes to "
                        "begin at a multiple of 16 bytes, but got 0x4008");
}

TEST_F(LaunchTest, RefusesMoreWorkItemsThanALaunchCounts) {
  // 2^23 workgroups of 512: one too many.
  for (Operand &operand : operands) {
    operand.strides.reset();
    if (!operand.shape.empty())
      operand.shape = operand.shape.size() == 2
                          ? SmallVector<int64_t>{1, int64_t(1) << 30}
                          : SmallVector<int64_t>{1, int64_t(1) << 30, 64};
  }
  EXPECT_EQ(getError(), "launch of 'first': expects less than 2^32 work-items "
                        "in x, but got 8388608 workgroups of 512");
}

TEST_F(LaunchTest, FreeStridesAreContiguousWithoutACaller) {
  get("query").strides.reset();
  get("lse").strides.reset();
  auto launches = prepareLaunches(manifest, operands);
  ASSERT_TRUE(bool(launches)) << toString(launches.takeError());
  EXPECT_EQ(support::endian::read64le(&launches->front().kernarg[8]), 64u);
  EXPECT_EQ(support::endian::read64le(&launches->back().kernarg[8]),
            0x4000u + 4 * 200);
}

} // namespace
