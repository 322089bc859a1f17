//===- MergeStatesOp.cpp - attn.merge_states --------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldMemRefCast.h"
#include "OpSyntax.h"
#include "VerifyUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::detail;

ParseResult MergeStatesOp::parse(OpAsmParser &parser, OperationState &state) {
  static constexpr StringRef clauseNames[] = {"sink", "cu_seqlens_q"};
  Clause outputs, lses, outs;
  std::array<Clause, 2> clauses;
  outputs.loc = lses.loc = parser.getCurrentLocation();
  do {
    SMLoc loc = parser.getCurrentLocation();
    Clause pair;
    if (parseClauseBody(parser, pair))
      return failure();
    if (pair.operands.size() != 2)
      return parser.emitError(loc, "expects a state to be (output, lse), but "
                                   "got ")
             << pair.operands.size() << " operands";
    outputs.operands.push_back(pair.operands[0]);
    outputs.types.push_back(pair.types[0]);
    lses.operands.push_back(pair.operands[1]);
    lses.types.push_back(pair.types[1]);
  } while (succeeded(parser.parseOptionalComma()));
  if (parseOptionalClauses(parser, clauseNames, clauses) ||
      parseClause(parser, "outs", outs) || parseOptions(parser, state) ||
      resolve(parser, outputs, state) || resolve(parser, lses, state) ||
      resolve(parser, clauses[0], state) || resolve(parser, clauses[1], state))
    return failure();
  auto states = static_cast<int32_t>(outputs.operands.size());
  state.getOrAddProperties<Properties>().operandSegmentSizes = {
      states, states, clauses[0] ? 1 : 0, clauses[1] ? 1 : 0,
      static_cast<int32_t>(outs.operands.size())};
  addTiedResults(outs, state);
  return resolve(parser, outs, state);
}

void MergeStatesOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(
      llvm::zip(getOutputs(), getLses()), printer.getStream(), [&](auto pair) {
        auto [output, lse] = pair;
        printer << " (" << output << ", " << lse << " : " << output.getType()
                << ", " << lse.getType() << ')';
      });
  printClause(printer, "sink", getODSOperands(2));
  printClause(printer, "cu_seqlens_q", getODSOperands(3));
  printClause(printer, "outs", getInits());
  printOptions(printer, *this);
}

/// The base a value was computed with, where its producer tells.
static std::optional<LseBase> getProducedBase(Value lse) {
  Operation *producer = lse.getDefiningOp();
  if (!producer)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<LseBase>>(producer)
      .Case<AttentionOp, FinalizeOp>(
          [](auto op) { return op.getLseBaseOrDefault(); })
      .Case([](MergeStatesOp op) { return op.getLseBase(); })
      .Default([](Operation *) { return std::nullopt; });
}

bool MergeStatesOp::isStacked() {
  return getOutputs().size() == 1 && shaped(getOutputs().front()).getRank() ==
                                         shaped(getOutputInit()).getRank() + 1;
}

SmallVector<unsigned> MergeStatesOp::getLseDims() {
  switch (getLayout()) {
  case Layout::bhsd:
    return llvm::to_vector(
        llvm::seq<unsigned>(shaped(getOutputInit()).getRank() - 1));
  case Layout::bshd:
    return {0, 2, 1};
  case Layout::thd:
    if (getLseLayoutOrDefault() == LseLayout::sh_packed)
      return {0, 1};
    return {1, 0};
  }
  llvm_unreachable("unknown layout");
}

