//===- ForwardKernel.cpp ------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
#include "WaveBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <cfloat>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

namespace {

/// What a row keeps between tiles; lanes of one row hold half a row each.
struct State {
  Value nm;       ///< f32, minus the maximum (`exponent` tells its units)
  Values scores;  ///< f32, the tile's unscaled scores (pipelined)
  Values packed;  ///< P of the early exponentials (pipelined)
  Value earlySum; ///< f32, their sum (pipelined)
  Value sum;      ///< f32, l of the tiles before
  Values acc;     ///< O, one accumulator a block
};

/// P of a tile and what came out of summing it.
struct Probabilities {
  Values fragments;
  Value sum;  ///< f32, l including this tile
  Value vote; ///< i64, lanes whose half-row wants a higher maximum
};

class ForwardKernel {
public:
  ForwardKernel(gpu::GPUFuncOp func, const KernelConfig &config,
                const ForwardProblem &problem)
      : func(func), c(config), problem(problem), b(func, config) {}

  void build();

private:
  // Set-up.
  void readProblem();
  Value dim(Value memref, unsigned index);
  GlobalMatrix matrix(Value memref, Value head, Value rows, int64_t columns);
  Value lds(bool isV, unsigned parity) {
    return func
        .getWorkgroupAttributions()[c.pipelined ? 2 * isV + parity : isV];
  }
  Values loadQ();

  // Pieces of a tile.
  void stageK(Value tile, unsigned parity) {
    b.stage(k, b.muli(tile, c.tileKV), lds(false, parity), false);
  }
  void stageV(Value tile, unsigned parity) {
    b.stage(v, b.muli(tile, c.tileKV), lds(true, parity), true);
  }
  /// Adds steps begin..end-1 of K Q^T, fragments as `readK` gave them.
  void multiplyK(ArrayRef<Values> fragments, int64_t begin, Values &acc);
  Values readScores(ArrayRef<Value> acc);
  SmallVector<Values> readAllV(Value lds);
  Values multiplyV(ArrayRef<Values> raw, ArrayRef<Value> p,
                   ArrayRef<Value> acc);
  /// c s - m. In 16 bits one fma, m in scaled log2 units; P is rounded harder
  /// than that anyway. In f32 c (s - m), m a score: exact for the maximum, and
  /// in error by the difference's last bit only, however large the scores.
  Value exponent(Value score, Value nm);
  /// A maximum, or a difference of two, in log2 units.
  Value toLog2(Value m);
  /// p = exp2(c s - m) of `scores`, packed, their sum on top of `sum` (null:
  /// 0). fmas are issued ahead of their exponential, readers behind it.
  std::pair<Values, Value> exponentials(ArrayRef<Value> scores, Value nm,
                                        Value sum);
  Values fragments(ArrayRef<Value> packed);
  /// Is the tile not whole for some row of the wave?
  Value needsMask(Value tile);
  Values select(ArrayRef<Value> scores, Value tile);
  Values mask(ArrayRef<Value> scores, Value tile);
  Probabilities finish(const State &state);
  /// If anyone voted: raise the maximum, P and its sum anew, O and l along.
  void repair(State &state, Probabilities &p, Value condition);

  // Programs.
  State initialState();
  /// 0, but not the one that LLVM has in a VGPR anyway: the loop would count
  /// there.
  Value firstTile() { return b.pinScalar(b.c32(0)); }
  Values flatten(const State &state);
  State unflatten(ValueRange values);
  State runPlain();
  State runPipelined();
  void extraBarrier(Value condition);
  /// The operations that `emit` appends to the current block.
  SmallVector<Operation *> record(llvm::function_ref<void()> emit);
  State pipelinedTile(State state, Value tile, unsigned parity);
  void epilogue(const State &state);
  void storeO(ArrayRef<Value> acc, Value inverse);

  gpu::GPUFuncOp func;
  const KernelConfig &c;
  const ForwardProblem &problem;
  WaveBuilder b;

