//===- Launch.h - A whole launch on the whole chip --------------*- C++ -*-===//
///
/// \file
/// From the durations of a few workgroups to the time of a launch.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TIMING_LAUNCH_H
#define ATTN_EMULATOR_TIMING_LAUNCH_H

#include "attn/Emulator/Timing/TimingTable.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace attn::emu {

/// What one workgroup takes of a compute unit.
struct WorkgroupResources {
  unsigned waves = 1;
  /// Registers a lane as the kernel descriptor allocates them.
  unsigned vgprs = 0;
  unsigned ldsBytes = 0;
};

/// Workgroups that fit one compute unit at a time, at least 1: by waves a SIMD
/// (registers are handed out 8 at a time) and by LDS.
unsigned getWorkgroupsPerCU(const TimingTable &table,
                            const WorkgroupResources &resources);

struct LaunchRequest {
  uint64_t workgroups = 0;
  unsigned perCU = 1;
  /// Clocks of a workgroup by linear id, with `perCU` of its like on the
  /// compute unit.
  llvm::function_ref<double(uint64_t)> clocks;
  /// Bytes that have to come from or go to HBM at least once.
  uint64_t memoryBytes = 0;
  /// Bytes that the workgroups read and write, all together.
  uint64_t globalBytes = 0;
};

struct LaunchProjection {
  uint64_t workgroups = 0;
  unsigned perCU = 1;
  /// Until the last workgroup ends.
  double makespanClocks = 0;
  /// All workgroups' clocks over the places they had until then.
  double occupancy = 0;
  /// Lower bounds by bandwidth, us.
  double hbmMicroseconds = 0, l2Microseconds = 0;
  double overheadMicroseconds = 0;
  /// The greatest of makespan and bounds at the nominal clock, plus overhead.
  double microseconds = 0;

  llvm::json::Object toJSON() const;
};

/// Workgroups go to the XCDs in turn; inside an XCD each goes, in order, to the
/// place that is free first.
LaunchProjection projectLaunch(const TimingTable &table,
                               const LaunchRequest &request);

/// Straight lines between (position, value) pairs sorted by position; constant
/// beyond the ends.
double interpolate(llvm::ArrayRef<std::pair<uint64_t, double>> samples,
                   uint64_t position);

} // namespace attn::emu

#endif // ATTN_EMULATOR_TIMING_LAUNCH_H
