//===- BufferDMA.cpp - Reads that go to LDS -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"
#include "attn/Conversion/OperandMemory.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// The LDS pointer that a workgroup memref becomes.
static Value ldsPointer(ImplicitLocOpBuilder &b, Value memref, Value offset) {
  auto type = cast<MemRefType>(memref.getType());
  auto ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  auto i32 = b.getI32Type();
  auto array = LLVM::LLVMArrayType::get(i32, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {ptr, ptr, i32, array, array});
  Value cast =
      UnrealizedConversionCastOp::create(b, descriptor, memref).getResult(0);
  Value base = LLVM::ExtractValueOp::create(b, cast, ArrayRef<int64_t>{1});
  return LLVM::GEPOp::create(b, ptr, type.getElementType(), base,
                             ValueRange{offset});
}

bool mlir::attn::isWorkgroup(Value memref) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
      cast<MemRefType>(memref.getType()).getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}

/// lane * width, as lane = thread id & 63.
static bool isLaneTimes(Value value, int64_t width) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  if (width != 1) {
    auto mul = value.getDefiningOp<arith::MulIOp>();
    APInt factor;
    if (!mul || !matchPattern(mul.getRhs(), m_ConstantInt(&factor)) ||
        factor.getSExtValue() != width)
      return false;
    value = mul.getLhs();
  }
  auto mask = value.getDefiningOp<arith::AndIOp>();
  APInt bits;
  if (!mask || !matchPattern(mask.getRhs(), m_ConstantInt(&bits)) ||
      bits.getSExtValue() != 63)
    return false;
  auto id = mask.getLhs().getDefiningOp<arith::IndexCastOp>();
  return id && id.getIn().getDefiningOp<gpu::ThreadIdOp>();
}

vector::StoreOp KernelRewriter::findDMA(vector::TransferReadOp op) {
  Operation *read = op;
  if (!read->hasOneUse())
    return nullptr;
  if (auto cast = dyn_cast<vector::ShapeCastOp>(*read->user_begin())) {
    if (!cast->hasOneUse())
      return nullptr;
    read = cast;
  }
  auto store = dyn_cast<vector::StoreOp>(*read->user_begin());
  if (!store || !isWorkgroup(store.getBase()) || store.getIndices().size() != 1)
    return nullptr;
  auto index = store.getIndices()[0].getDefiningOp<arith::AddIOp>();
  bool isDMA = index && isUniform(index.getLhs()) &&
               isLaneTimes(index.getRhs(), op.getVectorType().getNumElements());
  return isDMA ? store : nullptr;
}

/// The part of a store's address in LDS that lanes share.
static Value getBase(vector::StoreOp store) {
  return store.getIndices()[0].getDefiningOp<arith::AddIOp>().getLhs();
}

/// The constant that is added to an index last; 0 if there is none.
static int64_t getConstantPart(Value index) {
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  if (auto add = index.getDefiningOp<arith::AddIOp>())
    index = add.getRhs();
  APInt constant;
  return matchPattern(index, m_ConstantInt(&constant)) ? constant.getSExtValue()
                                                       : 0;
}

void KernelRewriter::lowerDMA(vector::TransferReadOp op, vector::StoreOp store,
                              Value rsrc, Value voffset, Value soffset,
                              int64_t more) {
  VectorType type = op.getVectorType();
  int64_t bytes = type.getNumElements() * getElementBytes(type);
  b.setInsertionPoint(store); // the LDS offset is known from here on
  Value lds = ldsPointer(b, store.getBase(), toI32(getBase(store)));
  if (more) // the instruction adds it to both addresses
    lds = LLVM::GEPOp::create(b, lds.getType(), b.getI8Type(), lds,
                              ArrayRef<LLVM::GEPArg>{int32_t(-more)});
  ROCDL::RawPtrBufferLoadLdsOp::create(b, rsrc, lds, c32(bytes), voffset,
                                       soffset, c32(more), c32(0), ArrayAttr(),
                                       ArrayAttr(), ArrayAttr());
  Operation *stored = store.getValueToStore().getDefiningOp();
  store.erase();
  if (stored != op)
    stored->erase();
  op.erase();
}

bool KernelRewriter::tryRunDMA(vector::TransferReadOp op, const Slice &slice,
                               Value rsrc, Value offset, int64_t more) {
  vector::StoreOp store = findDMA(op);
  if (!store || slice.isUnaligned)
    return false;
  // The rest of the LDS address must not be negative.
  constexpr int64_t maxOffset = 4095;
  bool isOffset = more >= 0 && more <= maxOffset &&
                  more <= getConstantPart(getBase(store)) * slice.bytes;
  if (!isOffset)
    offset = arith::AddIOp::create(b, offset, c32(more));
  lowerDMA(op, store, rsrc, offset, c32(0), isOffset ? more : 0);
  return true;
}

bool KernelRewriter::tryDMA(vector::TransferReadOp op, const Slice &slice,
                            Value rsrc, Value rowLane, Value col, Value page) {
  vector::StoreOp store = findDMA(op);
  if (!store)
    return false;

  // The column's uniform part may go into the scalar offset: a row that is
  // inside stays inside, and one outside is outside without it.
  auto [colUniform, colLane] = split(col);
  bool isChecked = !op.getInBoundsValues().back();
  Value soffset = c32(0);
  Value voffset;
  if (isChecked || !colUniform || matchPattern(colUniform, m_Zero())) {
    voffset = laneOffset(slice, rowLane, toI32(col));
  } else {
    voffset = laneOffset(slice, rowLane, colLane);
    soffset = b.createOrFold<arith::MulIOp>(colUniform, c32(slice.bytes));
  }
  if (page)
    voffset = arith::AddIOp::create(b, voffset, page);
  voffset =
      limitColumns(op, slice, col, voffset, page ? outOfPool : outOfRange);
  lowerDMA(op, store, rsrc, voffset, soffset);
  return true;
}

Value KernelRewriter::pageOffset(Value page, Value bytes) {
  if (auto cast = page.getDefiningOp<arith::IndexCastOp>())
    page = cast.getIn();
  if (auto select = page.getDefiningOp<arith::SelectOp>())
    return arith::SelectOp::create(b, select.getCondition(),
                                   pageOffset(select.getTrueValue(), bytes),
                                   pageOffset(select.getFalseValue(), bytes));
  return arith::MulIOp::create(b, page, bytes);
}

LogicalResult KernelRewriter::lowerPagedRead(vector::TransferReadOp op,
                                             const Slice &slice) {
  Value stride = arith::TruncIOp::create(
      b, b.getI32Type(),
      arith::MulIOp::create(b, slice.pageStride, c64(slice.bytes)));
  Value page = pageOffset(op.getIndices()[0], stride);
  if (tryDMA(op, slice, slice.pool, toI32(op.getIndices()[1]),
             op.getIndices()[2], page))
    return success();
  return op.emitOpError("expects a read of a page to go to LDS in "
                        "attn-buffer-resources");
}
