//===- ForwardSetup.cpp - Operands, rows and keys of a workgroup ----------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>

using namespace mlir;
using namespace mlir::attn;

SmallVector<KernelOperand> mlir::attn::getKernelOperands(AttentionOp op) {
  SmallVector<KernelOperand> operands;
  for (auto [name, value] : std::initializer_list<KernelOperand>{
           {"query", op.getQuery()},
           {"key", op.getKey()},
           {"value", op.getValue()},
           {"bias", op.getBias()},
           {"mask", op.getMask()},
           {"alibi_slopes", op.getAlibiSlopes()},
           {"sink", op.getSink()},
           {"seqlens_q", op.getSeqlensQ()},
           {"seqlens_kv", op.getSeqlensKv()},
           {"cu_seqlens_q", op.getCuSeqlensQ()},
           {"cu_seqlens_kv", op.getCuSeqlensKv()},
           {"q_offset", op.getQOffset()},
           {"kv_offset", op.getKvOffset()},
           {"block_table", op.getBlockTable()},
           {"scale_value", op.getScaleValue()},
           {"kv_split", op.getKvSplit()},
           {"output", op.getOutputInit()},
           {"lse", op.getLseInit()}})
    if (value)
      operands.push_back({name, value});
  return operands;
}

Value ForwardKernel::argument(StringRef name) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttrOfType<StringAttr>(i, "attn.name") == name)
      return func.getArgument(i);
  return {};
}

Value ForwardKernel::dim(Value memref, unsigned index) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(index))
    return b.c32(type.getDimSize(index));
  return arith::IndexCastOp::create(b, b.i32,
                                    memref::DimOp::create(b, memref, index));
}

GlobalMatrix ForwardKernel::matrix(const DimMap &map, Value memref, Value batch,
                                   Value head, Value begin, Value rows,
                                   int64_t columns) {
  auto type = cast<MemRefType>(memref.getType());
  auto index = [&](Value value) -> OpFoldResult {
    return getAsOpFoldResult(b.toIndex(value));
  };
  SmallVector<OpFoldResult> offsets(map.rank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes(map.rank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  if (map.batch >= 0)
    offsets[map.batch] = index(batch);
  offsets[map.head] = index(head);
  // The verifier refuses a constant offset into no rows.
  if (type.getDimSize(map.seq) == 0)
    offsets[map.seq] = arith::ConstantIndexOp::create(b, 0).getResult();
  else if (begin)
    offsets[map.seq] = index(begin);
  sizes[map.seq] = index(rows);
  sizes[map.dim] = b.getIndexAttr(columns);
  int64_t staticRows =
      getConstantIntValue(index(rows)).value_or(ShapedType::kDynamic);
  if (type.getRank() > map.rank()) { // the split dim of the output
    offsets.insert(offsets.begin(), splitDim);
    sizes.insert(sizes.begin(), b.getIndexAttr(1));
  }
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {staticRows, columns}, type, offsets, sizes, strides);
  return {memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref,
                                    offsets, sizes, strides),
          columns};
}

Value ForwardKernel::sliceLse(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto index = [&](Value value) -> OpFoldResult {
    return getAsOpFoldResult(b.toIndex(value));
  };
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  OpFoldResult rows = index(rowsLse ? rowsLse : rowsQ);
  SmallVector<OpFoldResult> offsets, sizes;
  switch (op.getLseLayoutOrDefault()) {
  case LseLayout::bhs:
  case LseLayout::bhs_padded:
    offsets = {index(batch), index(head), zero};
    sizes = {one, one, rows};
    break;
  case LseLayout::hs_packed:
    offsets = {index(head), index(beginQ)};
    sizes = {one, rows};
    break;
  case LseLayout::sh_packed:
    offsets = {index(beginQ), index(head)};
    sizes = {rows, one};
    break;
  }
  if (splitDim) {
    offsets.insert(offsets.begin(), splitDim);
    sizes.insert(sizes.begin(), one);
  }
  SmallVector<OpFoldResult> strides(type.getRank(), one);
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {getConstantIntValue(rows).value_or(ShapedType::kDynamic)}, type, offsets,
      sizes, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref, offsets,
                                   sizes, strides);
}

// The ranges that attn.attention documents.
void ForwardKernel::takeSplit() {
  int64_t count = op.getNumKvSplits();
  Value number;
  if (Value given = argument("kv_split")) { // one too many has no keys
    Value last = arith::ConstantIntOp::create(b, given.getType(), count);
    number = arith::TruncIOp::create(b, b.i32,
                                     arith::MinUIOp::create(b, given, last));
  } else {
    splitDim = gpu::BlockIdOp::create(b, gpu::Dimension::y);
    number = arith::IndexCastOp::create(b, b.i32, splitDim);
  }
  bool isPaged = bool(op.getBlockTable());
  auto roundUp = [&](int64_t keys) -> int64_t {
    return llvm::alignTo(keys, isPaged || keys > kSplitUnit ? kSplitUnit
                                                            : kSmallSplitUnit);
  };
  APInt known;
  Value part;
  if (matchPattern(lenKV, m_ConstantInt(&known))) {
    int64_t keys = known.getSExtValue();
    int64_t constant = roundUp(llvm::divideCeil(keys, count));
    part = b.c32(constant);
    splitStart = b.muli(number, constant);
    // Equal splits may be whole tiles.
    if (splitDim && constant * count == keys) {
      lenKV = part;
      beginKV = splitStart;
      return;
    }
  } else {
    part = b.divide(b.addi(lenKV, count - 1), b.c32(count));
    auto roundUpTo = [&](int64_t unit) -> Value {
      return arith::AndIOp::create(b, b.addi(part, unit - 1), b.c32(-unit));
    };
    Value large = roundUpTo(kSplitUnit);
    if (!isPaged) {
      Value isMore = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, part,
                                           b.c32(kSplitUnit));
      large =
          arith::SelectOp::create(b, isMore, large, roundUpTo(kSmallSplitUnit));
    }
    part = large;
    splitStart = arith::MulIOp::create(b, number, part);
  }
  splitStart = b.uniform(b.mins(splitStart, lenKV));
  lenKV =
      b.uniform(b.mins(part, b.createOrFold<arith::SubIOp>(lenKV, splitStart)));
  beginKV = beginKV ? b.addi(beginKV, splitStart) : splitStart;
}

