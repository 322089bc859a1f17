//===- Buffer.cpp - MUBUF, with DMA to LDS --------------------------------===//
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

/// Copies the dwords of a lane that are in range; the rest is 0.
void read(Wave &w, const Inst &i, const LaneAddresses &at, unsigned lane,
          uint8_t *value) {
  std::memset(value, 0, 16);
  if (at.outOfRange >> lane & 1)
    return;
  unsigned bytes = i.memBytes;
  if (at.partial && bytes > 4)
    bytes = 4 * at.dwordsInRange[lane];
  if (const uint8_t *from =
          resolve(w, Space::Global, lane, at.address[lane], bytes, false))
    std::memcpy(value, from, bytes);
}

template <LoadKind kind> void load(Wave &w, const Inst &i) {
  LaneAddresses at;
  if (!getBufferAddresses(w, i, at))
    return;
  w.globalRead += uint64_t(popcount(at.active & ~at.outOfRange)) * i.memBytes;
  if (i.lds) {
    unsigned bytes = getDMABytes(i);
    uint32_t base = getDMABase(w, i);
    w.ldsDMA += uint64_t(popcount(at.active)) * bytes;
    forEachLane(at.active, [&](unsigned lane) {
      uint8_t value[16];
      read(w, i, at, lane, value);
      extendForDMA(kind, i.memBytes, value);
      if (uint8_t *to = resolveLDS(w, uint64_t(base) + lane * bytes, bytes))
        std::memcpy(to, value, bytes);
    });
    return;
  }
  forEachLane(at.active, [&](unsigned lane) {
    uint8_t value[16];
    read(w, i, at, lane, value);
    writeLoaded(w, kind, i.dst, lane, value, i.memWords);
  });
}

template <bool high> void store(Wave &w, const Inst &i) {
  LaneAddresses at;
  if (!getBufferAddresses(w, i, at))
    return;
  uint64_t lanes = at.active & ~at.outOfRange;
  w.globalWrite += uint64_t(popcount(lanes)) * i.memBytes;
  const uint32_t *data = w.vgpr(i.vdata);
  forEachLane(lanes, [&](unsigned lane) {
    unsigned bytes = i.memBytes;
    if (at.partial && bytes > 4)
      bytes = 4 * at.dwordsInRange[lane];
    uint8_t *to =
        resolve(w, Space::Global, lane, at.address[lane], bytes, true);
    if (!to)
      return;
    if (bytes < 4) {
      uint32_t value = data[lane] >> (high ? 16 : 0);
      std::memcpy(to, &value, bytes);
      return;
    }
    for (unsigned word = 0; word < bytes / 4; ++word)
      std::memcpy(to + 4 * word, data + size_t(word) * numLanes + lane, 4);
  });
}

void atomic(Wave &w, const Inst &i) {
  const AtomicOp &op = *static_cast<const AtomicOp *>(i.extra);
  LaneAddresses at;
  if (!getBufferAddresses(w, i, at))
    return;
  w.globalWrite += uint64_t(popcount(at.active & ~at.outOfRange)) * op.bytes;
  forEachLane(at.active, [&](unsigned lane) {
    bool inRange = !(at.outOfRange >> lane & 1);
    uint8_t *memory = inRange ? resolve(w, Space::Global, lane,
                                        at.address[lane], op.bytes, true)
                              : nullptr;
    runAtomicLane(w, i, lane, at.address[lane], memory);
  });
}

} // namespace

void attn::emu::addBufferOps(OpTable &t) {
  auto setup = [&](StringRef name, unsigned bytes, Handler fn) -> OpInfo & {
    OpInfo &info = t.add(("buffer_" + name).str(), "-", InstClass::VMEM, fn);
    info.memBytes = bytes;
    info.memWords = bytes < 4 ? 1 : bytes / 4;
    info.traits.isVMEM = 1;
    return info;
  };
  forEachLoad([&](StringRef name, unsigned bytes, auto kind) {
    setup(name, bytes, load<decltype(kind)::value>).traits.isLoad = 1;
  });
  forEachStore([&](StringRef name, unsigned bytes, auto high) {
    setup(name, bytes, store<decltype(high)::value>).traits.isStore = 1;
  });
  for (StringRef name : getGlobalAtomicNames()) {
    const AtomicOp *op = getAtomicOp(name);
    OpInfo &info = setup(("atomic_" + name).str(), op->bytes, atomic);
    info.onlyGFX950 = name == "pk_add_bf16";
    info.memWords = op->dataWords;
    info.extra = op;
    info.traits.isAtomic = 1;
    info.traits.isStore = 1;
  }
}
