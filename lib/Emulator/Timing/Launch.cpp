//===- Launch.cpp - A whole launch on the whole chip ----------------------===//

#include "attn/Emulator/Timing/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <queue>

using namespace attn::emu;
using namespace llvm;

unsigned attn::emu::getWorkgroupsPerCU(const TimingTable &table,
                                       const WorkgroupResources &resources) {
  unsigned registers = std::max(8u, unsigned(alignTo(resources.vgprs, 8)));
  unsigned wavesPerSIMD =
      std::min(table.wavesPerSIMD, table.vgprsPerSIMD / registers);
  // A workgroup's waves are spread over the SIMDs.
  unsigned groupPerSIMD =
      std::max<unsigned>(1, divideCeil(resources.waves, table.simds));
  unsigned byWaves = wavesPerSIMD / groupPerSIMD;
  unsigned byLDS =
      resources.ldsBytes ? table.ldsBytes / resources.ldsBytes : byWaves;
  return std::max(1u, std::min(byWaves, byLDS));
}

double attn::emu::interpolate(ArrayRef<std::pair<uint64_t, double>> samples,
                              uint64_t position) {
  if (samples.empty())
    return 0;
  if (position <= samples.front().first)
    return samples.front().second;
  for (size_t n = 1; n < samples.size(); ++n) {
    auto [left, low] = samples[n - 1];
    auto [right, high] = samples[n];
    if (position > right)
      continue;
    double share = double(position - left) / double(right - left);
    return low + share * (high - low);
  }
  return samples.back().second;
}

LaunchProjection attn::emu::projectLaunch(const TimingTable &table,
                                          const LaunchRequest &request) {
  LaunchProjection result;
  result.workgroups = request.workgroups;
  result.perCU = request.perCU;
  unsigned cusPerXCD = std::max(1u, table.computeUnits / table.xcds);
  size_t places = size_t(cusPerXCD) * request.perCU;
  // When each place of an XCD is free.
  using Heap = std::priority_queue<double, std::vector<double>, std::greater<>>;
  std::vector<Heap> free(table.xcds);
  double busy = 0;
  for (uint64_t id = 0; id < request.workgroups; ++id) {
    Heap &heap = free[id % table.xcds];
    double begin = 0;
    if (heap.size() == places) {
      begin = heap.top();
      heap.pop();
    }
    double clocks = table.workgroupStart + request.clocks(id);
    busy += clocks;
    heap.push(begin + clocks);
    result.makespanClocks = std::max(result.makespanClocks, begin + clocks);
  }
  size_t allPlaces = places * table.xcds;
  if (result.makespanClocks)
    result.occupancy = busy / (result.makespanClocks * double(allPlaces));
  double clocksPerMicrosecond = table.clockMHz;
  result.hbmMicroseconds =
      double(request.memoryBytes) / (double(table.hbmGBPerSecond) * 1e3);
  result.l2Microseconds =
      double(request.globalBytes) /
      (double(table.l2BytesPerClock) * table.xcds * clocksPerMicrosecond);
  result.overheadMicroseconds = table.launchOverheadNs / 1e3;
  result.microseconds =
      std::max({result.makespanClocks / clocksPerMicrosecond,
                result.hbmMicroseconds, result.l2Microseconds}) +
      result.overheadMicroseconds;
  return result;
}

json::Object LaunchProjection::toJSON() const {
  return json::Object{{"workgroups", int64_t(workgroups)},
                      {"workgroups_per_cu", int64_t(perCU)},
                      {"makespan_clocks", makespanClocks},
                      {"occupancy", occupancy},
                      {"hbm_bound_us", hbmMicroseconds},
                      {"l2_bound_us", l2Microseconds},
                      {"overhead_us", overheadMicroseconds},
                      {"projected_us", microseconds}};
}