void ForwardKernel::readProblem() {
  Value query = argument("query"), key = argument("key"),
        value = argument("value"), output = argument("output");
  int64_t tileQ = c.getTileQ();
  Value tileIndex = map.batch >= 0 ? findRows() : findPackedRows();
  wholeKV = lenKV;
  if (op.givesStates())
    takeSplit();
  endKV = splitStart ? b.addi(splitStart, lenKV) : lenKV;
  auto group = [&](Value memref) -> Value {
    return b.divide(head,
                    b.divide(dim(query, map.head), dim(memref, keyMap.head)));
  };
  bool isPacked = packing > 1;
  if (!isPacked)
    q = matrix(map, query, batch, head, beginQ, lenQ, c.headDimQK);
  auto keys = [&](Value memref, Value &head, int64_t columns) {
    head = group(memref);
    return pageSize
               ? slicePool(memref, head, columns)
               : matrix(keyMap, memref, batch, head, beginKV, lenKV, columns);
  };
  k = keys(key, headK, c.headDimQK);
  v = keys(value, headV, c.headDimV);
  if (pageSize) {
    lastPage = b.divide(b.addi(endKV, pageSize - 1), b.c32(pageSize));
    lastPage = arith::MaxSIOp::create(b, b.addi(lastPage, -1), b.c32(0));
  }
  if (!isPacked)
    o = matrix(map, output, batch, head, beginQ, rowsQ, c.headDimV);
  if (Value memref = argument("lse"))
    lse = isPacked ? memref : sliceLse(memref);

  firstRow = b.muli(tileIndex, tileQ);
  row0 = b.addi(firstRow, b.muli(b.rowWave, rowsPerWave));

  findVisibleKeys();

  readScale();
  readScoreProblem();
}

void ForwardKernel::readScale() {
  // The scale's sign goes into Q (exact), so that the scaled maximum is the
  // maximum. A scale of 0 becomes the least normal number, for which a hidden
  // key's -inf still hides it; Q has the 0 (applyOddScale). A scale near
  // the end of f32 stays finite, so that products of 0 are scores of 0.
  int32_t signBits = c.kind == ElementKind::F32 ? INT32_MIN : 0x80008000;
  double unit = hasProductUnits() ? log2e : 1;
  if (Value given = argument("scale_value")) {
    Value bits = arith::BitcastOp::create(b, b.i32, given);
    signs = arith::AndIOp::create(b, b.shiftRight(bits, 31), b.c32(signBits));
    Value magnitude = arith::BitcastOp::create(
        b, b.f32, arith::AndIOp::create(b, bits, b.c32(INT32_MAX)));
    magnitude = arith::MaxNumFOp::create(
        b, b.createOrFold<arith::MulFOp>(magnitude, b.cf(unit)), b.cf(FLT_MIN));
    magnitude = arith::MinNumFOp::create(b, magnitude, b.cf(FLT_MAX));
    scale = arith::BitcastOp::create(
        b, b.f32, b.uniform(arith::BitcastOp::create(b, b.i32, magnitude)));
  } else {
    double factor = getScale(op);
    if (factor < 0)
      signs = b.c32(signBits);
    scale =
        b.cf(std::clamp<double>(std::fabs(factor) * unit, FLT_MIN, FLT_MAX));
  }
}

Values ForwardKernel::loadQ() {
  LinearLayout layout = getOperandLayout(c.getElementBytes());
  Values result;
  int64_t fragment = c.getFragment();
  for (int64_t step = 0; step < c.stepsQK; ++step) {
    auto [col, more] = b.locate(layout, "col", {"lane"}, {{"step", step}});
    Value row = b.locate(layout, "row", {"lane"}, {}).first;
    Value at = b.addi(col, more);
    int64_t colMax = more + fragment;
    Value x = packing > 1 ? readPackedQ(b.addi(row0, row), at, colMax)
                          : b.read(q, {row0, row}, at, colMax, fragment);
    if (signs)
      x = b.flipSigns(x, signs);
    result.push_back(x);
  }
  return applyOddScale(result);
}

Values ForwardKernel::applyOddScale(ArrayRef<Value> fragments) {
  Type element = b.elementType;
  auto scaled = [&](Value factor) {
    if (factor.getType() != element)
      factor = arith::TruncFOp::create(b, element, factor);
    factor = vector::BroadcastOp::create(b, b.fragmentType, factor);
    return llvm::map_to_vector(fragments, [&](Value x) -> Value {
      return arith::MulFOp::create(b, x, factor);
    });
  };
  if (Value given = argument("scale_value")) {
    Value isOdd =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, given, b.cf(0));
    return b.branch(isOdd, fragments,
                    [&]() -> Values { return Values(scaled(given)); });
  }
  return getScale(op) == 0 ? Values(scaled(b.cf(0))) : Values(fragments);
}
