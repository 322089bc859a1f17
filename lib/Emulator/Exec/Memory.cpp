//===- Memory.cpp - Addresses and accesses of memory instructions ---------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "attn/Emulator/Numerics/Convert.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>

using namespace attn::emu;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

void attn::emu::getFlatAddresses(Wave &w, const Inst &i,
                                 LaneAddresses &result) {
  result.active = w.exec();
  if (i.segment == 1) { // SCRATCH
    uint64_t base = static_cast<int64_t>(i.offset) +
                    (i.hasSAddr ? uint64_t(w.sgpr[i.soffset]) : 0);
    const uint32_t *v = w.vgpr(i.vaddr);
    for (unsigned lane = 0; lane < numLanes; ++lane) {
      result.space[lane] = Space::Scratch;
      result.address[lane] =
          uint32_t(base + (i.hasVAddr ? uint64_t(v[lane]) : 0));
    }
    return;
  }
  const uint32_t *low = w.vgpr(i.vaddr);
  if (i.segment == 2) { // GLOBAL
    uint64_t base = static_cast<int64_t>(i.offset);
    if (i.hasSAddr) {
      base += w.get64(i.soffset);
      for (unsigned lane = 0; lane < numLanes; ++lane)
        result.address[lane] = base + low[lane];
    } else {
      const uint32_t *high = w.vgpr(i.vaddr + 1);
      for (unsigned lane = 0; lane < numLanes; ++lane)
        result.address[lane] = base + (uint64_t(high[lane]) << 32 | low[lane]);
    }
    for (unsigned lane = 0; lane < numLanes; ++lane)
      result.space[lane] = Space::Global;
    return;
  }
  const uint32_t *high = w.vgpr(i.vaddr + 1);
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    uint64_t address = (uint64_t(high[lane]) << 32 | low[lane]) +
                       static_cast<int64_t>(i.offset);
    Space space = Space::Global;
    if (address >> 32 == sharedApertureHi)
      space = Space::LDS;
    else if (address >> 32 == privateApertureHi)
      space = Space::Scratch;
    if (space != Space::Global) {
      address = uint32_t(address);
      result.mixedSpaces = true;
    }
    result.space[lane] = space;
    result.address[lane] = address;
  }
}

bool attn::emu::getBufferAddresses(Wave &w, const Inst &i,
                                   LaneAddresses &result) {
  result.active = w.exec();
  const uint32_t *rsrc = &w.sgpr[i.sbase];
  uint64_t base = rsrc[0] | uint64_t(rsrc[1] & 0xffff) << 32;
  uint32_t stride = rsrc[1] >> 16 & 0x3fff;
  bool swizzled = rsrc[1] >> 31;
  uint64_t records = rsrc[2];
  if ((swizzled && stride) || rsrc[3] >> 23 & 1) {
    w.raise("uses a swizzled or thread-id buffer descriptor, which the "
            "emulator does not model");
    return false;
  }
  uint64_t soffset = w.read32(i.src[3]);
  const uint32_t *index = w.vgpr(i.vaddr);
  const uint32_t *voffset = w.vgpr(i.vaddr + (i.idxen ? 1 : 0));
  bool structured = i.idxen && stride;
  unsigned dwords = i.memBytes < 4 ? 1 : i.memBytes / 4;
  unsigned piece = i.memBytes < 4 ? i.memBytes : 4;
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    uint64_t offset = uint64_t(i.offset) + (i.offen ? voffset[lane] : 0);
    uint64_t total = offset + soffset;
    result.space[lane] = Space::Global;
    if (structured) {
      result.address[lane] =
          base + soffset + uint64_t(index[lane]) * stride + offset;
      if (index[lane] >= records || offset + i.memBytes > stride)
        result.outOfRange |= uint64_t(1) << lane;
      continue;
    }
    result.address[lane] = base + total;
    unsigned inside = 0, insideWithout = 0;
    for (unsigned d = 0; d < dwords; ++d) {
      inside += total + d * 4 + piece <= records;
      insideWithout += offset + d * 4 + piece <= records;
    }
    result.dwordsInRange[lane] = inside;
    if (inside == 0)
      result.outOfRange |= uint64_t(1) << lane;
    else if (inside != dwords)
      result.partial = true;
    bool wraps = total >> 32 && uint32_t(total) + uint64_t(piece) <= records;
    if (inside != insideWithout || wraps)
      result.dubious |= uint64_t(1) << lane;
  }
  result.outOfRange &= result.active;
  result.dubious &= result.active;
  return true;
}

