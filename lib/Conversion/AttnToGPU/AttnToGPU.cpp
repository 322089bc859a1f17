//===- AttnToGPU.cpp ----------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNTOGPU
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

class Lowering {
public:
  Lowering(AttentionOp op, const ChipInfo &chip) : op(op), chip(chip) {}
  LogicalResult run(SymbolTable &symbols);

private:
  gpu::GPUFuncOp createKernel(SymbolTable &symbols);
  void launch(gpu::GPUFuncOp kernel);

  AttentionOp op;
  const ChipInfo &chip;
  KernelConfig config;
};

} // namespace

gpu::GPUFuncOp Lowering::createKernel(SymbolTable &symbols) {
  MLIRContext *context = op.getContext();
  OpBuilder builder(context);
  Location loc = op.getLoc();
  std::string name = "attention";
  if (auto function = op->getParentOfType<func::FuncOp>())
    name = (function.getSymName() + "_attention").str();
  auto module = gpu::GPUModuleOp::create(builder, loc, name);
  symbols.insert(module);
  name = module.getName().str();
  module.setTargetsAttr(builder.getArrayAttr(ROCDL::ROCDLTargetAttr::get(
      context, /*optLevel=*/3, "amdgcn-amd-amdhsa", chip.name)));

  SmallVector<KernelOperand> operands = getKernelOperands(op);
  auto types = llvm::map_to_vector(
      operands, [](KernelOperand operand) { return operand.value.getType(); });
  builder.setInsertionPointToStart(module.getBody());
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name,
                                       builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(wavesPerGroup * 64), 1, 1}));
  // Two waves a SIMD share its registers; AGPRs add nothing there but copies.
  SmallVector<Attribute> passthrough;
  for (auto [key, value] :
       {std::pair<StringRef, StringRef>{"amdgpu-waves-per-eu", "2,2"},
        {"amdgpu-agpr-alloc", "0"},
        {"amdgpu-ieee", "false"},
        {"amdgpu-implicitarg-num-bytes", "0"},
        {"uniform-work-group-size", "true"}})
    passthrough.push_back(builder.getStrArrayAttr({key, value}));
  passthrough.push_back(builder.getStringAttr("nounwind"));
  std::string size = std::to_string(wavesPerGroup * 64);
  kernel->setAttr("rocdl.flat_work_group_size",
                  builder.getStringAttr(size + "," + size));
  kernel->setAttr("passthrough", builder.getArrayAttr(passthrough));
  KernelKnobs knobs = config.getKnobs();
  kernel->setAttr(kLoweringConfigAttr,
                  LoweringConfigAttr::get(context, knobs.tileQ, knobs.tileKV,
                                          knobs.splitV, knobs.stages,
                                          knobs.clustersQK, knobs.clustersPV,
                                          knobs.earlyExps));
  for (auto [index, operand] : llvm::enumerate(operands))
    kernel.setArgAttr(index, "attn.name", builder.getStringAttr(operand.name));
  return kernel;
}

void Lowering::launch(gpu::GPUFuncOp kernel) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  DimMap map = getDimMap(op.getLayout());
  auto dim = [&](unsigned index) -> Value {
    return b.createOrFold<memref::DimOp>(op.getQuery(), index);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value tileQ = constant(config.getTileQ());
  Value grid;
  if (map.batch >= 0) {
    Value tiles = b.createOrFold<arith::CeilDivUIOp>(dim(map.seq), tileQ);
    grid = b.createOrFold<arith::MulIOp>(
        b.createOrFold<arith::MulIOp>(dim(0), dim(map.head)), tiles);
  } else {
    // floor(rows / tile) + sequences slots, see `findPackedRows`; none without
    // rows or without sequences.
    Value rows = dim(map.seq);
    Value sequences = b.createOrFold<arith::SubIOp>(
        b.createOrFold<memref::DimOp>(op.getCuSeqlensQ(), 0), constant(1));
    Value slots = b.createOrFold<arith::SubIOp>(
        b.createOrFold<arith::AddIOp>(
            b.createOrFold<arith::CeilDivUIOp>(
                b.createOrFold<arith::AddIOp>(rows, constant(1)), tileQ),
            sequences),
        constant(1));
    slots = b.createOrFold<arith::MinUIOp>(
        slots, b.createOrFold<arith::MulIOp>(rows, sequences));
    grid = b.createOrFold<arith::MulIOp>(dim(map.head), slots);
  }
  if (!getConstantIntValue(grid)) {
    // Perhaps nothing to do: no launch, nothing written.
    Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, grid,
                                      arith::ConstantIndexOp::create(b, 0));
    auto guard = scf::IfOp::create(b, any, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value block = arith::ConstantIndexOp::create(b, wavesPerGroup * 64);
  SmallVector<Value> operands;
  for (KernelOperand operand : getKernelOperands(op))
    operands.push_back(operand.value);
  gpu::LaunchFuncOp::create(b, kernel, {grid, one, one}, {block, one, one},
                            /*dynamicSharedMemorySize=*/Value(), operands);
}

LogicalResult Lowering::run(SymbolTable &symbols) {
  if (failed(verifyTarget(op, chip)))
    return failure();
  if (op.hasPureTensorForm())
    return op.emitOpError("expects memref operands in attn-to-gpu; run "
                          "one-shot-bufferize first");
  auto query = cast<MemRefType>(op.getQuery().getType());
  auto chosen = chooseKernelConfig(op, chip);
  if (!chosen)
    return op.emitOpError(llvm::toString(chosen.takeError()));
  config = *chosen;

  // Nothing to do: no kernel, no launch, nothing written.
  auto starts = op.getCuSeqlensQ();
  if (llvm::is_contained(query.getShape(), 0) ||
      (starts && cast<MemRefType>(starts.getType()).getDimSize(0) == 1)) {
    op.erase();
    return success();
  }
  gpu::GPUFuncOp kernel = createKernel(symbols);
  buildForwardKernel(kernel, config, op);
  launch(kernel);
  op.erase();
  return success();
}

namespace {
struct AttnToGPUPass : public attn::impl::AttnToGPUBase<AttnToGPUPass> {
  using AttnToGPUBase::AttnToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<const ChipInfo *> info = lookupChip(chip);
    if (!info) {
      emitError(module.getLoc(), llvm::toString(info.takeError()));
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    module.walk([&](AttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    SymbolTable symbols(module);
    for (AttentionOp op : ops)
      if (failed(Lowering(op, **info).run(symbols)))
        return signalPassFailure();
  }
};
} // namespace
