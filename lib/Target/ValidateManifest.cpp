//===- ValidateManifest.cpp - What a manifest must fulfil -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace attn::manifest {

static Error checkNegative(const SizeExpr &size, const Twine &path) {
  std::optional<int64_t> value = size.getConstant();
  if (value && *value < 0)
    return fieldError(
        path, formatv("expects a non-negative integer, but got {0}", *value));
  return Error::success();
}

static Error validateBuffer(const Buffer &buffer, const std::string &path) {
  // A page: more than any load needs.
  constexpr uint64_t maxAlignment = 4096;
  if (!isPowerOf2_64(buffer.alignment) || buffer.alignment > maxAlignment)
    return fieldError(path + ".alignment",
                      formatv("expects a power of two up to {0}, but got {1}",
                              maxAlignment, buffer.alignment));
  if (buffer.shape.size() != buffer.strides.size())
    return fieldError(path + ".strides",
                      formatv("expects one stride a dimension of shape, but "
                              "got {0} for {1}",
                              buffer.strides.size(), buffer.shape.size()));
  if (!buffer.reach.empty() && buffer.reach.size() != buffer.shape.size())
    return fieldError(path + ".reach",
                      formatv("expects one count a dimension of shape, but got "
                              "{0} for {1}",
                              buffer.reach.size(), buffer.shape.size()));
  for (auto [i, count] : enumerate(buffer.reach))
    if (count == 0)
      return fieldError(path + ".reach[" + Twine(i) + "]",
                        "expects a positive integer, but got 0");
  for (auto [i, sizes] : enumerate(zip(buffer.shape, buffer.strides))) {
    if (Error error = checkNegative(std::get<0>(sizes),
                                    path + ".shape[" + Twine(i) + "]"))
      return error;
    if (Error error = checkNegative(std::get<1>(sizes),
                                    path + ".strides[" + Twine(i) + "]"))
      return error;
  }
  return Error::success();
}

static Error validateArg(const Manifest &manifest, const Kernel &kernel,
                         const Arg &arg, const std::string &path) {
  unsigned size = getByteWidth(arg.kind);
  if (arg.size != size)
    return fieldError(path + ".size",
                      formatv("expects {0} for {1}, but got {2}", size,
                              stringify(arg.kind), arg.size));
  if (arg.offset % size != 0)
    return fieldError(
        path + ".offset",
        formatv("expects a multiple of {0}, but got {1}", size, arg.offset));
  if (arg.offset > kernel.kernargBytes ||
      kernel.kernargBytes - arg.offset < size)
    return fieldError(path + ".offset",
                      formatv("expects {0} bytes inside kernarg_bytes {1}, but "
                              "got offset {2}",
                              size, kernel.kernargBytes, arg.offset));
  if (arg.kind == ArgKind::Pointer) {
    if (!arg.buffer)
      return fieldError(path, arg.value ? "expects buffer for a pointer, but "
                                          "got a value alone"
                                        : "expects buffer for a pointer, but "
                                          "got nothing");
    if (arg.value && !std::holds_alternative<SizeExpr>(*arg.value))
      return fieldError(path + ".value", "expects a byte offset for a pointer");
  } else if (arg.buffer.has_value() == arg.value.has_value()) {
    return fieldError(path, arg.buffer
                                ? "expects buffer or value, but got both"
                                : "expects buffer or value, but got neither");
  }
  if (arg.value && !arg.buffer) {
    const auto *number = std::get_if<double>(&*arg.value);
    if (number && arg.kind != ArgKind::F32)
      return fieldError(path + ".value",
                        formatv("expects an integer or a size expression for "
                                "{0}, but got {1}",
                                stringify(arg.kind), json::Value(*number)));
    if (number && !(std::abs(*number) <= std::numeric_limits<float>::max()))
      return fieldError(
          path + ".value",
          formatv("expects a finite f32, but got {0:e}", *number));
    return Error::success();
  }
  const Buffer *buffer = manifest.findBuffer(*arg.buffer);
  if (!buffer)
    return fieldError(path + ".buffer",
                      "expects the name of a buffer, but got '" + *arg.buffer +
                          "'");
  if (arg.kind == ArgKind::Pointer)
    return Error::success();
  if (stringify(buffer->dtype) != stringify(arg.kind))
    return fieldError(path + ".buffer",
                      formatv("expects a buffer of dtype {0}, but got '{1}' of "
                              "{2}",
                              stringify(arg.kind), buffer->name,
                              stringify(buffer->dtype)));
  if (!all_of(buffer->shape,
              [](const SizeExpr &s) { return s.getConstant() == 1; }))
    return fieldError(path + ".buffer",
                      "expects a buffer of one element for a scalar, but got "
                      "'" +
                          buffer->name + "'");
  if (buffer->role != Role::Input)
    return fieldError(path + ".buffer",
                      formatv("expects an input for a scalar, but got '{0}' of "
                              "role {1}",
                              buffer->name, stringify(buffer->role)));
  return Error::success();
}

