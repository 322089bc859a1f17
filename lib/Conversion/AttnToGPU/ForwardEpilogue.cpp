//===- ForwardEpilogue.cpp - O and LSE to memory --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cfloat>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

Value ForwardKernel::isPadRow() {
  if (!hasPadRows)
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                               b.addi(row0, b.column), lenQ);
}

void ForwardKernel::fillPadRows() {
  Value minusInfinity = b.cf(-std::numeric_limits<float>::infinity());
  Value first = b.addi(b.addi(firstRow, c.getTileQ()), b.muli(b.wave, 64));
  auto loop = scf::ForOp::create(b, first, padEnd, b.c32(64 * wavesPerGroup));
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  if (packing > 1) {
    Value row = b.addi(loop.getInductionVar(), b.lane);
    guard(row, rowsLse, [&] {
      memref::StoreOp::create(b, minusInfinity, lse, packedLseIndices(row));
    });
    return;
  }
  Value index = arith::AddIOp::create(b, b.toIndex(loop.getInductionVar()),
                                      b.toIndex(b.lane));
  // What lies behind the end is dropped.
  memref::StoreOp::create(b, minusInfinity, lse, ValueRange{index});
}

/// Rows and columns of (lane, reg, block) of O^T, and of the wave's share.
static LinearLayout getOutputLayout(const KernelConfig &c) {
  int64_t group = c.groupV;
  LinearLayout layout({"row", "col"});
  layout.add("lane", {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 4 * group}});
  layout.add("reg",
             {{0, group}, {0, 2 * group}, {0, 8 * group}, {0, 16 * group}});
  SmallVector<LinearLayout::Basis> blocks;
  for (int64_t x = 1; x < 8; x *= 2)
    blocks.push_back({0, x < group ? x : 32 * x});
  layout.add("block", blocks);
  return layout.addLinear("share", llvm::Log2_64(c.splitV),
                          {0, 32 * c.blocksV});
}

OutputPiece ForwardKernel::placeOutput(const LinearLayout &layout, Value vector,
                                       int64_t at, bool isTraded) {
  Value lanePart = isTraded ? b.addi(b.locateValue(layout, "col", {"share"}),
                                     b.muli(b.half, 8)) // 8 columns a half-wave
                            : b.locateValue(layout, "col", {"lane", "share"});
  int64_t laneMax = isTraded ? 8 : 4 * c.groupV;
  int64_t shareMax = 32 * c.blocksV * (c.splitV - 1);
  return {vector, b.addi(lanePart, at), at + laneMax + shareMax};
}

void ForwardKernel::storeO(ArrayRef<Value> acc, Value inverse) {
  int64_t group = c.groupV;
  bool is32 = c.kind == ElementKind::F32;
  // States of splits are f32 whatever the inputs are.
  bool isWide = getElementTypeOrSelf(argument("output")).isF32() && !is32;
  Value isPad = isPadRow();
  LinearLayout layout = getOutputLayout(c);
  Value row = b.locate(layout, "row", {"lane"}, {}).first;
  SmallVector<OutputPiece> pieces; // of packed heads
  auto store = [&](Value vector, int64_t block, int64_t reg, int64_t more,
                   bool isTraded = false) {
    int64_t at = layout.apply({{"block", block}, {"reg", reg}})[1] + more;
    OutputPiece piece = placeOutput(layout, vector, at, isTraded);
    if (packing > 1)
      pieces.push_back(piece);
    else
      b.write(vector, o, {row0, row}, piece.col, piece.colMax);
  };

  Values pending;
  for (int64_t block = 0; block < c.blocksV; block += group)
    for (int64_t quarter = 0; quarter < 4; ++quarter) {
      // Of 4 * group consecutive columns of this lane.
      auto value = [&](int64_t i) -> Value {
        Value x = b.element(acc[block + i % group], 4 * quarter + i / group);
        x = arith::MulFOp::create(b, x, inverse);
        // By selection: a NaN in K is one in pad rows too.
        return isPad ? arith::SelectOp::create(b, isPad, b.cf(0), x) : x;
      };
      if (isWide) {
        for (int64_t i = 0; i < 4 * group; i += 4) {
          Values four = {value(i), value(i + 1), value(i + 2), value(i + 3)};
          store(vector::FromElementsOp::create(b, VectorType::get(4, b.f32),
                                               four),
                block, 4 * quarter, i);
        }
        continue;
      }
      Values dwords;
      for (int64_t i = 0; i < 4 * group; i += 2) {
        Value first = value(i), second = value(i + 1);
        llvm::append_range(dwords, b.pack(first, second));
      }
      if (is32 || group > 1) {
        for (size_t i = 0; i < dwords.size(); i += 4)
          store(b.fragment(ValueRange(dwords).slice(i, 4)), block, 4 * quarter,
                i / 4 * c.getFragment());
        continue;
      }
      // Two quarters' 8-byte pieces become one 16-byte piece a lane by trading
      // between the half-waves.
      if (quarter % 2 == 0) {
        pending = dwords;
        continue;
      }
      auto [a0, b0] = b.swapHalves(pending[0], dwords[0]);
      auto [a1, b1] = b.swapHalves(pending[1], dwords[1]);
      store(b.fragment(ValueRange{a0, a1, b0, b1}), block, 4 * (quarter - 1), 0,
            /*isTraded=*/true);
    }
  if (pieces.empty())
    return;
  Value packedRow = b.addi(row0, row);
  guard(packedRow, rowsQ, [&] {
    for (const OutputPiece &piece : pieces)
      storePackedO(piece.vector, packedRow, piece.col, piece.colMax);
  });
}

