//===- Match.cpp - Recognising attention ----------------------------------===//
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

//===----------------------------------------------------------------------===//
// Contractions and reductions
//===----------------------------------------------------------------------===//

/// The argument of the body that `value` is, perhaps in another float type.
static BlockArgument getArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// The other operand of a commutative `op` if one is `argument`.
static Value getOther(Operation *op, BlockArgument argument) {
  for (unsigned side : {0, 1})
    if (op->getOperand(side) == argument)
      return op->getOperand(1 - side);
  return {};
}

/// The only loop over which `op` reduces.
static std::optional<unsigned> getReductionLoop(linalg::LinalgOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  return dims.size() == 1 ? std::optional(dims[0]) : std::nullopt;
}

/// What a destination holds before the op.
static const Expr *readInit(linalg::LinalgOp op, unsigned number,
                            ElementReader &reader) {
  Value init = op.getDpsInits()[number];
  auto type = cast<RankedTensorType>(init.getType());
  Indices indices;
  for (int64_t size : type.getShape())
    indices.push_back(reader.addLoop(size));
  return reader.read(init, indices);
}

std::optional<Contraction> attn::matchContraction(Operation *op,
                                                  ElementReader &reader) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumDpsInputs() != 2 || linalgOp.getNumDpsInits() != 1)
    return std::nullopt;
  std::optional<unsigned> sumLoop = getReductionLoop(linalgOp);
  if (!sumLoop || llvm::is_contained(linalgOp.getStaticLoopRanges(), 0))
    return std::nullopt;
  Block *body = linalgOp.getBlock();
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp>(sum))
    return std::nullopt;
  Value term = getOther(sum, body->getArgument(2));
  Operation *product = term ? term.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp>(product))
    return std::nullopt;
  BlockArgument a = getArgument(product->getOperand(0)),
                b = getArgument(product->getOperand(1));
  if (!a || !b || a == b || a.getArgNumber() > 1 || b.getArgNumber() > 1)
    return std::nullopt;
  bool fromZero = getNumber(readInit(linalgOp, 0, reader)) == 0.0;
  return Contraction{linalgOp, *sumLoop, fromZero};
}

/// The element that a reduction over `reduced` takes at a leaf; null if the
/// leaf is no result of `Combiner` from its neutral element (for a maximum the
/// lowest finite number will do as well).
template <typename... Combiner>
static const Expr *matchReduction(const Expr *leaf, const Index &reduced,
                                  ElementReader &reader) {
  auto op = leaf->kind == Expr::Leaf
                ? leaf->value.getDefiningOp<linalg::LinalgOp>()
                : linalg::LinalgOp();
  if (!op || !op.hasPureTensorSemantics() || !getReductionLoop(op))
    return nullptr;
  unsigned number = cast<OpResult>(leaf->value).getResultNumber();
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(number).getDefiningOp();
  if (!isa_and_nonnull<Combiner...>(combiner))
    return nullptr;
  BlockArgument carried = op.getRegionOutputArgs()[number];
  Value term = getOther(combiner, carried);
  if (!term)
    return nullptr;

  const Expr *init = readInit(op, number, reader);
  std::optional<double> start = getNumber(init);
  if (!start)
    return nullptr;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner)) {
    auto type = dyn_cast<FloatType>(init->type);
    if (!type || !(*start <= llvm::APFloat::getLargest(type.getFloatSemantics(),
                                                       /*Negative=*/true)
                                 .convertToDouble()))
      return nullptr;
  } else if (*start != 0) {
    return nullptr;
  }
  auto loops = reader.loopsOfResult(op, number, leaf->indices, reduced);
  if (!loops)
    return nullptr;
  const Expr *element = reader.readBody(op, term, *loops);
  if (element)
    reader.visited.insert(op);
  return element;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult Match::fail(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return failure();
}

