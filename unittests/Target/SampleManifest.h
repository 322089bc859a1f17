//===- SampleManifest.h - A manifest, and mistakes in it --------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_TARGET_SAMPLEMANIFEST_H
#define ATTN_UNITTESTS_TARGET_SAMPLEMANIFEST_H

#include "attn/Target/Manifest.h"
#include "gtest/gtest.h"

namespace attn::manifest {

inline Manifest parseText(llvm::StringRef sample) {
  llvm::Expected<Manifest> manifest = Manifest::parse(sample);
  if (!manifest) {
    ADD_FAILURE() << toString(manifest.takeError());
    return {};
  }
  return *manifest;
}

/// The error after replacing `from`, which has to occur once, in the sample.
inline std::string mutateText(llvm::StringRef sample, llvm::StringRef from,
                              llvm::StringRef to) {
  std::string text = sample.str();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from.str();
  if (at == std::string::npos)
    return "";
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from.str();
  text.replace(at, from.size(), to);
  llvm::Expected<Manifest> manifest = Manifest::parse(text);
  return manifest ? "no error" : toString(manifest.takeError());
}

} // namespace attn::manifest

#endif // ATTN_UNITTESTS_TARGET_SAMPLEMANIFEST_H
