//===- TraceRecorder.cpp - Recording what the waves execute ---------------===//

#include "../Exec/Memory.h"
#include "../Machine/Observer.h"
#include "attn/Emulator/Numerics/Mfma.h"
#include "attn/Emulator/Timing/TimingTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <limits>

using namespace attn::emu;
using namespace llvm;

/// The scalar register number under which SCC is tracked.
static constexpr unsigned regSCC = 128;

StringRef attn::emu::getIssueUnitName(IssueUnit unit) {
  static const char *const names[] = {"VALU", "MFMA", "SALU",   "SMEM",
                                      "LDS",  "VMEM", "branch", "internal"};
  return names[static_cast<unsigned>(unit)];
}

static VectorRate getRate(const Inst &inst, StringRef mnemonic) {
  if (inst.traits.isTrans)
    return VectorRate::Transcendental;
  if (mnemonic.starts_with("v_pk_") && mnemonic.ends_with("_f32"))
    return VectorRate::PackedF32;
  if (mnemonic.starts_with("v_permlane16_swap") ||
      mnemonic.starts_with("v_permlane32_swap"))
    return VectorRate::LaneSwap;
  bool isQuarter =
      StringSwitch<bool>(mnemonic)
          .Cases({"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32"}, true)
          .Cases({"v_mad_u64_u32", "v_mad_i64_i32"}, true)
          .Cases({"v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64"}, true)
          .Default(false);
  return isQuarter ? VectorRate::Quarter : VectorRate::Full;
}

static unsigned getPasses(const Inst &inst, bool isGFX950) {
  const auto &info = *static_cast<const MfmaInfo *>(inst.extra);
  unsigned passes = isGFX950 ? info.passesGfx950 : info.passesGfx942;
  // f8f6f4 forms: half of it when neither operand has 8-bit elements (format
  // codes 0 and 1).
  if (info.name.contains("f8f6f4") && inst.cbsz > 1 && inst.blgp > 1)
    passes /= 2;
  return passes;
}

static void setUnit(TimedOp &op, const Inst &inst, StringRef mnemonic,
                    bool isGFX950) {
  switch (inst.instClass) {
  case InstClass::SALU:
    op.unit = IssueUnit::SALU;
    break;
  case InstClass::SMEM:
    op.unit = IssueUnit::SMEM;
    break;
  case InstClass::VALU:
  case InstClass::Transcendental:
    op.unit = IssueUnit::VALU;
    op.rate = getRate(inst, mnemonic);
    break;
  case InstClass::MFMA:
    op.unit = IssueUnit::MFMA;
    op.passes = getPasses(inst, isGFX950);
    break;
  case InstClass::LDS:
    op.unit = IssueUnit::LDS;
    break;
  case InstClass::VMEM:
  case InstClass::Scratch:
    op.unit = IssueUnit::VMEM;
    op.isDMA = inst.lds;
    break;
  case InstClass::Branch:
    op.unit = IssueUnit::Branch;
    break;
  default:
    op.unit = IssueUnit::Internal;
    break;
  }
  op.isStore = inst.traits.isStore;
  unsigned imm = static_cast<unsigned>(inst.simm) & 0xffff;
  if (mnemonic == "s_waitcnt") {
    // vmcnt in bits 3:0 and 15:14, lgkmcnt in bits 11:8.
    op.internal = InternalOp::Waitcnt;
    op.vmcnt = (imm & 15) | (imm >> 14 & 3) << 4;
    op.lgkmcnt = imm >> 8 & 15;
  } else if (mnemonic == "s_nop") {
    op.internal = InternalOp::Nop;
    op.amount = (imm & 15) + 1;
  } else if (mnemonic == "s_sleep") {
    op.internal = InternalOp::Sleep;
    op.amount = imm & 127;
  } else if (mnemonic == "s_setprio") {
    op.internal = InternalOp::SetPrio;
    op.amount = imm & 3;
  } else if (mnemonic == "s_barrier") {
    op.internal = InternalOp::Barrier;
  } else if (mnemonic.starts_with("s_endpgm")) {
    op.internal = InternalOp::End;
  }
}

static std::shared_ptr<TimedProgram> makeProgram(const LaunchContext &ctx) {
  auto result = std::make_shared<TimedProgram>();
  result->chip = ctx.chip;
  result->kernel = ctx.kernel->name;
  for (const Inst &inst : ctx.program->getInsts()) {
    TimedOp &op = result->ops.emplace_back();
    op.pc = inst.pc;
    op.target = inst.target;
    // The record behind the last instruction has no encoding.
    if (&inst == &ctx.program->getInsts().back())
      continue;
    op.text = ctx.program->getText(inst);
    setUnit(op, inst, ctx.program->getOpcode(inst).mnemonic,
            ctx.chip == Chip::GFX950);
    for (const RegRange &range : ctx.program->getRegs(inst)) {
      // EXEC is read by every vector instruction and written long before.
      if (range.kind == RegRange::Scalar && range.implicit &&
          range.first >= regEXEC && !range.write)
        continue;
      TimedReg reg;
      reg.isVector = range.kind == RegRange::Vector;
      reg.write = range.write;
      reg.first = range.kind == RegRange::SCC ? regSCC : range.first;
      reg.count = range.count;
      reg.isSrcC = op.unit == IssueUnit::MFMA && reg.isVector && !reg.write &&
                   inst.src[2].kind == SrcKind::Vector &&
                   inst.src[2].reg == range.first;
      op.regs.push_back(reg);
    }
  }
  return result;
}

