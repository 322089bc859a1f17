//===- MergeKernel.cpp ----------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is some neighbouring lanes of one wave, each with a vector of columns;
// they read the states in order and keep (m, l, acc) of those before, as the
// forward kernel does with tiles. Every lane of a row computes the same m and
// l. A lane reads all it needs of a state before it writes, and the lse goes
// last, so that a destination may be one of the states.
//
//===----------------------------------------------------------------------===//

#include "MergeKernel.h"
#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::attn;

/// States that are read together.
static constexpr int64_t batch = 16;

namespace {
/// What a row knows of the states so far, in units of the base.
struct MergeState {
  Value max, sum; ///< f32
  Value acc;      ///< vector of f32; null without columns
};

/// One state, or number `number` of a stack.
struct StateRef {
  Value output, lse;
  Value number;  ///< index; null without a stack
  Value isState; ///< i1, false behind the end of a stack; null: always one
};

class MergeKernel {
public:
  MergeKernel(MergeStatesOp op, const ChipInfo &chip)
      : op(op), chip(chip), b(op.getLoc(), op) {}

  void run(SymbolTable &symbols);

private:
  void collapse();
  SmallVector<KernelOperand> getOperands();
  Value getGrid();
  void buildKernel(gpu::GPUFuncOp func);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value constant(double value) {
    return arith::ConstantFloatOp::create(b, b.getF32Type(),
                                          APFloat(float(value)));
  }
  Value minusInfinity() {
    return constant(-std::numeric_limits<double>::infinity());
  }
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  }
  Value toI32(Value value) {
    return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), value);
  }
  Value toIndex(Value value) {
    return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
  }
  Value dim(Value memref, unsigned d) {
    return b.createOrFold<memref::DimOp>(memref, d);
  }
  Value splat(Value value) {
    return vector::BroadcastOp::create(
        b, VectorType::get(width, b.getF32Type()), value);
  }
  /// exp of a difference in units of the base.
  Value exponential(Value difference);
  /// `width` columns of a state as f32.
  Value loadColumns(const StateRef &state, Value col);
  MergeState add(const MergeState &before, ArrayRef<StateRef> states,
                 Value col);
  /// The merge of all states; with `col` also of the columns from there on.
  MergeState addAll(Value col);
  MergeState addStack(MergeState state, Value col);
  /// A logit without a value.
  MergeState addSink(const MergeState &state);
  /// From here on the operands are the kernel's arguments.
  void takeArguments(gpu::GPUFuncOp func);
  /// Fills `row` and `lseRow`; `flat` counts rows.
  void findRow(Value flat);
  /// What follows is for rows of sequences only.
  void enterSequences();
  /// Merges and stores a lane's `chunk` of `width` columns. A ragged one behind
  /// the last of `chunks` reads the first again and writes nothing.
  MergeState mergeColumns(Value chunk, Value chunks, bool isRagged);
  MergeState mergeRow(Value lane);
  Value getLse(const MergeState &state);
  void storeColumns(const MergeState &state, Value col);

  MergeStatesOp op;
  const ChipInfo &chip;
  ImplicitLocOpBuilder b;

  // On the host: operands in the shape the kernel takes them.
  SmallVector<Value> outputs, lses;
  Value output, lse, sink, starts;
  bool isStacked = false;
  SmallVector<unsigned> lseDims; ///< dims of O, in the order of the lse's
  int64_t columns = 0;           ///< of O, or dynamic
  int64_t width = 1, lanes = 1;  ///< see MergeVector

  // In the kernel: the same as arguments, and the row's indices in O.
  SmallVector<Value> row, lseRow;
};
} // namespace

/// Has the memref the strides of its shape, and does it begin at its buffer?
static bool isContiguous(Value value) {
  auto type = cast<MemRefType>(value.getType());
  return type.getLayout().isIdentity();
}

