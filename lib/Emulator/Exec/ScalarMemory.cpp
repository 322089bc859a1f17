//===- ScalarMemory.cpp - SMEM --------------------------------------------===//
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

void load(Wave &w, const Inst &i) {
  ScalarAddress at = getScalarAddress(w, i);
  for (unsigned word = 0; word < i.memWords; ++word) {
    uint32_t value = 0;
    if (uint64_t(word) * 4 + 4 <= at.available)
      if (const uint8_t *from =
              resolve(w, Space::Global, 0, at.address + 4 * word, 4, false))
        std::memcpy(&value, from, 4);
    if (w.state == WaveState::Faulted)
      return;
    w.sgpr[(i.dst + word) & 127] = value;
  }
  w.globalRead += 4 * i.memWords;
}

void store(Wave &w, const Inst &i) {
  ScalarAddress at = getScalarAddress(w, i);
  for (unsigned word = 0; word < i.memWords; ++word)
    if (uint64_t(word) * 4 + 4 <= at.available)
      if (uint8_t *to =
              resolve(w, Space::Global, 0, at.address + 4 * word, 4, true))
        std::memcpy(to, &w.sgpr[(i.dst + word) & 127], 4);
  w.globalWrite += 4 * i.memWords;
}

/// One operation for the wave; bit 16 (GLC) asks for the value before.
void atomic(Wave &w, const Inst &i) {
  const AtomicOp &op = *static_cast<const AtomicOp *>(i.extra);
  ScalarAddress at = getScalarAddress(w, i);
  uint32_t old[4] = {};
  if (at.available >= op.bytes) {
    uint8_t *memory = resolve(w, Space::Global, 0, at.address, op.bytes, true);
    if (memory && at.address % op.bytes) {
      w.raise("scalar atomic is not aligned to " + Twine(op.bytes) + " bytes");
      return;
    }
    if (memory)
      op.fn(w, memory, &w.sgpr[i.dst], old);
  }
  if (i.raw[0] >> 16 & 1)
    for (unsigned word = 0; word < op.oldWords; ++word)
      w.sgpr[(i.dst + word) & 127] = old[word];
  w.globalWrite += op.bytes;
}

/// Counts this wave's instructions: monotonic, and the same in every run.
void readClock(Wave &w, const Inst &i) { w.set64(i.dst, w.executed * 4); }

void nothing(Wave &, const Inst &) {}

} // namespace

void attn::emu::addScalarMemoryOps(OpTable &t) {
  static const struct {
    const char *suffix;
    const char *dst;
    unsigned words;
  } sizes[] = {{"dword", "b32", 1},
               {"dwordx2", "b64", 2},
               {"dwordx4", "b128", 4},
               {"dwordx8", "b256", 8},
               {"dwordx16", "b512", 16}};
  for (const auto &size : sizes) {
    for (const char *prefix : {"s_load_", "s_buffer_load_"}) {
      OpInfo &info = t.add((Twine(prefix) + size.suffix).str(), size.dst,
                           InstClass::SMEM, load);
      info.memWords = size.words;
      info.traits.isLoad = 1;
    }
  }
  for (const auto &size : ArrayRef(sizes).take_front(3))
    for (const char *prefix : {"s_store_", "s_buffer_store_"}) {
      OpInfo &info = t.add((Twine(prefix) + size.suffix).str(), "-",
                           InstClass::SMEM, store);
      info.memWords = size.words;
      info.traits.isStore = 1;
    }
  for (StringRef name : getGlobalAtomicNames()) {
    if (name.contains("_f") || name.contains("_bf"))
      continue;
    for (const char *prefix : {"s_atomic_", "s_buffer_atomic_"}) {
      OpInfo &info = t.add((prefix + name).str(), "-", InstClass::SMEM, atomic);
      info.memWords = getAtomicOp(name)->bytes / 4;
      info.extra = getAtomicOp(name);
      info.traits.isStore = 1;
      info.traits.isAtomic = 1;
    }
  }
  for (const char *name : {"s_memtime", "s_memrealtime"})
    t.add(name, "b64", InstClass::SMEM, readClock).memWords = 2;
  for (const char *name :
       {"s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol"})
    t.add(name, "-", InstClass::SMEM, nothing);
}
