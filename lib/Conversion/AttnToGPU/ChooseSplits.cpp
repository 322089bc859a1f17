//===- ChooseSplits.cpp - attn-choose-splits ------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
#include "attn/Conversion/ElementKinds.h"
#include "attn/Conversion/Passes.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNCHOOSESPLITS
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Fewer keys are not worth a state of their own.
static constexpr int64_t leastKeys = 256;

/// Is there a rule for the element type and the head dims at all?
static bool hasKernel(AttentionOp op) {
  auto query = cast<ShapedType>(op.getQuery().getType());
  auto value = cast<ShapedType>(op.getValue().getType());
  return getElementKind(query.getElementType()) &&
         isKernelHeadDim(query.getShape().back()) &&
         isKernelHeadDim(value.getShape().back());
}

/// A split that rows do not see costs a start, a state of nothing and its place
/// in the merge: this many for each that works are still cheap.
static constexpr int64_t mostSplitsForOne = 4;

/// Keys from the first to the last that a tile of rows sees, of all `keys`.
static int64_t getVisibleKeys(AttentionOp op, int64_t tileRows, int64_t allRows,
                              int64_t keys) {
  int64_t left = op.getWindowLeft(),
          right = op.getCausal() ? 0 : op.getWindowRight();
  if (left < 0)
    return keys;
  if (right >= 0)
    return std::min(keys, tileRows + left + right);
  // The last row stands at the last key.
  bool isBottomRight =
      !op.getQOffset() && !op.getKvOffset() &&
      op.getDiagonalAlignmentOrDefault() == DiagonalAlignment::bottom_right;
  return isBottomRight ? std::min(keys, allRows + left) : keys;
}

static int64_t chooseSplits(AttentionOp op, const ChipInfo &chip) {
  std::optional<LaunchShape> shape = getLaunchShape(op);
  if (!shape)
    return 1;
  llvm::Expected<KernelConfig> config = chooseKernelConfig(op, chip);
  if (!config) { // attn-verify-target says why
    llvm::consumeError(config.takeError());
    return 1;
  }
  int64_t workgroups =
      shape->heads * llvm::divideCeil(shape->rows, config->getTileQ());
  if (workgroups == 0)
    return 1;
  auto rowsOfHead = [&](int64_t rows) {
    return int64_t(llvm::divideCeil(rows, shape->packing));
  };
  int64_t visible = getVisibleKeys(
      op, rowsOfHead(std::min<int64_t>(shape->rows, config->getTileQ())),
      rowsOfHead(shape->rows), shape->keys);
  int64_t filling = chip.computeUnits / workgroups;
  int64_t working = std::min(filling, visible / leastKeys);
  if (working <= 1)
    return 1;
  // Splits are equal parts of all keys, of which a window leaves a few.
  return std::min(working * shape->keys / visible, mostSplitsForOne * filling);
}

namespace {
struct ChooseSplitsPass
    : public attn::impl::AttnChooseSplitsBase<ChooseSplitsPass> {
  using AttnChooseSplitsBase::AttnChooseSplitsBase;

  void runOnOperation() override {
    llvm::Expected<const ChipInfo *> info = lookupChip(chip);
    if (!info) {
      emitError(getOperation()->getLoc(), llvm::toString(info.takeError()));
      return signalPassFailure();
    }
    getOperation()->walk([&](AttentionOp op) {
      if (op.getNumKvSplits() == 0)
        op.setNumKvSplits(hasKernel(op) ? chooseSplits(op, **info) : 1);
    });
  }
};
} // namespace