/// Makes one row dim of all where no operand has gaps: no index arithmetic is
/// left then. The sink needs to know the head, and starts of sequences the row.
void MergeKernel::collapse() {
  SmallVector<Value *> all = {&output};
  for (Value &value : outputs)
    all.push_back(&value);
  for (Value &value : lses)
    all.push_back(&value);
  if (lse)
    all.push_back(&lse);
  if (sink || starts || lseDims.size() == 1 || !llvm::is_sorted(lseDims) ||
      !llvm::all_of(all, [](Value *value) { return isContiguous(*value); }))
    return;
  for (Value *value : all) {
    auto type = cast<MemRefType>(value->getType());
    bool isOutput = value == &output || llvm::is_contained(outputs, *value);
    unsigned first = isStacked && value != &output && value != &lse;
    unsigned end = type.getRank() - isOutput;
    // Sizes of the collapsed memref: states, rows, columns.
    SmallVector<OpFoldResult> sizes;
    auto push = [&](unsigned from, unsigned to) {
      Value size = index(1);
      for (unsigned d = from; d < to; ++d)
        size = b.createOrFold<arith::MulIOp>(size, dim(*value, d));
      sizes.push_back(getAsOpFoldResult(size));
    };
    if (first)
      push(0, 1);
    push(first, end);
    if (isOutput)
      push(end, end + 1);
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    for (unsigned d = sizes.size() - 1; d-- > 0;) {
      Value below =
          getValueOrCreateConstantIndexOp(b, b.getLoc(), strides[d + 1]);
      Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes[d + 1]);
      strides[d] =
          getAsOpFoldResult(b.createOrFold<arith::MulIOp>(below, size));
    }
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    *value = memref::ReinterpretCastOp::create(
        b,
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()),
        *value, b.getIndexAttr(0), sizes, strides);
  }
  lseDims = {0};
}

// 16 bytes of a state, if they divide the columns.
MergeVector mlir::attn::getMergeVector(MergeStatesOp op) {
  auto output = cast<ShapedType>(op.getOutputInit().getType());
  auto state = cast<ShapedType>(op.getOutputs().front().getType());
  int64_t columns = output.getShape().back();
  MergeVector vector;
  if (ShapedType::isDynamic(columns))
    return vector;
  vector.width = std::min<int64_t>(16 / (state.getElementTypeBitWidth() / 8),
                                   columns & -columns);
  vector.lanes =
      columns
          ? std::min<int64_t>(64, llvm::PowerOf2Ceil(columns / vector.width))
          : 1;
  return vector;
}

SmallVector<KernelOperand> MergeKernel::getOperands() {
  SmallVector<KernelOperand> operands;
  for (auto [i, state] : llvm::enumerate(llvm::zip(outputs, lses))) {
    operands.push_back({"output" + std::to_string(i), std::get<0>(state)});
    operands.push_back({"lse" + std::to_string(i), std::get<1>(state)});
  }
  if (sink)
    operands.push_back({"sink", sink});
  if (starts)
    operands.push_back({"cu_seqlens_q", starts});
  operands.push_back({"output", output});
  if (lse)
    operands.push_back({"lse", lse});
  return operands;
}

Value MergeKernel::getGrid() {
  Value count = index(1);
  for (unsigned d = 0; d < lseDims.size(); ++d)
    count = b.createOrFold<arith::MulIOp>(count, dim(output, d));
  return b.createOrFold<arith::CeilDivUIOp>(count, index(mergeThreads / lanes));
}

Value MergeKernel::exponential(Value difference) {
  if (op.getLseBase() == LseBase::e)
    difference =
        arith::MulFOp::create(b, difference, constant(std::numbers::log2e));
  return ROCDL::ROCDLExp2::create(b, b.getF32Type(), difference);
}

Value MergeKernel::loadColumns(const StateRef &state, Value col) {
  Type element = cast<MemRefType>(state.output.getType()).getElementType();
  SmallVector<Value> at(row);
  if (state.number)
    at.insert(at.begin(), state.number);
  at.push_back(col);
  Value value = vector::LoadOp::create(b, VectorType::get(width, element),
                                       state.output, at);
  if (element.isF32())
    return value;
  return arith::ExtFOp::create(b, VectorType::get(width, b.getF32Type()),
                               value);
}

