//===- Definedness.h - Values that nobody wrote -----------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Follows undefined values through registers, LDS and scratch, and reports
/// them where they matter: in an address, a branch, EXEC, or stored data.
/// Copying and computing with them is not an error, as compilers do both.
/// Vector registers are tracked by lane (a write of one half defines a
/// register), scalar ones by bit, memory by byte.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CHECK_DEFINEDNESS_H
#define ATTN_LIB_EMULATOR_CHECK_DEFINEDNESS_H

#include "Access.h"
#include "Observers.h"

namespace attn::emu {

class Definedness {
public:
  Definedness(const LaunchContext &ctx, FindingCollector &collector)
      : ctx(ctx), collector(collector) {}

  void reset(llvm::ArrayRef<Wave> waves);

  /// Reports and propagates; called before \p inst runs.
  void step(Wave &wave, const Inst &inst, llvm::ArrayRef<RegRange> regs,
            const Access &access);

private:
  struct WaveState {
    /// Lanes of each vector register without a value.
    std::array<uint64_t, 512> vector;
    /// Bits of each scalar register without a value.
    std::array<uint32_t, numScalarRegs> scalar;
    bool scc = true;
    /// One byte a byte of scratch, lane-major: 1 once defined.
    std::vector<uint8_t> scratch;
    bool anyVector = true;
  };

  void stepScalar(Wave &wave, const Inst &inst, llvm::ArrayRef<RegRange> regs);
  void stepVector(Wave &wave, const Inst &inst, llvm::ArrayRef<RegRange> regs);
  void stepMatrix(Wave &wave, const Inst &inst);
  void stepMemory(Wave &wave, const Inst &inst, llvm::ArrayRef<RegRange> regs,
                  const Access &access);
  void stepCrossbar(Wave &wave, const Inst &inst);

  static constexpr unsigned maxWords = 4;
  /// Of what an instruction finds in memory, the lanes without a value, dword
  /// by dword: a spilled tuple of registers need not be defined in all parts.
  struct MemoryWords {
    unsigned words = 1, bytes = 0; ///< and bytes of one
    uint64_t undefined[2][maxWords] = {};

    uint64_t getLanes(unsigned n) const {
      uint64_t lanes = 0;
      for (uint64_t word : undefined[n])
        lanes |= word;
      return lanes;
    }
  };
  MemoryWords readMemory(WaveState &state, const Access &access);
  void store(Wave &wave, const Inst &inst, const Access &access,
             const MemoryWords &memory);
  void load(Wave &wave, const Inst &inst, llvm::ArrayRef<RegRange> regs,
            const Access &access, const MemoryWords &memory);
  /// The bytes that say what of LDS or scratch is defined; null where there is
  /// no such memory.
  uint8_t *getShadow(WaveState &state, Space space, unsigned lane,
                     uint64_t address, unsigned bytes);
  /// Undefined lanes of the address registers: the vector address, and all
  /// scalar operands.
  uint64_t getUndefinedAddress(const WaveState &state, const Inst &inst,
                               llvm::ArrayRef<RegRange> regs) const;
  /// Undefined lanes of any of `words` registers.
  static uint64_t getVector(const WaveState &state, unsigned reg,
                            unsigned words) {
    uint64_t lanes = 0;
    for (unsigned n = 0; n < words; ++n)
      lanes |= state.vector[(reg + n) & 511];
    return lanes;
  }

  /// Undefined lanes of a source: of all its words.
  uint64_t getSource(const WaveState &state, const Src &src) const;
  /// Those of one word of a 64-bit source.
  uint64_t getWord(const WaveState &state, const Src &src, bool high) const;
  /// Undefined bits of a mask operand.
  uint64_t getMask(const WaveState &state, const Src &src) const;
  uint64_t getScalar64(const WaveState &state, unsigned reg) const {
    return state.scalar[reg] |
           uint64_t(state.scalar[(reg + 1) & (numScalarRegs - 1)]) << 32;
  }
  void setScalar64(Wave &wave, WaveState &state, const Inst &inst, unsigned reg,
                   uint64_t bits);
  void setVector(WaveState &state, unsigned reg, unsigned words, uint64_t lanes,
                 uint64_t undefined);
  void report(Wave &wave, const Inst &inst, int lane, const llvm::Twine &what);

  const LaunchContext &ctx;
  FindingCollector &collector;
  std::vector<WaveState> states;
  std::vector<uint8_t> lds;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CHECK_DEFINEDNESS_H
