//===- ForwardSoftcap.cpp - c tanh(s / c) ---------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tanh(y) = 1 - 2 / (1 + exp(2 y)) holds for all y and saturates by itself, but
// takes two transcendentals. Where softcap is alone, scores stay products until
// they become exponents, and a tile none of whose scores is far from 0 takes a
// short polynomial instead (TanhSeries.h).
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"
#include "attn/Conversion/TanhSeries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

bool ForwardKernel::hasCapUnits() {
  return op.getSoftcap() && !op.getBias() && !op.getAlibiSlopes() &&
         !isExactCap() && !capsInExponent();
}

bool ForwardKernel::isExactCap() {
  return c.kind == ElementKind::F32 || op.getSoftcap()->convertToDouble() > 64;
}

bool mlir::attn::softcapIsInExponent(AttentionOp op) {
  if (!op.getSoftcap() || op.getBias() || op.getAlibiSlopes() || op.getMask())
    return false;
  if (op.getScaleValue())
    return true;
  double scale = std::fabs(getScale(op));
  return TanhSeries::fits(scale, scale / op.getSoftcap()->convertToDouble());
}

void ForwardKernel::addCapSteps(Values &x, ElementSteps &steps) {
  double cap = op.getSoftcap()->convertToDouble();
  // Finite, so that a product of 0 is a score of 0.
  Value rate = b.createOrFold<arith::MinNumFOp>(
      b.createOrFold<arith::MulFOp>(scoreScale, b.cf(2 * log2e / cap)),
      b.cf(FLT_MAX));
  // Cheap instructions between the transcendentals, and none right in front of
  // its reader.
  auto add = [&](size_t behind, auto emit) {
    steps.push_back({behind, [&x, emit](size_t i) { x[i] = emit(x[i]); }});
  };
  add(0, [this, rate](Value y) -> Value {
    return arith::MulFOp::create(b, y, rate);
  });
  add(1, [this](Value y) { return b.exp2(y); });
  add(3, [this](Value y) -> Value {
    return arith::NegFOp::create(b, arith::AddFOp::create(b, y, b.cf(1)));
  });
  add(4, [this](Value y) -> Value {
    return ROCDL::ROCDLRcp::create(b, b.f32, y);
  });
}

Values ForwardKernel::softcap(ArrayRef<Value> products) {
  // This is off by some 2e-7 of the cap, which a small score with a large cap
  // cannot afford: that takes the series of tanh up to y^9 below 0.35.
  double cap = op.getSoftcap()->convertToDouble();
  if (capsInExponent())
    cap *= log2e;
  Values x(products);
  ElementSteps steps;
  addCapSteps(x, steps);
  if (!hasCapUnits())
    steps.push_back({6, [&](size_t i) {
                       x[i] = b.fma(x[i], b.cf(2 * cap), b.cf(cap));
                       if (isExactCap())
                         x[i] = refineCap(products[i], x[i]);
                     }});
  for (size_t i = 0; i < x.size() + 6; ++i)
    runSteps(steps, i, x.size());
  return x;
}

Value ForwardKernel::refineCap(Value product, Value capped) {
  double cap = op.getSoftcap()->convertToDouble();
  Value s = arith::MulFOp::create(b, product, scoreScale);
  Value y = arith::MulFOp::create(b, s, b.cf(1 / cap));
  if (capsInExponent())
    s = arith::MulFOp::create(b, s, b.cf(log2e));
  Value y2 = arith::MulFOp::create(b, y, y);
  Value series = b.cf(62.0 / 2835);
  for (double k : {-17.0 / 315, 2.0 / 15, -1.0 / 3, 1.0})
    series = b.fma(series, y2, b.cf(k));
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, y2,
                                        b.cf(0.35 * 0.35));
  return arith::SelectOp::create(b, isSmall,
                                 arith::MulFOp::create(b, s, series), capped);
}

