//===- Replace.cpp - The op in place of what was recognised ---------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replace.h"
#include "Arrange.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

namespace {
/// What is replaced: the product P V after data movement and rounding.
struct Result {
  Value tensor;
  Indices indices;
};

/// Options of the op that say which keys a row sees.
struct Band {
  bool causal = false, topLeft = false;
  std::optional<int64_t> left, right, offset;
};

class Replacement {
public:
  Replacement(RewriterBase &rewriter, Match &match, bool narrow)
      : rewriter(rewriter), match(match), narrow(narrow) {}

  FailureOr<Operation *> run();

private:
  LogicalResult fail(const Twine &why) {
    match.reason = why.str();
    return failure();
  }
  void findResult();
  LogicalResult chooseType();
  LogicalResult chooseBand();
  LogicalResult orderBatch();
  bool broadcasts(const Indices &indices, size_t batches) const;
  Value arrangeTo(Value tensor, const Indices &indices,
                  ArrayRef<Digits> groups);
  Value arrangeScores(Value tensor, const Indices &indices);
  SmallVector<Digits> getGroups(const Digits &own, const Index &rows,
                                const Index &columns, Layout layout) const;
  void setOptions(AttentionOp op);
  Operation *create();

  RewriterBase &rewriter;
  Match &match;
  bool narrow;
  Result result;
  Type type; ///< of the op's operands
  Band band;
  Refinement refinement;
  Digits batch, heads; ///< loops of B and of Hq
};
} // namespace

static Type getElement(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Goes over one op that only moves or rounds elements.
static bool stepForward(Result &result) {
  if (!result.tensor.hasOneUse())
    return false;
  Operation *user = *result.tensor.user_begin();
  if (user->getBlock() != result.tensor.getParentBlock())
    return false;
  auto enter = [&](Indices indices) {
    result.tensor = user->getResult(0);
    result.indices = std::move(indices);
    return true;
  };
  if (isa<arith::TruncFOp>(user))
    return enter(result.indices);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
    Indices indices;
    for (auto [index, group] :
         llvm::zip_equal(result.indices, expand.getReassociationIndices())) {
      SmallVector<int64_t> sizes;
      for (int64_t dim : group)
        sizes.push_back(expand.getResultType().getDimSize(dim));
      auto parts = split(index, sizes);
      if (!parts)
        return false;
      indices.append(parts->begin(), parts->end());
    }
    return enter(indices);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
    Indices indices;
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      Index index;
      for (int64_t dim : group)
        index = concat(index, result.indices[dim]);
      indices.push_back(index);
    }
    return enter(indices);
  }
  auto op = dyn_cast<linalg::LinalgOp>(user);
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0 ||
      op.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
      op.getDpsInputs()[0] != result.tensor)
    return false;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  if (auto rounding = yielded.getDefiningOp<arith::TruncFOp>())
    yielded = rounding.getIn();
  AffineMap in = op.getIndexingMapsArray()[0],
            out = op.getIndexingMapsArray()[1];
  if (yielded != op.getBlock()->getArgument(0) || !in.isPermutation() ||
      !out.isPermutation())
    return false;
  Indices loops(in.getNumDims());
  for (auto [index, loop] : llvm::zip_equal(result.indices, in.getResults()))
    loops[cast<AffineDimExpr>(loop).getPosition()] = index;
  Indices indices;
  for (AffineExpr loop : out.getResults())
    indices.push_back(loops[cast<AffineDimExpr>(loop).getPosition()]);
  return enter(indices);
}

void Replacement::findResult() {
  linalg::LinalgOp op = match.output.op;
  result.tensor = op->getResult(0);
  for (AffineExpr expr :
       op.getIndexingMapMatchingResult(op->getResult(0)).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    result.indices.push_back(loop ? match.loops[loop.getPosition()] : Index());
  }
  while (stepForward(result))
    ;
}

//===----------------------------------------------------------------------===//
// Type and band
//===----------------------------------------------------------------------===//

