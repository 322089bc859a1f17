//===- ForwardExchange.cpp - Two waves that share rows hand over P --------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of the two waves has the scores of half of a tile's keys and half of the
// columns of V and O. P goes through LDS together with the maximum it stands
// under; a wave that gets a greater one than its own adopts it, so that after
// every tile both are in one frame. Sums stay apart until the end.
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

Value ForwardKernel::exchangeOffset(const LinearLayout &layout,
                                    ArrayRef<LinearLayout::Coord> at,
                                    bool ofOther) {
  if (!ofOther)
    return b.toIndex(b.locateValue(layout, "offset", {"lane", "wave"}, at));
  // The other wave is w ^ 2, that is, w + 2 - 4 * share.
  int64_t two = layout.apply({{"wave", 2}})[0];
  LinearLayout other = layout;
  other.add("share", {{-2 * two}});
  auto [variable, constant] =
      b.locate(other, "offset", {"lane", "wave", "share"}, at);
  return b.toIndex(b.addi(variable, constant + two));
}

Value ForwardKernel::maximumOffset(bool ofOther) {
  return arith::AddIOp::create(
      b, exchangeOffset(c.getMaximumLayout(), {}, ofOther),
      b.toIndex(b.c32(c.getMaximumOffset())));
}

void ForwardKernel::writeMaximum(Value x) {
  auto type = VectorType::get(4 / c.getElementBytes(), b.elementType);
  Value one = vector::FromElementsOp::create(b, VectorType::get(1, b.f32), x);
  vector::StoreOp::create(b, vector::BitCastOp::create(b, type, one),
                          exchangeBuffer(), ValueRange{maximumOffset(false)},
                          /*nontemporal=*/false, llvm::Align(4));
}

Value ForwardKernel::readMaximum() {
  auto type = VectorType::get(4 / c.getElementBytes(), b.elementType);
  Value bits = vector::LoadOp::create(b, type, exchangeBuffer(),
                                      ValueRange{maximumOffset(true)},
                                      /*nontemporal=*/false, llvm::Align(4));
  return b.element(
      vector::BitCastOp::create(b, VectorType::get(1, b.f32), bits), 0);
}

void ForwardKernel::sendP(ArrayRef<Value> fragments, Value nm) {
  for (auto [step, fragment] : llvm::enumerate(fragments))
    vector::StoreOp::create(b, fragment, exchangeBuffer(),
                            ValueRange{exchangeOffset(c.getExchangeLayout(),
                                                      {{"step", step}}, false)},
                            /*nontemporal=*/false, llvm::Align(16));
  writeMaximum(nm);
}

std::pair<Values, Value> ForwardKernel::receiveP() {
  Values fragments;
  for (int64_t step = 0; step < c.getWaveKeys() / (2 * c.getFragment()); ++step)
    fragments.push_back(vector::LoadOp::create(
        b, b.fragmentType, exchangeBuffer(),
        ValueRange{
            exchangeOffset(c.getExchangeLayout(), {{"step", step}}, true)},
        /*nontemporal=*/false, llvm::Align(16)));
  return {fragments, readMaximum()};
}

void ForwardKernel::multiplyShared(State &state, ArrayRef<Values> raw,
                                   ArrayRef<Value> own) {
  Values fragments;
  Value otherNm;
  std::tie(fragments, otherNm) = receiveP();
  b.schedBarrier();
  state.acc = multiplyV(raw.take_front(own.size()), own, state.acc);
  // Not before the other wave's data are needed.
  otherNm = b.pin(otherNm).front();
  auto bits = [&](Value x) {
    return arith::BitcastOp::create(b, b.i32, x).getResult();
  };
  Value differs = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                        bits(state.nm), bits(otherNm));
  Value rare =
      isNotZero(b, ROCDL::BallotOp::create(b, b.getI64Type(), differs));
  adoptRaised(state, state.sum, fragments, rare, [&]() -> Raised {
    Value nm = arith::MinNumFOp::create(b, state.nm, otherNm);
    Value mine = rescale(nm, state.nm), others = rescale(nm, otherNm);
    Value sum = arith::MulFOp::create(b, state.sum, mine);
    Values result;
    for (Value fragment : fragments) {
      Values packed, scaled;
      for (int64_t i = 0; i < c.getFragment(); ++i)
        scaled.push_back(arith::MulFOp::create(
            b, arith::ExtFOp::create(b, b.f32, b.element(fragment, i)),
            others));
      for (size_t i = 0; i < scaled.size(); i += 2)
        llvm::append_range(packed, b.pack(scaled[i], scaled[i + 1]));
      result.push_back(b.fragment(packed));
    }
    return {nm, sum, result, mine};
  });
  state.acc = multiplyV(raw.drop_front(own.size()), fragments, state.acc);
}

Value ForwardKernel::addShares(Value x) {
  b.barrier(); // the last P has been read
  writeMaximum(x);
  b.wait(-1);
  b.barrier();
  return arith::AddFOp::create(b, x, readMaximum());
}