/// `value == -inf ? 0 : value`: what exponents are taken relative to.
static Value finite(ImplicitLocOpBuilder &b, Value value) {
  auto constant = [&](float number) {
    return arith::ConstantFloatOp::create(b, b.getF32Type(), APFloat(number));
  };
  Value isNone =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value,
                            constant(-std::numeric_limits<float>::infinity()));
  return arith::SelectOp::create(b, isNone, constant(0), value);
}

MergeState MergeKernel::add(const MergeState &before, ArrayRef<StateRef> states,
                            Value col) {
  // Loads first: they are on their way together.
  SmallVector<Value> logits, values;
  for (const StateRef &state : states) {
    SmallVector<Value> at(lseRow);
    if (state.number)
      at.insert(at.begin(), state.number);
    logits.push_back(memref::LoadOp::create(b, state.lse, at));
    if (col)
      values.push_back(loadColumns(state, col));
  }
  for (auto [state, logit] : llvm::zip(states, logits))
    if (state.isState)
      logit = arith::SelectOp::create(b, state.isState, logit, minusInfinity());
  MergeState after = before;
  for (Value logit : logits)
    after.max = arith::MaxNumFOp::create(b, after.max, logit);
  Value reference = finite(b, after.max);
  auto weigh = [&](Value logit) {
    return exponential(arith::SubFOp::create(b, logit, reference));
  };
  Value factor = weigh(before.max);
  after.sum = arith::MulFOp::create(b, before.sum, factor);
  if (before.acc)
    after.acc = arith::MulFOp::create(b, before.acc, splat(factor));
  for (auto [i, logit] : llvm::enumerate(logits)) {
    Value weight = weigh(logit);
    after.sum = arith::AddFOp::create(b, after.sum, weight);
    if (!col)
      continue;
    // A state of weight 0 is not looked at: its O may be NaN.
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weight,
                                         constant(0));
    Value value =
        arith::SelectOp::create(b, isNone, splat(constant(0)), values[i]);
    after.acc = math::FmaOp::create(b, splat(weight), value, after.acc);
  }
  return after;
}

MergeState MergeKernel::addAll(Value col) {
  MergeState state = {minusInfinity(), constant(0),
                      col ? splat(constant(0)) : Value()};
  if (isStacked) {
    state = addStack(state, col);
  } else {
    SmallVector<StateRef> states;
    for (auto [output, lse] : llvm::zip(outputs, lses))
      states.push_back({output, lse, Value(), Value()});
    for (size_t i = 0; i < states.size(); i += batch)
      state = add(
          state,
          ArrayRef(states).slice(i, std::min<size_t>(batch, states.size() - i)),
          col);
  }
  return sink ? addSink(state) : state;
}

MergeState MergeKernel::addStack(MergeState state, Value col) {
  int64_t size = cast<MemRefType>(lses.front().getType()).getDimSize(0);
  int64_t step =
      ShapedType::isDynamic(size) ? batch : std::min<int64_t>(batch, size);
  Value count = dim(lses.front(), 0);
  auto addFrom = [&](const MergeState &before, Value first) {
    SmallVector<StateRef> states;
    for (int64_t i = 0; i < step; ++i) {
      StateRef ref = {outputs.front(), lses.front(),
                      b.createOrFold<arith::AddIOp>(first, index(i)), Value()};
      if (ShapedType::isDynamic(size) || size % step) {
        ref.isState = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                            ref.number, count);
        ref.number =
            arith::SelectOp::create(b, ref.isState, ref.number, index(0));
      }
      states.push_back(ref);
    }
    return add(before, states, col);
  };
  if (size == step)
    return addFrom(state, index(0));
  SmallVector<Value> carried = {state.max, state.sum};
  if (col)
    carried.push_back(state.acc);
  auto loop = scf::ForOp::create(b, index(0), count, index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto take = [&](ValueRange values) {
    return MergeState{values[0], values[1], col ? values[2] : Value()};
  };
  MergeState next =
      addFrom(take(loop.getRegionIterArgs()), loop.getInductionVar());
  carried = {next.max, next.sum};
  if (col)
    carried.push_back(next.acc);
  scf::YieldOp::create(b, carried);
  return take(loop.getResults());
}

