//===- CheckLaunchTest.cpp - What has to hold beyond shapes ---------------===//
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

const char *const sample = R"json({
  "version": 1, "chip": "gfx950",
  "buffers": [
    {"name": "query", "dtype": "bf16", "shape": ["B", "Hq", "Sq", 64],
     "strides": ["Hq * Sq * 64", "Sq * 64", 64, 1], "role": "input"},
    {"name": "lengths", "dtype": "i32", "shape": ["B"], "strides": [1],
     "role": "input"},
    {"name": "starts", "dtype": "i32", "shape": ["B + 1"], "strides": [1],
     "role": "input"},
    {"name": "table", "dtype": "i32", "shape": ["B", "pages"],
     "strides": ["pages", 1], "role": "input"}],
  "kernels": [], "launches": [],
  "multiples": [["Hq", 2]],
  "contents": [
    {"kind": "length", "buffer": "lengths", "limit": 40},
    {"kind": "cumulative", "buffer": "starts", "limit": "Sq", "longest": [5]},
    {"kind": "page", "buffer": "table", "limit": 4, "lengths": "lengths",
     "page_size": 16}]
})json";

Manifest parseSample() { return parseText(sample); }

std::string mutated(StringRef from, StringRef to) {
  return mutateText(sample, from, to);
}

TEST(CheckLaunchTest, RoundTrip) {
  Expected<json::Value> original = json::parse(sample);
  ASSERT_TRUE(bool(original));
  EXPECT_EQ(parseSample().toJSON(), *original);
}

TEST(CheckLaunchTest, RulesOfAFile) {
  EXPECT_EQ(mutated("[\"Hq\", 2]", "[\"Hq\"]"),
            "multiples[0]: expects an array of 2, but got an array of 1");
  EXPECT_EQ(mutated("\"cumulative\"", "\"sum\""),
            "contents[1].kind: expects length, cumulative or page, but got "
            "\"sum\"");
  EXPECT_EQ(mutated("\"buffer\": \"starts\"", "\"buffer\": \"ends\""),
            "contents[1].buffer: expects the name of a buffer, but got 'ends'");
  EXPECT_EQ(mutated("\"buffer\": \"starts\"", "\"buffer\": \"query\""),
            "contents[1].buffer: expects a buffer of i32 or i64, but got "
            "'query' of bf16");
  EXPECT_EQ(mutated("\"buffer\": \"table\"", "\"buffer\": \"starts\""),
            "contents[2].buffer: expects a buffer of rank 2 for pages, but got "
            "'starts' of rank 1");
  EXPECT_EQ(mutated("\"page_size\": 16", "\"page_size\": 0"),
            "contents[2].page_size: expects a positive integer, but got 0");
  EXPECT_EQ(
      mutated("\"lengths\": \"lengths\"", "\"lengths\": \"size\""),
      "contents[2].lengths: expects the name of a buffer, but got 'size'");
}

TEST(CheckLaunchTest, Multiples) {
  Manifest manifest = parseSample();
  auto check = [&](int64_t heads) {
    Error error = manifest.checkMultiples({{"Hq", heads}});
    return error ? toString(std::move(error)) : "no error";
  };
  EXPECT_EQ(check(8), "no error");
  EXPECT_EQ(check(7), "expects the number of query heads to be a multiple of "
                      "that of key and value heads, but got 7 and 2");
  manifest.multiples[0].rhs = 0;
  EXPECT_EQ(check(8), "expects the number of query heads to be a multiple of "
                      "that of key and value heads, but got 8 and 0");
}

/// The error for these numbers, of two sequences with a row of two pages each.
std::string check(ArrayRef<int64_t> lengths, ArrayRef<int64_t> starts,
                  ArrayRef<int64_t> table) {
  Error error = parseSample().checkContents(
      {{"Sq", 9}}, [&](StringRef name) -> std::optional<Integers> {
        if (name == "lengths")
          return Integers{{int64_t(lengths.size())},
                          SmallVector<int64_t>(lengths)};
        if (name == "starts")
          return Integers{{int64_t(starts.size())},
                          SmallVector<int64_t>(starts)};
        if (table.empty())
          return std::nullopt;
        return Integers{{2, 2}, SmallVector<int64_t>(table)};
      });
  return error ? toString(std::move(error)) : "no error";
}

TEST(CheckLaunchTest, Contents) {
  EXPECT_EQ(check({32, 0}, {0, 5, 9}, {3, 0, 7, -7}), "no error");
  EXPECT_EQ(check({16}, {0, 0, 0}, {3, -1, 0, -1}), "no error");
  // A size of something that is not there yet.
  Manifest manifest = parseSample();
  manifest.contents = {{Contents::Kind::Cumulative,
                        "starts",
                        9,
                        {SizeExpr::dim("longest")},
                        "",
                        0}};
  EXPECT_FALSE(bool(manifest.checkContents(
      {}, [](StringRef) { return Integers{{2}, {0, 9}}; })));
  EXPECT_EQ(check({41, 0}, {0}, {}),
            "buffer 'lengths': expects element 0 to be 0 to 40, but got 41");
  EXPECT_EQ(check({0, -1}, {0}, {}),
            "buffer 'lengths': expects element 1 to be 0 to 40, but got -1");
  EXPECT_EQ(check({0, 0}, {}, {}), "buffer 'starts': expects one number more "
                                   "than sequences, but got none");
  EXPECT_EQ(check({0, 0}, {1, 5, 9}, {}),
            "buffer 'starts': expects element 0 to be 0, but got 1");
  EXPECT_EQ(check({0, 0}, {0, 5, 4}, {}),
            "buffer 'starts': expects element 2 to be 5 to 9, but got 4");
  EXPECT_EQ(check({0, 0}, {0, 5, 10}, {}),
            "buffer 'starts': expects element 2 to be 5 to 9, but got 10");
  EXPECT_EQ(check({0, 0}, {0, 6, 9}, {}),
            "buffer 'starts': expects sequences of at most 5, for which there "
            "is bias, mask or lse, but got one of 6");
  EXPECT_EQ(check({33, 0}, {0}, {0, 0, 0, 0}),
            "buffer 'lengths': expects element 0 to be 0 to 32, but got 33");
  EXPECT_EQ(
      check({32, 1}, {0}, {0, 3, 4, 0}),
      "buffer 'table': expects element 2 to be a page, 0 to 3, but got 4");
  EXPECT_EQ(check({32, 1, 1}, {0}, {0, 3, 0, 0}),
            "buffer 'lengths': expects a length for each of 2 rows of pages, "
            "but got 3");
}

} // namespace
