//===- OnlineOps.cpp - attn.online_attention and attn.finalize --*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldMemRefCast.h"
#include "OpSyntax.h"
#include "VerifyUtils.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::detail;

/// The state (acc, m, l): [M, Dv], [M], [M] of f32 or f64 (O2, F1).
static LogicalResult verifyState(Operation *op, Value acc, Value max,
                                 Value sum) {
  ShapedType type = shaped(acc);
  if (type.getRank() != 2)
    return op->emitOpError("expects acc of rank 2, but got rank ")
           << type.getRank();
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return op->emitOpError("expects a state of f32 or f64, but got ")
           << type.getElementType();
  int64_t rows = type.getDimSize(0);
  for (auto [name, value] : {std::pair("max", max), std::pair("sum", sum)}) {
    if (shaped(value).getElementType() != type.getElementType())
      return op->emitOpError("expects ")
             << name << " to have the element type of acc, but got "
             << shaped(value).getElementType() << " and "
             << type.getElementType();
    if (failed(verifyDims(op, name, value, {&rows})))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// attn.online_attention
//===----------------------------------------------------------------------===//

static constexpr StringRef kOnlineClauses[] = {"bias", "mask", "alibi_slope",
                                               "scale_value"};

ParseResult OnlineAttentionOp::parse(OpAsmParser &parser,
                                     OperationState &state) {
  Clause ins, outs;
  std::array<Clause, std::size(kOnlineClauses)> clauses;
  SmallVector<OpAsmParser::UnresolvedOperand> position;
  SMLoc loc = parser.getCurrentLocation();
  if (parseClause(parser, "ins", ins))
    return failure();
  if (ins.operands.size() != 3)
    return parser.emitError(loc, "expects query, key and value in 'ins', but "
                                 "got ")
           << ins.operands.size() << " operands";
  loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("at"))) {
    if (parser.parseOperandList(position, OpAsmParser::Delimiter::Paren))
      return failure();
    if (position.size() != 2)
      return parser.emitError(loc, "expects row and column in 'at', but got ")
             << position.size() << " operands";
  }
  if (parseOptionalClauses(parser, kOnlineClauses, clauses) ||
      parseClause(parser, "outs", outs) || parseOptions(parser, state) ||
      resolve(parser, ins, state) ||
      parser.resolveOperands(position, parser.getBuilder().getIndexType(),
                             state.operands))
    return failure();
  auto &segments = state.getOrAddProperties<Properties>().operandSegmentSizes;
  std::fill_n(segments.begin(), 3, 1);
  segments[3] = segments[4] = position.empty() ? 0 : 1;
  for (auto [i, clause] : llvm::enumerate(clauses)) {
    segments[5 + i] = clause ? 1 : 0;
    if (resolve(parser, clause, state))
      return failure();
  }
  segments.back() = outs.operands.size();
  addTiedResults(outs, state);
  return resolve(parser, outs, state);
}

void OnlineAttentionOp::print(OpAsmPrinter &printer) {
  printClause(printer, "ins", getOperands().take_front(3));
  if (getRow())
    printer << " at(" << getRow() << ", " << getCol() << ')';
  for (auto [i, name] : llvm::enumerate(kOnlineClauses))
    printClause(printer, name, getODSOperands(5 + i));
  printClause(printer, "outs", getInits());
  printOptions(printer, *this);
}

LogicalResult OnlineAttentionOp::verify() {
  if (failed(verifySingleOperands(*this, {"query", "key", "value"}, // O7
                                  getProperties().operandSegmentSizes)))
    return failure();
  if (getInits().size() != 3)
    return emitOpError("expects three destinations (acc, max, sum), but got ")
           << getInits().size();
  if (failed(verifyOneForm(*this)) || failed(verifyScoreOptions(*this)))
    return failure();
  ShapedType query = shaped(getQuery()), key = shaped(getKey()),
             value = shaped(getValue());
  for (auto [name, type] : {std::pair("query", query), std::pair("key", key),
                            std::pair("value", value)}) // O1
    if (type.getRank() != 2)
      return emitOpError("expects ")
             << name << " of rank 2, but got rank " << type.getRank();
  if (key.getElementType() != query.getElementType() ||
      value.getElementType() != query.getElementType())
    return emitOpError("expects one element type for query, key and value, but "
                       "got ")
           << query.getElementType() << ", " << key.getElementType() << " and "
           << value.getElementType();
  if (!mayEqual(query.getDimSize(1), key.getDimSize(1)))
    return emitOpError("expects key head dim to equal query head dim, but got ")
           << key.getDimSize(1) << " and " << query.getDimSize(1);
  if (!mayEqual(key.getDimSize(0), value.getDimSize(0)))
    return emitOpError("expects value length to equal key length, but got ")
           << value.getDimSize(0) << " and " << key.getDimSize(0);
  if (failed(verifyState(*this, getAcc(), getMax(), getSum())) || // O2
      failed(verifyShape(*this, "acc", getAcc(),
                         {query.getDimSize(0), value.getDimSize(1)})))
    return failure();
  if (bool(getRow()) != bool(getCol()))
    return emitOpError("expects row and column together");
  if (readsDiagonal() && !getRow()) // O4
    return emitOpError("expects 'at' (row, column) with causal, a window or "
                       "alibi_slope");
  int64_t rows = refine(query.getDimSize(0), shaped(getAcc()).getDimSize(0));
  int64_t keys = refine(key.getDimSize(0), value.getDimSize(0));
  for (auto [name, operand] :
       {std::pair("bias", getBias()), std::pair("mask", getMask())}) // O5
    if (operand &&
        failed(verifyBroadcast(*this, name, operand, {&rows, &keys})))
      return failure();
  for (auto [name, dim] :
       {std::pair("query head dim",
                  refine(query.getDimSize(1), key.getDimSize(1))),
        std::pair("value head dim", value.getDimSize(1))}) // O8
    if (failed(verifyPositive(*this, name, dim)))
      return failure();
  for (auto [name, operand] : // O9
       {std::pair("query", getQuery()), std::pair("key", getKey()),
        std::pair("value", getValue()), std::pair("acc", getAcc())})
    if (failed(verifyUnitInnerStride(*this, name, operand)))
      return failure();
  return verifyMemRefs(*this);
}

void OnlineAttentionOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDestinationStyleEffects(*this, /*readsDestinations=*/true, effects);
}

LogicalResult
OnlineAttentionOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromDestinations(*this, builder, shapes);
}

void OnlineAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *context) {
  patterns.add<FoldMemRefCast<OnlineAttentionOp>>(context);
}

//===----------------------------------------------------------------------===//
// attn.finalize
//===----------------------------------------------------------------------===//

void FinalizeOp::build(OpBuilder &builder, OperationState &state, Value acc,
                       Value max, Value sum, Value sink, ValueRange inits,
                       LseBaseAttr lseBase) {
  state.addOperands({acc, max, sum});
  if (sink)
    state.addOperands(sink);
  state.addOperands(inits);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {1, 1, 1, sink ? 1 : 0,
                                    static_cast<int32_t>(inits.size())};
  properties.lse_base = lseBase;
  for (Value init : inits)
    if (isa<TensorType>(init.getType()))
      state.addTypes(init.getType());
}

static constexpr StringRef kFinalizeClauses[] = {"sink"};

ParseResult FinalizeOp::parse(OpAsmParser &parser, OperationState &state) {
  Clause ins, outs;
  std::array<Clause, 1> clauses;
  SMLoc loc = parser.getCurrentLocation();
  if (parseClause(parser, "ins", ins))
    return failure();
  if (ins.operands.size() != 3)
    return parser.emitError(loc, "expects acc, max and sum in 'ins', but got ")
           << ins.operands.size() << " operands";
  if (parseOptionalClauses(parser, kFinalizeClauses, clauses) ||
      parseClause(parser, "outs", outs) || parseOptions(parser, state) ||
      resolve(parser, ins, state) || resolve(parser, clauses[0], state))
    return failure();
  state.getOrAddProperties<Properties>().operandSegmentSizes = {
      1, 1, 1, clauses[0] ? 1 : 0, static_cast<int32_t>(outs.operands.size())};
  addTiedResults(outs, state);
  return resolve(parser, outs, state);
}

void FinalizeOp::print(OpAsmPrinter &printer) {
  printClause(printer, "ins", getOperands().take_front(3));
  printClause(printer, "sink", getODSOperands(3));
  printClause(printer, "outs", getInits());
  printOptions(printer, *this);
}

LogicalResult FinalizeOp::verify() {
  if (failed(verifySingleOperands(*this, {"acc", "max", "sum"}, // F5
                                  getProperties().operandSegmentSizes)) ||
      failed(verifyDestinationCount(*this, getInits().size())) ||
      failed(verifyOneForm(*this)) ||                             // F3
      failed(verifyState(*this, getAcc(), getMax(), getSum())) || // F1
      failed(verifyShape(*this, "output", getOutputInit(),        // F2
                         shaped(getAcc()).getShape())))
    return failure();
  if (getLseBase() && !hasLse()) // F4
    return emitOpError("expects an lse destination with lse_base");
  if (hasLse()) {
    if (!shaped(getLseInit()).getElementType().isF32())
      return emitOpError("expects lse of element type f32, but got ")
             << shaped(getLseInit()).getElementType();
    int64_t rows = refine(shaped(getAcc()).getDimSize(0),
                          shaped(getOutputInit()).getDimSize(0));
    if (failed(verifyDims(*this, "lse", getLseInit(), {&rows})))
      return failure();
  }
  if (failed(verifyUnitInnerStride(*this, "acc", getAcc())) || // F6
      failed(verifyUnitInnerStride(*this, "output", getOutputInit())))
    return failure();
  return verifyMemRefs(*this);
}

void FinalizeOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDestinationStyleEffects(*this, /*readsDestinations=*/false, effects);
}

LogicalResult
FinalizeOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromDestinations(*this, builder, shapes);
}

void FinalizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<FoldMemRefCast<FinalizeOp>>(context);
}
