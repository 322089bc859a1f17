//===- ChooseSplits.cpp - attn-choose-splits ------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
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
  Type element = query.getElementType();
  auto fits = [](int64_t d) {
    return !ShapedType::isDynamic(d) && d <= maxHeadDim && d % headDimStep == 0;
  };
  return (element.isF16() || element.isBF16() || element.isF32()) &&
         fits(query.getShape().back()) && fits(value.getShape().back());
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
  return std::max<int64_t>(1, std::min<int64_t>(chip.computeUnits / workgroups,
                                                shape->keys / leastKeys));
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
