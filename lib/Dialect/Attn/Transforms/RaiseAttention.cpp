//===- RaiseAttention.cpp - attn-raise ------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise/Match.h"
#include "Raise/Replace.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNRAISEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
struct AttnRaise : attn::impl::AttnRaisePassBase<AttnRaise> {
  using AttnRaisePassBase::AttnRaisePassBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    // From the last product on: what it takes the place of is never first one
    // of the others.
    for (linalg::LinalgOp op : llvm::reverse(ops))
      if (!erased.contains(op))
        raise(op);
  }

private:
  void raise(linalg::LinalgOp op);
  void eraseDead(ArrayRef<Operation *> ops, RewriterBase &rewriter);

  llvm::DenseSet<Operation *> erased;
};
} // namespace

void AttnRaise::raise(linalg::LinalgOp op) {
  ElementReader reader;
  std::optional<Contraction> product = matchContraction(op, reader);
  if (!product)
    return;
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto options = remark::RemarkOpts::name("attention")
                     .category("attn-raise")
                     .function(function ? function.getName() : StringRef());
  Location loc = op.getLoc();
  IRRewriter rewriter(&getContext());
  Match match(reader, finiteMasks);
  FailureOr<Operation *> replaced = failure();
  if (succeeded(match.run(*product)))
    replaced = replaceByAttention(rewriter, match, narrow);
  if (failed(replaced)) {
    if (!match.reason.empty())
      remark::missed(loc, options) << "not raised: " + match.reason;
    return;
  }
  remark::passed(loc, options) << "raised to attn.attention";
  reader.visited.insert(*replaced);
  eraseDead(reader.visited.getArrayRef(), rewriter);
}

/// Erases what nothing uses any more, from users to producers.
void AttnRaise::eraseDead(ArrayRef<Operation *> ops, RewriterBase &rewriter) {
  llvm::SetVector<Operation *> worklist(ops.begin(), ops.end());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        worklist.insert(producer);
    erased.insert(op);
    rewriter.eraseOp(op);
  }
}
