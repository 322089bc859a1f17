//===- ForwardScores.cpp - From products to scores ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a score goes through besides the scale, in the order of
// docs/Semantics.md: softcap, ALiBi, bias, mask. Kernels with any of these keep
// scores in natural units; others leave the scale to the exponential's fma.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"
#include "attn/Conversion/OperandMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

int64_t mlir::attn::getScoreKey(int64_t i) {
  return 32 * (i / 16) + getAccumulatorLayout().apply({{"reg", i % 16}})[0];
}

double mlir::attn::getScale(AttentionOp op) {
  if (op.getScale())
    return op.getScale()->convertToDouble();
  auto query = cast<ShapedType>(op.getQuery().getType());
  return 1 / std::sqrt(double(query.getShape().back()));
}

bool ForwardKernel::hasProductUnits() {
  if (op.getSoftcap() || op.getBias())
    return false;
  if (!op.getAlibiSlopes())
    return true;
  // The quotient has to be a number.
  double scale = std::fabs(getScale(op));
  return !op.getScaleValue() && scale > std::ldexp(1.0, -40) &&
         scale < std::ldexp(1.0, 40);
}

int64_t mlir::attn::getScoreReadWidth(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  return strides.empty() || strides.back() != 1 ? 1 : 4;
}

ScoreNeeds mlir::attn::getScoreNeeds(AttentionOp op, const ChipInfo &chip) {
  constexpr int64_t scores = 32; // a lane's of a tile
  ScoreNeeds needs;
  needs.capsInExponent = softcapIsInExponent(op);
  if (op.getSoftcap())
    needs.clocks += 12 + 2 * chip.transcendentalClocks;
  if (op.getAlibiSlopes())
    needs.clocks += 8;
  if (op.getBlockTable())
    needs.ldsAddresses = 4;
  for (Value operand : {op.getBias(), op.getMask()}) {
    if (!operand)
      continue;
    auto type = cast<ShapedType>(operand.getType());
    auto memref = dyn_cast<MemRefType>(operand.getType());
    int64_t bytes = getElementBytes(type);
    bool isStaged = mayStageScores(op, operand, chip);
    // One instruction joins f32 and f16 to the score.
    bool isJoined = operand == op.getBias() && !type.getElementType().isBF16();
    needs.clocks += isStaged && isJoined ? 4 : 8;
    if (isStaged) {
      needs.ldsBytes += getStagedScoreBytes(type.getElementType());
      needs.ldsVgprs += scores * bytes / 4;
      needs.ldsAddresses += bytes == 4 ? 2 : 3;
    }
    if (!memref || hasWholeDwordRows(memref)) {
      needs.vgprs += scores * bytes / 4;
    } else if (getScoreReadWidth(memref) > 1) {
      // A dword more for every 4 keys, and a shift for each that they become.
      needs.vgprs += scores * (bytes + 1) / 4;
      needs.clocks += bytes;
    } else {
      needs.vgprs += scores;
    }
  }
  return needs;
}