MergeState MergeKernel::addSink(const MergeState &state) {
  // In natural units.
  int head = getDimMap(op.getLayout()).head;
  Value logit = memref::LoadOp::create(b, sink, row[head]);
  if (op.getLseBase() == LseBase::two)
    logit = arith::MulFOp::create(b, logit, constant(std::numbers::log2e));
  MergeState all = state;
  all.max = arith::MaxNumFOp::create(b, state.max, logit);
  Value reference = finite(b, all.max);
  auto weigh = [&](Value logit) {
    return exponential(arith::SubFOp::create(b, logit, reference));
  };
  Value factor = weigh(state.max);
  all.sum = arith::AddFOp::create(
      b, arith::MulFOp::create(b, state.sum, factor), weigh(logit));
  if (state.acc)
    all.acc = arith::MulFOp::create(b, state.acc, splat(factor));
  return all;
}

Value MergeKernel::getLse(const MergeState &state) {
  Value log = ROCDL::ROCDLLog::create(b, b.getF32Type(), state.sum);
  if (op.getLseBase() == LseBase::e)
    log = arith::MulFOp::create(b, log, constant(std::numbers::ln2));
  return arith::AddFOp::create(b, finite(b, state.max), log);
}

void MergeKernel::storeColumns(const MergeState &state, Value col) {
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, state.sum,
                                        constant(0));
  Value inverse = arith::SelectOp::create(
      b, isEmpty, constant(0),
      ROCDL::ROCDLRcp::create(b, b.getF32Type(), state.sum));
  Value value = arith::MulFOp::create(b, state.acc, splat(inverse));
  Type element = cast<MemRefType>(output.getType()).getElementType();
  if (!element.isF32())
    value = arith::TruncFOp::create(b, VectorType::get(width, element), value);
  SmallVector<Value> at(row);
  at.push_back(col);
  vector::StoreOp::create(b, value, output, at);
}

void MergeKernel::takeArguments(gpu::GPUFuncOp func) {
  auto argument = func.getArguments().begin();
  for (auto [output, lse] : llvm::zip(outputs, lses)) {
    output = *argument++;
    lse = *argument++;
  }
  if (sink)
    sink = *argument++;
  if (starts)
    starts = *argument++;
  output = *argument++;
  if (lse)
    lse = *argument++;
}

void MergeKernel::findRow(Value flat) {
  row.resize(lseDims.size());
  for (unsigned d = lseDims.size(); d-- > 0;) {
    if (d == 0) {
      row[d] = toIndex(flat);
      break;
    }
    Value size = toI32(dim(output, d));
    row[d] = toIndex(arith::RemUIOp::create(b, flat, size));
    flat = arith::DivUIOp::create(b, flat, size);
  }
  for (unsigned d : lseDims)
    lseRow.push_back(row[d]);
}

void MergeKernel::enterSequences() {
  Value at = toI32(row[getDimMap(Layout::thd).seq]);
  auto load = [&](Value index) -> Value {
    return memref::LoadOp::create(b, starts, index);
  };
  Value last = arith::SubIOp::create(b, dim(starts, 0), index(1));
  Value isInside = arith::AndIOp::create(
      b,
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, at, load(index(0))),
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, load(last)));
  auto guard = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
}