  Value lenQ, lenKV, batch;
  GlobalMatrix q, k, v, o;
  Value lse;        ///< memref [rows]
  Value row0;       ///< i32, first row of the wave
  Value firstRow;   ///< i32, first row of the workgroup
  Value limit;      ///< i32, a lane's row sees keys below, less 4 * half
  Value wholeTiles; ///< i32, tiles that every row of the wave sees whole
  Value tiles;      ///< i32, tiles of the workgroup
  bool hasMask = true;
  Value scale; ///< f32, |scale| * log2(e), positive
  Values queries;
};

} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Value ForwardKernel::dim(Value memref, unsigned index) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(index))
    return b.c32(type.getDimSize(index));
  return arith::IndexCastOp::create(b, b.i32,
                                    memref::DimOp::create(b, memref, index));
}

GlobalMatrix ForwardKernel::matrix(Value memref, Value head, Value rows,
                                   int64_t columns) {
  auto type = cast<MemRefType>(memref.getType());
  bool headsLast = problem.layout == Layout::bshd;
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  auto index = [&](Value value) -> OpFoldResult {
    return getAsOpFoldResult(b.toIndex(value));
  };
  unsigned rowDim = headsLast ? 1 : 2;
  OpFoldResult rowCount =
      type.isDynamicDim(rowDim)
          ? index(rows)
          : OpFoldResult(b.getIndexAttr(type.getDimSize(rowDim)));
  // The verifier refuses a constant offset into no rows.
  OpFoldResult firstRow = zero;
  if (type.getDimSize(rowDim) == 0)
    firstRow = arith::ConstantIndexOp::create(b, 0).getResult();
  SmallVector<OpFoldResult> offsets = {index(batch), index(head), firstRow,
                                       zero};
  SmallVector<OpFoldResult> sizes = {one, one, rowCount,
                                     b.getIndexAttr(columns)};
  if (headsLast) {
    std::swap(offsets[1], offsets[2]);
    std::swap(sizes[1], sizes[2]);
  }
  SmallVector<OpFoldResult> strides(4, one);
  auto sliced = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(rowDim), columns}, type, offsets, sizes, strides);
  return {memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref,
                                    offsets, sizes, strides),
          columns};
}

