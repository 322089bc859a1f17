//===- ForwardPlain.cpp - The plain program -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

State ForwardKernel::runPlain() {
  queries = loadQ();
  auto loop =
      scf::ForOp::create(b, b.c32(0), tiles, b.c32(1), flatten(initialState()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  State state = unflatten(loop.getRegionIterArgs());

  b.barrier(); // everyone is done with the tile before
  Values pages = findPages(tile);
  stageK(tile, pages, 0);
  stageV(tile, pages, 0);
  Values operands = readScoreOperands(tile);
  b.wait(0);
  b.barrier();
  Values acc(c.tileKV / 32, b.zeroAcc());
  for (int64_t step = 0; step < c.stepsQK; ++step)
    multiplyK({b.readK(lds(false, 0), step)}, step, acc);
  state.scores = scoresOf(acc, tile, arrangeScoreOperands(operands));
  Probabilities p = finish(state);
  repair(state, p, tile, isNotZero(b, b.pinScalar(p.vote)));
  for (int64_t step = 0; step < c.tileKV / (2 * c.getFragment()); ++step) {
    Values columns = b.finishV(b.readV(lds(true, 0), step));
    for (auto [block, a] : llvm::enumerate(columns))
      state.acc[block] = b.multiply(a, p.fragments[step], state.acc[block]);
  }
  state.sum = p.sum;
  state.scores.clear();
  scf::YieldOp::create(b, flatten(state));
  return unflatten(loop.getResults());
}
