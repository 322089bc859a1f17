//===- LinalgEmitter.cpp --------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgEmitter.h"
#include "attn/Dialect/Attn/Utils/Slicing.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

Value attn::floatConstant(OpBuilder &builder, Location loc, Type type,
                          double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value attn::convertFloat(OpBuilder &builder, Location loc, Value value,
                         Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (isa<IntegerType>(from))
    return arith::SIToFPOp::create(builder, loc, type, value);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  // f16 and bf16 meet in f32.
  Value wide = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  return arith::TruncFOp::create(builder, loc, type, wide);
}

Value attn::finiteReference(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  Value none = floatConstant(builder, loc, type,
                             -std::numeric_limits<double>::infinity());
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       value, none);
  return arith::SelectOp::create(builder, loc, isNone,
                                 floatConstant(builder, loc, type, 0.0), value);
}

Value attn::fillWith(OpBuilder &builder, Location loc, Value target,
                     double value) {
  Type element = cast<ShapedType>(target.getType()).getElementType();
  Value constant = floatConstant(builder, loc, element, value);
  auto filled = linalg::FillOp::create(builder, loc, constant, target);
  return filled->getNumResults() ? filled.getResult(0) : target;
}

Value LinalgEmitter::constant(Type type, double value) {
  return floatConstant(rewriter, loc, type, value);
}

Value LinalgEmitter::temporary(ArrayRef<OpFoldResult> shape, Type element) {
  return createEmpty(rewriter, loc, tensors, shape, element);
}

Value LinalgEmitter::fill(Value target, double value) {
  return fillWith(rewriter, loc, target, value);
}

AffineMap LinalgEmitter::map(unsigned dims, ArrayRef<unsigned> results) {
  return AffineMap::getMultiDimMapWithTargets(dims, results,
                                              rewriter.getContext());
}

Value LinalgEmitter::convert(Value source, Value target, AffineMap map) {
  auto type = cast<ShapedType>(target.getType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return generic({source}, {target},
                 {map, rewriter.getMultiDimIdentityMap(type.getRank())},
                 iterators, [&](OpBuilder &b, ValueRange args) {
                   return SmallVector<Value>{
                       convertFloat(b, loc, args[0], type.getElementType())};
                 })[0];
}

SmallVector<Value>
LinalgEmitter::generic(ValueRange inputs, ValueRange outputs,
                       ArrayRef<AffineMap> maps,
                       ArrayRef<utils::IteratorType> iterators, Body body) {
  SmallVector<Type> types;
  if (tensors)
    llvm::append_range(types, outputs.getTypes());
  auto op = linalg::GenericOp::create(
      rewriter, loc, types, inputs, outputs, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange args) {
        linalg::YieldOp::create(b, loc, body(b, args));
      });
  return llvm::to_vector_of<Value>(tensors ? ValueRange(op->getResults())
                                           : outputs);
}

void LinalgEmitter::replace(Operation *op, ValueRange results) {
  if (tensors)
    rewriter.replaceOp(op, results);
  else
    rewriter.eraseOp(op);
}
