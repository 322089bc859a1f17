//===- CUModel.cpp - One compute unit, clock by clock ---------------------===//

#include "attn/Emulator/Timing/CUModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>
#include <queue>

using namespace attn::emu;
using namespace llvm;

StringRef attn::emu::getWaveActivityName(WaveActivity activity) {
  static const char *const names[] = {"issue",          "dependency", "LDS",
                                      "scalar load",    "VMEM wait",  "barrier",
                                      "issue conflict", "own pipe",   "nop",
                                      "branch",         "sleep"};
  return names[static_cast<unsigned>(activity)];
}

namespace {

constexpr uint64_t never = ~uint64_t(0);
/// 128 scalar registers and SCC.
constexpr unsigned numScalars = 129;
constexpr unsigned numVectors = 512;

/// Registers of one wave: when the next instruction may read them.
struct Scoreboard {
  std::array<uint64_t, numVectors> vector = {};
  /// As C operand of an MFMA on exactly the registers of the one that wrote.
  std::array<uint64_t, numVectors> chain = {};
  /// First register and count of the MFMA that wrote; 0 if none did.
  std::array<uint16_t, numVectors> tupleFirst = {}, tupleCount = {};
  std::array<uint64_t, numScalars> scalar = {};
};

struct WaveRun {
  const WaveTrace *trace = nullptr;
  size_t next = 0;
  bool ended = false;
  bool atBarrier = false;
  uint64_t arrival = 0;
  unsigned priority = 0;
  /// No issue before this time, and why.
  uint64_t blockedUntil = 0;
  WaveActivity blockedBy = WaveActivity::Issue;
  Scoreboard board;
  /// Times at which outstanding accesses are done, in order of issue.
  std::deque<uint64_t> vmem, lds, smem;
  /// Number of VMEM accesses that left the queue, to find one by its number.
  uint64_t vmemRetired = 0;
};

struct SIMDRun {
  std::vector<unsigned> waves;
  uint64_t vectorFree = 0;
  unsigned vectorOwner = ~0u;
  /// Until when a transcendental (or any vector instruction) keeps an MFMA
  /// from starting.
  uint64_t matrixPortFree = 0;
  uint64_t matrixFree = 0;
  unsigned matrixOwner = ~0u;
};

/// Global data on its way to LDS.
struct Arrival {
  uint64_t time = 0;
  uint64_t order = 0;
  unsigned wave = 0;
  uint64_t number = 0;
  uint32_t op = 0;
  unsigned passes = 0, lines = 0;
  bool operator>(const Arrival &other) const {
    return std::tie(time, order) > std::tie(other.time, other.order);
  }
};

class Simulator {
public:
  Simulator(const TimingTable &table,
            ArrayRef<const WorkgroupTrace *> workgroups,
            const CUOptions &options)
      : t(table), workgroups(workgroups), options(options) {}

  Expected<CUTiming> run();

private:
  void setUp();
  void turn(unsigned simd);
  /// Why the next instruction of a wave cannot issue now; Issue if it can.
  WaveActivity canIssue(SIMDRun &simd, unsigned index, unsigned usedUnits);
  void issue(SIMDRun &simd, unsigned simdIndex, unsigned index);
  void issueVector(SIMDRun &simd, unsigned simdIndex, unsigned index,
                   const TimedOp &op);
  void issueLDS(unsigned simdIndex, unsigned index, const TimedOp &op,
                const TimedStep &step);
  void issueVMEM(unsigned simdIndex, unsigned index, const TimedOp &op,
                 const TimedStep &step);
  bool areOperandsReady(const WaveRun &run, const TimedOp &op) const;
  void writeResults(WaveRun &run, const TimedOp &op, uint64_t vectorReady,
                    uint64_t scalarReady);
  void arrive();
  void releaseBarriers();
  void account(unsigned index, WaveActivity activity);
  void finish();

