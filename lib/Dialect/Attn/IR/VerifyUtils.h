//===- VerifyUtils.h - Checks shared by the verifiers -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_IR_VERIFYUTILS_H
#define ATTN_LIB_DIALECT_ATTN_IR_VERIFYUTILS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace mlir::attn::detail {

inline ShapedType shaped(Value value) {
  return cast<ShapedType>(value.getType());
}
/// Dims of a value as `4x?x8`, `scalar` for rank 0.
std::string shapeString(ArrayRef<int64_t> shape);
/// Whether two dims may be equal at run time.
inline bool mayEqual(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}
/// The static one of two dims that may be equal.
inline int64_t refine(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) ? b : a;
}

/// Requires `value` to have the shape `dims`; `what` is its name. Static dims
/// of the value refine dynamic ones of `dims`, so that a later operand which
/// contradicts them is found.
LogicalResult verifyDims(Operation *op, StringRef what, Value value,
                         ArrayRef<int64_t *> dims);
/// The same with a fixed shape.
LogicalResult verifyShape(Operation *op, StringRef what, Value value,
                          ArrayRef<int64_t> expected);
/// Requires `value` to broadcast to `target` by NumPy's rules; refines it too.
LogicalResult verifyBroadcast(Operation *op, StringRef what, Value value,
                              ArrayRef<int64_t *> target);
/// Requires a dim to be positive where it is static.
LogicalResult verifyPositive(Operation *op, StringRef what, int64_t dim);
/// Requires one operand in each of the first groups of an op, whose names are
/// `what`. ODS checks this for optional operands only.
LogicalResult verifySingleOperands(Operation *op, ArrayRef<StringRef> what,
                                   ArrayRef<int32_t> segments);
/// Requires all shaped operands to be tensors or all to be memrefs.
LogicalResult verifyOneForm(Operation *op);
/// Requires one or two destinations.
LogicalResult verifyDestinationCount(Operation *op, size_t count);
/// Requires a memref to have unit inner stride.
LogicalResult verifyUnitInnerStride(Operation *op, StringRef what, Value value);
/// Requires memrefs that a lowering can address and write (C28, C29).
/// `mayBeSame`, if given, tells which destination may be which other operand.
LogicalResult
verifyMemRefs(DestinationStyleOpInterface op,
              function_ref<bool(OpOperand &, OpOperand &)> mayBeSame = nullptr);

/// The options of a score (C12 to C15, C17).
struct ScoreOptions {
  std::optional<llvm::APFloat> scale, softcap;
  bool hasScaleValue, causal;
  int64_t windowLeft, windowRight, sinkTokens;
};
LogicalResult verifyScoreOptions(Operation *op, const ScoreOptions &options);
template <typename OpTy> LogicalResult verifyScoreOptions(OpTy op) {
  return verifyScoreOptions(op, {op.getScale(), op.getSoftcap(),
                                 bool(op.getScaleValue()), op.getCausal(),
                                 op.getWindowLeft(), op.getWindowRight(),
                                 op.getSinkTokens()});
}

/// Whether `lseLayout` can go with `layout` (C11, M7).
bool fits(LseLayout lseLayout, Layout layout);

/// Effects of an op in destination style: reads memref inputs, writes memref
/// destinations, and reads them too if they carry a state.
void addDestinationStyleEffects(
    DestinationStyleOpInterface op, bool readsDestinations,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects);
/// Result shapes are those of the destinations.
LogicalResult reifyFromDestinations(DestinationStyleOpInterface op,
                                    OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &shapes);

} // namespace mlir::attn::detail

#endif // ATTN_LIB_DIALECT_ATTN_IR_VERIFYUTILS_H
