//===- Options.h - What a launch may ask for --------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks, schedules, limits and trace filters of one launch.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_OPTIONS_H
#define ATTN_EMULATOR_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace attn::emu {

/// The checks; each is one bit of a CheckSet.
enum class Check : uint8_t {
  /// Global access outside every registered buffer, or a store to an input.
  Bounds,
  /// Bytes of an output that no store reached (Machine::checkOutputs), and
  /// reads of output or workspace bytes before any store.
  Unwritten,
  /// Values from uninitialised VGPRs, SGPRs or LDS that reach an address, a
  /// branch or stored data.
  Uninitialized,
  /// LDS bytes shared by two waves without a barrier between.
  Races,
  /// A register or LDS byte used before the s_waitcnt that makes it valid.
  Waits,
  /// Wait states between dependent instructions (MFMA, VALU, LDS DMA, ...).
  Hazards,
  /// DS access that is not aligned to its size.
  Alignment,
  /// Buffer access whose range check depends on how soffset is counted.
  BufferRange,
  /// A barrier that some waves of a workgroup end without reaching.
  Barriers,
};
inline constexpr unsigned numChecks = 9;

/// Command-line name of a check, e.g. "races".
llvm::StringRef getCheckName(Check check);

class CheckSet {
public:
  constexpr CheckSet() = default;
  static constexpr CheckSet none() { return CheckSet(); }
  static constexpr CheckSet all() {
    CheckSet set;
    set.bits = (1u << numChecks) - 1;
    return set;
  }
  constexpr CheckSet &add(Check check) {
    bits |= 1u << static_cast<unsigned>(check);
    return *this;
  }
  constexpr CheckSet &remove(Check check) {
    bits &= ~(1u << static_cast<unsigned>(check));
    return *this;
  }
  constexpr bool has(Check check) const {
    return bits >> static_cast<unsigned>(check) & 1;
  }
  constexpr bool any() const { return bits != 0; }
  constexpr bool operator==(const CheckSet &) const = default;

private:
  uint32_t bits = 0;
};

/// Parses "none", "all" or a comma-separated list of check names; a leading
/// '-' removes one ("all,-hazards").
llvm::Expected<CheckSet> parseCheckSet(llvm::StringRef text);

/// The order in which the waves of a workgroup run.
enum class Schedule : uint8_t { RoundRobin, Reversed, Random };

/// Parses "round-robin", "reversed" or "random".
llvm::Expected<Schedule> parseSchedule(llvm::StringRef text);
llvm::StringRef getScheduleName(Schedule schedule);

/// What to trace. All filters must hold.
struct TraceOptions {
  /// Receives one line an instruction; null turns tracing off. A traced launch
  /// runs on one thread, so the text is in execution order.
  llvm::raw_ostream *os = nullptr;
  /// Linear workgroup id (x fastest), wave in the workgroup.
  std::optional<uint64_t> workgroup;
  std::optional<unsigned> wave;
  /// Addresses as printed by the disassembly, [pcBegin, pcEnd).
  uint64_t pcBegin = 0;
  uint64_t pcEnd = std::numeric_limits<uint64_t>::max();
  /// Lane whose values of vector registers are shown.
  unsigned lane = 0;
};

class Observer;
struct LaunchContext;

/// Gives a launch one more observer for each host thread (the timing model's
/// recorder). Must outlive the launch.
class ObserverFactory {
public:
  virtual ~ObserverFactory() = default;
  /// Called once a thread, from that thread.
  virtual std::unique_ptr<Observer> create(LaunchContext &ctx) = 0;
};

struct LaunchOptions {
  CheckSet checks = CheckSet::none();

  Schedule schedule = Schedule::RoundRobin;
  /// Seed of Schedule::Random.
  uint64_t seed = 1;
  /// Instructions a wave runs before the next one gets its turn.
  unsigned quantum = 64;

  /// Host threads; 0 takes every core.
  unsigned threads = 0;

  /// Instructions one wave may execute before it counts as an endless loop.
  uint64_t maxInstructionsPerWave = uint64_t(1) << 28;
  /// Findings kept for each check; later ones are only counted.
  unsigned maxFindings = 16;

  /// Run only the workgroups with linear id in [begin, end) (x fastest).
  uint64_t workgroupBegin = 0;
  uint64_t workgroupEnd = std::numeric_limits<uint64_t>::max();

  /// Not 0: perturbs the last bit of transcendental and MFMA results (seeded),
  /// to show that a tolerance does not depend on our choice of rounding.
  uint64_t perturbSeed = 0;

  TraceOptions trace;

  /// Not null: an observer of the caller's.
  ObserverFactory *observerFactory = nullptr;
};

/// One kernel launch.
struct LaunchConfig {
  /// Kernel name; empty for the only one.
  std::string kernel;
  /// Workgroups in x, y, z (as hipModuleLaunchKernel counts them).
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// Work-items of a workgroup in x, y, z.
  std::array<uint32_t, 3> block = {64, 1, 1};
  /// LDS beyond the kernel's static LDS, bytes.
  uint32_t dynamicLDSBytes = 0;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_OPTIONS_H
