//===- DecomposeOnline.cpp - attn.online_attention to linalg --------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecomposePatterns.h"
#include "LinalgEmitter.h"
#include "attn/Dialect/Attn/Utils/Slicing.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

static constexpr auto kParallel = utils::IteratorType::parallel;
static constexpr auto kReduction = utils::IteratorType::reduction;
// Sums may be reordered and contracted; NaN and infinity keep their meaning.
static constexpr auto kSum =
    arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;

namespace {
class OnlineDecomposer {
public:
  OnlineDecomposer(PatternRewriter &rewriter, OnlineAttentionOp op)
      : op(op), loc(op.getLoc()),
        emit(rewriter, loc, isa<TensorType>(op.getQuery().getType())),
        type(cast<ShapedType>(op.getAcc().getType()).getElementType()) {
    rows = getMixedSize(rewriter, loc, op.getQuery(), 0);
    keys = getMixedSize(rewriter, loc, op.getKey(), 0);
    headDim = getMixedSize(rewriter, loc, op.getQuery(), 1);
    valueDim = getMixedSize(rewriter, loc, op.getValue(), 1);
  }

  void run();

private:
  bool hidesKeys() {
    return op.getCausal() || op.hasWindow() || op.getMask() || op.getBias();
  }
  Value products();
  Value scaleValue();
  Value scores(Value products);
  Value visible(OpBuilder &b, Value i, Value j, Value mask);
  Value matmul(Value a, Value b, Value target, Value hiddenBy);

  OnlineAttentionOp op;
  Location loc;
  LinalgEmitter emit;
  Type type; // f32 or f64, of scores and state
  OpFoldResult rows, keys, headDim, valueDim;
};
} // namespace

/// target[i, j] += sum_k a[i, k] b[k, j]. Where `hiddenBy`[i, k] is -inf, b[k]
/// takes no part, whatever it holds.
Value OnlineDecomposer::matmul(Value a, Value b, Value target, Value hiddenBy) {
  // Loops i, k, j: the inner one is contiguous in b and target.
  SmallVector<Value> inputs = {a, b};
  SmallVector<AffineMap> maps = {emit.map(3, {0, 1}), emit.map(3, {1, 2})};
  if (hiddenBy) {
    inputs.push_back(hiddenBy);
    maps.push_back(emit.map(3, {0, 1}));
  }
  maps.push_back(emit.map(3, {0, 2}));
  return emit.generic(
      inputs, {target}, maps, {kParallel, kReduction, kParallel},
      [&](OpBuilder &builder, ValueRange args) {
        Value product = arith::MulFOp::create(builder, loc, args[0], args[1],
                                              arith::FastMathFlags::contract);
        Value sum = arith::AddFOp::create(builder, loc, args.back(), product,
                                          arith::FastMathFlags::contract);
        if (hiddenBy) {
          Value none = floatConstant(builder, loc, type, -INFINITY);
          Value hidden = arith::CmpFOp::create(
              builder, loc, arith::CmpFPredicate::OEQ, args[2], none);
          sum = arith::SelectOp::create(builder, loc, hidden, args.back(), sum);
        }
        return SmallVector<Value>{sum};
      })[0];
}

/// Q K^T in the state's type.
Value OnlineDecomposer::products() {
  Value query = op.getQuery();
  if (cast<ShapedType>(query.getType()).getElementType() != type)
    query = emit.convert(query, emit.temporary({rows, headDim}, type),
                         emit.map(2, {0, 1}));
  Value keyT = emit.convert(op.getKey(), emit.temporary({headDim, keys}, type),
                            emit.map(2, {1, 0}));
  Value zero = emit.fill(emit.temporary({rows, keys}, type), 0.0);
  return matmul(query, keyT, zero, Value());
}

