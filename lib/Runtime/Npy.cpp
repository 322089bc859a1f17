//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Npy.h"
#include "attn/Runtime/Rounding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <cstring>

using namespace llvm;

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeRow {
  StringLiteral name;
  StringLiteral word;
  unsigned bytes;
};
constexpr TypeRow typeTable[] = {
    {"<f8", "f64", 8}, {"<f4", "f32", 4},  {"<f2", "f16", 2}, {"<i8", "i64", 8},
    {"<i4", "i32", 4}, {"<i2", "i16", 2},  {"|i1", "i8", 1},  {"<u2", "u16", 2},
    {"|u1", "u8", 1},  {"|b1", "bool", 1},
};
constexpr unsigned numTypes = std::size(typeTable);
/// NumPy's own reader draws the line at 10000 bytes by default.
constexpr uint64_t maxHeader = 65536;
/// NPY_MAXDIMS.
constexpr size_t maxRank = 64;
} // namespace

StringRef stringify(NpyType type) {
  return typeTable[static_cast<unsigned>(type)].name;
}

StringRef describe(NpyType type) {
  return typeTable[static_cast<unsigned>(type)].word;
}

unsigned getByteWidth(NpyType type) {
  return typeTable[static_cast<unsigned>(type)].bytes;
}

NpyType getNpyType(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return NpyType::F8;
  case DType::F32:
    return NpyType::F4;
  case DType::F16:
    return NpyType::F2;
  case DType::BF16:
    return NpyType::U2;
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
    return NpyType::U1;
  case DType::I64:
    return NpyType::I8;
  case DType::I32:
    return NpyType::I4;
  case DType::I16:
    return NpyType::I2;
  case DType::I8:
    return NpyType::I1;
  case DType::I1:
    return NpyType::B1;
  }
  llvm_unreachable("covered switch");
}

bool isConvertible(NpyType type, DType dtype) {
  if (type == getNpyType(dtype))
    return true;
  switch (dtype) {
  case DType::F16:
  case DType::BF16:
    return type == NpyType::F4;
  case DType::I64:
    return type == NpyType::I4;
  case DType::I1:
    return type == NpyType::I1;
  default:
    return false;
  }
}

std::string describeConvertible(DType dtype) {
  NpyType own = getNpyType(dtype);
  std::string text = stringify(own).str();
  for (unsigned i = 0; i < numTypes; ++i) {
    NpyType type = static_cast<NpyType>(i);
    if (type != own && isConvertible(type, dtype))
      text += (" or " + stringify(type)).str();
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

namespace {
/// The part of Python's literals that a header is made of.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  Error parse() {
    if (!accept('{'))
      return fail("'{'");
    while (!accept('}')) {
      std::string key;
      if (!parseString(key))
        return fail("a key or '}'");
      if (!accept(':'))
        return fail("':'");
      if (Error error = parseField(key))
        return error;
      if (!accept(',') && !peek('}'))
        return fail("',' or '}'");
    }
    skipSpace();
    if (!text.empty())
      return fail("the end");
    if (!descr)
      return createStringError("expects key 'descr' in the header");
    if (!order)
      return createStringError("expects key 'fortran_order' in the header");
    if (!shape)
      return createStringError("expects key 'shape' in the header");
    return Error::success();
  }

  std::optional<std::string> descr;
  std::optional<bool> order;
  std::optional<SmallVector<int64_t>> shape;

private:
  void skipSpace() { text = text.ltrim(" \t\n\r\v\f"); }
  bool peek(char c) {
    skipSpace();
    return text.starts_with(StringRef(&c, 1));
  }
  bool accept(char c) {
    skipSpace();
    return text.consume_front(StringRef(&c, 1));
  }

  Error fail(StringRef what) {
    skipSpace();
    StringRef rest = text.take_front(16).take_while(isPrint);
    return createStringError(
        formatv("expects {0} in the header, but got {1}", what,
                text.empty()   ? "its end"
                : rest.empty() ? "an unprintable character"
                               : ("'" + rest + "'").str()));
  }

  /// No escapes: none of the names needs one.
  bool parseString(std::string &out) {
    skipSpace();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == StringRef::npos)
      return false;
    out = text.substr(1, end - 1).str();
    text = text.drop_front(end + 1);
    return true;
  }

  Error parseField(StringRef key) {
    if (key == "descr") {
      if (peek('['))
        return createStringError(
            "expects an element type, but got a structure");
      std::string value;
      if (!parseString(value))
        return fail("a string for 'descr'");
      if (descr)
        return repeated(key);
      descr = std::move(value);
      return Error::success();
    }
    if (key == "fortran_order") {
      skipSpace();
      bool isTrue = text.consume_front("True");
      if (!isTrue && !text.consume_front("False"))
        return fail("True or False for 'fortran_order'");
      if (order)
        return repeated(key);
      order = isTrue;
      return Error::success();
    }
    if (key == "shape") {
      if (shape)
        return repeated(key);
      return parseShape();
    }
    return createStringError(
        "expects keys 'descr', 'fortran_order' and 'shape' in the header, but "
        "got another one");
  }

  Error repeated(StringRef key) {
    return createStringError("expects key '" + key +
                             "' once in the header, but got it twice");
  }

  Error parseShape() {
    if (!accept('('))
      return fail("'(' for 'shape'");
    shape.emplace();
    bool comma = true;
    while (!accept(')')) {
      skipSpace();
      int64_t extent;
      if (!comma || text.empty() || !isDigit(text.front()) ||
          text.consumeInteger(10, extent))
        return fail("a dimension or ')'");
      // Written by Python 2.
      text.consume_front("L");
      if (shape->size() == maxRank)
        return createStringError(
            formatv("expects at most {0} dimensions", maxRank));
      shape->push_back(extent);
      comma = accept(',');
    }
    // "(3)" is a number in Python, not a shape.
    if (shape->size() == 1 && !comma)
      return createStringError(
          "expects a tuple for 'shape' in the header, but got a number");
    return Error::success();
  }

  StringRef text;
};
} // namespace

