//===- VerifyUtils.h - Checks shared by the verifiers -----------------*- C++
//-*-===//
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
bool mayEqual(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

/// Requires `value` to have shape `expected`; `what` is its name.
LogicalResult verifyShape(Operation *op, StringRef what, Value value,
                          ArrayRef<int64_t> expected);
/// Requires `value` to broadcast to `target` by NumPy's rules.
LogicalResult verifyBroadcast(Operation *op, StringRef what, Value value,
                              ArrayRef<int64_t> target);
/// Requires all shaped operands to be tensors or all to be memrefs.
LogicalResult verifyOneForm(Operation *op);
/// Requires one or two destinations.
LogicalResult verifyDestinationCount(Operation *op, size_t count);
/// Requires a memref to have unit inner stride.
LogicalResult verifyUnitInnerStride(Operation *op, StringRef what, Value value);

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
                                 static_cast<int64_t>(op.getWindowLeft()),
                                 static_cast<int64_t>(op.getWindowRight()),
                                 static_cast<int64_t>(op.getSinkTokens())});
}

/// Whether `lseLayout` can go with `layout` (C11, M7).
bool fits(LseLayout lseLayout, Layout layout);

/// Effects of an op in destination style: reads memref inputs, reads and writes
/// memref destinations.
void addDestinationStyleEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects);
/// Result shapes are those of the destinations.
LogicalResult reifyFromDestinations(DestinationStyleOpInterface op,
                                    OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &shapes);

} // namespace mlir::attn::detail

#endif // ATTN_LIB_DIALECT_ATTN_IR_VERIFYUTILS_H
