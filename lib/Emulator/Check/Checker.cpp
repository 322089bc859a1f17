//===- Checker.cpp - All checks of one thread's workgroups ----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Definedness.h"
#include "Hazards.h"
#include "LDSState.h"
#include "Waits.h"

using namespace attn::emu;
using namespace llvm;

namespace {

class Checker : public Observer {
public:
  Checker(LaunchContext &ctx, FindingCollector &collector)
      : ctx(ctx), collector(collector), checks(ctx.options.checks),
        lds(ctx, collector), definedness(ctx, collector),
        waits(ctx.wavesPerWorkgroup), hazards(ctx.wavesPerWorkgroup) {
    tracksLDS = checks.has(Check::Races) || checks.has(Check::Waits);
  }

  void beginWorkgroup(const Workgroup &group,
                      MutableArrayRef<Wave> waves) override {
    for (WaveWaits &wave : waits)
      wave.reset();
    for (WaveHazards &wave : hazards)
      wave.reset();
    if (tracksLDS)
      lds.reset(waves.size());
    if (checks.has(Check::Uninitialized))
      definedness.reset(waves);
  }

  void before(Wave &wave, const Inst &inst) override {
    ArrayRef<RegRange> regs = ctx.program->getRegs(inst);
    WaveWaits &wait = waits[wave.id];
    if (!computeAccess(wave, inst, access))
      return;
    if (checks.has(Check::Waits))
      wait.checkRegisters(collector, wave, inst, regs);
    if (checks.has(Check::Hazards))
      hazards[wave.id].step(collector, wave, inst, regs);
    if (checks.has(Check::Uninitialized))
      definedness.step(wave, inst, regs, access);
    if (!access.none) {
      checkAccess(wave, inst);
      if (tracksLDS)
        lds.access(wave, inst, access, wait);
    } else if (inst.traits.isSMEM) {
      checkScalarAccess(wave, inst);
    }
    if (!tracksLDS)
      return;
    if (inst.traits.isWaitcnt) {
      wait.wait(inst);
      lds.retire(wave, wait);
    } else if (inst.traits.isEnd) {
      lds.end(wave, inst, wait);
    } else {
      wait.issue(inst, regs);
    }
  }

  void barrier(MutableArrayRef<Wave> waves) override {
    if (tracksLDS)
      lds.barrier(waves);
    if (!checks.has(Check::Barriers))
      return;
    const Wave *ended = nullptr;
    for (const Wave &wave : waves)
      if (wave.state == WaveState::Ended)
        ended = &wave;
    if (!ended)
      return;
    for (const Wave &wave : waves)
      if (wave.state == WaveState::AtBarrier) {
        collector.add(
            Check::Barriers, wave, *(wave.pc - 1), -1, nullptr, ended->id, [&] {
              return std::make_pair(
                  formatv("wave {0} waits at a barrier that wave {1} has "
                          "ended without reaching",
                          wave.id, ended->id)
                      .str(),
                  std::string("let every wave pass the same barriers"));
            });
        return;
      }
  }

  uint64_t getBankConflicts() const override { return bankConflicts; }

private:
  void checkAccess(Wave &wave, const Inst &inst);
  void checkScalarAccess(Wave &wave, const Inst &inst);
  void checkGlobal(Wave &wave, const Inst &inst, int lane, uint64_t address,
                   unsigned bytes, bool reads, bool writes);
  void checkLDS(Wave &wave, const Inst &inst, unsigned lane, uint64_t address,
                unsigned bytes, bool aligned);
  void countBankConflicts(const LaneAddresses &at, unsigned bytes);

