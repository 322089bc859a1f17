//===- ForwardSequence.cpp - Which rows of which sequence -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a workgroup's number to its head, its sequence and its tile of rows.
// Lengths come from memory and may hold anything: all of them are limited to
// the tensors before anything is addressed with them.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::attn;

static Value subtract(WaveBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(x, y);
}

Value ForwardKernel::boundedLength(StringRef name, Value whole) {
  Value length = argument(name);
  if (!length)
    return whole;
  if (isa<MemRefType>(length.getType()))
    length = memref::LoadOp::create(b, length, b.toIndex(batch));
  if (length.getType() != b.i32) {
    auto bound = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, length.getType(), value);
    };
    Value low = arith::MaxSIOp::create(b, length, bound(0));
    length = arith::TruncIOp::create(
        b, b.i32, arith::MinSIOp::create(b, low, bound(INT32_MAX)));
  }
  return b.clamp(length, b.c32(0), whole);
}

Value ForwardKernel::splitOffHead(Value divisor, Value &rest) {
  Value id = arith::IndexCastOp::create(
      b, b.i32, gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value quotient = b.divide(id, divisor);
  rest = subtract(b, id, b.createOrFold<arith::MulIOp>(quotient, divisor));
  return quotient;
}

Value ForwardKernel::countHeadGroups() {
  return b.divide(dim(argument("query"), map.head), b.c32(packing));
}

Value ForwardKernel::findRows() {
  Value query = argument("query");
  Value rowsKV = keyCapacity();
  Value headRows = dim(query, map.seq);
  rowsQ = b.muli(headRows, packing);
  Value groups = countHeadGroups();

  // One grid dimension, which has the widest limit: heads run fastest, so that
  // the XCDs, which take workgroups in turn, keep a head each and its K and V
  // in their L2; the heaviest tiles of all causal heads come first.
  int64_t tileQ = c.getTileQ();
  Value tilesQ = b.divide(b.addi(rowsQ, tileQ - 1), b.c32(tileQ));
  Value pair;
  Value tileIndex = splitOffHead(
      b.createOrFold<arith::MulIOp>(dim(query, map.batch), groups), pair);
  batch = b.divide(pair, groups);
  head = subtract(b, pair, b.createOrFold<arith::MulIOp>(batch, groups));
  head = b.muli(head, packing);
  if (op.getCausal())
    tileIndex = arith::SubIOp::create(b, b.addi(tilesQ, -1), tileIndex);
  headLenQ = boundedLength("seqlens_q", headRows);
  lenQ = b.muli(headLenQ, packing);
  lenKV = boundedLength("seqlens_kv", rowsKV);
  hasPadRows = headLenQ != headRows;
  return tileIndex;
}

int64_t mlir::attn::getSlotSlack(AttentionOp op, int64_t tileQ) {
  // An empty sequence has rows of LSE to write where those are padded.
  return op.hasLse() && op.getLseLayoutOrDefault() == LseLayout::bhs_padded
             ? tileQ
             : tileQ - 1;
}

namespace {
/// How sequences are cut into slots.
struct SlotRule {
  int64_t packing, slack, tileQ;
};
} // namespace

/// The first slot of a sequence.
static Value findSlot(WaveBuilder &b, Value start, Value sequence,
                      const SlotRule &rule) {
  return b.shiftRight(
      b.addi(b.muli(start, rule.packing), b.muli(sequence, rule.slack)),
      llvm::Log2_64(rule.tileQ));
}

/// The last of the sequences first, first + step, ... (at most 64 of `count`)
/// that begins in a slot up to `slot`; a lane looks at one.
static Value searchStep(WaveBuilder &b, Value starts, Value first, int64_t step,
                        Value count, Value rows, Value slot,
                        const SlotRule &rule) {
  Value index = b.addi(first, b.muli(b.lane, step));
  // Lanes behind the last sequence look at its end.
  Value start =
      memref::LoadOp::create(b, starts, b.toIndex(b.mins(index, count)));
  start = arith::MaxSIOp::create(b, b.mins(start, rows), b.c32(0));
  Value begin = findSlot(b, start, index, rule);
  auto compare = [&](arith::CmpIPredicate p, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, p, x, y);
  };
  Value isBefore =
      arith::AndIOp::create(b, compare(arith::CmpIPredicate::slt, index, count),
                            compare(arith::CmpIPredicate::sle, begin, slot));
  Value lanes = ROCDL::BallotOp::create(b, b.getI64Type(), isBefore);
  Value before = arith::TruncIOp::create(
      b, b.i32, math::CtPopOp::create(b, lanes).getResult());
  // The first one always begins before, unless what we read is no order.
  before = arith::MaxSIOp::create(b, before, b.c32(1));
  Value found = b.addi(first, b.muli(b.addi(before, -1), step));
  return ROCDL::ReadfirstlaneOp::create(b, b.i32, found);
}

