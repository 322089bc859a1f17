//===- SplitKV.cpp - attn-split-kv ----------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/Slicing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSPLITKVPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Can a merge say the result?
static bool canMerge(AttentionOp op) {
  if (op.hasLse() && op.getLseLayoutOrDefault() == LseLayout::bhs_padded)
    return false;
  return !op.getSink() || !op.getSeqlensQ();
}

/// A place for the states of `splits` splits of shape `shape`.
static Value createStack(OpBuilder &builder, Location loc, bool isTensor,
                         int64_t splits, ArrayRef<OpFoldResult> shape,
                         Type element) {
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(splits)};
  llvm::append_range(sizes, shape);
  return createEmpty(builder, loc, isTensor, sizes, element);
}

static void splitAttention(RewriterBase &rewriter, AttentionOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  bool isTensor = op.hasPureTensorForm();
  int64_t splits = op.getNumKvSplits();
  DimMap map = getDimMap(op.getLayout());

  SmallVector<OpFoldResult> shape =
      getMixedSizes(rewriter, loc, op.getOutputInit());
  SmallVector<OpFoldResult> lseShape;
  if (map.batch >= 0)
    lseShape.push_back(shape[map.batch]);
  bool rowsFirst = op.getLseLayoutOrDefault() == LseLayout::sh_packed;
  lseShape.push_back(shape[rowsFirst ? map.seq : map.head]);
  lseShape.push_back(shape[rowsFirst ? map.head : map.seq]);
  Type f32 = rewriter.getF32Type();
  Type element =
      cast<ShapedType>(op.getOutputInit().getType()).getElementType();
  SmallVector<Value> inits = {
      createStack(rewriter, loc, isTensor, splits, shape,
                  element.isF64() ? element : f32),
      createStack(rewriter, loc, isTensor, splits, lseShape, f32)};

  // The op with other destinations, the LSE in any case, and without the sink.
  constexpr unsigned sinkGroup = 6;
  SmallVector<Value> operands(
      op->getOperands().drop_back(op.getInits().size()));
  AttentionOp::Properties properties = op.getProperties();
  if (op.getSink()) {
    operands.erase(operands.begin() +
                   op.getODSOperandIndexAndLength(sinkGroup).first);
    properties.operandSegmentSizes[sinkGroup] = 0;
  }
  llvm::append_range(operands, inits);
  properties.operandSegmentSizes.back() = inits.size();
  OperationState state(loc, AttentionOp::getOperationName());
  state.addOperands(operands);
  if (isTensor)
    state.addTypes(ValueRange(inits).getTypes());
  state.attributes.append(op->getDiscardableAttrs());
  state.getOrAddProperties<AttentionOp::Properties>() = properties;
  auto states = cast<AttentionOp>(rewriter.create(state));
  if (isTensor)
    inits.assign(states.result_begin(), states.result_end());

  auto merge = MergeStatesOp::create(
      rewriter, loc, op->getResultTypes(), ValueRange(inits[0]),
      ValueRange(inits[1]), op.getSink(), op.getCuSeqlensQ(), op.getInits(),
      op.getLayoutAttr(),
      LseBaseAttr::get(rewriter.getContext(), op.getLseBaseOrDefault()),
      op.getLseLayoutAttr());
  rewriter.replaceOp(op, merge->getResults());
}

namespace {
struct AttnSplitKV : attn::impl::AttnSplitKVPassBase<AttnSplitKV> {
  using AttnSplitKVPassBase::AttnSplitKVPassBase;

  void runOnOperation() override {
    constexpr int64_t most = 65535; // C23
    if (numKVSplits < 0 || numKVSplits > most) {
      getOperation()->emitError("expects num-kv-splits to be between 0 and ")
          << most << ", but got " << int64_t(numKVSplits);
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) {
      if (!op.givesStates() && canMerge(op))
        ops.push_back(op);
    });
    for (AttentionOp op : ops) {
      if (numKVSplits > 0)
        op.setNumKvSplits(numKVSplits);
      if (op.getNumKvSplits() > 1)
        splitAttention(rewriter, op);
    }
  }
};
} // namespace
