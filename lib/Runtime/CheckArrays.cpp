//===- CheckArrays.cpp - Are arrays what an interface asks for? -----------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/CheckArrays.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;
using attn::manifest::Buffer;
using attn::manifest::DType;
using attn::manifest::Integers;
using attn::manifest::Manifest;
using attn::manifest::Role;

namespace attn::rt {

static Error checkPresence(const Manifest &interface,
                           const StringMap<ArrayView> &arrays) {
  for (const auto &entry : arrays)
    if (!interface.findBuffer(entry.getKey()))
      return createStringError(
          "expects the names of buffers (" +
          join(map_range(interface.buffers, [](auto &b) { return b.name; }),
               ", ") +
          "), but got '" + entry.getKey() + "'");
  for (const Buffer &buffer : interface.buffers) {
    auto it = arrays.find(buffer.name);
    if (it == arrays.end())
      return createStringError(formatv(
          "expects a buffer '{0}', which the program {1}, but got none",
          buffer.name, buffer.role == Role::Output ? "writes" : "reads"));
    const ArrayView &array = it->second;
    if (array.dtype != buffer.dtype)
      return createStringError(formatv(
          "buffer '{0}': expects {1}, but got {2}", buffer.name,
          manifest::stringify(buffer.dtype), manifest::stringify(array.dtype)));
    if (any_of(array.shape, [](int64_t size) { return size < 0; }))
      return createStringError(
          formatv("buffer '{0}': expects sizes that are not negative, but got "
                  "{1}",
                  buffer.name, printShape(array.shape)));
    auto address = reinterpret_cast<uintptr_t>(array.base);
    if (!address && !is_contained(array.shape, 0))
      return createStringError(
          formatv("buffer '{0}': expects memory, but got NULL", buffer.name));
    if (address % manifest::getByteWidth(buffer.dtype))
      return createStringError(
          formatv("buffer '{0}': expects an address that is a multiple of {1}",
                  buffer.name, manifest::getByteWidth(buffer.dtype)));
  }
  return Error::success();
}

static Error checkStrides(const Buffer &buffer, const ArrayView &array,
                          const manifest::DimMap &dims) {
  if (is_contained(array.shape, 0))
    return Error::success();
  for (auto [d, stride] : enumerate(array.strides)) {
    if (array.shape[d] < 2)
      continue;
    if (stride < 0 || (stride == 0 && buffer.role == Role::Output))
      return createStringError(formatv(
          "buffer '{0}': expects stride {1} to be {2}, but got {3}",
          buffer.name, d,
          buffer.role == Role::Output ? "positive" : "0 or more", stride));
    std::optional<StringRef> name = buffer.strides[d].getDim();
    if (name && name->contains(".stride"))
      continue;
    Expected<int64_t> expected = buffer.strides[d].evaluate(dims);
    if (!expected)
      return expected.takeError();
    if (*expected != stride)
      return createStringError(
          formatv("buffer '{0}': expects stride {1} to be {2}, but got {3}",
                  buffer.name, d, *expected, stride));
  }
  return Error::success();
}

Integers readIntegers(const ArrayView &array) {
  Integers numbers;
  numbers.shape.assign(array.shape.begin(), array.shape.end());
  if (is_contained(array.shape, 0))
    return numbers;
  forEachElement(array, [&](char *first, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      const char *element = first + i * stride;
      int32_t narrow;
      int64_t wide;
      if (array.dtype == DType::I32) {
        memcpy(&narrow, element, sizeof(narrow));
        numbers.values.push_back(narrow);
      } else if (array.dtype == DType::I64) {
        memcpy(&wide, element, sizeof(wide));
        numbers.values.push_back(wide);
      }
    }
  });
  return numbers;
}

Error checkRules(const Manifest &interface, const StringMap<ArrayView> &arrays,
                 const manifest::DimMap &dims, bool readable) {
  if (Error error = interface.checkMultiples(dims))
    return error;
  if (!readable)
    return Error::success();
  return interface.checkContents(
      dims, [&](StringRef name) -> std::optional<Integers> {
        auto it = arrays.find(name);
        if (it == arrays.end())
          return std::nullopt;
        return readIntegers(it->second);
      });
}

Error checkArrays(const Manifest &interface, const StringMap<ArrayView> &arrays,
                  bool readable) {
  if (Error error = checkPresence(interface, arrays))
    return error;
  StringMap<SmallVector<int64_t>> shapes;
  for (const auto &entry : arrays)
    shapes[entry.getKey()] = entry.second.shape;
  manifest::DimMap dims;
  if (Error error = interface.inferDims(shapes).moveInto(dims))
    return error;
  for (const Buffer &buffer : interface.buffers)
    if (Error error =
            checkStrides(buffer, arrays.find(buffer.name)->second, dims))
      return error;
  return checkRules(interface, arrays, dims, readable);
}

} // namespace attn::rt