  /// Clocks of \p passes LDS accesses of full width.
  uint64_t getLDSClocks(unsigned passes) const {
    return (uint64_t(passes) * t.ldsBanks * 4 + t.ldsBytesPerClock - 1) /
           t.ldsBytesPerClock;
  }
  void addPipe(Pipe pipe, uint64_t begin, uint64_t end, unsigned index,
               unsigned simd, uint32_t op) {
    if (options.events)
      result.pipeEvents.push_back(
          {begin, end, op, uint16_t(index), uint8_t(simd), pipe});
  }
  const TimedStep &getStep(const WaveRun &run) const {
    return (*run.trace)[run.next];
  }

  const TimingTable &t;
  ArrayRef<const WorkgroupTrace *> workgroups;
  const CUOptions &options;
  CUTiming result;

  uint64_t now = 0;
  std::vector<WaveRun> runs;
  std::vector<SIMDRun> simds;
  unsigned alive = 0;
  uint64_t ldsFree = 0, memoryFree = 0;
  unsigned outstandingLines = 0;
  uint64_t arrivalOrder = 0;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
};

void Simulator::setUp() {
  result.program = workgroups[0]->program;
  result.table = t;
  result.workgroups = workgroups.size();
  for (const WorkgroupTrace *group : workgroups)
    if ((result.loop = findMainLoop(*group)))
      break;
  simds.resize(t.simds);
  result.simds.resize(t.simds);
  unsigned place = 0;
  for (auto [g, group] : enumerate(workgroups))
    for (auto [w, trace] : enumerate(group->waves)) {
      unsigned simd = place++ % t.simds;
      simds[simd].waves.push_back(runs.size());
      WaveRun &run = runs.emplace_back();
      run.trace = &trace;
      WaveTiming &timing = result.waves.emplace_back();
      timing.workgroup = g;
      timing.wave = w;
      timing.simd = simd;
      run.ended = trace.empty();
      alive += !run.ended;
    }
}

void Simulator::account(unsigned index, WaveActivity activity) {
  WaveTiming &timing = result.waves[index];
  timing.clocks[static_cast<unsigned>(activity)] += t.issueClocks;
  if (!options.events || activity == WaveActivity::Issue)
    return;
  // Joins with the wave's latest stall where they touch.
  auto &events = result.stallEvents;
  size_t look = std::min<size_t>(events.size(), 4 * runs.size());
  for (size_t n = 0; n < look; ++n) {
    StallEvent &event = events[events.size() - 1 - n];
    if (event.wave != index)
      continue;
    if (event.activity == activity && event.end == now) {
      event.end += t.issueClocks;
      return;
    }
    break;
  }
  events.push_back({now, now + t.issueClocks, uint16_t(index), activity});
}

bool Simulator::areOperandsReady(const WaveRun &run, const TimedOp &op) const {
  for (const TimedReg &reg : op.regs) {
    for (unsigned n = reg.first, e = reg.first + reg.count; n < e; ++n) {
      if (!reg.isVector) {
        if (n < numScalars && run.board.scalar[n] > now)
          return false;
        continue;
      }
      if (n >= numVectors)
        continue;
      bool isChain = reg.isSrcC && run.board.tupleFirst[n] == reg.first &&
                     run.board.tupleCount[n] == reg.count;
      // The C operand's registers are mostly the result's too.
      bool isChainResult = reg.write && op.unit == IssueUnit::MFMA &&
                           run.board.tupleFirst[n] == reg.first &&
                           run.board.tupleCount[n] == reg.count;
      uint64_t ready =
          isChain || isChainResult ? run.board.chain[n] : run.board.vector[n];
      if (ready > now)
        return false;
    }
  }
  return true;
}

void Simulator::writeResults(WaveRun &run, const TimedOp &op,
                             uint64_t vectorReady, uint64_t scalarReady) {
  for (const TimedReg &reg : op.regs) {
    if (!reg.write)
      continue;
    for (unsigned n = reg.first, e = reg.first + reg.count; n < e; ++n) {
      if (!reg.isVector) {
        if (n < numScalars)
          run.board.scalar[n] = scalarReady;
        continue;
      }
      if (n >= numVectors)
        continue;
      run.board.vector[n] = vectorReady;
      run.board.tupleCount[n] = 0;
    }
  }
}

WaveActivity Simulator::canIssue(SIMDRun &simd, unsigned index,
                                 unsigned usedUnits) {
  WaveRun &run = runs[index];
  const TimedOp &op = result.program->ops[getStep(run).op];
  auto isUsed = [&](IssueUnit unit) {
    return usedUnits >> static_cast<unsigned>(unit) & 1;
  };
  if (op.internal == InternalOp::Waitcnt) {
    auto pop = [&](std::deque<uint64_t> &queue) {
      while (!queue.empty() && queue.front() <= now)
        queue.pop_front();
    };
    pop(run.lds);
    while (!run.vmem.empty() && run.vmem.front() <= now) {
      run.vmem.pop_front();
      ++run.vmemRetired;
    }
    // Scalar loads return in any order; only a wait for all of them is safe,
    // which every one has to satisfy.
    llvm::erase_if(run.smem, [&](uint64_t done) { return done <= now; });
    if (run.vmem.size() > op.vmcnt)
      return WaveActivity::VMEMWait;
    if (run.lds.size() + run.smem.size() > op.lgkmcnt)
      return run.lds.empty() ? WaveActivity::ScalarWait : WaveActivity::LDSWait;
    return WaveActivity::Issue;
  }
  if (op.unit == IssueUnit::Internal)
    return WaveActivity::Issue;

  if (!areOperandsReady(run, op))
    return WaveActivity::Dependency;

  switch (op.unit) {
  case IssueUnit::VALU:
  case IssueUnit::MFMA: {
    bool isMFMA = op.unit == IssueUnit::MFMA;
    auto busy = [&](unsigned owner) {
      return owner == index ? WaveActivity::OwnPipe
                            : WaveActivity::IssueConflict;
    };
    if (isUsed(IssueUnit::VALU))
      return WaveActivity::IssueConflict;
    if ((isMFMA ? simd.matrixPortFree : simd.vectorFree) > now)
      return busy(simd.vectorOwner);
    bool needsMatrix =
        isMFMA || (op.rate == VectorRate::PackedF32 && t.packedNeedsIdleMFMA);
    if (needsMatrix && simd.matrixFree > now)
      return busy(simd.matrixOwner);
    break;
  }
  case IssueUnit::LDS:
    while (!run.lds.empty() && run.lds.front() <= now)
      run.lds.pop_front();
    if (run.lds.size() + run.smem.size() >= t.lgkmcntMax)
      return WaveActivity::LDSWait;
    break;
  case IssueUnit::VMEM:
    while (!run.vmem.empty() && run.vmem.front() <= now) {
      run.vmem.pop_front();
      ++run.vmemRetired;
    }
    if (run.vmem.size() >= t.vmcntMax || outstandingLines >= t.vmemMaxLines)
      return WaveActivity::VMEMWait;
    break;
  default:
    break;
  }
  return isUsed(op.unit) ? WaveActivity::IssueConflict : WaveActivity::Issue;
}

void Simulator::issueVector(SIMDRun &simd, unsigned simdIndex, unsigned index,
                            const TimedOp &op) {
  WaveRun &run = runs[index];
  WaveTiming &timing = result.waves[index];
  uint32_t opIndex = getStep(run).op;
  if (op.unit == IssueUnit::MFMA) {
    uint64_t clocks = uint64_t(op.passes) * 4;
    // A transcendental may still be in the vector pipe.
    simd.vectorFree = std::max(simd.vectorFree, now + t.mfmaIssue);
    simd.matrixPortFree = now + t.mfmaIssue;
    simd.vectorOwner = simd.matrixOwner = index;
    simd.matrixFree = now + clocks;
    uint64_t ready = now + clocks + t.mfmaResultExtra;
    writeResults(run, op, ready, now + t.valuToScalar);
    for (const TimedReg &reg : op.regs)
      if (reg.write && reg.isVector)
        for (unsigned n = reg.first, e = reg.first + reg.count;
             n < std::min(e, numVectors); ++n) {
          run.board.chain[n] = now + clocks + t.mfmaChainExtra;
          run.board.tupleFirst[n] = reg.first;
          run.board.tupleCount[n] = reg.count;
        }
    timing.matrixClocks += clocks;
    result.simds[simdIndex].matrixBusy += clocks;
    result.simds[simdIndex].vectorBusy += t.mfmaIssue;
    addPipe(Pipe::Matrix, now, now + clocks, index, simdIndex, opIndex);
    addPipe(Pipe::Vector, now, now + t.mfmaIssue, index, simdIndex, opIndex);
    return;
  }
  unsigned clocks = t.valu, latency = t.valuLatency;
  unsigned blocksMatrix = 0;
  switch (op.rate) {
  case VectorRate::Full:
    break;
  case VectorRate::Transcendental:
    clocks = t.transcendental;
    latency = clocks + t.transcendentalExtra;
    blocksMatrix = t.transcendentalBlocksMFMA;
    break;
  case VectorRate::Quarter:
    clocks = t.quarterRate;
    break;
  case VectorRate::PackedF32:
    clocks = t.packedF32;
    break;
  case VectorRate::LaneSwap:
    clocks = t.laneSwap;
    latency = t.laneSwapLatency;
    break;
  }
  latency = std::max(latency, clocks);
  simd.vectorFree = now + clocks;
  simd.matrixPortFree = now + (blocksMatrix ? blocksMatrix : clocks);
  simd.vectorOwner = index;
  writeResults(run, op, now + latency, now + std::max(latency, t.valuToScalar));
  result.simds[simdIndex].vectorBusy += clocks;
  addPipe(Pipe::Vector, now, now + clocks, index, simdIndex, opIndex);
}

void Simulator::issueLDS(unsigned simdIndex, unsigned index, const TimedOp &op,
                         const TimedStep &step) {
  WaveRun &run = runs[index];
  uint64_t begin = std::max(now, ldsFree);
  uint64_t clocks = std::max<uint64_t>(1, getLDSClocks(step.ldsPasses));
  ldsFree = begin + clocks;
  uint64_t done = ldsFree + t.ldsLatency;
  run.lds.push_back(done);
  result.ldsBusy += clocks;
  uint64_t conflicts = getLDSClocks(step.ldsConflicts);
  result.ldsConflictClocks += conflicts;
  result.waves[index].ldsConflictClocks += conflicts;
  addPipe(Pipe::LDS, begin, ldsFree, index, simdIndex, step.op);
}

void Simulator::issueVMEM(unsigned simdIndex, unsigned index, const TimedOp &op,
                          const TimedStep &step) {
  WaveRun &run = runs[index];
  uint64_t clocks = std::max<uint64_t>(
      {t.vmemIssue, step.lines,
       (step.bytes + t.vmemBytesPerClock - 1) / t.vmemBytesPerClock});
  uint64_t begin = std::max(now, memoryFree);
  memoryFree = begin + clocks;
  result.memoryBusy += clocks;
  addPipe(Pipe::Memory, begin, memoryFree, index, simdIndex, step.op);
  // Accesses return in order; those to LDS know their time on arrival.
  uint64_t number = run.vmemRetired + run.vmem.size();
  outstandingLines += step.lines;
  run.vmem.push_back(never);
  arrivals.push({memoryFree + t.vmemLatency, arrivalOrder++, index, number,
                 step.op, op.isDMA ? step.ldsPasses : 0u, step.lines});
}

void Simulator::arrive() {
  while (!arrivals.empty() && arrivals.top().time <= now) {
    Arrival arrival = arrivals.top();
    arrivals.pop();
    outstandingLines -= arrival.lines;
    WaveRun &run = runs[arrival.wave];
    uint64_t done = arrival.time;
    if (arrival.passes) {
      uint64_t begin = std::max(arrival.time, ldsFree);
      ldsFree = begin + getLDSClocks(arrival.passes);
      result.ldsBusy += ldsFree - begin;
      done = ldsFree;
      addPipe(Pipe::LDS, begin, ldsFree, arrival.wave,
              result.waves[arrival.wave].simd, arrival.op);
    }
    if (arrival.number >= run.vmemRetired)
      run.vmem[arrival.number - run.vmemRetired] = done;
  }
}

void Simulator::issue(SIMDRun &simd, unsigned simdIndex, unsigned index) {
  WaveRun &run = runs[index];
  WaveTiming &timing = result.waves[index];
  const TimedStep &step = getStep(run);
  const TimedOp &op = result.program->ops[step.op];
  if (result.loop && step.op >= result.loop->header &&
      step.op <= result.loop->latch) {
    if (!timing.loopEnd)
      timing.loopBegin = now;
    timing.loopEnd = now + t.issueClocks;
    if (step.op == result.loop->header)
      timing.iterations.push_back(
          {now, timing.clocks, timing.matrixClocks, timing.ldsConflictClocks});
  }
  ++timing.issued[static_cast<unsigned>(op.unit)];
  run.blockedUntil = now + t.issueClocks;
  run.blockedBy = WaveActivity::Issue;
  switch (op.unit) {
  case IssueUnit::VALU:
  case IssueUnit::MFMA:
    issueVector(simd, simdIndex, index, op);
    break;
  case IssueUnit::SALU:
    writeResults(run, op, now + t.saluLatency, now + t.saluLatency);
    break;
  case IssueUnit::SMEM:
    run.smem.push_back(now + t.smemLatency);
    break;
  case IssueUnit::LDS:
    issueLDS(simdIndex, index, op, step);
    break;
  case IssueUnit::VMEM:
    issueVMEM(simdIndex, index, op, step);
    break;
  case IssueUnit::Branch:
    run.blockedUntil =
        now + (step.taken ? t.branchTakenClocks : t.branchClocks);
    run.blockedBy = WaveActivity::Branch;
    break;
  case IssueUnit::Internal:
    switch (op.internal) {
    case InternalOp::Nop:
      run.blockedUntil = now + uint64_t(op.amount) * t.issueClocks;
      run.blockedBy = WaveActivity::Nop;
      break;
    case InternalOp::Sleep:
      run.blockedUntil =
          now +
          std::max<uint64_t>(t.issueClocks, uint64_t(op.amount) * t.sleepUnit);
      run.blockedBy = WaveActivity::Sleep;
      break;
    case InternalOp::SetPrio:
      run.priority = op.amount;
      break;
    case InternalOp::Barrier:
      run.atBarrier = true;
      run.arrival = now;
      break;
    case InternalOp::End:
    case InternalOp::Waitcnt:
    case InternalOp::None:
      break;
    }
    break;
  }
  if (options.events)
    result.issueEvents.push_back(
        {now, std::max(run.blockedUntil, now + t.issueClocks), step.op,
         uint16_t(index)});
  if (++run.next == run.trace->size()) {
    run.ended = true;
    --alive;
    timing.end = now + t.issueClocks;
  }
}

void Simulator::turn(unsigned simdIndex) {
  SIMDRun &simd = simds[simdIndex];
  unsigned used = 0;
  // Highest priority first, oldest first among equals.
  SmallVector<unsigned, 16> order;
  for (unsigned index : simd.waves)
    if (!runs[index].ended)
      order.push_back(index);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(-int(runs[a].priority), a) <
           std::make_pair(-int(runs[b].priority), b);
  });
  for (unsigned index : order) {
    WaveRun &run = runs[index];
    if (run.atBarrier) {
      account(index, WaveActivity::Barrier);
      continue;
    }
    if (run.blockedUntil > now) {
      account(index, run.blockedBy);
      continue;
    }
    WaveActivity activity = canIssue(simd, index, used);
    if (activity == WaveActivity::Issue) {
      const TimedOp &op = result.program->ops[getStep(run).op];
      if (op.unit != IssueUnit::Internal) {
        IssueUnit unit = op.unit == IssueUnit::MFMA ? IssueUnit::VALU : op.unit;
        used |= 1u << static_cast<unsigned>(unit);
      }
      issue(simd, simdIndex, index);
      // The turns after the first belong to what the instruction waits for.
      if (run.blockedBy == WaveActivity::Nop)
        activity = WaveActivity::Nop;
    }
    account(index, activity);
  }
}

