//===- AttentionOp.cpp - attn.attention -------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldMemRefCast.h"
#include "OpSyntax.h"
#include "VerifyUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include <limits>

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::detail;

//===----------------------------------------------------------------------===//
// Builder, assembly
//===----------------------------------------------------------------------===//

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query,
                        Value key, Value value, ValueRange inits,
                        ArrayRef<NamedAttribute> options) {
  state.addOperands({query, key, value});
  state.addOperands(inits);
  auto &segments = state.getOrAddProperties<Properties>().operandSegmentSizes;
  llvm::fill(segments, 0);
  std::fill_n(segments.begin(), 3, 1);
  segments.back() = inits.size();
  state.addAttributes(options);
  for (Value init : inits)
    if (isa<TensorType>(init.getType()))
      state.addTypes(init.getType());
}

/// Clauses of the optional operands, in operand order.
static constexpr StringRef kClauses[] = {
    "bias",        "mask",         "alibi_slopes",  "sink",     "seqlens_q",
    "seqlens_kv",  "cu_seqlens_q", "cu_seqlens_kv", "q_offset", "kv_offset",
    "block_table", "scale_value",  "kv_split"};
static constexpr size_t kNumClauses = std::size(kClauses);

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  Clause ins, outs;
  std::array<Clause, kNumClauses> clauses;
  SMLoc loc = parser.getCurrentLocation();
  if (parseClause(parser, "ins", ins))
    return failure();
  if (ins.operands.size() != 3)
    return parser.emitError(loc, "expects query, key and value in 'ins', but "
                                 "got ")
           << ins.operands.size() << " operands";
  if (parseOptionalClauses(parser, kClauses, clauses) ||
      parseClause(parser, "outs", outs) || parseOptions(parser, state) ||
      resolve(parser, ins, state))
    return failure();
  auto &segments = state.getOrAddProperties<Properties>().operandSegmentSizes;
  std::fill_n(segments.begin(), 3, 1);
  for (auto [i, clause] : llvm::enumerate(clauses)) {
    segments[3 + i] = clause ? 1 : 0;
    if (resolve(parser, clause, state))
      return failure();
  }
  segments[3 + kNumClauses] = outs.operands.size();
  addTiedResults(outs, state);
  return resolve(parser, outs, state);
}