void attn::emu::getLDSAddresses(Wave &w, const Inst &i, bool second,
                                LaneAddresses &result) {
  result.active = w.exec();
  const uint32_t *base = w.vgpr(i.vaddr);
  uint32_t offset = second ? i.offset1 : i.offset;
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    result.space[lane] = Space::LDS;
    result.address[lane] = uint32_t(base[lane] + offset);
  }
}

ScalarAddress attn::emu::getScalarAddress(const Wave &w, const Inst &i) {
  ScalarAddress result;
  uint64_t offset = static_cast<int64_t>(i.offset) +
                    (i.hasSAddr ? uint64_t(w.sgpr[i.soffset]) : 0);
  if (!i.lds) { // s_load
    result.address = (w.get64(i.sbase) + offset) & ~uint64_t(3);
    return result;
  }
  // s_buffer_load
  const uint32_t *rsrc = &w.sgpr[i.sbase];
  uint64_t base = rsrc[0] | uint64_t(rsrc[1] & 0xffff) << 32;
  uint32_t stride = rsrc[1] >> 16 & 0x3fff;
  uint64_t size = stride ? uint64_t(stride) * rsrc[2] : rsrc[2];
  offset &= ~uint64_t(3);
  result.address = base + offset;
  result.available = offset < size ? size - offset : 0;
  return result;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

uint8_t *attn::emu::resolveGlobal(Wave &w, uint64_t address, unsigned bytes,
                                  bool store) {
  const Buffer *buffer = w.ctx->memory->find(address);
  if (!buffer || !buffer->isAccessible(address, bytes)) {
    if (!w.ctx->tolerant)
      w.raise(Twine(store ? "stores " : "loads ") + Twine(bytes) +
              " bytes at address 0x" + Twine::utohexstr(address) +
              ", which is in no buffer");
    return nullptr;
  }
  if (store && buffer->role == BufferRole::Input) {
    if (!w.ctx->tolerant)
      w.raise("stores to input buffer '" + buffer->name + "'");
    return nullptr;
  }
  w.lastBuffer = buffer;
  return buffer->host + (address - buffer->address);
}

uint8_t *attn::emu::refuseLDS(Wave &w, uint64_t address) {
  if (!w.ctx->tolerant)
    w.raise("accesses LDS byte " + Twine(address) + ", but the workgroup has " +
            Twine(w.ctx->ldsBytes));
  return nullptr;
}

uint8_t *attn::emu::resolveScratch(Wave &w, unsigned lane, uint64_t address,
                                   unsigned bytes) {
  if (address + bytes <= w.ctx->scratchBytes)
    return w.scratch + size_t(lane) * w.ctx->scratchBytes + address;
  if (!w.ctx->tolerant)
    w.raise("accesses scratch byte " + Twine(address) + ", but a lane has " +
            Twine(w.ctx->scratchBytes));
  return nullptr;
}

void attn::emu::writeNarrow(Wave &w, LoadKind kind, unsigned reg, unsigned lane,
                            const uint8_t *from) {
  uint32_t *d = w.vgpr(reg) + lane;
  auto half = [&] {
    uint16_t value;
    std::memcpy(&value, from, 2);
    return value;
  };
  auto setHalf = [&](bool high, uint16_t value) {
    *d = high ? (*d & 0xffff) | uint32_t(value) << 16
              : (*d & 0xffff0000) | value;
  };
  switch (kind) {
  case LoadKind::Plain:
    return;
  case LoadKind::SByte:
    *d = static_cast<int8_t>(*from);
    return;
  case LoadKind::UByte:
    *d = *from;
    return;
  case LoadKind::SShort:
    *d = static_cast<int16_t>(half());
    return;
  case LoadKind::UShort:
    *d = half();
    return;
  case LoadKind::D16Lo:
  case LoadKind::D16Hi:
    return setHalf(kind == LoadKind::D16Hi, half());
  case LoadKind::SByteD16Lo:
  case LoadKind::SByteD16Hi:
    return setHalf(kind == LoadKind::SByteD16Hi,
                   static_cast<int16_t>(static_cast<int8_t>(*from)));
  case LoadKind::UByteD16Lo:
  case LoadKind::UByteD16Hi:
    return setHalf(kind == LoadKind::UByteD16Hi, *from);
  }
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

namespace {

/// old = *memory; *memory = fn(old), atomically for the host's threads.
template <typename T, typename Fn> T update(void *memory, Fn fn) {
  std::atomic_ref<T> ref(*static_cast<T *>(memory));
  T old = ref.load(std::memory_order_relaxed);
  while (!ref.compare_exchange_weak(old, fn(old)))
    ;
  return old;
}

template <typename T> T get(const uint32_t *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// Integer operation on T (its signedness matters for min and max).
template <typename T, T (*fn)(T old, T data)>
void integer(Wave &, void *memory, const uint32_t *data, uint32_t *old) {
  T operand = get<T>(data);
  T before = update<T>(memory, [&](T value) { return fn(value, operand); });
  std::memcpy(old, &before, sizeof(T));
}

template <typename T> T opSwap(T, T b) { return b; }
template <typename T> T opAdd(T a, T b) { return a + b; }
template <typename T> T opSub(T a, T b) { return a - b; }
template <typename T> T opRsub(T a, T b) { return b - a; }
template <typename T> T opMin(T a, T b) { return b < a ? b : a; }
template <typename T> T opMax(T a, T b) { return b > a ? b : a; }
template <typename T> T opAnd(T a, T b) { return a & b; }
template <typename T> T opOr(T a, T b) { return a | b; }
template <typename T> T opXor(T a, T b) { return a ^ b; }
template <typename T> T opInc(T a, T b) { return a >= b ? 0 : a + 1; }
template <typename T> T opDec(T a, T b) { return a == 0 || a > b ? b : a - 1; }

/// data = new value, then the value to compare with.
template <typename T>
void compareSwap(Wave &, void *memory, const uint32_t *data, uint32_t *old) {
  T replacement = get<T>(data), expected = get<T>(data + sizeof(T) / 4);
  T before = update<T>(
      memory, [&](T value) { return value == expected ? replacement : value; });
  std::memcpy(old, &before, sizeof(T));
}
/// mskor: *memory = (old & ~mask) | value; data = mask, then value.
template <typename T>
void maskOr(Wave &, void *memory, const uint32_t *data, uint32_t *old) {
  T mask = get<T>(data), value = get<T>(data + sizeof(T) / 4);
  T before = update<T>(memory, [&](T a) { return (a & ~mask) | value; });
  std::memcpy(old, &before, sizeof(T));
}

template <float (*fn)(float, float)>
void float32(Wave &, void *memory, const uint32_t *data, uint32_t *old) {
  float operand = get<float>(data);
  uint32_t before = update<uint32_t>(memory, [&](uint32_t value) {
    return asBits(fn(asFloat(value), operand));
  });
  *old = before;
}
template <double (*fn)(double, double)>
void float64(Wave &, void *memory, const uint32_t *data, uint32_t *old) {
  double operand = get<double>(data);
  uint64_t before = update<uint64_t>(memory, [&](uint64_t value) {
    return asBits(fn(asDouble(value), operand));
  });
  std::memcpy(old, &before, 8);
}
float addF(float a, float b) { return a + b; }
float minF(float a, float b) { return a != a ? b : b < a ? b : a; }
float maxF(float a, float b) { return a != a ? b : b > a ? b : a; }
double addD(double a, double b) { return a + b; }
double minD(double a, double b) { return a != a ? b : b < a ? b : a; }
double maxD(double a, double b) { return a != a ? b : b > a ? b : a; }

void packedAddF16(Wave &w, void *memory, const uint32_t *data, uint32_t *old) {
  FloatMode mode = w.f16Mode();
  *old = update<uint32_t>(memory, [&](uint32_t value) {
    return addF16(value, data[0], mode) |
           uint32_t(addF16(value >> 16, data[0] >> 16, mode)) << 16;
  });
}
void packedAddBF16(Wave &, void *memory, const uint32_t *data, uint32_t *old) {
  *old = update<uint32_t>(memory, [&](uint32_t value) {
    float low = bf16ToF32(value) + bf16ToF32(data[0]);
    float high = bf16ToF32(value >> 16) + bf16ToF32(data[0] >> 16);
    return cvtBF16F32(low) | uint32_t(cvtBF16F32(high)) << 16;
  });
}

struct NamedAtomic {
  const char *name;
  AtomicOp op;
};

#define ATTN_ATOMIC(NAME, U, S, OP)                                            \
  {NAME, {integer<S##32_t, OP<S##32_t>>, 4, 1, 1}}, {                          \
    NAME "_x2", {integer<S##64_t, OP<S##64_t>>, 8, 2, 2}                       \
  }

const NamedAtomic atomics[] = {
    ATTN_ATOMIC("swap", uint, uint, opSwap),
    ATTN_ATOMIC("add", uint, uint, opAdd),
    ATTN_ATOMIC("sub", uint, uint, opSub),
    ATTN_ATOMIC("rsub", uint, uint, opRsub),
    ATTN_ATOMIC("smin", uint, int, opMin),
    ATTN_ATOMIC("umin", uint, uint, opMin),
    ATTN_ATOMIC("smax", uint, int, opMax),
    ATTN_ATOMIC("umax", uint, uint, opMax),
    ATTN_ATOMIC("and", uint, uint, opAnd),
    ATTN_ATOMIC("or", uint, uint, opOr),
    ATTN_ATOMIC("xor", uint, uint, opXor),
    ATTN_ATOMIC("inc", uint, uint, opInc),
    ATTN_ATOMIC("dec", uint, uint, opDec),
    {"cmpswap", {compareSwap<uint32_t>, 4, 2, 1}},
    {"cmpswap_x2", {compareSwap<uint64_t>, 8, 4, 2}},
    {"mskor", {maskOr<uint32_t>, 4, 2, 1}},
    {"mskor_x2", {maskOr<uint64_t>, 8, 4, 2}},
    {"add_f32", {float32<addF>, 4, 1, 1}},
    {"min_f32", {float32<minF>, 4, 1, 1}},
    {"max_f32", {float32<maxF>, 4, 1, 1}},
    {"add_f64", {float64<addD>, 8, 2, 2}},
    {"min_f64", {float64<minD>, 8, 2, 2}},
    {"max_f64", {float64<maxD>, 8, 2, 2}},
    {"pk_add_f16", {packedAddF16, 4, 1, 1}},
    {"pk_add_bf16", {packedAddBF16, 4, 1, 1}},
};
#undef ATTN_ATOMIC

} // namespace

const AtomicOp *attn::emu::getAtomicOp(StringRef name) {
  for (const NamedAtomic &atomic : atomics)
    if (name == atomic.name)
      return &atomic.op;
  return nullptr;
}

ArrayRef<const char *> attn::emu::getGlobalAtomicNames() {
  static const std::vector<const char *> names = [] {
    std::vector<const char *> result;
    for (const NamedAtomic &atomic : atomics) {
      StringRef name = atomic.name;
      // LDS alone has these.
      if (!name.starts_with("mskor") && !name.starts_with("rsub") &&
          name != "min_f32" && name != "max_f32")
        result.push_back(atomic.name);
    }
    return result;
  }();
  return names;
}

void attn::emu::runAtomicLane(Wave &wave, const Inst &inst, unsigned lane,
                              uint64_t address, uint8_t *memory) {
  const AtomicOp &op = *static_cast<const AtomicOp *>(inst.extra);
  uint32_t old[4] = {};
  if (memory) {
    if (address % op.bytes) {
      wave.raise("atomic access at address 0x" + Twine::utohexstr(address) +
                 " is not aligned to " + Twine(op.bytes) + " bytes");
      return;
    }
    uint32_t data[4];
    for (unsigned word = 0; word < op.dataWords; ++word)
      data[word] = wave.vgpr(inst.vdata + word)[lane];
    op.fn(wave, memory, data, old);
  }
  if (inst.returns)
    for (unsigned word = 0; word < op.oldWords; ++word)
      wave.vgpr(inst.dst + word)[lane] = old[word];
}