LogicalResult Replacement::chooseType() {
  Type inputs[] = {getElement(match.query.tensor),
                   getElement(match.keys.tensor),
                   getElement(match.value.tensor)};
  Type product = getElement(match.output.op->getResult(0));
  Type out = getElement(result.tensor);
  MLIRContext *context = rewriter.getContext();
  for (Type each : {inputs[0], inputs[1], inputs[2], product, out})
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(each))
      return fail("the element types are not f16, bf16, f32 or f64");
  auto bits = [](Type each) { return each.getIntOrFloatBitWidth(); };
  // The op accumulates in f32, and rounds P to the type of its inputs.
  bool sameTypes = llvm::all_equal(inputs) &&
                   (out == inputs[0] || bits(out) < bits(inputs[0])) &&
                   !(match.computesInF64 || product.isF64());
  bool keepsP =
      match.weightPrecision > cast<FloatType>(inputs[0]).getFPMantissaWidth();
  if (sameTypes && (narrow || !keepsP)) {
    type = inputs[0];
    return success();
  }
  bool wide = match.computesInF64 || product.isF64() || out.isF64() ||
              llvm::any_of(inputs, [](Type each) { return each.isF64(); });
  type = wide ? Type(Float64Type::get(context)) : Float32Type::get(context);
  return success();
}

LogicalResult Replacement::chooseBand() {
  int64_t rows = sizeOf(match.row), keys = sizeOf(match.key);
  bool isStatic = !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(keys);
  std::optional<int64_t> left = match.visibility.left,
                         right = match.visibility.right;
  // Bounds that nothing is beyond.
  if (right && !ShapedType::isDynamic(keys) && *right >= keys - 1)
    right.reset();
  if (left && !ShapedType::isDynamic(rows) && *left >= rows - 1)
    left.reset();
  if (!left && !right)
    return success();
  std::optional<int64_t> bottomRight;
  if (isStatic)
    bottomRight = keys - rows;
  int64_t offset = 0;
  if (right && (*right == 0 || *right == bottomRight || *right < 0)) {
    offset = *right;
    band.causal = true;
  } else if (left && *left < 0) {
    offset = -*left;
  }
  if (left)
    band.left = *left + offset;
  if (right && !band.causal)
    band.right = *right - offset;
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  for (std::optional<int64_t> bound : {band.left, band.right})
    if (bound && (*bound < 0 || *bound > limit))
      return fail("the band of visible keys is empty or too wide");
  if (offset == bottomRight)
    return success();
  if (offset == 0)
    band.topLeft = true;
  else
    band.offset = offset;
  return success();
}

//===----------------------------------------------------------------------===//
// Batches and heads
//===----------------------------------------------------------------------===//

static bool contains(const Digits &digits, const Digit &digit) {
  return llvm::is_contained(digits, digit);
}

static bool hasTwoDynamic(const Digits &digits) {
  return llvm::count_if(digits, [](const Digit &digit) {
           return ShapedType::isDynamic(digit.size);
         }) > 1;
}

/// Whether `digits` is `wanted` in any order, each once.
static bool isPermutation(const Digits &digits, const Digits &wanted) {
  return digits.size() == wanted.size() &&
         llvm::all_of(wanted,
                      [&](const Digit &d) { return contains(digits, d); });
}

/// Whether a bias or mask can be [B or 1, Hq or 1, Sq or 1, Skv or 1] with
/// the first `batches` digits as B.
bool Replacement::broadcasts(const Indices &indices, size_t batches) const {
  Digits all = batch;
  all.append(heads);
  Digits b(ArrayRef<Digit>(all).take_front(batches)),
      h(ArrayRef<Digit>(all).drop_front(batches)),
      row = refinement.refine(match.row), key = refinement.refine(match.key);
  Digits own = refinement.refine(indices);
  size_t found = 0;
  for (const Digits &group : {b, h, row, key}) {
    size_t count = llvm::count_if(
        group, [&](const Digit &digit) { return contains(own, digit); });
    if (count != 0 && count != group.size())
      return false;
    found += count;
  }
  return found == own.size();
}

