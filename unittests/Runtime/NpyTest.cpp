//===- NpyTest.cpp - NumPy's .npy files -----------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Npy.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace attn::rt;

namespace {

/// A file of any version, well formed or not.
std::string makeFile(StringRef header, StringRef data, unsigned major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (unsigned i = 0; i < (major == 1 ? 2 : 4); ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  return file + header.str() + data.str();
}

template <typename T> std::string bytesOf(std::initializer_list<T> values) {
  std::string bytes;
  for (T value : values)
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  return bytes;
}

Expected<NpyFile> parse(StringRef file) {
  return NpyFile::parse(MemoryBuffer::getMemBufferCopy(file, "f.npy"));
}

std::string error(StringRef file) {
  Expected<NpyFile> result = parse(file);
  return result ? "no error" : toString(result.takeError());
}

std::string headerError(StringRef header) {
  return error(makeFile(header, ""));
}

/// All elements in C order.
template <typename T>
std::vector<T> elements(const NpyFile &file, DType dtype) {
  std::vector<T> result(file.getNumElements());
  file.copyTo(dtype, reinterpret_cast<char *>(result.data()),
              getContiguousStrides(file.getShape()));
  return result;
}

const char *const header23 =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(NpyTest, Versions) {
  std::string data = bytesOf<float>({1, 2, 3, 4, 5, 6});
  for (unsigned major : {1, 2, 3}) {
    Expected<NpyFile> file = parse(makeFile(header23, data, major));
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    EXPECT_EQ(file->getType(), NpyType::F4);
    EXPECT_EQ(file->getShape().vec(), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(elements<float>(*file, DType::F32),
              (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(NpyTest, FortranOrder) {
  Expected<NpyFile> file = parse(
      makeFile("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
               bytesOf<float>({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_TRUE(file->isFortranOrder());
  EXPECT_EQ(elements<float>(*file, DType::F32),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(NpyTest, FortranOrderOfThree) {
  // a[i][j][k] = 100 i + 10 j + k, shape (2, 3, 2).
  std::string data;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        data += bytesOf<int32_t>({100 * i + 10 * j + k});
  Expected<NpyFile> file = parse(makeFile(
      "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 2)}", data));
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(elements<int32_t>(*file, DType::I32),
            (std::vector<int32_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120,
                                  121}));
}

TEST(NpyTest, ScalarsAndEmptyArrays) {
  Expected<NpyFile> scalar =
      parse(makeFile("{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                     bytesOf<double>({0.1})));
  ASSERT_TRUE(bool(scalar)) << toString(scalar.takeError());
  EXPECT_TRUE(scalar->getShape().empty());
  EXPECT_EQ(elements<double>(*scalar, DType::F64), std::vector<double>{0.1});

  // One dimension is zero: the others may be anything.
  for (StringRef order : {"True", "False"}) {
    Expected<NpyFile> empty = parse(
        makeFile(("{'descr': '<f4', 'fortran_order': " + order +
                  ", 'shape': (9223372036854775807, 0, 9223372036854775807), }")
                     .str(),
                 ""));
    ASSERT_TRUE(bool(empty)) << toString(empty.takeError());
    EXPECT_EQ(empty->getNumElements(), 0);
    EXPECT_TRUE(elements<float>(*empty, DType::F32).empty());
  }
}

TEST(NpyTest, HeaderSpellings) {
  std::string data = bytesOf<float>({1, 2});
  for (StringRef header :
       {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2L,)}",
        "  {'descr':'<f4','fortran_order':True,'shape':(2,),}   \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2,)}"}) {
    EXPECT_EQ(error(makeFile(header, data)), "no error") << header.str();
  }
}

TEST(NpyTest, Types) {
  struct {
    const char *descr;
    NpyType type;
    unsigned bytes;
  } table[] = {
      {"<f8", NpyType::F8, 8}, {"<f4", NpyType::F4, 4}, {"<f2", NpyType::F2, 2},
      {"<i8", NpyType::I8, 8}, {"<i4", NpyType::I4, 4}, {"<i2", NpyType::I2, 2},
      {"|i1", NpyType::I1, 1}, {"<u2", NpyType::U2, 2}, {"|u1", NpyType::U1, 1},
      {"|b1", NpyType::B1, 1}, {"<i1", NpyType::I1, 1}};
  for (auto &row : table) {
    Expected<NpyFile> file =
        parse(makeFile(("{'descr': '" + Twine(row.descr) +
                        "', 'fortran_order': False, 'shape': (3,)}")
                           .str(),
                       std::string(3 * row.bytes, '\1')));
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    EXPECT_EQ(file->getType(), row.type);
    EXPECT_EQ(file->getNumElements(), 3);
  }
}

TEST(NpyTest, NotAFile) {
  EXPECT_EQ(error(""), "'f.npy': expects a .npy file, but got another format");
  EXPECT_EQ(error("\x93NUMP"),
            "'f.npy': expects a .npy file, but got another format");
  EXPECT_EQ(error("\x93NUMPY\x01"),
            "'f.npy': expects a header, but got the end of the file");
  EXPECT_EQ(error(StringRef("\x93NUMPY\x01\0\x05", 9)),
            "'f.npy': expects a header, but got the end of the file");
  EXPECT_EQ(error(StringRef("\x93NUMPY\x04\0\x00\x00", 10)),
            "'f.npy': expects .npy version 1.0, 2.0 or 3.0, but got 4.0");
  EXPECT_EQ(error(StringRef("\x93NUMPY\x01\1\x00\x00", 10)),
            "'f.npy': expects .npy version 1.0, 2.0 or 3.0, but got 1.1");
}

TEST(NpyTest, TruncationIsNoticedEverywhere) {
  std::string whole = makeFile(header23, bytesOf<float>({1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(error(whole), "no error");
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string message = error(StringRef(whole).take_front(size));
    EXPECT_NE(message, "no error") << size;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_EQ(error(StringRef(whole).drop_back()),
            "'f.npy': expects 24 bytes of data for shape 2x3 of <f4, but "
            "got 23");
  EXPECT_EQ(error(whole + "x"),
            "'f.npy': expects 24 bytes of data for shape 2x3 of <f4, but "
            "got 25");
  EXPECT_EQ(error(makeFile(header23, "").substr(0, 20)),
            "'f.npy': expects a header of 60 bytes, but got the end of the "
            "file after 10");
}

TEST(NpyTest, HugeHeader) {
  std::string file("\x93NUMPY\x02\0\xff\xff\xff\xff{", 13);
  EXPECT_EQ(error(file), "'f.npy': expects a header of at most 65536 bytes, "
                         "but got 4294967295");
  EXPECT_EQ(error(makeFile(std::string(70000, ' '), "", 2)),
            "'f.npy': expects a header of at most 65536 bytes, but got 70000");
}

TEST(NpyTest, HugeShape) {
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(4294967296, 4294967296)}"),
            "'f.npy': expects more than 2^63 bytes of data for shape "
            "4294967296x4294967296 of <f4, but got 0");
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(99999999999999999999,)}"),
            "'f.npy': expects a dimension or ')' in the header, but got "
            "'9999999999999999'");
  std::string many = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (unsigned i = 0; i < 65; ++i)
    many += "1,";
  EXPECT_EQ(headerError(many + ")}"), "'f.npy': expects at most 64 dimensions");
}

TEST(NpyTest, MalformedHeaders) {
  auto field = [](StringRef text) {
    return headerError(
        ("{'descr': '<f4', 'fortran_order': False, " + text).str());
  };
  EXPECT_EQ(headerError(""),
            "'f.npy': expects '{' in the header, but got its end");
  EXPECT_EQ(headerError("[1]"),
            "'f.npy': expects '{' in the header, but got '[1]'");
  EXPECT_EQ(headerError("{}"), "'f.npy': expects key 'descr' in the header");
  EXPECT_EQ(field("}"), "'f.npy': expects key 'shape' in the header");
  EXPECT_EQ(headerError("{'descr': '<f4', 'shape': (1,)}"),
            "'f.npy': expects key 'fortran_order' in the header");
  EXPECT_EQ(
      field("'shape': (-1,)}"),
      "'f.npy': expects a dimension or ')' in the header, but got '-1,)}'");
  EXPECT_EQ(field("'shape': (1 2)}"),
            "'f.npy': expects a dimension or ')' in the header, but got '2)}'");
  EXPECT_EQ(field("'shape': (3)}"),
            "'f.npy': expects a tuple for 'shape' in the header, but got a "
            "number");
  EXPECT_EQ(field("'shape': (3,"),
            "'f.npy': expects a dimension or ')' in the header, but got its "
            "end");
  EXPECT_EQ(field("'shape': 3}"),
            "'f.npy': expects '(' for 'shape' in the header, but got '3}'");
  EXPECT_EQ(field("'shape': (3,) 'x'"),
            "'f.npy': expects ',' or '}' in the header, but got ''x''");
  EXPECT_EQ(field("'shape': (3,)} 7"),
            "'f.npy': expects the end in the header, but got '7'");
  EXPECT_EQ(field("'shape"),
            "'f.npy': expects a key or '}' in the header, but got ''shape'");
  EXPECT_EQ(
      field("'shape': (3,), 'shape': (3,)}"),
      "'f.npy': expects key 'shape' once in the header, but got it twice");
  EXPECT_EQ(field("'extra': 1}"),
            "'f.npy': expects keys 'descr', 'fortran_order' and 'shape' in the "
            "header, but got another one");
  EXPECT_EQ(headerError("{'fortran_order': 0}"),
            "'f.npy': expects True or False for 'fortran_order' in the header, "
            "but got '0}'");
  EXPECT_EQ(
      headerError("{'descr': 4}"),
      "'f.npy': expects a string for 'descr' in the header, but got '4}'");
  EXPECT_EQ(headerError("{'descr': [('a', '<f4')]}"),
            "'f.npy': expects an element type, but got a structure");
  EXPECT_EQ(headerError("{\x01}"), "'f.npy': expects a key or '}' in the "
                                   "header, but got an unprintable character");
}

TEST(NpyTest, WrongTypes) {
  auto type = [](StringRef descr) {
    return headerError(
        ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (0,)}")
            .str());
  };
  EXPECT_EQ(type(">f4"),
            "'f.npy': expects little endian elements, but got '>f4'");
  EXPECT_EQ(type("<c8"),
            "'f.npy': expects element type <f8, <f4, <f2, <i8, <i4, <i2, |i1, "
            "<u2, |u1, |b1, but got '<c8'");
  EXPECT_EQ(type("|O").substr(0, 30), "'f.npy': expects element type ");
  // A message stays one line (found by fuzzing).
  EXPECT_EQ(type("\n").find('\n'), std::string::npos);
  EXPECT_EQ(type(">\n"), "'f.npy': expects little endian elements, but got "
                         "something unprintable");
}

TEST(NpyTest, OpenNamesThePath) {
  Expected<NpyFile> file = NpyFile::open("/nonexistent/q.npy");
  ASSERT_FALSE(bool(file));
  EXPECT_EQ(toString(file.takeError()),
            "cannot read '/nonexistent/q.npy': No such file or directory");
  file = NpyFile::open("/");
  ASSERT_FALSE(bool(file));
  EXPECT_EQ(toString(file.takeError()), "cannot read '/': Is a directory");
}

TEST(NpyTest, Conversions) {
  EXPECT_EQ(describeConvertible(DType::F32), "<f4");
  EXPECT_EQ(describeConvertible(DType::F16), "<f2 or <f4");
  EXPECT_EQ(describeConvertible(DType::BF16), "<u2 or <f4");
  EXPECT_EQ(describeConvertible(DType::I1), "|b1 or |i1");
  EXPECT_EQ(describeConvertible(DType::I64), "<i8 or <i4");
  EXPECT_FALSE(isConvertible(NpyType::F8, DType::F32));
  EXPECT_FALSE(isConvertible(NpyType::F2, DType::BF16));

  Expected<NpyFile> floats =
      parse(makeFile("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}",
                     bytesOf<float>({1.0f, -2.0f, INFINITY, 1.0f + 0x1p-8f})));
  ASSERT_TRUE(bool(floats));
  EXPECT_EQ(elements<uint16_t>(*floats, DType::F16),
            (std::vector<uint16_t>{0x3c00, 0xc000, 0x7c00, 0x3c04}));
  EXPECT_EQ(elements<uint16_t>(*floats, DType::BF16),
            (std::vector<uint16_t>{0x3f80, 0xc000, 0x7f80, 0x3f80}));

  Expected<NpyFile> ints =
      parse(makeFile("{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}",
                     bytesOf<int32_t>({-1, 7})));
  ASSERT_TRUE(bool(ints));
  EXPECT_EQ(elements<int64_t>(*ints, DType::I64),
            (std::vector<int64_t>{-1, 7}));

  Expected<NpyFile> mask =
      parse(makeFile("{'descr': '|i1', 'fortran_order': False, 'shape': (3,)}",
                     bytesOf<int8_t>({0, 2, -1})));
  ASSERT_TRUE(bool(mask));
  EXPECT_EQ(elements<int8_t>(*mask, DType::I1), (std::vector<int8_t>{0, 1, 1}));
}

TEST(NpyTest, CopyToStridesLeavesGaps) {
  Expected<NpyFile> file =
      parse(makeFile(header23, bytesOf<float>({1, 2, 3, 4, 5, 6})));
  ASSERT_TRUE(bool(file));
  std::vector<float> padded(9, -1);
  file->copyTo(DType::F32, reinterpret_cast<char *>(padded.data()), {5, 1});
  EXPECT_EQ(padded, (std::vector<float>{1, 2, 3, -1, -1, 4, 5, 6, -1}));
  std::vector<float> transposed(6);
  file->copyTo(DType::F32, reinterpret_cast<char *>(transposed.data()), {1, 2});
  EXPECT_EQ(transposed, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

std::string write(DType dtype, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> strides, const void *base) {
  std::string text;
  raw_string_ostream os(text);
  writeNpy(os,
           {dtype, SmallVector<int64_t>(shape), SmallVector<int64_t>(strides),
            static_cast<const char *>(base)});
  return text;
}

TEST(NpyTest, WriteReadsBack) {
  float values[] = {1, 2, 3, 4, 5, 6};
  std::string text = write(DType::F32, {2, 3}, {3, 1}, values);
  EXPECT_EQ(text.size(), 128 + sizeof(values));
  EXPECT_EQ(StringRef(text).substr(10, 59),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  Expected<NpyFile> file = parse(text);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(elements<float>(*file, DType::F32),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(NpyTest, WriteGathersStrides) {
  uint16_t values[] = {1, 2, 9, 3, 4, 9};
  Expected<NpyFile> file = parse(write(DType::BF16, {2, 2}, {3, 1}, values));
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(file->getType(), NpyType::U2);
  EXPECT_EQ(elements<uint16_t>(*file, DType::BF16),
            (std::vector<uint16_t>{1, 2, 3, 4}));
  // Negative strides walk backwards.
  file = parse(write(DType::I16, {3}, {-2}, &values[4]));
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(elements<int16_t>(*file, DType::I16),
            (std::vector<int16_t>{4, 9, 1}));
}

TEST(NpyTest, WriteEveryTypeAndRank) {
  double storage[4] = {};
  for (DType dtype :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN,
        DType::I64, DType::I32, DType::I16, DType::I8, DType::I1}) {
    for (const std::vector<int64_t> &shape :
         std::vector<std::vector<int64_t>>{{}, {4}, {0, 3}, {2, 1, 2}}) {
      Expected<NpyFile> file =
          parse(write(dtype, shape, getContiguousStrides(shape), storage));
      ASSERT_TRUE(bool(file)) << toString(file.takeError());
      EXPECT_EQ(file->getShape(), ArrayRef(shape));
      EXPECT_EQ(file->getType(), getNpyType(dtype));
    }
  }
}

TEST(NpyTest, WrittenBooleansAreBooleans) {
  int8_t bytes[] = {0, 1, -1};
  std::string text = write(DType::I1, {3}, {1}, bytes);
  EXPECT_EQ(StringRef(text).take_back(3), StringRef("\0\1\1", 3));
}

} // namespace
