//===- VerifyUtils.cpp - Checks shared by the verifiers ---------------*- C++
//-*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::attn;

std::string attn::detail::shapeString(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape,
      [&](int64_t dim) {
        if (ShapedType::isDynamic(dim))
          os << '?';
        else
          os << dim;
      },
      [&] { os << 'x'; });
  return text;
}

bool attn::detail::mayEqual(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return mayEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

LogicalResult attn::detail::verifyShape(Operation *op, StringRef what,
                                        Value value,
                                        ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> shape = shaped(value).getShape();
  if (mayEqual(shape, expected))
    return success();
  return op->emitOpError("expects ")
         << what << " to have shape " << shapeString(expected) << ", but got "
         << shapeString(shape);
}

LogicalResult attn::detail::verifyBroadcast(Operation *op, StringRef what,
                                            Value value,
                                            ArrayRef<int64_t> target) {
  ArrayRef<int64_t> shape = shaped(value).getShape();
  bool ok = shape.size() <= target.size();
  for (size_t i = 0; ok && i < shape.size(); ++i) {
    int64_t dim = shape[shape.size() - 1 - i];
    ok = dim == 1 || mayEqual(dim, target[target.size() - 1 - i]);
  }
  if (ok)
    return success();
  return op->emitOpError("expects ")
         << what << " to broadcast to " << shapeString(target) << ", but got "
         << shapeString(shape);
}

LogicalResult attn::detail::verifyOneForm(Operation *op) {
  bool tensors = false, memrefs = false;
  for (Type type : op->getOperandTypes()) {
    tensors |= isa<TensorType>(type);
    memrefs |= isa<BaseMemRefType>(type);
  }
  if (tensors && memrefs)
    return op->emitOpError(
        "expects all tensors or all memrefs, but got operands of both kinds");
  return success();
}

LogicalResult attn::detail::verifyDestinationCount(Operation *op,
                                                   size_t count) {
  if (count == 1 || count == 2)
    return success();
  return op->emitOpError(
             "expects one destination for the output and at most one for the "
             "lse, but got ")
         << count << " destinations";
}

LogicalResult attn::detail::verifyUnitInnerStride(Operation *op, StringRef what,
                                                  Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return success();
  auto [strides, offset] = type.getStridesAndOffset();
  if (strides.empty() || strides.back() == 1 ||
      ShapedType::isDynamic(strides.back()) || type.getShape().back() == 1)
    return success();
  return op->emitOpError("expects ")
         << what << " to have unit inner stride, but got " << strides.back();
}

LogicalResult attn::detail::verifyScoreOptions(Operation *op,
                                               const ScoreOptions &options) {
  // C12
  for (auto [name, value] : {std::pair("window_left", options.windowLeft),
                             std::pair("window_right", options.windowRight)})
    if (value < -1)
      return op->emitOpError("expects ")
             << name << " to be at least -1, but got " << value;
  // C13
  if (options.causal && options.windowRight > 0)
    return op->emitOpError("expects window_right to be -1 or 0 with causal, "
                           "which hides all keys right of the diagonal, but "
                           "got ")
           << options.windowRight;
  // C14
  if (options.softcap &&
      (!options.softcap->isFinite() || options.softcap->isNegative() ||
       options.softcap->isZero())) {
    SmallString<16> text;
    options.softcap->toString(text);
    return op->emitOpError(
               "expects softcap to be finite and positive, but got ")
           << text;
  }
  // C15
  if (options.scale && !options.scale->isFinite()) {
    SmallString<16> text;
    options.scale->toString(text);
    return op->emitOpError("expects scale to be finite, but got ") << text;
  }
  if (options.scale && options.hasScaleValue)
    return op->emitOpError(
        "expects one scale, but got an attribute and an operand");
  // C17
  if (options.sinkTokens < 0)
    return op->emitOpError("expects sink_tokens not to be negative, but got ")
           << options.sinkTokens;
  if (options.sinkTokens > 0 && options.windowLeft < 0)
    return op->emitOpError("expects window_left with sink_tokens, which are "
                           "visible anyway without it");
  return success();
}

bool attn::detail::fits(LseLayout lseLayout, Layout layout) {
  return (lseLayout == LseLayout::bhs) == (layout != Layout::thd);
}

void attn::detail::addDestinationStyleEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand, /*stage=*/0,
                         /*effectOnFullRegion=*/true,
                         SideEffects::DefaultResource::get());
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/0,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
  }
}

LogicalResult
attn::detail::reifyFromDestinations(DestinationStyleOpInterface op,
                                    OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &shapes) {
  if (!op.hasPureTensorSemantics())
    return failure();
  for (Value init : op.getDpsInits())
    shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(), init));
  return success();
}
