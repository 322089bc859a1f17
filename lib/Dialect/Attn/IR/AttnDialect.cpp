//===- AttnDialect.cpp - The attn dialect -----------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
  declarePromisedInterfaces<bufferization::BufferizableOpInterface, AttentionOp,
                            OnlineAttentionOp, FinalizeOp, MergeStatesOp>();
}

/// An `attn.name` among `attrs`, the attribute lists of all arguments or all
/// results of a function, at `index`.
static LogicalResult verifyNameAttr(Operation *op, NamedAttribute attr,
                                    ArrayAttr attrs, unsigned index) {
  if (attr.getName() != kNameAttr)
    return op->emitOpError("has unknown attribute '")
           << attr.getName().getValue() << "' of the attn dialect";
  auto isNameChar = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
  };
  auto name = dyn_cast<StringAttr>(attr.getValue());
  if (!name || name.getValue().empty() ||
      !llvm::all_of(name.getValue(), isNameChar))
    return op->emitOpError("expects '")
           << kNameAttr << "' to be a string of letters, digits, '_', '-' and "
           << "'.', but got " << attr.getValue();
  if (attrs)
    for (Attribute earlier : attrs.getValue().take_front(index))
      if (cast<DictionaryAttr>(earlier).get(kNameAttr) == name)
        return op->emitOpError("expects '")
               << kNameAttr << "' to be given once, but got " << name
               << " again";
  return success();
}

static LogicalResult verifyReachAttr(Operation *op, NamedAttribute attr,
                                     FunctionOpInterface function,
                                     unsigned index) {
  auto type = function
                  ? dyn_cast<MemRefType>(function.getArgumentTypes()[index])
                  : MemRefType();
  auto counts = dyn_cast<DenseI64ArrayAttr>(attr.getValue());
  if (type && counts && counts.size() == type.getRank() &&
      llvm::all_of(counts.asArrayRef(), [](int64_t n) { return n > 0; }))
    return success();
  return op->emitOpError("expects '")
         << kReachAttr << "' to be an array<i64> with a positive count for "
         << "each dimension of a memref, but got " << attr.getValue();
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() == kLoweringConfigAttr &&
      !isa<LoweringConfigAttr>(attr.getValue()))
    return op->emitOpError("expects '")
           << kLoweringConfigAttr << "' to be #attn.lowering_config<...>, but "
           << "got " << attr.getValue();
  if (attr.getName() == kAlignmentAttr || attr.getName() == kReachAttr)
    return op->emitOpError("expects '")
           << attr.getName().getValue() << "' on arguments of functions only";
  if (attr.getName() != kNameAttr)
    return success();
  return op->emitOpError("expects '")
         << kNameAttr << "' on arguments and results of functions only";
}

LogicalResult AttnDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attr) {
  if (attr.getName() == kAlignmentAttr) {
    auto bytes = dyn_cast<IntegerAttr>(attr.getValue());
    if (bytes && bytes.getValue().isPowerOf2())
      return success();
    return op->emitOpError("expects '")
           << kAlignmentAttr << "' to be a power of two, but got "
           << attr.getValue();
  }
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attr.getName() == kReachAttr)
    return verifyReachAttr(op, attr, function, index);
  return verifyNameAttr(
      op, attr, function ? function.getArgAttrsAttr() : ArrayAttr(), index);
}

LogicalResult AttnDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned index,
                                                       NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyNameAttr(
      op, attr, function ? function.getResAttrsAttr() : ArrayAttr(), index);
}

DimMap mlir::attn::getDimMap(Layout layout) {
  switch (layout) {
  case Layout::bhsd:
    return {0, 1, 2, 3};
  case Layout::bshd:
    return {0, 2, 1, 3};
  case Layout::thd:
    return {-1, 1, 0, 2};
  }
  llvm_unreachable("unknown layout");
}

DimMap mlir::attn::getKeyDimMap(Layout layout, bool isPaged) {
  return getDimMap(isPaged && layout == Layout::thd ? Layout::bshd : layout);
}