LogicalResult MergeStatesOp::verify() {
  if (getOutputs().empty()) // M1
    return emitOpError("expects at least one state, but got none");
  if (getOutputs().size() != getLses().size()) // M8
    return emitOpError("expects one lse an output, but got ")
           << getLses().size() << " and " << getOutputs().size();
  if (failed(verifyDestinationCount(*this, getInits().size())) || // M8
      failed(verifyOneForm(*this)))                               // M5
    return failure();

  ShapedType first = shaped(getOutputs().front());
  DimMap map = getDimMap(getLayout());
  bool stacked = isStacked();
  int64_t rank = first.getRank() - stacked;
  if (getLayout() == Layout::bhsd ? rank < 1 : rank != map.rank())
    return emitOpError("expects outputs of rank ")
           << (getLayout() == Layout::bhsd ? std::string("at least 1")
                                           : std::to_string(map.rank()))
           << " for layout " << stringifyLayout(getLayout())
           << ", but got rank " << rank;
  LseLayout lseLayout = getLseLayoutOrDefault();
  if (!fits(lseLayout, getLayout()) || lseLayout == LseLayout::bhs_padded) // M7
    return emitOpError("expects lse_layout ")
           << (getLayout() == Layout::thd ? "hs_packed or sh_packed" : "bhs")
           << " with layout " << stringifyLayout(getLayout()) << ", but got "
           << stringifyLseLayout(lseLayout);

  SmallVector<int64_t> shape(first.getShape().drop_front(stacked));
  auto dims = llvm::map_to_vector(shape, [](int64_t &dim) { return &dim; });
  // The shape of a state: that of the result, or a stack of those.
  int64_t states = ShapedType::kDynamic;
  auto ofState = [&](SmallVector<int64_t *> result) {
    if (stacked)
      result.insert(result.begin(), &states);
    return result;
  };
  for (auto [index, output] : llvm::enumerate(getOutputs())) { // M2
    std::string name = "output of state " + std::to_string(index);
    if (shaped(output).getElementType() != first.getElementType())
      return emitOpError("expects one element type for all outputs, but got ")
             << first.getElementType() << " and "
             << shaped(output).getElementType();
    if (failed(verifyDims(*this, name, output, ofState(dims))))
      return failure();
  }
  if (failed(verifyDims(*this, "output", getOutputInit(), dims)))
    return failure();
  auto lseShape = llvm::map_to_vector(getLseDims(),
                                      [&](unsigned dim) { return dims[dim]; });
  for (auto [index, lse] : llvm::enumerate(getLses())) { // M3, M4
    std::string name = "lse of state " + std::to_string(index);
    if (failed(verifyDims(*this, name, lse, ofState(lseShape))))
      return failure();
    std::optional<LseBase> base = getProducedBase(lse);
    if (base && *base != getLseBase())
      return emitOpError("expects all states to have lse_base ")
             << stringifyLseBase(getLseBase()) << ", but state " << index
             << " has lse_base " << stringifyLseBase(*base);
  }
  if (failed(verifyPositive(*this, "the number of stacked states", states)))
    return failure();
  if (hasLse()) {
    if (!shaped(getLseInit()).getElementType().isF32())
      return emitOpError("expects lse of element type f32, but got ")
             << shaped(getLseInit()).getElementType();
    if (failed(verifyDims(*this, "lse", getLseInit(), lseShape)))
      return failure();
  }
  if (Value sink = getSink()) { // M6
    if (rank != map.rank())
      return emitOpError("expects outputs of rank ")
             << map.rank() << " with sink, but got rank " << rank;
    if (failed(verifyDims(*this, "sink", sink, {dims[map.head]})))
      return failure();
  }
  if (Value starts = getCuSeqlensQ()) { // M10
    if (getLayout() != Layout::thd)
      return emitOpError("expects layout thd with cu_seqlens_q, but got ")
             << stringifyLayout(getLayout());
    int64_t sequences = ShapedType::kDynamic;
    if (failed(verifyDims(*this, "cu_seqlens_q", starts, {&sequences})) ||
        failed(verifyPositive(*this, "the length of cu_seqlens_q", sequences)))
      return failure();
  }
  for (Value output : getOutputs()) // M9
    if (failed(verifyUnitInnerStride(*this, "outputs", output)))
      return failure();
  if (failed(verifyUnitInnerStride(*this, "output", getOutputInit())))
    return failure();
  // A merge may work in place.
  return verifyMemRefs(*this, [&](OpOperand &destination, OpOperand &other) {
    OperandRange states =
        destination.get() == getOutputInit() ? getOutputs() : getLses();
    unsigned first = states.getBeginOperandIndex();
    return !stacked && other.getOperandNumber() >= first &&
           other.getOperandNumber() < first + states.size();
  });
}

void MergeStatesOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Rows of no sequence keep what is there.
  addDestinationStyleEffects(*this, bool(getCuSeqlensQ()), effects);
}

LogicalResult
MergeStatesOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromDestinations(*this, builder, shapes);
}

namespace {
/// A state whose lse is -inf everywhere has no weight. The last state stays: a
/// merge of one still turns a weightless O into 0.
struct DropEmptyStates : OpRewritePattern<MergeStatesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeStatesOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> outputs, lses;
    for (auto [output, lse] : llvm::zip(op.getOutputs(), op.getLses())) {
      DenseElementsAttr constant;
      if (matchPattern(lse, m_Constant(&constant)) && constant.isSplat() &&
          constant.getSplatValue<APFloat>().isNegInfinity())
        continue;
      outputs.push_back(output);
      lses.push_back(lse);
    }
    if (outputs.empty()) {
      outputs.push_back(op.getOutputs().front());
      lses.push_back(op.getLses().front());
    }
    if (outputs.size() == op.getOutputs().size())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getOutputsMutable().assign(outputs);
      op.getLsesMutable().assign(lses);
    });
    return success();
  }
};

/// A merge of one state is that state, if its producer is known to have made O
/// zero where the lse is -inf.
struct FoldSingleState : OpRewritePattern<MergeStatesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeStatesOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getOutputs().size() != 1 || op.isStacked() || op.getSink() ||
        op.getCuSeqlensQ() || op->getNumResults() == 0)
      return failure();
    Value output = op.getOutputs().front(), lse = op.getLses().front();
    Operation *producer = output.getDefiningOp();
    if (!isa_and_present<AttentionOp, FinalizeOp, MergeStatesOp>(producer) ||
        producer->getNumResults() != 2 || output != producer->getResult(0) ||
        lse != producer->getResult(1))
      return failure();
    ResultRange state = producer->getResults().take_front(op.getNumResults());
    if (!llvm::equal(op->getResultTypes(), state.getTypes()))
      return failure();
    rewriter.replaceOp(op, state);
    return success();
  }
};
} // namespace

void MergeStatesOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<DropEmptyStates, FoldSingleState, FoldMemRefCast<MergeStatesOp>>(
      context);
}
