//===- ManifestImpl.h - What the files of the manifest share ----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_MANIFESTIMPL_H
#define ATTN_LIB_TARGET_MANIFESTIMPL_H

#include "attn/Target/Manifest.h"

namespace attn::manifest {

/// An error about the field at `path`, as in kernels[0].args[2].size.
inline llvm::Error fieldError(const llvm::Twine &path,
                              const llvm::Twine &message) {
  return llvm::createStringError(path + ": " + message);
}

/// All of them, for messages.
std::string getDTypeNames();

} // namespace attn::manifest

#endif // ATTN_LIB_TARGET_MANIFESTIMPL_H
