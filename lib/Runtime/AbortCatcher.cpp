//===- AbortCatcher.cpp - Assertions of compiled code ---------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AbortCatcher.h"
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

using namespace llvm;

namespace attn::rt {

namespace {
struct Frame {
  std::jmp_buf end;
  /// The last line for puts, kept back in case an abort follows.
  std::optional<std::string> line;
};
} // namespace

static thread_local Frame *current = nullptr;

static int say(const char *text) {
  if (!current)
    return std::puts(text);
  if (current->line)
    std::puts(current->line->c_str());
  current->line = text;
  return 0;
}

[[noreturn]] static void giveUp() {
  if (current)
    std::longjmp(current->end, 1);
  std::abort();
}

std::optional<std::string> catchAbort(function_ref<void()> code) {
  Frame frame;
  Frame *const previous = current;
  current = &frame;
  volatile bool aborted = true;
  if (setjmp(frame.end) == 0) {
    code();
    aborted = false;
  }
  current = previous;
  if (aborted)
    return frame.line.value_or("");
  if (frame.line)
    std::puts(frame.line->c_str());
  return std::nullopt;
}

orc::SymbolMap getAbortSymbols(orc::MangleAndInterner mangle) {
  const JITSymbolFlags flags =
      JITSymbolFlags::Exported | JITSymbolFlags::Callable;
  return {{mangle("puts"), {orc::ExecutorAddr::fromPtr(&say), flags}},
          {mangle("abort"), {orc::ExecutorAddr::fromPtr(&giveUp), flags}}};
}

} // namespace attn::rt
