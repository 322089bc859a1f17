//===- LDS.cpp - DS -------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ISA/OpTable.h"
#include "Memory.h"
#include "attn/Emulator/Numerics/Convert.h"

using namespace attn::emu;
using namespace llvm;

namespace {

template <LoadKind kind> void read(Wave &w, const Inst &i) {
  LaneAddresses at;
  getLDSAddresses(w, i, false, at);
  w.ldsRead += uint64_t(popcount(at.active)) * i.memBytes;
  forEachLane(at.active, [&](unsigned lane) {
    static const uint8_t zeros[16] = {};
    const uint8_t *from = resolveLDS(w, at.address[lane], i.memBytes);
    writeLoaded(w, kind, i.dst, lane, from ? from : zeros, i.memWords);
  });
}

void read2(Wave &w, const Inst &i) {
  // Both addresses come from the old value of a register the result may cover.
  LaneAddresses at[2];
  getLDSAddresses(w, i, false, at[0]);
  getLDSAddresses(w, i, true, at[1]);
  unsigned words = i.memBytes / 4;
  w.ldsRead += uint64_t(popcount(at[0].active)) * 2 * i.memBytes;
  for (unsigned half = 0; half < 2; ++half)
    forEachLane(at[half].active, [&](unsigned lane) {
      static const uint8_t zeros[16] = {};
      const uint8_t *from = resolveLDS(w, at[half].address[lane], i.memBytes);
      writeLoaded(w, LoadKind::Plain, i.dst + half * words, lane,
                  from ? from : zeros, words);
    });
}

void writeLane(Wave &w, unsigned reg, unsigned lane, uint64_t address,
               unsigned bytes, unsigned shift) {
  uint8_t *to = resolveLDS(w, address, bytes);
  if (!to)
    return;
  const uint32_t *data = w.vgpr(reg) + lane;
  if (bytes < 4) {
    uint32_t value = *data >> shift;
    std::memcpy(to, &value, bytes);
    return;
  }
  for (unsigned word = 0; word < bytes / 4; ++word)
    std::memcpy(to + 4 * word, data + size_t(word) * numLanes, 4);
}

template <bool high> void write(Wave &w, const Inst &i) {
  LaneAddresses at;
  getLDSAddresses(w, i, false, at);
  w.ldsWrite += uint64_t(popcount(at.active)) * i.memBytes;
  forEachLane(at.active, [&](unsigned lane) {
    writeLane(w, i.vdata, lane, at.address[lane], i.memBytes, high ? 16 : 0);
  });
}

void write2(Wave &w, const Inst &i) {
  for (bool second : {false, true}) {
    LaneAddresses at;
    getLDSAddresses(w, i, second, at);
    w.ldsWrite += uint64_t(popcount(at.active)) * i.memBytes;
    forEachLane(at.active, [&](unsigned lane) {
      writeLane(w, second ? i.vdata1 : i.vdata, lane, at.address[lane],
                i.memBytes, 0);
    });
  }
}

/// One lane's atomic with the operand words already gathered.
void atomicLane(Wave &w, const AtomicOp &op, uint64_t address,
                const uint32_t *data, uint32_t *old) {
  uint8_t *memory = resolveLDS(w, address, op.bytes);
  if (!memory)
    return;
  if (address % op.bytes) {
    w.raise("LDS atomic at byte " + Twine(address) + " is not aligned to " +
            Twine(op.bytes) + " bytes");
    return;
  }
  op.fn(w, memory, data, old);
}

/// How many data registers feed an atomic, and in which order: ds_cmpst has
/// the compared value first, where the others have the new value first.
template <bool returns, bool swapped> void atomic(Wave &w, const Inst &i) {
  const AtomicOp &op = *static_cast<const AtomicOp *>(i.extra);
  LaneAddresses at;
  getLDSAddresses(w, i, false, at);
  unsigned words = op.bytes / 4;
  bool twoOperands = op.dataWords > words;
  w.ldsWrite += uint64_t(popcount(at.active)) * op.bytes;
  forEachLane(at.active, [&](unsigned lane) {
    uint32_t data[4], old[4] = {};
    for (unsigned word = 0; word < words; ++word) {
      data[word] = w.vgpr((swapped ? i.vdata1 : i.vdata) + word)[lane];
      if (twoOperands)
        data[words + word] =
            w.vgpr((swapped ? i.vdata : i.vdata1) + word)[lane];
    }
    atomicLane(w, op, at.address[lane], data, old);
    if (returns)
      for (unsigned word = 0; word < op.oldWords; ++word)
        w.vgpr(i.dst + word)[lane] = old[word];
  });
}

void exchange2(Wave &w, const Inst &i) {
  LaneAddresses at[2];
  getLDSAddresses(w, i, false, at[0]);
  getLDSAddresses(w, i, true, at[1]);
  const AtomicOp &op = *getAtomicOp(i.memBytes == 4 ? "swap" : "swap_x2");
  unsigned words = op.bytes / 4;
  forEachLane(at[0].active, [&](unsigned lane) {
    for (unsigned half = 0; half < 2; ++half) {
      uint32_t data[2], old[2] = {};
      for (unsigned word = 0; word < words; ++word)
        data[word] = w.vgpr((half ? i.vdata1 : i.vdata) + word)[lane];
      atomicLane(w, op, at[half].address[lane], data, old);
      for (unsigned word = 0; word < words; ++word)
        w.vgpr(i.dst + half * words + word)[lane] = old[word];
    }
  });
}

/// Writes lanes of EXEC.
void setLanes(Wave &w, unsigned reg, const uint32_t *values) {
  uint32_t *d = w.vgpr(reg);
  forEachLane(w.exec(), [&](unsigned lane) { d[lane] = values[lane]; });
}

void permute(Wave &w, const Inst &i) {
  uint32_t values[numLanes] = {};
  const uint32_t *address = w.vgpr(i.vaddr), *data = w.vgpr(i.vdata);
  forEachLane(w.exec(), [&](unsigned lane) {
    values[(address[lane] + i.offset) / 4 % numLanes] = data[lane];
  });
  setLanes(w, i.dst, values);
}

void backwardPermute(Wave &w, const Inst &i) {
  uint32_t values[numLanes] = {};
  const uint32_t *address = w.vgpr(i.vaddr), *data = w.vgpr(i.vdata);
  uint64_t exec = w.exec();
  forEachLane(exec, [&](unsigned lane) {
    unsigned from = (address[lane] + i.offset) / 4 % numLanes;
    values[lane] = exec >> from & 1 ? data[from] : 0;
  });
  setLanes(w, i.dst, values);
}

void swizzle(Wave &w, const Inst &i) {
  uint32_t values[numLanes] = {};
  const uint32_t *data = w.vgpr(i.vaddr);
  uint64_t exec = w.exec();
  if (i.offset >= 0xe000) {
    w.raise("ds_swizzle_b32 in FFT mode is not modelled");
    return;
  }
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    unsigned from = getSwizzleSource(i.offset, lane);
    values[lane] = exec >> from & 1 ? data[from] : 0;
  }
  setLanes(w, i.dst, values);
}

