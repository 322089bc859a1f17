//===- SoftFloat.h - Narrow float conversions -------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions to narrow floats that LLVM calls when a host lacks them.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_SOFTFLOAT_H
#define ATTN_RUNTIME_SOFTFLOAT_H

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

namespace attn::rt {

/// __truncsfhf2, __truncdfhf2, __extendhfsf2, __truncsfbf2 and __truncdfbf2
/// (names and ABI of compiler-rt): not every libgcc has them all.
llvm::orc::SymbolMap getSoftFloatSymbols(llvm::orc::MangleAndInterner mangle);

} // namespace attn::rt

#endif // ATTN_RUNTIME_SOFTFLOAT_H