// One round for m and l, one a block of O: the second group writes, everyone
// reads, in two buffers by turns, so one barrier a round will do.
State ForwardKernel::mergeGroups(State state) {
  LinearLayout layout = c.getMergeLayout();
  auto type = VectorType::get(4, b.f32);
  Value isSecond =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, b.keyGroup, b.c32(0));
  unsigned round = 0;
  auto exchange = [&](ArrayRef<Value> quads) {
    Value buffer = lds(/*isV=*/false, round++ % 2);
    auto at = [&](int64_t quad) -> Value {
      return b.toIndex(
          b.locateValue(layout, "offset", {"lane", "wave"}, {{"quad", quad}}));
    };
    b.branch(
        isSecond, {},
        [&]() -> Values {
          for (auto [i, quad] : llvm::enumerate(quads))
            vector::StoreOp::create(
                b, vector::BitCastOp::create(b, b.fragmentType, quad), buffer,
                at(i), /*nontemporal=*/false, llvm::Align(16));
          return {};
        },
        /*likely=*/true);
    b.wait(-1);
    b.barrier();
    Values result;
    for (size_t i = 0; i < quads.size(); ++i)
      result.push_back(vector::BitCastOp::create(
          b, type,
          vector::LoadOp::create(b, b.fragmentType, buffer, at(i),
                                 /*nontemporal=*/false, llvm::Align(16))));
    return result;
  };

  b.barrier(); // everyone is done with the tiles
  Value zero = b.cf(0);
  Value other =
      exchange(vector::FromElementsOp::create(
                   b, type, ValueRange{state.nm, state.sum, zero, zero})
                   .getResult())
          .front();
  Value otherNm = b.element(other, 0), otherSum = b.element(other, 1);
  Value nm = arith::MinNumFOp::create(b, state.nm, otherNm);
  Value mine = rescale(nm, state.nm), others = rescale(nm, otherNm);
  auto join = [&](Value x, Value y) -> Value {
    return b.fma(x, mine, arith::MulFOp::create(b, y, others));
  };
  state.nm = nm;
  state.sum = join(state.sum, otherSum);
  for (Value &acc : state.acc) {
    Values elements, quads;
    for (int64_t i = 0; i < 16; ++i)
      elements.push_back(b.element(acc, i));
    for (int64_t i = 0; i < 16; i += 4)
      quads.push_back(vector::FromElementsOp::create(
          b, type, ValueRange(elements).slice(i, 4)));
    Values read = exchange(quads);
    for (int64_t i = 0; i < 16; ++i)
      elements[i] = join(elements[i], b.element(read[i / 4], i % 4));
    acc = vector::FromElementsOp::create(b, b.accType, elements);
  }
  // One writer a row.
  row0 = arith::SelectOp::create(b, isSecond, rowsQ, row0);
  return state;
}

