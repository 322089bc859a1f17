//===- Visibility.cpp - Conditions on row and key -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Match.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// row * rows + key * keys + constant.
struct Linear {
  int64_t rows = 0, keys = 0, constant = 0;
};
} // namespace

static std::optional<Linear> getLinear(const Expr *expr, const Index &row,
                                       const Index &key) {
  // Positions fit; in fewer bits sums of them might wrap around.
  if (!expr->type.isIndex() && expr->type.getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  if (std::optional<double> number = getNumber(expr)) {
    if (std::abs(*number) > std::numeric_limits<int32_t>::max())
      return std::nullopt;
    return Linear{0, 0, static_cast<int64_t>(*number)};
  }
  if (expr->kind == Expr::Position) {
    const Index &index = expr->indices[0];
    if (index.empty())
      return Linear{};
    if (index == row)
      return Linear{1, 0, 0};
    if (index == key)
      return Linear{0, 1, 0};
    return std::nullopt;
  }
  if (applies<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(expr))
    return getLinear(expr->operands[0], row, key);
  if (!applies<arith::AddIOp, arith::SubIOp>(expr))
    return std::nullopt;
  auto a = getLinear(expr->operands[0], row, key);
  auto b = getLinear(expr->operands[1], row, key);
  if (!a || !b)
    return std::nullopt;
  int64_t sign = applies<arith::SubIOp>(expr) ? -1 : 1;
  return Linear{a->rows + sign * b->rows, a->keys + sign * b->keys,
                a->constant + sign * b->constant};
}

static void tighten(std::optional<int64_t> &bound, int64_t value) {
  bound = bound ? std::min(*bound, value) : value;
}

/// Adds 0 <= `linear`.
static bool addInequality(Visibility &visibility, Linear linear) {
  if (linear.rows == 1 && linear.keys == -1) {
    tighten(visibility.right, linear.constant);
    return true;
  }
  if (linear.rows == -1 && linear.keys == 1) {
    tighten(visibility.left, linear.constant);
    return true;
  }
  return false;
}

static bool addComparison(Visibility &visibility, const Expr *expr, bool value,
                          const Index &row, const Index &key) {
  auto a = getLinear(expr->operands[0], row, key);
  auto b = getLinear(expr->operands[1], row, key);
  if (!a || !b)
    return false;
  auto atLeast = [&](const Linear &x, const Linear &y, int64_t slack) {
    return addInequality(visibility, {x.rows - y.rows, x.keys - y.keys,
                                      x.constant - y.constant - slack});
  };
  // Positions are not negative, what is computed from them may be.
  auto plain = [](const Linear &x) {
    return x.rows >= 0 && x.keys >= 0 && x.constant >= 0;
  };
  using P = arith::CmpIPredicate;
  P predicate = cast<arith::CmpIOp>(expr->op).getPredicate();
  if (!value)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case P::ule:
  case P::ult:
  case P::uge:
  case P::ugt:
    if (!plain(*a) || !plain(*b))
      return false;
    break;
  default:
    break;
  }
  switch (predicate) {
  case P::sle:
  case P::ule:
    return atLeast(*b, *a, 0);
  case P::slt:
  case P::ult:
    return atLeast(*b, *a, 1);
  case P::sge:
  case P::uge:
    return atLeast(*a, *b, 0);
  case P::sgt:
  case P::ugt:
    return atLeast(*a, *b, 1);
  default:
    return false;
  }
}

/// Takes the condition apart, down to masks.
static bool decompose(Visibility &visibility, const Expr *expr, bool value,
                      const Index &row, const Index &key) {
  auto next = [&](const Expr *part, bool wanted) {
    return decompose(visibility, part, wanted, row, key);
  };
  if (std::optional<double> number = getNumber(expr))
    return (*number != 0) == value; // one that hides all is not attention
  if (applies<arith::AndIOp>(expr) && value)
    return next(expr->operands[0], true) && next(expr->operands[1], true);
  if (applies<arith::OrIOp>(expr) && !value)
    return next(expr->operands[0], false) && next(expr->operands[1], false);
  if (applies<arith::XOrIOp>(expr))
    for (unsigned side : {0, 1})
      if (auto number = getNumber(expr->operands[side]))
        return next(expr->operands[1 - side], value != (*number != 0));
  if (applies<arith::SelectOp>(expr)) {
    const Expr *condition = expr->operands[0], *yes = expr->operands[1],
               *no = expr->operands[2];
    auto yesNumber = getNumber(yes), noNumber = getNumber(no);
    if (yesNumber && noNumber && (*yesNumber != 0) != (*noNumber != 0))
      return next(condition, (*yesNumber != 0) == value);
    // Both the condition and what it selects.
    if (noNumber && (*noNumber != 0) != value)
      return next(condition, true) && next(yes, value);
    if (yesNumber && (*yesNumber != 0) != value)
      return next(condition, false) && next(no, value);
  }
  if (applies<arith::CmpIOp>(expr) &&
      addComparison(visibility, expr, value, row, key))
    return true;
  if (!expr->tensor || !expr->type.isInteger(1))
    return false;
  visibility.masks.push_back({expr->tensor, expr->tensorIndices, !value});
  return true;
}

bool attn::addCondition(Visibility &visibility, const Expr *condition,
                        bool value, const Index &row, const Index &key) {
  Visibility apart = visibility;
  if (decompose(apart, condition, value, row, key) && apart.masks.size() <= 1) {
    visibility = apart;
    return true;
  }
  // The condition may be a mask of the program as a whole.
  if (!condition->tensor || !condition->type.isInteger(1) ||
      !visibility.masks.empty())
    return false;
  visibility.masks.push_back(
      {condition->tensor, condition->tensorIndices, !value});
  return true;
}
