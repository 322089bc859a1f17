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
#include <cfloat>
#include <cmath>

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

GlobalMatrix ForwardKernel::matrix(Value memref, Value head, Value rows,
                                   int64_t columns) {
  auto type = cast<MemRefType>(memref.getType());
  bool headsLast = op.getLayout() == Layout::bshd;
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  auto index = [&](Value value) -> OpFoldResult {
    return getAsOpFoldResult(b.toIndex(value));
  };
  unsigned rowDim = headsLast ? 1 : 2;
  OpFoldResult rowCount =
      type.isDynamicDim(rowDim)
          ? index(rows)
          : OpFoldResult(b.getIndexAttr(type.getDimSize(rowDim)));
  // The verifier refuses a constant offset into no rows.
  OpFoldResult firstRow = zero;
  if (type.getDimSize(rowDim) == 0)
    firstRow = arith::ConstantIndexOp::create(b, 0).getResult();
  SmallVector<OpFoldResult> offsets = {index(batch), index(head), firstRow,
                                       zero};
  SmallVector<OpFoldResult> sizes = {one, one, rowCount,
                                     b.getIndexAttr(columns)};
  if (headsLast) {
    std::swap(offsets[1], offsets[2]);
    std::swap(sizes[1], sizes[2]);
  }
  SmallVector<OpFoldResult> strides(4, one);
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(rowDim), columns}, type, offsets, sizes, strides);
  return {memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref,
                                    offsets, sizes, strides),
          columns};
}

void ForwardKernel::readProblem() {
  Value query = argument("query"), key = argument("key"),
        value = argument("value"), output = argument("output");
  bool headsLast = op.getLayout() == Layout::bshd;
  unsigned rowDim = headsLast ? 1 : 2, headDim = headsLast ? 2 : 1;
  lenQ = dim(query, rowDim);
  lenKV = dim(key, rowDim);
  Value headsQ = dim(query, headDim);

  // One grid dimension, which has the widest limit: heads run fastest, so that
  // the XCDs, which take workgroups in turn, keep a head each and its K and V
  // in their L2; the heaviest tiles of all causal heads come first.
  int64_t tileQ = c.getTileQ();
  Value tilesQ = b.divide(b.addi(lenQ, tileQ - 1), b.c32(tileQ));
  Value id = arith::IndexCastOp::create(
      b, b.i32, gpu::BlockIdOp::create(b, gpu::Dimension::x));
  auto remainder = [&](Value a, Value quotient, Value divisor) {
    return b.createOrFold<arith::SubIOp>(
        a, b.createOrFold<arith::MulIOp>(quotient, divisor));
  };
  Value pairs = b.createOrFold<arith::MulIOp>(dim(query, 0), headsQ);
  Value tileIndex = b.divide(id, pairs);
  Value pair = remainder(id, tileIndex, pairs);
  batch = b.divide(pair, headsQ);
  Value head = remainder(pair, batch, headsQ);
  if (op.getCausal())
    tileIndex = arith::SubIOp::create(b, b.addi(tilesQ, -1), tileIndex);
  auto group = [&](Value memref) -> Value {
    return b.divide(head, b.divide(headsQ, dim(memref, headDim)));
  };
  q = matrix(query, head, lenQ, c.headDimQK);
  k = matrix(key, group(key), lenKV, c.headDimQK);
  v = matrix(value, group(value), lenKV, c.headDimV);
  o = matrix(output, head, lenQ, c.headDimV);
  if (Value memref = argument("lse")) {
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<OpFoldResult> offsets = {getAsOpFoldResult(b.toIndex(batch)),
                                         getAsOpFoldResult(b.toIndex(head)),
                                         b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {
        b.getIndexAttr(1), b.getIndexAttr(1),
        type.isDynamicDim(2) ? getAsOpFoldResult(b.toIndex(lenQ))
                             : b.getIndexAttr(type.getDimSize(2))};
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    auto sliced = memref::SubViewOp::inferRankReducedResultType(
        {type.getDimSize(2)}, type, offsets, sizes, strides);
    lse = memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref,
                                    offsets, sizes, strides);
  }

  firstRow = b.muli(tileIndex, tileQ);
  row0 = b.addi(firstRow, b.muli(b.rowWave, rowsPerWave));

  findVisibleKeys();

  // The scale's sign goes into Q (exact), so that the scaled maximum is the
  // maximum. A scale of 0 becomes the least normal number: finite scores below
  // 1e30 keep weight 1, and a hidden key's -inf still hides it.
  double factor = op.getScale() ? op.getScale()->convertToDouble()
                                : 1 / std::sqrt(double(c.headDimQK));
  double magnitude = std::fabs(factor) * 1.4426950408889634;
  scale = b.cf(std::max(magnitude, double(FLT_MIN)));
  queries = loadQ(factor < 0);
}

Values ForwardKernel::loadQ(bool negative) {
  LinearLayout layout = getOperandLayout(c.getElementBytes());
  Values result;
  int64_t fragment = c.getFragment();
  for (int64_t step = 0; step < c.stepsQK; ++step) {
    auto [col, more] = b.locate(layout, "col", {"lane"}, {{"step", step}});
    Value x = b.read(q, {row0, b.locate(layout, "row", {"lane"}, {}).first},
                     b.addi(col, more), more + fragment, fragment);
    if (negative)
      x = b.negate(x);
    result.push_back(x);
  }
  return result;
}