Value ForwardKernel::findPackedRows() {
  Value query = argument("query"), startsQ = argument("cu_seqlens_q");
  Value totalQ = dim(query, map.seq), capacity = keyCapacity();
  Value sequences = b.addi(dim(startsQ, 0), -1);
  int64_t tileQ = c.getTileQ(), log2 = llvm::Log2_64(tileQ);
  Value slot = splitOffHead(countHeadGroups(), head);
  head = b.muli(head, packing);

  // Sequence s has the slots from (start + s * slack) / tile on: enough for its
  // tiles, at most one too many, and a slot finds its sequence without adding
  // up the tiles of those before. 64 candidates a step, far apart ones first.
  SlotRule rule = {packing, getSlotSlack(op, tileQ), tileQ};
  batch = b.c32(0);
  APInt known;
  bool isKnown = matchPattern(sequences, m_ConstantInt(&known));
  for (int64_t step = 64 * 64 * 64 * 64; step > 1; step /= 64) {
    if (isKnown && known.sle(step))
      continue;
    auto search = [&] {
      return searchStep(b, startsQ, batch, step, sequences, totalQ, slot, rule);
    };
    if (isKnown) {
      batch = search();
      continue;
    }
    Value isMany = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                         sequences, b.c32(step));
    batch =
        b.branch(isMany, batch, [&]() -> Values { return {search()}; }).front();
    batch = ROCDL::ReadfirstlaneOp::create(b, b.i32, batch);
  }
  if (!isKnown || known.sgt(1))
    batch = searchStep(b, startsQ, batch, 1, sequences, totalQ, slot, rule);

  Value next = b.addi(batch, 1);
  auto load = [&](Value starts, Value index) -> Value {
    return memref::LoadOp::create(b, starts, b.toIndex(index));
  };
  Value zero = b.c32(0);
  auto range = [&](Value starts, Value total, Value &begin) {
    begin = b.clamp(load(starts, batch), zero, total);
    // Pinned, or the two starts are part of every bound of a tile.
    return b.pinScalar(
        subtract(b, b.clamp(load(starts, next), begin, total), begin));
  };
  headLenQ = range(startsQ, totalQ, beginQ);
  lenQ = b.muli(headLenQ, packing);
  if (Value startsKV = argument("cu_seqlens_kv"))
    lenKV = range(startsKV, capacity, beginKV);
  else
    lenKV = b.pinScalar(boundedLength("seqlens_kv", capacity));
  rowsQ = lenQ;

  Value first = findSlot(b, beginQ, batch, rule);
  Value tilesQ = b.shiftRight(b.addi(lenQ, tileQ - 1), log2);
  Value lse = argument("lse");
  if (lse && op.getLseLayoutOrDefault() == LseLayout::bhs_padded) {
    tilesQ = arith::MaxSIOp::create(b, tilesQ, b.c32(1));
    hasPadRows = true;
    rowsLse = b.muli(dim(lse, 2 + op.hasSplitDim()), packing);
  }
  Value tileIndex = arith::MaxSIOp::create(b, subtract(b, slot, first), zero);
  // Nothing to do in a slot too many.
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, tileIndex, tilesQ);
  auto guard = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  if (op.getCausal())
    tileIndex = subtract(b, b.addi(tilesQ, -1), tileIndex);
  if (rowsLse) {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, tileIndex,
                                         b.addi(tilesQ, -1));
    padEnd = arith::SelectOp::create(b, isLast, rowsLse, zero);
  }
  return tileIndex;
}
