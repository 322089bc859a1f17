//===- Microkernel.h - Timing a few lines of assembly -----------*- C++ -*-===//
//
// A microkernel is a loop around a body given as assembly text. All of v0 to
// v255 and s[24:95] are free; s20 counts the iterations, s21 is the wave's
// number in its workgroup, v0 the lane, v1 is 16 * lane.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_EMULATOR_TIMING_MICROKERNEL_H
#define ATTN_UNITTESTS_EMULATOR_TIMING_MICROKERNEL_H

#include "attn/Emulator/Timing/CUModel.h"
#include <optional>
#include <string>

namespace attn::emu {

struct Microkernel {
  Chip chip = Chip::GFX950;
  /// Before the loop, in it, behind it.
  std::string prologue, body, epilogue;
  unsigned iterations = 8;
  unsigned waves = 4;
  unsigned workgroups = 1;
  /// Bytes of a global buffer whose address is in s[8:9] and whose descriptor
  /// is s[12:15].
  unsigned bufferBytes = 65536;
  unsigned ldsBytes = 65536;
};

/// Runs the kernel on the emulator and returns what it recorded. Reports a
/// fatal test failure (and an empty result) when it does not assemble or run.
std::vector<WorkgroupTrace> record(const Microkernel &kernel);

/// Records and replays on one compute unit; \p table replaces the chip's.
CUTiming simulate(const Microkernel &kernel, const TimingTable *table = nullptr,
                  const CUOptions &options = {});

/// \p count copies of \p text with "#0", "#4", "#16" replaced by first + n,
/// first + 4n and first + 16n.
std::string repeat(unsigned count, const std::string &text, unsigned first = 0);

/// The 32-row bf16 MFMA of \p chip (32 clk) with result and C in a tuple that
/// starts at v[accumulator].
std::string mfma(Chip chip, unsigned accumulator);

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_TIMING_MICROKERNEL_H