MergeState MergeKernel::mergeColumns(Value chunk, Value chunks, bool isRagged) {
  Value inside, at = chunk;
  if (isRagged) {
    inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, chunk, chunks);
    at = arith::SelectOp::create(b, inside, chunk, number(0));
  }
  Value col = toIndex(arith::MulIOp::create(b, at, number(width)));
  MergeState state = addAll(col);
  OpBuilder::InsertionGuard insertion(b);
  if (isRagged)
    b.setInsertionPointToStart(
        scf::IfOp::create(b, inside, /*withElseRegion=*/false).thenBlock());
  storeColumns(state, col);
  return state;
}

MergeState MergeKernel::mergeRow(Value lane) {
  bool isDynamic = ShapedType::isDynamic(columns);
  if (!isDynamic && columns && columns / width <= lanes)
    return mergeColumns(lane, number(columns / width),
                        /*isRagged=*/columns / width < lanes);
  MergeState state = addAll(Value());
  if (!columns)
    return state;
  Value chunks =
      isDynamic ? toI32(dim(output, lseDims.size())) : number(columns / width);
  auto loop = scf::ForOp::create(b, number(0), chunks, number(lanes));
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  mergeColumns(arith::AddIOp::create(b, loop.getInductionVar(), lane), chunks,
               /*isRagged=*/isDynamic || columns / width % lanes != 0);
  return state;
}

void MergeKernel::buildKernel(gpu::GPUFuncOp func) {
  takeArguments(func);
  b.setInsertionPointToStart(&func.getBody().front());
  gpu::ReturnOp end = gpu::ReturnOp::create(b);
  b.setInsertionPoint(end);
  Value thread = toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value group = toI32(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value flat = arith::AddIOp::create(
      b, arith::MulIOp::create(b, group, number(mergeThreads / lanes)),
      arith::ShRUIOp::create(b, thread, number(llvm::Log2_64(lanes))));
  Value lane = arith::AndIOp::create(b, thread, number(lanes - 1));
  Value count = number(1);
  for (unsigned d = 0; d < lseDims.size(); ++d)
    count = b.createOrFold<arith::MulIOp>(count, toI32(dim(output, d)));
  auto guard = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, flat, count),
      /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  findRow(flat);
  if (starts)
    enterSequences();
  MergeState state = mergeRow(lane);
  if (!lse)
    return;
  Value value = getLse(state);
  auto first = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, number(0)),
      /*withElseRegion=*/false);
  b.setInsertionPointToStart(first.thenBlock());
  memref::StoreOp::create(b, value, lse, lseRow);
}

void MergeKernel::run(SymbolTable &symbols) {
  outputs.assign(op.getOutputs().begin(), op.getOutputs().end());
  lses.assign(op.getLses().begin(), op.getLses().end());
  output = op.getOutputInit();
  lse = op.getLseInit();
  sink = op.getSink();
  starts = op.getCuSeqlensQ();
  isStacked = op.isStacked();
  lseDims = op.getLseDims();
  collapse();
  MergeVector vector = getMergeVector(op);
  columns = cast<MemRefType>(output.getType()).getShape().back();
  std::tie(width, lanes) = std::tuple(vector.width, vector.lanes);
  Value grid = getGrid();
  if (isConstantIntValue(grid, 0))
    return;
  SmallVector<KernelOperand> operands = getOperands();
  gpu::GPUFuncOp kernel =
      createKernel(op, "merge", operands, mergeThreads, chip, symbols);
  // A destination may be one of the states.
  kernel->setAttr(kMayAliasAttr, b.getUnitAttr());
  launchKernel(b, kernel, grid, operands);
  buildKernel(kernel);
}

LogicalResult mlir::attn::lowerMerge(MergeStatesOp op, const ChipInfo &chip,
                                     SymbolTable &symbols) {
  if (failed(verifyTarget(op, chip)))
    return failure();
  if (isa<TensorType>(op.getOutputInit().getType()))
    return op.emitOpError("expects memref operands in attn-to-gpu; run "
                          "one-shot-bufferize first");
  MergeKernel(op, chip).run(symbols);
  op.erase();
  return success();
}
