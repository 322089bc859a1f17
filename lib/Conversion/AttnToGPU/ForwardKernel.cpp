//===- ForwardKernel.cpp - What all programs share ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cfloat>

using namespace mlir;
using namespace mlir::attn;

void ForwardKernel::multiplyK(ArrayRef<Values> fragments, int64_t begin,
                              Values &acc) {
  for (auto [i, step] : llvm::enumerate(fragments))
    for (auto [block, a] : llvm::enumerate(step))
      acc[block] = b.multiply(a, queries[begin + i], acc[block]);
}

Values ForwardKernel::readScores(ArrayRef<Value> acc) {
  Values scores;
  for (Value vector : acc)
    for (int64_t i = 0; i < 16; ++i)
      scores.push_back(b.element(vector, i));
  return scores;
}

SmallVector<Values> ForwardKernel::readAllV(Value lds) {
  SmallVector<Values> raw;
  for (int64_t step = 0; step < c.tileKV / (2 * c.getFragment()); ++step)
    raw.push_back(b.readV(lds, step));
  return raw;
}

Values ForwardKernel::multiplyV(ArrayRef<Values> raw, ArrayRef<Value> p,
                                ArrayRef<Value> acc) {
  Values result(acc);
  for (auto [step, keys] : llvm::enumerate(raw))
    for (auto [block, a] : llvm::enumerate(b.finishV(keys)))
      result[block] = b.multiply(a, p[step], result[block]);
  return result;
}

State ForwardKernel::initialState() {
  State state;
  // A first score meets a maximum of -FLT_MAX: it overflows and votes. Hidden
  // ones give exp2(-inf) = 0 without a special case.
  state.nm = b.cf(FLT_MAX);
  state.sum = b.cf(0);
  state.acc.assign(c.blocksV, b.zeroAcc());
  return state;
}

Values ForwardKernel::flatten(const State &state) {
  Values values = {state.nm, state.sum};
  if (c.earlyExps)
    values.push_back(state.earlySum);
  llvm::append_range(values, state.acc);
  llvm::append_range(values, state.scores);
  llvm::append_range(values, state.packed);
  if (state.beyond)
    values.push_back(state.beyond);
  llvm::append_range(values, state.pages);
  return values;
}

State ForwardKernel::unflatten(ValueRange values) {
  State state;
  auto next = values.begin();
  state.nm = *next++;
  state.sum = *next++;
  if (c.earlyExps)
    state.earlySum = *next++;
  for (int64_t i = 0; i < c.blocksV; ++i)
    state.acc.push_back(*next++);
  if (c.pipelined)
    for (int64_t i = 0; i < c.getWaveKeys() / 2; ++i)
      state.scores.push_back(*next++);
  int64_t early = c.earlyExps / (capsInExponent() ? c.getFragment() : 2);
  state.packed.assign(next, next + early);
  next += early;
  if (capsInExponent())
    state.beyond = *next++;
  state.pages.assign(next, values.end());
  return state;
}

Value ForwardKernel::addBuffer(int64_t elements, Type type) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  unsigned index = func.getNumWorkgroupAttributions();
  Value buffer = func.addWorkgroupAttribution(
      MemRefType::get({elements}, type, nullptr, space), b.getLoc());
  func.setWorkgroupAttributionAttr(index, "llvm.align",
                                   b.getI64IntegerAttr(16));
  return buffer;
}

void ForwardKernel::build() {
  for (bool isV : {false, true})
    for (int i = 0; i < (c.pipelined ? 2 : 1); ++i)
      addBuffer((c.groupsKV - 1) * c.getGroupStride(isV) +
                    c.getTileElements(isV),
                b.elementType);
  if (c.exchangesP)
    addBuffer(c.getExchangeElements(), b.elementType);
  readProblem();
  auto run = [&] { return c.pipelined ? runPipelined() : runPlain(); };
  auto finish = [&](const State &state) {
    epilogue(c.groupsKV > 1 ? mergeGroups(state) : state);
  };
  if (!pageSize)
    return finish(run());
  // Without keys there may be no page to look up.
  auto keep = [&](const State &state) {
    Values values = {state.nm, state.sum};
    llvm::append_range(values, state.acc);
    return values;
  };
  Value any =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tiles, b.c32(0));
  Values values = b.branch(
      any, keep(initialState()), [&] { return keep(run()); }, /*likely=*/true);
  State state;
  state.nm = values[0];
  state.sum = values[1];
  state.acc.assign(values.begin() + 2, values.end());
  finish(state);
}

void mlir::attn::buildForwardKernel(gpu::GPUFuncOp func,
                                    const KernelConfig &config,
                                    AttentionOp op) {
  ForwardKernel(func, config, op).build();
}
