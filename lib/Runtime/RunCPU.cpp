//===- RunCPU.cpp - Files through the host --------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunCPU.h"
#include "ParseModule.h"
#include "attn/Runtime/CheckArrays.h"
#include "attn/Runtime/Interface.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace llvm;
using mlir::ShapedType;

namespace attn::rt {

/// A dynamic offset could be 0; this one shows code that forgets it.
static constexpr int64_t dynamicOffset = 64;

static std::string listNames(ArrayRef<ValueInfo> values) {
  return values.empty()
             ? "none"
             : join(map_range(values, [](auto &v) { return v.name; }), ", ");
}

/// Every name has to be known and every argument needs a file.
static Error checkNames(const Signature &signature, const Bindings &bindings) {
  for (const auto &[name, path] : bindings.inputs)
    if (!signature.findArg(name))
      return createStringError("--in expects the name of an argument (" +
                               listNames(signature.args) + "), but got '" +
                               name + "'");
  for (const auto &[name, path] : bindings.outputs) {
    const ValueInfo *arg = signature.findArg(name);
    if (arg && arg->kind != ValueInfo::Kind::MemRef)
      return createStringError("--out expects a result or a memref, but '" +
                               name + "' is another argument");
    if (arg || signature.findResult(name))
      continue;
    std::vector<ValueInfo> writable = signature.results;
    copy_if(signature.args, std::back_inserter(writable),
            [](auto &v) { return v.kind == ValueInfo::Kind::MemRef; });
    return createStringError("--out expects the name of a result or memref (" +
                             listNames(writable) + "), but got '" + name + "'");
  }
  for (const ValueInfo &arg : signature.args) {
    bool given = bindings.inputs.contains(arg.name) ||
                 bindings.outputs.contains(arg.name);
    if (!given)
      return createStringError("argument '" + arg.name + "' needs --in " +
                               arg.name + "=FILE.npy" +
                               (arg.kind == ValueInfo::Kind::MemRef
                                    ? " or --out " + arg.name + "=FILE.npy"
                                    : ""));
  }
  return Error::success();
}

/// Strides for `shape`: those of the type, and in the place of dynamic ones the
/// smallest that keep rows apart.
static SmallVector<int64_t> chooseStrides(const ValueInfo &info,
                                          ArrayRef<int64_t> shape) {
  if (info.kind == ValueInfo::Kind::Tensor)
    return getContiguousStrides(shape);
  SmallVector<int64_t> strides(info.strides);
  int64_t next = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (ShapedType::isDynamic(strides[i]))
      strides[i] = next;
    int64_t reach;
    // An overflow here is one of the whole buffer, which is refused there.
    if (!MulOverflow(std::abs(strides[i]), std::max<int64_t>(shape[i], 1),
                     reach))
      next = std::max(next, reach);
  }
  return strides;
}

/// The memory of one shaped argument, filled from its file or poisoned.
static Expected<HostBuffer> makeBuffer(const ValueInfo &info,
                                       const NpyFile *file) {
  SmallVector<int64_t> shape(info.shape);
  if (file)
    shape.assign(file->getShape().begin(), file->getShape().end());
  else if (is_contained(shape, ShapedType::kDynamic))
    return createStringError(formatv(
        "'{0}': expects --in {0}=FILE.npy to give the sizes of shape {1}",
        info.name, printShape(info.shape)));
  Expected<HostBuffer> buffer = HostBuffer::create(
      info.name, info.dtype, shape, chooseStrides(info, shape),
      ShapedType::isDynamic(info.offset) ? dynamicOffset : info.offset);
  if (buffer && file)
    buffer->assign(*file);
  return buffer;
}

/// Sizes that have to be equal, and numbers that have to be in range: compiled
/// code counts on both.
static Error checkInterface(const manifest::Manifest &interface,
                            const Signature &signature,
                            ArrayRef<ArgValue> args) {
  StringMap<ArrayView> arrays;
  StringMap<SmallVector<int64_t>> shapes;
  for (auto [info, arg] : zip_equal(signature.args, args)) {
    ArrayView &array = arrays[info.name];
    if (const auto *buffer = std::get_if<HostBuffer *>(&arg))
      array = (*buffer)->getView();
    else // The bits of a scalar, little endian.
      array = {info.dtype,
               {},
               {},
               reinterpret_cast<const char *>(std::get_if<uint64_t>(&arg))};
    shapes[info.name] = array.shape;
  }
  Expected<manifest::DimMap> dims = interface.inferDims(shapes);
  if (!dims)
    return dims.takeError();
  return checkRules(interface, arrays, *dims, /*readable=*/true);
}

Error runOnCPU(StringRef path, StringRef entry, const Bindings &bindings,
               const CPUOptions &options, OutputSink sink) {
  mlir::DialectRegistry registry;
  registerCPUDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = parseModule(path, context);
  if (!module)
    return module.takeError();
  Expected<mlir::func::FuncOp> function = findEntry(**module, entry);
  if (!function)
    return function.takeError();
  Expected<Signature> signature = getSignature(*function);
  if (!signature)
    return signature.takeError();
  if (Error error = checkNames(*signature, bindings))
    return error;

  // The compiler does not leave the ops that say it.
  Expected<manifest::Manifest> interface =
      describeInterface(*function, *signature, "cpu");
  if (!interface)
    return interface.takeError();

  // All files are looked at before the compiler does any work.
  std::deque<HostBuffer> buffers;
  std::vector<ArgValue> args;
  StringMap<HostBuffer *> bufferOf;
  for (const ValueInfo &info : signature->args) {
    std::optional<NpyFile> file;
    auto input = bindings.inputs.find(info.name);
    if (input != bindings.inputs.end()) {
      Expected<NpyFile> opened = NpyFile::open(input->second);
      if (!opened)
        return opened.takeError();
      file = std::move(*opened);
    }
    if (!info.isShaped()) {
      Expected<uint64_t> bits = readScalar(info.name, *file, info.dtype);
      if (!bits)
        return bits.takeError();
      args.emplace_back(*bits);
      continue;
    }
    if (file && info.shape.empty())
      file->makeScalar();
    if (file)
      if (Error error = checkFile(info.name, *file, info.dtype, info.shape))
        return error;
    Expected<HostBuffer> buffer = makeBuffer(info, file ? &*file : nullptr);
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(std::move(*buffer));
    bufferOf[info.name] = &buffers.back();
    args.emplace_back(&buffers.back());
  }

  if (Error error = checkInterface(*interface, *signature, args))
    return error;

  auto program = CPUProgram::compile(**module, entry, options);
  if (!program)
    return program.takeError();
  Expected<CPUResults> results = (*program)->run(args);
  if (!results)
    return results.takeError();

  for (const auto &[name, path] : bindings.outputs) {
    const ArrayView *view = nullptr;
    if (HostBuffer *buffer = bufferOf.lookup(name))
      view = &buffer->getView();
    else
      view =
          &results
               ->views[signature->findResult(name) - signature->results.data()];
    if (Error error = sink(name, *view))
      return error;
  }
  for (HostBuffer &buffer : buffers)
    if (Error error = buffer.checkGuards())
      return error;
  return Error::success();
}

} // namespace attn::rt
