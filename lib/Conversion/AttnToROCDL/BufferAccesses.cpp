//===- BufferAccesses.cpp - Reads, writes, loads and stores ---------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Buffer operations
//===----------------------------------------------------------------------===//

Type KernelRewriter::carrier(int64_t bits) {
  if (bits <= 32)
    return b.getIntegerType(bits);
  return VectorType::get(bits / 32, b.getI32Type());
}

Value KernelRewriter::toVector(Value loaded) {
  Type type = loaded.getType();
  if (isa<VectorType>(type))
    return loaded;
  return vector::BroadcastOp::create(b, VectorType::get(1, type), loaded);
}

Value KernelRewriter::bufferLoad(Type type, Value rsrc, Value offset) {
  Value zero = c32(0);
  return ROCDL::RawPtrBufferLoadOp::create(
      b, type, rsrc, offset, zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
}

void KernelRewriter::bufferStore(Value value, Value rsrc, Value offset) {
  Value zero = c32(0);
  ROCDL::RawPtrBufferStoreOp::create(b, value, rsrc, offset, zero, zero,
                                     ArrayAttr(), ArrayAttr(), ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Vectors of slices
//===----------------------------------------------------------------------===//

LogicalResult KernelRewriter::verifyTransfer(VectorTransferOpInterface op) {
  VectorType type = op.getVectorType();
  bool isRow = type.getRank() > 0 && !type.isScalable() && !op.getMask() &&
               op.getPermutationMap().isMinorIdentity() &&
               type.getNumElements() == type.getShape().back();
  if (!isRow)
    return op->emitOpError("expects an unmasked part of one row in "
                           "attn-buffer-resources");
  if (auto read = dyn_cast<vector::TransferReadOp>(op.getOperation());
      read && !matchPattern(read.getPadding(), m_Zero()) &&
      !matchPattern(read.getPadding(), m_PosZeroFloat()))
    return op->emitOpError("expects a padding of 0 in attn-buffer-resources");
  return success();
}

LogicalResult KernelRewriter::lowerRead(vector::TransferReadOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getBase());
  if (failed(slice) || failed(verifyTransfer(op)))
    return failure();
  read.insert(slice->argument);
  b.setInsertionPoint(op);
  if (slice->isRun)
    return lowerRunRead(op, *slice);
  if (slice->pool)
    return lowerPagedRead(op, *slice);
  return lowerRowRead(op, *slice);
}

LogicalResult KernelRewriter::lowerRowRead(vector::TransferReadOp op,
                                           const Slice &slice) {
  if (failed(verifyRank(op, op.getBase(), 2)))
    return failure();
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(slice, rowUniform);
  Value col = op.getIndices()[1];
  if (tryDMA(op, slice, rsrc, rowLane, col))
    return success();
  Value offset = laneOffset(slice, rowLane, toI32(col));
  offset = limitColumns(op, slice, col, offset, outOfRange);
  VectorType type = op.getVectorType();
  int64_t count = type.getNumElements();
  Type data = carrier(count * type.getElementTypeBitWidth());
  auto flat = VectorType::get(count, type.getElementType());
  Value loaded = vector::BitCastOp::create(
      b, flat, toVector(bufferLoad(data, rsrc, offset)));
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (auto cast = dyn_cast<vector::ShapeCastOp>(user);
        cast && cast.getResult().getType() == flat) {
      cast.replaceAllUsesWith(loaded);
      cast.erase();
    }
  if (!op->use_empty())
    op.replaceAllUsesWith(
        vector::ShapeCastOp::create(b, type, loaded).getResult());
  op.erase();
  return success();
}

/// The first operation of the block that uses a result of `op`, itself or
/// inside of its regions; null if there is none, or one in another block.
static Operation *findFirstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here)
      return nullptr;
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  return first;
}

