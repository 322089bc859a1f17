//===- LDSCost.cpp - Bank conflicts ---------------------------------------===//

#include "attn/Emulator/Chip.h"
#include "attn/Emulator/Timing/TimingTrace.h"
#include "llvm/ADT/STLExtras.h"

using namespace attn::emu;
using namespace llvm;

/// Group of \p lane in a ds_read_b128.
static unsigned getWideReadGroup(Chip chip, unsigned lane) {
  unsigned half = lane / 32, quad = lane % 32 / 4;
  // By groups of four lanes; lanes 32..63 as lanes 0..31.
  static const uint8_t gfx942[8] = {0, 1, 2, 3, 1, 0, 3, 2};
  static const uint8_t gfx950[8] = {0, 1, 1, 0, 1, 0, 0, 1};
  return chip == Chip::GFX950 ? gfx950[quad] * 2 + half
                              : gfx942[quad] * 2 + half;
}

LDSCost attn::emu::getLDSCost(Chip chip, ArrayRef<uint64_t> addresses,
                              uint64_t active, unsigned bytes, bool isRead) {
  unsigned banks = getNumLDSBanks(chip);
  unsigned dwords = std::max(1u, bytes / 4);
  unsigned perGroup = std::max(1u, std::min(64u, banks / dwords));
  LDSCost cost;
  if (!active)
    return cost;
  // Distinct dwords a bank is asked for, one group at a time.
  unsigned numGroups = (64 + perGroup - 1) / perGroup;
  for (unsigned group = 0; group < numGroups; ++group) {
    SmallVector<uint64_t, 4> seen[64];
    size_t most = 0;
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned of = bytes == 16 && isRead ? getWideReadGroup(chip, lane)
                                          : lane / perGroup;
      if (of != group || !(active >> lane & 1))
        continue;
      uint64_t first = addresses[lane] / 4;
      uint64_t last = (addresses[lane] + bytes - 1) / 4;
      for (uint64_t dword = first; dword <= last; ++dword) {
        auto &bank = seen[dword % banks];
        if (!is_contained(bank, dword))
          bank.push_back(dword);
        most = std::max(most, bank.size());
      }
    }
    if (!most)
      continue;
    cost.passes += most;
    cost.conflicts += most - 1;
  }
  return cost;
}
