//===- ResolveManifest.cpp - A manifest with sizes ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace attn::manifest {

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

Expected<DimMap>
Manifest::inferDims(const StringMap<SmallVector<int64_t>> &shapes) const {
  DimMap dims;
  // Where a name got its value, for the message about a contradiction.
  StringMap<std::string> origin;

  for (const auto &entry : shapes)
    if (!findBuffer(entry.getKey()))
      return fieldError("buffers", "expects the name of a buffer, but got '" +
                                       entry.getKey() + "'");

  // Names first, in the order of the file, so that expressions can use a name
  // that a later buffer defines.
  for (const Buffer &buffer : buffers) {
    auto it = shapes.find(buffer.name);
    if (it == shapes.end())
      continue;
    ArrayRef<int64_t> shape = it->second;
    if (shape.size() != buffer.shape.size())
      return createStringError(
          formatv("buffer '{0}': expects rank {1}, but got {2}", buffer.name,
                  buffer.shape.size(), shape.size()));
    for (auto [i, size] : enumerate(buffer.shape)) {
      std::optional<StringRef> name = size.getDim();
      if (!name)
        continue;
      if (dims.try_emplace(*name, shape[i]).second)
        origin[*name] = formatv("dimension {0} of '{1}'", i, buffer.name);
    }
  }
  for (const Buffer &buffer : buffers) {
    auto it = shapes.find(buffer.name);
    if (it == shapes.end())
      continue;
    for (auto [i, size] : enumerate(buffer.shape)) {
      Expected<int64_t> expected = size.evaluate(dims);
      if (!expected)
        return createStringError(formatv("buffer '{0}': dimension {1}: {2}",
                                         buffer.name, i,
                                         toString(expected.takeError())));
      if (*expected == it->second[i])
        continue;
      std::string source;
      if (std::optional<StringRef> name = size.getDim())
        source = formatv(" ({0}, from {1})", *name, origin[*name]);
      else if (!size.getConstant())
        source = " (" + size.str() + ")";
      return createStringError(
          formatv("buffer '{0}': expects dimension {1} to be {2}{3}, but got "
                  "{4}",
                  buffer.name, i, *expected, source, it->second[i]));
    }
  }

  for (const Buffer &buffer : buffers) {
    if (none_of(buffer.strides, [&](const SizeExpr &s) {
          return s.getDim() && !dims.contains(*s.getDim());
        }))
      continue;
    int64_t contiguous = 1;
    for (size_t i = buffer.shape.size(); i-- > 0;) {
      std::optional<StringRef> name = buffer.strides[i].getDim();
      if (name)
        dims.try_emplace(*name, contiguous);
      Expected<int64_t> extent = buffer.shape[i].evaluate(dims);
      Expected<int64_t> stride = buffer.strides[i].evaluate(dims);
      int64_t next = 0;
      if (!extent || !stride ||
          MulOverflow(*stride, std::max<int64_t>(*extent, 1), next)) {
        // Left to `resolve`, which reports it if the buffer is used.
        consumeError(extent.takeError());
        consumeError(stride.takeError());
        break;
      }
      contiguous = next;
    }
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static constexpr uint64_t maxBytes = uint64_t(1) << 48;

int64_t ResolvedBuffer::getNumElements() const {
  if (is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Expected<ResolvedBuffer> resolve(const Buffer &buffer, const DimMap &dims) {
  ResolvedBuffer result;
  result.buffer = &buffer;
  auto evaluate = [&](const SizeExpr &size, StringRef what,
                      size_t i) -> Expected<int64_t> {
    Expected<int64_t> value = size.evaluate(dims);
    if (!value)
      return createStringError(formatv("buffer '{0}': {1} {2}: {3}",
                                       buffer.name, what, i,
                                       toString(value.takeError())));
    if (*value < 0)
      return createStringError(
          formatv("buffer '{0}': expects {1} {2} to be non-negative, but got "
                  "{3}",
                  buffer.name, what, i, *value));
    return value;
  };
  auto tooLarge = [&] {
    return createStringError(
        formatv("buffer '{0}': expects at most 2^48 bytes", buffer.name));
  };

  uint64_t last = 0;
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (auto [i, sizes] : enumerate(zip(buffer.shape, buffer.strides))) {
    Expected<int64_t> extent = evaluate(std::get<0>(sizes), "dimension", i);
    if (!extent)
      return extent.takeError();
    Expected<int64_t> stride = evaluate(std::get<1>(sizes), "stride", i);
    if (!stride)
      return stride.takeError();
    result.shape.push_back(*extent);
    result.strides.push_back(*stride);
    empty |= *extent == 0;
    int64_t reach;
    overflow |=
        MulOverflow(std::max<int64_t>(*extent - 1, 0), *stride, reach) != 0;
    overflow |= MulOverflow(count, std::max<int64_t>(*extent, 1), count) != 0;
    overflow |= reach > int64_t(maxBytes) || count > int64_t(maxBytes);
    if (!overflow)
      last += reach;
    overflow |= last > maxBytes;
  }
  if (empty)
    return result;
  if (overflow)
    return tooLarge();
  result.bytes = (last + 1) * getByteWidth(buffer.dtype);
  if (result.bytes > maxBytes)
    return tooLarge();
  return result;
}

Expected<std::array<uint32_t, 3>> resolveGrid(const Launch &launch,
                                              const DimMap &dims) {
  constexpr int64_t limits[3] = {2147483647, 65535, 65535};
  std::array<uint32_t, 3> grid;
  for (unsigned i = 0; i < 3; ++i) {
    Expected<int64_t> extent = launch.grid[i].evaluate(dims);
    if (!extent)
      return createStringError(formatv("launch of '{0}': grid {1}: {2}",
                                       launch.kernel, "xyz"[i],
                                       toString(extent.takeError())));
    if (*extent < 0 || *extent > limits[i])
      return createStringError(
          formatv("launch of '{0}': expects grid {1} from 0 to {2}, but got "
                  "{3}",
                  launch.kernel, "xyz"[i], limits[i], *extent));
    grid[i] = static_cast<uint32_t>(*extent);
  }
  return grid;
}

/// The bits of a scalar argument.
static Expected<uint64_t> evaluateValue(const Arg &arg, const DimMap &dims) {
  auto toF32 = [](double value) {
    float narrow = static_cast<float>(value);
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    return uint64_t(bits);
  };
  if (const auto *number = std::get_if<double>(&*arg.value))
    return toF32(*number);
  Expected<int64_t> value = std::get<SizeExpr>(*arg.value).evaluate(dims);
  if (!value)
    return value.takeError();
  if (arg.kind == ArgKind::F32)
    return toF32(static_cast<double>(*value));
  // Either signedness: a kernel may read an i32 as unsigned.
  if (arg.kind == ArgKind::I32 && !isInt<32>(*value) && !isUInt<32>(*value))
    return createStringError(formatv("expects 32 bits, but got {0}", *value));
  return static_cast<uint64_t>(*value);
}

Expected<std::vector<uint8_t>> packKernarg(const Kernel &kernel,
                                           const DimMap &dims,
                                           AddressFn address, ScalarFn scalar) {
  std::vector<uint8_t> bytes(kernel.kernargBytes, 0);
  for (const Arg &arg : kernel.args) {
    Expected<uint64_t> bits = arg.kind == ArgKind::Pointer
                                  ? address(*arg.buffer)
                              : arg.buffer ? scalar(*arg.buffer)
                                           : evaluateValue(arg, dims);
    if (bits && arg.kind == ArgKind::Pointer && arg.value) {
      // A view: so many bytes behind the start of the buffer.
      Expected<int64_t> offset = std::get<SizeExpr>(*arg.value).evaluate(dims);
      if (offset)
        *bits += *offset;
      else
        bits = offset.takeError();
    }
    if (!bits)
      return createStringError(formatv("kernel '{0}': argument '{1}': {2}",
                                       kernel.name, arg.name,
                                       toString(bits.takeError())));
    for (uint64_t i = 0; i < arg.size; ++i)
      bytes[arg.offset + i] = static_cast<uint8_t>(*bits >> (8 * i));
  }
  return bytes;
}

} // namespace attn::manifest
