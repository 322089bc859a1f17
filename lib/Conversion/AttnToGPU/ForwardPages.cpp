//===- ForwardPages.cpp - Keys of a tile in pages -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of keys lies in one page, covers several whole ones, or straddles two.
// The numbers of its pages are scalar loads, a tile ahead of their use; they
// are limited to the pool, and pages behind the sequence's last one have no
// rows.
//
// Where all rows of a DMA instruction lie in one page, a part of a page is a
// matrix of its own, with a base of its own. Else lanes add their page's
// distance from the start of the pool, in 32 bits.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::attn;

Value ForwardKernel::keyCapacity() {
  Value table = argument("block_table");
  if (!table)
    return dim(argument("key"), keyMap.seq);
  int64_t most = std::numeric_limits<int32_t>::max() / pageSize;
  Value pages = b.mins(dim(table, 1), b.c32(most));
  // A pool without pages has nothing to look up.
  Value pool = dim(argument("key"), keyMap.batch);
  Value any =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, pool, b.c32(0));
  return b.createOrFold<arith::SelectOp>(any, b.muli(pages, pageSize),
                                         b.c32(0));
}

int64_t mlir::attn::getPagePart(int64_t pageSize, const KernelConfig &config) {
  return std::gcd(pageSize, config.tileKV);
}

bool ForwardKernel::straddlesPages() const {
  return pageSize % c.tileKV != 0 && c.tileKV % pageSize != 0;
}

int64_t ForwardKernel::pagesPerTile() const {
  if (!pageSize)
    return 0;
  return straddlesPages() ? 2 : std::max<int64_t>(c.tileKV / pageSize, 1);
}

Value ForwardKernel::pageIndex(Value keyTile, int64_t i) {
  if (straddlesPages())
    return b.addi(b.divide(b.muli(keyTile, c.tileKV), b.c32(pageSize)), i);
  if (pageSize <= c.tileKV)
    return b.addi(b.muli(keyTile, pagesPerTile()), i);
  return b.divide(keyTile, b.c32(pageSize / c.tileKV));
}

Value ForwardKernel::rowInPage(Value tile) {
  Value index = pageIndex(tile, 0);
  return b.createOrFold<arith::SubIOp>(b.muli(tile, c.tileKV),
                                       b.muli(index, pageSize));
}

Value ForwardKernel::pagedTile(Value tile) {
  tile = keyTile(tile);
  if (!splitStart)
    return tile;
  // Splits of paged keys begin with a tile.
  return b.addi(tile, b.shiftRight(splitStart, llvm::Log2_64(c.tileKV)));
}

bool ForwardKernel::lanesChoosePages() const {
  return pageSize && c.getStagingSpan() > getPagePart(pageSize, c);
}

Values ForwardKernel::lookUp(Value tile) {
  Values pages;
  Value table = argument("block_table");
  for (int64_t i = 0; i < pagesPerTile(); ++i) {
    Value index = b.mins(pageIndex(pagedTile(tile), i), lastPage);
    pages.push_back(memref::LoadOp::create(
        b, table, ValueRange{b.toIndex(batch), b.toIndex(index)}));
  }
  return pages;
}

Values ForwardKernel::limitPages(ValueRange pages) {
  if (pages.empty())
    return {};
  Value last = b.addi(b.mins(dim(argument("key"), keyMap.batch),
                             dim(argument("value"), keyMap.batch)),
                      -1);
  Values numbers;
  for (Value page : pages)
    numbers.push_back(b.clamp(page, b.c32(0), last));
  return numbers;
}

ForwardKernel::TileKeys ForwardKernel::keysFrom(Value tile) {
  TileKeys keys;
  keys.all =
      b.createOrFold<arith::SubIOp>(lenKV, b.muli(keyTile(tile), c.tileKV));
  if (straddlesPages())
    keys.firstPage = b.pinScalar(b.createOrFold<arith::SubIOp>(
        b.c32(pageSize), rowInPage(pagedTile(tile))));
  return keys;
}

/// Rows of a tile, so far behind those of a lane and wave, that the
/// instructions which stage it move.
static SmallVector<int64_t> getStagedRows(const KernelConfig &c) {
  SmallVector<int64_t> rows;
  LinearLayout layout = c.getStagingLayout(/*isV=*/false);
  for (int64_t i = 0; i < c.getStagingInstructions(/*isV=*/false); ++i)
    if (int64_t row = layout.apply({{"instr", i}})[0];
        !llvm::is_contained(rows, row))
      rows.push_back(row);
  return rows;
}