void ForwardKernel::readProblem() {
  Value query = func.getArgument(0), key = func.getArgument(1),
        value = func.getArgument(2), output = func.getArgument(3);
  bool headsLast = problem.layout == Layout::bshd;
  unsigned rowDim = headsLast ? 1 : 2, headDim = headsLast ? 2 : 1;
  lenQ = dim(query, rowDim);
  lenKV = dim(key, rowDim);
  Value headsQ = dim(query, headDim);

  // One grid dimension, which has the widest limit: heads run fastest, so that
  // the XCDs, which take workgroups in turn, keep a head each and its K and V
  // in their L2; the heaviest tiles of all causal heads come first.
  int64_t tileQ = c.getTileQ();
  Value tilesQ = b.divide(b.addi(lenQ, tileQ - 1), b.c32(tileQ));
  Value id = arith::IndexCastOp::create(
      b, b.i32, gpu::BlockIdOp::create(b, gpu::Dimension::x));
  auto remainder = [&](Value a, Value quotient, Value divisor) {
    return b.createOrFold<arith::SubIOp>(
        a, b.createOrFold<arith::MulIOp>(quotient, divisor));
  };
  Value pairs = b.createOrFold<arith::MulIOp>(dim(query, 0), headsQ);
  Value tileIndex = b.divide(id, pairs);
  Value pair = remainder(id, tileIndex, pairs);
  batch = b.divide(pair, headsQ);
  Value head = remainder(pair, batch, headsQ);
  if (problem.causal)
    tileIndex = arith::SubIOp::create(b, b.addi(tilesQ, -1), tileIndex);
  auto group = [&](Value memref) -> Value {
    return b.divide(head, b.divide(headsQ, dim(memref, headDim)));
  };
  q = matrix(query, head, lenQ, c.headDimQK);
  k = matrix(key, group(key), lenKV, c.headDimQK);
  v = matrix(value, group(value), lenKV, c.headDimV);
  o = matrix(output, head, lenQ, c.headDimV);
  if (problem.lse) {
    Value memref = func.getArgument(4);
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<OpFoldResult> offsets = {getAsOpFoldResult(b.toIndex(batch)),
                                         getAsOpFoldResult(b.toIndex(head)),
                                         b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {
        b.getIndexAttr(1), b.getIndexAttr(1),
        type.isDynamicDim(2) ? getAsOpFoldResult(b.toIndex(lenQ))
                             : b.getIndexAttr(type.getDimSize(2))};
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    auto sliced = memref::SubViewOp::inferRankReducedResultType(
        {type.getDimSize(2)}, type, offsets, sizes, strides);
    lse = memref::SubViewOp::create(b, cast<MemRefType>(sliced), memref,
                                    offsets, sizes, strides);
  }

  firstRow = b.muli(tileIndex, tileQ);
  row0 = b.addi(firstRow, b.muli(b.rowWave, rowsPerWave));

  // Row i sees keys below min(Skv, i + 1 + off).
  Value visible = lenKV, waveVisible = lenKV, groupVisible = lenKV;
  if (problem.causal) {
    Value off = problem.alignment == DiagonalAlignment::top_left
                    ? b.c32(0)
                    : b.createOrFold<arith::SubIOp>(lenKV, lenQ);
    Value next = b.addi(off, 1);
    Value row = b.addi(row0, b.column);
    visible = b.mins(lenKV, b.addi(row, next));
    waveVisible = b.mins(lenKV, b.addi(row0, next));
    Value lastRow = b.mins(b.addi(firstRow, tileQ - 1), b.addi(lenQ, -1));
    groupVisible = b.mins(lenKV, b.addi(lastRow, next));
  }
  limit = arith::SubIOp::create(b, visible,
                                arith::ShLIOp::create(b, b.half, b.c32(2)));
  int64_t log2 = llvm::Log2_64(c.tileKV);
  wholeTiles = b.shiftRight(waveVisible, log2);
  tiles = arith::MaxSIOp::create(
      b, b.shiftRight(b.addi(groupVisible, c.tileKV - 1), log2), b.c32(0));
  APInt length;
  hasMask = problem.causal || !matchPattern(lenKV, m_ConstantInt(&length)) ||
            length.getSExtValue() % c.tileKV != 0;

  // The scale's sign goes into Q (exact), so that the scaled maximum is the
  // maximum. A scale of 0 becomes the least normal number: finite scores below
  // 1e30 keep weight 1, and a hidden key's -inf still hides it.
  double magnitude = std::fabs(problem.scale) * 1.4426950408889634;
  scale = b.cf(std::max(magnitude, double(FLT_MIN)));
  queries = loadQ();
}

Values ForwardKernel::loadQ() {
  LinearLayout layout = getOperandLayout(c.getElementBytes());
  Values result;
  int64_t fragment = c.getFragment();
  for (int64_t step = 0; step < c.stepsQK; ++step) {
    auto [col, more] = b.locate(layout, "col", {"lane"}, {{"step", step}});
    Value x = b.read(q, {row0, b.locate(layout, "row", {"lane"}, {}).first},
                     b.addi(col, more), more + fragment, fragment);
    if (problem.scale < 0)
      x = b.negate(x);
    result.push_back(x);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Pieces of a tile
//===----------------------------------------------------------------------===//

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

Value ForwardKernel::exponent(Value score, Value nm) {
  if (c.kind != ElementKind::F32)
    return b.fma(score, scale, nm);
  return arith::MulFOp::create(b, arith::AddFOp::create(b, score, nm), scale);
}

Value ForwardKernel::toLog2(Value m) {
  if (c.kind != ElementKind::F32)
    return m;
  return arith::MulFOp::create(b, m, scale);
}

std::pair<Values, Value> ForwardKernel::exponentials(ArrayRef<Value> scores,
                                                     Value nm, Value sum) {
  // An exponential's reader right behind it would wait, and so would an
  // exponential right behind its fma.
  constexpr size_t lead = 1, lag = 2;
  Values x, p, packed;
  size_t done = 0, n = scores.size();
  for (size_t i = 0; i < n + lead + lag; ++i) {
    if (i < n)
      x.push_back(exponent(scores[i], nm));
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

Value ForwardKernel::needsMask(Value tile) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tile, wholeTiles);
}

Values ForwardKernel::select(ArrayRef<Value> scores, Value tile) {
  LinearLayout layout = getAccumulatorLayout();
  // Pinned: LLVM would keep the difference in a VGPR and update it every tile.
  Value rem =
      arith::SubIOp::create(b, limit, b.muli(b.pinScalar(tile), c.tileKV));
  Value hidden = b.cf(-std::numeric_limits<float>::infinity());
  Values result;
  // Four compares, then four selects: no wait between a compare and its reader.
  for (size_t group = 0; group < scores.size(); group += 4) {
    Values sees;
    for (size_t i = group; i < group + 4; ++i) {
      int64_t key = 32 * (i / 16) + layout.apply({{"reg", int64_t(i % 16)}})[0];
      sees.push_back(
          arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rem, b.c32(key)));
    }
    b.schedBarrier();
    for (size_t i = 0; i < 4; ++i)
      result.push_back(
          arith::SelectOp::create(b, sees[i], scores[group + i], hidden));
    b.schedBarrier();
  }
  return result;
}

Values ForwardKernel::mask(ArrayRef<Value> scores, Value tile) {
  if (!hasMask)
    return Values(scores);
  return b.branch(needsMask(tile), scores,
                  [&] { return select(scores, tile); });
}

Probabilities ForwardKernel::finish(const State &state) {
  ArrayRef<Value> rest = ArrayRef(state.scores).drop_front(c.earlyExps);
  auto [packed, tileSum] = exponentials(rest, state.nm, state.earlySum);
  Value over = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, tileSum,
                                     b.cf(std::ldexp(1.0, c.voteLog2)));
  Values all(state.packed);
  llvm::append_range(all, packed);
  Probabilities result;
  result.fragments = fragments(all);
  result.sum = arith::AddFOp::create(b, state.sum, tileSum);
  result.vote = ROCDL::BallotOp::create(b, b.getI64Type(), over);
  return result;
}

static Value isNotZero(WaveBuilder &b, Value mask) {
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne, mask,
      arith::ConstantIntOp::create(b, b.getI64Type(), 0));
}

