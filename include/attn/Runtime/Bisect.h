//===- Bisect.h - The level that differs ------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-run --bisect`: the first level of lowering that changes a result.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_BISECT_H
#define ATTN_RUNTIME_BISECT_H

#include "attn/Runtime/Bindings.h"

namespace attn::rt {

/// Runs the module in `path` on the same input at every level that can run: on
/// the host in one tile, in tiles and optimized; then, with a `chip`, its code
/// object on the emulator, not optimized and optimized. Every output of
/// `bindings` is compared with the first level's and `os` gets a line a level.
///
/// Infinities and NaN have to agree; numbers may differ by 2^-14, for f16, bf16
/// and narrower 2^-7, of the largest number of the array (or of 1). The first
/// level that differs, or that fails where the first one ran, is the error. The
/// sink gets the first level's outputs when all levels agree.
llvm::Error bisect(llvm::StringRef path, llvm::StringRef entry,
                   llvm::StringRef chip, const Bindings &bindings,
                   llvm::raw_ostream &os, OutputSink sink);

/// Where and how much two arrays of one shape and type differ.
struct Difference {
  /// Largest distance of numbers, relative to the largest number of `expected`
  /// (or to 1); infinite where an infinity or NaN stands on one side only.
  double distance = 0;
  llvm::SmallVector<int64_t> index;
  double expected = 0, actual = 0;
};
Difference compare(const ArrayView &expected, const ArrayView &actual);

} // namespace attn::rt

#endif // ATTN_RUNTIME_BISECT_H