void Simulator::releaseBarriers() {
  unsigned first = 0;
  for (const WorkgroupTrace *group : workgroups) {
    unsigned count = group->waves.size();
    MutableArrayRef<WaveRun> waves = MutableArrayRef(runs).slice(first, count);
    first += count;
    uint64_t last = 0;
    bool any = false, all = true;
    for (const WaveRun &run : waves) {
      // Ended waves do not count.
      if (run.ended)
        continue;
      any |= run.atBarrier;
      all &= run.atBarrier;
      last = std::max(last, run.arrival);
    }
    if (!any || !all || now < last + t.issueClocks)
      continue;
    for (WaveRun &run : waves) {
      if (!run.atBarrier)
        continue;
      run.atBarrier = false;
      run.blockedUntil = last + t.issueClocks + t.barrierClocks;
      run.blockedBy = WaveActivity::Barrier;
    }
  }
}

/// Mean of the middle half of the steady iterations: those that mask a diagonal
/// or repair a maximum are few, and not what a steady loop costs.
double getTypicalPeriod(const WaveTiming &wave) {
  SmallVector<uint64_t> periods;
  for (size_t n = wave.iterations.size() - wave.getSteadyCount();
       n < wave.iterations.size(); ++n)
    periods.push_back(wave.iterations[n].begin - wave.iterations[n - 1].begin);
  llvm::sort(periods);
  size_t cut = periods.size() / 4;
  double sum = 0;
  for (size_t n = cut; n < periods.size() - cut; ++n)
    sum += periods[n];
  return sum / double(periods.size() - 2 * cut);
}