void ForwardKernel::repair(State &state, Probabilities &p, Value condition) {
  Values before = {state.nm, p.sum};
  llvm::append_range(before, p.fragments);
  llvm::append_range(before, state.acc);
  Values after = b.branch(condition, before, [&]() -> Values {
    Value top = state.scores.front();
    for (Value s : ArrayRef(state.scores).drop_front())
      top = b.fmax(top, s);
    top = b.joinHalves(top, [&](Value x, Value y) { return b.fmax(x, y); });
    // -m of the tile in the state's units.
    Value minus =
        c.kind == ElementKind::F32
            ? arith::NegFOp::create(b, top).getResult()
            : arith::MulFOp::create(b, top, arith::NegFOp::create(b, scale));
    Value nm = arith::MinNumFOp::create(b, state.nm, minus);
    Value factor = b.exp2(toLog2(arith::SubFOp::create(b, nm, state.nm)));
    auto [packed, tileSum] = exponentials(state.scores, nm, Value());
    Values result = {nm, b.fma(state.sum, factor, tileSum)};
    llvm::append_range(result, fragments(packed));
    Value splat = vector::BroadcastOp::create(b, b.accType, factor);
    for (Value acc : state.acc)
      result.push_back(arith::MulFOp::create(b, acc, splat));
    return result;
  });
  state.nm = after[0];
  p.sum = after[1];
  size_t n = p.fragments.size();
  p.fragments.assign(after.begin() + 2, after.begin() + 2 + n);
  state.acc.assign(after.begin() + 2 + n, after.end());
}

//===----------------------------------------------------------------------===//
// The plain program
//===----------------------------------------------------------------------===//

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
  if (c.pipelined)
    values.push_back(state.earlySum);
  llvm::append_range(values, state.acc);
  llvm::append_range(values, state.scores);
  llvm::append_range(values, state.packed);
  return values;
}

State ForwardKernel::unflatten(ValueRange values) {
  State state;
  auto next = values.begin();
  state.nm = *next++;
  state.sum = *next++;
  if (c.pipelined)
    state.earlySum = *next++;
  for (int64_t i = 0; i < c.blocksV; ++i)
    state.acc.push_back(*next++);
  if (c.pipelined)
    for (int64_t i = 0; i < c.tileKV / 2; ++i)
      state.scores.push_back(*next++);
  state.packed.assign(next, values.end());
  return state;
}

