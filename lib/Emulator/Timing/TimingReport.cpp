//===- TimingReport.cpp - Text and JSON -----------------------------------===//

#include "attn/Emulator/Timing/TimingReport.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::emu;
using namespace llvm;

/// Clocks of a steady iteration (of the whole run without a loop) by activity.
static std::array<double, numWaveActivities>
getSteadyActivities(const WaveTiming &wave) {
  std::array<double, numWaveActivities> result = {};
  unsigned count = wave.getSteadyCount();
  for (unsigned n = 0; n < numWaveActivities; ++n)
    result[n] = count ? double(wave.getSteadyEnd()->clocks[n] -
                               wave.getSteadyBegin()->clocks[n]) /
                            count
                      : double(wave.clocks[n]);
  return result;
}

void attn::emu::printTiming(const CUTiming &timing, raw_ostream &os) {
  os << formatv("kernel {0} on {1}: {2} workgroup{3} of {4} waves on one "
                "compute unit\n",
                timing.program->kernel, getChipName(timing.program->chip),
                timing.workgroups, timing.workgroups == 1 ? "" : "s",
                timing.waves.size() / timing.workgroups);
  os << formatv("  total               {0} clk, MFMA {1:P1}\n", timing.clocks,
                timing.getTotalEfficiency());
  if (timing.getIterationClocks()) {
    const TimedProgram &program = *timing.program;
    os << formatv("  steady iteration    {0:f1} clk, MFMA {1:P1} ({2} "
                  "iterations, loop {3:x-} to {4:x-})\n",
                  timing.getIterationClocks(), timing.getMFMAEfficiency(),
                  timing.iterations, program.ops[timing.loop->header].pc,
                  program.ops[timing.loop->latch].pc);
    os << formatv("  prologue, epilogue  {0:f0}, {1:f0} clk\n",
                  timing.prologueClocks, timing.epilogueClocks);
    os << formatv("  LDS bank conflicts  {0:f1} clk an iteration\n",
                  timing.getSteadyLDSConflicts());
    for (size_t n = 0; n < timing.simds.size(); ++n)
      if (timing.simds[n].iterationClocks)
        os << formatv("  SIMD {0}              {1:f1} clk, MFMA {2:P1}\n", n,
                      timing.simds[n].iterationClocks,
                      timing.simds[n].mfmaEfficiency);
  } else {
    os << "  no loop of two iterations\n";
  }
  os << "\nclocks of a wave in "
     << (timing.getIterationClocks() ? "an iteration (mean)" : "the whole run")
     << "\n  wave  SIMD";
  for (unsigned n = 0; n < numWaveActivities; ++n)
    os << formatv("{0,15}", getWaveActivityName(static_cast<WaveActivity>(n)));
  os << '\n';
  for (const WaveTiming &wave : timing.waves) {
    os << formatv("{0,4}.{1,-2}{2,4}", wave.workgroup, wave.wave, wave.simd);
    for (double clocks : getSteadyActivities(wave))
      os << formatv("{0,15:f0}", clocks);
    os << '\n';
  }
}

json::Object attn::emu::toJSON(const CUTiming &timing) {
  json::Array simds, waves;
  for (const SIMDTiming &simd : timing.simds)
    simds.push_back(json::Object{
        {"iteration_clocks", simd.iterationClocks},
        {"mfma_efficiency", simd.mfmaEfficiency},
        {"matrix_busy", int64_t(simd.matrixBusy)},
        {"vector_busy", int64_t(simd.vectorBusy)},
    });
  for (const WaveTiming &wave : timing.waves) {
    json::Object steady;
    for (auto [n, clocks] : enumerate(getSteadyActivities(wave)))
      steady[getWaveActivityName(static_cast<WaveActivity>(n))] = clocks;
    waves.push_back(json::Object{
        {"workgroup", int64_t(wave.workgroup)},
        {"wave", int64_t(wave.wave)},
        {"simd", int64_t(wave.simd)},
        {"begin", int64_t(wave.begin)},
        {"end", int64_t(wave.end)},
        {"steady", std::move(steady)},
    });
  }
  json::Value loop = nullptr;
  if (timing.loop)
    loop = json::Object{
        {"begin", int64_t(timing.program->ops[timing.loop->header].pc)},
        {"end", int64_t(timing.program->ops[timing.loop->latch].pc)}};
  return json::Object{
      {"loop", std::move(loop)},
      {"kernel", timing.program->kernel},
      {"chip", getChipName(timing.program->chip)},
      {"constants", timing.table.toJSON()},
      {"clocks", int64_t(timing.clocks)},
      {"workgroups", int64_t(timing.workgroups)},
      {"iterations", int64_t(timing.iterations)},
      {"iteration_clocks", timing.getIterationClocks()},
      {"mfma_efficiency", timing.getMFMAEfficiency()},
      {"total_mfma_efficiency", timing.getTotalEfficiency()},
      {"prologue_clocks", timing.prologueClocks},
      {"epilogue_clocks", timing.epilogueClocks},
      {"lds_conflicts", timing.getSteadyLDSConflicts()},
      {"simds", std::move(simds)},
      {"waves", std::move(waves)},
  };
}