void AttentionOp::print(OpAsmPrinter &printer) {
  printClause(printer, "ins", getOperands().take_front(3));
  for (auto [i, name] : llvm::enumerate(kClauses))
    printClause(printer, name, getODSOperands(3 + i));
  printClause(printer, "outs", getInits());
  printOptions(printer, *this);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {
/// The problem's dims as far as the types tell, gathered while verifying.
struct Dims {
  int64_t batch = ShapedType::kDynamic;
  int64_t queryHeads = ShapedType::kDynamic, keyHeads = ShapedType::kDynamic,
          valueHeads = ShapedType::kDynamic;
  int64_t queryDim = ShapedType::kDynamic, valueDim = ShapedType::kDynamic;
  /// Rows of the query tensor; for `thd` those of all sequences.
  int64_t rows = ShapedType::kDynamic;
  /// Rows and keys of a score matrix; unknown for `thd`, and keys if paged.
  int64_t queryLength = ShapedType::kDynamic, keyLength = ShapedType::kDynamic;
  int64_t splits = ShapedType::kDynamic;
};
} // namespace

static LogicalResult verifyScalarsAndOptions(AttentionOp op) {
  if (failed(verifyScoreOptions(op)))
    return failure();
  if (op.getLseBase() && !op.hasLse()) // C10
    return op.emitOpError("expects an lse destination with lse_base");
  if (op.getLseLayout() && !op.hasLse())
    return op.emitOpError("expects an lse destination with lse_layout");
  if (!fits(op.getLseLayoutOrDefault(), op.getLayout())) // C11
    return op.emitOpError("expects lse_layout ")
           << (op.getLayout() == Layout::thd
                   ? "hs_packed, sh_packed or bhs_padded"
                   : "bhs")
           << " with layout " << stringifyLayout(op.getLayout()) << ", but got "
           << stringifyLseLayout(op.getLseLayoutOrDefault());
  if (op.getDiagonalAlignment()) { // C16
    if (!op.readsDiagonal())
      return op.emitOpError("expects causal, a window or alibi_slopes with "
                            "diagonal_alignment, which means nothing without");
    if (op.getQOffset() || op.getKvOffset())
      return op.emitOpError("expects either diagonal_alignment or explicit "
                            "offsets, but got both");
  }
  if (op.getNumKvSplits() < 0 || op.getNumKvSplits() > 65535) // C23
    return op.emitOpError(
               "expects num_kv_splits to be between 0 and 65535, but got ")
           << op.getNumKvSplits();
  if (op.givesStates()) { // C30
    if (op.getNumKvSplits() == 0)
      return op.emitOpError("expects num_kv_splits to be positive for the "
                            "states of splits, but got 0");
    if (op.getSink())
      return op.emitOpError("expects no sink for the states of splits; fold it "
                            "in with attn.merge_states");
    if (op.getKvSplit() && op.hasSplitDim()) // C31
      return op.emitOpError("expects destinations without a split dim with "
                            "kv_split");
  }
  return success();
}

/// C1 to C5, C7, C24: query, key, value and output.
static FailureOr<Dims> verifyMainOperands(AttentionOp op) {
  DimMap map = getDimMap(op.getLayout()), keyMap = op.getKeyDimMap();
  bool paged = bool(op.getBlockTable());
  ShapedType query = shaped(op.getQuery()), key = shaped(op.getKey()),
             value = shaped(op.getValue()), output = shaped(op.getOutputInit());
  bool hasSplitDim = op.hasSplitDim();
  for (auto [name, rank, expected] :
       {std::tuple("query", query.getRank(), map.rank()),
        std::tuple("key", key.getRank(), keyMap.rank()),
        std::tuple("value", value.getRank(), keyMap.rank()),
        std::tuple("output", output.getRank() - hasSplitDim, map.rank())})
    if (rank != expected) // C1
      return op.emitOpError("expects ")
             << name << " of rank " << expected << " for layout "
             << stringifyLayout(op.getLayout())
             << (expected != map.rank() ? " with block_table" : "")
             << ", but got rank " << rank;
  Type element = query.getElementType();
  if (key.getElementType() != element ||
      value.getElementType() != element) // C2
    return op.emitOpError("expects one element type for query, key and value, "
                          "but got ")
           << element << ", " << key.getElementType() << " and "
           << value.getElementType();
  if (element.getIntOrFloatBitWidth() > 8 &&
      output.getElementType() != element &&
      !(op.givesStates() && output.getElementType().isF32()))
    return op.emitOpError("expects output element type to equal query element "
                          "type, but got ")
           << output.getElementType() << " and " << element;
  auto dim = [](ShapedType type, int index) { return type.getDimSize(index); };
  if (!mayEqual(dim(query, map.dim), dim(key, keyMap.dim))) // C3
    return op.emitOpError("expects key head dim to equal query head dim, but "
                          "got ")
           << dim(key, keyMap.dim) << " and " << dim(query, map.dim);
  if (!mayEqual(dim(key, keyMap.seq), dim(value, keyMap.seq))) // C4
    return op.emitOpError("expects value length to equal key length, but got ")
           << dim(value, keyMap.seq) << " and " << dim(key, keyMap.seq);
  if (paged) { // C5
    int64_t k = dim(key, keyMap.batch), v = dim(value, keyMap.batch);
    if (!mayEqual(k, v))
      return op.emitOpError("expects pools of key and value of as many pages, "
                            "but got ")
             << k << " and " << v;
  } else if (map.batch >= 0) {
    int64_t q = dim(query, map.batch), k = dim(key, map.batch),
            v = dim(value, map.batch);
    if (!mayEqual(k, v) || !mayEqual(q, k) || !mayEqual(q, v))
      return op.emitOpError("expects one batch size for query, key and value, "
                            "but got ")
             << shapeString({q}) << ", " << shapeString({k}) << " and "
             << shapeString({v});
  }
  Dims dims;
  if (map.batch >= 0) {
    dims.batch = dim(query, map.batch);
    if (!paged)
      dims.batch = refine(dims.batch,
                          refine(dim(key, map.batch), dim(value, map.batch)));
  }
  dims.queryHeads = dim(query, map.head);
  dims.keyHeads = dim(key, keyMap.head);
  dims.valueHeads = dim(value, keyMap.head);
  dims.queryDim = refine(dim(query, map.dim), dim(key, keyMap.dim));
  dims.valueDim = dim(value, keyMap.dim);
  dims.rows = dim(query, map.seq);
  SmallVector<int64_t *> expected(map.rank()); // C7
  if (map.batch >= 0)
    expected[map.batch] = &dims.batch;
  expected[map.head] = &dims.queryHeads;
  expected[map.seq] = &dims.rows;
  expected[map.dim] = &dims.valueDim;
  if (hasSplitDim) { // C30
    dims.splits = op.getNumKvSplits();
    expected.insert(expected.begin(), &dims.splits);
  }
  if (failed(verifyDims(op, "output", op.getOutputInit(), expected)))
    return failure();
  if (map.batch >= 0) {
    dims.queryLength = dims.rows;
    if (!paged)
      dims.keyLength = refine(dim(key, keyMap.seq), dim(value, keyMap.seq));
  }
  for (auto [name, operand] : // C24
       {std::pair("query", op.getQuery()), std::pair("key", op.getKey()),
        std::pair("value", op.getValue()),
        std::pair("output", op.getOutputInit())})
    if (failed(verifyUnitInnerStride(op, name, operand)))
      return failure();
  return dims;
}

/// C9: shape and type of the lse.
static LogicalResult verifyLse(AttentionOp op, Dims &dims) {
  if (!op.hasLse())
    return success();
  ShapedType lse = shaped(op.getLseInit());
  if (!lse.getElementType().isF32())
    return op.emitOpError("expects lse of element type f32, but got ")
           << lse.getElementType();
  int64_t maxLength = ShapedType::kDynamic;
  SmallVector<int64_t *> expected;
  switch (op.getLseLayoutOrDefault()) {
  case LseLayout::bhs:
    expected = {&dims.batch, &dims.queryHeads, &dims.rows};
    break;
  case LseLayout::hs_packed:
    expected = {&dims.queryHeads, &dims.rows};
    break;
  case LseLayout::sh_packed:
    expected = {&dims.rows, &dims.queryHeads};
    break;
  case LseLayout::bhs_padded:
    expected = {&dims.batch, &dims.queryHeads, &maxLength};
    break;
  }
  if (op.hasSplitDim())
    expected.insert(expected.begin(), &dims.splits);
  return verifyDims(op, "lse", op.getLseInit(), expected);
}

/// C18, C19: operands that act on scores.
static LogicalResult verifyScoreOperands(AttentionOp op, Dims &dims) {
  for (auto [name, value] :
       {std::pair("bias", op.getBias()), std::pair("mask", op.getMask())})
    if (value && failed(verifyBroadcast(op, name, value,
                                        {&dims.batch, &dims.queryHeads,
                                         &dims.queryLength, &dims.keyLength})))
      return failure();
  if (Value slopes = op.getAlibiSlopes()) {
    SmallVector<int64_t *> expected = {&dims.queryHeads};
    if (shaped(slopes).getRank() == 2)
      expected = {&dims.batch, &dims.queryHeads};
    if (failed(verifyDims(op, "alibi_slopes", slopes, expected)))
      return failure();
  }
  if (Value sink = op.getSink())
    return verifyDims(op, "sink", sink, {&dims.queryHeads});
  return success();
}

/// C6, C27: what is left once all operands told their dims.
static LogicalResult verifyHeads(AttentionOp op, const Dims &dims) {
  for (auto [name, dim] : {std::pair("query heads", dims.queryHeads),
                           std::pair("key heads", dims.keyHeads),
                           std::pair("value heads", dims.valueHeads),
                           std::pair("query head dim", dims.queryDim),
                           std::pair("value head dim", dims.valueDim)})
    if (failed(verifyPositive(op, name, dim)))
      return failure();
  for (auto [name, heads] :
       {std::pair("key", dims.keyHeads), std::pair("value", dims.valueHeads)})
    if (!ShapedType::isDynamic(dims.queryHeads) &&
        !ShapedType::isDynamic(heads) && dims.queryHeads % heads != 0)
      return op.emitOpError("expects query heads to be a multiple of ")
             << name << " heads, but got " << dims.queryHeads << " and "
             << heads;
  return success();
}

/// C21: where packed sequences begin.
static LogicalResult verifyStarts(AttentionOp op, Dims &dims) {
  bool packed = op.getLayout() == Layout::thd, paged = bool(op.getBlockTable());
  Value cuQ = op.getCuSeqlensQ(), cuKv = op.getCuSeqlensKv();
  if (!packed && (cuQ || cuKv) && (bool(cuQ) == bool(cuKv) || paged))
    return op.emitOpError("expects layout thd with cu_seqlens, but got ")
           << stringifyLayout(op.getLayout());
  if (paged && cuKv)
    return op.emitOpError("expects no cu_seqlens_kv with block_table, whose "
                          "lengths are in seqlens_kv");
  if (paged && packed && !cuQ)
    return op.emitOpError(
        "expects cu_seqlens_q with layout thd and block_table");
  if (!paged && bool(cuQ) != bool(cuKv))
    return op.emitOpError("expects cu_seqlens_q and cu_seqlens_kv together, "
                          "but got only ")
           << (cuQ ? "cu_seqlens_q" : "cu_seqlens_kv");
  if (packed && !cuQ)
    return op.emitOpError(
        "expects cu_seqlens_q and cu_seqlens_kv with layout thd");
  int64_t length = ShapedType::kDynamic;
  for (auto [name, value] :
       {std::pair("cu_seqlens_q", cuQ), std::pair("cu_seqlens_kv", cuKv)}) {
    if (!value)
      continue;
    if (shaped(value).getRank() != 1)
      return op.emitOpError("expects ")
             << name << " of rank 1, but got rank " << shaped(value).getRank();
    int64_t size = shaped(value).getDimSize(0);
    if (size == 0)
      return op.emitOpError("expects ")
             << name << " to have at least one element, but got 0";
    if (!mayEqual(length, size))
      return op.emitOpError("expects cu_seqlens_q and cu_seqlens_kv to be "
                            "equally long, but got ")
             << length << " and " << size;
    length = refine(length, size);
  }
  if (packed && !ShapedType::isDynamic(length))
    dims.batch = length - 1;
  return success();
}

/// C20, C22, C25: operands that say where sequences and pages lie.
static LogicalResult verifySequenceOperands(AttentionOp op, Dims &dims) {
  bool packed = op.getLayout() == Layout::thd;
  Value table = op.getBlockTable();
  std::pair<StringRef, Value> lengths[] = {{"seqlens_q", op.getSeqlensQ()},
                                           {"seqlens_kv", op.getSeqlensKv()}};
  for (auto [name, value] : lengths) // C20
    if (packed && value && !(table && name == "seqlens_kv"))
      return op.emitOpError("expects no ")
             << name << " with layout thd, whose lengths are in cu_seqlens";
  if (failed(verifyStarts(op, dims)))
    return failure();
  for (auto [name, value] : lengths)
    if (value && isa<ShapedType>(value.getType()) &&
        failed(verifyDims(op, name, value, {&dims.batch})))
      return failure();
  // C22
  if (bool(table) != op.getPageSize().has_value())
    return op.emitOpError("expects block_table and page_size together, but got "
                          "only ")
           << (table ? "block_table" : "page_size");
  if (table) {
    if (!op.getSeqlensKv())
      return op.emitOpError("expects seqlens_kv with block_table");
    int64_t page = *op.getPageSize();
    if (page <= 0 || page > std::numeric_limits<int32_t>::max())
      return op.emitOpError("expects page_size to be between 1 and 2147483647, "
                            "but got ")
             << page;
    int seq = op.getKeyDimMap().seq;
    for (Value pool : {op.getKey(), op.getValue()})
      if (int64_t dim = shaped(pool).getDimSize(seq); !mayEqual(dim, page))
        return op.emitOpError("expects the page dim of key and value to equal "
                              "page_size, but got ")
               << dim << " and " << page;
    int64_t pages = ShapedType::kDynamic;
    if (failed(verifyDims(op, "block_table", table, {&dims.batch, &pages})))
      return failure();
  }
  // C25
  for (auto [name, value] : {std::pair("q_offset", op.getQOffset()),
                             std::pair("kv_offset", op.getKvOffset())})
    if (value && isa<ShapedType>(value.getType()) &&
        failed(verifyDims(op, name, value, {&dims.batch})))
      return failure();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifySingleOperands(*this, {"query", "key", "value"}, // C26
                                  getProperties().operandSegmentSizes)) ||
      failed(verifyDestinationCount(*this, getInits().size())) ||
      failed(verifyOneForm(*this)) || // C8
      failed(verifyScalarsAndOptions(*this)))
    return failure();
  FailureOr<Dims> dims = verifyMainOperands(*this);
  if (failed(dims) || failed(verifySequenceOperands(*this, *dims)) ||
      failed(verifyLse(*this, *dims)) ||
      failed(verifyScoreOperands(*this, *dims)) ||
      failed(verifyHeads(*this, *dims)))
    return failure();
  return verifyMemRefs(*this);
}

