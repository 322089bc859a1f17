//===- RunTiming.h - Timing a code object with its manifest -----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-run --timing`: runs a few workgroups of each launch on the emulator,
// replays them on the timing model and projects the launch.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_RUNTIMING_H
#define ATTN_RUNTIME_RUNTIMING_H

#include "attn/Emulator/Timing/CUModel.h"
#include "attn/Emulator/Timing/Launch.h"
#include "attn/Runtime/Bindings.h"
#include "attn/Runtime/KernelProgram.h"

namespace attn::rt {

struct TimingOptions {
  /// Changes of the constants, "name=value,...".
  std::string constants;
  /// Workgroups after which the work repeats; 0 finds it out: those of one head
  /// (findRowTiles) if the launch ends with the work that one head's do, else
  /// all, as when row tiles run slowest.
  uint64_t period = 0;
  /// Only launches of this kernel; empty for all.
  std::string kernel;
  /// Keep the events of the first launch for pictures.
  bool events = false;
  /// Run the sensitivity rows too.
  bool sensitivities = true;
  /// Of the drawn inputs.
  uint64_t seed = 1;
};

/// One workgroup that was run: its position in the period and its clocks.
struct TimedSample {
  uint64_t workgroup = 0;
  double clocks = 0;
  uint64_t globalBytes = 0;
};

struct SensitivityRow {
  std::string name;
  double iterationClocks = 0;
  double mfmaEfficiency = 0;
  uint64_t clocks = 0;
};

/// One launch.
struct LaunchTiming {
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  emu::WorkgroupResources resources;
  /// Workgroups of one head, and workgroups after which the work repeats.
  uint64_t rowTiles = 0, period = 0;
  std::vector<TimedSample> samples;
  /// The compute unit with the heaviest of the samples.
  emu::CUTiming cu;
  /// Addresses of the instructions of its shortest iteration in order: what a
  /// loop executes when nothing rare happens. Empty without a loop.
  std::vector<uint64_t> loopAddresses;
  std::vector<SensitivityRow> sensitivities;
  emu::LaunchProjection projection;

  void print(llvm::raw_ostream &os) const;
  llvm::json::Object toJSON() const;
};

/// Times every launch of `program` that has workgroups. An input without a
/// file is drawn from N(0, 1) (integers are 0, truth values 1), with the shape
/// the manifest gives; what the kernels compute is not looked at. Errors are
/// one line.
llvm::Expected<std::vector<LaunchTiming>>
runTiming(const KernelProgram &program, const FileMap &inputs,
          const TimingOptions &options);

/// Of launches one after the other, each with its start and end.
double getMicroseconds(llvm::ArrayRef<LaunchTiming> launches);

/// Workgroups of one head when the launch's `workgroups` are those of all
/// batches and heads of `query` (a 4-dimensional shape, heads in dimension 1 or
/// 2) and a workgroup has 16 to 256 rows; else `workgroups`.
uint64_t findRowTiles(uint64_t workgroups, llvm::ArrayRef<int64_t> query);

} // namespace attn::rt

#endif // ATTN_RUNTIME_RUNTIMING_H