Values ForwardKernel::choosePages(ValueRange numbers, const TileKeys &keys) {
  LinearLayout layout = c.getStagingLayout(/*isV=*/false);
  Value laneRow = b.locate(layout, "row", {"lane", "wave"}, {}).first;
  // Beyond both pools: reads as 0, as V has to where keys end.
  Value outside = b.createOrFold<arith::MaxSIOp>(
      dim(argument("key"), keyMap.batch), dim(argument("value"), keyMap.batch));
  Values pages;
  for (int64_t more : getStagedRows(c)) {
    // Of the row that many behind the lane's: one register serves all rows.
    auto select = [&](Value end, Value before, Value behind) -> Value {
      Value isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             laneRow, b.addi(end, -more));
      return arith::SelectOp::create(b, isBefore, before, behind);
    };
    Value page = numbers.back();
    for (int64_t i = numbers.size() - 2; i >= 0; --i)
      page = select(keys.firstPage ? keys.firstPage : b.c32((i + 1) * pageSize),
                    numbers[i], page);
    pages.push_back(select(keys.all, page, outside));
  }
  return pages;
}

Values ForwardKernel::findPages(Value tile) {
  Values numbers = limitPages(lookUp(tile));
  return lanesChoosePages() ? choosePages(numbers, keysFrom(tile)) : numbers;
}

GlobalMatrix ForwardKernel::slicePool(Value memref, Value head,
                                      int64_t columns) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0)),
      strides(4, b.getIndexAttr(1)), sizes(4);
  Value pages = dim(memref, keyMap.batch);
  offsets[keyMap.head] = getAsOpFoldResult(b.toIndex(head));
  sizes[keyMap.batch] = getAsOpFoldResult(b.toIndex(pages));
  sizes[keyMap.head] = b.getIndexAttr(1);
  sizes[keyMap.seq] = b.getIndexAttr(pageSize);
  sizes[keyMap.dim] = b.getIndexAttr(columns);
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(keyMap.batch), pageSize, columns}, type, offsets, sizes,
      strides);
  return {memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref,
                                    offsets, sizes, strides),
          columns};
}

void ForwardKernel::stagePaged(bool isV, Value tile, ValueRange pages,
                               Value lds) {
  Value memref = argument(isV ? "value" : "key");
  int64_t columns = isV ? c.headDimV : c.headDimQK;
  Value head = isV ? headV : headK;
  tile = pagedTile(tile);
  if (!lanesChoosePages()) {
    // Parts that lie in a page each.
    int64_t part = getPagePart(pageSize, c);
    Value first = rowInPage(tile);
    SmallVector<GlobalMatrix> matrices;
    for (int64_t i = 0; i < c.tileKV / part; ++i) {
      Value begin = b.addi(first, i * part), number = pages.front();
      if (straddlesPages()) {
        Value isSecond = b.createOrFold<arith::CmpIOp>(
            arith::CmpIPredicate::sge, begin, b.c32(pageSize));
        number = b.createOrFold<arith::SelectOp>(isSecond, pages[1], number);
        begin = b.createOrFold<arith::SelectOp>(
            isSecond, b.addi(begin, -pageSize), begin);
      } else if (pageSize < c.tileKV) {
        number = pages[i];
        begin = Value();
      }
      Value rows = b.createOrFold<arith::SubIOp>(
          endKV, b.addi(b.muli(tile, c.tileKV), i * part));
      rows = b.clamp(rows, b.c32(0), b.c32(part));
      matrices.push_back(
          matrix(keyMap, memref, number, head, begin, rows, columns));
    }
    b.stage(
        [&](int64_t tileRow, Value laneRow, Value col, int64_t colMax,
            int64_t width) {
          return b.read(matrices[tileRow / part],
                        {b.c32(tileRow % part), laneRow}, col, colMax, width);
        },
        lds, isV);
    return;
  }

  // Both pinned, or LLVM keeps sums of the lane's row with parts of this in
  // registers.
  Value first, firstOfLane;
  if (straddlesPages())
    first = b.pinScalar(rowInPage(tile));
  SmallVector<int64_t> rows = getStagedRows(c);
  // Lanes' offsets are vector work in a memory cluster: the dot cluster of an
  // older wave may leave no slot for it until its end.
  if (c.pipelined)
    b.setPriority(1);
  b.stage(
      [&](int64_t tileRow, Value laneRow, Value col, int64_t colMax,
          int64_t width) {
        Value page = pages[llvm::find(rows, tileRow) - rows.begin()];
        Value row;
        if (first) {
          if (!firstOfLane)
            firstOfLane =
                b.pin(Values{arith::AddIOp::create(b, laneRow, first)}).front();
          // In the second page the difference is the smaller one, unsigned.
          row = arith::MinUIOp::create(b, b.addi(firstOfLane, tileRow),
                                       b.addi(firstOfLane, tileRow - pageSize));
        } else {
          row = arith::AndIOp::create(b, b.addi(laneRow, tileRow),
                                      b.c32(pageSize - 1));
        }
        return b.readPaged(isV ? v.memref : k.memref, page, row, col, colMax,
                           width);
      },
      lds, isV);
  if (c.pipelined)
    b.setPriority(0);
}
