//===- Scores.cpp - From the softmax down to Q K^T ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Match.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn;

/// Whether a contraction feeds the expression.
static bool hasProduct(const Expr *expr, ElementReader &reader) {
  if (expr->kind == Expr::Leaf)
    return matchContraction(expr->value.getDefiningOp(), reader).has_value();
  return llvm::any_of(expr->operands, [&](const Expr *operand) {
    return hasProduct(operand, reader);
  });
}

/// Whether the expression is one number, perhaps known at run time only, for
/// all scores.
static bool isOneNumber(const Expr *expr, ElementReader &reader) {
  expr = stripCasts(expr);
  bool isElement =
      expr->kind == Expr::Leaf &&
      llvm::all_of(expr->indices, [](auto &index) { return index.empty(); }) &&
      !hasProduct(expr, reader);
  return isElement || expr->kind == Expr::Scalar || getNumber(expr);
}

/// Whether a key is hidden whose score is selected to be `score`. The lowest
/// number does it in rows that see another key: from any score above it, which
/// is 2^104 away or more in f32 and bf16, it is exp(-2^104) = 0 of that.
bool Match::hides(const Expr *score) {
  if (isNegativeInfinity(score))
    return true;
  std::optional<double> number = getNumber(score);
  if (!number)
    return false;
  if (finiteMasks && *number <= -1e4)
    return true;
  auto type = dyn_cast<FloatType>(score->type);
  if (!isa_and_nonnull<Float32Type, BFloat16Type>(type) ||
      *number !=
          llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true)
              .convertToDouble())
    return false;
  everyRowSees = true;
  return true;
}

/// Where hidden scores are finite, rows that see no key average the values.
LogicalResult Match::checkRows() {
  if (!everyRowSees)
    return success();
  std::optional<int64_t> left = visibility.left, right = visibility.right;
  int64_t rows = sizeOf(row), keys = sizeOf(key);
  bool onDiagonal = !ShapedType::isDynamic(rows) &&
                    !ShapedType::isDynamic(keys) && rows <= keys;
  bool sees = visibility.masks.empty() && !bias && right.value_or(0) >= 0 &&
              (!left || (*left >= 0 && onDiagonal));
  return sees ? success()
              : fail("hidden scores are finite, and a row may see no key");
}

LogicalResult Match::addBias(const Expr *expr) {
  expr = stripCasts(expr);
  if (applies<arith::SelectOp>(expr)) {
    auto yes = getNumber(expr->operands[1]), no = getNumber(expr->operands[2]);
    // 0 or -inf: a mask that is added.
    for (bool visible : {true, false}) {
      auto seen = visible ? yes : no;
      const Expr *hidden = expr->operands[visible ? 2 : 1];
      std::optional<double> number = getNumber(hidden);
      bool isHidden = isNegativeInfinity(hidden) ||
                      (finiteMasks && number && *number <= -1e4);
      if (seen == 0.0 && isHidden &&
          addCondition(visibility, expr->operands[0], visible, row, key))
        return success();
    }
  }
  if (getNumber(expr) == 0.0)
    return success();
  if (!expr->tensor)
    return fail("the bias is computed in the op that adds it");
  if (bias)
    return fail("two biases are added");
  View view = reader.look(expr->tensor, expr->tensorIndices, false);
  Type type = cast<ShapedType>(view.tensor.getType()).getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return fail("the bias is not of f16, bf16, f32 or f64");
  bias = Bias{view.tensor, view.indices};
  return success();
}

LogicalResult Match::matchScores(const Expr *expr) {
  bool scaled = false;
  while (true) {
    computesInF64 |= expr->type.isF64();
    expr = stripCasts(expr);
    computesInF64 |= expr->type.isF64();
    if (expr->kind == Expr::Leaf)
      return matchProduct(expr);
    ArrayRef<const Expr *> operands = expr->operands;
    if (applies<arith::SelectOp, arith::AddFOp>(expr) && (scaled || softcap))
      return fail("scores are scaled after a mask or bias");
    if (applies<arith::SelectOp>(expr)) {
      bool visible = hides(operands[2]);
      if (!visible && !hides(operands[1]))
        return fail("hidden scores are not selected to be -inf");
      if (!addCondition(visibility, operands[0], visible, row, key))
        return fail("the condition of a mask is no tensor of i1 and no band "
                    "around the diagonal, or a second mask");
      expr = operands[visible ? 1 : 2];
      continue;
    }
    if (applies<arith::AddFOp>(expr)) {
      bool first = hasProduct(operands[0], reader),
           second = hasProduct(operands[1], reader);
      if (first == second)
        return fail("scores are added to scores");
      if (failed(addBias(operands[first ? 1 : 0])))
        return failure();
      expr = operands[first ? 0 : 1];
      continue;
    }
    if (applies<arith::NegFOp>(expr)) {
      scale = -scale;
      scaled = true;
      expr = operands[0];
      continue;
    }
    if (applies<math::TanhOp>(expr)) {
      if (softcap || scaleValue || !(scale > 0))
        return fail("tanh is applied to scores, but not as a softcap");
      softcap = scale; // and it divides what the tanh is of
      expr = operands[0];
      continue;
    }
    if (applies<arith::MulFOp, arith::DivFOp>(expr)) {
      unsigned side = isOneNumber(operands[0], reader) ? 0 : 1;
      const Expr *factor = stripCasts(operands[side]);
      std::optional<double> number = getNumber(factor);
      bool divides = applies<arith::DivFOp>(expr);
      if (number && !(divides && (side == 0 || *number == 0))) {
        scale = divides ? scale / *number : scale * *number;
      } else if (isOneNumber(factor, reader) && factor->type.isF32() &&
                 !divides && !scaleValue) {
        scaleValue = factor->value;
      } else {
        return fail("scores are not scaled by one number");
      }
      scaled = true;
      expr = operands[1 - side];
      continue;
    }
    return fail("scores go through an op that attention does not have");
  }
}

LogicalResult Match::matchProduct(const Expr *leaf) {
  auto product = matchContraction(leaf->value.getDefiningOp(), reader);
  if (!product)
    return fail("scores are no product of two tensors");
  if (!product->fromZero)
    return fail("the product of the scores does not start from zero");
  linalg::LinalgOp op = product->op;
  int64_t size = op.getStaticLoopRanges()[product->sumLoop];
  inner = reader.addLoop(size);
  auto at = reader.loopsOfResult(op, 0, leaf->indices, inner);
  if (!at)
    return fail("the scores are used in parts");
  View views[2];
  for (unsigned number : {0, 1}) {
    OpOperand *operand = op.getDpsInputOperand(number);
    auto indices = reader.mapIndices(op, *operand, *at);
    if (!indices)
      return fail("the scores read their operands in parts");
    views[number] = reader.look(operand->get(), *indices, true);
  }
  bool swapped =
      shareLoop(views[0].indices, key) || shareLoop(views[1].indices, row);
  query = views[swapped ? 1 : 0];
  keys = views[swapped ? 0 : 1];
  for (View *view : {&query, &keys}) {
    scale *= view->factor;
    if (view->scalar && scaleValue)
      return fail("scores are scaled by two numbers known at run time");
    if (view->scalar)
      scaleValue = view->scalar;
  }
  scoreProduct = op;
  reader.visited.insert(op);
  return success();
}