void ForwardKernel::readSeries() {
  double cap = op.getSoftcap()->convertToDouble();
  if (!op.getScaleValue()) {
    double scale = std::fabs(getScale(op)), rate = scale / cap;
    series = {b.cf(TanhSeries::offset / (rate * rate)),
              b.cf(TanhSeries::rest / std::pow(rate, 4)),
              b.cf(TanhSeries::factor * std::pow(rate, 4) * scale * log2e),
              b.cf(TanhSeries::range / rate)};
    return;
  }
  auto mul = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(b, x, y);
  };
  Value rate = mul(scoreScale, b.cf(1 / cap));
  // 1 / rate, to the last bit or so.
  Value inverse = ROCDL::ROCDLRcp::create(b, b.f32, rate);
  Value off = b.fma(mul(rate, b.cf(-1)), inverse, b.cf(1));
  inverse = b.fma(inverse, off, inverse);
  Value inverse2 = mul(inverse, inverse), rate2 = mul(rate, rate);
  // Beyond what the coefficients can represent, no score is within reach.
  auto within = [&](Value x, double low, double high) -> Value {
    return arith::AndIOp::create(
        b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, b.cf(low)),
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, x, b.cf(high)));
  };
  Value fits = arith::AndIOp::create(
      b, within(rate, TanhSeries::minRate, TanhSeries::maxRate),
      within(scoreScale, TanhSeries::minScale, TanhSeries::maxScale));
  Value reach = arith::SelectOp::create(
      b, fits, mul(inverse, b.cf(TanhSeries::range)), b.cf(-1));
  for (Value x : {mul(inverse2, b.cf(TanhSeries::offset)),
                  mul(mul(inverse2, inverse2), b.cf(TanhSeries::rest)),
                  mul(mul(rate2, rate2),
                      mul(scoreScale, b.cf(TanhSeries::factor * log2e))),
                  reach})
    series.push_back(arith::BitcastOp::create(
        b, b.f32, b.uniform(arith::BitcastOp::create(b, b.i32, x))));
}

Value ForwardKernel::findBeyond(ArrayRef<Value> products) {
  if (!capsInExponent())
    return {};
  // Where the vector port is what bounds the loop, the other wave's dot cluster
  // would leave this no slot.
  bool isBound = !c.chip->packedF32Hides;
  if (isBound)
    b.setPriority(3);
  else
    b.schedBarrier();
  Value top = math::AbsFOp::create(b, products.front());
  for (Value s : products.drop_front())
    top = b.fmax(top, math::AbsFOp::create(b, s)); // pairs are one v_max3
  Value beyond =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, top, series[3]);
  beyond = b.pinScalar(ROCDL::BallotOp::create(b, b.getI64Type(), beyond));
  if (isBound)
    b.setPriority(0);
  else
    b.schedBarrier();
  return beyond;
}

size_t ForwardKernel::addExactExponents(Values &x, ArrayRef<Value> products,
                                        Value nm, ElementSteps &steps) {
  double cap = op.getSoftcap()->convertToDouble() * log2e;
  addCapSteps(x, steps);
  Value up = arith::AddFOp::create(b, nm, b.cf(cap));
  steps.push_back({6, [this, &x, products, nm, up, cap](size_t i) {
                     if (!isExactCap()) {
                       x[i] = b.fma(x[i], b.cf(2 * cap), up);
                       return;
                     }
                     x[i] = b.fma(x[i], b.cf(2 * cap), b.cf(cap));
                     x[i] = refineCap(products[i], x[i]);
                     x[i] = arith::AddFOp::create(b, x[i], nm);
                   }});
  return 7;
}

size_t ForwardKernel::addSeriesExponents(Values &x, ArrayRef<Value> products,
                                         Value nm, ElementSteps &steps) {
  // Where packed f32 does not hide behind MFMAs, half of the pairs are two
  // elements: those first, as their exponentials are what hides next.
  size_t pairs = products.size() / 2;
  size_t single = c.chip->packedF32Hides ? 0 : pairs / 2;
  // x = s k ((s^2 + a)^2 + b) - m, of all of `s` in turn.
  auto exponents = [this](ArrayRef<Value> s, function_ref<Value(Value)> all,
                          Value minusM) {
    Value a = all(series[0]), rest = all(series[1]), k = all(series[2]);
    Values y;
    for (Value s : s)
      y.push_back(b.fma(s, s, a));
    for (Value &y : y)
      y = b.fma(y, y, rest);
    for (Value &y : y)
      y = arith::MulFOp::create(b, y, k);
    for (auto [y, s] : llvm::zip(y, s))
      y = b.fma(y, s, minusM);
    return y;
  };
  auto type = VectorType::get(2, b.f32);
  auto splat = [this, type](Value x) -> Value {
    return vector::BroadcastOp::create(b, type, x);
  };
  Value minusM = splat(nm);
  auto emit = [=, this, &x](size_t i) {
    if (i % 2 == 0)
      return;
    size_t pair = i / 2;
    if (pair < single) {
      Values y =
          exponents(products.slice(i - 1, 2), [](Value x) { return x; }, nm);
      llvm::copy(y, x.begin() + (i - 1));
      return;
    }
    // Two pairs in turn: LLVM puts an s_nop between a packed instruction and
    // its reader.
    size_t first = pair - (pair - single) % 2;
    if (first == pair && pair + 1 < pairs)
      return;
    Values s;
    for (size_t j = first; j <= pair; ++j)
      s.push_back(
          vector::FromElementsOp::create(b, type, products.slice(2 * j, 2)));
    Values y = exponents(s, splat, minusM);
    for (size_t j = first; j <= pair; ++j)
      for (size_t half : {0, 1})
        x[2 * j + half] = b.element(y[j - first], half);
  };
  steps.push_back({0, emit});
  return 4;
}