Value OnlineDecomposer::scaleValue() {
  OpBuilder &b = emit.rewriter;
  if (op.getScaleValue())
    return convertFloat(b, loc, op.getScaleValue(), type);
  if (op.getScale())
    return emit.constant(type, op.getScale()->convertToDouble());
  if (std::optional<int64_t> dim = getConstantIntValue(headDim))
    return emit.constant(type, *dim ? 1.0 / std::sqrt(double(*dim)) : 1.0);
  Value dim = getValueOrCreateConstantIndexOp(b, loc, headDim);
  dim = arith::IndexCastOp::create(b, loc, b.getI64Type(), dim);
  dim = arith::SIToFPOp::create(b, loc, type, dim);
  Value root = math::SqrtOp::create(b, loc, dim);
  return arith::DivFOp::create(b, loc, emit.constant(type, 1.0), root);
}

/// Whether the row at i sees the key at j; null if every row sees every key.
Value OnlineDecomposer::visible(OpBuilder &b, Value i, Value j, Value mask) {
  Value result;
  auto both = [&](Value condition) {
    result =
        result ? arith::AndIOp::create(b, loc, result, condition) : condition;
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y).getResult();
  };
  auto offset = [&](int64_t value) {
    Value constant = arith::ConstantIndexOp::create(b, loc, value);
    return arith::AddIOp::create(b, loc, i, constant).getResult();
  };
  // Beyond this a window bound hides nothing, and i + bound does not wrap.
  constexpr int64_t far = int64_t(1) << 61;
  if (op.getCausal())
    both(compare(arith::CmpIPredicate::sle, j, i));
  if (int64_t left = op.getWindowLeft(); left >= 0) {
    Value inside =
        compare(arith::CmpIPredicate::sge, j, offset(-std::min(left, far)));
    if (int64_t sinks = op.getSinkTokens(); sinks > 0) {
      Value bound = arith::ConstantIndexOp::create(b, loc, sinks);
      inside = arith::OrIOp::create(
          b, loc, inside, compare(arith::CmpIPredicate::slt, j, bound));
    }
    both(inside);
  }
  if (int64_t right = op.getWindowRight(); right >= 0)
    both(compare(arith::CmpIPredicate::sle, j, offset(std::min(right, far))));
  if (mask) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(mask.getType()));
    both(compare(arith::CmpIPredicate::ne, mask, zero));
  }
  return result;
}

/// Steps 1 to 4 of docs/Semantics.md on every product, in place.
Value OnlineDecomposer::scores(Value products) {
  Value scale = scaleValue();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  // Broadcast through dims that are missing in front or 1 in the type.
  auto addInput = [&](Value operand) {
    auto shape = cast<ShapedType>(operand.getType()).getShape();
    OpFoldResult sizes[] = {rows, keys};
    size_t missing = std::size(sizes) - shape.size();
    SmallVector<AffineExpr> exprs;
    for (auto [i, dim] : llvm::enumerate(shape)) {
      bool broadcast = dim == 1 && getConstantIntValue(sizes[missing + i]) != 1;
      exprs.push_back(broadcast ? emit.rewriter.getAffineConstantExpr(0)
                                : emit.rewriter.getAffineDimExpr(missing + i));
    }
    inputs.push_back(operand);
    maps.push_back(AffineMap::get(2, 0, exprs, emit.rewriter.getContext()));
  };
  if (op.getBias())
    addInput(op.getBias());
  if (op.getMask())
    addInput(op.getMask());
  maps.push_back(emit.map(2, {0, 1}));

  auto body = [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
    Value bias = op.getBias() ? args[0] : Value();
    Value mask = op.getMask() ? args[bias ? 1 : 0] : Value();
    Value s = arith::MulFOp::create(b, loc, args.back(), scale);
    if (op.getSoftcap()) {
      Value cap =
          floatConstant(b, loc, type, op.getSoftcap()->convertToDouble());
      s = arith::DivFOp::create(b, loc, s, cap);
      s = arith::MulFOp::create(b, loc, cap, math::TanhOp::create(b, loc, s));
    }
    Value i, j;
    if (op.readsDiagonal()) {
      i = arith::AddIOp::create(b, loc, linalg::IndexOp::create(b, loc, 0),
                                op.getRow());
      j = arith::AddIOp::create(b, loc, linalg::IndexOp::create(b, loc, 1),
                                op.getCol());
    }
    if (op.getAlibiSlope()) {
      Value distance = arith::SubIOp::create(b, loc, i, j);
      distance = arith::IndexCastOp::create(b, loc, b.getI64Type(), distance);
      distance = arith::SIToFPOp::create(b, loc, type, distance);
      distance = math::AbsFOp::create(b, loc, distance);
      Value slope = convertFloat(b, loc, op.getAlibiSlope(), type);
      s = arith::SubFOp::create(b, loc, s,
                                arith::MulFOp::create(b, loc, slope, distance));
    }
    if (bias)
      s = arith::AddFOp::create(b, loc, s, convertFloat(b, loc, bias, type));
    if (Value seen = visible(b, i, j, mask))
      s = arith::SelectOp::create(b, loc, seen, s,
                                  floatConstant(b, loc, type, -INFINITY));
    return {s};
  };
  return emit.generic(inputs, {products}, maps, {kParallel, kParallel},
                      body)[0];
}

