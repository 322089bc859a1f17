//===- ParseJSON.h - JSON from outside --------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_PARSEJSON_H
#define ATTN_TARGET_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace attn {

/// Parses text that anybody may have written. Errors are one line: text that is
/// not JSON, or nested deeper than 64 levels (LLVM's parser recurses, and a
/// stack is finite; what we read needs five).
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

} // namespace attn

#endif // ATTN_TARGET_PARSEJSON_H
