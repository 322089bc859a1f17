//===- BufferSlices.cpp - Slices and their resources ----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"
#include "attn/Conversion/OperandMemory.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// Word 3 of a raw buffer descriptor: 32-bit data, unswizzled (CDNA3/CDNA4 ISA,
/// buffer resource descriptor).
static constexpr int64_t rsrcFlags = 0x27000;

static SmallVector<int64_t> getStrides(MemRefType type) {
  return type.getStridesAndOffset().first;
}

FailureOr<KernelRewriter::Slice> KernelRewriter::getSlice(Operation *user,
                                                          Value memref) {
  auto it = slices.find(memref);
  if (it != slices.end())
    return it->second;
  FailureOr<Slice> slice = failure();
  auto whole = arguments.find(memref);
  auto subview = memref.getDefiningOp<memref::SubViewOp>();
  auto viewed = subview ? arguments.find(subview.getSource()) : arguments.end();
  auto type = cast<MemRefType>(memref.getType());
  if (whole != arguments.end() && type.getRank() == 1) {
    slice = Slice();
    slice->base = slice->argument = whole->second.pointer;
    slice->rows = whole->second.sizes[0];
    slice->rowStride = whole->second.strides[0];
    slice->bytes = getElementBytes(type);
  } else if (auto run = memref.getDefiningOp<memref::ReinterpretCastOp>()) {
    slice = sliceRun(user, run);
  } else if (viewed != arguments.end()) {
    slice = sliceView(user, subview, viewed->second);
  } else {
    return user->emitOpError("expects a subview of a kernel argument in "
                             "attn-buffer-resources");
  }
  if (succeeded(slice))
    slices[memref] = *slice;
  return slice;
}

FailureOr<KernelRewriter::Slice>
KernelRewriter::sliceView(Operation *user, memref::SubViewOp subview,
                          const Argument &argument) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(subview);
  MemRefType type = subview.getSourceType();
  int64_t rank = subview.getType().getRank();
  if (rank < 1 || rank > 3)
    return user->emitOpError("expects a slice of rank 1 to 3 in "
                             "attn-buffer-resources, but got rank ")
           << rank;
  Slice slice;
  slice.bytes = getElementBytes(type);
  // Batch and head: 64-bit arithmetic.
  Value offset;
  for (auto [d, start] : llvm::enumerate(subview.getMixedOffsets())) {
    if (isConstantIntValue(start, 0))
      continue;
    Value at = getValueOrCreateConstantIndexOp(b, b.getLoc(), start);
    Value term = arith::MulIOp::create(
        b, arith::ExtUIOp::create(b, b.getI64Type(), toI32(at)),
        argument.strides[d]);
    offset = offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
  }
  slice.base = slice.argument = argument.pointer;
  if (offset)
    slice.base = LLVM::GEPOp::create(b, pointer(1), type.getElementType(),
                                     argument.pointer, ValueRange{offset});
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<int64_t> strides = getStrides(type);
  SmallVector<OpFoldResult> sizes = subview.getMixedSizes();
  SmallVector<unsigned> dims; // those of the slice
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (!dropped[d])
      dims.push_back(d);
  auto size = [&](unsigned d) {
    return toI32(getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes[d]));
  };
  Value pages;
  if (rank == 3) {
    pages = size(dims[0]);
    slice.pageStride = argument.strides[dims[0]];
    dims.erase(dims.begin());
  }
  unsigned row = dims[0];
  slice.mostRows = getConstantIntValue(sizes[row]);
  if (!slice.mostRows && !type.isDynamicDim(row))
    slice.mostRows = type.getDimSize(row);
  slice.rows = size(row);
  slice.rowStride = argument.strides[row];
  if (!ShapedType::isDynamic(strides[row]))
    slice.strideIfStatic = strides[row];
  if (dims.size() > 1) {
    std::optional<int64_t> columns = getConstantIntValue(sizes[dims[1]]);
    if (!columns || strides[dims[1]] != 1)
      return user->emitOpError("expects a static, contiguous inner dimension "
                               "in attn-buffer-resources");
    slice.columns = *columns;
  }
  if (pages)
    slice.pool = poolResource(slice, pages);
  return slice;
}

