//===- ParseJSON.cpp ------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ParseJSON.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

static Error checkNesting(StringRef text) {
  constexpr unsigned maxNesting = 64;
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxNesting)
        return createStringError(
            formatv("expects at most {0} levels of nesting", maxNesting));
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return Error::success();
}

Expected<json::Value> attn::parseJSON(StringRef text) {
  if (Error error = checkNesting(text))
    return error;
  Expected<json::Value> value = json::parse(text);
  if (value)
    return value;
  std::string message = toString(value.takeError());
  return createStringError(
      "expects JSON, but got " +
      StringRef(message).take_until([](char c) { return c == '\n'; }));
}