LogicalResult KernelRewriter::lowerRunRead(vector::TransferReadOp op,
                                           const Slice &slice) {
  // A constant stays with the lanes, where it is the offset of the instruction:
  // the reads of one place share a descriptor.
  Value index = op.getIndices()[0], constant;
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  auto add = index.getDefiningOp<arith::AddIOp>();
  APInt more;
  if (add && matchPattern(add.getRhs(), m_ConstantInt(&more)) &&
      (!slice.isUnaligned || more.getSExtValue() * slice.bytes % 4 == 0)) {
    index = add.getLhs();
    constant = c32(more.getSExtValue() * slice.bytes);
  }
  VectorType type = op.getVectorType();
  int64_t count = type.getNumElements(), bits = count * slice.bytes * 8;
  // Four elements that may lie in parts of dwords: one dword more is read.
  bool isShifted = slice.isUnaligned && count * slice.bytes % 4 == 0;
  auto [uniformPart, lanePart] = split(index);
  Value behind, shift;
  Value rsrc = resource(slice, uniformPart, isShifted ? &behind : nullptr);
  Value offset = lanePart ? lanePart : c32(0);
  offset = b.createOrFold<arith::MulIOp>(offset, c32(slice.bytes));
  if (isShifted) {
    offset = arith::AddIOp::create(b, offset, behind);
    shift = arith::ShLIOp::create(b, offset, c32(3));
    offset = arith::AndIOp::create(b, offset, c32(-4));
    bits += 32;
  }
  if (tryRunDMA(op, slice, rsrc, offset,
                constant ? more.getSExtValue() * slice.bytes : 0))
    return success();
  if (constant)
    offset = arith::AddIOp::create(b, offset, constant);
  Value loaded = bufferLoad(carrier(bits), rsrc, offset);
  // What is done to it waits for it.
  if (Operation *user = findFirstUser(op))
    b.setInsertionPoint(user);
  if (isShifted) {
    SmallVector<Value> dwords;
    auto dword = [&](int64_t i) -> Value {
      return vector::ExtractOp::create(b, loaded, i);
    };
    for (int64_t i = 0; i + 1 < bits / 32; ++i)
      dwords.push_back(LLVM::FshrOp::create(b, dword(i + 1), dword(i), shift));
    loaded = vector::FromElementsOp::create(
        b, VectorType::get(dwords.size(), b.getI32Type()), dwords);
  } else {
    loaded = toVector(loaded);
  }
  Type element = type.getElementType();
  bool isBool = element.isInteger(1);
  auto inMemory = VectorType::get(count, isBool ? b.getI8Type() : element);
  loaded = vector::BitCastOp::create(b, inMemory, loaded);
  if (isBool)
    loaded = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, loaded,
        arith::ConstantOp::create(b, b.getZeroAttr(inMemory)));
  op.replaceAllUsesWith(loaded);
  op.erase();
  return success();
}

LogicalResult KernelRewriter::lowerWrite(vector::TransferWriteOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getBase());
  if (failed(slice) || failed(verifyTransfer(op)) ||
      failed(verifyRank(op, op.getBase(), 2)))
    return failure();
  written.insert(slice->argument);
  b.setInsertionPoint(op);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  Value col = op.getIndices()[1];
  Value offset = laneOffset(*slice, rowLane, toI32(col));
  offset = limitColumns(op, *slice, col, offset, outOfRange);
  VectorType type = op.getVectorType();
  int64_t count = type.getNumElements();
  Type data = carrier(count * type.getElementTypeBitWidth());
  Value value = op.getValueToStore();
  auto shapeCast = value.getDefiningOp<vector::ShapeCastOp>();
  if (shapeCast && shapeCast.getSourceVectorType().getRank() == 1)
    value = shapeCast.getSource();
  else
    value = vector::ShapeCastOp::create(
        b, VectorType::get(count, type.getElementType()), value);
  auto flat =
      isa<VectorType>(data) ? cast<VectorType>(data) : VectorType::get(1, data);
  value = vector::BitCastOp::create(b, flat, value);
  if (!isa<VectorType>(data))
    value = vector::ExtractOp::create(b, value, ArrayRef<int64_t>{0});
  bufferStore(value, rsrc, offset);
  op.erase();
  if (shapeCast && shapeCast->use_empty())
    shapeCast.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Elements of slices
//===----------------------------------------------------------------------===//

LogicalResult KernelRewriter::verifyRank(Operation *op, Value memref,
                                         int64_t rank) {
  int64_t given = cast<MemRefType>(memref.getType()).getRank();
  if (given == rank)
    return success();
  return op->emitOpError("expects a slice of rank ")
         << rank << " in attn-buffer-resources, but got rank " << given;
}

