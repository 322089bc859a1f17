//===- KernelLaunch.cpp ---------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLaunch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

gpu::GPUFuncOp mlir::attn::createKernel(Operation *op, StringRef suffix,
                                        ArrayRef<KernelOperand> operands,
                                        int64_t threads, const ChipInfo &chip,
                                        SymbolTable &symbols,
                                        StringRef wavesPerSIMD) {
  MLIRContext *context = op->getContext();
  OpBuilder builder(context);
  Location loc = op->getLoc();
  std::string name = suffix.str();
  if (auto function = op->getParentOfType<func::FuncOp>())
    name = (function.getSymName() + "_" + suffix).str();
  auto module = gpu::GPUModuleOp::create(builder, loc, name);
  symbols.insert(module);
  name = module.getName().str();
  module.setTargetsAttr(builder.getArrayAttr(ROCDL::ROCDLTargetAttr::get(
      context, /*optLevel=*/3, "amdgcn-amd-amdhsa", chip.name)));

  auto types = llvm::map_to_vector(operands, [](const KernelOperand &operand) {
    return operand.value.getType();
  });
  builder.setInsertionPointToStart(module.getBody());
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name,
                                       builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  SmallVector<Attribute> passthrough;
  if (!wavesPerSIMD.empty())
    passthrough.push_back(
        builder.getStrArrayAttr({"amdgpu-waves-per-eu", wavesPerSIMD}));
  // AGPRs would add nothing but copies.
  for (auto [key, value] :
       {std::pair<StringRef, StringRef>{"amdgpu-agpr-alloc", "0"},
        {"amdgpu-ieee", "false"},
        {"amdgpu-implicitarg-num-bytes", "0"},
        {"uniform-work-group-size", "true"}})
    passthrough.push_back(builder.getStrArrayAttr({key, value}));
  passthrough.push_back(builder.getStringAttr("nounwind"));
  std::string size = std::to_string(threads);
  kernel->setAttr("rocdl.flat_work_group_size",
                  builder.getStringAttr(size + "," + size));
  kernel->setAttr("passthrough", builder.getArrayAttr(passthrough));
  for (auto [index, operand] : llvm::enumerate(operands))
    kernel.setArgAttr(index, "attn.name", builder.getStringAttr(operand.name));
  return kernel;
}

void mlir::attn::launchKernel(ImplicitLocOpBuilder &b, gpu::GPUFuncOp kernel,
                              Value grid, ArrayRef<KernelOperand> operands,
                              int64_t gridY) {
  OpBuilder::InsertionGuard insertion(b);
  if (!getConstantIntValue(grid)) {
    // Perhaps nothing to do: no launch, nothing written.
    Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, grid,
                                      arith::ConstantIndexOp::create(b, 0));
    auto guard = scf::IfOp::create(b, any, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value second = arith::ConstantIndexOp::create(b, gridY);
  Value block =
      arith::ConstantIndexOp::create(b, kernel.getKnownBlockSizeAttr()[0]);
  auto values = llvm::map_to_vector(
      operands, [](const KernelOperand &operand) { return operand.value; });
  gpu::LaunchFuncOp::create(b, kernel, {grid, second, one}, {block, one, one},
                            /*dynamicSharedMemorySize=*/Value(), values);
}
