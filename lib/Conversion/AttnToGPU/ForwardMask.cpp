//===- ForwardMask.cpp - Which keys a row sees ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace mlir::attn;

Value ForwardKernel::needsMask(Value tile) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tile, wholeTiles);
}

Values ForwardKernel::select(ArrayRef<Value> scores, Value tile) {
  LinearLayout layout = getAccumulatorLayout();
  // Pinned: LLVM would keep the difference in a VGPR and update it every tile.
  Value rem =
      arith::SubIOp::create(b, limit, b.muli(b.pinScalar(tile), c.tileKV));
  Value hidden = b.cf(-std::numeric_limits<float>::infinity());
  Values result;
  // Four compares, then four selects: no wait between a compare and its reader.
  for (size_t group = 0; group < scores.size(); group += 4) {
    Values sees;
    for (size_t i = group; i < group + 4; ++i) {
      int64_t key = 32 * (i / 16) + layout.apply({{"reg", int64_t(i % 16)}})[0];
      sees.push_back(
          arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rem, b.c32(key)));
    }
    b.schedBarrier();
    for (size_t i = 0; i < 4; ++i)
      result.push_back(
          arith::SelectOp::create(b, sees[i], scores[group + i], hidden));
    b.schedBarrier();
  }
  return result;
}

Values ForwardKernel::mask(ArrayRef<Value> scores, Value tile) {
  if (!hasMask)
    return Values(scores);
  return b.branch(needsMask(tile), scores,
                  [&] { return select(scores, tile); });
}
