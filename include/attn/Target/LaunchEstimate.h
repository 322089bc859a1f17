//===- LaunchEstimate.h - How long a launch takes, about --------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A closed form for the compiler's choices between grids: enough to order them,
// not to predict clocks (the emulator's timing model does that).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_LAUNCHESTIMATE_H
#define ATTN_TARGET_LAUNCHESTIMATE_H

#include "attn/Target/ChipInfo.h"

#include <cstdint>
#include <optional>

namespace mlir::attn {

/// The sizes of a launch that decide how long it takes.
struct LaunchShape {
  int64_t heads = 0; ///< batches times heads of Q (or groups of them)
  int64_t rows = 0;  ///< of Q a head (or a group)
  int64_t keys = 0;
  /// Row i sees keys below i / packing + 1 + diagonal; none if not causal.
  std::optional<int64_t> diagonal;
  int64_t packing = 1; ///< heads of a group
};

/// What one workgroup costs: `fixedClocks`, and `roundClocks` for each
/// `roundKeys` keys that its last row sees.
struct WorkgroupCost {
  int64_t rows = 0, roundKeys = 0;
  double fixedClocks = 0, roundClocks = 0;
};

/// Clocks until the last of all workgroups ends, one at a time on each compute
/// unit, the heaviest first: the greatest of three bounds, which are the
/// heaviest workgroup, an even share of the sum, and the two lightest of those
/// that must share a unit. 0 if there is no workgroup.
double estimateMakespan(const ChipInfo &chip, const LaunchShape &shape,
                        const WorkgroupCost &cost);

} // namespace mlir::attn

#endif // ATTN_TARGET_LAUNCHESTIMATE_H
