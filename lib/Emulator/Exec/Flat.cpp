//===- Flat.cpp - FLAT, GLOBAL and SCRATCH --------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ISA/OpTable.h"
#include "Memory.h"

using namespace attn::emu;
using namespace llvm;

namespace {

void count(Wave &w, const LaneAddresses &at, bool store, unsigned bytes) {
  uint64_t total = uint64_t(popcount(at.active)) * bytes;
  (store ? w.globalWrite : w.globalRead) += total;
}

template <LoadKind kind> void load(Wave &w, const Inst &i) {
  LaneAddresses at;
  getFlatAddresses(w, i, at);
  count(w, at, false, i.memBytes);
  forEachLane(at.active, [&](unsigned lane) {
    static const uint8_t zeros[16] = {};
    const uint8_t *from =
        resolve(w, at.space[lane], lane, at.address[lane], i.memBytes, false);
    writeLoaded(w, kind, i.dst, lane, from ? from : zeros, i.memWords);
  });
}

/// Stores memBytes of each lane, starting at bit 16 for the _d16_hi forms.
template <bool high> void store(Wave &w, const Inst &i) {
  LaneAddresses at;
  getFlatAddresses(w, i, at);
  count(w, at, true, i.memBytes);
  const uint32_t *data = w.vgpr(i.vdata);
  forEachLane(at.active, [&](unsigned lane) {
    uint8_t *to =
        resolve(w, at.space[lane], lane, at.address[lane], i.memBytes, true);
    if (!to)
      return;
    if (i.memBytes < 4) {
      uint32_t value = data[lane] >> (high ? 16 : 0);
      std::memcpy(to, &value, i.memBytes);
      return;
    }
    for (unsigned word = 0; word < i.memWords; ++word)
      std::memcpy(to + 4 * word, data + size_t(word) * numLanes + lane, 4);
  });
}

void atomic(Wave &w, const Inst &i) {
  const AtomicOp &op = *static_cast<const AtomicOp *>(i.extra);
  LaneAddresses at;
  getFlatAddresses(w, i, at);
  count(w, at, true, op.bytes);
  forEachLane(at.active, [&](unsigned lane) {
    uint8_t *memory =
        resolve(w, at.space[lane], lane, at.address[lane], op.bytes, true);
    runAtomicLane(w, i, lane, at.address[lane], memory);
  });
}

/// global_load_lds_*: each lane's bytes go to LDS, at a wave-uniform base.
template <LoadKind kind> void loadToLDS(Wave &w, const Inst &i) {
  LaneAddresses at;
  getFlatAddresses(w, i, at);
  count(w, at, false, i.memBytes);
  unsigned bytes = getDMABytes(i);
  uint32_t base = getDMABase(w, i);
  w.ldsDMA += uint64_t(popcount(at.active)) * bytes;
  forEachLane(at.active, [&](unsigned lane) {
    uint8_t *to = resolveLDS(w, uint64_t(base) + lane * bytes, bytes);
    const uint8_t *from =
        resolve(w, at.space[lane], lane, at.address[lane], i.memBytes, false);
    if (!to)
      return;
    uint8_t value[16] = {};
    if (from) {
      std::memcpy(value, from, i.memBytes);
      extendForDMA(kind, i.memBytes, value);
    }
    std::memcpy(to, value, bytes);
  });
}

void nothing(Wave &, const Inst &) {}

} // namespace

void attn::emu::addFlatOps(OpTable &t) {
  auto setup = [&](OpInfo &info, StringRef prefix, unsigned bytes) {
    info.memBytes = bytes;
    info.memWords = bytes < 4 ? 1 : bytes / 4;
    info.traits.isVMEM = 1;
    info.traits.isFlat = prefix == "flat_";
  };
  for (StringRef prefix : {"flat_", "global_", "scratch_"}) {
    InstClass instClass =
        prefix == "scratch_" ? InstClass::Scratch : InstClass::VMEM;
    forEachLoad([&](StringRef name, unsigned bytes, auto kind) {
      OpInfo &info = t.add((prefix + name).str(), "-", instClass,
                           load<decltype(kind)::value>);
      setup(info, prefix, bytes);
      info.traits.isLoad = 1;
    });
    forEachStore([&](StringRef name, unsigned bytes, auto high) {
      OpInfo &info = t.add((prefix + name).str(), "-", instClass,
                           store<decltype(high)::value>);
      setup(info, prefix, bytes);
      info.traits.isStore = 1;
    });
    if (prefix == "scratch_")
      continue;
    for (StringRef name : getGlobalAtomicNames()) {
      const AtomicOp *op = getAtomicOp(name);
      OpInfo &info =
          t.add((prefix + "atomic_" + name).str(), "-", instClass, atomic);
      setup(info, prefix, op->bytes);
      info.memWords = op->dataWords;
      info.extra = op;
      info.traits.isAtomic = 1;
      info.traits.isStore = 1;
    }
  }
  static const struct {
    const char *name;
    unsigned bytes;
    Handler fn;
    bool only950;
  } dma[] = {
      {"global_load_lds_ubyte", 1, loadToLDS<LoadKind::UByte>, false},
      {"global_load_lds_sbyte", 1, loadToLDS<LoadKind::SByte>, false},
      {"global_load_lds_ushort", 2, loadToLDS<LoadKind::UShort>, false},
      {"global_load_lds_sshort", 2, loadToLDS<LoadKind::SShort>, false},
      {"global_load_lds_dword", 4, loadToLDS<LoadKind::Plain>, false},
      {"global_load_lds_dwordx3", 12, loadToLDS<LoadKind::Plain>, true},
      {"global_load_lds_dwordx4", 16, loadToLDS<LoadKind::Plain>, true},
  };
  for (const auto &op : dma) {
    OpInfo &info = t.add(op.name, "-", InstClass::VMEM, op.fn);
    setup(info, "global_", op.bytes);
    info.traits.isLoad = 1;
    info.traits.isLDSDMA = 1;
    info.onlyGFX950 = op.only950;
  }
  for (const char *name : {"buffer_wbl2", "buffer_inv"})
    t.add(name, "-", InstClass::Other, nothing);
}
