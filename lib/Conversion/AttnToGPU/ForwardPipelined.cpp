//===- ForwardPipelined.cpp - The pipelined program -----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernelImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

void ForwardKernel::extraBarrier(Value condition) {
  b.branch(
      condition, {},
      [&]() -> Values {
        b.schedBarrier();
        ROCDL::SBarrierOp::create(b);
        return {};
      },
      /*likely=*/true);
}

SmallVector<Operation *>
ForwardKernel::record(llvm::function_ref<void()> emit) {
  Block *block = b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  emit();
  SmallVector<Operation *> ops;
  for (Operation *op = before ? before->getNextNode() : &block->front(); op;
       op = op->getNextNode())
    ops.push_back(op);
  return ops;
}

Values ForwardKernel::inArms(Value beyond, Values used, ArrayRef<Type> results,
                             llvm::function_ref<Values(Cap, Values)> emit) {
  if (!capsInExponent())
    return emit(Cap::None, used);
  // LLVM would make an if without an else of each arm of an if, one after the
  // other, and keep what the second one needs in registers beside what the
  // first one makes. So that is what this builds: a value that an arm uses up
  // passes through the arm before, and its slot is free for what that makes.
  Values slots = used;
  SmallVector<size_t> slotOf;
  for (Type type : results) {
    size_t slot = 0;
    while (slot < slots.size() &&
           (slots[slot].getType() != type || llvm::is_contained(slotOf, slot)))
      ++slot;
    if (slot == slots.size())
      slots.push_back(b.undefined(type));
    slotOf.push_back(slot);
  }
  auto arm = [&](Cap cap) {
    Values made = emit(cap, Values(ArrayRef(slots).take_front(used.size())));
    Values after(slots.size());
    for (auto [slot, value] : llvm::zip(slotOf, made))
      after[slot] = value;
    for (auto [value, before] : llvm::zip(after, slots))
      if (!value)
        value = b.undefinedRegister(before.getType());
    return after;
  };
  slots =
      b.branch(isNotZero(b, beyond), slots, [&] { return arm(Cap::Exact); });
  // Pinned: else LLVM would join the two conditions.
  Value within =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.pinScalar(beyond),
                            arith::ConstantIntOp::create(b, b.getI64Type(), 0));
  slots = b.branch(
      within, slots, [&] { return arm(Cap::Series); },
      /*likely=*/true);
  Values made;
  for (size_t slot : slotOf)
    made.push_back(slots[slot]);
  return made;
}

/// Takes the first n.
static Values take(Values &values, size_t n) {
  Values part(values.begin(), values.begin() + n);
  values.erase(values.begin(), values.begin() + n);
  return part;
}

/// n each.
static SmallVector<Values> group(ArrayRef<Value> values, size_t n) {
  SmallVector<Values> groups;
  for (size_t i = 0; i < values.size(); i += n)
    groups.push_back(Values(values.slice(i, n)));
  return groups;
}

