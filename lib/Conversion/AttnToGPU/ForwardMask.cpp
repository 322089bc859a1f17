//===- ForwardMask.cpp - Which keys a row sees ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

/// Lengths are below 2^29. Bounds of a row's keys stop at twice that, which no
/// key of any row reaches.
static constexpr int64_t farthestBound = int64_t(1) << 30;

static Value c64(WaveBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI64Type(), value);
}

static Value clamp64(WaveBuilder &b, Value x, int64_t bound) {
  x = arith::MinSIOp::create(b, x, c64(b, bound));
  return arith::MaxSIOp::create(b, x, c64(b, -bound));
}

Value ForwardKernel::firstKey(Value row) {
  return arith::MaxSIOp::create(b, b.addi(rowInHead(row), visible.begin),
                                b.c32(0));
}

Value ForwardKernel::keyLimit(Value row) {
  if (!visible.end)
    return lenKV;
  return b.mins(lenKV, b.addi(rowInHead(row), visible.end));
}

Value ForwardKernel::explicitOffset() {
  auto get = [&](StringRef name) -> Value {
    Value given = argument(name);
    if (!given)
      return {};
    if (isa<MemRefType>(given.getType()))
      given = memref::LoadOp::create(b, given, ValueRange{b.toIndex(batch)});
    if (given.getType() == b.i32)
      return arith::ExtSIOp::create(b, b.getI64Type(), given);
    return given;
  };
  Value off = get("q_offset");
  if (Value kv = get("kv_offset"))
    off = arith::SubIOp::create(b, off ? off : c64(b, 0), kv);
  return off;
}

Value ForwardKernel::diagonalPlus(int64_t shift) {
  Value off = explicitOffset();
  if (off) {
    // Windows are below 2^31: what is farther than 2^32 is so with any.
    off = clamp64(b, off, 4 * farthestBound);
    if (shift)
      off = arith::AddIOp::create(b, off, c64(b, shift));
    off = b.uniform(
        arith::TruncIOp::create(b, b.i32, clamp64(b, off, farthestBound)));
  } else {
    off = op.getDiagonalAlignmentOrDefault() == DiagonalAlignment::top_left
              ? b.c32(0)
              : b.createOrFold<arith::SubIOp>(wholeKV, headLenQ);
    off = b.addi(off, std::clamp(shift, -farthestBound, farthestBound));
  }
  return splitStart ? b.createOrFold<arith::SubIOp>(off, splitStart) : off;
}

Value ForwardKernel::farOffset() {
  Value off = explicitOffset();
  if (!off)
    return {};
  off = arith::SubIOp::create(b, off, clamp64(b, off, farthestBound));
  auto word = [&](Value bits) -> Value {
    return b.uniform(arith::TruncIOp::create(b, b.i32, bits));
  };
  Value high = word(arith::ShRSIOp::create(b, off, c64(b, 32)));
  return b.fma(arith::SIToFPOp::create(b, b.f32, high), b.cf(0x1p32),
               arith::UIToFPOp::create(b, b.f32, word(off)));
}

void ForwardKernel::findVisibleKeys() {
  int64_t left = op.getWindowLeft(),
          right = op.getCausal() ? 0 : op.getWindowRight();
  // From a diagonal between rows and keys no key is that far away.
  auto isBounding = [&](int64_t window) {
    bool isExplicit = op.getQOffset() || op.getKvOffset();
    return window >= 0 && (isExplicit || window < farthestBound);
  };
  if (isBounding(left))
    visible.begin = diagonalPlus(-left);
  if (isBounding(right))
    visible.end = diagonalPlus(right + 1);
  int64_t log2 = llvm::Log2_64(c.tileKV);
  auto tilesBelow = [&](Value key) {
    return b.shiftRight(b.addi(key, c.tileKV - 1), log2);
  };

  visible.wholeLimit = b.shiftRight(keyLimit(row0), log2);
  Value lastRow = b.mins(b.addi(firstRow, c.getTileQ() - 1), b.addi(lenQ, -1));
  tiles = arith::MaxSIOp::create(b, tilesBelow(keyLimit(lastRow)), b.c32(0));
  // A tile of nothing but pad rows sees no key. Pinned: of one tile or none
  // LLVM would extend an i1, in a vector register, and then fail to move it.
  if (hasPadRows)
    tiles = arith::SelectOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, firstRow, lenQ),
        b.pinScalar(tiles), b.c32(0));
  APInt length;
  visible.hasMask = visible.begin || visible.end ||
                    !matchPattern(lenKV, m_ConstantInt(&length)) ||
                    length.getSExtValue() % c.getRoundKeys() != 0;
  auto shareOut = [&] {
    tiles =
        b.shiftRight(b.addi(tiles, c.groupsKV - 1), llvm::Log2_64(c.groupsKV));
  };
  if (!visible.begin) {
    visible.limit = arith::SubIOp::create(b, keyLimit(b.addi(row0, b.column)),
                                          heldKey(b.half));
    return shareOut();
  }
  visible.wholeFirst = tilesBelow(firstKey(b.addi(row0, rowsPerWave - 1)));
  visible.sinkTokens = op.getSinkTokens();
  // Which tiles have some depends on the split.
  if (visible.sinkTokens && splitStart)
    return shareOut();
  visible.sinkTiles = llvm::divideCeil(visible.sinkTokens, c.tileKV);
  // Tiles of sink tokens, if there are so many tiles, then those that the first
  // row's window begins with.
  Value kept = b.mins(tiles, b.c32(visible.sinkTiles));
  Value begin = b.shiftRight(firstKey(firstRow), log2);
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
  // Pinned: LLVM would keep the differences in VGPRs and update them every
  // tile.
  Value start = b.muli(b.pinScalar(keyTile(tile)), c.tileKV);
  Value limit, first, sinks;
  if (visible.limit) {
    limit = arith::SubIOp::create(b, visible.limit, start);
  } else {
    Value lane = b.recomputeLane();
    Value row =
        b.addi(row0, arith::AndIOp::create(b, lane, b.c32(rowsPerWave - 1)));
    Value half = arith::ShRUIOp::create(b, lane, b.c32(5));
    Value held = b.addi(start, heldKey(half));
    auto fromHeld = [&](Value key) -> Value {
      return arith::SubIOp::create(b, key, held);
    };
    limit = fromHeld(keyLimit(row));
    first = fromHeld(firstKey(row));
    if (visible.sinkTokens) {
      sinks = fromHeld(b.c32(visible.sinkTokens));
      if (splitStart)
        sinks = arith::SubIOp::create(b, sinks, splitStart);
    }
  }
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
      int64_t key = getScoreKey(i);
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

Values ForwardKernel::hide(ArrayRef<Value> scores, Value tile) {
  if (!visible.hasMask)
    return Values(scores);
  return b.branch(needsMask(tile), scores,
                  [&] { return select(scores, tile); });
}
