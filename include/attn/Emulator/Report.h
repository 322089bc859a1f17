//===- Report.h - What a launch found and counted ---------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Findings of the checks and execution statistics, as data, text and JSON.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_REPORT_H
#define ATTN_EMULATOR_REPORT_H

#include "attn/Emulator/Options.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace attn::emu {

/// An instruction as a report names it.
struct InstructionRef {
  /// Virtual address in the code object, as disassemblers print it.
  uint64_t pc = 0;
  /// Disassembly.
  std::string text;
};

/// One violation.
struct Finding {
  Check check = Check::Bounds;
  /// One sentence: what is wrong, with the address, register or byte.
  std::string message;
  /// What would fix it; may be empty.
  std::string hint;
  std::string kernel;
  /// Workgroup id in x, y, z and wave in the workgroup.
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  unsigned wave = 0;
  /// First lane concerned, or -1 when the violation is wave-wide.
  int lane = -1;
  /// The instruction that was executing.
  InstructionRef where;
  /// The earlier instruction of the pair, if there is one, and its wave.
  std::optional<InstructionRef> other;
  std::optional<unsigned> otherWave;
  /// How often this pair was seen (the first time is described).
  uint64_t count = 1;

  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

/// Instruction classes of the statistics.
enum class InstClass : uint8_t {
  SALU,
  SMEM,
  VALU,
  Transcendental,
  MFMA,
  LDS,
  VMEM,
  Scratch,
  Branch,
  Barrier,
  Wait,
  Other,
};
inline constexpr unsigned numInstClasses = 12;
llvm::StringRef getInstClassName(InstClass instClass);

struct Statistics {
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  std::array<uint64_t, numInstClasses> instructions = {};
  /// Floating-point operations of MFMA instructions (2 per multiply-add).
  uint64_t mfmaFlops = 0;
  /// Bytes moved by active lanes.
  uint64_t globalReadBytes = 0, globalWriteBytes = 0;
  uint64_t ldsReadBytes = 0, ldsWriteBytes = 0;
  /// Bytes moved from global memory to LDS by DMA (part of globalReadBytes).
  uint64_t ldsDMABytes = 0;
  /// Extra LDS cycles from bank conflicts; counted when any check is on.
  uint64_t ldsBankConflicts = 0;

  uint64_t getTotalInstructions() const;
  Statistics &operator+=(const Statistics &other);
  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

/// Result of one launch.
struct Report {
  std::vector<Finding> findings;
  /// Violations per check, including those not kept in `findings`.
  std::array<uint64_t, numChecks> counts = {};
  Statistics statistics;
  /// Schedule and seed used, for reproduction.
  Schedule schedule = Schedule::RoundRobin;
  uint64_t seed = 0;

  bool isClean() const { return findings.empty(); }
  /// All findings, then one summary line. Prints nothing when clean.
  void printFindings(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_REPORT_H
