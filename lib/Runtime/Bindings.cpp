//===- Bindings.cpp - Files for arguments ---------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bindings.h"
#include "attn/Runtime/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace attn::rt {

Error Bindings::add(FileMap &map, StringRef option, StringRef text) {
  auto [name, path] = text.split('=');
  if (name.empty() || path.empty())
    return createStringError(option + " expects NAME=FILE.npy, but got '" +
                             text + "'");
  if (!map.insert({name.str(), path.str()}).second)
    return createStringError(option + " expects every name once, but got '" +
                             name + "' again");
  return Error::success();
}

Error writeOutputs(const FileMap &outputs,
                   function_ref<Error(OutputSink sink)> run) {
  OutputFiles files;
  auto sink = [&](StringRef name, const ArrayView &array) {
    return files.add(outputs.at(name.str()),
                     [&](raw_ostream &os) { writeNpy(os, array); });
  };
  if (Error error = run(sink))
    return error;
  return files.commit();
}

static Error checkType(StringRef name, const NpyFile &file, DType dtype) {
  if (isConvertible(file.getType(), dtype))
    return Error::success();
  return createStringError(
      formatv("'{0}': expects {1} (a file of {2}), but got {3} ({4})", name,
              manifest::stringify(dtype), describeConvertible(dtype),
              describe(file.getType()), stringify(file.getType())));
}

Error checkFile(StringRef name, const NpyFile &file, DType dtype,
                ArrayRef<int64_t> shape) {
  if (Error error = checkType(name, file, dtype))
    return error;
  ArrayRef<int64_t> actual = file.getShape();
  if (actual.size() != shape.size())
    return createStringError(formatv(
        "'{0}': expects rank {1} ({2}), but got rank {3} ({4})", name,
        shape.size(), printShape(shape), actual.size(), printShape(actual)));
  if (any_of(zip_equal(actual, shape), [](auto pair) {
        auto [got, expected] = pair;
        return expected >= 0 && got != expected;
      }))
    return createStringError(formatv("'{0}': expects shape {1}, but got {2}",
                                     name, printShape(shape),
                                     printShape(actual)));
  return Error::success();
}

Expected<uint64_t> readScalar(StringRef name, const NpyFile &file,
                              DType dtype) {
  if (Error error = checkType(name, file, dtype))
    return error;
  if (!file.getShape().empty() && file.getShape() != ArrayRef<int64_t>(1))
    return createStringError(
        formatv("'{0}': expects a scalar or one element, but got shape {1}",
                name, printShape(file.getShape())));
  uint64_t bits = 0;
  SmallVector<int64_t> strides(file.getShape().size(), 1);
  file.copyTo(dtype, reinterpret_cast<char *>(&bits), strides);
  return bits;
}

} // namespace attn::rt
