//===- ManifestTest.cpp - What a launcher must know -----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleManifest.h"

using namespace llvm;
using namespace attn::manifest;

namespace {

/// A dynamic kernel with every kind of argument.
const char *const sample = R"json({
  "version": 1,
  "chip": "gfx950",
  "buffers": [
    {"name": "query", "dtype": "bf16", "shape": ["B", "Hq", "Sq", 64],
     "strides": ["Hq * Sq * 64", "Sq * 64", 64, 1], "role": "input"},
    {"name": "key", "dtype": "bf16", "shape": ["B", 2, "Skv", 64],
     "strides": ["key_s0", "key_s1", "key_s2", 1], "role": "input",
     "alignment": 4, "reach": [1, 1, 256, 64]},
    {"name": "scale", "dtype": "f32", "shape": [], "strides": [],
     "role": "input"},
    {"name": "output", "dtype": "bf16", "shape": ["B", "Hq", "Sq", 64],
     "strides": ["Hq * Sq * 64", "Sq * 64", 64, 1], "role": "output"},
    {"name": "partial", "dtype": "f32", "shape": ["2 * B * Hq", "Sq"],
     "strides": ["Sq", 1], "role": "workspace"}
  ],
  "kernels": [
    {"name": "kernel", "block": [256, 2, 1], "lds_bytes": 65536,
     "kernarg_bytes": 48, "vgprs": 128, "agprs": 4, "sgprs": 40,
     "scratch_bytes": 16,
     "args": [
       {"name": "q", "kind": "pointer", "offset": 0, "size": 8,
        "buffer": "query"},
       {"name": "rows", "kind": "i64", "offset": 8, "size": 8, "value": "Sq"},
       {"name": "cols", "kind": "i32", "offset": 16, "size": 4,
        "value": "Skv - 1"},
       {"name": "scale", "kind": "f32", "offset": 20, "size": 4,
        "buffer": "scale"},
       {"name": "softcap", "kind": "f32", "offset": 24, "size": 4,
        "value": 0.5},
       {"name": "total", "kind": "f32", "offset": 28, "size": 4,
        "value": "Skv"}]}
  ],
  "launches": [{"kernel": "kernel", "grid": ["ceildiv(Sq, 128)", "Hq", "B"]
}]
})json";

Manifest parseSample() { return parseText(sample); }

std::string mutated(StringRef from, StringRef to) {
  return mutateText(sample, from, to);
}

TEST(ManifestTest, RoundTrip) {
  Manifest manifest = parseSample();
  std::string once, twice;
  raw_string_ostream(once) << manifest.toJSON();
  manifest.print(*std::make_unique<raw_string_ostream>(twice));
  Expected<Manifest> again = Manifest::parse(twice);
  ASSERT_TRUE(bool(again)) << toString(again.takeError());
  EXPECT_EQ(manifest.toJSON(), again->toJSON());
  Expected<json::Value> original = json::parse(sample);
  ASSERT_TRUE(bool(original));
  EXPECT_EQ(manifest.toJSON(), *original);
}

TEST(ManifestTest, Fields) {
  Manifest manifest = parseSample();
  EXPECT_EQ(manifest.chip, "gfx950");
  ASSERT_NE(manifest.findBuffer("partial"), nullptr);
  EXPECT_EQ(manifest.findBuffer("partial")->role, Role::Workspace);
  EXPECT_EQ(manifest.findBuffer("nobody"), nullptr);
  EXPECT_EQ(manifest.findBuffer("key")->alignment, 4u);
  EXPECT_EQ(manifest.findBuffer("key")->reach,
            (SmallVector<uint64_t>{1, 1, 256, 64}));
  EXPECT_EQ(manifest.findBuffer("query")->alignment, 1u);
  const Kernel *kernel = manifest.findKernel("kernel");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->block, (std::array<uint32_t, 3>{256, 2, 1}));
  EXPECT_EQ(kernel->ldsBytes, 65536u);
  EXPECT_EQ(kernel->vgprs, 128u);
  EXPECT_EQ(kernel->agprs, 4u);
  EXPECT_EQ(kernel->sgprs, 40u);
  EXPECT_EQ(kernel->scratchBytes, 16u);
  ASSERT_EQ(kernel->args.size(), 6u);
  EXPECT_EQ(kernel->args[3].kind, ArgKind::F32);
}

