//===- HostBuffer.cpp - Memory under test ---------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/HostBuffer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;

namespace attn::rt {

/// Also the alignment of the aligned pointer.
static constexpr int64_t guardBytes = 64;

uint8_t getPoisonByte(DType dtype) {
  // The only NaN of the FNUZ formats is negative zero's pattern.
  return dtype == DType::F8E4M3FNUZ || dtype == DType::F8E5M2FNUZ ? 0x80 : 0xff;
}

Expected<HostBuffer> HostBuffer::create(StringRef name, DType dtype,
                                        ArrayRef<int64_t> shape,
                                        ArrayRef<int64_t> strides,
                                        int64_t offset) {
  assert(shape.size() == strides.size());
  int64_t width = manifest::getByteWidth(dtype);
  // Lowest and highest element positions, relative to the aligned pointer.
  int64_t low = offset, high = offset;
  bool overflow = false, empty = is_contained(shape, 0);
  for (auto [extent, stride] : zip_equal(shape, strides)) {
    int64_t reach;
    overflow |= MulOverflow(empty ? 0 : extent - 1, stride, reach) != 0;
    overflow |= reach < 0 ? AddOverflow(low, reach, low) != 0
                          : AddOverflow(high, reach, high) != 0;
  }
  low = std::min<int64_t>(low, 0);
  // 2^47 bytes is the user address space of x86-64.
  constexpr int64_t maxBytes = int64_t(1) << 47;
  overflow |= low < -maxBytes || high > maxBytes;
  HostBuffer buffer;
  if (!overflow) {
    // The part before the aligned pointer keeps its alignment.
    uint64_t before =
        alignTo(static_cast<uint64_t>(-low * width), guardBytes) + guardBytes;
    uint64_t after = (empty ? std::max<int64_t>(high, 0) : high + 1) * width;
    buffer.storageBytes = alignTo(before + after + guardBytes, guardBytes);
    buffer.storage.reset(static_cast<char *>(
        std::aligned_alloc(guardBytes, buffer.storageBytes)));
    buffer.aligned = buffer.storage.get() + before;
  }
  if (!buffer.storage) {
    std::string size =
        overflow ? "more than 2^47" : std::to_string(buffer.storageBytes);
    return createStringError(
        formatv("'{0}': cannot allocate {1} bytes", name, size));
  }
  memset(buffer.storage.get(), getPoisonByte(dtype), buffer.storageBytes);
  buffer.name = name.str();
  buffer.offset = offset;
  buffer.view = {dtype, SmallVector<int64_t>(shape),
                 SmallVector<int64_t>(strides),
                 buffer.aligned + offset * width};
  return buffer;
}

void HostBuffer::assign(const NpyFile &file) {
  assert(file.getShape() == getShape());
  file.copyTo(view.dtype, const_cast<char *>(view.base), view.strides);
}

void HostBuffer::assign(const ArrayView &array) {
  assert(array.shape == view.shape && array.dtype == view.dtype);
  copyElements(array, view);
}

void HostBuffer::poison() {
  uint8_t byte = getPoisonByte(view.dtype);
  forEachElement(view, [byte, width = manifest::getByteWidth(view.dtype)](
                           char *element, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i)
      memset(element + i * stride, byte, width);
  });
}

Error HostBuffer::checkGuards() {
  poison();
  uint8_t byte = getPoisonByte(view.dtype);
  StringRef bytes(storage.get(), storageBytes);
  size_t at = bytes.find_first_not_of(static_cast<char>(byte));
  if (at == StringRef::npos)
    return Error::success();
  int64_t distance = storage.get() + at - view.base;
  return createStringError(
      formatv("'{0}': the program wrote outside of the elements, {1} bytes "
              "{2} the first one",
              name, std::abs(distance), distance < 0 ? "before" : "after"));
}

} // namespace attn::rt
