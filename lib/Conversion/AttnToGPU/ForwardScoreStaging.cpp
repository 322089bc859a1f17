//===- ForwardScoreStaging.cpp - Bias and mask by way of LDS --------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane wants 4 keys of its own row at a time, so that a read of global memory
// touches as many lines as there are rows. A DMA instead moves whole segments
// of 128 bytes (what a row has of a tile, if that is less), and the lanes read
// their 4 keys from LDS. Each wave stages what it reads itself: no barrier, no
// registers until the scores are due.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "attn/Conversion/OperandMemory.h"
#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Where a tile of 32 rows and 64 keys lies in a wave's part of a buffer. A DMA
/// instruction moves a burst: lanes in order, each with a chunk of 16 bytes, of
/// one segment of the rows m, m + rowStep, m + 2 rowStep, ... So that the 4
/// keys of all rows lie in as many banks as can be, bursts are 32 bytes apart,
/// and rows with bit 3 set have the chunks of each pair swapped. All counts but
/// `bytes` are elements.
struct ScoreTile {
  static constexpr int64_t keys = 64, padding = 32;

  explicit ScoreTile(Type element)
      : bytes(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)) {}

  int64_t bytes; ///< of an element
  int64_t chunk() const { return 16 / bytes; }
  int64_t segment() const { return std::min(128 / bytes, keys); }
  int64_t segments() const { return keys / segment(); }
  int64_t lanesPerRow() const { return segment() / chunk(); }
  int64_t rowStep() const { return rowsPerWave * lanesPerRow() / 64; }
  int64_t bursts() const { return segments() * rowStep(); }
  int64_t burstBytes() const { return 1024 + padding; }
  int64_t burst() const { return burstBytes() / bytes; }
  int64_t size() const { return bursts() * burst(); }
};

} // namespace

bool mlir::attn::mayStageScores(AttentionOp op, Value operand,
                                const ChipInfo &chip) {
  auto type = cast<ShapedType>(operand.getType());
  auto memref = dyn_cast<MemRefType>(operand.getType());
  bool isWhole = memref ? hasWholeDwordRows(memref) : true;
  return chip.dmaBytesPerLane == 16 && getPackedHeads(op) == 1 && isWhole &&
         type.getElementTypeBitWidth() >= 8 && type.getShape().back() != 1;
}

int64_t mlir::attn::getStagedScoreBytes(Type element) {
  ScoreTile tile(element);
  return tile.size() * tile.bytes;
}

void ForwardKernel::addScoreBuffers(ScoreOperand &operand) {
  Type element = cast<MemRefType>(operand.run.getType()).getElementType();
  ScoreTile tile(element);
  operand.buffer = addBuffer(wavesPerGroup * tile.size(), element);
  operand.width = tile.chunk();
  operand.scores = 4;
  operand.isSwapped = false;
  operand.wavePart = b.muli(b.wave, tile.size());

  // As source of a DMA.
  auto bit = [&](Value value, int64_t k) -> Value {
    return arith::AndIOp::create(b, arith::ShRUIOp::create(b, value, b.c32(k)),
                                 b.c32(1));
  };
  int64_t lanes = tile.lanesPerRow();
  Value row =
      b.muli(arith::ShRUIOp::create(b, b.lane, b.c32(llvm::Log2_64(lanes))),
             tile.rowStep());
  Value chunk = arith::XOrIOp::create(
      b, arith::AndIOp::create(b, b.lane, b.c32(lanes - 1)), bit(row, 3));
  operand.lane = b.addi(arith::MulIOp::create(b, row, operand.rowStride),
                        b.muli(chunk, tile.chunk()));

  // As reader of its own row: the first keys of a pair of chunks' first or
  // second one, or of the own and of the other half-wave's.
  Value own = b.addi(
      b.muli(arith::AndIOp::create(b, b.column, b.c32(tile.rowStep() - 1)),
             tile.burst()),
      b.muli(arith::ShRUIOp::create(b, b.column,
                                    b.c32(llvm::Log2_64(tile.rowStep()))),
             tile.segment()));
  own = b.addi(own, operand.wavePart);
  Value isSwapped = bit(b.column, 3);
  auto inPair = [&](Value second) {
    return b.muli(arith::XOrIOp::create(b, second, isSwapped), tile.chunk());
  };
  if (tile.chunk() == 4) {
    operand.readers = {b.addi(own, inPair(b.half))};
  } else {
    own = b.addi(own, b.shiftLeft(b.half, 2));
    operand.readers = {b.addi(own, inPair(b.c32(0))),
                       b.addi(own, inPair(b.c32(1)))};
  }
  // Of longer sums LLVM loses sight of the buffer, and waits for all DMAs.
  operand.readers = b.pin(operand.readers);
}

void ForwardKernel::stageScoreOperand(const ScoreOperand &operand, Value tile) {
  auto type = cast<MemRefType>(operand.run.getType());
  ScoreTile layout(type.getElementType());
  Value start = b.muli(keyTile(tile), c.tileKV);
  if (splitStart)
    start = b.addi(start, splitStart);
  auto vector = VectorType::get(operand.width, type.getElementType());
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  Value lane = b.inEntry([&] { return b.muli(b.lane, operand.width); });
  for (int64_t row = 0; row < layout.rowStep(); ++row) {
    Value first = b.addi(
        start, b.createOrFold<arith::MulIOp>(operand.rowStride, b.c32(row)));
    first = b.addi(first, operand.lane);
    for (int64_t segment = 0; segment < layout.segments(); ++segment) {
      Value index = b.addi(first, segment * layout.segment());
      Value data = vector::TransferReadOp::create(b, vector, operand.run,
                                                  ValueRange{b.toIndex(index)},
                                                  zero, ArrayRef<bool>{false});
      Value base = b.addi(operand.wavePart,
                          (segment * layout.rowStep() + row) * layout.burst());
      Value offset = arith::AddIOp::create(b, b.toIndex(base), b.toIndex(lane));
      vector::StoreOp::create(b, data, operand.buffer, ValueRange{offset},
                              /*nontemporal=*/false, llvm::Align(16));
    }
  }
}

Value ForwardKernel::readStagedScore(const ScoreOperand &operand,
                                     int64_t quad) {
  auto type = cast<MemRefType>(operand.run.getType());
  ScoreTile layout(type.getElementType());
  // Keys 8 quad + 4 half and on.
  int64_t key = 8 * quad, at = key % layout.segment();
  bool isSecond = layout.chunk() > 4 && at / layout.chunk() % 2;
  if (isSecond)
    at -= layout.chunk();
  at += key / layout.segment() * layout.rowStep() * layout.burst();
  auto load = vector::LoadOp::create(
      b, VectorType::get(4, type.getElementType()), operand.buffer,
      ValueRange{b.toIndex(b.addi(operand.readers[isSecond], at))},
      /*nontemporal=*/false, llvm::Align(4 * layout.bytes));
  load->setAttr(kWovenAttr, b.getUnitAttr());
  return load;
}

int64_t ForwardKernel::readStagedScores(ScoreInputs &inputs, int64_t begin,
                                        int64_t end) {
  int64_t least = 0;
  for (auto [operand, reads] :
       {std::pair<ScoreOperand &, Values &>{bias, inputs.bias},
        {mask, inputs.mask}}) {
    if (!operand.isStaged())
      continue;
    reads.resize(c.getWaveKeys() / 8);
    for (int64_t quad = begin; quad < end; ++quad)
      reads[quad] = readStagedScore(operand, quad);
    // LLVM may make one instruction of two reads below 16 bytes.
    least += (end - begin) / (operand.width > 4 ? 2 : 1);
  }
  return least;
}
