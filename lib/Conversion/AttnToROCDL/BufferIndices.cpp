//===- BufferIndices.cpp - What a wave shares of an index -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferResourcesImpl.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

bool KernelRewriter::isUniform(Value value) {
  auto it = uniform.find(value);
  if (it != uniform.end())
    return it->second;
  bool result = true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // Kernel arguments, and induction variables of loops with uniform bounds.
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    result =
        (isa<gpu::GPUFuncOp>(parent) && argument.getOwner()->isEntryBlock()) ||
        (loop && argument == loop.getInductionVar() &&
         isUniform(loop.getLowerBound()) && isUniform(loop.getStep()));
  } else {
    Operation *op = value.getDefiningOp();
    auto asmOp = dyn_cast<LLVM::InlineAsmOp>(op);
    if (isa<gpu::ThreadIdOp>(op))
      result = false;
    else if (asmOp) // in a scalar register
      result = asmOp.getConstraints().starts_with("=s");
    else if (isa<ROCDL::ReadfirstlaneOp, gpu::BlockIdOp>(op) ||
             op->hasTrait<OpTrait::ConstantLike>())
      result = true;
    else if (isa<memref::LoadOp>(op) ||
             (isMemoryEffectFree(op) && op->getNumRegions() == 0))
      result = llvm::all_of(op->getOperands(),
                            [&](Value v) { return isUniform(v); });
    else
      result = false;
  }
  return uniform[value] = result;
}

Value KernelRewriter::toI32(Value value) {
  if (value.getType().isInteger(32))
    return value;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    if (cast.getIn().getType().isInteger(32))
      return cast.getIn();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return c32(constant.getSExtValue());
  return arith::IndexCastOp::create(b, b.getI32Type(), value);
}

KernelRewriter::SplitIndex KernelRewriter::split(Value index) {
  if (isUniform(index))
    return {toI32(index), Value()};
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    if (cast.getIn().getType().isInteger(32))
      return split(cast.getIn());
  if (auto add = index.getDefiningOp<arith::AddIOp>()) {
    SplitIndex left = split(add.getLhs()), right = split(add.getRhs());
    auto join = [&](Value x, Value y) -> Value {
      if (!x || !y)
        return x ? x : y;
      return b.createOrFold<arith::AddIOp>(x, y);
    };
    return {join(left.uniform, right.uniform), join(left.lane, right.lane)};
  }
  return {Value(), toI32(index)};
}
