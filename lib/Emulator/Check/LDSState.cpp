//===- LDSState.cpp - Who touched which LDS byte --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LDSState.h"

using namespace attn::emu;
using namespace llvm;

void LDSState::reset(unsigned numWaves) {
  ops.clear();
  ops.emplace_back(); // Id 0 is nobody.
  fine = false;
  moreReads.clear();
  cells.assign((ctx.ldsBytes + 3) / 4, {});
  epochs.assign(numWaves, 0);
}

void LDSState::makeFine() {
  std::vector<Cell> bytes(cells.size() * 4);
  for (size_t n = 0; n < bytes.size(); ++n)
    bytes[n] = cells[n / 4];
  cells = std::move(bytes);
  decltype(moreReads) more;
  for (const auto &[index, reads] : moreReads)
    for (size_t n = 0; n < 4; ++n)
      more[index * 4 + n] = reads;
  moreReads = std::move(more);
  fine = true;
}

void LDSState::conflict(const Wave &wave, const Inst &inst, unsigned lane,
                        size_t index, const Op &earlier, bool earlierWrites,
                        bool writes) {
  bool sameWave = earlier.wave == wave.id;
  // With one check off, the other must not stand in for it.
  Check check = sameWave ? Check::Waits : Check::Races;
  if (!ctx.options.checks.has(check))
    return;
  collector.add(check, wave, inst, lane, earlier.inst, earlier.wave, [&] {
    std::string message = formatv(
        "LDS byte {0} is {1} here and {2} by {3}", fine ? index : index * 4,
        writes ? "written" : "read", earlierWrites ? "written" : "read",
        sameWave ? "an earlier operation of the same wave that is not "
                   "known to be complete"
                 : formatv("wave {0}", earlier.wave).str());
    if (!sameWave)
      message += earlier.retired == notRetired
                     ? " with an operation that it has not waited for"
                     : " with no barrier between";
    const char *counter = earlier.dma ? "vmcnt" : "lgkmcnt";
    std::string hint =
        sameWave
            ? formatv("s_waitcnt {0} before this instruction", counter).str()
        : earlier.retired == notRetired
            ? formatv("s_waitcnt {0} in wave {1} before the barrier", counter,
                      earlier.wave)
                  .str()
            : "s_barrier between the two";
    return std::make_pair(message, hint);
  });
}

void LDSState::touchCell(const Wave &wave, const Inst &inst, unsigned lane,
                         size_t index, bool reads, bool writes, uint32_t id) {
  Cell &cell = cells[index];
  const Op &now = ops[id];
  if (cell.write && cell.write != id) {
    const Op &earlier = ops[cell.write];
    bool bothAtomic = earlier.atomic && now.atomic;
    if (earlier.wave != now.wave) {
      if (!bothAtomic && !isOrdered(earlier, wave))
        conflict(wave, inst, lane, index, earlier, true, writes);
    } else if (earlier.retired == notRetired && earlier.dma != now.dma) {
      // DS operations of a wave are in order, DMA among itself too.
      conflict(wave, inst, lane, index, earlier, true, writes);
    }
  }
  if (writes) {
    auto checkRead = [&](uint32_t read) {
      if (!read || read == id)
        return;
      const Op &earlier = ops[read];
      bool bothAtomic = earlier.atomic && now.atomic;
      if (earlier.wave != now.wave) {
        if (!bothAtomic && !isOrdered(earlier, wave))
          conflict(wave, inst, lane, index, earlier, false, true);
      } else if (earlier.retired == notRetired && now.dma) {
        conflict(wave, inst, lane, index, earlier, false, true);
      }
    };
    for (uint32_t read : cell.reads)
      checkRead(read);
    if (!moreReads.empty()) {
      auto more = moreReads.find(index);
      if (more != moreReads.end()) {
        for (uint32_t read : more->second)
          checkRead(read);
        moreReads.erase(more);
      }
    }
    cell.write = id;
  }
  if (reads && cell.reads[0] != id && cell.reads[1] != id) {
    // Replace a read of this wave, else the one that was complete first.
    unsigned slot = 0;
    if (ops[cell.reads[1]].wave == now.wave && cell.reads[1])
      slot = 1;
    else if (!(ops[cell.reads[0]].wave == now.wave && cell.reads[0]))
      slot = !cell.reads[0]                                            ? 0
             : !cell.reads[1]                                          ? 1
             : ops[cell.reads[1]].retired < ops[cell.reads[0]].retired ? 1
                                                                       : 0;
    uint32_t old = cell.reads[slot];
    if (old && ops[old].wave != now.wave && ops[old].retired == notRetired) {
      auto &more = moreReads[index];
      auto same = llvm::find_if(
          more, [&](uint32_t read) { return ops[read].wave == ops[old].wave; });
      if (same != more.end())
        *same = old;
      else
        more.push_back(old);
    }
    cell.reads[slot] = id;
  }
}