void OnlineDecomposer::run() {
  Value s = scores(products());
  AffineMap row = emit.map(1, {0}), rowOf2 = emit.map(2, {0}),
            both = emit.map(2, {0, 1});

  // m' = max(m, max_j s), alpha = exp(m - m').
  Value tileMax = emit.fill(emit.temporary({rows}, type), -INFINITY);
  tileMax =
      emit.generic({s}, {tileMax}, {both, rowOf2}, {kParallel, kReduction},
                   [&](OpBuilder &b, ValueRange args) {
                     return SmallVector<Value>{
                         arith::MaximumFOp::create(b, loc, args[0], args[1])};
                   })[0];
  auto maxAndAlpha = emit.generic(
      {tileMax}, {op.getMax(), emit.temporary({rows}, type)}, {row, row, row},
      {kParallel}, [&](OpBuilder &b, ValueRange args) {
        Value max = arith::MaximumFOp::create(b, loc, args[0], args[1]);
        Value drop = arith::SubFOp::create(b, loc, args[1],
                                           finiteReference(b, loc, max));
        return SmallVector<Value>{max, math::ExpOp::create(b, loc, drop)};
      });
  Value max = maxAndAlpha[0], alpha = maxAndAlpha[1];

  // p = exp(s - m'): the difference first, so that the largest p is exactly 1.
  Value p = emit.generic(
      {s, max}, {emit.temporary({rows, keys}, type)}, {both, rowOf2, both},
      {kParallel, kParallel}, [&](OpBuilder &b, ValueRange args) {
        Value drop = arith::SubFOp::create(b, loc, args[0],
                                           finiteReference(b, loc, args[1]));
        return SmallVector<Value>{math::ExpOp::create(b, loc, drop)};
      })[0];

  // l' = alpha * l + sum_j p.
  auto scaleBy = [&](Value target, AffineMap targetMap, AffineMap alphaMap) {
    SmallVector<utils::IteratorType> iterators(targetMap.getNumDims(),
                                               kParallel);
    return emit.generic({alpha}, {target}, {alphaMap, targetMap}, iterators,
                        [&](OpBuilder &b, ValueRange args) {
                          return SmallVector<Value>{
                              arith::MulFOp::create(b, loc, args[1], args[0])};
                        })[0];
  };
  Value sum = scaleBy(op.getSum(), row, row);
  sum = emit.generic({p}, {sum}, {both, rowOf2}, {kParallel, kReduction},
                     [&](OpBuilder &b, ValueRange args) {
                       return SmallVector<Value>{arith::AddFOp::create(
                           b, loc, args[1], args[0], kSum)};
                     })[0];

  // acc' = alpha * acc + p V.
  Value value = op.getValue();
  if (cast<ShapedType>(value.getType()).getElementType() != type)
    value = emit.convert(value, emit.temporary({keys, valueDim}, type), both);
  Value acc = scaleBy(op.getAcc(), both, rowOf2);
  acc = matmul(p, value, acc, hidesKeys() ? s : Value());
  emit.replace(op, {acc, max, sum});
}

namespace {
struct DecomposeOnlineAttention : OpRewritePattern<OnlineAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OnlineAttentionOp op,
                                PatternRewriter &rewriter) const override {
    OnlineDecomposer(rewriter, op).run();
    return success();
  }
};
} // namespace

void attn::populateDecomposeOnlinePatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeOnlineAttention>(patterns.getContext());
}
