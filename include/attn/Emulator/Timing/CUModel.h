//===- CUModel.h - One compute unit, clock by clock -------------*- C++ -*-===//
///
/// \file
/// Replays recorded workgroups on one compute unit. docs/Timing.md states the
/// rules.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TIMING_CUMODEL_H
#define ATTN_EMULATOR_TIMING_CUMODEL_H

#include "attn/Emulator/Timing/TimingTable.h"
#include "attn/Emulator/Timing/TimingTrace.h"
#include <array>

namespace attn::emu {

/// What a wave did at one of its issue turns.
enum class WaveActivity : uint8_t {
  /// Issued an instruction.
  Issue,
  /// A register of an earlier instruction is not ready.
  Dependency,
  /// s_waitcnt on LDS, or the counter of outstanding accesses is full.
  LDSWait,
  /// s_waitcnt on scalar loads.
  ScalarWait,
  /// s_waitcnt on vector memory, or a memory queue is full.
  VMEMWait,
  Barrier,
  /// The pipe is in use by, or the turn went to, another wave of the SIMD.
  IssueConflict,
  /// The vector or matrix pipe is in use by this wave: full use of it.
  OwnPipe,
  Nop,
  Branch,
  Sleep,
};
inline constexpr unsigned numWaveActivities = 11;
/// "issue", "dependency", "LDS", ...
llvm::StringRef getWaveActivityName(WaveActivity activity);

/// Pipes of a SIMD or of the compute unit, as the traces show them.
enum class Pipe : uint8_t { Vector, Matrix, LDS, Memory };

/// One instruction of a wave on the time line.
struct IssueEvent {
  uint64_t begin = 0;
  /// Until the wave may issue again, or the pipe is free.
  uint64_t end = 0;
  uint32_t op = 0;
  uint16_t wave = 0;
};
/// One stay in a pipe.
struct PipeEvent {
  uint64_t begin = 0, end = 0;
  uint32_t op = 0;
  uint16_t wave = 0;
  uint8_t simd = 0;
  Pipe pipe = Pipe::Vector;
};
/// A wave that waits.
struct StallEvent {
  uint64_t begin = 0, end = 0;
  uint16_t wave = 0;
  WaveActivity activity = WaveActivity::Dependency;
};

/// The loop the kernel spends its time in: the backward branch that encloses
/// the most executed MFMA (else instructions), and no other such branch.
struct LoopInfo {
  /// Program indices of the first instruction and of the branch.
  uint32_t header = 0, latch = 0;
};

struct WaveTiming {
  unsigned workgroup = 0;
  unsigned wave = 0;
  unsigned simd = 0;
  uint64_t begin = 0, end = 0;
  /// Clocks by activity; they sum to end - begin.
  std::array<uint64_t, numWaveActivities> clocks = {};
  /// Start of each iteration of the loop, and the totals until then.
  struct Iteration {
    uint64_t begin = 0;
    std::array<uint64_t, numWaveActivities> clocks = {};
    uint64_t matrixClocks = 0;
    uint64_t ldsConflictClocks = 0;
  };
  std::vector<Iteration> iterations;
  /// First and last instruction between the loop's header and latch; equal
  /// without any.
  uint64_t loopBegin = 0, loopEnd = 0;
  /// Instructions by unit, and clocks of the matrix pipe.
  std::array<uint64_t, numIssueUnits> issued = {};
  uint64_t matrixClocks = 0;
  uint64_t ldsConflictClocks = 0;

  /// The steady iterations run from one start to another: the first iteration
  /// fills caches and queues, the last has no start behind it. Null without
  /// two iterations.
  const Iteration *getSteadyBegin() const {
    return iterations.size() < 2 ? nullptr : &iterations[iterations.size() > 2];
  }
  const Iteration *getSteadyEnd() const {
    return iterations.size() < 2 ? nullptr : &iterations.back();
  }
  unsigned getSteadyCount() const {
    return iterations.size() < 2
               ? 0
               : iterations.size() - 1 - (iterations.size() > 2);
  }
};

struct SIMDTiming {
  /// Clocks in which each of its waves does one steady iteration (mean of the
  /// middle half of them); 0 without a loop of at least two iterations.
  double iterationClocks = 0;
  /// Matrix clocks of all its waves in one iteration, over the above.
  double mfmaEfficiency = 0;
  uint64_t matrixBusy = 0, vectorBusy = 0;
};

struct CUTiming {
  std::shared_ptr<const TimedProgram> program;
  TimingTable table;
  /// From the first instruction to the last wave's end.
  uint64_t clocks = 0;
  /// End of each resident workgroup.
  std::vector<uint64_t> workgroupEnds;
  unsigned workgroups = 0;
  std::optional<LoopInfo> loop;
  /// Iterations a wave runs (the greatest number among the waves).
  uint64_t iterations = 0;
  /// Means over the waves that run the loop.
  double prologueClocks = 0, epilogueClocks = 0;
  std::vector<WaveTiming> waves;
  std::vector<SIMDTiming> simds;
  uint64_t ldsBusy = 0, ldsConflictClocks = 0;
  uint64_t memoryBusy = 0;

  /// LDS bank conflict clocks of all waves in a steady iteration.
  double getSteadyLDSConflicts() const;
  /// Mean over the SIMDs that run the loop.
  double getIterationClocks() const;
  double getMFMAEfficiency() const;
  /// Matrix clocks over all clocks and SIMDs.
  double getTotalEfficiency() const;

  /// Filled if asked for.
  std::vector<IssueEvent> issueEvents;
  std::vector<PipeEvent> pipeEvents;
  std::vector<StallEvent> stallEvents;
};

struct CUOptions {
  /// Keep events for traces.
  bool events = false;
  /// Gives up (with an error) after this many clocks.
  uint64_t maxClocks = uint64_t(1) << 32;
};

/// Runs \p workgroups, which share one program, at the same time on one
/// compute unit. Wave w of workgroup g is on SIMD (w + g * waves) mod 4.
/// Errors: no workgroup, more waves than places, waves that never end (a
/// barrier that some wave never reaches).
llvm::Expected<CUTiming>
simulateCU(const TimingTable &table,
           llvm::ArrayRef<const WorkgroupTrace *> workgroups,
           const CUOptions &options = {});

/// The main loop of \p trace; nullopt if it never branches backward.
std::optional<LoopInfo> findMainLoop(const WorkgroupTrace &trace);

} // namespace attn::emu

#endif // ATTN_EMULATOR_TIMING_CUMODEL_H
