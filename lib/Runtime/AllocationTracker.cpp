//===- AllocationTracker.cpp - The heap of compiled code ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllocationTracker.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>

using namespace llvm;

namespace attn::rt {

static thread_local AllocationTracker *current = nullptr;

AllocationTracker::Scope::Scope(AllocationTracker &tracker)
    : previous(current) {
  current = &tracker;
}

AllocationTracker::Scope::~Scope() { current = previous; }

AllocationTracker::~AllocationTracker() {
  for (void *pointer : live)
    std::free(pointer);
}

void *AllocationTracker::record(void *pointer) {
  // Compiled code does not look at the pointer before it writes.
  if (!pointer)
    report_bad_alloc_error("the compiled program ran out of memory");
  if (current)
    current->live.insert(pointer);
  return pointer;
}

void *AllocationTracker::allocate(size_t bytes) {
  return record(std::malloc(bytes ? bytes : 1));
}

void *AllocationTracker::allocateZeroed(size_t count, size_t bytes) {
  return record(std::calloc(count ? count : 1, bytes ? bytes : 1));
}

void *AllocationTracker::allocateAligned(size_t alignment, size_t bytes) {
  // The C function wants a multiple of the alignment; compiled code does not.
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return record(std::aligned_alloc(alignment, rounded ? rounded : alignment));
}

void AllocationTracker::release(void *pointer) {
  if (!pointer)
    return;
  if (current && !current->live.erase(pointer)) {
    current->foreignFree = true;
    return;
  }
  std::free(pointer);
}

orc::SymbolMap AllocationTracker::getSymbols(orc::MangleAndInterner mangle) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[mangle(name)] = {orc::ExecutorAddr::fromPtr(function),
                             JITSymbolFlags::Exported |
                                 JITSymbolFlags::Callable};
  };
  add("malloc", &AllocationTracker::allocate);
  add("calloc", &AllocationTracker::allocateZeroed);
  add("aligned_alloc", &AllocationTracker::allocateAligned);
  add("free", &AllocationTracker::release);
  return symbols;
}

} // namespace attn::rt
