//===- RunKernels.cpp - Files through a device ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunKernels.h"
#include "attn/Runtime/CheckArrays.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using attn::manifest::Buffer;
using attn::manifest::DimMap;
using attn::manifest::Manifest;
using attn::manifest::ResolvedBuffer;
using attn::manifest::Role;

namespace attn::rt {

namespace {
struct FileBuffer {
  ResolvedBuffer layout;
  std::optional<NpyFile> file;
  Operand operand;
};

/// One run: what is in the device's memory.
class KernelRun {
public:
  KernelRun(Device &device, const KernelProgram &program)
      : device(device), manifest(program.manifest),
        unusedArgs(program.unusedArgs), results(program.results) {}
  KernelRun(const KernelRun &) = delete;
  ~KernelRun();

  Error readFiles(const Bindings &bindings);
  Error makeBuffers();
  Error launch(StringRef kernel, const FileMap &outputs);
  Error passOutputs(const FileMap &outputs, OutputSink sink);

private:
  Error checkNames(const Bindings &bindings);
  Error readFile(FileBuffer &buffer, StringRef path);
  Error fill(FileBuffer &buffer);
  Error checkContents();
  Error checkOutputs(const manifest::Kernel &kernel, const FileMap &outputs);

  Device &device;
  const Manifest &manifest;
  ArrayRef<std::string> unusedArgs, results;
  DimMap dims;
  /// In the order of the manifest.
  std::vector<FileBuffer> buffers;
  StringMap<size_t> indexOf;
  /// Of those buffers that are allocated.
  SmallVector<uint64_t> addresses;
  bool launched = false;
};
} // namespace

KernelRun::~KernelRun() {
  // After an error there is a first one to report already.
  for (uint64_t address : addresses)
    consumeError(device.release(address));
}

static std::string listNames(const Manifest &manifest) {
  std::string names;
  for (const Buffer &buffer : manifest.buffers)
    if (buffer.role != Role::Workspace)
      names += (names.empty() ? "" : ", ") + buffer.name;
  return names.empty() ? "none" : names;
}

/// For a buffer without a file: what an input holds cannot be made up.
static Error checkHasFile(const Buffer &buffer) {
  if (buffer.role != Role::Input)
    return Error::success();
  return createStringError("argument '" + buffer.name + "' needs --in " +
                           buffer.name + "=FILE.npy");
}

Error KernelRun::checkNames(const Bindings &bindings) {
  for (const auto &[name, path] : bindings.inputs) {
    if (is_contained(unusedArgs, name))
      continue;
    const Buffer *buffer = manifest.findBuffer(name);
    if (!buffer || buffer->role == Role::Workspace)
      return createStringError("--in expects the name of an argument (" +
                               listNames(manifest) + "), but got '" + name +
                               "'");
  }
  for (const auto &[name, path] : bindings.outputs) {
    // An input may be a destination that turned out to be left alone.
    const Buffer *buffer = manifest.findBuffer(name);
    if (!buffer || buffer->role == Role::Workspace)
      return createStringError("--out expects the name of an argument or "
                               "result (" +
                               listNames(manifest) + "), but got '" + name +
                               "'");
  }
  for (const Buffer &buffer : manifest.buffers)
    if (!bindings.inputs.count(buffer.name) &&
        !bindings.outputs.count(buffer.name))
      if (Error error = checkHasFile(buffer))
        return error;
  return Error::success();
}

Error KernelRun::readFile(FileBuffer &buffer, StringRef path) {
  const Buffer &described = *buffer.layout.buffer;
  Expected<NpyFile> file = NpyFile::open(path);
  if (!file)
    return file.takeError();
  // Static sizes here, with a message about the whole shape; dynamic ones in
  // inferDims.
  SmallVector<int64_t> shape;
  for (const manifest::SizeExpr &size : described.shape)
    shape.push_back(size.getConstant().value_or(-1));
  if (shape.empty())
    file->makeScalar();
  if (Error error = checkFile(described.name, *file, described.dtype, shape))
    return error;
  buffer.operand.shape.assign(file->getShape().begin(), file->getShape().end());
  if (file->getNumElements() == 1) {
    uint64_t bits = 0;
    SmallVector<int64_t> strides(file->getShape().size(), 1);
    file->copyTo(described.dtype, reinterpret_cast<char *>(&bits), strides);
    buffer.operand.value = bits;
  }
  buffer.file = std::move(*file);
  return Error::success();
}

Error KernelRun::readFiles(const Bindings &bindings) {
  if (Error error = checkNames(bindings))
    return error;
  std::vector<Operand> given;
  for (const Buffer &described : manifest.buffers) {
    indexOf[described.name] = buffers.size();
    FileBuffer &buffer = buffers.emplace_back();
    buffer.layout.buffer = &described;
    buffer.operand.name = described.name;
    buffer.operand.dtype = described.dtype;
    auto input = bindings.inputs.find(described.name);
    if (input == bindings.inputs.end())
      continue;
    if (Error error = readFile(buffer, input->second))
      return error;
    given.push_back(buffer.operand);
  }
  Expected<DimMap> inferred = inferDims(manifest, given);
  if (!inferred)
    return inferred.takeError();
  dims = std::move(*inferred);
  return Error::success();
}

Error KernelRun::fill(FileBuffer &buffer) {
  if (!buffer.file)
    return Error::success();
  return device.write(
      buffer.operand.address, buffer.layout.bytes,
      [&](MutableArrayRef<char> bytes) {
        SmallVector<int64_t> strides(buffer.file->getShape().size(), 1);
        if (!buffer.layout.shape.empty())
          strides = buffer.layout.strides;
        buffer.file->copyTo(buffer.operand.dtype, bytes.data(), strides);
      });
}

Error KernelRun::makeBuffers() {
  for (FileBuffer &buffer : buffers) {
    const Buffer &described = *buffer.layout.buffer;
    Expected<ResolvedBuffer> layout = resolve(described, dims);
    if (!layout) {
      std::string message = toString(layout.takeError());
      if (!buffer.file && described.role == Role::Output)
        message += "; --in " + described.name + "=FILE.npy would give it";
      return createStringError(message);
    }
    buffer.layout = std::move(*layout);
    if (!buffer.file && buffer.layout.bytes != 0)
      if (Error error = checkHasFile(described))
        return error;
    Expected<uint64_t> address =
        device.allocate(buffer.layout, buffer.file.has_value());
    if (!address)
      return address.takeError();
    addresses.push_back(*address);
    buffer.operand.address = *address;
    buffer.operand.shape = buffer.layout.shape;
    buffer.operand.strides = buffer.layout.strides;
    if (Error error = fill(buffer))
      return error;
  }
  return Error::success();
}

Error KernelRun::checkContents() {
  return manifest.checkContents(
      dims, [&](StringRef name) -> std::optional<manifest::Integers> {
        const FileBuffer &buffer = buffers[indexOf.lookup(name)];
        if (!buffer.file)
          return std::nullopt;
        ArrayView array{buffer.operand.dtype, buffer.layout.shape,
                        getContiguousStrides(buffer.layout.shape), nullptr};
        std::vector<char> bytes(buffer.layout.getNumElements() *
                                getByteWidth(array.dtype));
        SmallVector<int64_t> strides(buffer.file->getShape().size(), 1);
        if (!array.shape.empty())
          strides = array.strides;
        buffer.file->copyTo(array.dtype, bytes.data(), strides);
        array.base = bytes.data();
        return readIntegers(array);
      });
}

/// What a kernel writes has to be asked for, as on the host, unless it is a
/// function's result.
Error KernelRun::checkOutputs(const manifest::Kernel &kernel,
                              const FileMap &outputs) {
  for (const manifest::Arg &arg : kernel.args) {
    if (!arg.buffer)
      continue;
    const FileBuffer &buffer = buffers[indexOf.lookup(*arg.buffer)];
    if (buffer.layout.buffer->role == Role::Output && !buffer.file &&
        !outputs.count(*arg.buffer) && !is_contained(results, *arg.buffer))
      return createStringError(formatv(
          "argument '{0}' needs --in {0}=FILE.npy or --out {0}=FILE.npy",
          *arg.buffer));
  }
  return Error::success();
}

Error KernelRun::launch(StringRef kernel, const FileMap &outputs) {
  if (Error error = checkContents())
    return error;
  std::vector<Operand> operands;
  for (const FileBuffer &buffer : buffers)
    operands.push_back(buffer.operand);
  Expected<std::vector<PreparedLaunch>> launches =
      prepareLaunches(manifest, operands, kernel);
  if (!launches)
    return launches.takeError();
  for (const PreparedLaunch &launch : *launches)
    if (Error error = checkOutputs(*launch.kernel, outputs))
      return error;
  for (const PreparedLaunch &launch : *launches)
    if (Error error = device.launch(launch))
      return error;
  launched = !launches->empty();
  return device.synchronize();
}

Error KernelRun::passOutputs(const FileMap &outputs, OutputSink sink) {
  for (const auto &[name, path] : outputs) {
    const FileBuffer &buffer = buffers[indexOf.lookup(name)];
    if (!launched && !buffer.file && buffer.layout.bytes != 0)
      return createStringError("'" + name +
                               "': expects a launch that writes it, but no "
                               "launch has workgroups");
    auto pass = [&](ArrayRef<char> bytes) {
      return sink(name, {buffer.operand.dtype, buffer.layout.shape,
                         buffer.layout.strides, bytes.data()});
    };
    if (Error error =
            device.read(buffer.operand.address, buffer.layout.bytes, pass))
      return error;
  }
  return Error::success();
}

Error runKernels(Device &device, const KernelProgram &program, StringRef kernel,
                 const Bindings &bindings, OutputSink sink) {
  if (Error error = checkKernelName(program.manifest, kernel))
    return error;
  if (Error error = device.load(program))
    return error;
  KernelRun run(device, program);
  if (Error error = run.readFiles(bindings))
    return error;
  if (Error error = run.makeBuffers())
    return error;
  if (Error error = run.launch(kernel, bindings.outputs))
    return error;
  return run.passOutputs(bindings.outputs, sink);
}

} // namespace attn::rt
