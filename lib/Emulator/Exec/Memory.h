//===- Memory.h - Addresses and accesses of memory instructions -*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Address generation, shared by execution and checks, and the accessors for
/// global, LDS and scratch bytes.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_EXEC_MEMORY_H
#define ATTN_LIB_EMULATOR_EXEC_MEMORY_H

#include "../Machine/Wave.h"

namespace attn::emu {

enum class Space : uint8_t { Global, LDS, Scratch };

/// Where the lanes of one instruction access memory.
struct LaneAddresses {
  /// Lanes that take part (EXEC).
  uint64_t active = 0;
  /// Of these: beyond the range of the buffer descriptor. A load gives 0, a
  /// store is dropped.
  uint64_t outOfRange = 0;
  /// MUBUF accesses of several dwords are checked dword by dword: dwords that
  /// are in range, for each lane (only where it is not all or none).
  bool partial = false;
  uint8_t dwordsInRange[numLanes];
  /// MUBUF lanes whose verdict would change if soffset did not count, or
  /// whose offset exceeds 32 bits.
  uint64_t dubious = 0;
  Space space[numLanes];
  bool mixedSpaces = false;
  uint64_t address[numLanes];
};

/// FLAT, GLOBAL and SCRATCH.
void getFlatAddresses(Wave &wave, const Inst &inst, LaneAddresses &result);
/// MUBUF. False (and the wave has raised) for descriptors that are not
/// modelled.
bool getBufferAddresses(Wave &wave, const Inst &inst, LaneAddresses &result);
/// DS, one address a lane: base register + offset. The second address of the
/// read2 / write2 family is asked for with \p second.
void getLDSAddresses(Wave &wave, const Inst &inst, bool second,
                     LaneAddresses &result);
/// First LDS byte of a DMA: lane l writes at result + l * getDMABytes().
inline uint32_t getDMABase(const Wave &wave, const Inst &inst) {
  return wave.sgpr[regM0] + static_cast<uint32_t>(inst.offset);
}
/// LDS bytes a lane of a DMA writes; a narrow load still fills a dword.
inline unsigned getDMABytes(const Inst &inst) {
  return inst.memBytes < 4 ? 4 : inst.memBytes;
}
/// SMEM address (64-bit), and its bound for s_buffer_load (else 2^64 - 1).
struct ScalarAddress {
  uint64_t address = 0;
  /// Bytes from `address` that are inside the descriptor's range.
  uint64_t available = ~uint64_t(0);
};
ScalarAddress getScalarAddress(const Wave &wave, const Inst &inst);

/// Host memory of [address, address + bytes), or null. Null has raised unless
/// the launch is tolerant.
uint8_t *resolveGlobal(Wave &wave, uint64_t address, unsigned bytes,
                       bool store);
/// resolveLDS for an address outside: null.
uint8_t *refuseLDS(Wave &wave, uint64_t address);
inline uint8_t *resolveLDS(Wave &wave, uint64_t address, unsigned bytes) {
  return address + bytes <= wave.ctx->ldsBytes ? wave.wg->lds.data() + address
                                               : refuseLDS(wave, address);
}
uint8_t *resolveScratch(Wave &wave, unsigned lane, uint64_t address,
                        unsigned bytes);

inline uint8_t *resolve(Wave &wave, Space space, unsigned lane,
                        uint64_t address, unsigned bytes, bool store) {
  if (space == Space::Global) {
    const Buffer *last = wave.lastBuffer;
    if (last && address - last->address < last->size &&
        bytes <= last->size - (address - last->address) &&
        last->ranges.empty() && !(store && last->role == BufferRole::Input))
      return last->host + (address - last->address);
    return resolveGlobal(wave, address, bytes, store);
  }
  if (space == Space::LDS)
    return resolveLDS(wave, address, bytes);
  return resolveScratch(wave, lane, address, bytes);
}

/// Lane that ds_swizzle_b32 with offset \p pattern reads for \p lane.
unsigned getSwizzleSource(unsigned pattern, unsigned lane);

/// An atomic operation: reads `data` (operand dwords), updates memory and
/// leaves the value before in `old`.
struct AtomicOp {
  void (*fn)(Wave &wave, void *memory, const uint32_t *data, uint32_t *old);
  /// Bytes in memory, dwords of operand and of result.
  uint8_t bytes;
  uint8_t dataWords;
  uint8_t oldWords;
};
/// Base name ("add", "smin_x2", "pk_add_f16", ...) to operation. Null if there
/// is none.
const AtomicOp *getAtomicOp(llvm::StringRef name);
/// The names whose operations buffer, flat and global instructions have.
llvm::ArrayRef<const char *> getGlobalAtomicNames();
/// One lane of a buffer, flat or global atomic: at \p memory (null: nothing
/// happens, and the value before is 0), with the operands and the result of
/// \p inst. \p address is for messages.
void runAtomicLane(Wave &wave, const Inst &inst, unsigned lane,
                   uint64_t address, uint8_t *memory);

/// How a load widens: bytes in memory and sign.
enum class LoadKind : uint8_t {
  Plain,
  SByte,
  SShort,
  UByte,
  UShort,
  /// Into the low / high half, the other one stays.
  D16Lo,
  D16Hi,
  SByteD16Lo,
  SByteD16Hi,
  UByteD16Lo,
  UByteD16Hi,
};

template <LoadKind kind>
using LoadKindConstant = std::integral_constant<LoadKind, kind>;

/// add(name, bytes, LoadKindConstant) for every load that buffer, flat, global
/// and scratch instructions have in common.
template <typename Add> void forEachLoad(Add add) {
  using enum LoadKind;
  add("load_ubyte", 1, LoadKindConstant<UByte>());
  add("load_sbyte", 1, LoadKindConstant<SByte>());
  add("load_ushort", 2, LoadKindConstant<UShort>());
  add("load_sshort", 2, LoadKindConstant<SShort>());
  add("load_dword", 4, LoadKindConstant<Plain>());
  add("load_dwordx2", 8, LoadKindConstant<Plain>());
  add("load_dwordx3", 12, LoadKindConstant<Plain>());
  add("load_dwordx4", 16, LoadKindConstant<Plain>());
  add("load_short_d16", 2, LoadKindConstant<D16Lo>());
  add("load_short_d16_hi", 2, LoadKindConstant<D16Hi>());
  add("load_ubyte_d16", 1, LoadKindConstant<UByteD16Lo>());
  add("load_ubyte_d16_hi", 1, LoadKindConstant<UByteD16Hi>());
  add("load_sbyte_d16", 1, LoadKindConstant<SByteD16Lo>());
  add("load_sbyte_d16_hi", 1, LoadKindConstant<SByteD16Hi>());
}
/// add(name, bytes, whether it stores from bit 16 on) for their stores.
template <typename Add> void forEachStore(Add add) {
  add("store_byte", 1, std::false_type());
  add("store_byte_d16_hi", 1, std::true_type());
  add("store_short", 2, std::false_type());
  add("store_short_d16_hi", 2, std::true_type());
  add("store_dword", 4, std::false_type());
  add("store_dwordx2", 8, std::false_type());
  add("store_dwordx3", 12, std::false_type());
  add("store_dwordx4", 16, std::false_type());
}

/// Dwords from what a DMA loaded at \p value (memBytes of 16): signed narrow
/// kinds are extended in place.
inline void extendForDMA(LoadKind kind, unsigned memBytes, uint8_t *value) {
  bool negative = value[memBytes - 1] >> 7;
  if ((kind == LoadKind::SByte || kind == LoadKind::SShort) && negative)
    std::memset(value + memBytes, 0xff, 4 - memBytes);
}

/// The narrow kinds of writeLoaded.
void writeNarrow(Wave &wave, LoadKind kind, unsigned reg, unsigned lane,
                 const uint8_t *from);
/// Puts what was loaded at \p from into \p words registers of \p lane.
inline void writeLoaded(Wave &wave, LoadKind kind, unsigned reg, unsigned lane,
                        const uint8_t *from, unsigned words) {
  if (kind != LoadKind::Plain)
    return writeNarrow(wave, kind, reg, lane, from);
  uint32_t *d = wave.vgpr(reg) + lane;
  for (unsigned word = 0; word < words; ++word)
    std::memcpy(d + size_t(word) * numLanes, from + 4 * word, 4);
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_EXEC_MEMORY_H
