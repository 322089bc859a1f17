//===- VerifyUtils.cpp - Checks shared by the verifiers ---------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/Format.h"
#include <limits>

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

LogicalResult attn::detail::verifyDims(Operation *op, StringRef what,
                                       Value value, ArrayRef<int64_t *> dims) {
  ArrayRef<int64_t> shape = shaped(value).getShape();
  auto matches = [](auto pair) {
    return mayEqual(std::get<0>(pair), *std::get<1>(pair));
  };
  if (shape.size() != dims.size() ||
      !llvm::all_of(llvm::zip(shape, dims), matches)) {
    SmallVector<int64_t> expected =
        llvm::map_to_vector(dims, [](int64_t *dim) { return *dim; });
    return op->emitOpError("expects ")
           << what << " to have shape " << shapeString(expected) << ", but got "
           << shapeString(shape);
  }
  for (auto [dim, known] : llvm::zip(shape, dims))
    *known = refine(*known, dim);
  return success();
}

LogicalResult attn::detail::verifyShape(Operation *op, StringRef what,
                                        Value value,
                                        ArrayRef<int64_t> expected) {
  SmallVector<int64_t> dims(expected);
  return verifyDims(
      op, what, value,
      llvm::map_to_vector(dims, [](int64_t &dim) { return &dim; }));
}

LogicalResult attn::detail::verifyBroadcast(Operation *op, StringRef what,
                                            Value value,
                                            ArrayRef<int64_t *> target) {
  ArrayRef<int64_t> shape = shaped(value).getShape();
  bool ok = shape.size() <= target.size();
  if (ok)
    for (auto [dim, known] : llvm::zip(shape, target.take_back(shape.size())))
      ok &= dim == 1 || mayEqual(dim, *known);
  if (!ok) {
    SmallVector<int64_t> expected =
        llvm::map_to_vector(target, [](int64_t *dim) { return *dim; });
    return op->emitOpError("expects ")
           << what << " to broadcast to " << shapeString(expected)
           << ", but got " << shapeString(shape);
  }
  for (auto [dim, known] : llvm::zip(shape, target.take_back(shape.size())))
    if (dim != 1)
      *known = refine(*known, dim);
  return success();
}

LogicalResult attn::detail::verifyPositive(Operation *op, StringRef what,
                                           int64_t dim) {
  if (dim != 0)
    return success();
  return op->emitOpError("expects ") << what << " to be positive, but got 0";
}

LogicalResult attn::detail::verifySingleOperands(Operation *op,
                                                 ArrayRef<StringRef> what,
                                                 ArrayRef<int32_t> segments) {
  for (auto [name, count] : llvm::zip(what, segments))
    if (count != 1)
      return op->emitOpError("expects one ")
             << name << ", but got " << count << " in operandSegmentSizes";
  return success();
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

LogicalResult attn::detail::verifyMemRefs(
    DestinationStyleOpInterface op,
    function_ref<bool(OpOperand &, OpOperand &)> mayBeSame) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    bool written = op.isDpsInit(&operand);
    if (written) // C28
      for (OpOperand &other : op->getOpOperands())
        if (&other != &operand && other.get() == operand.get() &&
            !(mayBeSame && mayBeSame(operand, other)))
          return op->emitOpError("expects a memref destination to be no other "
                                 "operand, but got one value as operands ")
                 << std::min(operand.getOperandNumber(),
                             other.getOperandNumber())
                 << " and "
                 << std::max(operand.getOperandNumber(),
                             other.getOperandNumber());
    auto [strides, offset] = type.getStridesAndOffset(); // C29
    for (auto [stride, dim] : llvm::zip(strides, type.getShape())) {
      if (stride < 0 && !ShapedType::isDynamic(stride))
        return op->emitOpError("expects strides not to be negative, but got ")
               << stride << " in operand " << operand.getOperandNumber();
      if (written && stride == 0 && dim != 1)
        return op->emitOpError("expects strides of a destination to be "
                               "positive, but got 0 in operand ")
               << operand.getOperandNumber();
    }
  }
  return success();
}

/// A number that scores meet: those are f32.
static APFloat toF32(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static std::string toText(const APFloat &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%g", value.convertToDouble());
  return text;
}

LogicalResult attn::detail::verifyScoreOptions(Operation *op,
                                               const ScoreOptions &options) {
  constexpr int64_t maxPosition = std::numeric_limits<int32_t>::max();
  // C12
  for (auto [name, value] : {std::pair("window_left", options.windowLeft),
                             std::pair("window_right", options.windowRight)}) {
    if (value < -1)
      return op->emitOpError("expects ")
             << name << " to be at least -1, but got " << value;
    if (value > maxPosition)
      return op->emitOpError("expects ")
             << name << " to be at most " << maxPosition << ", but got "
             << value;
  }
  // C13
  if (options.causal && options.windowRight > 0)
    return op->emitOpError("expects window_right to be -1 or 0 with causal, "
                           "which hides all keys right of the diagonal, but "
                           "got ")
           << options.windowRight;
  // C14
  if (options.softcap) {
    APFloat softcap = toF32(*options.softcap);
    if (!softcap.isNormal() || softcap.isNegative())
      return op->emitOpError("expects softcap to be finite, positive and "
                             "normal in f32, but got ")
             << toText(*options.softcap);
  }
  // C15
  if (options.scale && !toF32(*options.scale).isFinite())
    return op->emitOpError("expects scale to be finite in f32, but got ")
           << toText(*options.scale);
  if (options.scale && options.hasScaleValue)
    return op->emitOpError(
        "expects one scale, but got an attribute and an operand");
  // C17
  if (options.sinkTokens < 0)
    return op->emitOpError("expects sink_tokens not to be negative, but got ")
           << options.sinkTokens;
  if (options.sinkTokens > maxPosition)
    return op->emitOpError("expects sink_tokens to be at most ")
           << maxPosition << ", but got " << options.sinkTokens;
  if (options.sinkTokens > 0 && options.windowLeft < 0)
    return op->emitOpError("expects window_left with sink_tokens, which are "
                           "visible anyway without it");
  return success();
}

bool attn::detail::fits(LseLayout lseLayout, Layout layout) {
  return (lseLayout == LseLayout::bhs) == (layout != Layout::thd);
}

void attn::detail::addDestinationStyleEffects(
    DestinationStyleOpInterface op, bool readsDestinations,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  auto add = [&](auto *effect, OpOperand &operand) {
    effects.emplace_back(effect, &operand, /*stage=*/0,
                         /*effectOnFullRegion=*/true,
                         SideEffects::DefaultResource::get());
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    bool written = op.isDpsInit(&operand);
    if (!written || readsDestinations)
      add(MemoryEffects::Read::get(), operand);
    if (written)
      add(MemoryEffects::Write::get(), operand);
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