TEST(ManifestTest, ContentOfOutputs) {
  Manifest manifest = parseSample();
  const Buffer &output = *manifest.findBuffer("output");
  auto pass = [&] {
    Arg &arg = manifest.kernels.front().args.emplace_back();
    arg.buffer = "output";
  };
  pass();
  EXPECT_FALSE(manifest.keepsContent(output));
  pass(); // perhaps a state that is merged in place
  EXPECT_TRUE(manifest.keepsContent(output));
  manifest.kernels.front().args.pop_back();
  Contents &starts = manifest.contents.emplace_back();
  starts.kind = Contents::Kind::Length;
  EXPECT_FALSE(manifest.keepsContent(output));
  starts.kind = Contents::Kind::Cumulative;
  EXPECT_TRUE(manifest.keepsContent(output));
}

TEST(ManifestTest, UnknownFieldsAreIgnored) {
  EXPECT_EQ(
      mutated(R"("chip": "gfx950",)", R"("chip": "gfx950", "note": ["new"],)"),
      "no error");
}

TEST(ManifestTest, StructureErrors) {
  EXPECT_EQ(mutated("\"version\": 1", "\"version\": 2"),
            "version: expects 1, but got 2");
  EXPECT_EQ(mutated("\"version\": 1,", ""),
            "version: expects a non-negative integer, but got nothing");
  EXPECT_EQ(mutated("\"gfx950\"", "950"),
            "chip: expects a string without control characters, but got 950");
  EXPECT_EQ(mutated("\"gfx950\"", "\"gfx\\n950\""),
            "chip: expects a string without control characters, but got "
            "\"gfx\\n950\"");
  EXPECT_EQ(mutated("[256, 2, 1]", "[256, 2]"),
            "kernels[0].block: expects an array of 3, but got an array of 2");
  EXPECT_EQ(mutated("[256, 2, 1]", "[256, -2, 1]"),
            "kernels[0].block[1]: expects a non-negative integer, but got -2");
  EXPECT_EQ(mutated("[\"ceildiv(Sq, 128)\", \"Hq\", \"B\"]",
                    "[\"ceildiv(Sq, 128)\", 0, \"B\"]"),
            "launches[0].grid[1]: expects a positive integer, but got 0");
  EXPECT_EQ(mutated("\"workspace\"", "\"scratch\""),
            "buffers[4].role: expects input, output or workspace, but got "
            "\"scratch\"");
  EXPECT_EQ(mutated("\"dtype\": \"f32\", \"shape\": []",
                    "\"dtype\": \"float\", \"shape\": []"),
            "buffers[2].dtype: expects one of f64, f32, f16, bf16, f8E4M3FN, "
            "f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, i64, i32, i16, i8, i1, but got "
            "\"float\"");
  EXPECT_EQ(mutated("\"2 * B * Hq\"", "\"2 * B */ Hq\""),
            "buffers[4].shape[0]: expects a number, a name or '(' at column 8 "
            "of a size expression, but got '/'");
  EXPECT_EQ(mutated("\"2 * B * Hq\"", "2.5"),
            "buffers[4].shape[0]: expects an integer or a size expression, but "
            "got 2.5");
  EXPECT_EQ(mutated("\"kind\": \"i64\"", "\"kind\": \"u64\""),
            "kernels[0].args[1].kind: expects pointer, i32, i64 or f32, but "
            "got \"u64\"");
  EXPECT_EQ(mutated("\"vgprs\": 128", "\"vgprs\": 4294967296"),
            "kernels[0].vgprs: expects a non-negative integer, but got "
            "4294967296");
  EXPECT_EQ(mutated("\"launches\": [", "\"launches\": [7, "),
            "launches[0]: expects an object, but got 7");
}

TEST(ManifestTest, ParseErrorsAreOneLine) {
  for (StringRef text : {"", "{", "[]", "\xff", "{\"version\": 1}", "nul",
                         "{\"version\": 1}}"}) {
    Expected<Manifest> manifest = Manifest::parse(text);
    ASSERT_FALSE(bool(manifest)) << text.str();
    std::string message = toString(manifest.takeError());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_FALSE(message.empty());
  }
  Expected<Manifest> deep = Manifest::parse(std::string(100000, '['));
  ASSERT_FALSE(bool(deep));
  EXPECT_EQ(toString(deep.takeError()),
            "manifest: expects at most 64 levels of nesting");
}

