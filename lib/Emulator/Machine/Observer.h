//===- Observer.h - Watching execution without taking part ------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_MACHINE_OBSERVER_H
#define ATTN_LIB_EMULATOR_MACHINE_OBSERVER_H

#include "Wave.h"

namespace attn::emu {

/// Sees every instruction of the workgroups of one host thread. Observers must
/// not change a wave.
class Observer {
public:
  virtual ~Observer() = default;
  /// All waves of \p group are set up.
  virtual void beginWorkgroup(const Workgroup &group,
                              llvm::MutableArrayRef<Wave> waves) {}
  /// \p inst is about to run in \p wave.
  virtual void before(Wave &wave, const Inst &inst) {}
  virtual void after(Wave &wave, const Inst &inst) {}
  /// All waves that still run have arrived at a barrier; they go on.
  virtual void barrier(llvm::MutableArrayRef<Wave> waves) {}
  virtual void endWorkgroup(const Workgroup &group,
                            llvm::MutableArrayRef<Wave> waves) {}
  /// LDS bank conflicts counted so far.
  virtual uint64_t getBankConflicts() const { return 0; }
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_MACHINE_OBSERVER_H
