//===- TimedDevice.cpp - Buffers and samples of a timed program -----------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimedDevice.h"
#include "attn/Runtime/HostBuffer.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace attn::manifest;

namespace attn::rt {

/// Bits of `value` in the type `dtype`, rounded to nearest.
static uint64_t encode(double value, DType dtype) {
  const fltSemantics *semantics = nullptr;
  switch (dtype) {
  case DType::F64:
    semantics = &APFloat::IEEEdouble();
    break;
  case DType::F32:
    semantics = &APFloat::IEEEsingle();
    break;
  case DType::F16:
    semantics = &APFloat::IEEEhalf();
    break;
  case DType::BF16:
    semantics = &APFloat::BFloat();
    break;
  case DType::F8E4M3FN:
    semantics = &APFloat::Float8E4M3FN();
    break;
  case DType::F8E4M3FNUZ:
    semantics = &APFloat::Float8E4M3FNUZ();
    break;
  case DType::F8E5M2:
    semantics = &APFloat::Float8E5M2();
    break;
  case DType::F8E5M2FNUZ:
    semantics = &APFloat::Float8E5M2FNUZ();
    break;
  case DType::I1:
    return 1;
  default:
    return 0;
  }
  APFloat number(value);
  bool losesInfo;
  number.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

void TimedDevice::draw(Buffer &buffer, std::mt19937_64 &random) {
  DType dtype = buffer.layout.buffer->dtype;
  unsigned width = getByteWidth(dtype);
  std::normal_distribution<double> normal;
  // A scalar is mostly a scale: keep the scores ordinary.
  if (buffer.layout.shape.empty()) {
    uint64_t bits = encode(0.125, dtype);
    memcpy(buffer.host, &bits, width);
    return;
  }
  // Drawing every element of a long sequence would take longer than the rest.
  // The table's length shares no factor with any row.
  constexpr uint64_t tableLength = 65521;
  std::vector<char> table(tableLength * width);
  for (uint64_t n = 0; n < tableLength; ++n) {
    uint64_t bits = encode(normal(random), dtype);
    memcpy(&table[n * width], &bits, width);
  }
  for (uint64_t at = 0; at < buffer.layout.bytes; at += table.size())
    memcpy(buffer.host + at, table.data(),
           std::min<uint64_t>(table.size(), buffer.layout.bytes - at));
}

/// Makes the buffers, and tells the dims from the shapes of their files.
Error TimedDevice::openFiles(const FileMap &inputs) {
  StringMap<SmallVector<int64_t>> shapes;
  for (const auto &[name, path] : inputs)
    if (!manifest.findBuffer(name) && !is_contained(unusedArgs, name))
      return createStringError("--in expects the name of an argument, but got "
                               "'" +
                               name + "'");
  for (const manifest::Buffer &buffer : manifest.buffers) {
    Buffer &device = buffers.emplace_back();
    device.layout.buffer = &buffer;
    auto input = inputs.find(buffer.name);
    if (input == inputs.end())
      continue;
    Expected<NpyFile> file = NpyFile::open(input->second);
    if (!file)
      return file.takeError();
    SmallVector<int64_t> shape;
    for (const SizeExpr &size : buffer.shape)
      shape.push_back(size.getConstant().value_or(-1));
    if (shape.empty())
      file->makeScalar();
    if (Error error = checkFile(buffer.name, *file, buffer.dtype, shape))
      return error;
    if (!shape.empty())
      shapes[buffer.name].assign(file->getShape().begin(),
                                 file->getShape().end());
    device.file = std::move(*file);
  }
  Expected<DimMap> inferred = manifest.inferDims(shapes);
  if (!inferred)
    return inferred.takeError();
  dims = std::move(*inferred);
  return Error::success();
}

Error TimedDevice::makeBuffers(const FileMap &inputs, uint64_t seed) {
  if (Error error = openFiles(inputs))
    return error;
  std::mt19937_64 random(seed);
  for (Buffer &device : buffers) {
    const manifest::Buffer &buffer = *device.layout.buffer;
    Expected<ResolvedBuffer> layout = resolve(buffer, dims);
    if (!layout)
      return createStringError(toString(layout.takeError()) + "; --in " +
                               buffer.name + "=FILE.npy would give it");
    device.layout = std::move(*layout);
    Expected<uint64_t> address =
        machine.allocate(buffer.name, device.layout.bytes);
    if (!address)
      return address.takeError();
    device.address = *address;
    device.host = machine.getHostPointer(*address);
    if (device.layout.bytes == 0)
      continue;
    if (device.file)
      device.file->copyTo(buffer.dtype, reinterpret_cast<char *>(device.host),
                          device.layout.strides);
    else if (buffer.role == Role::Input)
      draw(device, random);
  }
  return Error::success();
}

Expected<std::vector<PreparedLaunch>> TimedDevice::prepare(StringRef kernel) {
  std::vector<Operand> operands;
  for (const Buffer &buffer : buffers) {
    const manifest::Buffer &described = *buffer.layout.buffer;
    Operand &operand = operands.emplace_back();
    operand.name = described.name;
    operand.dtype = described.dtype;
    operand.shape = buffer.layout.shape;
    operand.strides = buffer.layout.strides;
    operand.address = buffer.address;
    if (buffer.layout.getNumElements() == 1)
      memcpy(&operand.value.emplace(0), buffer.host,
             getByteWidth(described.dtype));
  }
  return prepareLaunches(manifest, operands, kernel);
}

ArrayRef<int64_t> TimedDevice::getQueryShape() const {
  if (buffers.empty())
    return {};
  return buffers.front().layout.shape;
}

uint64_t TimedDevice::countBytes(const Kernel &kernel) const {
  uint64_t bytes = 0;
  for (const Buffer &buffer : buffers)
    if (any_of(kernel.args, [&](const Arg &arg) {
          return arg.kind == ArgKind::Pointer &&
                 arg.buffer == buffer.layout.buffer->name;
        }))
      bytes += buffer.layout.bytes;
  return bytes;
}

Expected<emu::WorkgroupTrace> TimedDevice::record(const PreparedLaunch &launch,
                                                  uint64_t id) {
  emu::LaunchConfig config;
  config.kernel = launch.kernel->name;
  config.grid = launch.grid;
  config.block = launch.kernel->block;
  emu::TraceRecorder recorder;
  emu::LaunchOptions options;
  options.observerFactory = &recorder;
  options.workgroupBegin = id;
  options.workgroupEnd = id + 1;
  Expected<emu::Report> report =
      machine.launch(object, config, launch.kernarg, options);
  if (!report)
    return report.takeError();
  std::vector<emu::WorkgroupTrace> traces = recorder.takeWorkgroups();
  return std::move(traces.front());
}

} // namespace attn::rt