/// Whether `expr` is `value` exactly for rows of which all scores are -inf.
static bool saysAllHidden(const Expr *expr, bool value, const Expr *scores,
                          const Index &key, ElementReader &reader) {
  if (applies<arith::XOrIOp>(expr))
    for (unsigned side : {0, 1})
      if (auto number = getNumber(expr->operands[side]))
        return saysAllHidden(expr->operands[1 - side], value != (*number != 0),
                             scores, key, reader);
  // Not, and the conversion of a number to a bit, as producers spell them.
  if (applies<arith::CmpIOp>(expr)) {
    auto number = getNumber(expr->operands[1]);
    auto predicate = cast<arith::CmpIOp>(expr->op).getPredicate();
    if (number != 0.0)
      return false;
    if (predicate == arith::CmpIPredicate::eq)
      return saysAllHidden(expr->operands[0], !value, scores, key, reader);
    if (predicate == arith::CmpIPredicate::ne)
      return saysAllHidden(expr->operands[0], value, scores, key, reader);
    return false;
  }
  if (applies<arith::SelectOp>(expr)) {
    auto yes = getNumber(expr->operands[1]), no = getNumber(expr->operands[2]);
    if (!yes || !no || (*yes != 0) == (*no != 0))
      return false;
    return saysAllHidden(expr->operands[0], value == (*yes != 0), scores, key,
                         reader);
  }
  if (applies<arith::CmpFOp>(expr)) {
    auto predicate = cast<arith::CmpFOp>(expr->op).getPredicate();
    bool equals = predicate == arith::CmpFPredicate::OEQ;
    if (!equals && predicate != arith::CmpFPredicate::UNE)
      return false;
    return value == equals && isNegativeInfinity(expr->operands[1]) &&
           equal(expr->operands[0], scores);
  }
  // That not any key is seen.
  const Expr *any =
      value ? nullptr : matchReduction<arith::OrIOp>(expr, key, reader);
  return any && saysAllHidden(any, false, scores, key, reader);
}

/// The divisor of a quotient, also where it is written e * (1 / l).
static const Expr *matchQuotient(const Expr *expr, const Expr *&dividend) {
  if (applies<arith::DivFOp>(expr)) {
    dividend = stripCasts(expr->operands[0]);
    return stripCasts(expr->operands[1]);
  }
  if (applies<arith::MulFOp>(expr))
    for (unsigned side : {0, 1}) {
      const Expr *inverse = stripCasts(expr->operands[side]);
      if (!applies<arith::DivFOp>(inverse) ||
          getNumber(inverse->operands[0]) != 1.0)
        continue;
      dividend = stripCasts(expr->operands[1 - side]);
      return stripCasts(inverse->operands[1]);
    }
  return nullptr;
}

/// Whether exp or exp2 occurs, without which nothing looks like a softmax.
static bool hasExponential(const Expr *expr) {
  if (expr->kind == Expr::Leaf &&
      expr->value.getDefiningOp<linalg::SoftmaxOp>())
    return true;
  return applies<math::ExpOp, math::Exp2Op>(expr) ||
         llvm::any_of(expr->operands, hasExponential);
}

/// Mantissa bits of the narrowest type on the way to `stripCasts(expr)`.
static unsigned getPrecision(const Expr *expr) {
  unsigned bits = 64;
  while (true) {
    if (auto type = dyn_cast<FloatType>(expr->type))
      bits = std::min(bits, type.getFPMantissaWidth());
    if (!applies<arith::ExtFOp, arith::TruncFOp>(expr))
      return bits;
    expr = expr->operands[0];
  }
}