Value ForwardKernel::foldSink(Value &top, Value &total) {
  Value logit = memref::LoadOp::create(
      b, argument("sink"),
      ValueRange{b.toIndex(headOf(b.addi(row0, b.column)))});
  if (!hasNaturalMaximum())
    logit = arith::MulFOp::create(b, logit, b.cf(log2e));
  // In f32 an empty row's maximum is -inf here where the scale is above 1; a
  // logit of -inf still is to change nothing.
  Value old = b.fmax(top, b.cf(-FLT_MAX));
  top = b.fmax(old, logit);
  auto weight = [&](Value x) {
    Value difference = arith::SubFOp::create(b, x, top);
    if (hasNaturalMaximum())
      difference = arith::MulFOp::create(b, difference, b.cf(log2e));
    return b.exp2(difference);
  };
  Value factor = weight(old);
  total = b.fma(total, factor, weight(logit));
  return factor;
}

Value ForwardKernel::scaleTop(Value product, Value &total) {
  Value natural = b.createOrFold<arith::MulFOp>(scale, b.cf(1 / log2e));
  Value top = arith::MulFOp::create(b, product, natural);
  APFloat known(0.0f);
  if (matchPattern(natural, m_ConstantFloat(&known)) &&
      known.convertToDouble() <= 1)
    return top;
  float infinity = std::numeric_limits<float>::infinity();
  auto replace = [&](float from, Value to) {
    Value isIt =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top, b.cf(from));
    total = arith::SelectOp::create(b, isIt, to, total);
  };
  replace(infinity, b.cf(std::numeric_limits<float>::quiet_NaN()));
  // Nothing but NaN leaves the first maximum, and a sum that stays NaN.
  replace(-infinity, arith::MulFOp::create(b, total, b.cf(0)));
  return top;
}

void ForwardKernel::epilogue(const State &state) {
  Value total = b.joinHalves(state.sum, [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  });
  if (c.exchangesP)
    total = addShares(total);
  // In log2 units, or natural ones where a maximum may be any f32.
  Value top = arith::NegFOp::create(b, state.nm), factor;
  if (hasNaturalMaximum() && hasProductUnits())
    top = scaleTop(top, total);
  if (Value given = argument("scale_value")) {
    // Other than finite it makes NaN of all scores, but not of none.
    Value some =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, total, b.cf(0));
    total = arith::SelectOp::create(
        b, some, b.fma(arith::MulFOp::create(b, given, b.cf(0)), total, total),
        total);
  }
  if (hasCapUnits()) // 1 - 1 / (1 + exp(2 s / cap)) is the rest of tanh
    top = arith::AddFOp::create(
        b, top, b.cf(log2e * op.getSoftcap()->convertToDouble()));
  if (argument("sink"))
    factor = foldSink(top, total);
  // No key at all: l = 0, O = 0, LSE = m + log2(0) = -inf.
  Value isEmpty =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, b.cf(0));
  Value inverse = ROCDL::ROCDLRcp::create(b, b.f32, total);
  if (factor)
    inverse = arith::MulFOp::create(b, inverse, factor);
  inverse = arith::SelectOp::create(b, isEmpty, b.cf(0), inverse);
  if (lse) {
    bool isNatural = op.getLseBaseOrDefault() == LseBase::e;
    Value value = ROCDL::ROCDLLog::create(b, b.f32, total);
    if (!hasNaturalMaximum()) {
      value = arith::AddFOp::create(b, value, top);
      if (isNatural)
        value = arith::MulFOp::create(b, value, b.cf(1 / log2e));
    } else if (isNatural) {
      value = b.fma(value, b.cf(1 / log2e), top);
    } else {
      value = b.fma(top, b.cf(log2e), value);
    }
    if (Value isPad = isPadRow())
      value = arith::SelectOp::create(
          b, isPad, b.cf(-std::numeric_limits<float>::infinity()), value);
    // One writer a row, the lower half-wave.
    Value writes =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, b.lane, b.c32(32));
    Value rows = rowsLse ? rowsLse : rowsQ;
    APInt count;
    if (!matchPattern(rows, m_ConstantInt(&count)) ||
        count.getSExtValue() % c.getTileQ() != 0)
      writes = arith::AndIOp::create(
          b, writes,
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                b.addi(row0, b.column), rows));
    for (Value part : {b.share, b.keyGroup})
      writes = b.createOrFold<arith::AndIOp>(
          writes, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, part,
                                                b.c32(0)));
    auto guard = scf::IfOp::create(b, writes, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Values index = packing > 1 ? packedLseIndices(b.addi(row0, b.column))
                               : Values{arith::AddIOp::create(
                                     b, b.toIndex(row0), b.toIndex(b.column))};
    memref::StoreOp::create(b, value, lse, index);
  }
  storeO(state.acc, inverse);
  if (padEnd)
    fillPadRows();
}
