//===- MetadataTree.h - MessagePack as a checked tree -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The metadata note as a tree. LLVM's msgpack::Document trusts its input (a
/// map whose key is an array ends the process), so this builds on the pull
/// reader below it.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CODEOBJECT_METADATATREE_H
#define ATTN_LIB_EMULATOR_CODEOBJECT_METADATATREE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace attn::emu {

struct MetadataNode {
  enum Kind : uint8_t { Other, Integer, String, Array, Map };
  Kind kind = Other;
  uint64_t integer = 0;
  std::string string;
  /// Elements of an array, values of a map.
  std::vector<MetadataNode> elements;
  /// Keys of a map.
  std::vector<std::string> keys;

  /// The value of \p key of a map; null if absent or not a map.
  const MetadataNode *lookup(llvm::StringRef key) const;
  /// Of an integer or string entry; 0 or empty otherwise.
  uint64_t getInteger(llvm::StringRef key) const;
  llvm::StringRef getString(llvm::StringRef key) const;
  /// Elements of an array entry; empty otherwise.
  const std::vector<MetadataNode> &getArray(llvm::StringRef key) const;
};

/// Parses one MessagePack value. Errors: truncated, too deep, a map key that
/// is not a string.
llvm::Expected<MetadataNode> parseMetadata(llvm::StringRef blob);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CODEOBJECT_METADATATREE_H