LogicalResult Replacement::orderBatch() {
  for (const Indices &indices :
       {match.query.indices, match.keys.indices, match.value.indices,
        result.indices,
        Indices{match.row, match.key, match.column, match.inner}})
    refinement.add(indices);
  if (match.bias)
    refinement.add(match.bias->indices);
  for (const Visibility::Mask &mask : match.visibility.masks)
    refinement.add(mask.indices);
  if (failed(refinement.check()))
    return fail("reshapes cut the batch in ways that do not fit together");

  Digits row = refinement.refine(match.row), key = refinement.refine(match.key),
         column = refinement.refine(match.column),
         inner = refinement.refine(match.inner);
  Digits query = refinement.refine(match.query.indices),
         keys = refinement.refine(match.keys.indices),
         value = refinement.refine(match.value.indices);
  // Loops of the product that are neither row, key nor column, in order; first
  // those that keys and values have, then those of which heads share them.
  Digits rest, common, shared[2];
  for (const Index &loop : match.loops)
    if (loop != match.row && loop != match.key && loop != match.column)
      rest.append(refinement.refine(loop));
  for (const Digit &digit : rest) {
    bool inKeys = contains(keys, digit), inValue = contains(value, digit);
    (inKeys && inValue ? common : shared[!inKeys && !inValue]).push_back(digit);
  }
  auto only = [&](const Digits &own) {
    return llvm::all_of(
        shared[0], [&](const Digit &digit) { return contains(own, digit); });
  };
  auto join = [](std::initializer_list<Digits> lists) {
    Digits all;
    for (const Digits &list : lists)
      all.append(list);
    return all;
  };
  auto share = [&](const Digits &own) {
    return !shared[0].empty() && only(own) ? shared[0] : Digits();
  };
  if (!isPermutation(query, join({rest, row, inner})))
    return fail("the query is not indexed by batch, head, row and head dim");
  if (!isPermutation(keys, join({common, share(keys), key, inner})))
    return fail("the keys are not indexed by batch, head, key and head dim");
  if (!isPermutation(value, join({common, share(value), key, column})))
    return fail("the values are not indexed by batch, head, key and head dim");
  if (!isPermutation(refinement.refine(result.indices),
                     join({rest, row, column})))
    return fail("the output is not indexed by batch, head, row and head dim");

  // A reshape into several dims knows the size of one of them from the others.
  for (const Indices &indices :
       {match.query.indices, match.keys.indices, match.value.indices})
    for (const Index &index : indices)
      if (hasTwoDynamic(refinement.refine(index)))
        return fail("two dynamic sizes are in one dim");

  // B is a prefix of the common loops. With several of them the last is a head.
  Digits all = join({common, shared[0], shared[1]});
  size_t usual = common.size();
  if (common.size() > 1 || all.size() == common.size())
    usual = std::max<size_t>(usual, 1) - 1;
  SmallVector<size_t> choices = {usual};
  for (size_t count = 0; count <= common.size(); ++count)
    choices.push_back(count);
  batch.clear();
  heads = all;
  for (size_t count : choices) {
    bool fits = !match.bias || broadcasts(match.bias->indices, count);
    for (const Visibility::Mask &mask : match.visibility.masks)
      fits &= broadcasts(mask.indices, count);
    if (!fits)
      continue;
    batch.assign(all.begin(), all.begin() + count);
    heads.assign(all.begin() + count, all.end());
    if (hasTwoDynamic(batch) || hasTwoDynamic(heads))
      return fail("two dynamic sizes are in one dim");
    return success();
  }
  return fail("a bias or mask does not broadcast to batch, head, row and key");
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

Value Replacement::arrangeTo(Value tensor, const Indices &indices,
                             ArrayRef<Digits> groups) {
  SmallVector<Digits> dims;
  for (const Index &index : indices)
    dims.push_back(refinement.refine(index));
  return arrange(rewriter, match.output.op.getLoc(), tensor, dims, groups);
}

/// A bias or mask as [B or 1, Hq or 1, Sq or 1, Skv or 1].
Value Replacement::arrangeScores(Value tensor, const Indices &indices) {
  Digits own = refinement.refine(indices);
  SmallVector<Digits> groups = {batch, heads, refinement.refine(match.row),
                                refinement.refine(match.key)};
  for (Digits &group : groups)
    if (!group.empty() && !contains(own, group.front()))
      group.clear();
  return arrangeTo(tensor, indices, groups);
}

/// Dims of an operand or of the output. It has those heads of which it has the
/// digits: keys and values may have fewer.
SmallVector<Digits> Replacement::getGroups(const Digits &own, const Index &rows,
                                           const Index &columns,
                                           Layout layout) const {
  Digits ownHeads;
  for (const Digit &digit : heads)
    if (contains(own, digit))
      ownHeads.push_back(digit);
  Digits sequence = refinement.refine(rows), dim = refinement.refine(columns);
  if (layout == Layout::bhsd)
    return {batch, ownHeads, sequence, dim};
  return {batch, sequence, ownHeads, dim};
}

void Replacement::setOptions(AttentionOp op) {
  Location loc = op.getLoc();
  if (match.bias)
    op.getBiasMutable().assign(
        arrangeScores(match.bias->tensor, match.bias->indices));
  for (const Visibility::Mask &mask : match.visibility.masks) {
    Value tensor = arrangeScores(mask.tensor, mask.indices);
    op.getMaskMutable().assign(mask.hides ? invert(rewriter, loc, tensor)
                                          : tensor);
  }
  // The default is left out, if it is that in f32.
  int64_t dim = sizeOf(match.inner);
  bool isDefault = !ShapedType::isDynamic(dim) &&
                   static_cast<float>(match.scale) ==
                       static_cast<float>(1 / std::sqrt(double(dim)));
  if (match.scaleValue) {
    Value number = match.scaleValue;
    if (auto tensor = dyn_cast<RankedTensorType>(number.getType())) {
      Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
      number = tensor::ExtractOp::create(
          rewriter, loc, number, SmallVector<Value>(tensor.getRank(), zero));
    }
    if (match.scale != 1)
      number = arith::MulFOp::create(
          rewriter, loc, number,
          arith::ConstantOp::create(rewriter, loc,
                                    rewriter.getF32FloatAttr(match.scale)));
    op.getScaleValueMutable().assign(number);
  } else if (!isDefault) {
    op.setScaleAttr(rewriter.getF64FloatAttr(match.scale));
  }
  if (match.softcap)
    op.setSoftcapAttr(rewriter.getF64FloatAttr(*match.softcap));
  op.setCausal(band.causal);
  if (band.left)
    op.setWindowLeft(*band.left);
  if (band.right)
    op.setWindowRight(*band.right);
  if (band.topLeft)
    op.setDiagonalAlignment(DiagonalAlignment::top_left);
  if (band.offset) {
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, *band.offset);
    op.getQOffsetMutable().assign(offset);
  }
}

