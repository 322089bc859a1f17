//===- ForwardPages.cpp - Keys of a tile in pages -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of keys lies in one page or covers several whole ones. The numbers of
// its pages are scalar loads, a tile ahead of their use; they are limited to
// the pool, and pages behind the sequence's last one have no rows.
//
// Where all rows of a DMA instruction lie in one page, a page is a matrix of
// its own, with a base of its own. Else lanes add their page's distance from
// the start of the pool, in 32 bits.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::attn;

Value ForwardKernel::keyCapacity() {
  Value table = argument("block_table");
  if (!table)
    return dim(argument("key"), map.seq);
  int64_t most = std::numeric_limits<int32_t>::max() / pageSize;
  Value pages = b.mins(dim(table, 1), b.c32(most));
  // A pool without pages has nothing to look up.
  Value pool = dim(argument("key"), map.batch);
  Value any =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, pool, b.c32(0));
  return b.createOrFold<arith::SelectOp>(any, b.muli(pages, pageSize),
                                         b.c32(0));
}

int64_t ForwardKernel::pagesPerTile() const {
  return pageSize ? std::max<int64_t>(c.tileKV / pageSize, 1) : 0;
}

Value ForwardKernel::pageIndex(Value keyTile, int64_t i) {
  if (pageSize <= c.tileKV)
    return b.addi(b.muli(keyTile, pagesPerTile()), i);
  return b.divide(keyTile, b.c32(pageSize / c.tileKV));
}

Value ForwardKernel::pagedTile(Value tile) {
  tile = keyTile(tile);
  if (!splitStart)
    return tile;
  // Splits of paged keys begin with a tile.
  return b.addi(tile, b.shiftRight(splitStart, llvm::Log2_64(c.tileKV)));
}

bool ForwardKernel::lanesChoosePages() const {
  return pagesPerTile() > 1 && c.getStagingSpan() > pageSize;
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
  Value last = b.addi(b.mins(dim(argument("key"), map.batch),
                             dim(argument("value"), map.batch)),
                      -1);
  Values numbers;
  for (Value page : pages)
    numbers.push_back(b.clamp(page, b.c32(0), last));
  return numbers;
}

Value ForwardKernel::keysFrom(Value tile) {
  return b.createOrFold<arith::SubIOp>(lenKV, b.muli(keyTile(tile), c.tileKV));
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

Values ForwardKernel::choosePages(ValueRange numbers, Value keys) {
  LinearLayout layout = c.getStagingLayout(/*isV=*/false);
  Value laneRow = b.locate(layout, "row", {"lane", "wave"}, {}).first;
  // Beyond both pools: reads as 0, as V has to where keys end.
  Value outside = b.createOrFold<arith::MaxSIOp>(
      dim(argument("key"), map.batch), dim(argument("value"), map.batch));
  auto compare = [&](arith::CmpIPredicate predicate, Value x,
                     Value y) -> Value {
    return arith::CmpIOp::create(b, predicate, x, y);
  };
  Values pages;
  for (int64_t more : getStagedRows(c)) {
    Value row = b.addi(laneRow, more), page = numbers.back();
    for (int64_t i = numbers.size() - 2; i >= 0; --i)
      page = arith::SelectOp::create(
          b, compare(arith::CmpIPredicate::slt, row, b.c32((i + 1) * pageSize)),
          numbers[i], page);
    pages.push_back(arith::SelectOp::create(
        b, compare(arith::CmpIPredicate::slt, row, keys), page, outside));
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
  Value pages = dim(memref, map.batch);
  offsets[map.head] = getAsOpFoldResult(b.toIndex(head));
  sizes[map.batch] = getAsOpFoldResult(b.toIndex(pages));
  sizes[map.head] = b.getIndexAttr(1);
  sizes[map.seq] = b.getIndexAttr(pageSize);
  sizes[map.dim] = b.getIndexAttr(columns);
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(map.batch), pageSize, columns}, type, offsets, sizes,
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
  int64_t count = pagesPerTile();
  if (!lanesChoosePages()) {
    SmallVector<GlobalMatrix> matrices;
    for (auto [i, number] : llvm::enumerate(pages)) {
      Value rows = b.createOrFold<arith::SubIOp>(
          endKV, b.muli(pageIndex(tile, i), pageSize));
      rows = b.clamp(rows, b.c32(0), b.c32(pageSize));
      matrices.push_back(
          matrix(memref, number, head, /*begin=*/Value(), rows, columns));
    }
    Value first = b.c32(0);
    if (pageSize > c.tileKV) {
      Value index = pageIndex(tile, 0);
      first = b.muli(b.createOrFold<arith::SubIOp>(
                         tile, b.muli(index, pageSize / c.tileKV)),
                     c.tileKV);
    }
    b.stage(
        [&](int64_t tileRow, Value laneRow, Value col, int64_t colMax,
            int64_t width) {
          int64_t i = count == 1 ? 0 : tileRow / pageSize;
          Value row = count == 1 ? b.addi(first, tileRow)
                                 : b.c32(tileRow - i * pageSize);
          return b.read(matrices[i], {row, laneRow}, col, colMax, width);
        },
        lds, isV);
    return;
  }

  SmallVector<int64_t> rows = getStagedRows(c);
  b.stage(
      [&](int64_t tileRow, Value laneRow, Value col, int64_t colMax,
          int64_t width) {
        Value page = pages[llvm::find(rows, tileRow) - rows.begin()];
        Value row = arith::AndIOp::create(b, b.addi(laneRow, tileRow),
                                          b.c32(pageSize - 1));
        return b.readPaged(isV ? v.memref : k.memref, page, row, col, colMax,
                           width);
      },
      lds, isV);
}