static Expected<NpyType> parseType(StringRef descr) {
  for (unsigned i = 0; i < numTypes; ++i) {
    StringRef name = typeTable[i].name;
    // Byte order says nothing about single bytes.
    if (descr == name || (typeTable[i].bytes == 1 && descr.size() == 3 &&
                          StringRef("<>=|").contains(descr[0]) &&
                          descr.drop_front() == name.drop_front()))
      return static_cast<NpyType>(i);
  }
  std::string got = all_of(descr, isPrint)
                        ? "'" + descr.take_front(16).str() + "'"
                        : "something unprintable";
  if (descr.starts_with(">"))
    return createStringError("expects little endian elements, but got " + got);
  return createStringError(
      "expects element type " +
      join(map_range(typeTable, [](const TypeRow &row) { return row.name; }),
           ", ") +
      ", but got " + got);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::string printShape(ArrayRef<int64_t> shape) {
  auto print = [](int64_t extent) {
    return extent < 0 ? "?" : std::to_string(extent);
  };
  return shape.empty() ? "scalar" : join(map_range(shape, print), "x");
}

/// Bytes of an array, or nothing when they do not fit 63 bits.
static std::optional<int64_t> countBytes(ArrayRef<int64_t> shape,
                                         unsigned width) {
  if (is_contained(shape, 0))
    return 0;
  int64_t bytes = width;
  for (int64_t extent : shape)
    if (MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}

Expected<NpyFile> NpyFile::open(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code ec = sys::fs::status(path, status))
    return createStringError("cannot read '" + path + "': " + ec.message());
  if (status.type() == sys::fs::file_type::directory_file)
    return createStringError("cannot read '" + path + "': Is a directory");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (std::error_code ec = buffer.getError())
    return createStringError("cannot read '" + path + "': " + ec.message());
  return parse(std::move(*buffer));
}

/// Everything but the name of the file, which the caller puts in front.
static Error parseInto(StringRef bytes, NpyType &type, bool &fortranOrder,
                       SmallVectorImpl<int64_t> &shape, StringRef &data) {
  if (!bytes.consume_front("\x93NUMPY"))
    return createStringError("expects a .npy file, but got another format");
  if (bytes.size() < 2)
    return createStringError("expects a header, but got the end of the file");
  unsigned major = static_cast<uint8_t>(bytes[0]);
  unsigned minor = static_cast<uint8_t>(bytes[1]);
  bytes = bytes.drop_front(2);
  if (major < 1 || major > 3 || minor != 0)
    return createStringError(formatv(
        "expects .npy version 1.0, 2.0 or 3.0, but got {0}.{1}", major, minor));
  unsigned lengthBytes = major == 1 ? 2 : 4;
  if (bytes.size() < lengthBytes)
    return createStringError("expects a header, but got the end of the file");
  uint64_t length = 0;
  for (unsigned i = 0; i < lengthBytes; ++i)
    length |= uint64_t(static_cast<uint8_t>(bytes[i])) << (8 * i);
  bytes = bytes.drop_front(lengthBytes);
  if (length > maxHeader)
    return createStringError(
        formatv("expects a header of at most {0} bytes, but got {1}", maxHeader,
                length));
  if (length > bytes.size())
    return createStringError(
        formatv("expects a header of {0} bytes, but got the end of the file "
                "after {1}",
                length, bytes.size()));

  HeaderParser header(bytes.take_front(length));
  if (Error error = header.parse())
    return error;
  Expected<NpyType> parsedType = parseType(*header.descr);
  if (!parsedType)
    return parsedType.takeError();
  type = *parsedType;
  fortranOrder = *header.order;
  shape.assign(header.shape->begin(), header.shape->end());
  data = bytes.drop_front(length);
  std::optional<int64_t> size = countBytes(shape, getByteWidth(type));
  if (!size || static_cast<uint64_t>(*size) != data.size())
    return createStringError(
        formatv("expects {0} bytes of data for shape {1} of {2}, but got {3}",
                size ? std::to_string(*size) : "more than 2^63",
                printShape(shape), stringify(type), data.size()));
  return Error::success();
}

Expected<NpyFile> NpyFile::parse(std::unique_ptr<MemoryBuffer> buffer) {
  NpyFile file;
  if (Error error = parseInto(buffer->getBuffer(), file.type, file.fortranOrder,
                              file.shape, file.data))
    return createStringError("'" + buffer->getBufferIdentifier() +
                             "': " + toString(std::move(error)));
  file.buffer = std::move(buffer);
  return file;
}

int64_t NpyFile::getNumElements() const {
  return data.size() / getByteWidth(type);
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

SmallVector<int64_t> getContiguousStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // Without elements nothing is addressed; the product may not even fit.
    if (MulOverflow(stride, std::max<int64_t>(shape[i], 1), stride))
      stride = 0;
  }
  return strides;
}