Operation *Replacement::create() {
  Operation *last = result.tensor.getDefiningOp();
  rewriter.setInsertionPoint(last);
  Location loc = match.output.op.getLoc();
  struct Operand {
    const View &view;
    const Index &rows, &columns;
  };
  const Operand operands[] = {{match.query, match.row, match.inner},
                              {match.keys, match.key, match.inner},
                              {match.value, match.key, match.column}};
  auto groupsOf = [&](const Operand &operand, Layout layout) {
    return getGroups(refinement.refine(operand.view.indices), operand.rows,
                     operand.columns, layout);
  };
  auto inOrder = [&](Layout layout) {
    return llvm::all_of(operands, [&](const Operand &operand) {
      return isInOrder(refinement.refine(operand.view.indices),
                       groupsOf(operand, layout));
    });
  };
  Layout layout = !inOrder(Layout::bhsd) && inOrder(Layout::bshd)
                      ? Layout::bshd
                      : Layout::bhsd;

  SmallVector<Value> ins;
  for (const Operand &operand : operands) {
    Value tensor = arrangeTo(operand.view.tensor, operand.view.indices,
                             groupsOf(operand, layout));
    ins.push_back(castElements(rewriter, loc, tensor, type));
  }
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, ins[0]);
  sizes[3] = tensor::getMixedSize(rewriter, loc, ins[2], 3);
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type);
  auto op = AttentionOp::create(rewriter, loc, ins[0], ins[1], ins[2], empty);
  op.setLayout(layout);
  rewriter.setInsertionPoint(op);
  setOptions(op);

  rewriter.setInsertionPointAfter(op);
  SmallVector<Digits> groups;
  for (const Index &index : result.indices)
    groups.push_back(refinement.refine(index));
  Value value =
      arrange(rewriter, loc, op.getResult(0),
              getGroups(heads, match.row, match.column, layout), groups);
  value = castElements(rewriter, loc, value, getElement(result.tensor));
  if (value.getType() != result.tensor.getType())
    value =
        tensor::CastOp::create(rewriter, loc, result.tensor.getType(), value);
  rewriter.replaceAllUsesWith(result.tensor, value);
  return last;
}

FailureOr<Operation *> Replacement::run() {
  findResult();
  auto isFinite = [](double value) {
    return std::isfinite(static_cast<float>(value));
  };
  if (!isFinite(match.scale) ||
      (match.softcap &&
       (!isFinite(*match.softcap) ||
        std::fpclassify(static_cast<float>(*match.softcap)) != FP_NORMAL)))
    return fail("scale or softcap are out of range");
  if (failed(chooseType()) || failed(chooseBand()) || failed(orderBatch()))
    return failure();
  return create();
}

FailureOr<Operation *> attn::replaceByAttention(RewriterBase &rewriter,
                                                Match &match, bool narrow) {
  return Replacement(rewriter, match, narrow).run();
}
