//===- ForwardSoftmax.cpp - Online softmax of a tile ----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

Value mlir::attn::isNotZero(WaveBuilder &b, Value mask) {
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne, mask,
      arith::ConstantIntOp::create(b, b.getI64Type(), 0));
}

/// Maxima from 2^farLog2 on are far.
static constexpr int farLog2 = 21;

Value ForwardKernel::isFar(Value nm) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OGE,
                               math::AbsFOp::create(b, nm),
                               b.cf(std::ldexp(1.0, farLog2)));
}

Frame ForwardKernel::frame(Value nm, bool isRepair) {
  if (!hasNaturalMaximum())
    return {Value(), nm};
  if (!hasGuardedMaximum())
    return {nm, Value()};
  if (isRepair) {
    Value far = isFar(nm), zero = b.cf(0);
    return {arith::SelectOp::create(b, far, nm, zero),
            arith::SelectOp::create(b, far, zero, toLog2(nm))};
  }
  // NaN where it is far, without a comparison, whose result comes late.
  Value large =
      arith::MulFOp::create(b, nm, b.cf(std::ldexp(1.0, 128 - farLog2)));
  Value small =
      arith::MulFOp::create(b, scale, b.cf(std::ldexp(1.0, farLog2 - 128)));
  return {Value(),
          b.fma(large, small, arith::MulFOp::create(b, large, b.cf(0)))};
}

Value ForwardKernel::exponent(Value score, Frame frame) {
  if (frame.natural)
    score = arith::AddFOp::create(b, score, frame.natural);
  if (frame.log2)
    return b.fma(score, scale, frame.log2);
  return arith::MulFOp::create(b, score, scale);
}

Value ForwardKernel::toLog2(Value m) {
  if (!hasNaturalMaximum())
    return m;
  return arith::MulFOp::create(b, m, scale);
}

Value ForwardKernel::rescale(Value nm, Value old) {
  Value difference = toLog2(arith::SubFOp::create(b, nm, old));
  if (hasGuardedMaximum()) // as they were rounded
    difference = arith::SelectOp::create(
        b, arith::OrIOp::create(b, isFar(nm), isFar(old)), difference,
        arith::SubFOp::create(b, toLog2(nm), toLog2(old)));
  return b.exp2(difference);
}

std::pair<Values, Value> ForwardKernel::exponentials(ArrayRef<Value> scores,
                                                     Value nm, Value sum,
                                                     Cap cap, bool isRepair) {
  // An exponential's reader right behind it would wait, and so would an
  // exponential right behind its fma.
  constexpr size_t lag = 2;
  Values x(scores), p, packed;
  ElementSteps steps;
  size_t lead = 1;
  switch (cap) {
  case Cap::None: {
    Frame frame = this->frame(nm, isRepair);
    steps.push_back(
        {0, [this, &x, frame](size_t i) { x[i] = exponent(x[i], frame); }});
    break;
  }
  case Cap::Exact:
    lead = addExactExponents(x, scores, nm, steps);
    break;
  case Cap::Series:
    lead = addSeriesExponents(x, scores, nm, steps);
    break;
  }
  size_t done = 0, n = scores.size();
  for (size_t i = 0; i < n + lead + lag; ++i) {
    runSteps(steps, i, n);
    if (i >= lead && i < n + lead)
      p.push_back(b.exp2(x[i - lead]));
    if (done + 2 + lead + lag <= i + 1) {
      llvm::append_range(packed, b.pack(p[done], p[done + 1]));
      for (size_t j : {done, done + 1})
        sum = sum ? arith::AddFOp::create(b, sum, p[j]).getResult() : p[j];
      done += 2;
    }
  }
  assert(done == n && "an even number of scores");
  return {packed, sum};
}

Values ForwardKernel::fragments(ArrayRef<Value> packed) {
  Values result;
  for (size_t i = 0; i < packed.size(); i += 4)
    result.push_back(b.fragment(ValueRange(packed).slice(i, 4)));
  return result;
}

Probabilities ForwardKernel::finish(const State &state, Cap cap) {
  ArrayRef<Value> rest = ArrayRef(state.scores).drop_front(c.earlyExps);
  auto [packed, tileSum] = exponentials(rest, state.nm, state.earlySum, cap);
  // Under a maximum that is far the sum is NaN.
  auto predicate = hasGuardedMaximum() ? arith::CmpFPredicate::UGT
                                       : arith::CmpFPredicate::OGT;
  Value over = arith::CmpFOp::create(b, predicate, tileSum,
                                     b.cf(std::ldexp(1.0, c.voteLog2)));
  Probabilities result;
  if (capsInExponent()) {
    result.fragments = state.packed;
    llvm::append_range(result.fragments, fragments(packed));
  } else {
    Values all(state.packed);
    llvm::append_range(all, packed);
    result.fragments = fragments(all);
  }
  result.sum = arith::AddFOp::create(b, state.sum, tileSum);
  result.vote = ROCDL::BallotOp::create(b, b.getI64Type(), over);
  return result;
}

Value ForwardKernel::raise(Value nm, ArrayRef<Value> scores) {
  Value top = scores.front();
  for (Value s : scores.drop_front())
    top = b.fmax(top, s);
  top = b.joinHalves(top, [&](Value x, Value y) { return b.fmax(x, y); });
  // -m of the tile in the state's units.
  Value minus =
      hasNaturalMaximum()
          ? arith::NegFOp::create(b, top).getResult()
          : arith::MulFOp::create(b, top, arith::NegFOp::create(b, scale));
  return arith::MinNumFOp::create(b, nm, minus);
}

Value ForwardKernel::needsRepair(const Probabilities &p, Value tile) {
  Value voted = isNotZero(b, p.vote);
  if (!visible.hasMask || !masksLate())
    return voted;
  return arith::OrIOp::create(b, voted, needsMask(tile));
}

void ForwardKernel::adoptRaised(State &state, Value &sum, Values &fragments,
                                Value condition,
                                function_ref<Raised()> raised) {
  Values before = {state.nm, sum};
  llvm::append_range(before, fragments);
  llvm::append_range(before, state.acc);
  Values after = b.branch(condition, before, [&]() -> Values {
    Raised r = raised();
    Values result = {r.nm, r.sum};
    llvm::append_range(result, r.fragments);
    Value splat = vector::BroadcastOp::create(b, b.accType, r.factor);
    for (Value acc : state.acc)
      result.push_back(arith::MulFOp::create(b, acc, splat));
    return result;
  });
  state.nm = after[0];
  sum = after[1];
  auto rest = ArrayRef(after).drop_front(2);
  llvm::copy(rest.take_front(fragments.size()), fragments.begin());
  llvm::copy(rest.drop_front(fragments.size()), state.acc.begin());
}

void ForwardKernel::repair(State &state, Probabilities &p, Value tile,
                           Value condition) {
  adoptRaised(state, p.sum, p.fragments, condition, [&]() -> Raised {
    // Pinned: LLVM would take what a dot cluster may have computed, and keep it
    // for here.
    Values scores =
        capsInExponent() ? softcap(b.pin(state.scores)) : state.scores;
    if (visible.hasMask && masksLate())
      scores = select(scores, tile);
    Value nm = raise(state.nm, scores);
    Value factor = rescale(nm, state.nm);
    auto [packed, tileSum] =
        exponentials(scores, nm, Value(), Cap::None, /*isRepair=*/true);
    Value sum = b.fma(state.sum, factor, tileSum);
    return {nm, sum, fragments(packed), factor};
  });
}