ScoreOperand ForwardKernel::scoreOperand(StringRef name) {
  ScoreOperand result;
  Value memref = argument(name);
  if (!memref)
    return result;
  auto type = cast<MemRefType>(memref.getType());
  int64_t rank = type.getRank();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  // Of dim d of [B, Hq, Sq, Skv]; none where the operand broadcasts.
  auto find = [&](int64_t d) -> std::optional<int64_t> {
    int64_t own = d - (4 - rank);
    if (own < 0 || type.getDimSize(own) == 1 || strides[own] == 0)
      return std::nullopt;
    return own;
  };
  auto stride = [&](int64_t d) -> Value {
    auto own = find(d);
    if (!own)
      return arith::ConstantIndexOp::create(b, 0);
    if (!ShapedType::isDynamic(strides[*own]))
      return arith::ConstantIndexOp::create(b, strides[*own]);
    return metadata.getStrides()[*own];
  };
  auto size = [&](int64_t d) -> Value {
    int64_t own = d - (4 - rank);
    return own < 0 ? b.c32(1) : dim(memref, own);
  };
  auto mul = [&](Value x, Value y) -> Value {
    return b.createOrFold<arith::MulIOp>(x, y);
  };
  auto add = [&](Value x, Value y) -> Value {
    return b.createOrFold<arith::AddIOp>(x, y);
  };

  // What the wave's rows reach, as one run of elements: reads behind its end
  // give 0, reads behind the keys of a row give what follows. Both are hidden.
  Value firstRow = rowInHead(row0);
  Value start = metadata.getOffset();
  for (auto [d, at] :
       {std::pair<int64_t, Value>{0, batch}, {1, head}, {2, firstRow}})
    start = add(start, mul(b.toIndex(at), stride(d)));
  Value rows;
  if (find(2)) {
    rows = arith::SubIOp::create(b, size(2), firstRow);
    rows = b.mins(rows, b.c32(getRunRows(packing)));
  } else {
    rows = b.mins(size(2), b.c32(1));
  }
  auto less1 = [&](Value x) { return b.toIndex(b.addi(x, -1)); };
  Value keys = size(3);
  Value count =
      add(add(mul(less1(rows), stride(2)), mul(less1(keys), stride(3))),
          arith::ConstantIndexOp::create(b, 1));
  if (packing > 1)
    count = add(count, mul(b.toIndex(b.c32(packing - 1)), stride(1)));
  Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                     b.mins(rows, keys), b.c32(1));
  count = arith::SelectOp::create(b, none, arith::ConstantIndexOp::create(b, 0),
                                  count);
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1});
  result.run = memref::ReinterpretCastOp::create(
      b,
      MemRefType::get({ShapedType::kDynamic}, type.getElementType(), layout,
                      type.getMemorySpace()),
      metadata.getBaseBuffer(), OpFoldResult(start),
      SmallVector<OpFoldResult>{OpFoldResult(count)},
      SmallVector<OpFoldResult>{b.getIndexAttr(1)});

  result.hasKeys = find(3).has_value();
  auto toI32 = [&](Value x) -> Value {
    return b.createOrFold<arith::IndexCastOp>(b.i32, x);
  };
  result.keyStride = toI32(stride(3));
  result.rowStride = toI32(stride(2));
  if (c.stagesScores && mayStageScores(op, memref, *c.chip)) {
    addScoreBuffers(result);
    return result;
  }
  result.width = result.hasKeys ? getScoreReadWidth(type) : 1;
  bool isWhole = hasWholeDwordRows(type);
  result.scores = result.width;
  // 16 bytes a lane, of types whose 16 bytes are more than a lane's 4 keys.
  int64_t keysPerRead = 128 / type.getElementTypeBitWidth();
  if (result.width > 1 && !type.getElementType().isInteger(1) &&
      c.chip->hasPermlaneSwap && keysPerRead > 4 && isWhole) {
    result.width = result.scores = keysPerRead;
    result.isSwapped = true;
  }
  // Bytes in parts of dwords: the dword more is the first of the next 4 keys,
  // and LLVM would make one read of the two.
  if (result.width > 1 && !isWhole && type.getElementTypeBitWidth() <= 8) {
    result.width = 12;
    result.scores = 8;
  }
  Value held = result.isSwapped
                   ? b.addi(heldKey(b.c32(0)), b.muli(b.half, result.width))
                   : heldKey(b.half);
  Value own = mul(b.column, result.rowStride);
  if (packing > 1) {
    Value row = b.addi(row0, b.column);
    Value behind = b.createOrFold<arith::SubIOp>(rowInHead(row), firstRow);
    Value packed = b.createOrFold<arith::SubIOp>(headOf(row), head);
    own = add(mul(behind, result.rowStride), mul(packed, toI32(stride(1))));
  }
  result.lane = b.addi(own, mul(held, result.keyStride));
  if (splitStart)
    result.lane = b.addi(result.lane, mul(splitStart, result.keyStride));
  return result;
}