/// Transposed reads: the 16 lanes of a group read a block whose row r is
/// spread over 16/n of them (n elements a lane); lane c gets column c.
template <unsigned bits, unsigned words>
void readTransposed(Wave &w, const Inst &i) {
  constexpr unsigned perLane = words * 32 / bits;
  constexpr unsigned rows = perLane; // 16 x 16 elements of `bits`, or fewer.
  LaneAddresses at;
  getLDSAddresses(w, i, false, at);
  w.ldsRead += uint64_t(popcount(at.active)) * i.memBytes;
  uint32_t data[numLanes][words] = {};
  forEachLane(at.active, [&](unsigned lane) {
    if (const uint8_t *from = resolveLDS(w, at.address[lane], i.memBytes))
      std::memcpy(data[lane], from, i.memBytes);
  });
  constexpr unsigned lanesPerRow = 16 / perLane ? 16 / perLane : 1;
  forEachLane(at.active, [&](unsigned lane) {
    unsigned group = lane & ~15u, column = lane & 15;
    uint32_t result[words] = {};
    unsigned first = group + column / perLane, element = column % perLane;
    for (unsigned row = 0; row < rows; ++row) {
      const uint32_t *source = data[first + row * lanesPerRow];
      if constexpr (bits % 8 == 0)
        std::memcpy(reinterpret_cast<uint8_t *>(result) + row * (bits / 8),
                    reinterpret_cast<const uint8_t *>(source) +
                        element * (bits / 8),
                    bits / 8);
      else
        insertCode(result, row, bits, extractCode(source, element, bits));
    }
    for (unsigned word = 0; word < words; ++word)
      w.vgpr(i.dst + word)[lane] = result[word];
  });
}

void readAddTid(Wave &w, const Inst &i) {
  uint32_t *d = w.vgpr(i.dst);
  forEachLane(w.exec(), [&](unsigned lane) {
    uint64_t address = (w.sgpr[regM0] & 0xffff) + i.offset + 4 * lane;
    const uint8_t *from = resolveLDS(w, address, 4);
    uint32_t value = 0;
    if (from)
      std::memcpy(&value, from, 4);
    d[lane] = value;
  });
}
void writeAddTid(Wave &w, const Inst &i) {
  forEachLane(w.exec(), [&](unsigned lane) {
    writeLane(w, i.vdata, lane,
              uint64_t(w.sgpr[regM0] & 0xffff) + i.offset + 4 * lane, 4, 0);
  });
}