State ForwardKernel::runPlain() {
  auto loop =
      scf::ForOp::create(b, b.c32(0), tiles, b.c32(1), flatten(initialState()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  State state = unflatten(loop.getRegionIterArgs());

  b.barrier(); // everyone is done with the tile before
  stageK(tile, 0);
  stageV(tile, 0);
  b.wait(0);
  b.barrier();
  Values acc(c.tileKV / 32, b.zeroAcc());
  for (int64_t step = 0; step < c.stepsQK; ++step)
    multiplyK({b.readK(lds(false, 0), step)}, step, acc);
  state.scores = mask(readScores(acc), tile);
  Probabilities p = finish(state);
  repair(state, p, isNotZero(b, b.pinScalar(p.vote)));
  for (int64_t step = 0; step < c.tileKV / (2 * c.getFragment()); ++step) {
    Values operands = b.finishV(b.readV(lds(true, 0), step));
    for (auto [block, a] : llvm::enumerate(operands))
      state.acc[block] = b.multiply(a, p.fragments[step], state.acc[block]);
  }
  state.sum = p.sum;
  state.scores.clear();
  scf::YieldOp::create(b, flatten(state));
  return unflatten(loop.getResults());
}

//===----------------------------------------------------------------------===//
// The pipelined program
//===----------------------------------------------------------------------===//

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

// The tile is half-way through its softmax when this starts. Four clusters,
// memory and dot in turn; the other wave group is one cluster away.
State ForwardKernel::pipelinedTile(State state, Value tile, unsigned parity) {
  unsigned other = 1 - parity;
  Value next = b.addi(tile, 1);
  int64_t inFlight =
      c.getStagingInstructions(false) + c.getStagingInstructions(true);
  // This wave's reads are done, and all its DMAs but the last of K and of V.
  auto landed = [&] { b.wait(inFlight); };

  // Memory: V(t+1) on its way, K(t+1) to registers. Dot: S(t+1) = K Q^T beside
  // the rest of tile t's softmax. In parts where K does not fit.
  stageV(next, other);
  Values acc(c.tileKV / 32, b.zeroAcc());
  Probabilities p;
  SmallVector<Operation *> softmax;
  for (int64_t part = 0; part < c.clustersQK; ++part) {
    int64_t begin = c.stepsQK * part / c.clustersQK;
    int64_t end = c.stepsQK * (part + 1) / c.clustersQK;
    SmallVector<Values> fragments;
    for (int64_t step = begin; step < end; ++step)
      fragments.push_back(b.readK(lds(false, other), step));
    landed();
    b.barrier();
    multiplyK(fragments, begin, acc);
    // The softmax is shared out over the clusters.
    if (part == 0)
      softmax = record([&] { p = finish(state); });
    size_t share = softmax.size() / c.clustersQK;
    for (Operation *op : ArrayRef(softmax).drop_front(share * part))
      op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    if (part + 1 == c.clustersQK) {
      p.fragments = b.pin(p.fragments);
      p.sum = b.pin(p.sum).front();
      p.vote = b.pinScalar(p.vote);
    }
    b.barrier();
  }

  // Memory: K(t+3) on its way; whatever is rare; V(t) to registers.
  stageK(b.addi(tile, 3), other);
  Values scores = readScores(acc);
  Value rare = isNotZero(b, p.vote);
  if (hasMask)
    rare = arith::OrIOp::create(b, rare, needsMask(next));
  Values carried = {state.nm, p.sum};
  llvm::append_range(carried, p.fragments);
  llvm::append_range(carried, state.acc);
  llvm::append_range(carried, scores);
  Values now = b.branch(rare, carried, [&]() -> Values {
    State inner = state;
    Probabilities innerP = p;
    repair(inner, innerP, isNotZero(b, p.vote));
    Values result = {inner.nm, innerP.sum};
    llvm::append_range(result, innerP.fragments);
    llvm::append_range(result, inner.acc);
    llvm::append_range(result, mask(scores, next));
    return result;
  });
  auto take = [&](size_t n) {
    Values part(now.begin(), now.begin() + n);
    now.erase(now.begin(), now.begin() + n);
    return part;
  };
  State result;
  result.nm = take(1).front();
  result.sum = take(1).front();
  Values fragments = take(p.fragments.size());
  Values oldAcc = take(state.acc.size());
  result.scores = now;

  // Dot: O += V^T P beside the first exponentials of tile t+1. In parts where V
  // does not fit.
  result.acc = oldAcc;
  softmax.clear();
  int64_t steps = c.tileKV / (2 * c.getFragment());
  for (int64_t part = 0; part < c.clustersPV; ++part) {
    int64_t begin = steps * part / c.clustersPV;
    int64_t end = steps * (part + 1) / c.clustersPV;
    SmallVector<Values> raw;
    for (int64_t step = begin; step < end; ++step)
      raw.push_back(b.readV(lds(true, parity), step));
    landed();
    b.barrier();
    result.acc = multiplyV(raw, ArrayRef(fragments).slice(begin, end - begin),
                           result.acc);
    if (part == 0)
      softmax = record([&] {
        std::tie(result.packed, result.earlySum) =
            exponentials(ArrayRef(result.scores).take_front(c.earlyExps),
                         result.nm, Value());
      });
    size_t share = softmax.size() / c.clustersPV;
    for (Operation *op : ArrayRef(softmax).drop_front(share * part))
      op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    if (part + 1 == c.clustersPV) {
      result.packed = b.pin(result.packed);
      result.earlySum = b.pin(result.earlySum).front();
    }
    b.barrier();
  }
  return result;
}

State ForwardKernel::runPipelined() {
  int64_t stagedV = c.getStagingInstructions(true);
  Value second = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, b.wave,
                                       b.c32(wavesPerGroup / 2));
  stageK(b.c32(0), 0);
  b.wait(0, /*lds=*/false);
  b.barrier();
  stageK(b.c32(1), 1);
  stageV(b.c32(0), 0);
  SmallVector<Values> fragments;
  for (int64_t step = 0; step < c.stepsQK; ++step)
    fragments.push_back(b.readK(lds(false, 0), step));
  b.wait(stagedV);
  b.schedBarrier();
  // From here on waves 4..7 run one cluster behind waves 0..3.
  extraBarrier(second);
  Values acc(c.tileKV / 32, b.zeroAcc());
  multiplyK(fragments, 0, acc);
  State state = initialState();
  state.scores = mask(readScores(acc), b.c32(0));
  b.barrier();
  stageK(b.c32(2), 0);
  // The first tile's early share was not computed: infinity makes it vote.
  state.earlySum = b.cf(std::numeric_limits<float>::infinity());
  state.packed.assign(c.earlyExps / 2, b.c32(0));

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
        Probabilities p = finish(last);
        p.vote = b.pinScalar(p.vote);
        b.wait(0);
        b.barrier();
        repair(last, p, isNotZero(b, p.vote));
        // Two barriers after the wait, as in the loop: half of the waves are
        // one behind.
        b.barrier();
        last.acc = multiplyV(readAllV(lds(true, 0)), p.fragments, last.acc);
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
  extraBarrier(first);
  b.wait(0); // no DMA may outlive the workgroup's LDS
  return state;
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

void ForwardKernel::storeO(ArrayRef<Value> acc, Value inverse) {
  int64_t group = c.groupV, unit = c.getFragment();
  bool is32 = c.kind == ElementKind::F32;
  auto value = [&](int64_t block, int64_t reg) -> Value {
    return arith::MulFOp::create(b, b.element(acc[block], reg), inverse);
  };
  // Columns of (lane, reg, block) of O^T, and the wave's share.
  LinearLayout layout({"row", "col"});
  layout.add("lane", {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 4 * group}});
  layout.add("reg",
             {{0, group}, {0, 2 * group}, {0, 8 * group}, {0, 16 * group}});
  SmallVector<LinearLayout::Basis> blocks;
  for (int64_t x = 1; x < 8; x *= 2)
    blocks.push_back({0, x < group ? x : 32 * x});
  layout.add("block", blocks);
  layout.addLinear("share", llvm::Log2_64(c.splitV), {0, 32 * c.blocksV});
  Value row = b.locate(layout, "row", {"lane"}, {}).first;
  int64_t shareMax = 32 * c.blocksV * (c.splitV - 1);
  auto store = [&](Value vector, int64_t block, int64_t reg, int64_t extra,
                   bool lanes) {
    Value lanePart =
        lanes ? b.locateValue(layout, "col", {"lane", "share"}) : Value();
    auto at = layout.apply({{"block", block}, {"reg", reg}})[1] + extra;
    Value col;
    int64_t laneMax = 4 * group;
    if (lanes) {
      col = b.addi(lanePart, at);
    } else {
      // After the exchange a half-wave holds 8 consecutive columns.
      col = b.addi(
          b.addi(b.locateValue(layout, "col", {"share"}), b.muli(b.half, 8)),
          at);
      laneMax = 8;
    }
    b.write(vector, o, {row0, row}, col, at + laneMax + shareMax);
  };

  Values pending;
  for (int64_t block = 0; block < c.blocksV; block += group)
    for (int64_t quarter = 0; quarter < 4; ++quarter) {
      // 4 * group consecutive columns of this lane.
      Values dwords;
      SmallVector<std::pair<int64_t, int64_t>> at;
      for (int64_t r = 0; r < 4; ++r)
        for (int64_t x = 0; x < group; ++x)
          at.push_back({block + x, 4 * quarter + r});
      for (size_t i = 0; i < at.size(); i += 2)
        llvm::append_range(dwords,
                           b.pack(value(at[i].first, at[i].second),
                                  value(at[i + 1].first, at[i + 1].second)));
      if (is32 || group > 1) {
        for (size_t i = 0; i < dwords.size(); i += 4)
          store(b.fragment(ValueRange(dwords).slice(i, 4)), block, 4 * quarter,
                i / 4 * unit, /*lanes=*/true);
        continue;
      }
      // Two quarters' 8-byte pieces become one 16-byte piece a lane by trading
      // between the half-waves.
      if (quarter % 2 == 0) {
        pending = dwords;
        continue;
      }
      auto [a0, b0] = b.swapHalves(pending[0], dwords[0]);
      auto [a1, b1] = b.swapHalves(pending[1], dwords[1]);
      store(b.fragment(ValueRange{a0, a1, b0, b1}), block, 4 * (quarter - 1), 0,
            /*lanes=*/false);
    }
}

void ForwardKernel::epilogue(const State &state) {
  Value total = b.joinHalves(state.sum, [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  });
  // No key at all: l = 0, O = 0, LSE = m + log2(0) = -inf.
  Value isEmpty =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, b.cf(0));
  Value inverse = arith::SelectOp::create(
      b, isEmpty, b.cf(0), ROCDL::ROCDLRcp::create(b, b.f32, total));
  if (problem.lse) {
    Value value = arith::SubFOp::create(
        b, ROCDL::ROCDLLog::create(b, b.f32, total), toLog2(state.nm));
    if (problem.lseBase == LseBase::e)
      value = arith::MulFOp::create(b, value, b.cf(0.69314718055994531));
    // One writer a row, the lower half-wave.
    Value row = b.addi(row0, b.column);
    Value writes = arith::AndIOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, b.lane, b.c32(32)),
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, lenQ));
    if (c.splitV > 1)
      writes = arith::AndIOp::create(
          b, writes,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.share,
                                b.c32(0)));
    auto guard = scf::IfOp::create(b, writes, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value index =
        arith::AddIOp::create(b, b.toIndex(row0), b.toIndex(b.column));
    memref::StoreOp::create(b, value, lse, ValueRange{index});
  }
  storeO(state.acc, inverse);
}

void ForwardKernel::build() {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  for (bool isV : {false, true})
    for (int i = 0; i < (c.pipelined ? 2 : 1); ++i) {
      unsigned index = func.getNumWorkgroupAttributions();
      func.addWorkgroupAttribution(MemRefType::get({c.getTileElements(isV)},
                                                   b.elementType, nullptr,
                                                   space),
                                   b.getLoc());
      func.setWorkgroupAttributionAttr(index, "llvm.align",
                                       b.getI64IntegerAttr(16));
    }
  readProblem();
  epilogue(c.pipelined ? runPipelined() : runPlain());
}

void mlir::attn::buildForwardKernel(gpu::GPUFuncOp func,
                                    const KernelConfig &config,
                                    const ForwardProblem &problem) {
  ForwardKernel(func, config, problem).build();
}
