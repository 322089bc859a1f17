//===- MainLoop.cpp - The loop a kernel spends its time in ----------------===//

#include "attn/Emulator/Timing/CUModel.h"
#include "llvm/ADT/DenseMap.h"

using namespace attn::emu;
using namespace llvm;

std::optional<LoopInfo> attn::emu::findMainLoop(const WorkgroupTrace &trace) {
  struct Weight {
    uint64_t matrix = 0, steps = 0, times = 0;
  };
  DenseMap<std::pair<uint32_t, uint32_t>, Weight> loops;
  for (const WaveTrace &wave : trace.waves) {
    // Work since the latest backward branch: an outer loop's branch is charged
    // with what follows its inner loops only.
    uint64_t matrix = 0, steps = 0;
    for (const TimedStep &step : wave) {
      const TimedOp &op = trace.program->ops[step.op];
      ++steps;
      matrix += op.passes;
      if (!step.taken || op.target < 0 ||
          static_cast<uint32_t>(op.target) > step.op)
        continue;
      Weight &weight = loops[{op.target, step.op}];
      weight.matrix += matrix;
      weight.steps += steps;
      ++weight.times;
      matrix = steps = 0;
    }
  }
  std::optional<LoopInfo> best;
  std::pair<uint64_t, uint64_t> bestWeight;
  for (const auto &[edge, weight] : loops) {
    std::pair<uint64_t, uint64_t> key(weight.matrix, weight.steps);
    if (best && key <= bestWeight)
      continue;
    best = LoopInfo{edge.first, edge.second};
    bestWeight = key;
  }
  return best;
}