  LaunchContext &ctx;
  FindingCollector &collector;
  CheckSet checks;
  bool tracksLDS;
  LDSState lds;
  Definedness definedness;
  std::vector<WaveWaits> waits;
  std::vector<WaveHazards> hazards;
  Access access;
  const Buffer *lastBuffer = nullptr;
  uint64_t bankConflicts = 0;
};

/// "byte 12 of buffer 'k' (1024 bytes)" or what is nearest.
std::string describeAddress(const DeviceMemory &memory, uint64_t address) {
  const Buffer *buffer = memory.find(address);
  std::string text = formatv("address {0:x}", address).str();
  if (buffer)
    return text + formatv(" (byte {0} of buffer '{1}' of {2} bytes)",
                          address - buffer->address, buffer->name, buffer->size)
                      .str();
  buffer = memory.findNearest(address);
  if (!buffer)
    return text;
  if (address < buffer->address)
    return text + formatv(" ({0} bytes before buffer '{1}')",
                          buffer->address - address, buffer->name)
                      .str();
  return text + formatv(" ({0} bytes past the end of buffer '{1}' of {2} "
                        "bytes)",
                        address - buffer->address - buffer->size, buffer->name,
                        buffer->size)
                    .str();
}

void Checker::checkGlobal(Wave &wave, const Inst &inst, int lane,
                          uint64_t address, unsigned bytes, bool reads,
                          bool writes) {
  const Buffer *buffer = lastBuffer;
  if (!buffer || !buffer->contains(address, bytes))
    buffer = ctx.memory->find(address);
  if (!buffer || !buffer->isAccessible(address, bytes)) {
    if (checks.has(Check::Bounds))
      collector.add(Check::Bounds, wave, inst, lane, nullptr, std::nullopt,
                    [&] {
                      return std::make_pair(
                          formatv("{0} of {1} bytes at {2} is outside every "
                                  "buffer",
                                  writes ? "store" : "load", bytes,
                                  describeAddress(*ctx.memory, address))
                              .str(),
                          std::string("guard the access or bound it by its "
                                      "buffer resource"));
                    });
    return;
  }
  lastBuffer = buffer;
  if (writes && buffer->role == BufferRole::Input) {
    if (checks.has(Check::Bounds))
      collector.add(Check::Bounds, wave, inst, lane, nullptr, std::nullopt,
                    [&] {
                      return std::make_pair(
                          formatv("store to input buffer '{0}', byte {1}",
                                  buffer->name, address - buffer->address)
                              .str(),
                          std::string("declare the buffer as in-out, or "
                                      "correct the address"));
                    });
    return;
  }
  if (!buffer->written.data || !checks.has(Check::Unwritten))
    return;
  uint8_t *written = buffer->written.data + (address - buffer->address);
  if (reads && std::memchr(written, 0, bytes))
    collector.add(Check::Unwritten, wave, inst, lane, nullptr, std::nullopt,
                  [&] {
                    return std::make_pair(
                        formatv("load of {0} bytes at byte {1} of buffer '{2}' "
                                "that were never stored",
                                bytes, address - buffer->address, buffer->name)
                            .str(),
                        std::string("store them first, or declare the buffer "
                                    "as in-out"));
                  });
  if (writes)
    std::memset(written, 1, bytes);
}

void Checker::checkLDS(Wave &wave, const Inst &inst, unsigned lane,
                       uint64_t address, unsigned bytes, bool aligned) {
  if (address + bytes > ctx.ldsBytes) {
    if (checks.has(Check::Bounds))
      collector.add(Check::Bounds, wave, inst, lane, nullptr, std::nullopt,
                    [&] {
                      return std::make_pair(
                          formatv("access of {0} bytes at LDS byte {1}, but "
                                  "the workgroup has {2} bytes",
                                  bytes, address, ctx.ldsBytes)
                              .str(),
                          std::string("allocate more LDS or guard the access"));
                    });
    return;
  }
  // 96-bit accesses want the alignment of 128-bit ones.
  unsigned alignment = bytes == 12 ? 16 : bytes;
  if (!aligned || address % alignment == 0 || !checks.has(Check::Alignment))
    return;
  collector.add(Check::Alignment, wave, inst, lane, nullptr, std::nullopt, [&] {
    return std::make_pair(
        formatv("access of {0} bytes at LDS byte {1} is not aligned to {2}",
                bytes, address, alignment)
            .str(),
        std::string("align the address, or use a narrower instruction"));
  });
}

/// Model: banks of one dword serve their width each clock; lanes go in groups
/// that could fill it; a bank asked for n different dwords takes n clocks.
void Checker::countBankConflicts(const LaneAddresses &at, unsigned bytes) {
  unsigned banks = getNumLDSBanks(ctx.chip);
  unsigned perLane = std::max(1u, bytes / 4);
  unsigned group = std::max(1u, std::min<unsigned>(numLanes, banks / perLane));
  for (unsigned begin = 0; begin < numLanes; begin += group) {
    // Most banks are asked for one dword; the others go to a list.
    std::array<uint32_t, 64> first;
    std::array<uint8_t, 64> count = {};
    SmallVector<uint32_t, 64> more;
    unsigned most = 1;
    for (unsigned lane = begin; lane < begin + group; ++lane) {
      if (!(at.active >> lane & 1) || at.space[lane] != Space::LDS)
        continue;
      for (unsigned word = 0; word < perLane; ++word) {
        uint32_t dword = at.address[lane] / 4 + word;
        unsigned bank = dword % banks;
        if (count[bank] == 0) {
          first[bank] = dword;
          count[bank] = 1;
        } else if (first[bank] != dword && !is_contained(more, dword)) {
          more.push_back(dword);
          most = std::max<unsigned>(most, ++count[bank]);
        }
      }
    }
    bankConflicts += most - 1;
  }
}

void Checker::checkAccess(Wave &wave, const Inst &inst) {
  for (unsigned n = 0; n < access.count; ++n) {
    const LaneAddresses &at = access.at[n];
    bool isBuffer = inst.format == Format::MUBUF;
    if (isBuffer && at.dubious && checks.has(Check::BufferRange)) {
      unsigned lane = countr_zero(at.dubious);
      collector.add(
          Check::BufferRange, wave, inst, lane, nullptr, std::nullopt, [&] {
            return std::make_pair(
                std::string("whether this access is in the range of its buffer "
                            "resource depends on how soffset is counted, or "
                            "its offset exceeds 32 bits"),
                std::string("keep vector offset plus scalar offset below "
                            "num_records, or the vector offset beyond it"));
          });
    }
    bool aligned = inst.traits.isDS && !access.atomic;
    forEachLane(at.active & ~at.outOfRange, [&](unsigned lane) {
      uint64_t address = at.address[lane];
      if (at.space[lane] == Space::LDS) {
        checkLDS(wave, inst, lane, address, access.bytes, aligned);
      } else if (at.space[lane] == Space::Global) {
        unsigned bytes = access.bytes;
        if (at.partial && bytes > 4)
          bytes = 4 * at.dwordsInRange[lane];
        checkGlobal(wave, inst, lane, address, bytes, access.reads,
                    access.writes);
      } else if (address + access.bytes > ctx.scratchBytes &&
                 checks.has(Check::Bounds)) {
        collector.add(Check::Bounds, wave, inst, lane, nullptr, std::nullopt,
                      [&] {
                        return std::make_pair(
                            formatv("access of {0} bytes at scratch byte {1}, "
                                    "but a lane has {2} bytes",
                                    access.bytes, address, ctx.scratchBytes)
                                .str(),
                            std::string());
                      });
      }
    });
    if (inst.traits.isDS)
      countBankConflicts(at, access.bytes);
  }
  if (access.dma)
    forEachLane(access.at[0].active, [&](unsigned lane) {
      checkLDS(wave, inst, lane,
               uint64_t(access.ldsBase) + lane * access.ldsBytes,
               access.ldsBytes, false);
    });
}

void Checker::checkScalarAccess(Wave &wave, const Inst &inst) {
  if (!inst.traits.isLoad && !inst.traits.isStore)
    return;
  bool reads = inst.traits.isLoad || inst.traits.isAtomic;
  ScalarAddress at = getScalarAddress(wave, inst);
  for (unsigned word = 0; word < inst.memWords; ++word)
    if (uint64_t(word) * 4 + 4 <= at.available)
      checkGlobal(wave, inst, -1, at.address + 4 * word, 4, reads,
                  inst.traits.isStore);
}

} // namespace

std::unique_ptr<Observer> attn::emu::makeChecker(LaunchContext &ctx,
                                                 FindingCollector &collector) {
  return std::make_unique<Checker>(ctx, collector);
}
