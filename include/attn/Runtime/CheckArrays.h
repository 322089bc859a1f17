//===- CheckArrays.h - Are arrays what an interface asks for? ---*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CHECKARRAYS_H
#define ATTN_RUNTIME_CHECKARRAYS_H

#include "attn/Runtime/Npy.h"

namespace attn::rt {

/// Fails unless `arrays`, by name, are what the function behind `interface`
/// takes: one for every buffer, types, sizes, strides, rules. With `readable`,
/// the numbers in them too.
llvm::Error checkArrays(const manifest::Manifest &interface,
                        const llvm::StringMap<ArrayView> &arrays,
                        bool readable);

/// The rules alone, for sizes that are known; `arrays` may be a part.
llvm::Error checkRules(const manifest::Manifest &interface,
                       const llvm::StringMap<ArrayView> &arrays,
                       const manifest::DimMap &dims, bool readable);

/// The numbers of an array of i32 or i64.
manifest::Integers readIntegers(const ArrayView &array);

} // namespace attn::rt

#endif // ATTN_RUNTIME_CHECKARRAYS_H
