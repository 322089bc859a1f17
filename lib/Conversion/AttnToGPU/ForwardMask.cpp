//===- ForwardMask.cpp - Which keys a row sees ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::attn;

/// Lengths and offsets of the diagonal stay within +-2^29, so that a window
/// below this can be added to a position; a wider one bounds nothing.
static constexpr int64_t unboundedWindow = int64_t(1) << 30;

/// The bound, or none.
static std::optional<int64_t> getWindow(uint64_t attribute) {
  auto window = int64_t(attribute);
  if (window < 0 || window >= unboundedWindow)
    return std::nullopt;
  return window;
}

void ForwardKernel::findVisibleKeys() {
  std::optional<int64_t> left = getWindow(op.getWindowLeft()),
                         right = getWindow(op.getWindowRight());
  if (op.getCausal())
    right = 0;
  Value off;
  if (left || right)
    off = op.getDiagonalAlignmentOrDefault() == DiagonalAlignment::top_left
              ? b.c32(0)
              : b.createOrFold<arith::SubIOp>(lenKV, lenQ);
  auto first = [&](Value row) -> Value {
    Value key = b.addi(b.addi(row, off), -*left);
    return arith::MaxSIOp::create(b, key, b.c32(0));
  };
  auto limit = [&](Value row) -> Value {
    if (!right)
      return lenKV;
    return b.mins(lenKV, b.addi(row, b.addi(off, *right + 1)));
  };
  int64_t log2 = llvm::Log2_64(c.tileKV);
  auto tilesBelow = [&](Value key) {
    return b.shiftRight(b.addi(key, c.tileKV - 1), log2);
  };

  Value row = b.addi(row0, b.column), held = heldKey();
  visible.limit = arith::SubIOp::create(b, limit(row), held);
  visible.wholeLimit = b.shiftRight(limit(row0), log2);
  Value lastRow = b.mins(b.addi(firstRow, c.getTileQ() - 1), b.addi(lenQ, -1));
  tiles = arith::MaxSIOp::create(b, tilesBelow(limit(lastRow)), b.c32(0));
  if (hasPadRows) // a tile of nothing else sees no key
    tiles = arith::SelectOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, firstRow, lenQ),
        tiles, b.c32(0));
  APInt length;
  visible.hasMask = left || right ||
                    !matchPattern(lenKV, m_ConstantInt(&length)) ||
                    length.getSExtValue() % c.getRoundKeys() != 0;
  auto shareOut = [&] {
    tiles =
        b.shiftRight(b.addi(tiles, c.groupsKV - 1), llvm::Log2_64(c.groupsKV));
  };
  if (!left)
    return shareOut();
  visible.first = arith::SubIOp::create(b, first(row), held);
  visible.wholeFirst = tilesBelow(first(b.addi(row0, rowsPerWave - 1)));
  visible.sinkTokens = op.getSinkTokens();
  visible.sinkTiles = llvm::divideCeil(visible.sinkTokens, c.tileKV);
  // Tiles of sink tokens, if there are so many tiles, then those that the first
  // row's window begins with.
  Value kept = b.mins(tiles, b.c32(visible.sinkTiles));
  Value begin = b.shiftRight(first(firstRow), log2);
  visible.skipped = b.uniform(arith::SubIOp::create(
      b, arith::MaxSIOp::create(b, b.mins(begin, tiles), kept), kept));
  tiles = arith::SubIOp::create(b, tiles, visible.skipped);
  shareOut();
}

Value ForwardKernel::keyTile(Value tile) {
  if (c.groupsKV > 1) // groups take the tiles in turn
    tile = b.addi(b.muli(tile, c.groupsKV), b.keyGroup);
  if (!visible.skipped)
    return tile;
  Value behind = b.addi(tile, visible.skipped);
  if (!visible.sinkTiles)
    return behind;
  Value isSink = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, tile,
                                       b.c32(visible.sinkTiles));
  return arith::SelectOp::create(b, isSink, tile, behind);
}

Value ForwardKernel::needsMask(Value tile) {
  tile = keyTile(tile);
  if (!visible.wholeFirst)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tile,
                                 visible.wholeLimit);
  Value before = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, tile,
                                       visible.wholeFirst);
  Value behind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tile,
                                       visible.wholeLimit);
  return arith::OrIOp::create(b, before, behind);
}

Values ForwardKernel::select(ArrayRef<Value> scores, Value tile) {
  LinearLayout layout = getAccumulatorLayout();
  // Pinned: LLVM would keep the differences in VGPRs and update them every
  // tile.
  Value start = b.muli(b.pinScalar(keyTile(tile)), c.tileKV), limit, first,
        sinks;
  limit = arith::SubIOp::create(b, visible.limit, start);
  if (visible.first)
    first = arith::SubIOp::create(b, visible.first, start);
  if (visible.sinkTokens)
    sinks = arith::SubIOp::create(b, b.c32(visible.sinkTokens),
                                  b.addi(start, heldKey()));
  auto compare = [&](arith::CmpIPredicate predicate, Value bound,
                     int64_t key) -> Value {
    return arith::CmpIOp::create(b, predicate, bound, b.c32(key));
  };
  Value hidden = b.cf(-std::numeric_limits<float>::infinity());
  Values result;
  // Four compares, then four selects: no wait between a compare and its reader.
  for (size_t group = 0; group < scores.size(); group += 4) {
    Values sees;
    for (size_t i = group; i < group + 4; ++i) {
      int64_t key = 32 * (i / 16) + layout.apply({{"reg", int64_t(i % 16)}})[0];
      Value isSeen = compare(arith::CmpIPredicate::sgt, limit, key);
      if (first) {
        Value inWindow = compare(arith::CmpIPredicate::sle, first, key);
        if (sinks)
          inWindow = arith::OrIOp::create(
              b, inWindow, compare(arith::CmpIPredicate::sgt, sinks, key));
        isSeen = arith::AndIOp::create(b, isSeen, inWindow);
      }
      sees.push_back(isSeen);
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
  if (!visible.hasMask)
    return Values(scores);
  return b.branch(needsMask(tile), scores,
                  [&] { return select(scores, tile); });
}
