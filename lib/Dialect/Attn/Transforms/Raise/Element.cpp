//===- Element.cpp - One element of a tensor as an expression -------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Element.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Beyond this nobody writes attention; expressions are trees, which could
/// outgrow the program.
static constexpr size_t maxExprs = 4096;

Expr *ElementReader::create(Expr::Kind kind, Type type) {
  Expr &expr = exprs.emplace_back();
  expr.kind = kind;
  expr.type = type;
  return &expr;
}

const Expr *ElementReader::scalar(Value value) {
  TypedAttr constant;
  if (matchPattern(value, m_Constant(&constant)) &&
      isa<FloatAttr, IntegerAttr>(constant)) {
    Expr *expr = create(Expr::Constant, value.getType());
    expr->constant = constant;
    return expr;
  }
  Expr *expr = create(Expr::Scalar, value.getType());
  expr->value = value;
  return expr;
}

const Expr *ElementReader::apply(Operation *op,
                                 ArrayRef<const Expr *> operands) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
      operands[0]->kind == Expr::Constant) {
    Expr *expr = create(Expr::Constant, type);
    llvm::APFloat value = cast<FloatAttr>(operands[0]->constant).getValue();
    bool lost;
    value.convert(cast<FloatType>(type).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
    expr->constant = FloatAttr::get(type, value);
    return expr;
  }
  Expr *expr = create(Expr::Apply, type);
  expr->op = op;
  expr->operands.assign(operands.begin(), operands.end());
  return expr;
}

static bool isScalarCode(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

static bool isElementwise(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
         op.getNumLoops() > 0;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

std::optional<Indices> ElementReader::mapIndices(linalg::LinalgOp op,
                                                 OpOperand &operand,
                                                 ArrayRef<Index> loops) {
  Indices indices;
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return indices;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    Index index;
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      index = loops[loop.getPosition()];
    } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
      // Repeated heads: d floordiv group.
      auto loop = dyn_cast<AffineDimExpr>(binary.getLHS());
      auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (!loop || !factor ||
          (expr.getKind() != AffineExprKind::FloorDiv &&
           expr.getKind() != AffineExprKind::Mod))
        return std::nullopt;
      const Index &whole = loops[loop.getPosition()];
      int64_t size = sizeOf(whole), low = factor.getValue();
      if (size == ShapedType::kDynamic || low <= 0 || size % low != 0)
        return std::nullopt;
      auto parts = split(whole, {size / low, low});
      if (!parts)
        return std::nullopt;
      index = (*parts)[expr.getKind() == AffineExprKind::Mod];
    } else if (expr != getAffineConstantExpr(0, op.getContext())) {
      return std::nullopt;
    }
    if (!covers(index, type.getDimSize(dim)))
      return std::nullopt;
    indices.push_back(index);
  }
  return indices;
}

std::optional<SmallVector<Index>>
ElementReader::loopsOfResult(linalg::LinalgOp op, unsigned number,
                             const Indices &indices, const Index &reduced) {
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(number));
  SmallVector<Index> loops(op.getNumLoops());
  llvm::SmallBitVector known(op.getNumLoops());
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      loops[loop] = reduced;
      known.set(loop);
    }
  for (auto [index, expr] : llvm::zip(indices, map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop) {
      if (!index.empty() || !isa<AffineConstantExpr>(expr))
        return std::nullopt;
      continue;
    }
    loops[loop.getPosition()] = index;
    known.set(loop.getPosition());
  }
  if (!known.all())
    return std::nullopt;
  return loops;
}

/// Goes from the result of a reshape to its source.
bool ElementReader::stepOverView(Value &tensor, Indices &indices) {
  Operation *op = tensor.getDefiningOp();
  auto enter = [&](Value source, Indices mapped) {
    visited.insert(op);
    tensor = source;
    indices = std::move(mapped);
    return true;
  };
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    if (isa<RankedTensorType>(cast.getSource().getType()))
      return enter(cast.getSource(), indices);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op)) {
    Indices source;
    for (ArrayRef<int64_t> group : expand.getReassociationIndices()) {
      Index index;
      for (int64_t dim : group)
        index = concat(index, indices[dim]);
      source.push_back(index);
    }
    return enter(expand.getSrc(), source);
  }
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    Indices source(collapse.getSrcType().getRank());
    for (auto [index, group] :
         llvm::zip_equal(indices, collapse.getReassociationIndices())) {
      SmallVector<int64_t> sizes;
      for (int64_t dim : group)
        sizes.push_back(collapse.getSrcType().getDimSize(dim));
      auto parts = split(index, sizes);
      if (!parts)
        return false;
      for (auto [part, dim] : llvm::zip_equal(*parts, group))
        source[dim] = part;
    }
    return enter(collapse.getSrc(), source);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