Values ForwardKernel::readScoreOperand(const ScoreOperand &operand,
                                       Value tile) {
  auto type = cast<MemRefType>(operand.run.getType());
  auto read = [&](Value index) -> Value {
    auto vector = VectorType::get(operand.width, type.getElementType());
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    return vector::TransferReadOp::create(b, vector, operand.run,
                                          ValueRange{b.toIndex(index)}, zero,
                                          ArrayRef<bool>{false});
  };
  if (!operand.hasKeys)
    return {read(operand.lane)};
  Value start = b.addi(b.createOrFold<arith::MulIOp>(
                           b.muli(keyTile(tile), c.tileKV), operand.keyStride),
                       operand.lane);
  Values result;
  for (int64_t i = 0; i < c.getWaveKeys() / 2; i += operand.scores) {
    int64_t key = operand.isSwapped ? 2 * i : getScoreKey(i);
    result.push_back(read(b.addi(
        start, b.createOrFold<arith::MulIOp>(operand.keyStride, b.c32(key)))));
  }
  return result;
}

// A half-wave read 16 bytes of a row, the other one the next 16. Dwords hold
// the 4 keys of one lane (8-bit types) or a half of them; those of one
// half-wave alternate with those of the other.
Values ForwardKernel::swapScoreOperand(const ScoreOperand &operand,
                                       ArrayRef<Value> reads) {
  Type element = cast<MemRefType>(operand.run.getType()).getElementType();
  bool isByte = element.getIntOrFloatBitWidth() == 8;
  Values result;
  for (Value vector : reads) {
    Value bits =
        vector::BitCastOp::create(b, VectorType::get(4, b.i32), vector);
    Values d;
    for (int64_t i = 0; i < 4; ++i)
      d.push_back(b.element(bits, i));
    auto [first, third] = b.swapHalves(d[0], d[isByte ? 1 : 2]);
    auto [second, fourth] = b.swapHalves(d[isByte ? 2 : 1], d[3]);
    auto push = [&](ValueRange dwords) {
      auto type = VectorType::get(dwords.size(), b.i32);
      result.push_back(vector::BitCastOp::create(
          b, VectorType::get(4, element),
          vector::FromElementsOp::create(b, type, dwords)));
    };
    if (isByte) {
      for (Value dword : {first, second, third, fourth})
        push(dword);
    } else {
      push(ValueRange{first, second});
      push(ValueRange{third, fourth});
    }
  }
  return result;
}

ScoreInputs ForwardKernel::arrangeScoreOperands(ArrayRef<Value> reads) {
  auto arrange = [&](const ScoreOperand &operand) -> Values {
    if (operand.isStaged())
      return {};
    ArrayRef<Value> own = reads.take_front(countReads(operand));
    reads = reads.drop_front(own.size());
    return operand.isSwapped ? swapScoreOperand(operand, own) : Values(own);
  };
  ScoreInputs result;
  result.bias = arrange(bias);
  result.mask = arrange(mask);
  return result;
}

int64_t ForwardKernel::countReads(const ScoreOperand &operand) const {
  if (!operand.run)
    return 0;
  if (operand.isStaged()) // of 16 bytes for each of 64 lanes
    return rowsPerWave * c.tileKV / (64 * operand.width);
  return operand.hasKeys ? c.getWaveKeys() / 2 / operand.scores : 1;
}

Value ForwardKernel::operandElement(const ScoreOperand &operand,
                                    ArrayRef<Value> arranged, int64_t i) {
  if (!operand.hasKeys)
    return b.element(arranged.front(), 0);
  int64_t at = i % operand.arranged();
  return b.element(arranged[i / operand.arranged()], at < 4 ? at : at + 4);
}

void ForwardKernel::readScoreProblem() {
  if (!hasProductUnits()) {
    scoreScale = scale;
    scale =
        b.cf(capsInExponent() ? 1
             : hasCapUnits()  ? 2 * log2e * op.getSoftcap()->convertToDouble()
                              : log2e);
    if (capsInExponent())
      readSeries();
  }
  bias = scoreOperand("bias");
  mask = scoreOperand("mask");
  if (Value slopes = argument("alibi_slopes")) {
    Value row = b.addi(row0, b.column);
    Value at[] = {b.toIndex(batch), b.toIndex(headOf(row))};
    bool perBatch = cast<MemRefType>(slopes.getType()).getRank() == 2;
    slope = memref::LoadOp::create(b, slopes,
                                   ArrayRef(at).drop_front(perBatch ? 0 : 1));
    slope = arith::MulFOp::create(
        b, slope, b.cf(hasProductUnits() ? -1 / std::fabs(getScale(op)) : -1));
    // The row's place on the diagonal, less the first key the lane holds.
    position = arith::SubIOp::create(b, b.addi(rowInHead(row), diagonalPlus(0)),
                                     heldKey(b.half));
    farther = farOffset();
  }
}

