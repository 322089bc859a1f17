//===- OutputFiles.h - All files or none ------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that appear all together or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_OUTPUTFILES_H
#define ATTN_RUNTIME_OUTPUTFILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace attn::rt {

/// Collects files under temporary names beside their final ones. `commit`
/// renames them; without it the destructor removes them. Something that is not
/// a regular file (a device, a pipe) is written at commit.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Writes one file's content. Fails when the directory is missing or not
  /// writable, when `path` is a directory or was added before, or when the
  /// disk is full.
  llvm::Error add(llvm::StringRef path,
                  llvm::function_ref<void(llvm::raw_ostream &)> write);

  /// Gives all files their names. When one fails, those already named are
  /// removed again.
  llvm::Error commit();

private:
  struct Entry {
    /// As given, for messages, and with links resolved.
    std::string path, target;
    std::optional<llvm::sys::fs::TempFile> temporary;
    /// Content of what is not a regular file.
    std::string direct;
  };
  std::vector<Entry> entries;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_OUTPUTFILES_H
