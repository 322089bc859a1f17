//===- LDSState.h - Who touched which LDS byte ------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The memory model of the Races check: an access is complete when its wave
/// has waited for it, and another wave may rely on that after a barrier that
/// both pass later. Two accesses of different waves of which one writes, and
/// which no such barrier orders, are a race.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CHECK_LDSSTATE_H
#define ATTN_LIB_EMULATOR_CHECK_LDSSTATE_H

#include "Waits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace attn::emu {

class LDSState {
public:
  LDSState(const LaunchContext &ctx, FindingCollector &collector)
      : ctx(ctx), collector(collector) {}

  void reset(unsigned numWaves);

  /// Checks and records an access. Waits and races share the record.
  void access(const Wave &wave, const Inst &inst, const Access &access,
              WaveWaits &waits);
  /// Accesses that \p waits has retired are complete as of now.
  void retire(const Wave &wave, WaveWaits &waits);
  /// Waves at a barrier go on.
  void barrier(llvm::ArrayRef<Wave> waves);
  /// Reports DMA in flight when its wave ends.
  void end(const Wave &wave, const Inst &inst, WaveWaits &waits);

private:
  static constexpr uint32_t notRetired = ~0u;

  struct Op {
    const Inst *inst = nullptr;
    uint32_t retired = notRetired;
    uint8_t wave = 0;
    bool dma = false;
    bool atomic = false;
  };
  /// Last write and two reads (the two that were, or will be, complete last).
  struct Cell {
    uint32_t write = 0;
    uint32_t reads[2] = {0, 0};
  };

  void touch(const Wave &wave, const Inst &inst, unsigned lane,
             uint64_t address, unsigned bytes, bool reads, bool writes,
             uint32_t id);
  void touchCell(const Wave &wave, const Inst &inst, unsigned lane,
                 size_t index, bool reads, bool writes, uint32_t id);
  void conflict(const Wave &wave, const Inst &inst, unsigned lane, size_t index,
                const Op &earlier, bool earlierWrites, bool writes);
  /// True when \p earlier is ordered before an access of \p wave now.
  bool isOrdered(const Op &earlier, const Wave &wave) const {
    return earlier.retired != notRetired && earlier.retired < epochs[wave.id];
  }
  void makeFine();

  const LaunchContext &ctx;
  FindingCollector &collector;
  std::vector<Op> ops;
  /// One cell a dword, or a byte once any access was smaller.
  std::vector<Cell> cells;
  /// Reads of a cell that found no room there while incomplete, one a wave.
  llvm::DenseMap<size_t, llvm::SmallVector<uint32_t, 2>> moreReads;
  bool fine = false;
  /// Barriers each wave has passed.
  std::vector<uint32_t> epochs;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CHECK_LDSSTATE_H