const Expr *ElementReader::readBody(linalg::LinalgOp op, Value value,
                                    ArrayRef<Index> loops) {
  Block *body = op.getBlock();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == body) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (op.isDpsInit(operand) && op.getNumReductionLoops() > 0)
      return nullptr;
    std::optional<Indices> indices = mapIndices(op, *operand, loops);
    if (!indices)
      return nullptr;
    return isa<ShapedType>(operand->get().getType())
               ? read(operand->get(), *indices)
               : scalar(operand->get());
  }
  Operation *code = value.getDefiningOp();
  if (!code || code->getBlock() != body)
    return scalar(value);
  if (auto position = dyn_cast<linalg::IndexOp>(code)) {
    Expr *expr = create(Expr::Position, value.getType());
    expr->indices = {loops[position.getDim()]};
    return expr;
  }
  if (matchPattern(code, m_Constant()))
    return scalar(value);
  if (!isScalarCode(code) || exprs.size() > maxExprs)
    return nullptr;
  SmallVector<const Expr *> operands;
  for (Value operand : code->getOperands()) {
    operands.push_back(readBody(op, operand, loops));
    if (!operands.back())
      return nullptr;
  }
  return apply(code, operands);
}

const Expr *ElementReader::read(Value tensor, const Indices &at) {
  Indices indices = at;
  while (stepOverView(tensor, indices))
    ;
  Operation *op = tensor.getDefiningOp();
  auto tagged = [&](const Expr *found) {
    auto *expr = const_cast<Expr *>(found);
    if (!expr->tensor) {
      expr->tensor = tensor;
      expr->tensorIndices = indices;
    }
    return expr;
  };

  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat()) {
    Expr *expr = create(Expr::Constant, dense.getElementType());
    expr->constant = cast<TypedAttr>(dense.getSplatValue<Attribute>());
    return tagged(expr);
  }
  const Expr *found = nullptr;
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    found = scalar(fill.getInputs()[0]);
  } else if (auto splat = dyn_cast_or_null<tensor::SplatOp>(op)) {
    found = scalar(splat.getInput());
  } else if (auto elementwise = dyn_cast_or_null<linalg::LinalgOp>(op)) {
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    if (isElementwise(elementwise))
      if (auto loops = loopsOfResult(elementwise, number, indices))
        found = readBody(
            elementwise,
            elementwise.getBlock()->getTerminator()->getOperand(number),
            *loops);
  } else if (op && isScalarCode(op) && exprs.size() <= maxExprs &&
             OpTrait::hasElementwiseMappableTraits(op) &&
             llvm::all_of(op->getOperandTypes(),
                          llvm::IsaPred<RankedTensorType>)) {
    SmallVector<const Expr *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(read(operand, indices));
    found = apply(op, operands);
  }
  if (found) {
    visited.insert(op);
    return tagged(found);
  }
  Expr *leaf = create(Expr::Leaf, getElementTypeOrSelf(tensor.getType()));
  leaf->value = tensor;
  leaf->indices = indices;
  return tagged(leaf);
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

/// What all elements of a tensor are, as a number or a constant tensor.
static Value getUniform(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  DenseElementsAttr dense;
  bool uniform = matchPattern(tensor, m_Constant(&dense)) && dense.isSplat();
  return uniform ? tensor : Value();
}

/// The number by which `op` multiplies its other operand `rest`.
static bool isScaling(Operation *op, function_ref<Value(Value)> asScalar,
                      Value &rest, double &factor, Value &number) {
  auto constant = [](Value value) -> std::optional<double> {
    FloatAttr attr;
    DenseFPElementsAttr dense;
    if (value && matchPattern(value, m_Constant(&attr)))
      return attr.getValueAsDouble();
    if (value && matchPattern(value, m_Constant(&dense)) && dense.isSplat())
      return dense.getSplatValue<APFloat>().convertToDouble();
    return std::nullopt;
  };
  if (isa<arith::MulFOp>(op)) {
    for (unsigned side : {0, 1}) {
      Value scalar = asScalar(op->getOperand(side));
      if (!scalar)
        continue;
      rest = op->getOperand(1 - side);
      if (auto value = constant(scalar)) {
        factor *= *value;
        return true;
      }
      if (!number && scalar.getType().isF32()) {
        number = scalar;
        return true;
      }
    }
  }
  if (isa<arith::DivFOp>(op)) {
    auto value = constant(asScalar(op->getOperand(1)));
    if (value && *value != 0) {
      rest = op->getOperand(0);
      factor /= *value;
      return true;
    }
  }
  return false;
}

