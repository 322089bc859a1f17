//===- LaunchEstimate.cpp -------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/LaunchEstimate.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir::attn;
using llvm::divideCeil;

double mlir::attn::estimateMakespan(const ChipInfo &chip,
                                    const LaunchShape &shape,
                                    const WorkgroupCost &cost) {
  int64_t tiles = divideCeil(shape.rows, cost.rows);
  if (!tiles || !shape.heads)
    return 0;
  // Of the row tile that is `rank`th from the heaviest.
  auto clocks = [&](int64_t rank) {
    int64_t keys = shape.keys;
    if (shape.diagonal) {
      int64_t last = std::min((tiles - rank) * cost.rows, shape.rows) - 1;
      keys = std::clamp<int64_t>(last / shape.packing + 1 + *shape.diagonal, 0,
                                 keys);
    }
    return cost.fixedClocks +
           double(divideCeil(keys, cost.roundKeys)) * cost.roundClocks;
  };
  double units = chip.computeUnits, heads = double(shape.heads);
  double groups = heads * double(tiles);
  if (!shape.diagonal)
    return std::ceil(groups / units) * clocks(0);
  // Clocks fall about evenly from the first tile to the last visible one: a few
  // samples give the sum.
  constexpr int64_t samples = 1024;
  double sum = 0;
  int64_t count = std::min(tiles, samples);
  for (int64_t i = 0; i < count; ++i)
    sum += clocks(tiles * i / count);
  sum *= heads * double(tiles) / double(count);
  double result = std::max(clocks(0), sum / units);
  // Of units + 1 workgroups two meet: at best the two lightest.
  if (groups > units)
    result = std::max(result, clocks(int64_t((units - 1) / heads)) +
                                  clocks(int64_t(units / heads)));
  return result;
}