Values ForwardKernel::readScoreOperands(Value tile) {
  Values result;
  for (const ScoreOperand *operand : {&bias, &mask})
    if (operand->run && !operand->isStaged())
      llvm::append_range(result, readScoreOperand(*operand, tile));
  return result;
}

void ForwardKernel::stageScoreOperands(Value tile) {
  for (const ScoreOperand *operand : {&bias, &mask})
    if (operand->isStaged())
      stageScoreOperand(*operand, tile);
}

// Those that every iteration makes for sure. What is the same for all keys LLVM
// may hoist: were it counted, the wait would leave a DMA in flight.
int64_t ForwardKernel::countScoreReads() const {
  int64_t count = 0;
  for (const ScoreOperand *operand : {&bias, &mask})
    count += operand->hasKeys ? countReads(*operand) : 0;
  return count;
}

Value ForwardKernel::distance(Value tile) {
  if (!slope)
    return {};
  Value distance = arith::SubIOp::create(
      b, position, b.muli(b.pinScalar(keyTile(tile)), c.tileKV));
  distance = arith::SIToFPOp::create(b, b.f32, distance);
  return farther ? arith::AddFOp::create(b, distance, farther) : distance;
}

Values ForwardKernel::transform(ArrayRef<Value> products,
                                const ScoreInputs &inputs, int64_t first) {
  if (!transformsScores())
    return Values(products);
  Values scores(products);
  bool isScaled = !scoreScale;
  if (op.getSoftcap()) {
    scores = softcap(products);
    isScaled = true;
  }
  // score + x, scaled on the way where it is not yet.
  auto addTo = [&](Value score, Value x) -> Value {
    if (isScaled)
      return arith::AddFOp::create(b, score, x);
    return b.fma(score, scoreScale, x);
  };
  if (slope) {
    for (auto [i, score] : llvm::enumerate(scores)) {
      int64_t key = getScoreKey(first + i);
      Value d = math::AbsFOp::create(
          b, arith::AddFOp::create(b, inputs.distance, b.cf(-double(key))));
      if (isScaled)
        score = b.fma(d, slope, score);
      else
        score = b.fma(score, scoreScale, arith::MulFOp::create(b, d, slope));
    }
    isScaled = true;
  }
  if (bias.run) {
    for (auto [i, score] : llvm::enumerate(scores)) {
      Value x = operandElement(bias, inputs.bias, first + i);
      if (x.getType() != b.f32)
        x = arith::ExtFOp::create(b, b.f32, x);
      score = addTo(score, x);
    }
    isScaled = true;
  }
  if (!isScaled)
    for (Value &score : scores)
      score = arith::MulFOp::create(b, score, scoreScale);
  if (mask.run) {
    Value hidden = b.cf(-std::numeric_limits<float>::infinity());
    for (auto [i, score] : llvm::enumerate(scores)) {
      Value x = operandElement(mask, inputs.mask, first + i);
      if (!x.getType().isInteger(1))
        x = arith::CmpIOp::create(
            b, arith::CmpIPredicate::ne, x,
            arith::ConstantIntOp::create(b, x.getType(), 0));
      score = arith::SelectOp::create(b, x, score, hidden);
    }
  }
  return scores;
}

Values ForwardKernel::scoresOf(ArrayRef<Value> acc, Value tile,
                               ScoreInputs inputs) {
  Values products = readScores(acc);
  inputs.distance = distance(tile);
  if (masksLate())
    return hide(transform(products, inputs), tile);
  return transform(hide(products, tile), inputs);
}