namespace attn::emu {

class RecordingObserver : public Observer {
public:
  RecordingObserver(LaunchContext &ctx, TraceRecorder &recorder)
      : ctx(ctx), recorder(recorder) {}

  void beginWorkgroup(const Workgroup &group,
                      MutableArrayRef<Wave> waves) override {
    trace = WorkgroupTrace();
    trace.id = group.linear;
    trace.waves.resize(waves.size());
  }

  void before(Wave &wave, const Inst &inst) override {
    TimedStep &step = trace.waves[wave.id].emplace_back();
    step.op = &inst - ctx.program->get(0);
    switch (inst.instClass) {
    case InstClass::LDS:
      return recordLDS(wave, inst, step);
    case InstClass::VMEM:
    case InstClass::Scratch:
      return recordVMEM(wave, inst, step);
    default:
      return;
    }
  }

  void after(Wave &wave, const Inst &inst) override {
    if (inst.instClass == InstClass::Branch)
      trace.waves[wave.id].back().taken = wave.pc != &inst + 1;
  }

  void endWorkgroup(const Workgroup &group,
                    MutableArrayRef<Wave> waves) override {
    std::lock_guard<std::mutex> lock(recorder.mutex);
    if (!recorder.program)
      recorder.program = makeProgram(ctx);
    trace.program = recorder.program;
    recorder.workgroups.push_back(std::move(trace));
  }

private:
  void add(TimedStep &step, const LDSCost &cost) {
    step.ldsPasses = std::min<unsigned>(step.ldsPasses + cost.passes, 0xffff);
    step.ldsConflicts += cost.conflicts;
  }

  void recordLDS(Wave &wave, const Inst &inst, TimedStep &step) {
    if (inst.memBytes == 0) {
      // Permutes use the crossbar only: a dword a lane.
      step.ldsPasses = std::max(1u, 64 / getNumLDSBanks(ctx.chip));
      return;
    }
    StringRef name = ctx.program->getOpcode(inst).mnemonic;
    bool isTwo = name.starts_with("ds_read2") || name.starts_with("ds_write2");
    for (bool second : {false, true}) {
      if (second && !isTwo)
        break;
      getLDSAddresses(wave, inst, second, at);
      add(step, getLDSCost(ctx.chip, at.address, at.active, inst.memBytes,
                           inst.traits.isLoad));
    }
  }

  void recordVMEM(Wave &wave, const Inst &inst, TimedStep &step) {
    at = LaneAddresses();
    if (inst.format != Format::MUBUF)
      getFlatAddresses(wave, inst, at);
    else if (!getBufferAddresses(wave, inst, at))
      return;
    uint64_t inRange = at.active & ~at.outOfRange;
    SmallVector<uint64_t, 64> lines;
    forEachLane(inRange, [&](unsigned lane) {
      lines.push_back(at.address[lane] / 128);
      lines.push_back((at.address[lane] + inst.memBytes - 1) / 128);
    });
    sort(lines);
    step.lines = std::unique(lines.begin(), lines.end()) - lines.begin();
    step.bytes = popcount(inRange) * inst.memBytes;
    trace.globalBytes += step.bytes;
    if (inst.lds) {
      uint64_t addresses[numLanes];
      for (unsigned lane = 0; lane < numLanes; ++lane)
        addresses[lane] = uint64_t(getDMABase(wave, inst)) +
                          uint64_t(lane) * getDMABytes(inst);
      add(step, getLDSCost(ctx.chip, addresses, at.active, getDMABytes(inst),
                           /*isRead=*/false));
    }
  }

  LaunchContext &ctx;
  TraceRecorder &recorder;
  WorkgroupTrace trace;
  LaneAddresses at;
};

} // namespace attn::emu

TraceRecorder::TraceRecorder() = default;
TraceRecorder::~TraceRecorder() = default;

std::unique_ptr<Observer> TraceRecorder::create(LaunchContext &ctx) {
  return std::make_unique<RecordingObserver>(ctx, *this);
}

std::vector<WorkgroupTrace> TraceRecorder::takeWorkgroups() {
  sort(workgroups, [](const WorkgroupTrace &a, const WorkgroupTrace &b) {
    return a.id < b.id;
  });
  return std::move(workgroups);
}