/// Copies `count` elements; strides in bytes.
using RowFn = void (*)(const char *src, int64_t srcStride, char *dst,
                       int64_t dstStride, int64_t count);

template <unsigned width>
static void copyRow(const char *src, int64_t srcStride, char *dst,
                    int64_t dstStride, int64_t count) {
  if (srcStride == width && dstStride == width) {
    memcpy(dst, src, count * width);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    memcpy(dst + i * dstStride, src + i * srcStride, width);
}

template <typename From, typename To, To (*convert)(From)>
static void convertRow(const char *src, int64_t srcStride, char *dst,
                       int64_t dstStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From from;
    memcpy(&from, src + i * srcStride, sizeof(From));
    To to = convert(from);
    memcpy(dst + i * dstStride, &to, sizeof(To));
  }
}

static int64_t widen(int32_t value) { return value; }
static int8_t isTrue(int8_t value) { return value != 0; }

static RowFn getRowFn(NpyType type, DType dtype) {
  if (dtype == DType::F16 && type == NpyType::F4)
    return convertRow<float, uint16_t, roundToF16>;
  if (dtype == DType::BF16 && type == NpyType::F4)
    return convertRow<float, uint16_t, roundToBF16>;
  if (dtype == DType::I64 && type == NpyType::I4)
    return convertRow<int32_t, int64_t, widen>;
  if (dtype == DType::I1)
    return convertRow<int8_t, int8_t, isTrue>;
  switch (getByteWidth(type)) {
  case 1:
    return copyRow<1>;
  case 2:
    return copyRow<2>;
  case 4:
    return copyRow<4>;
  default:
    return copyRow<8>;
  }
}

