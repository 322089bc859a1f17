//===- BufferSignature.cpp - Kernel arguments -----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"
#include "attn/Conversion/OperandMemory.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult KernelRewriter::rewriteSignature() {
  Block &entry = func.getBody().front();
  unsigned count = func.getFunctionType().getNumInputs();
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  b.setInsertionPointToStart(&entry);
  unsigned next = 0; // where the next new argument goes
  for (unsigned i = 0; i < count; ++i) {
    Value value = entry.getArgument(next);
    DictionaryAttr oldAttrs = func.getArgAttrDict(i);
    std::string name = "arg" + std::to_string(i);
    if (oldAttrs)
      if (auto given = oldAttrs.getAs<StringAttr>("attn.name"))
        name = given.str();
    auto type = dyn_cast<MemRefType>(value.getType());
    oldTypes.push_back(type);
    auto addArgument = [&](Type type, const Twine &name,
                           ArrayRef<NamedAttribute> more = {}) -> Value {
      types.push_back(type);
      NamedAttrList list(more);
      list.set("attn.name", b.getStringAttr(name));
      attrs.push_back(list.getDictionary(b.getContext()));
      return entry.insertArgument(next++, type, b.getLoc());
    };
    if (!type) {
      types.push_back(value.getType());
      attrs.push_back(oldAttrs ? oldAttrs : b.getDictionaryAttr({}));
      ++next;
      continue;
    }
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return func.emitOpError("expects strided kernel memrefs in "
                              "attn-buffer-resources, but got ")
             << type;
    Argument argument;
    SmallVector<NamedAttribute> known = {
        b.getNamedAttr("llvm.inreg", b.getUnitAttr())};
    if (!func->hasAttr(kMayAliasAttr))
      known.push_back(b.getNamedAttr("llvm.noalias", b.getUnitAttr()));
    argument.pointer = addArgument(pointer(1), name, known);
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      argument.sizes.push_back(
          ShapedType::isDynamic(size)
              ? addArgument(b.getI32Type(), name + ".size" + Twine(d))
              : c32(size));
    for (auto [d, stride] : llvm::enumerate(strides))
      argument.strides.push_back(
          ShapedType::isDynamic(stride)
              ? addArgument(b.getI64Type(), name + ".stride" + Twine(d))
              : c64(stride));
    // The old argument follows the new ones; it goes when it has no user.
    arguments[entry.getArgument(next)] = argument;
    ++next;
  }
  func.setFunctionTypeAttr(TypeAttr::get(b.getFunctionType(types, {})));
  func.setArgAttrsAttr(b.getArrayAttr(attrs));
  return success();
}

void KernelRewriter::rewriteLaunch(gpu::LaunchFuncOp launch) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(launch);
  SmallVector<Value> operands;
  for (auto [operand, type] : llvm::zip(launch.getKernelOperands(), oldTypes)) {
    if (!type) {
      operands.push_back(operand);
      continue;
    }
    auto metadata = memref::ExtractStridedMetadataOp::create(b, operand);
    auto toI64 = [&](Value index) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(), index);
    };
    Value address =
        toI64(memref::ExtractAlignedPointerAsIndexOp::create(b, operand));
    Value offset = arith::MulIOp::create(b, toI64(metadata.getOffset()),
                                         c64(getElementBytes(type)));
    operands.push_back(LLVM::IntToPtrOp::create(
        b, pointer(1), arith::AddIOp::create(b, address, offset),
        LLVM::DereferenceableAttr()));
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        operands.push_back(arith::IndexCastOp::create(b, b.getI32Type(),
                                                      metadata.getSizes()[d]));
    for (auto [d, stride] : llvm::enumerate(type.getStridesAndOffset().first))
      if (ShapedType::isDynamic(stride))
        operands.push_back(toI64(metadata.getStrides()[d]));
  }
  launch.getKernelOperandsMutable().assign(operands);
  SmallVector<int64_t> numbers;
  for (BlockArgument argument :
       func.getBody().front().getArguments().take_front(operands.size()))
    if (written.contains(argument))
      numbers.push_back(argument.getArgNumber());
  launch->setAttr(kWrittenAttr, b.getDenseI64ArrayAttr(numbers));
}

void KernelRewriter::replaceSizesAndStrides() {
  func.walk([&](memref::DimOp op) {
    auto it = arguments.find(op.getSource());
    std::optional<int64_t> index = op.getConstantIndex();
    if (it == arguments.end() || !index ||
        *index >= int64_t(it->second.sizes.size()))
      return;
    b.setInsertionPoint(op);
    op.replaceAllUsesWith(arith::IndexCastOp::create(b, b.getIndexType(),
                                                     it->second.sizes[*index])
                              .getResult());
    op.erase();
  });
  func.walk([&](memref::ExtractStridedMetadataOp op) {
    auto it = arguments.find(op.getSource());
    if (it == arguments.end())
      return;
    b.setInsertionPoint(op);
    // The pointer is at the first element: no offset is left.
    op.getOffset().replaceAllUsesWith(
        arith::ConstantIndexOp::create(b, 0).getResult());
    for (auto [result, stride] : llvm::zip(op.getStrides(), it->second.strides))
      if (!result.use_empty())
        result.replaceAllUsesWith(
            arith::IndexCastOp::create(b, b.getIndexType(), stride)
                .getResult());
  });
}

void KernelRewriter::eraseViews() {
  SmallVector<Operation *> views;
  func.walk([&](Operation *op) {
    if (isa<memref::SubViewOp, memref::ReinterpretCastOp,
            memref::ExtractStridedMetadataOp>(op))
      views.push_back(op);
  });
  for (Operation *op : llvm::reverse(views)) // views of views first
    if (op->use_empty())
      op->erase();
}

LogicalResult KernelRewriter::eraseOldArguments() {
  Block &entry = func.getBody().front();
  for (unsigned i = entry.getNumArguments(); i-- > 0;) {
    Value argument = entry.getArgument(i);
    if (!arguments.contains(argument))
      continue;
    if (!argument.use_empty())
      return (*argument.user_begin())
          ->emitOpError("expects kernel memrefs to be used through loads, "
                        "reads, writes and stores in attn-buffer-resources");
    entry.eraseArgument(i);
  }
  return success();
}

void KernelRewriter::markPointers() {
  for (BlockArgument argument :
       func.getBody().front().getArguments().take_front(
           func.getFunctionType().getNumInputs())) {
    if (!isa<LLVM::LLVMPointerType>(argument.getType()))
      continue;
    if (!written.contains(argument))
      func.setArgAttr(argument.getArgNumber(), "llvm.readonly",
                      b.getUnitAttr());
    else if (!read.contains(argument))
      func.setArgAttr(argument.getArgNumber(), "llvm.writeonly",
                      b.getUnitAttr());
  }
}