// The tile is half-way through its softmax when this starts. Four clusters,
// memory and dot in turn; the other wave group is one cluster away.
State ForwardKernel::pipelinedTile(State state, Value tile, unsigned parity) {
  unsigned other = 1 - parity;
  Value next = b.addi(tile, 1);
  int64_t inFlight =
      c.getStagingInstructions(false) + c.getStagingInstructions(true);
  auto partOfK = [&](int64_t part) { return c.stepsQK * part / c.clustersQK; };
  // This wave's reads are done, and all its DMAs but the last of K and of V.
  auto landed = [&](int64_t more = 0, int64_t reads = 0) {
    b.wait(inFlight + more, reads);
  };

  // Memory: V(t+1) on its way, K(t+1) to registers. Dot: S(t+1) = K Q^T beside
  // the rest of tile t's softmax. In parts where K does not fit.
  Values scoreReads = readScoreOperands(next);
  size_t tilePages = state.pages.size() / 2; // of those that lanes choose, few
  auto stageNextV = [&] {
    stageV(next, ArrayRef(state.pages).take_front(tilePages), other);
  };
  if (!lanesChoosePages())
    stageNextV();
  Values ahead = lookUp(b.addi(tile, 3));
  TileKeys keysAhead;
  if (lanesChoosePages())
    keysAhead = keysFrom(b.addi(tile, 3));
  auto readPart = [&](int64_t part) {
    Values fragments;
    for (int64_t step = partOfK(part); step < partOfK(part + 1); ++step)
      llvm::append_range(fragments, b.readK(lds(false, other), step));
    if (part == 0 && (lanesChoosePages() || c.stagesScores)) {
      // Addresses of lanes, or much scalar work: while K comes out of LDS.
      b.schedBarrier();
      if (lanesChoosePages())
        stageNextV();
      if (c.stagesScores)
        stageScoreOperands(next);
    }
    landed(countScoreReads());
    return fragments;
  };
  Values firstPart = readPart(0);
  ahead = limitPages(ahead);
  size_t early = state.packed.size(), accs = c.getWaveKeys() / 32,
         numP = c.getWaveKeys() / (2 * c.getFragment());
  // P first: the early fragments stay where they are.
  Values used = state.packed;
  llvm::append_range(used, firstPart);
  used.append({state.sum, state.earlySum});
  SmallVector<Type> types(numP, b.fragmentType);
  types.append({b.f32, b.getI64Type()});
  types.append(accs, b.accType);
  types.append(tilePages, b.i32);
  Values made = inArms(state.beyond, used, types, [&](Cap cap, Values in) {
    State inner = state;
    inner.packed = take(in, early);
    Values fragments = take(in, firstPart.size());
    inner.sum = take(in, 1).front();
    inner.earlySum = take(in, 1).front();
    Values acc(accs, b.zeroAcc()), pages = ahead;
    Probabilities p;
    SmallVector<Operation *> softmax;
    for (int64_t part = 0; part < c.clustersQK; ++part) {
      if (part > 0)
        fragments = readPart(part);
      b.barrier();
      multiplyK(group(fragments, accs), partOfK(part), acc);
      // The softmax is shared out over the clusters.
      if (part == 0)
        softmax = record([&] {
          if (lanesChoosePages())
            pages = choosePages(pages, keysAhead);
          p = finish(inner, cap);
        });
      size_t share = softmax.size() / c.clustersQK;
      for (Operation *op : ArrayRef(softmax).drop_front(share * part))
        op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      if (part + 1 == c.clustersQK) {
        p.fragments = b.pin(p.fragments);
        p.sum = b.pin(p.sum).front();
        p.vote = b.pinScalar(p.vote);
        if (lanesChoosePages())
          pages = b.pin(pages);
      }
      b.barrier();
    }
    Values result = p.fragments;
    result.append({p.sum, p.vote});
    llvm::append_range(result, acc);
    llvm::append_range(result, pages);
    return result;
  });
  Probabilities p;
  p.fragments = take(made, numP);
  p.sum = take(made, 1).front();
  p.vote = take(made, 1).front();
  Values acc = take(made, accs);
  ahead = made;

  // Memory: K(t+3) on its way; whatever is rare; V(t) to registers. Scores that
  // are staged come last, so there K goes while V comes out of LDS (if that
  // takes no registers).
  auto stageAhead = [&] { stageK(b.addi(tile, 3), ahead, other); };
  bool isLate = c.stagesScores && !lanesChoosePages();
  if (!isLate)
    stageAhead();
  Values scores = readScores(acc);
  Value keyDistance = distance(next);
  Value rare = needsRepair(p, tile);
  if (visible.hasMask && !masksLate())
    rare = arith::OrIOp::create(b, rare, needsMask(next));
  Values carried = {state.nm, p.sum};
  llvm::append_range(carried, p.fragments);
  llvm::append_range(carried, state.acc);
  llvm::append_range(carried, scores);
  Values now = b.branch(rare, carried, [&]() -> Values {
    State inner = state;
    Probabilities innerP = p;
    repair(inner, innerP, tile, needsRepair(p, tile));
    Values result = {inner.nm, innerP.sum};
    llvm::append_range(result, innerP.fragments);
    llvm::append_range(result, inner.acc);
    llvm::append_range(result, masksLate() ? scores : hide(scores, next));
    return result;
  });
  State result;
  result.nm = take(now, 1).front();
  result.sum = take(now, 1).front();
  Values fragments = take(now, p.fragments.size());
  Values oldAcc = take(now, state.acc.size());
  result.scores = now;
  result.pages.assign(state.pages.begin() + tilePages, state.pages.end());
  llvm::append_range(result.pages, ahead);

  // Dot: O += V^T P beside the first exponentials of tile t+1. In parts where V
  // does not fit.
  result.acc = oldAcc;
  if (c.exchangesP) {
    sendP(fragments, result.nm);
    SmallVector<Values> raw = readAllV(lds(true, parity));
    landed();
    b.barrier();
    multiplyShared(result, raw, fragments);
    b.barrier();
    return result;
  }
  int64_t quads = now.size() / 4;
  // Of wide ones there is room for a half; the other one is read beside P V.
  bool readsBeside =
      c.stagesScores && c.scores.ldsVgprs > 16 && c.earlyExps <= 2 * quads;
  int64_t firstQuads = readsBeside ? quads / 2 : quads;
  auto partOfV = [&](int64_t part) {
    return c.tileKV / (2 * c.getFragment()) * part / c.clustersPV;
  };
  auto readV = [&](int64_t part) {
    Values raw;
    for (int64_t step = partOfV(part); step < partOfV(part + 1); ++step)
      llvm::append_range(raw, b.readV(lds(true, parity), step));
    return raw;
  };
  Values firstV = readV(0);
  ScoreInputs inputs = arrangeScoreOperands(scoreReads);
  inputs.distance = keyDistance;
  int64_t reads = 0;
  if (c.stagesScores) {
    b.schedBarrier();
    if (isLate)
      stageAhead();
    b.schedBarrier();
    reads = readStagedScores(inputs, 0, firstQuads);
  }
  result.beyond = findBeyond(result.scores);
  landed(0, reads);
  used = result.acc;
  llvm::append_range(used, fragments);
  llvm::append_range(used, firstV);
  types.assign(result.acc.size(), b.accType);
  types.push_back(b.f32);
  types.append(early, b.fragmentType);
  made = inArms(result.beyond, used, types, [&](Cap cap, Values in) {
    State inner = result;
    inner.acc = take(in, result.acc.size());
    Values fragments = take(in, numP), raw = in;
    SmallVector<Operation *> softmax;
    for (int64_t part = 0; part < c.clustersPV; ++part) {
      if (part > 0) {
        raw = readV(part);
        landed();
      }
      b.barrier();
      // Those reads would queue behind all of the memory cluster beside this.
      if (readsBeside)
        b.setPriority(1);
      int64_t begin = partOfV(part), count = partOfV(part + 1) - begin;
      inner.acc = multiplyV(group(raw, raw.size() / count),
                            ArrayRef(fragments).slice(begin, count), inner.acc);
      if (part == 0)
        softmax = record([&] {
          ArrayRef<Value> products = result.scores;
          if (cap == Cap::None)
            inner.scores =
                transform(products.take_front(4 * firstQuads), inputs);
          if (readsBeside)
            readStagedScores(inputs, firstQuads, quads);
          std::tie(inner.packed, inner.earlySum) =
              exponentials(ArrayRef(inner.scores).take_front(c.earlyExps),
                           inner.nm, Value(), cap);
          if (readsBeside)
            llvm::append_range(inner.scores,
                               transform(products.drop_front(4 * firstQuads),
                                         inputs, 4 * firstQuads));
          if (cap != Cap::None)
            inner.packed = this->fragments(inner.packed);
        });
      size_t share = softmax.size() / c.clustersPV;
      for (Operation *op : ArrayRef(softmax).drop_front(share * part))
        op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      if (part + 1 == c.clustersPV) {
        if (transformsScores() && cap == Cap::None)
          inner.scores = b.pin(inner.scores);
        inner.packed = b.pin(inner.packed);
        inner.earlySum = b.pin(inner.earlySum).front();
      }
      if (readsBeside)
        b.setPriority(0);
      b.barrier();
    }
    Values made = inner.acc;
    made.push_back(inner.earlySum);
    llvm::append_range(made, inner.packed);
    if (cap == Cap::None)
      llvm::append_range(made, inner.scores);
    return made;
  });
  result.acc = take(made, result.acc.size());
  result.earlySum = take(made, 1).front();
  result.packed = take(made, early);
  if (!capsInExponent())
    result.scores = made;
  return result;
}

