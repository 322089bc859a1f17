//===- RunTiming.cpp - Timing a code object with its manifest -------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunTiming.h"
#include "TimedDevice.h"
#include "attn/Emulator/Timing/TimingReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace attn::manifest;

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

uint64_t findRowTiles(uint64_t workgroups, ArrayRef<int64_t> query) {
  if (query.size() != 4)
    return workgroups;
  for (unsigned headDim : {1, 2}) {
    uint64_t heads = query[0] * query[headDim];
    uint64_t rows = query[3 - headDim];
    if (!heads || !rows || workgroups % heads)
      continue;
    uint64_t period = workgroups / heads;
    for (uint64_t tile : {16, 32, 64, 128, 256})
      if ((rows + tile - 1) / tile == period)
        return period;
  }
  return workgroups;
}

/// Where to look in a period: the ends, the middle, and the quarters of a long
/// one.
static SmallVector<uint64_t> choosePositions(uint64_t period) {
  SmallVector<uint64_t> positions = {0, period - 1};
  if (period > 2)
    positions.push_back(period / 2);
  if (period >= 8)
    positions.append({period / 4, 3 * period / 4});
  llvm::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()),
                  positions.end());
  return positions;
}

static uint64_t countSteps(const emu::WorkgroupTrace &trace) {
  uint64_t steps = 0;
  for (const emu::WaveTrace &wave : trace.waves)
    steps += wave.size();
  return steps;
}

static std::vector<uint64_t> getLoopAddresses(const emu::WorkgroupTrace &trace,
                                              const emu::LoopInfo &loop) {
  const emu::WaveTrace &wave = trace.waves.front();
  SmallVector<size_t> starts;
  for (auto [n, step] : enumerate(wave))
    if (step.op == loop.header)
      starts.push_back(n);
  size_t begin = 0, length = 0;
  for (size_t n = 1; n < starts.size(); ++n) {
    size_t steps = starts[n] - starts[n - 1];
    if (length && steps >= length)
      continue;
    begin = starts[n - 1];
    length = steps;
  }
  std::vector<uint64_t> result;
  for (const emu::TimedStep &step : ArrayRef(wave).slice(begin, length))
    result.push_back(trace.program->ops[step.op].pc);
  return result;
}

namespace {
/// Workgroups of a launch that stand for all of them.
class Samples {
public:
  Samples(TimedDevice &device, const PreparedLaunch &launch)
      : device(device), launch(launch) {}

  /// Workgroups after which the work repeats.
  Expected<uint64_t> findPeriod(uint64_t total, uint64_t rowTiles);
  /// Those that tell what a period does, by their number.
  Expected<std::vector<emu::WorkgroupTrace>> take(uint64_t period);

private:
  /// Runs a workgroup unless it has been, and counts its steps.
  Expected<uint64_t> run(uint64_t id);
  static bool isSame(uint64_t a, uint64_t b) {
    return std::max(a, b) - std::min(a, b) <= std::min(a, b) / 50;
  }

  TimedDevice &device;
  const PreparedLaunch &launch;
  std::vector<emu::WorkgroupTrace> traces;
};
} // namespace

Expected<uint64_t> Samples::run(uint64_t id) {
  for (const emu::WorkgroupTrace &trace : traces)
    if (trace.id == id)
      return countSteps(trace);
  Expected<emu::WorkgroupTrace> trace = device.record(launch, id);
  if (!trace)
    return trace.takeError();
  traces.push_back(std::move(*trace));
  return countSteps(traces.back());
}

Expected<uint64_t> Samples::findPeriod(uint64_t total, uint64_t rowTiles) {
  Expected<uint64_t> head = run(rowTiles - 1);
  if (!head)
    return head.takeError();
  Expected<uint64_t> all = run(total - 1);
  if (!all)
    return all.takeError();
  return isSame(*head, *all) ? rowTiles : total;
}

