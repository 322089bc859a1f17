//===- Waits.h - What s_waitcnt has made valid ------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Follows the two counters of each wave. vmcnt and lgkmcnt count down in issue
/// order, except that SMEM results come in any order (so with one outstanding
/// only lgkmcnt(0) tells anything), and so may FLAT's. Source: LLVM's
/// SIInsertWaitcnts and the AMDGPU usage guide.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CHECK_WAITS_H
#define ATTN_LIB_EMULATOR_CHECK_WAITS_H

#include "Access.h"
#include "Observers.h"
#include <deque>

namespace attn::emu {

/// Counter values of one wave.
struct Counter {
  uint32_t issued = 0;
  /// Operations with a number up to this are known to be complete.
  uint32_t retired = 0;
  /// The last operation that completes out of order.
  uint32_t lastUnordered = 0;

  bool isPending(uint32_t sequence) const { return sequence > retired; }
  void wait(unsigned remaining) {
    if (remaining && lastUnordered > retired)
      return;
    if (issued > remaining && issued - remaining > retired)
      retired = issued - remaining;
  }
};

/// A wave's registers that wait for memory, and its LDS accesses in flight.
class WaveWaits {
public:
  void reset();

  Counter vm, lgkm;

  /// Reports uses and overwrites of registers that are not valid yet.
  void checkRegisters(FindingCollector &collector, const Wave &wave,
                      const Inst &inst, llvm::ArrayRef<RegRange> regs);
  /// Numbers the memory operation and marks its results.
  void issue(const Inst &inst, llvm::ArrayRef<RegRange> regs);
  /// s_waitcnt.
  void wait(const Inst &inst);

  /// LDS accesses that are not complete: number in its counter and id.
  struct InFlight {
    uint32_t sequence;
    uint32_t id;
  };
  std::deque<InFlight> ldsByVM, ldsByLGKM;

private:
  struct Pending {
    uint32_t vm = 0, lgkm = 0;
    const Inst *inst = nullptr;
  };
  bool isPending(const Pending &pending) const {
    return vm.isPending(pending.vm) || lgkm.isPending(pending.lgkm);
  }
  void report(FindingCollector &collector, const Wave &wave, const Inst &inst,
              const RegRange &range, unsigned reg, const Pending &pending);

  std::array<Pending, 512> vector;
  std::array<Pending, numScalarRegs> scalar;
  /// Nothing is outstanding: the common case needs no look at registers.
  bool anyPending() const {
    return vm.issued != vm.retired || lgkm.issued != lgkm.retired;
  }
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CHECK_WAITS_H
