//===- Launch.cpp - From operands to launches -----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Launch.h"
#include "attn/Runtime/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace attn::manifest;

namespace attn::rt {

static Error bufferError(StringRef name, const Twine &message) {
  return createStringError("buffer '" + name + "': " + message);
}

static const Operand *findOperand(ArrayRef<Operand> operands, StringRef name) {
  const auto *it =
      find_if(operands, [&](const Operand &o) { return o.name == name; });
  return it == operands.end() ? nullptr : it;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

static Error checkNames(const Manifest &manifest, ArrayRef<Operand> operands) {
  StringSet<> seen;
  for (const Operand &operand : operands) {
    const Buffer *buffer = manifest.findBuffer(operand.name);
    if (!buffer)
      return createStringError(
          "expects buffers of the manifest (" +
          join(map_range(manifest.buffers,
                         [](const Buffer &b) { return b.name; }),
               ", ") +
          "), but got '" + operand.name + "'");
    if (!seen.insert(operand.name).second)
      return bufferError(operand.name, "expects one operand, but got two");
    if (operand.dtype != buffer->dtype)
      return bufferError(operand.name, "expects " + stringify(buffer->dtype) +
                                           ", but got " +
                                           stringify(operand.dtype));
    if (operand.strides && operand.strides->size() != operand.shape.size())
      return bufferError(
          operand.name, formatv("expects a stride for each of {0} dimensions, "
                                "but got {1}",
                                operand.shape.size(), operand.strides->size()));
  }
  return Error::success();
}

/// What the kernels cannot serve, whatever the manifest leaves open.
static Error checkStrides(const Buffer &buffer, const Operand &operand) {
  // Nothing is read or written, and contiguous strides may be 0.
  if (is_contained(operand.shape, 0))
    return Error::success();
  uint64_t width = getByteWidth(buffer.dtype);
  for (auto [i, sizes] : enumerate(zip(operand.shape, *operand.strides))) {
    auto [extent, stride] = sizes;
    if (extent < 2)
      continue;
    if (stride < 0)
      return bufferError(
          buffer.name, formatv("expects stride {0} to be non-negative, but got "
                               "{1}",
                               i, stride));
    if (stride == 0 && buffer.role != Role::Input)
      return bufferError(buffer.name,
                         formatv("expects stride {0} to be positive, since "
                                 "kernels write it, but got 0",
                                 i));
    if (stride * width % buffer.alignment != 0 &&
        // The innermost dimension is the inside of an aligned row.
        i + 1 != operand.shape.size())
      return bufferError(buffer.name,
                         formatv("expects stride {0} to be a multiple of {1} "
                                 "bytes, but got {2} elements of {3}",
                                 i, buffer.alignment, stride, width));
  }
  return Error::success();
}

/// Gives the manifest's free strides the caller's values and compares the
/// others.
static Error matchStrides(const Manifest &manifest, ArrayRef<Operand> operands,
                          DimMap &dims) {
  // A name that no shape has is a stride's own.
  StringSet<> sizes, matched;
  for (const Buffer &buffer : manifest.buffers)
    for (const SizeExpr &size : buffer.shape) {
      SmallVector<StringRef> names;
      size.getDims(names);
      for (StringRef name : names)
        sizes.insert(name);
    }
  for (const Operand &operand : operands) {
    if (!operand.strides)
      continue;
    const Buffer &buffer = *manifest.findBuffer(operand.name);
    if (Error error = checkStrides(buffer, operand))
      return error;
    for (auto [i, stride] : enumerate(buffer.strides)) {
      int64_t given = (*operand.strides)[i];
      if (operand.shape[i] < 2)
        continue;
      std::optional<StringRef> name = stride.getDim();
      if (name && !sizes.contains(*name) && matched.insert(*name).second) {
        dims[*name] = given;
        continue;
      }
      Expected<int64_t> expected = stride.evaluate(dims);
      if (!expected)
        return bufferError(
            operand.name,
            formatv("stride {0}: {1}", i, toString(expected.takeError())));
      if (*expected != given && !is_contained(operand.shape, 0))
        return bufferError(
            operand.name,
            formatv("expects stride {0} to be {1}{2}, but got "
                    "{3}",
                    i, *expected,
                    stride.getConstant() ? "" : " (" + stride.str() + ")",
                    given));
    }
  }
  return Error::success();
}

Expected<DimMap> inferDims(const Manifest &manifest,
                           ArrayRef<Operand> operands) {
  if (Error error = checkNames(manifest, operands))
    return error;
  StringMap<SmallVector<int64_t>> shapes;
  for (const Operand &operand : operands) {
    for (auto [i, extent] : enumerate(operand.shape))
      if (extent < 0)
        return bufferError(operand.name,
                           formatv("expects dimension {0} to be non-negative, "
                                   "but got {1}",
                                   i, extent));
    shapes[operand.name] = operand.shape;
  }
  Expected<DimMap> dims = manifest.inferDims(shapes);
  if (!dims)
    return dims.takeError();
  if (Error error = matchStrides(manifest, operands, *dims))
    return error;
  return dims;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Error checkKernelName(const Manifest &manifest, StringRef kernel) {
  if (kernel.empty() || any_of(manifest.launches, [&](const Launch &launch) {
        return launch.kernel == kernel;
      }))
    return Error::success();
  return createStringError(
      "expects a kernel that the manifest launches (" +
      join(map_range(manifest.launches,
                     [](const Launch &launch) { return launch.kernel; }),
           ", ") +
      "), but got '" + kernel + "'");
}

/// Do kernels reach what they address in 32 bits?
static Error checkReach(const ResolvedBuffer &layout) {
  const Buffer &buffer = *layout.buffer;
  if (buffer.reach.empty() || layout.bytes == 0)
    return Error::success();
  uint64_t elements = 1;
  SmallVector<uint64_t> box;
  for (auto [extent, stride, count] :
       zip(layout.shape, layout.strides, buffer.reach)) {
    box.push_back(std::min<uint64_t>(extent, count));
    elements += (box.back() - 1) * stride;
  }
  uint64_t bytes = elements * getByteWidth(buffer.dtype);
  if (bytes < uint64_t(1) << 31)
    return Error::success();
  return bufferError(
      buffer.name,
      formatv("expects {0:$[x]} neighbouring elements to span less than "
              "2147483648 bytes, but got {1}",
              make_range(box.begin(), box.end()), bytes));
}

/// Is the buffer there, at a legal address?
static Error checkMemory(const Manifest &manifest, const Buffer &buffer,
                         const DimMap &dims, const Operand *operand) {
  Expected<ResolvedBuffer> layout = resolve(buffer, dims);
  if (!layout)
    return layout.takeError();
  if (Error error = checkReach(*layout))
    return error;
  std::string what =
      formatv("{0} {1} ({2})", stringify(buffer.role),
              printShape(layout->shape), stringify(buffer.dtype));
  if (!operand)
    return bufferError(buffer.name, "expects the " + what + ", but got none");
  bool isPointer = false, isValue = false;
  for (const Kernel &kernel : manifest.kernels)
    for (const Arg &arg : kernel.args)
      if (arg.buffer == buffer.name)
        (arg.kind == ArgKind::Pointer ? isPointer : isValue) = true;
  if (isValue && !operand->value)
    return bufferError(buffer.name, "expects a value to pass, but got none");
  if (isPointer && layout->bytes != 0 && operand->address == 0)
    return bufferError(buffer.name,
                       "expects an address of the " + what + ", but got null");
  uint64_t alignment =
      std::max<uint64_t>(buffer.alignment, getByteWidth(buffer.dtype));
  if (operand->address % alignment != 0)
    return bufferError(buffer.name,
                       formatv("expects an address that is a multiple of {0} "
                               "bytes, but got {1:x}",
                               alignment, operand->address));
  return Error::success();
}

/// A view begins somewhere in its buffer, as aligned as the buffer.
static Error checkViews(const Manifest &manifest, const Kernel &kernel,
                        ArrayRef<uint8_t> kernarg) {
  for (const Arg &arg : kernel.args) {
    if (arg.kind != ArgKind::Pointer || !arg.value)
      continue;
    const Buffer &buffer = *manifest.findBuffer(*arg.buffer);
    uint64_t address = support::endian::read64le(&kernarg[arg.offset]);
    if (address % buffer.alignment != 0)
      return bufferError(
          buffer.name, formatv("expects the view that '{0}' takes to begin at "
                               "a multiple of {1} bytes, but got {2:x}",
                               kernel.name, buffer.alignment, address));
  }
  return Error::success();
}

/// The range of hipModuleLaunchKernel, which counts work-items in 32 bits.
static Error checkGrid(const Kernel &kernel,
                       const std::array<uint32_t, 3> &grid) {
  for (unsigned i = 0; i < 3; ++i)
    if (uint64_t(grid[i]) * kernel.block[i] > UINT32_MAX)
      return createStringError(
          formatv("launch of '{0}': expects less than 2^32 work-items in {1}, "
                  "but got {2} workgroups of {3}",
                  kernel.name, "xyz"[i], grid[i], kernel.block[i]));
  return Error::success();
}

Expected<std::vector<PreparedLaunch>>
prepareLaunches(const Manifest &manifest, ArrayRef<Operand> operands,
                StringRef kernel) {
  if (Error error = checkKernelName(manifest, kernel))
    return error;
  Expected<DimMap> dims = inferDims(manifest, operands);
  if (!dims)
    return dims.takeError();
  if (Error error = manifest.checkMultiples(*dims))
    return error;
  for (const Buffer &buffer : manifest.buffers)
    if (Error error = checkMemory(manifest, buffer, *dims,
                                  findOperand(operands, buffer.name)))
      return error;

  std::vector<PreparedLaunch> prepared;
  for (const Launch &launch : manifest.launches) {
    if (!kernel.empty() && launch.kernel != kernel)
      continue;
    Expected<std::array<uint32_t, 3>> grid = resolveGrid(launch, *dims);
    if (!grid)
      return grid.takeError();
    if (is_contained(*grid, 0u))
      continue;
    PreparedLaunch result;
    result.kernel = manifest.findKernel(launch.kernel);
    result.grid = *grid;
    if (Error error = checkGrid(*result.kernel, *grid))
      return error;
    auto kernarg = packKernarg(
        *result.kernel, *dims,
        [&](StringRef name) -> Expected<uint64_t> {
          return findOperand(operands, name)->address;
        },
        [&](StringRef name) -> Expected<uint64_t> {
          return *findOperand(operands, name)->value;
        });
    if (!kernarg)
      return kernarg.takeError();
    if (Error error = checkViews(manifest, *result.kernel, *kernarg))
      return error;
    uint64_t end = 0;
    for (const Arg &arg : result.kernel->args)
      end = std::max(end, arg.offset + arg.size);
    kernarg->resize(end);
    result.kernarg = std::move(*kernarg);
    prepared.push_back(std::move(result));
  }
  return prepared;
}

} // namespace attn::rt