State ForwardKernel::runPipelined() {
  int64_t stagedV = c.getStagingInstructions(true);
  Value second = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, b.wave,
                                       b.c32(wavesPerGroup / 2));
  Values operands = readScoreOperands(b.c32(0));
  stageScoreOperands(b.c32(0));
  Values pages[3];
  for (int64_t tile = 0; tile < 3; ++tile)
    pages[tile] = findPages(b.c32(tile));
  stageK(b.c32(0), pages[0], 0);
  b.schedBarrier();
  queries = loadQ();
  b.schedBarrier();
  stageK(b.c32(1), pages[1], 1);
  stageV(b.c32(0), pages[0], 0);
  // The first K is there, and Q.
  b.wait(c.getStagingInstructions(false) + stagedV, /*lds=*/-1);
  b.barrier();
  SmallVector<Values> fragments;
  for (int64_t step = 0; step < c.stepsQK; ++step)
    fragments.push_back(b.readK(lds(false, 0), step));
  b.wait(stagedV);
  b.schedBarrier();
  // From here on waves 4..7 run one cluster behind waves 0..3.
  extraBarrier(second);
  Values acc(c.getWaveKeys() / 32, b.zeroAcc());
  multiplyK(fragments, 0, acc);
  State state = initialState();
  ScoreInputs inputs = arrangeScoreOperands(operands);
  readStagedScores(inputs, 0, c.getWaveKeys() / 8);
  state.scores = scoresOf(acc, b.c32(0), inputs);
  b.barrier();
  stageK(b.c32(2), pages[2], 0);
  // The first tile's maximum is as good as the rare branch would make it, but
  // not while hidden keys take part.
  if (!visible.hasMask || !masksLate())
    state.nm = raise(state.nm, state.scores);
  if (c.earlyExps)
    std::tie(state.packed, state.earlySum) = exponentials(
        ArrayRef(state.scores).take_front(c.earlyExps), state.nm, Value());
  if (capsInExponent()) {
    state.packed = this->fragments(state.packed);
    state.scores = readScores(acc);
    state.beyond = findBeyond(state.scores);
  }
  state.pages = pages[1];
  llvm::append_range(state.pages, pages[2]);

  auto loop = scf::ForOp::create(b, firstTile(), b.addi(tiles, -1), b.c32(2),
                                 flatten(state));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar();
    State inner = unflatten(loop.getRegionIterArgs());
    inner = pipelinedTile(inner, tile, 0);
    inner = pipelinedTile(inner, b.addi(tile, 1), 1);
    scf::YieldOp::create(b, flatten(inner));
  }
  state = unflatten(loop.getResults());

  // An odd last tile, alone.
  Value odd = arith::TruncIOp::create(b, b.getI1Type(), tiles);
  Values before = {state.nm, state.sum};
  llvm::append_range(before, state.acc);
  Values after = b.branch(
      odd, before,
      [&]() -> Values {
        State last = state;
        Probabilities p =
            finish(last, capsInExponent() ? Cap::Exact : Cap::None);
        p.vote = b.pinScalar(p.vote);
        b.wait(0);
        b.barrier();
        repair(last, p, b.addi(tiles, -1), needsRepair(p, b.addi(tiles, -1)));
        if (c.exchangesP) {
          sendP(p.fragments, last.nm);
          b.wait(-1);
        }
        // Two barriers after the wait, as in the loop: half of the waves are
        // one behind.
        b.barrier();
        SmallVector<Values> raw = readAllV(lds(true, 0));
        if (c.exchangesP) {
          last.sum = p.sum;
          multiplyShared(last, raw, p.fragments);
          p.sum = last.sum;
        } else {
          last.acc = multiplyV(raw, p.fragments, last.acc);
        }
        Values result = {last.nm, p.sum};
        llvm::append_range(result, last.acc);
        return result;
      },
      /*likely=*/true);
  state.nm = after[0];
  state.sum = after[1];
  state.acc.assign(after.begin() + 2, after.end());

  Value first = arith::XOrIOp::create(
      b, second, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
  // LLVM 22 takes the distance from an MFMA to a reader of its result along one
  // path only: around or through the barrier, which is one wait state longer.
  // After 12 there is nothing left to count (32x32x16, gfx950).
  b.schedBarrier();
  ROCDL::SNopOp::create(b, 11);
  extraBarrier(first);
  b.wait(0); // no DMA may outlive the workgroup's LDS
  return state;
}
