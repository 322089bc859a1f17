//===- WriteReport.cpp - The page around the data -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Report/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

// Page.inc holds page.html, page.css and page.js as string literals, in pieces
// that every compiler takes.
#include "Page.inc"

/// JSON that cannot end the script element it stands in.
static std::string toScript(json::Object data) {
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(data));
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

void attn::report::writeReport(json::Object data, raw_ostream &os) {
  std::string script = toScript(std::move(data));
  StringRef page = pageHTML;
  while (!page.empty()) {
    auto [text, rest] = page.split("@@");
    os << text;
    auto [name, after] = rest.split("@@");
    if (name == "STYLE")
      os << pageCSS;
    else if (name == "SCRIPT")
      os << pageJS;
    else if (name == "DATA")
      os << script;
    page = after;
  }
}