/// Calls `row` with the source and destination address of every innermost row,
/// its length and strides. Strides in bytes.
template <typename Row>
static void walk(ArrayRef<int64_t> shape, const char *src,
                 ArrayRef<int64_t> srcStrides, char *dst,
                 ArrayRef<int64_t> dstStrides, Row row) {
  if (is_contained(shape, 0))
    return;
  if (shape.empty())
    return row(src, 0, dst, 0, 1);
  size_t inner = shape.size() - 1;
  SmallVector<int64_t> index(inner, 0);
  while (true) {
    int64_t srcOffset = 0, dstOffset = 0;
    for (size_t i = 0; i < inner; ++i) {
      srcOffset += index[i] * srcStrides[i];
      dstOffset += index[i] * dstStrides[i];
    }
    row(src + srcOffset, srcStrides[inner], dst + dstOffset, dstStrides[inner],
        shape[inner]);
    size_t d = inner;
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

static SmallVector<int64_t> scaled(ArrayRef<int64_t> strides, unsigned width) {
  return to_vector(map_range(strides, [=](int64_t s) { return s * width; }));
}

void NpyFile::copyTo(DType dtype, char *base, ArrayRef<int64_t> strides) const {
  assert(isConvertible(type, dtype) && strides.size() == shape.size());
  SmallVector<int64_t> fileStrides;
  if (fortranOrder) {
    SmallVector<int64_t> reversed(llvm::reverse(shape));
    fileStrides = getContiguousStrides(reversed);
    std::reverse(fileStrides.begin(), fileStrides.end());
  } else {
    fileStrides = getContiguousStrides(shape);
  }
  walk(shape, data.data(), scaled(fileStrides, getByteWidth(type)), base,
       scaled(strides, manifest::getByteWidth(dtype)), getRowFn(type, dtype));
}

void copyElements(const ArrayView &from, const ArrayView &to) {
  assert(from.shape == to.shape && from.dtype == to.dtype);
  unsigned width = manifest::getByteWidth(from.dtype);
  walk(from.shape, from.base, scaled(from.strides, width),
       const_cast<char *>(to.base), scaled(to.strides, width),
       getRowFn(getNpyType(from.dtype), from.dtype));
}

void forEachElement(
    const ArrayView &array,
    function_ref<void(char *first, int64_t count, int64_t stride)> visit) {
  SmallVector<int64_t> strides =
      scaled(array.strides, manifest::getByteWidth(array.dtype));
  walk(array.shape, array.base, strides, const_cast<char *>(array.base),
       strides,
       [&](const char *, int64_t, char *first, int64_t stride, int64_t count) {
         visit(first, count, stride);
       });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void writeNpy(raw_ostream &os, const ArrayView &array) {
  NpyType type = getNpyType(array.dtype);
  std::string header = formatv(
      "{{'descr': '{0}', 'fortran_order': False, 'shape': (", stringify(type));
  for (auto [i, extent] : enumerate(array.shape))
    header += (i ? " " : "") + std::to_string(extent) +
              (i + 1 < array.shape.size() || i == 0 ? "," : "");
  header += "), }";
  // Data starts at a multiple of 64; the header ends in a newline.
  constexpr size_t prefix = 10;
  header.append(alignTo(prefix + header.size() + 1, 64) - prefix -
                    header.size() - 1,
                ' ');
  header += '\n';
  os << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() & 0xff)
     << static_cast<char>(header.size() >> 8) << header;

  unsigned width = getByteWidth(type);
  SmallVector<int64_t> strides = scaled(array.strides, width);
  std::optional<int64_t> bytes = countBytes(array.shape, width);
  assert(bytes && "no array in memory is that large");
  // An i1 goes the long way: its byte may be anything but 0 for true.
  if (array.dtype != DType::I1 &&
      array.strides == getContiguousStrides(array.shape)) {
    os << StringRef(array.base, *bytes);
    return;
  }
  std::vector<char> packed(*bytes);
  walk(array.shape, array.base, strides, packed.data(),
       scaled(getContiguousStrides(array.shape), width),
       getRowFn(type, array.dtype));
  os << StringRef(packed.data(), packed.size());
}

} // namespace attn::rt