static Error validateKernel(const Manifest &manifest, const Kernel &kernel,
                            const std::string &path) {
  uint64_t threads = 1;
  for (uint32_t extent : kernel.block) {
    // 1024 is the largest workgroup of every AMD chip.
    if (extent == 0 || extent > 1024 || (threads *= extent) > 1024)
      return fieldError(path + ".block",
                        formatv("expects 1 to 1024 work-items, but got "
                                "[{0}, {1}, {2}]",
                                kernel.block[0], kernel.block[1],
                                kernel.block[2]));
  }
  constexpr uint64_t maxKernarg = 1 << 20;
  if (kernel.kernargBytes > maxKernarg)
    return fieldError(path + ".kernarg_bytes",
                      formatv("expects at most {0}, but got {1}", maxKernarg,
                              kernel.kernargBytes));
  StringSet<> names;
  for (auto [i, arg] : enumerate(kernel.args)) {
    std::string argPath = path + ".args[" + std::to_string(i) + "]";
    if (!names.insert(arg.name).second)
      return fieldError(argPath + ".name",
                        "expects a new name, but got '" + arg.name + "' again");
    if (Error error = validateArg(manifest, kernel, arg, argPath))
      return error;
  }
  SmallVector<const Arg *> sorted(make_pointer_range(kernel.args));
  sort(sorted,
       [](const Arg *a, const Arg *b) { return a->offset < b->offset; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->offset + sorted[i - 1]->size > sorted[i]->offset)
      return fieldError(path + ".args", "expects disjoint arguments, but '" +
                                            sorted[i - 1]->name + "' and '" +
                                            sorted[i]->name + "' overlap");
  return Error::success();
}

static Error validateContents(const Manifest &manifest, const Contents &rule,
                              const std::string &path) {
  auto checkBuffer = [&](StringRef name, StringRef field) -> Error {
    const Buffer *buffer = manifest.findBuffer(name);
    if (!buffer)
      return fieldError(path + "." + field,
                        "expects the name of a buffer, but got '" + name + "'");
    if (buffer->dtype != DType::I32 && buffer->dtype != DType::I64)
      return fieldError(path + "." + field,
                        "expects a buffer of i32 or i64, but got '" + name +
                            "' of " + stringify(buffer->dtype));
    return Error::success();
  };
  if (Error error = checkBuffer(rule.buffer, "buffer"))
    return error;
  if (rule.kind != Contents::Kind::Page)
    return Error::success();
  if (rule.pageSize <= 0)
    return fieldError(
        path + ".page_size",
        formatv("expects a positive integer, but got {0}", rule.pageSize));
  size_t rank = manifest.findBuffer(rule.buffer)->shape.size();
  if (rank != 2)
    return fieldError(path + ".buffer",
                      formatv("expects a buffer of rank 2 for pages, but got "
                              "'{0}' of rank {1}",
                              rule.buffer, rank));
  return checkBuffer(rule.lengths, "lengths");
}

Error Manifest::validate() const {
  StringSet<> names;
  for (auto [i, buffer] : enumerate(buffers)) {
    std::string path = "buffers[" + std::to_string(i) + "]";
    if (buffer.name.empty())
      return fieldError(path + ".name", "expects a name, but got \"\"");
    if (!names.insert(buffer.name).second)
      return fieldError(path + ".name", "expects a new name, but got '" +
                                            buffer.name + "' again");
    if (Error error = validateBuffer(buffer, path))
      return error;
  }
  names.clear();
  for (auto [i, kernel] : enumerate(kernels)) {
    std::string path = "kernels[" + std::to_string(i) + "]";
    if (kernel.name.empty())
      return fieldError(path + ".name", "expects a name, but got \"\"");
    if (!names.insert(kernel.name).second)
      return fieldError(path + ".name", "expects a new name, but got '" +
                                            kernel.name + "' again");
    if (Error error = validateKernel(*this, kernel, path))
      return error;
  }
  for (auto [i, launch] : enumerate(launches)) {
    std::string path = "launches[" + std::to_string(i) + "]";
    if (!findKernel(launch.kernel))
      return fieldError(path + ".kernel",
                        "expects the name of a kernel, but got '" +
                            launch.kernel + "'");
    // An expression may well come out as 0, then nothing is launched; a 0 that
    // is written down is a mistake.
    for (auto [d, extent] : enumerate(launch.grid))
      if (std::optional<int64_t> value = extent.getConstant();
          value && *value <= 0)
        return fieldError(
            path + ".grid[" + std::to_string(d) + "]",
            formatv("expects a positive integer, but got {0}", *value));
  }
  for (auto [i, rule] : enumerate(contents))
    if (Error error = validateContents(*this, rule,
                                       "contents[" + std::to_string(i) + "]"))
      return error;
  return Error::success();
}

} // namespace attn::manifest
