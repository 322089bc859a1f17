//===- BufferDMA.cpp - Reads that go to LDS -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"

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

bool KernelRewriter::tryDMA(vector::TransferReadOp op, const Slice &slice,
                            Value rsrc, Value rowLane, Value col, Value page) {
  if (!op->hasOneUse())
    return false;
  auto cast = dyn_cast<vector::ShapeCastOp>(*op->user_begin());
  if (!cast || !cast->hasOneUse())
    return false;
  auto store = dyn_cast<vector::StoreOp>(*cast->user_begin());
  if (!store || !isWorkgroup(store.getBase()) || store.getIndices().size() != 1)
    return false;
  int64_t width = op.getVectorType().getNumElements();
  auto index = store.getIndices()[0].getDefiningOp<arith::AddIOp>();
  if (!index || !isUniform(index.getLhs()) ||
      !isLaneTimes(index.getRhs(), width))
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
  b.setInsertionPoint(store); // the LDS offset is known from here on
  Value lds = ldsPointer(b, store.getBase(), toI32(index.getLhs()));
  Value zero = c32(0);
  ROCDL::RawPtrBufferLoadLdsOp::create(b, rsrc, lds, c32(width * slice.bytes),
                                       voffset, soffset, zero, zero,
                                       ArrayAttr(), ArrayAttr(), ArrayAttr());
  store.erase();
  cast.erase();
  op.erase();
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
