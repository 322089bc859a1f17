//===- SplitHeads.cpp - A tiling driver of the toy compiler ---------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Knows interfaces of MLIR only, no attention: what it does to attn.attention
// it does to a matmul as well.
//
//===----------------------------------------------------------------------===//

#include "Toy.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

static LogicalResult split(RewriterBase &rewriter, TilingInterface op,
                           int64_t parts) {
  rewriter.setInsertionPoint(op);
  SmallVector<Range> domain = op.getIterationDomain(rewriter);
  auto destinations = dyn_cast<DestinationStyleOpInterface>(*op);
  if (!destinations || domain.size() < 2)
    return success();
  std::optional<int64_t> size = getConstantIntValue(domain[1].size);
  if (!size || *size % parts != 0)
    return op->emitError("expects a static second loop that ")
           << parts << " divides";

  SmallVector<OpFoldResult> offsets, sizes;
  for (const Range &range : domain) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  sizes[1] = rewriter.getIndexAttr(*size / parts);
  SmallVector<Value> results(destinations.getDpsInits());
  for (int64_t part = 0; part < parts; ++part) {
    offsets[1] = rewriter.getIndexAttr(part * (*size / parts));
    // Each tile is written into what the tiles before it left.
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [number, result] : llvm::enumerate(results))
        destinations.setDpsInitOperand(number, result);
    });
    FailureOr<TilingResult> tile =
        op.getTiledImplementation(rewriter, offsets, sizes);
    if (failed(tile))
      return failure();
    for (auto [number, value] : llvm::enumerate(tile->tiledValues)) {
      SmallVector<OpFoldResult> at, extent;
      if (failed(op.getResultTilePosition(rewriter, number, offsets, sizes, at,
                                          extent)))
        return failure();
      SmallVector<OpFoldResult> strides(at.size(), rewriter.getIndexAttr(1));
      results[number] = tensor::InsertSliceOp::create(
          rewriter, op.getLoc(), value, results[number], at, extent, strides);
    }
  }
  rewriter.replaceOp(op, results);
  return success();
}

namespace {
struct SplitHeads : PassWrapper<SplitHeads, OperationPass<>> {
  explicit SplitHeads(int64_t parts) : parts(parts) {}

  StringRef getArgument() const override { return "toy-split-heads"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tensor::TensorDialect>();
  }
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<TilingInterface> ops;
    getOperation()->walk([&](TilingInterface op) { ops.push_back(op); });
    for (TilingInterface op : ops)
      if (failed(split(rewriter, op, parts)))
        return signalPassFailure();
  }

  int64_t parts;
};
} // namespace

std::unique_ptr<Pass> toy::createSplitHeadsPass(int64_t parts) {
  return std::make_unique<SplitHeads>(parts);
}
