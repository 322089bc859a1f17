//===- TimingTrace.h - Recorded instruction streams -------------*- C++ -*-===//
///
/// \file
/// What the timing model replays: for each wave the instructions it executed,
/// with what only execution knows (branches taken, LDS bank conflicts, cache
/// lines). The functional machine records them through an observer.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TIMING_TIMINGTRACE_H
#define ATTN_EMULATOR_TIMING_TIMINGTRACE_H

#include "attn/Emulator/Chip.h"
#include "attn/Emulator/Options.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace attn::emu {

/// Where an instruction issues to.
enum class IssueUnit : uint8_t {
  VALU,
  MFMA,
  SALU,
  SMEM,
  LDS,
  VMEM,
  Branch,
  /// s_nop, s_waitcnt, s_barrier, s_sleep, s_setprio, s_endpgm: no pipe.
  Internal,
};
inline constexpr unsigned numIssueUnits = 8;
llvm::StringRef getIssueUnitName(IssueUnit unit);

/// Rates of vector instructions.
enum class VectorRate : uint8_t {
  Full,
  Transcendental,
  Quarter,
  PackedF32,
  LaneSwap,
};

enum class InternalOp : uint8_t {
  None,
  Nop,
  Waitcnt,
  Barrier,
  Sleep,
  SetPrio,
  End,
};

/// A register range an instruction reads or writes. Vector registers 0..255
/// architected, 256..511 accumulation; scalar registers 0..127, SCC 128.
struct TimedReg {
  bool isVector = false;
  bool write = false;
  /// C operand of an MFMA.
  bool isSrcC = false;
  uint16_t first = 0;
  uint16_t count = 0;
};

/// One instruction of the program.
struct TimedOp {
  uint64_t pc = 0;
  std::string text;
  IssueUnit unit = IssueUnit::Internal;
  VectorRate rate = VectorRate::Full;
  InternalOp internal = InternalOp::None;
  /// MFMA: passes of 4 clk.
  uint8_t passes = 0;
  bool isStore = false;
  /// Global to LDS.
  bool isDMA = false;
  /// s_nop: turns; s_sleep: units; s_setprio: priority.
  uint16_t amount = 0;
  /// s_waitcnt; 255 when not waited for.
  uint8_t vmcnt = 255, lgkmcnt = 255;
  /// Branch target in the program, -1 if there is none.
  int32_t target = -1;
  llvm::SmallVector<TimedReg, 6> regs;
};

/// One executed instruction.
struct TimedStep {
  /// Index into TimedProgram::ops.
  uint32_t op = 0;
  /// LDS accesses of full width, bank conflicts included; and the conflicts.
  uint16_t ldsPasses = 0, ldsConflicts = 0;
  /// VMEM: cache lines touched, and bytes moved.
  uint16_t lines = 0, bytes = 0;
  bool taken = false;
};

using WaveTrace = std::vector<TimedStep>;

struct TimedProgram {
  Chip chip = Chip::GFX942;
  std::string kernel;
  std::vector<TimedOp> ops;
};

/// The waves of one workgroup.
struct WorkgroupTrace {
  std::shared_ptr<const TimedProgram> program;
  /// Linear id, x fastest.
  uint64_t id = 0;
  std::vector<WaveTrace> waves;
  /// Bytes the waves read and wrote in global memory.
  uint64_t globalBytes = 0;
};

/// Records the workgroups of a launch: put its address into
/// LaunchOptions::observerFactory. For every memory instruction the addresses
/// of all lanes are looked at; a wave of n instructions takes 16 n bytes.
class TraceRecorder : public ObserverFactory {
public:
  TraceRecorder();
  ~TraceRecorder() override;

  std::unique_ptr<Observer> create(LaunchContext &ctx) override;

  /// The workgroups recorded so far, by linear id.
  std::vector<WorkgroupTrace> takeWorkgroups();

private:
  friend class RecordingObserver;
  std::mutex mutex;
  std::shared_ptr<const TimedProgram> program;
  std::vector<WorkgroupTrace> workgroups;
};

/// Bank conflicts of one LDS access: clocks at full width, and how many of
/// them are conflicts.
struct LDSCost {
  unsigned passes = 0;
  unsigned conflicts = 0;
};

/// Cost of an access of \p bytes at \p addresses[lane] for lanes of \p active.
/// Lanes are served in groups that fill the banks, and a bank serves one dword
/// a clock. Groups: consecutive lanes, except for ds_read_b128, whose groups
/// were measured (Triton pull request 11365).
LDSCost getLDSCost(Chip chip, llvm::ArrayRef<uint64_t> addresses,
                   uint64_t active, unsigned bytes, bool isRead);

} // namespace attn::emu

#endif // ATTN_EMULATOR_TIMING_TIMINGTRACE_H