LogicalResult Match::matchWeights(const Expr *weights) {
  if (!hasExponential(weights))
    return failure();
  weightPrecision = getPrecision(weights);
  const Expr *expr = stripCasts(weights), *guard = nullptr;
  bool guardValue = true;
  // Zero for rows without a key: what attn.attention gives.
  if (applies<arith::SelectOp>(expr)) {
    guard = expr->operands[0];
    guardValue = getNumber(expr->operands[1]) == 0.0;
    if (!guardValue && getNumber(expr->operands[2]) != 0.0)
      return fail("the weights are selected from something else than 0");
    expr = expr->operands[guardValue ? 2 : 1];
    weightPrecision = std::min(weightPrecision, getPrecision(expr));
    expr = stripCasts(expr);
  }

  const Expr *scores = nullptr;
  if (expr->kind == Expr::Leaf &&
      expr->value.getDefiningOp<linalg::SoftmaxOp>()) {
    auto softmax = expr->value.getDefiningOp<linalg::SoftmaxOp>();
    if (expr->indices[softmax.getDimension()] != key)
      return fail("the softmax is not over the keys");
    reader.visited.insert(softmax);
    scores = reader.read(softmax.getInput(), expr->indices);
  } else {
    const Expr *exponential = nullptr, *sum = matchQuotient(expr, exponential);
    if (!sum || !applies<math::ExpOp>(exponential))
      return fail("the weights are not exponentials divided by their sum");
    const Expr *summand = matchReduction<arith::AddFOp>(sum, key, reader);
    if (!summand)
      return fail("the divisor of the weights is no sum over the keys");
    if (!equal(summand, exponential))
      return fail("the divisor of the weights is not the sum of their "
                  "exponentials over the keys");
    scores = stripCasts(exponential->operands[0]);
    if (applies<arith::SubFOp>(scores)) {
      const Expr *maximum = stripCasts(scores->operands[1]);
      scores = stripCasts(scores->operands[0]);
      // A maximum with what it starts from changes nothing.
      if (applies<arith::MaximumFOp, arith::MaxNumFOp>(maximum))
        for (unsigned side : {0, 1})
          if (isNegativeInfinity(maximum->operands[side])) {
            maximum = stripCasts(maximum->operands[1 - side]);
            break;
          }
      const Expr *element = matchReduction<arith::MaximumFOp, arith::MaxNumFOp>(
          maximum, key, reader);
      if (!element || !equal(element, scores))
        return fail("what is subtracted in the exponent is not the maximum of "
                    "the scores over the keys");
    }
  }
  if (guard && !saysAllHidden(guard, guardValue, scores, key, reader))
    return fail("the weights are 0 under a condition other than that no key is "
                "visible");
  return matchScores(scores);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// What the scores feed must end in the output, or the program would compute
/// them twice; and once a time the output is computed.
LogicalResult Match::checkUses() {
  if (scoreProduct->getBlock() != output.op->getBlock())
    return fail("scores and output are computed in different blocks");
  SmallVector<Operation *> worklist = {scoreProduct};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (user == output.op || !seen.insert(user).second)
        continue;
      if (!reader.visited.contains(user))
        return fail("the scores or weights have another use");
      worklist.push_back(user);
    }
  }
  return success();
}

LogicalResult Match::run(const Contraction &product) {
  output = product;
  linalg::LinalgOp op = product.op;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (int64_t size : sizes)
    loops.push_back(reader.addLoop(size));
  key = loops[product.sumLoop];

  for (unsigned side : {0, 1}) {
    OpOperand *weights = op.getDpsInputOperand(side),
              *values = op.getDpsInputOperand(1 - side);
    auto at = reader.mapIndices(op, *weights, loops),
         from = reader.mapIndices(op, *values, loops);
    if (!at || !from)
      continue;
    // The row is a loop of the weights alone, the column one of the values.
    llvm::SmallBitVector inWeights(sizes.size()), inValues(sizes.size());
    auto mark = [&](OpOperand *operand, llvm::SmallBitVector &loops) {
      for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          loops.set(dim.getPosition());
    };
    mark(weights, inWeights);
    mark(values, inValues);
    SmallVector<unsigned> rows, columns;
    for (unsigned loop = 0; loop < sizes.size(); ++loop) {
      if (loop == product.sumLoop)
        continue;
      if (inWeights[loop] && !inValues[loop])
        rows.push_back(loop);
      else if (inValues[loop] && !inWeights[loop])
        columns.push_back(loop);
    }
    const Expr *expr = reader.read(weights->get(), *at);
    if (!hasExponential(stripCasts(expr)))
      continue;
    if (!product.fromZero)
      return fail("the weighted sum does not start from zero");
    if (columns.size() != 1 || rows.empty())
      return fail("the weighted sum is not one of rows of values");
    // A loop over heads that share their values is one of the weights alone
    // too. Which is the row matters for conditions on it only: take the
    // longest.
    auto length = [&](unsigned loop) {
      return ShapedType::isDynamic(sizes[loop])
                 ? std::numeric_limits<int64_t>::max()
                 : sizes[loop];
    };
    unsigned longest = rows[0];
    for (unsigned loop : rows)
      if (length(loop) >= length(longest))
        longest = loop;
    row = loops[longest];
    column = loops[columns[0]];
    value = reader.look(values->get(), *from, false);
    if (failed(matchWeights(expr)) || failed(checkRows()))
      return failure();
    return checkUses();
  }
  return failure();
}