bool ElementReader::stepOverElementwise(View &view, bool scaled) {
  auto op = view.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !isElementwise(op))
    return false;
  unsigned number = cast<OpResult>(view.tensor).getResultNumber();
  auto loops = loopsOfResult(op, number, view.indices);
  if (!loops)
    return false;
  // A value of the body that is one number for all elements.
  auto asScalar = [&](Value value) -> Value {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == op.getBlock()) {
      OpOperand *operand = op.getMatchingOpOperand(argument);
      return isa<ShapedType>(operand->get().getType())
                 ? getUniform(operand->get())
                 : operand->get();
    }
    Operation *code = value.getDefiningOp();
    if (code && code->getBlock() == op.getBlock() &&
        isa<arith::TruncFOp, arith::ExtFOp>(code))
      code = (value = code->getOperand(0)).getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == op.getBlock() ? Value() : value;
    bool computed =
        code->getBlock() == op.getBlock() && !matchPattern(code, m_Constant());
    return computed ? Value() : value;
  };
  View next = view;
  Value value = op.getBlock()->getTerminator()->getOperand(number);
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != op.getBlock())
        return false;
      OpOperand *operand = op.getMatchingOpOperand(argument);
      std::optional<Indices> indices = mapIndices(op, *operand, *loops);
      if (op.isDpsInit(operand) || !indices ||
          !isa<ShapedType>(operand->get().getType()))
        return false;
      visited.insert(op);
      next.tensor = operand->get();
      next.indices = *indices;
      view = next;
      return true;
    }
    Operation *code = value.getDefiningOp();
    if (!code || code->getBlock() != op.getBlock())
      return false;
    if (isa<arith::ExtFOp>(code)) {
      next.widened = true;
      value = code->getOperand(0);
      continue;
    }
    if (!scaled || !isScaling(code, asScalar, value, next.factor, next.scalar))
      return false;
  }
}

View ElementReader::look(Value tensor, const Indices &indices, bool scaled) {
  View view = {tensor, indices};
  while (true) {
    if (stepOverView(view.tensor, view.indices) ||
        stepOverElementwise(view, scaled))
      continue;
    Operation *op = view.tensor.getDefiningOp();
    if (!op || !isa<arith::ExtFOp, arith::MulFOp, arith::DivFOp>(op))
      return view;
    // The same on whole tensors.
    Value rest;
    if (isa<arith::ExtFOp>(op)) {
      view.widened = true;
      rest = op->getOperand(0);
    } else if (!scaled ||
               !isScaling(op, getUniform, rest, view.factor, view.scalar)) {
      return view;
    }
    visited.insert(op);
    view.tensor = rest;
  }
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

const Expr *attn::stripCasts(const Expr *expr) {
  while (applies<arith::ExtFOp, arith::TruncFOp>(expr))
    expr = expr->operands[0];
  return expr;
}

std::optional<double> attn::getNumber(const Expr *expr) {
  expr = stripCasts(expr);
  if (expr->kind != Expr::Constant)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(expr->constant))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(expr->constant))
    return number.getType().isInteger(1)
               ? static_cast<double>(!number.getValue().isZero())
               : static_cast<double>(number.getInt());
  return std::nullopt;
}

bool attn::isNegativeInfinity(const Expr *expr) {
  std::optional<double> number = getNumber(expr);
  return number && std::isinf(*number) && *number < 0;
}

bool attn::equal(const Expr *a, const Expr *b) {
  a = stripCasts(a);
  b = stripCasts(b);
  if (a == b)
    return true;
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
  case Expr::Constant:
    return getNumber(a) == getNumber(b);
  case Expr::Scalar:
    return a->value == b->value;
  case Expr::Leaf:
    return a->value == b->value && a->indices == b->indices;
  case Expr::Position:
    return a->indices == b->indices;
  case Expr::Apply:
    break;
  }
  auto attributes = [](Operation *op) {
    NamedAttrList list(op->getAttrDictionary());
    list.erase("fastmath");
    return list.getDictionary(op->getContext());
  };
  if (a->op->getName() != b->op->getName() ||
      attributes(a->op) != attributes(b->op))
    return false;
  auto same = [](ArrayRef<const Expr *> x, ArrayRef<const Expr *> y) {
    return llvm::all_of_zip(x, y, equal);
  };
  if (same(a->operands, b->operands))
    return true;
  return a->op->hasTrait<OpTrait::IsCommutative>() && a->operands.size() == 2 &&
         equal(a->operands[0], b->operands[1]) &&
         equal(a->operands[1], b->operands[0]);
}
