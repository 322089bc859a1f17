//===- Waits.cpp - What s_waitcnt has made valid --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Waits.h"

using namespace attn::emu;
using namespace llvm;

/// Loads of half a register read the register they write.
static bool isTiedRead(ArrayRef<RegRange> regs, const RegRange &read) {
  for (const RegRange &range : regs)
    if (range.write && range.kind == read.kind && range.first == read.first &&
        range.count == read.count)
      return true;
  return false;
}

void WaveWaits::reset() {
  vm = Counter();
  lgkm = Counter();
  vector.fill({});
  scalar.fill({});
  ldsByVM.clear();
  ldsByLGKM.clear();
}

void WaveWaits::report(FindingCollector &collector, const Wave &wave,
                       const Inst &inst, const RegRange &range, unsigned reg,
                       const Pending &pending) {
  collector.add(Check::Waits, wave, inst, -1, pending.inst, std::nullopt, [&] {
    bool isVector = range.kind == RegRange::Vector;
    std::string name = getRegisterName(isVector, reg);
    // The largest count that still covers the operation.
    std::string fix;
    auto ask = [&](const char *counter, const Counter &state,
                   uint32_t sequence) {
      if (!state.isPending(sequence))
        return;
      unsigned count =
          state.lastUnordered > state.retired ? 0 : state.issued - sequence;
      fix += (fix.empty() ? "s_waitcnt " : " ") + std::string(counter) + "(" +
             std::to_string(count) + ")";
    };
    ask("vmcnt", vm, pending.vm);
    ask("lgkmcnt", lgkm, pending.lgkm);
    return std::make_pair(
        name + (range.write ? " is overwritten before the memory operation "
                              "that writes it is known to be complete"
                            : " is read before the memory operation that "
                              "writes it is known to be complete"),
        fix + " before this instruction");
  });
}

void WaveWaits::checkRegisters(FindingCollector &collector, const Wave &wave,
                               const Inst &inst, ArrayRef<RegRange> regs) {
  if (!anyPending())
    return;
  bool ordered = inst.traits.isVMEM || inst.traits.isDS;
  for (const RegRange &range : regs) {
    if (range.kind == RegRange::SCC)
      continue;
    bool isVector = range.kind == RegRange::Vector;
    for (unsigned n = 0; n < range.count; ++n) {
      unsigned reg = range.first + n;
      Pending &pending =
          isVector ? vector[reg & 511] : scalar[reg & (numScalarRegs - 1)];
      if (!isPending(pending))
        continue;
      // A later load of the same counter lands after the earlier one: writing
      // over it, or keeping its other half, is in order.
      if (ordered && inst.traits.isLoad && isVector) {
        bool sameVM = inst.traits.isVMEM && !inst.traits.isFlat &&
                      vm.isPending(pending.vm) && !lgkm.isPending(pending.lgkm);
        bool sameLGKM = inst.traits.isDS && lgkm.isPending(pending.lgkm) &&
                        !vm.isPending(pending.vm);
        if ((sameVM || sameLGKM) && (range.write || isTiedRead(regs, range)))
          continue;
      }
      report(collector, wave, inst, range, reg, pending);
      // Once is enough.
      pending = Pending();
      break;
    }
  }
}

void WaveWaits::issue(const Inst &inst, ArrayRef<RegRange> regs) {
  Pending pending;
  pending.inst = &inst;
  if (inst.traits.isVMEM) {
    pending.vm = ++vm.issued;
    if (inst.traits.isFlat) {
      pending.lgkm = ++lgkm.issued;
      vm.lastUnordered = vm.issued;
      lgkm.lastUnordered = lgkm.issued;
    }
  } else if (inst.traits.isDS) {
    pending.lgkm = ++lgkm.issued;
  } else if (inst.traits.isSMEM) {
    pending.lgkm = ++lgkm.issued;
    lgkm.lastUnordered = lgkm.issued;
  } else {
    return;
  }
  for (const RegRange &range : regs) {
    if (!range.write || range.implicit || range.kind == RegRange::SCC)
      continue;
    for (unsigned n = 0; n < range.count; ++n) {
      if (range.kind == RegRange::Vector)
        vector[(range.first + n) & 511] = pending;
      else
        scalar[(range.first + n) & (numScalarRegs - 1)] = pending;
    }
  }
}

void WaveWaits::wait(const Inst &inst) {
  unsigned imm = inst.simm & 0xffff;
  // A count at its maximum does not wait.
  unsigned vmCount = (imm & 15) | (imm >> 14 & 3) << 4;
  unsigned lgkmCount = imm >> 8 & 15;
  if (vmCount != 63)
    vm.wait(vmCount);
  if (lgkmCount != 15)
    lgkm.wait(lgkmCount);
}