LogicalResult KernelRewriter::lowerStore(memref::StoreOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getMemRef());
  if (failed(slice) || failed(verifyRank(op, op.getMemRef(), 1)))
    return failure();
  // A guard around the store alone becomes an offset out of range.
  auto guard = dyn_cast<scf::IfOp>(op->getParentOp());
  if (guard && (guard.getNumResults() || !guard.getElseRegion().empty()))
    guard = nullptr;
  if (guard) {
    Block *body = guard.thenBlock();
    for (Operation &inner : llvm::make_early_inc_range(*body))
      if (!isa<scf::YieldOp>(inner)) {
        if (&inner != op && !isMemoryEffectFree(&inner))
          return op.emitOpError("expects nothing else under the guard of a "
                                "store in attn-buffer-resources");
        inner.moveBefore(guard);
      }
  }
  written.insert(slice->argument);
  b.setInsertionPoint(op);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  Value offset = laneOffset(*slice, rowLane, Value());
  if (guard)
    offset = arith::SelectOp::create(b, guard.getCondition(), offset,
                                     c32(outOfRange));
  bufferStore(op.getValueToStore(), rsrc, offset);
  op.erase();
  if (guard)
    guard.erase();
  return success();
}

LogicalResult KernelRewriter::lowerLoad(memref::LoadOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getMemRef());
  if (failed(slice) || failed(verifyRank(op, op.getMemRef(), 1)))
    return failure();
  read.insert(slice->argument);
  b.setInsertionPoint(op);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  op.replaceAllUsesWith(
      bufferLoad(op.getType(), rsrc, laneOffset(*slice, rowLane, Value())));
  op.erase();
  return success();
}

LogicalResult KernelRewriter::lowerAccesses() {
  SmallVector<Operation *> accesses;
  func.walk([&](Operation *op) {
    if (isa<vector::TransferReadOp, vector::TransferWriteOp>(op))
      accesses.push_back(op);
    else if (auto store = dyn_cast<memref::StoreOp>(op);
             store && !isWorkgroup(store.getMemRef()))
      accesses.push_back(op);
    else if (auto load = dyn_cast<memref::LoadOp>(op);
             load && !isWorkgroup(load.getMemRef()))
      accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    LogicalResult lowered =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](vector::TransferReadOp o) { return lowerRead(o); })
            .Case([&](vector::TransferWriteOp o) { return lowerWrite(o); })
            .Case([&](memref::StoreOp o) { return lowerStore(o); })
            .Case([&](memref::LoadOp o) { return lowerLoad(o); });
    if (failed(lowered))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elements and vectors of whole arguments
//===----------------------------------------------------------------------===//

void KernelRewriter::lowerDirectAccesses() {
  SmallVector<std::tuple<Operation *, Value, ValueRange>> accesses;
  func.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<memref::LoadOp, memref::StoreOp>([&](auto access) {
          accesses.push_back({op, access.getMemRef(), access.getIndices()});
        })
        .Case<vector::LoadOp, vector::StoreOp>([&](auto access) {
          accesses.push_back({op, access.getBase(), access.getIndices()});
        });
  });
  for (auto [op, memref, indices] : accesses)
    if (arguments.contains(memref))
      lowerDirect(op, memref, indices);
}

void KernelRewriter::lowerDirect(Operation *op, Value memref,
                                 ValueRange indices) {
  const Argument &argument = arguments.at(memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  // No access is wider aligned than an element.
  unsigned alignment = element.getIntOrFloatBitWidth() / 8;
  b.setInsertionPoint(op);
  Value offset;
  for (auto [index, stride] : llvm::zip(indices, argument.strides)) {
    Value term = arith::MulIOp::create(
        b, arith::ExtUIOp::create(b, b.getI64Type(), toI32(index)), stride);
    offset = offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
  }
  Value address = argument.pointer;
  if (offset)
    address = LLVM::GEPOp::create(b, pointer(1), element, address,
                                  ValueRange{offset});
  Value stored =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case([](memref::StoreOp store) { return store.getValue(); })
          .Case([](vector::StoreOp store) { return store.getValueToStore(); })
          .Default([](Operation *) { return Value(); });
  if (stored) {
    written.insert(argument.pointer);
    LLVM::StoreOp::create(b, stored, address, alignment);
  } else {
    read.insert(argument.pointer);
    auto load =
        LLVM::LoadOp::create(b, op->getResult(0).getType(), address, alignment);
    if (isa<memref::LoadOp>(op) && !func->hasAttr(kMayAliasAttr) &&
        llvm::all_of(indices, [&](Value i) { return isUniform(i); })) {
      // One element for the whole wave: a scalar load.
      load.setInvariant(true);
      uniform[load] = true;
    }
    op->getResult(0).replaceAllUsesWith(load.getResult());
  }
  op->erase();
}
