//===- AllocationTracker.h - The heap of compiled code ----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The heap of compiled code: who allocated what, so that nothing leaks.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ALLOCATIONTRACKER_H
#define ATTN_RUNTIME_ALLOCATIONTRACKER_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

namespace attn::rt {

/// The live allocations of one run of compiled code. Freed on destruction.
class AllocationTracker {
public:
  AllocationTracker() = default;
  AllocationTracker(const AllocationTracker &) = delete;
  AllocationTracker &operator=(const AllocationTracker &) = delete;
  ~AllocationTracker();

  /// True once the code freed an address that was not allocated by it, or not
  /// any more.
  bool sawForeignFree() const { return foreignFree; }

  /// Makes a tracker the one that the allocation functions of this thread use.
  class Scope {
  public:
    explicit Scope(AllocationTracker &tracker);
    ~Scope();

  private:
    AllocationTracker *previous;
  };

  /// malloc, calloc, aligned_alloc and free, to be linked to compiled code.
  static llvm::orc::SymbolMap getSymbols(llvm::orc::MangleAndInterner mangle);

private:
  static void *allocate(size_t bytes);
  static void *allocateZeroed(size_t count, size_t bytes);
  static void *allocateAligned(size_t alignment, size_t bytes);
  static void release(void *pointer);
  static void *record(void *pointer);

  llvm::DenseSet<void *> live;
  bool foreignFree = false;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_ALLOCATIONTRACKER_H