void LDSState::touch(const Wave &wave, const Inst &inst, unsigned lane,
                     uint64_t address, unsigned bytes, bool reads, bool writes,
                     uint32_t id) {
  if (address + bytes > ctx.ldsBytes)
    return; // The Bounds check reports it.
  if (!fine && (address % 4 || bytes % 4))
    makeFine();
  size_t begin = fine ? address : address / 4;
  size_t end = fine ? address + bytes : (address + bytes) / 4;
  for (size_t index = begin; index < end; ++index)
    touchCell(wave, inst, lane, index, reads, writes, id);
}

void LDSState::access(const Wave &wave, const Inst &inst, const Access &access,
                      WaveWaits &waits) {
  bool anyLDS = access.dma;
  for (unsigned n = 0; n < access.count && !anyLDS; ++n)
    forEachLane(access.at[n].active, [&](unsigned lane) {
      anyLDS |= access.at[n].space[lane] == Space::LDS;
    });
  if (!anyLDS)
    return;
  Op op;
  op.inst = &inst;
  op.wave = wave.id;
  op.dma = access.dma;
  op.atomic = access.atomic;
  uint32_t id = ops.size();
  ops.push_back(op);
  if (access.dma) {
    waits.ldsByVM.push_back({waits.vm.issued + 1, id});
    forEachLane(access.at[0].active, [&](unsigned lane) {
      touch(wave, inst, lane, uint64_t(access.ldsBase) + lane * access.ldsBytes,
            access.ldsBytes, false, true, id);
    });
    return;
  }
  waits.ldsByLGKM.push_back({waits.lgkm.issued + 1, id});
  for (unsigned n = 0; n < access.count; ++n)
    forEachLane(access.at[n].active, [&](unsigned lane) {
      if (access.at[n].space[lane] == Space::LDS)
        touch(wave, inst, lane, access.at[n].address[lane], access.bytes,
              access.reads, access.writes, id);
    });
}

void LDSState::retire(const Wave &wave, WaveWaits &waits) {
  auto pop = [&](std::deque<WaveWaits::InFlight> &queue,
                 const Counter &counter) {
    while (!queue.empty() && !counter.isPending(queue.front().sequence)) {
      ops[queue.front().id].retired = epochs[wave.id];
      queue.pop_front();
    }
  };
  pop(waits.ldsByVM, waits.vm);
  pop(waits.ldsByLGKM, waits.lgkm);
}

void LDSState::barrier(ArrayRef<Wave> waves) {
  for (const Wave &wave : waves)
    if (wave.state == WaveState::AtBarrier)
      ++epochs[wave.id];
}

void LDSState::end(const Wave &wave, const Inst &inst, WaveWaits &waits) {
  if (waits.ldsByVM.empty() || !ctx.options.checks.has(Check::Waits))
    return;
  const Op &op = ops[waits.ldsByVM.front().id];
  collector.add(Check::Waits, wave, inst, -1, op.inst, std::nullopt, [] {
    return std::make_pair(
        std::string("the wave ends while its DMA to LDS is in flight, which "
                    "may land in the next workgroup's LDS"),
        std::string("s_waitcnt vmcnt(0) before s_endpgm"));
  });
}
