//===- HostBufferTest.cpp - Memory under test -----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/HostBuffer.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace attn::rt;

namespace {

HostBuffer make(DType dtype, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                int64_t offset = 0) {
  return cantFail(HostBuffer::create("b", dtype, shape, strides, offset));
}

float *floats(HostBuffer &buffer) {
  return reinterpret_cast<float *>(buffer.getAlignedPointer());
}

std::string message(Error error) {
  return error ? toString(std::move(error)) : "no error";
}

TEST(HostBufferTest, StartsAsNaN) {
  HostBuffer buffer = make(DType::F32, {2, 3}, {5, 1}, 2);
  // Gaps and the part in front of the offset too.
  for (int i = 0; i < 2 + 5 + 3; ++i)
    EXPECT_TRUE(std::isnan(floats(buffer)[i])) << i;
  EXPECT_EQ(buffer.getView().base - buffer.getAlignedPointer(), 8);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.getAlignedPointer()) % 64, 0u);
  EXPECT_EQ(message(buffer.checkGuards()), "no error");
}

TEST(HostBufferTest, PoisonIsNaNInEveryFloat) {
  EXPECT_EQ(getPoisonByte(DType::BF16), 0xff);
  EXPECT_EQ(getPoisonByte(DType::F8E4M3FN), 0xff);
  // 0xff is a number there; the only NaN is 0x80.
  EXPECT_EQ(getPoisonByte(DType::F8E4M3FNUZ), 0x80);
  EXPECT_EQ(getPoisonByte(DType::F8E5M2FNUZ), 0x80);
}

TEST(HostBufferTest, ElementsMayBeWritten) {
  HostBuffer buffer = make(DType::F32, {2, 3}, {5, 1}, 2);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      floats(buffer)[2 + 5 * i + j] = 1;
  EXPECT_EQ(message(buffer.checkGuards()), "no error");
}

TEST(HostBufferTest, StrayWritesAreFound) {
  struct {
    int at;
    const char *where;
  } table[] = {{-1, "9 bytes before"}, {0, "8 bytes before"},
               {1, "4 bytes before"},  {5, "12 bytes after"},
               {6, "16 bytes after"},  {10, "32 bytes after"},
               {20, "72 bytes after"}};
  for (auto &row : table) {
    HostBuffer buffer = make(DType::F32, {2, 3}, {5, 1}, 2);
    // Position -1: only the highest byte, which is next to the buffer.
    if (row.at < 0)
      buffer.getAlignedPointer()[-1] = 0;
    else
      floats(buffer)[row.at] = 0;
    EXPECT_EQ(message(buffer.checkGuards()),
              ("'b': the program wrote outside of the elements, " +
               Twine(row.where) + " the first one")
                  .str());
  }
}

TEST(HostBufferTest, NegativeStrides) {
  // Offset 0 with a stride of -2: elements lie before the aligned pointer.
  HostBuffer buffer = make(DType::F32, {4}, {-2});
  float *first = floats(buffer);
  for (int i = 0; i < 4; ++i)
    first[-2 * i] = static_cast<float>(i);
  EXPECT_EQ(message(buffer.checkGuards()), "no error");
  first[-1] = 0;
  EXPECT_NE(message(buffer.checkGuards()), "no error");
}

TEST(HostBufferTest, EmptyAndScalar) {
  for (int64_t other : {int64_t(3), int64_t(1) << 62}) {
    HostBuffer empty = make(DType::F32, {0, other}, {other, 1});
    EXPECT_EQ(message(empty.checkGuards()), "no error");
  }
  HostBuffer scalar = make(DType::F32, {}, {});
  floats(scalar)[0] = 1;
  EXPECT_EQ(message(scalar.checkGuards()), "no error");
}

TEST(HostBufferTest, TooLarge) {
  auto create = [](ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
    Expected<HostBuffer> buffer =
        HostBuffer::create("b", DType::F32, shape, strides);
    return buffer ? "no error" : toString(buffer.takeError());
  };
  int64_t huge = int64_t(1) << 40;
  EXPECT_EQ(create({huge, huge}, {huge, 1}),
            "'b': cannot allocate more than 2^47 bytes");
  EXPECT_EQ(create({2}, {std::numeric_limits<int64_t>::max()}),
            "'b': cannot allocate more than 2^47 bytes");
  EXPECT_EQ(create({2, 2}, {-(int64_t(1) << 62), -(int64_t(1) << 62)}),
            "'b': cannot allocate more than 2^47 bytes");
}

} // namespace
