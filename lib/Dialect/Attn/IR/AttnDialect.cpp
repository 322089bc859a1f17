//===- AttnDialect.cpp - The attn dialect -----------------------------*- C++
//-*-===//
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

static LogicalResult verifyNameAttr(Operation *op, NamedAttribute attr) {
  if (attr.getName() != kNameAttr)
    return op->emitOpError("has unknown attribute '")
           << attr.getName().getValue() << "' of the attn dialect";
  auto name = dyn_cast<StringAttr>(attr.getValue());
  if (!name || name.getValue().empty())
    return op->emitOpError("expects '")
           << kNameAttr << "' to be a non-empty string, but got "
           << attr.getValue();
  return success();
}

LogicalResult AttnDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned,
                                                    NamedAttribute attr) {
  return verifyNameAttr(op, attr);
}

LogicalResult AttnDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned,
                                                       NamedAttribute attr) {
  return verifyNameAttr(op, attr);
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