Value KernelRewriter::poolResource(const Slice &slice, Value pages) {
  auto mul = [&](Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(x, y);
  };
  auto wide = [&](Value count) {
    return b.createOrFold<arith::ExtSIOp>(b.getI64Type(), count);
  };
  auto last = [&](Value count) {
    return b.createOrFold<arith::SubIOp>(count, c32(1));
  };
  Value page = b.createOrFold<arith::AddIOp>(
      mul(wide(last(slice.rows)), slice.rowStride), c64(slice.columns));
  Value elements = b.createOrFold<arith::AddIOp>(
      mul(wide(last(pages)), slice.pageStride), page);
  // Larger pools would wrap, and the page behind the last one, which stands for
  // none, would lie inside of pages that interleave: better no result than a
  // wrong one.
  Value most =
      b.createOrFold<arith::AddIOp>(mul(wide(pages), slice.pageStride),
                                    mul(wide(slice.rows), slice.rowStride));
  Value isTooLarge = b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::ugt, mul(most, c64(slice.bytes)), c64(outOfPool));
  Value interleaves = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                                    slice.pageStride, page);
  Value isWrong = b.createOrFold<arith::OrIOp>(isTooLarge, interleaves);
  if (!matchPattern(isWrong, m_Zero())) {
    auto guard = scf::IfOp::create(b, isWrong, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    LLVM::Trap::create(b);
  }
  Value bytes = mul(elements, c64(slice.bytes));
  bytes = b.createOrFold<arith::MinUIOp>(bytes, c64(outOfPool));
  return makeResource(slice.base, bytes);
}

/// Contiguous elements from anywhere in an argument.
FailureOr<KernelRewriter::Slice>
KernelRewriter::sliceRun(Operation *user, memref::ReinterpretCastOp run) {
  auto metadata =
      run.getSource().getDefiningOp<memref::ExtractStridedMetadataOp>();
  auto argument =
      metadata ? arguments.find(metadata.getSource()) : arguments.end();
  auto type = cast<MemRefType>(run.getType());
  if (argument == arguments.end() || type.getRank() != 1 ||
      getStrides(type)[0] != 1)
    return user->emitOpError("expects a contiguous rank-1 run of a kernel "
                             "argument in attn-buffer-resources");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(run);
  Slice slice;
  slice.isRun = true;
  slice.isUnaligned =
      !hasWholeDwordRows(cast<MemRefType>(metadata.getSource().getType()));
  slice.bytes = getElementBytes(type);
  // The pointer is that of the argument's first element, its offset included.
  Value offset = arith::IndexCastOp::create(
      b, b.getI64Type(),
      getValueOrCreateConstantIndexOp(b, b.getLoc(), run.getMixedOffsets()[0]));
  slice.argument = argument->second.pointer;
  slice.base = LLVM::GEPOp::create(
      b, pointer(1), b.getI8Type(), slice.argument,
      ValueRange{arith::MulIOp::create(b, offset, c64(slice.bytes))});
  slice.rows = toI32(
      getValueOrCreateConstantIndexOp(b, b.getLoc(), run.getMixedSizes()[0]));
  slice.rowStride = c64(1);
  slice.strideIfStatic = 1;
  return slice;
}