//===----------------------------------------------------------------------===//
// Effects, shapes
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addDestinationStyleEffects(*this, /*readsDestinations=*/false, effects);
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromDestinations(*this, builder, shapes);
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// An lse that nobody uses is not computed.
struct DropUnusedLse : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 2 || !op.getResult(1).use_empty())
      return failure();
    auto slim =
        AttentionOp::create(rewriter, op.getLoc(), op.getQuery(), op.getKey(),
                            op.getValue(), op.getOutputInit());
    // Everything but the destination and the lse options stays.
    slim->setOperands(op->getOperands().drop_back());
    AttentionOp::Properties properties = op.getProperties();
    properties.operandSegmentSizes.back() = 1;
    properties.lse_base = nullptr;
    properties.lse_layout = nullptr;
    slim.getProperties() = properties;
    slim->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    // The second result has no use; any value of its type may stand for it.
    rewriter.replaceOp(op, {slim.getResult(0), op.getLseInit()});
    return success();
  }
};

/// One query row at the bottom right sees every key: causal hides nothing.
struct SingleRowIsNotCausal : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getCausal() || op.getQOffset() || op.getKvOffset() ||
        op.getDiagonalAlignmentOrDefault() != DiagonalAlignment::bottom_right ||
        op.getLayout() == Layout::thd)
      return failure();
    int seq = getDimMap(op.getLayout()).seq;
    if (shaped(op.getQuery()).getDimSize(seq) != 1)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setCausal(false);
      if (!op.readsDiagonal())
        op.removeDiagonalAlignmentAttr();
    });
    return success();
  }
};

/// A constant scale operand becomes the attribute.
struct FoldConstantScale : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr scale;
    if (!op.getScaleValue() ||
        !matchPattern(op.getScaleValue(), m_Constant(&scale)) ||
        !scale.getValue().isFinite())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getScaleValueMutable().clear();
      op.setScaleAttr(rewriter.getF64FloatAttr(scale.getValueAsDouble()));
    });
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropUnusedLse, SingleRowIsNotCausal, FoldConstantScale,
               FoldMemRefCast<AttentionOp>>(context);
}