TEST(ManifestTest, ValidationErrors) {
  EXPECT_EQ(mutated("\"name\": \"key\"", "\"name\": \"query\""),
            "buffers[1].name: expects a new name, but got 'query' again");
  EXPECT_EQ(mutated("\"name\": \"key\"", "\"name\": \"\""),
            "buffers[1].name: expects a name, but got \"\"");
  EXPECT_EQ(mutated("\"alignment\": 4", "\"alignment\": 6"),
            "buffers[1].alignment: expects a power of two up to 4096, but got "
            "6");
  EXPECT_EQ(mutated("[1, 1, 256, 64]", "[256, 64]"),
            "buffers[1].reach: expects one count a dimension of shape, but got "
            "2 for 4");
  EXPECT_EQ(mutated("[1, 1, 256, 64]", "[1, 1, 0, 64]"),
            "buffers[1].reach[2]: expects a positive integer, but got 0");
  EXPECT_EQ(mutated("\"strides\": [\"Sq\", 1]", "\"strides\": [1]"),
            "buffers[4].strides: expects one stride a dimension of shape, but "
            "got 1 for 2");
  EXPECT_EQ(mutated("\"strides\": [\"Sq\", 1]", "\"strides\": [-1, 1]"),
            "buffers[4].strides[0]: expects a non-negative integer, but got "
            "-1");
  EXPECT_EQ(mutated("\"buffer\": \"query\"", "\"buffer\": \"q\""),
            "kernels[0].args[0].buffer: expects the name of a buffer, but got "
            "'q'");
  EXPECT_EQ(mutated("\"buffer\": \"query\"", "\"value\": 0"),
            "kernels[0].args[0]: expects buffer for a pointer, but got a value "
            "alone");
  EXPECT_EQ(mutated("\"buffer\": \"query\"", "\"note\": 0"),
            "kernels[0].args[0]: expects buffer for a pointer, but got "
            "nothing");
  EXPECT_EQ(mutated("\"value\": \"Sq\"", "\"values\": \"Sq\""),
            "kernels[0].args[1]: expects buffer or value, but got neither");
  EXPECT_EQ(
      mutated("\"value\": \"Sq\"", "\"value\": \"Sq\", \"buffer\": \"query\""),
      "kernels[0].args[1]: expects buffer or value, but got both");
  EXPECT_EQ(mutated("\"value\": \"Sq\"", "\"value\": 0.5"),
            "kernels[0].args[1].value: expects an integer or a size expression "
            "for i64, but got 0.5");
  EXPECT_EQ(
      mutated("\"value\": 0.5", "\"value\": 1e39"),
      "kernels[0].args[4].value: expects a finite f32, but got 1.000000e+39");
  EXPECT_EQ(mutated("\"buffer\": \"scale\"", "\"buffer\": \"query\""),
            "kernels[0].args[3].buffer: expects a buffer of dtype f32, but got "
            "'query' of bf16");
  EXPECT_EQ(mutated("\"buffer\": \"scale\"", "\"buffer\": \"partial\""),
            "kernels[0].args[3].buffer: expects a buffer of one element for a "
            "scalar, but got 'partial'");
  EXPECT_EQ(
      mutated("\"offset\": 16, \"size\": 4", "\"offset\": 16, \"size\": 8"),
      "kernels[0].args[2].size: expects 4 for i32, but got 8");
  EXPECT_EQ(mutated("\"offset\": 8", "\"offset\": 12"),
            "kernels[0].args[1].offset: expects a multiple of 8, but got 12");
  EXPECT_EQ(mutated("\"offset\": 8", "\"offset\": 48"),
            "kernels[0].args[1].offset: expects 8 bytes inside kernarg_bytes "
            "48, but got offset 48");
  EXPECT_EQ(mutated("\"offset\": 20", "\"offset\": 16"),
            "kernels[0].args: expects disjoint arguments, but 'cols' and "
            "'scale' overlap");
  EXPECT_EQ(mutated("\"name\": \"rows\"", "\"name\": \"q\""),
            "kernels[0].args[1].name: expects a new name, but got 'q' again");
  EXPECT_EQ(mutated("[256, 2, 1]", "[256, 2, 4]"),
            "kernels[0].block: expects 1 to 1024 work-items, but got [256, 2, "
            "4]");
  EXPECT_EQ(mutated("[256, 2, 1]", "[256, 0, 4]"),
            "kernels[0].block: expects 1 to 1024 work-items, but got [256, 0, "
            "4]");
  EXPECT_EQ(mutated("\"kernarg_bytes\": 48", "\"kernarg_bytes\": 1048577"),
            "kernels[0].kernarg_bytes: expects at most 1048576, but got "
            "1048577");
  EXPECT_EQ(mutated("\"kernel\": \"kernel\"", "\"kernel\": \"kernal\""),
            "launches[0].kernel: expects the name of a kernel, but got "
            "'kernal'");
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

using Shapes = StringMap<SmallVector<int64_t>>;

std::string inferError(const Shapes &shapes) {
  Expected<DimMap> dims = parseSample().inferDims(shapes);
  return dims ? "no error" : toString(dims.takeError());
}

TEST(ManifestTest, InferDims) {
  Manifest manifest = parseSample();
  Expected<DimMap> dims = manifest.inferDims(
      {{"query", {3, 8, 130, 64}}, {"key", {3, 2, 7, 64}}, {"scale", {}}});
  ASSERT_TRUE(bool(dims)) << toString(dims.takeError());
  EXPECT_EQ(dims->lookup("B"), 3);
  EXPECT_EQ(dims->lookup("Hq"), 8);
  EXPECT_EQ(dims->lookup("Sq"), 130);
  EXPECT_EQ(dims->lookup("Skv"), 7);
  // Free strides become the contiguous ones.
  EXPECT_EQ(dims->lookup("key_s0"), 2 * 7 * 64);
  EXPECT_EQ(dims->lookup("key_s1"), 7 * 64);
  EXPECT_EQ(dims->lookup("key_s2"), 64);

  Expected<ResolvedBuffer> output =
      resolve(*manifest.findBuffer("output"), *dims);
  ASSERT_TRUE(bool(output)) << toString(output.takeError());
  EXPECT_EQ(output->shape, (SmallVector<int64_t>{3, 8, 130, 64}));
  EXPECT_EQ(output->strides, (SmallVector<int64_t>{8 * 130 * 64, 8320, 64, 1}));
  EXPECT_EQ(output->bytes, 3u * 8 * 130 * 64 * 2);
  EXPECT_EQ(output->getNumElements(), 3 * 8 * 130 * 64);

  Expected<std::array<uint32_t, 3>> grid =
      resolveGrid(manifest.launches[0], *dims);
  ASSERT_TRUE(bool(grid));
  EXPECT_EQ(*grid, (std::array<uint32_t, 3>{2, 8, 3}));
}

TEST(ManifestTest, InferDimsErrors) {
  EXPECT_EQ(inferError({{"nobody", {1}}}),
            "buffers: expects the name of a buffer, but got 'nobody'");
  EXPECT_EQ(inferError({{"query", {1, 2, 3}}}),
            "buffer 'query': expects rank 4, but got 3");
  EXPECT_EQ(inferError({{"query", {1, 2, 3, 65}}}),
            "buffer 'query': expects dimension 3 to be 64, but got 65");
  EXPECT_EQ(inferError({{"query", {1, 2, 3, 64}}, {"key", {2, 2, 5, 64}}}),
            "buffer 'key': expects dimension 0 to be 1 (B, from dimension 0 of "
            "'query'), but got 2");
  EXPECT_EQ(inferError({{"query", {1, 2, 3, 64}}, {"partial", {5, 3}}}),
            "buffer 'partial': expects dimension 0 to be 4 (2 * B * Hq), but "
            "got 5");
  EXPECT_EQ(inferError({{"partial", {5, 3}}}),
            "buffer 'partial': dimension 0: in size '2 * B * Hq': dimension "
            "'B' has no value");
}

TEST(ManifestTest, ResolveErrors) {
  Buffer buffer{"b", DType::F32, {SizeExpr::dim("N"), 4}, {4, 1}, Role::Input};
  auto message = [&](int64_t n) {
    Expected<ResolvedBuffer> result = resolve(buffer, {{"N", n}});
    return result ? std::to_string(result->bytes)
                  : toString(result.takeError());
  };
  EXPECT_EQ(message(3), "48");
  EXPECT_EQ(message(0), "0");
  EXPECT_EQ(message(-1),
            "buffer 'b': expects dimension 0 to be non-negative, but got -1");
  EXPECT_EQ(message(int64_t(1) << 44), "281474976710656");
  EXPECT_EQ(message((int64_t(1) << 44) + 1),
            "buffer 'b': expects at most 2^48 bytes");
  EXPECT_EQ(message(std::numeric_limits<int64_t>::max()),
            "buffer 'b': expects at most 2^48 bytes");
  // Padding between rows counts, padding after the last one does not.
  buffer.strides = {10, 1};
  EXPECT_EQ(message(3), std::to_string((2 * 10 + 4) * 4));
  // A broadcast dimension.
  buffer.strides = {0, 1};
  EXPECT_EQ(message(1000), "16");
}

TEST(ManifestTest, GridLimits) {
  Launch launch{"k", {1, SizeExpr::dim("N"), 1}};
  auto message = [&](int64_t n) {
    auto grid = resolveGrid(launch, {{"N", n}});
    return grid ? std::to_string((*grid)[1]) : toString(grid.takeError());
  };
  EXPECT_EQ(message(0), "0");
  EXPECT_EQ(message(65535), "65535");
  EXPECT_EQ(message(65536),
            "launch of 'k': expects grid y from 0 to 65535, but "
            "got 65536");
  EXPECT_EQ(message(-1),
            "launch of 'k': expects grid y from 0 to 65535, but got -1");
}

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

TEST(ManifestTest, PackKernarg) {
  Manifest manifest = parseSample();
  DimMap dims = {{"Sq", 0x1122334455667788}, {"Skv", 5}};
  auto address = [](StringRef name) -> Expected<uint64_t> {
    EXPECT_EQ(name, "query");
    return 0x7fff00112200u;
  };
  auto scalar = [](StringRef name) -> Expected<uint64_t> {
    EXPECT_EQ(name, "scale");
    return 0x3e000000u; // 0.125
  };
  Expected<std::vector<uint8_t>> bytes =
      packKernarg(manifest.kernels[0], dims, address, scalar);
  ASSERT_TRUE(bool(bytes)) << toString(bytes.takeError());
  const std::vector<uint8_t> expected = {
      0x00, 0x22, 0x11, 0x00, 0xff, 0x7f, 0x00, 0x00, // q
      0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, // rows
      0x04, 0x00, 0x00, 0x00,                         // cols
      0x00, 0x00, 0x00, 0x3e,                         // scale
      0x00, 0x00, 0x00, 0x3f,                         // softcap 0.5
      0x00, 0x00, 0xa0, 0x40,                         // total 5.0
      0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(*bytes, expected);
}

TEST(ManifestTest, PointerIntoABuffer) {
  Manifest manifest = parseSample();
  Arg &pointer = manifest.kernels[0].args[0];
  ASSERT_EQ(pointer.kind, ArgKind::Pointer);
  pointer.value = SizeExpr::mul(SizeExpr::dim("Skv"), 16);
  EXPECT_FALSE(errorToBool(manifest.validate()));
  auto bytes = packKernarg(
      manifest.kernels[0], {{"Sq", 1}, {"Skv", 5}},
      [](StringRef) -> Expected<uint64_t> { return 0x1000; },
      [](StringRef) -> Expected<uint64_t> { return 0; });
  ASSERT_TRUE(bool(bytes)) << toString(bytes.takeError());
  EXPECT_EQ((*bytes)[pointer.offset], 0x50);
  EXPECT_EQ((*bytes)[pointer.offset + 1], 0x10);
  // The JSON keeps it.
  auto again = Manifest::fromJSON(manifest.toJSON());
  ASSERT_TRUE(bool(again)) << toString(again.takeError());
  EXPECT_TRUE(again->kernels[0].args[0].value.has_value());
  pointer.value = 1.5;
  EXPECT_EQ(toString(manifest.validate()),
            "kernels[0].args[0].value: expects a byte offset for a pointer");
}

TEST(ManifestTest, PackKernargErrors) {
  Manifest manifest = parseSample();
  auto pack = [&](const DimMap &dims, bool mapped) {
    auto get = [&](StringRef name) -> Expected<uint64_t> {
      if (!mapped)
        return createStringError("'" + name + "' is not there");
      return 0;
    };
    auto bytes = packKernarg(manifest.kernels[0], dims, get, get);
    return bytes ? "no error" : toString(bytes.takeError());
  };
  EXPECT_EQ(pack({{"Sq", 1}, {"Skv", int64_t(1) << 32}}, true), "no error");
  EXPECT_EQ(pack({{"Sq", 1}, {"Skv", (int64_t(1) << 32) + 1}}, true),
            "kernel 'kernel': argument 'cols': expects 32 bits, but got "
            "4294967296");
  EXPECT_EQ(pack({{"Sq", 1}}, true),
            "kernel 'kernel': argument 'cols': in size 'Skv - 1': dimension "
            "'Skv' has no value");
  EXPECT_EQ(pack({{"Sq", 1}, {"Skv", 1}}, false),
            "kernel 'kernel': argument 'q': 'query' is not there");
}

TEST(ManifestTest, VocabularyRoundTrips) {
  for (StringRef name :
       {"f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2",
        "f8E5M2FNUZ", "i64", "i32", "i16", "i8", "i1"}) {
    std::optional<DType> dtype = symbolizeDType(name);
    ASSERT_TRUE(dtype) << name.str();
    EXPECT_EQ(stringify(*dtype), name);
  }
  EXPECT_EQ(getByteWidth(DType::BF16), 2u);
  EXPECT_EQ(getByteWidth(DType::I1), 1u);
  EXPECT_EQ(symbolizeRole("inout"), std::nullopt);
}

} // namespace