Value KernelRewriter::resource(const Slice &slice, Value rowUniform,
                               Value *behind) {
  Value base = slice.base, start;
  Value rowBytes = arith::MulIOp::create(b, slice.rowStride, c64(slice.bytes));
  // A constant goes last, so that accesses to several rows of one tile share
  // the rest. Rows behind the end have no records; their base is never used.
  SmallVector<Value, 2> parts;
  if (rowUniform) {
    auto add = rowUniform.getDefiningOp<arith::AddIOp>();
    if (add && matchPattern(add.getRhs(), m_Constant()))
      parts = {add.getLhs(), add.getRhs()};
    else
      parts = {rowUniform};
  }
  for (Value part : parts) {
    if (matchPattern(part, m_Zero()))
      continue;
    Value offset = arith::MulIOp::create(
        b, arith::ExtSIOp::create(b, b.getI64Type(), part), rowBytes);
    base = LLVM::GEPOp::create(b, pointer(1), b.getI8Type(), base,
                               ValueRange{offset});
    start = start ? arith::AddIOp::create(b, start, part).getResult() : part;
  }
  Value records = countBytes(slice, rowsLeft(slice, start), rowBytes);
  if (behind) {
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), base);
    Value odd = arith::AndIOp::create(b, address, c64(3));
    base =
        LLVM::GEPOp::create(b, pointer(1), b.getI8Type(), base,
                            ValueRange{arith::SubIOp::create(b, c64(0), odd)});
    *behind = arith::TruncIOp::create(b, b.getI32Type(), odd);
    Value end = arith::AddIOp::create(
        b, records, arith::AddIOp::create(b, *behind, c32(3)));
    Value any =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, records, c32(0));
    records = arith::SelectOp::create(
        b, any, arith::AndIOp::create(b, end, c32(-4)), c32(0));
  }
  // Were it in a vector register, each access would become a loop over lanes,
  // into whose end LLVM places spills that no lane then executes.
  records = ROCDL::ReadfirstlaneOp::create(b, b.getI32Type(), records);
  return makeResource(base, arith::ExtUIOp::create(b, b.getI64Type(), records));
}

Value KernelRewriter::rowsLeft(const Slice &slice, Value start) {
  Value rows = slice.rows;
  bool isSmall =
      slice.isRun ||
      (slice.mostRows && slice.strideIfStatic &&
       *slice.mostRows * *slice.strideIfStatic * slice.bytes < outOfRange / 2);
  // The end is limited before the start is taken off: LLVM would make one
  // instruction of a clamp, but one for vector registers.
  if (!isSmall) {
    Value reach = c32(resourceRows);
    if (start)
      reach = arith::AddIOp::create(b, start, reach);
    rows = arith::MinSIOp::create(b, rows, reach);
  }
  if (!start)
    return rows;
  return arith::MaxSIOp::create(b, arith::SubIOp::create(b, rows, start),
                                c32(0));
}

Value KernelRewriter::countBytes(const Slice &slice, Value rows,
                                 Value rowBytes) {
  Value stride = arith::TruncIOp::create(b, b.getI32Type(), rowBytes);
  if (slice.strideIfStatic && *slice.strideIfStatic == slice.columns)
    return arith::MulIOp::create(b, rows, stride);
  // The last row ends with its columns, not with its stride.
  Value last =
      arith::MulIOp::create(b, arith::SubIOp::create(b, rows, c32(1)), stride);
  Value bytes =
      arith::AddIOp::create(b, last, c32(slice.columns * slice.bytes));
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rows, c32(0));
  return arith::SelectOp::create(b, any, bytes, c32(0));
}

Value KernelRewriter::makeResource(Value base, Value bytes) {
  return ROCDL::MakeBufferRsrcOp::create(
      b, pointer(8), base, arith::ConstantIntOp::create(b, b.getI16Type(), 0),
      bytes, c32(rsrcFlags));
}

Value KernelRewriter::laneOffset(const Slice &slice, Value rowLane, Value col) {
  Value offset;
  if (rowLane) {
    Value stride32 =
        arith::TruncIOp::create(b, b.getI32Type(), slice.rowStride);
    offset = arith::MulIOp::create(
        b, rowLane, arith::MulIOp::create(b, stride32, c32(slice.bytes)));
  }
  if (col) {
    Value bytes =
        slice.bytes == 1
            ? col
            : arith::MulIOp::create(b, col, c32(slice.bytes)).getResult();
    offset =
        offset ? arith::AddIOp::create(b, offset, bytes).getResult() : bytes;
  }
  return offset ? offset : c32(0);
}

Value KernelRewriter::limitColumns(VectorTransferOpInterface op,
                                   const Slice &slice, Value col, Value offset,
                                   int64_t outside) {
  if (op.getInBoundsValues().back())
    return offset;
  int64_t count = op.getVectorType().getNumElements();
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, toI32(col),
                                       c32(slice.columns - count + 1));
  return arith::SelectOp::create(b, inside, offset, c32(outside));
}
