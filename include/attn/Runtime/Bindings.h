//===- Bindings.h - Files for arguments -------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which file belongs to which argument or result.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_BINDINGS_H
#define ATTN_RUNTIME_BINDINGS_H

#include "attn/Runtime/Npy.h"
#include <map>
#include <string>

namespace attn::rt {

/// Name to path.
using FileMap = std::map<std::string, std::string>;

/// The files of one run.
struct Bindings {
  FileMap inputs;
  FileMap outputs;

  /// Adds "NAME=FILE.npy", the value of the option `option` ("--in"). Fails on
  /// another form and on a name given before.
  static llvm::Error add(FileMap &map, llvm::StringRef option,
                         llvm::StringRef text);
};

/// Receives the content of every output that was asked for, once.
using OutputSink = llvm::function_ref<llvm::Error(llvm::StringRef name,
                                                  const ArrayView &array)>;

/// Calls `run` with a sink that writes the files of `outputs`. They appear, all
/// of them, when `run` succeeds.
llvm::Error writeOutputs(const FileMap &outputs,
                         llvm::function_ref<llvm::Error(OutputSink sink)> run);

/// Fails unless `file`, given for `name`, can hold `dtype` with `shape`; a
/// negative extent stands for any.
llvm::Error checkFile(llvm::StringRef name, const NpyFile &file, DType dtype,
                      llvm::ArrayRef<int64_t> shape);

/// The one element of a file of rank 0 or shape [1], zero-extended.
llvm::Expected<uint64_t> readScalar(llvm::StringRef name, const NpyFile &file,
                                    DType dtype);

} // namespace attn::rt

#endif // ATTN_RUNTIME_BINDINGS_H