/// ds_append / ds_consume: one counter for the wave, at M0[15:0] + offset. Only
/// GDS has its base in the upper half; compilers put an LDS pointer into M0.
template <bool append> void countLanes(Wave &w, const Inst &i) {
  uint64_t exec = w.exec();
  uint32_t number = popcount(exec), old[4] = {};
  if (exec)
    atomicLane(w, *getAtomicOp(append ? "add" : "sub"),
               (w.sgpr[regM0] & 0xffff) + i.offset, &number, old);
  uint32_t *d = w.vgpr(i.dst);
  forEachLane(exec, [&](unsigned lane) { d[lane] = old[0]; });
}

void nothing(Wave &, const Inst &) {}

} // namespace

unsigned attn::emu::getSwizzleSource(unsigned pattern, unsigned lane) {
  unsigned from = lane & 31;
  if (pattern >= 0xc000) { // Rotate.
    unsigned mask = pattern & 31, rotate = pattern >> 5 & 31;
    if (pattern >> 10 & 1)
      rotate = 32 - rotate;
    from = (from & mask) | ((from + rotate) & 31 & ~mask);
  } else if (pattern & 0x8000) { // Four lanes, any order.
    from = (from & 28) | (pattern >> 2 * (from & 3) & 3);
  } else {
    from = ((from & pattern & 31) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
  }
  return from + (lane & 32);
}

void attn::emu::addLDSOps(OpTable &t) {
  auto add = [&](StringRef name, unsigned bytes, unsigned words,
                 Handler fn) -> OpInfo & {
    OpInfo &info = t.add(name, "-", InstClass::LDS, fn);
    info.memBytes = bytes;
    info.memWords = words;
    info.traits.isDS = 1;
    return info;
  };
  auto load = [&](StringRef name, unsigned bytes, Handler fn) -> OpInfo & {
    OpInfo &info = add(name, bytes, bytes < 4 ? 1 : bytes / 4, fn);
    info.traits.isLoad = 1;
    return info;
  };
  auto store = [&](StringRef name, unsigned bytes, Handler fn) {
    add(name, bytes, bytes < 4 ? 1 : bytes / 4, fn).traits.isStore = 1;
  };
  load("ds_read_u8", 1, read<LoadKind::UByte>);
  load("ds_read_i8", 1, read<LoadKind::SByte>);
  load("ds_read_u16", 2, read<LoadKind::UShort>);
  load("ds_read_i16", 2, read<LoadKind::SShort>);
  load("ds_read_u8_d16", 1, read<LoadKind::UByteD16Lo>);
  load("ds_read_u8_d16_hi", 1, read<LoadKind::UByteD16Hi>);
  load("ds_read_i8_d16", 1, read<LoadKind::SByteD16Lo>);
  load("ds_read_i8_d16_hi", 1, read<LoadKind::SByteD16Hi>);
  load("ds_read_u16_d16", 2, read<LoadKind::D16Lo>);
  load("ds_read_u16_d16_hi", 2, read<LoadKind::D16Hi>);
  load("ds_read_b32", 4, read<LoadKind::Plain>);
  load("ds_read_b64", 8, read<LoadKind::Plain>);
  load("ds_read_b96", 12, read<LoadKind::Plain>);
  load("ds_read_b128", 16, read<LoadKind::Plain>);
  for (const char *suffix : {"read2_b32", "read2st64_b32"}) {
    OpInfo &info = add((Twine("ds_") + suffix).str(), 4, 2, read2);
    info.traits.isLoad = 1;
  }
  for (const char *suffix : {"read2_b64", "read2st64_b64"}) {
    OpInfo &info = add((Twine("ds_") + suffix).str(), 8, 4, read2);
    info.traits.isLoad = 1;
  }
  load("ds_read_b64_tr_b16", 8, readTransposed<16, 2>).onlyGFX950 = true;
  load("ds_read_b64_tr_b8", 8, readTransposed<8, 2>).onlyGFX950 = true;
  load("ds_read_b64_tr_b4", 8, readTransposed<4, 2>).onlyGFX950 = true;
  load("ds_read_b96_tr_b6", 12, readTransposed<6, 3>).onlyGFX950 = true;
  load("ds_read_addtid_b32", 4, readAddTid);

  store("ds_write_b8", 1, write<false>);
  store("ds_write_b8_d16_hi", 1, write<true>);
  store("ds_write_b16", 2, write<false>);
  store("ds_write_b16_d16_hi", 2, write<true>);
  store("ds_write_b32", 4, write<false>);
  store("ds_write_b64", 8, write<false>);
  store("ds_write_b96", 12, write<false>);
  store("ds_write_b128", 16, write<false>);
  for (const char *suffix : {"write2_b32", "write2st64_b32"})
    add((Twine("ds_") + suffix).str(), 4, 1, write2).traits.isStore = 1;
  for (const char *suffix : {"write2_b64", "write2st64_b64"})
    add((Twine("ds_") + suffix).str(), 8, 2, write2).traits.isStore = 1;
  store("ds_write_addtid_b32", 4, writeAddTid);

  // Atomics: DS name, our name, whether the compared value comes first.
  static const struct {
    const char *stem;
    const char *suffix;
    const char *op;
    bool swapped;
  } atomics[] = {
      {"add", "u32", "add", false},
      {"sub", "u32", "sub", false},
      {"rsub", "u32", "rsub", false},
      {"inc", "u32", "inc", false},
      {"dec", "u32", "dec", false},
      {"min", "i32", "smin", false},
      {"max", "i32", "smax", false},
      {"min", "u32", "umin", false},
      {"max", "u32", "umax", false},
      {"and", "b32", "and", false},
      {"or", "b32", "or", false},
      {"xor", "b32", "xor", false},
      {"mskor", "b32", "mskor", false},
      {"cmpst", "b32", "cmpswap", true},
      {"add", "u64", "add_x2", false},
      {"sub", "u64", "sub_x2", false},
      {"rsub", "u64", "rsub_x2", false},
      {"inc", "u64", "inc_x2", false},
      {"dec", "u64", "dec_x2", false},
      {"min", "i64", "smin_x2", false},
      {"max", "i64", "smax_x2", false},
      {"min", "u64", "umin_x2", false},
      {"max", "u64", "umax_x2", false},
      {"and", "b64", "and_x2", false},
      {"or", "b64", "or_x2", false},
      {"xor", "b64", "xor_x2", false},
      {"mskor", "b64", "mskor_x2", false},
      {"cmpst", "b64", "cmpswap_x2", true},
      {"add", "f32", "add_f32", false},
      {"min", "f32", "min_f32", false},
      {"max", "f32", "max_f32", false},
      {"add", "f64", "add_f64", false},
      {"min", "f64", "min_f64", false},
      {"max", "f64", "max_f64", false},
      {"pk_add", "f16", "pk_add_f16", false},
      {"pk_add", "bf16", "pk_add_bf16", false},
  };
  for (const auto &entry : atomics) {
    const AtomicOp *op = getAtomicOp(entry.op);
    for (bool returns : {false, true}) {
      std::string name =
          (Twine("ds_") + entry.stem + (returns ? "_rtn_" : "_") + entry.suffix)
              .str();
      Handler fn =
          returns ? entry.swapped ? atomic<true, true> : atomic<true, false>
          : entry.swapped ? atomic<false, true>
                          : atomic<false, false>;
      OpInfo &info = add(name, op->bytes, op->bytes / 4, fn);
      info.extra = op;
      info.traits.isAtomic = 1;
      info.traits.isStore = 1;
    }
  }
  for (const char *suffix : {"b32", "b64"}) {
    const AtomicOp *op = getAtomicOp(suffix[1] == '3' ? "swap" : "swap_x2");
    OpInfo &info = add((Twine("ds_wrxchg_rtn_") + suffix).str(), op->bytes,
                       op->bytes / 4, atomic<true, false>);
    info.extra = op;
    info.traits.isAtomic = 1;
    info.traits.isStore = 1;
    for (const char *form : {"ds_wrxchg2_rtn_", "ds_wrxchg2st64_rtn_"}) {
      OpInfo &two = add((Twine(form) + suffix).str(), op->bytes, op->bytes / 4,
                        exchange2);
      two.traits.isAtomic = 1;
      two.traits.isStore = 1;
    }
  }
  for (OpInfo *info : {&add("ds_append", 4, 1, countLanes<true>),
                       &add("ds_consume", 4, 1, countLanes<false>)}) {
    info->traits.isAtomic = 1;
    info->traits.isStore = 1;
  }
  // No memory behind these: only the crossbar.
  add("ds_permute_b32", 0, 1, permute).traits.flow = Flow::Permute;
  add("ds_bpermute_b32", 0, 1, backwardPermute).traits.flow =
      Flow::BackwardPermute;
  add("ds_swizzle_b32", 0, 1, swizzle).traits.flow = Flow::Swizzle;
  for (const char *name : {"ds_read_b64_tr_b16", "ds_read_b64_tr_b8",
                           "ds_read_b64_tr_b4", "ds_read_b96_tr_b6"})
    t.find(name)->traits.isTransposed = 1;
  for (const char *name :
       {"ds_read_addtid_b32", "ds_write_addtid_b32", "ds_append", "ds_consume"})
    t.find(name)->traits.readsM0 = 1;
  add("ds_nop", 0, 0, nothing);
}