void Simulator::finish() {
  result.clocks = now;
  result.workgroupEnds.assign(workgroups.size(), 0);
  double prologue = 0, epilogue = 0;
  unsigned looping = 0;
  for (WaveTiming &timing : result.waves) {
    uint64_t &end = result.workgroupEnds[timing.workgroup];
    end = std::max(end, timing.end);
    if (timing.iterations.empty())
      continue;
    ++looping;
    prologue += timing.loopBegin - timing.begin;
    epilogue += timing.end - timing.loopEnd;
    result.iterations =
        std::max<uint64_t>(result.iterations, timing.iterations.size());
  }
  if (looping) {
    result.prologueClocks = prologue / looping;
    result.epilogueClocks = epilogue / looping;
  }
  for (auto [index, simd] : enumerate(simds)) {
    SIMDTiming &timing = result.simds[index];
    double periods = 0, matrix = 0, lengths = 0;
    uint64_t first = never, last = 0, iterations = 0, allIterations = 0;
    uint64_t loopBegin = never, loopEnd = 0;
    unsigned count = 0;
    for (unsigned wave : simd.waves) {
      const WaveTiming &w = result.waves[wave];
      const auto *begin = w.getSteadyBegin(), *end = w.getSteadyEnd();
      if (!begin || end->begin == begin->begin)
        continue;
      double length = end->begin - begin->begin;
      periods += getTypicalPeriod(w);
      lengths += length;
      matrix += end->matrixClocks - begin->matrixClocks;
      iterations += w.getSteadyCount();
      first = std::min(first, begin->begin);
      last = std::max(last, end->begin);
      loopBegin = std::min(loopBegin, w.loopBegin);
      loopEnd = std::max(loopEnd, w.loopEnd);
      allIterations += w.iterations.size();
      ++count;
    }
    if (!count)
      continue;
    // Waves that go side by side have one period. Where the older one runs
    // ahead (nothing holds the waves together), their periods say nothing, and
    // the time all of them took is shared out.
    bool together = lengths > 0.8 * double(last - first) * count;
    timing.iterationClocks =
        together ? periods / count
                 : double(loopEnd - loopBegin) * count / allIterations;
    timing.mfmaEfficiency =
        matrix / iterations * count / timing.iterationClocks;
  }
}