Expected<std::vector<emu::WorkgroupTrace>> Samples::take(uint64_t period) {
  SmallVector<uint64_t> positions = choosePositions(period);
  Expected<uint64_t> first = run(positions.front());
  if (!first)
    return first.takeError();
  Expected<uint64_t> last = run(positions.back());
  if (!last)
    return last.takeError();
  // Workgroups that do the same need no more samples.
  if (!isSame(*first, *last))
    for (uint64_t position : positions)
      if (Expected<uint64_t> steps = run(position); !steps)
        return steps.takeError();
  // Those that told the period lie in another one, perhaps.
  llvm::erase_if(traces, [&](const emu::WorkgroupTrace &trace) {
    return !is_contained(positions, trace.id);
  });
  llvm::sort(traces, [](const auto &a, const auto &b) { return a.id < b.id; });
  return std::move(traces);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static Expected<emu::WorkgroupResources>
getResources(const emu::CodeObject &object, const Kernel &kernel) {
  emu::WorkgroupResources resources;
  uint64_t items =
      uint64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  resources.waves = (items + 63) / 64;
  resources.ldsBytes = kernel.ldsBytes;
  // The descriptor's count includes accumulation registers.
  Expected<const emu::Kernel *> code = object.getKernel(kernel.name);
  if (!code)
    return code.takeError();
  resources.vgprs =
      std::max<uint32_t>((*code)->totalVGPRs, kernel.vgprs + kernel.agprs);
  return resources;
}

/// Times a compute unit full of each sample; fills `samples`, and what is told
/// of the heaviest one.
static Error timeSamples(LaunchTiming &result,
                         ArrayRef<emu::WorkgroupTrace> traces,
                         const emu::TimingTable &table, unsigned perCU,
                         const TimingOptions &options) {
  const emu::WorkgroupTrace *heaviest = &traces.front();
  for (const emu::WorkgroupTrace &trace : traces)
    if (countSteps(trace) > countSteps(*heaviest))
      heaviest = &trace;
  auto simulate = [&](const emu::TimingTable &t,
                      const emu::WorkgroupTrace &trace, bool events) {
    // Neighbours on a compute unit do about the same work.
    SmallVector<const emu::WorkgroupTrace *> copies(perCU, &trace);
    emu::CUOptions cuOptions;
    cuOptions.events = events;
    return emu::simulateCU(t, copies, cuOptions);
  };
  for (const emu::WorkgroupTrace &trace : traces) {
    bool isHeaviest = &trace == heaviest;
    Expected<emu::CUTiming> cu =
        simulate(table, trace, options.events && isHeaviest);
    if (!cu)
      return cu.takeError();
    result.samples.push_back({trace.id, double(cu->clocks), trace.globalBytes});
    if (isHeaviest)
      result.cu = std::move(*cu);
  }
  if (result.cu.loop)
    result.loopAddresses = getLoopAddresses(*heaviest, *result.cu.loop);
  if (!options.sensitivities)
    return Error::success();
  for (const emu::Sensitivity &row : getSensitivities(table)) {
    Expected<emu::CUTiming> cu = simulate(row.table, *heaviest, false);
    if (!cu)
      return cu.takeError();
    result.sensitivities.push_back({row.name, cu->getIterationClocks(),
                                    cu->getMFMAEfficiency(), cu->clocks});
  }
  return Error::success();
}

/// The whole launch, from its samples; `memoryBytes` are those of its buffers.
static emu::LaunchProjection project(const LaunchTiming &timing,
                                     const emu::TimingTable &table,
                                     uint64_t total, unsigned perCU,
                                     uint64_t memoryBytes) {
  SmallVector<std::pair<uint64_t, double>> clocks, bytes;
  for (const TimedSample &sample : timing.samples) {
    clocks.push_back({sample.workgroup, sample.clocks});
    bytes.push_back({sample.workgroup, double(sample.globalBytes)});
  }
  auto clocksOf = [&](uint64_t id) {
    return emu::interpolate(clocks, id % timing.period);
  };
  emu::LaunchRequest request;
  request.workgroups = total;
  request.perCU = perCU;
  request.clocks = clocksOf;
  for (uint64_t n = 0; n < total; ++n)
    request.globalBytes += emu::interpolate(bytes, n % timing.period);
  // What no workgroup reads need not come.
  request.memoryBytes = std::min(memoryBytes, request.globalBytes);
  return emu::projectLaunch(table, request);
}

static Expected<LaunchTiming> timeLaunch(TimedDevice &device,
                                         const PreparedLaunch &launch,
                                         const TimingOptions &options) {
  const Kernel &kernel = *launch.kernel;
  const emu::CodeObject &object = device.getCodeObject();
  emu::TimingTable table = emu::TimingTable::get(object.getChip());
  if (Error error = table.set(options.constants))
    return error;
  LaunchTiming result;
  result.kernel = kernel.name;
  result.grid = launch.grid;
  Expected<emu::WorkgroupResources> resources = getResources(object, kernel);
  if (!resources)
    return resources.takeError();
  result.resources = *resources;
  // A grid that does not fill the chip leaves each compute unit fewer.
  uint64_t total = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  unsigned perCU =
      std::min<uint64_t>(getWorkgroupsPerCU(table, result.resources),
                         divideCeil(total, uint64_t(table.computeUnits)));

  result.rowTiles = findRowTiles(total, device.getQueryShape());
  Samples samples(device, launch);
  result.period = std::min(options.period, total);
  if (!result.period) {
    Expected<uint64_t> period = samples.findPeriod(total, result.rowTiles);
    if (!period)
      return period.takeError();
    result.period = *period;
  }
  Expected<std::vector<emu::WorkgroupTrace>> traces =
      samples.take(result.period);
  if (!traces)
    return traces.takeError();
  if (Error error = timeSamples(result, *traces, table, perCU, options))
    return error;
  result.projection =
      project(result, table, total, perCU, device.countBytes(kernel));
  return result;
}

Expected<std::vector<LaunchTiming>> runTiming(const KernelProgram &program,
                                              const FileMap &inputs,
                                              const TimingOptions &options) {
  std::vector<LaunchTiming> result;
  if (!program.object)
    return result;
  TimedDevice device(program);
  if (Error error = device.makeBuffers(inputs, options.seed))
    return error;
  Expected<std::vector<PreparedLaunch>> launches =
      device.prepare(options.kernel);
  if (!launches)
    return launches.takeError();
  for (const PreparedLaunch &launch : *launches) {
    Expected<LaunchTiming> timing = timeLaunch(device, launch, options);
    if (!timing)
      return timing.takeError();
    result.push_back(std::move(*timing));
  }
  return result;
}

double getMicroseconds(ArrayRef<LaunchTiming> launches) {
  double sum = 0;
  for (const LaunchTiming &launch : launches)
    sum += launch.projection.microseconds;
  return sum;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

void LaunchTiming::print(raw_ostream &os) const {
  emu::printTiming(cu, os);
  if (!sensitivities.empty()) {
    os << "\nsensitivity              iteration       MFMA      total\n";
    for (const SensitivityRow &row : sensitivities)
      os << formatv("  {0,-22}{1,8:f1}clk {2,10:P1} {3,10}\n", row.name,
                    row.iterationClocks, row.mfmaEfficiency, row.clocks);
  }
  os << formatv("\nlaunch of {0} workgroups ({1} a compute unit; {2} VGPRs, "
                "{3} bytes of LDS)\n",
                projection.workgroups, projection.perCU, resources.vgprs,
                resources.ldsBytes);
  for (const TimedSample &sample : samples)
    os << formatv("  workgroup {0,-8} {1,10:f0} clk\n", sample.workgroup,
                  sample.clocks);
  os << formatv("  makespan           {0,10:f0} clk, places used {1:P1}\n",
                projection.makespanClocks, projection.occupancy);
  os << formatv("  bounds             {0,10:f1} us HBM, {1:f1} us L2\n",
                projection.hbmMicroseconds, projection.l2Microseconds);
  os << formatv("  projected          {0,10:f1} us at {1} MHz, {2:f1} us of it "
                "start and end\n",
                projection.microseconds, cu.table.clockMHz,
                projection.overheadMicroseconds);
}

json::Object LaunchTiming::toJSON() const {
  json::Array sampleArray, rows;
  for (const TimedSample &sample : samples)
    sampleArray.push_back(
        json::Object{{"workgroup", int64_t(sample.workgroup)},
                     {"clocks", sample.clocks},
                     {"global_bytes", int64_t(sample.globalBytes)}});
  for (const SensitivityRow &row : sensitivities)
    rows.push_back(json::Object{{"name", row.name},
                                {"iteration_clocks", row.iterationClocks},
                                {"mfma_efficiency", row.mfmaEfficiency},
                                {"clocks", int64_t(row.clocks)}});
  json::Object result = emu::toJSON(cu);
  result["kernel"] = kernel;
  result["grid"] =
      json::Array{int64_t(grid[0]), int64_t(grid[1]), int64_t(grid[2])};
  result["vgprs"] = int64_t(resources.vgprs);
  result["lds_bytes"] = int64_t(resources.ldsBytes);
  result["clock_mhz"] = int64_t(cu.table.clockMHz);
  result["row_tiles"] = int64_t(rowTiles);
  result["period"] = int64_t(period);
  json::Array addresses;
  for (uint64_t address : loopAddresses)
    addresses.push_back(int64_t(address));
  result["loop_addresses"] = std::move(addresses);
  result["samples"] = std::move(sampleArray);
  result["sensitivities"] = std::move(rows);
  result["launch"] = projection.toJSON();
  return result;
}

} // namespace attn::rt