Expected<CUTiming> Simulator::run() {
  setUp();
  uint64_t lastIssue = 0;
  while (alive) {
    arrive();
    releaseBarriers();
    for (unsigned simd = 0; simd < t.simds; ++simd)
      turn(simd);
    for (const WaveRun &run : runs)
      if (run.blockedUntil > now)
        lastIssue = now;
    now += t.issueClocks;
    if (now > options.maxClocks)
      return createStringError(formatv(
          "the timing model gave up after {0} clocks", options.maxClocks));
    // Nothing takes this long: some wave waits for what never comes.
    if (now - lastIssue > 1000000)
      return createStringError(
          formatv("the waves of kernel '{0}' stopped at clock {1}: some wave "
                  "never reaches the barrier the others wait at",
                  result.program->kernel, lastIssue));
  }
  finish();
  return std::move(result);
}

} // namespace

Expected<CUTiming>
attn::emu::simulateCU(const TimingTable &table,
                      ArrayRef<const WorkgroupTrace *> workgroups,
                      const CUOptions &options) {
  if (workgroups.empty())
    return createStringError("the timing model expects a workgroup, but none "
                             "was recorded");
  size_t waves = 0;
  for (const WorkgroupTrace *group : workgroups) {
    waves += group->waves.size();
    if (group->program != workgroups[0]->program)
      return createStringError(
          "the timing model expects workgroups of one program");
  }
  size_t places = size_t(table.simds) * table.wavesPerSIMD;
  if (waves > places)
    return createStringError(formatv("a compute unit expects at most {0} "
                                     "waves, but got {1}",
                                     places, waves));
  return Simulator(table, workgroups, options).run();
}

static double meanOf(ArrayRef<SIMDTiming> simds,
                     function_ref<double(const SIMDTiming &)> get) {
  double sum = 0;
  unsigned count = 0;
  for (const SIMDTiming &simd : simds)
    if (simd.iterationClocks) {
      sum += get(simd);
      ++count;
    }
  return count ? sum / count : 0;
}

double CUTiming::getSteadyLDSConflicts() const {
  double sum = 0;
  for (const WaveTiming &wave : waves)
    if (unsigned count = wave.getSteadyCount())
      sum += double(wave.getSteadyEnd()->ldsConflictClocks -
                    wave.getSteadyBegin()->ldsConflictClocks) /
             count;
  return sum;
}
double CUTiming::getIterationClocks() const {
  return meanOf(simds, [](const SIMDTiming &s) { return s.iterationClocks; });
}
double CUTiming::getMFMAEfficiency() const {
  return meanOf(simds, [](const SIMDTiming &s) { return s.mfmaEfficiency; });
}
double CUTiming::getTotalEfficiency() const {
  uint64_t busy = 0;
  for (const SIMDTiming &simd : simds)
    busy += simd.matrixBusy;
  return clocks ? double(busy) / (double(clocks) * simds.size()) : 0;
}
