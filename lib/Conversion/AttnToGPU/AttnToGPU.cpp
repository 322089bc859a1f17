//===- AttnToGPU.cpp ------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
#include "MergeKernel.h"
#include "attn/Conversion/OperandMemory.h"
#include "attn/Conversion/Passes.h"
#include "attn/Conversion/Tuning.h"

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
#include "mlir/Interfaces/ViewLikeInterface.h"

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
  void setAlignments();
  void setReaches();
  void launch(gpu::GPUFuncOp kernel, ArrayRef<KernelOperand> operands);

  AttentionOp op;
  const ChipInfo &chip;
  KernelConfig config;
};

} // namespace

void Lowering::launch(gpu::GPUFuncOp kernel, ArrayRef<KernelOperand> operands) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  DimMap map = getDimMap(op.getLayout());
  auto dim = [&](unsigned index) -> Value {
    return b.createOrFold<memref::DimOp>(op.getQuery(), index);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value tileQ = constant(config.getTileQ());
  Value heads = dim(map.head), rows = dim(map.seq);
  if (int64_t packed = getPackedHeads(op); packed > 1) {
    heads = b.createOrFold<arith::DivUIOp>(heads, constant(packed));
    rows = b.createOrFold<arith::MulIOp>(rows, constant(packed));
  }
  Value grid;
  if (map.batch >= 0) {
    Value tiles = b.createOrFold<arith::CeilDivUIOp>(rows, tileQ);
    grid = b.createOrFold<arith::MulIOp>(
        b.createOrFold<arith::MulIOp>(dim(0), heads), tiles);
  } else {
    // floor((rows + sequences * slack) / tile) slots, see `findPackedRows`;
    // none without rows or without sequences.
    Value sequences = b.createOrFold<arith::SubIOp>(
        b.createOrFold<memref::DimOp>(op.getCuSeqlensQ(), 0), constant(1));
    Value slack = b.createOrFold<arith::MulIOp>(
        sequences, constant(getSlotSlack(op, config.getTileQ())));
    Value slots = b.createOrFold<arith::CeilDivUIOp>(
        b.createOrFold<arith::AddIOp>(
            b.createOrFold<arith::AddIOp>(rows, slack), constant(1)),
        tileQ);
    slots = b.createOrFold<arith::SubIOp>(slots, constant(1));
    slots = b.createOrFold<arith::MinUIOp>(
        slots, b.createOrFold<arith::MulIOp>(rows, sequences));
    grid = b.createOrFold<arith::MulIOp>(heads, slots);
  }
  launchKernel(b, kernel, grid, operands,
               op.hasSplitDim() ? op.getNumKvSplits() : 1);
}

/// Types say nothing about addresses and dynamic strides, so the function's
/// arguments do, for launches to check.
void Lowering::setAlignments() {
  SmallVector<Value> operands = {op.getQuery(), op.getKey(), op.getValue(),
                                 op.getOutputInit()};
  for (Value operand : {op.getBias(), op.getMask()})
    if (operand && hasWholeDwordRows(cast<MemRefType>(operand.getType())))
      operands.push_back(operand);
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand);
    if (element.getIntOrFloatBitWidth() >= 8 * rowAlignment)
      continue;
    while (auto view = operand.getDefiningOp<ViewLikeOpInterface>())
      operand = view.getViewSource();
    auto argument = dyn_cast<BlockArgument>(operand);
    auto function = op->getParentOfType<func::FuncOp>();
    if (argument && function &&
        argument.getOwner() == &function.getBody().front())
      function.setArgAttr(
          argument.getArgNumber(), kAlignmentAttr,
          IntegerAttr::get(IntegerType::get(op.getContext(), 64),
                           rowAlignment));
  }
}

/// The same for how far apart rows are.
void Lowering::setReaches() {
  auto function = op->getParentOfType<func::FuncOp>();
  for (OperandReach &reach : getReaches(op)) {
    std::optional<ReachBytes> span = getBytes(reach);
    auto argument = dyn_cast<BlockArgument>(reach.operand);
    if ((span && span->bytes < maxReachBytes) || !argument || !function ||
        argument.getOwner() != &function.getBody().front())
      continue;
    unsigned number = argument.getArgNumber();
    // Of another op on the same argument.
    if (auto given =
            function.getArgAttrOfType<DenseI64ArrayAttr>(number, kReachAttr))
      for (auto [count, other] : llvm::zip(reach.counts, given.asArrayRef()))
        count = std::max(count, other);
    function.setArgAttr(number, kReachAttr,
                        DenseI64ArrayAttr::get(op.getContext(), reach.counts));
  }
}

/// The number that `value` is with more bits: kernels take any of 32 bits or
/// more, and a manifest cannot compute between launches.
static Value skipWidening(Value value) {
  while (auto *op = value.getDefiningOp()) {
    if (!isa<arith::ExtSIOp, arith::IndexCastOp>(op))
      break;
    Type source = op->getOperand(0).getType();
    bool isWide = source.isIndex() || source.isInteger(64);
    if (!isWide && !source.isInteger(32))
      break;
    if (isWide && value.getType().isInteger(32)) // narrower
      break;
    value = op->getOperand(0);
  }
  return value;
}

LogicalResult Lowering::run(SymbolTable &symbols) {
  if (failed(verifyTarget(op, chip)))
    return failure();
  if (op.hasPureTensorForm())
    return op.emitOpError("expects memref operands in attn-to-gpu; run "
                          "one-shot-bufferize first");
  auto query = cast<MemRefType>(op.getQuery().getType());
  // A last row sees all keys.
  if (op.getCausal() && !op.hasWindow() && !op.getAlibiSlopes() &&
      !op.getQOffset() && !op.getKvOffset() && op.getLayout() != Layout::thd &&
      op.getDiagonalAlignmentOrDefault() == DiagonalAlignment::bottom_right &&
      query.getDimSize(getDimMap(op.getLayout()).seq) == 1 &&
      !op.getSeqlensQ()) {
    op.setCausal(false);
    op.removeDiagonalAlignmentAttr();
  }
  auto chosen = chooseKernelConfig(op, chip);
  if (!chosen)
    return op.emitOpError(llvm::toString(chosen.takeError()));
  config = *chosen;

  // Nothing to do: no kernel, no launch, nothing written.
  auto starts = op.getCuSeqlensQ();
  auto hasNone = [](Value rows) {
    return rows &&
           llvm::is_contained(cast<MemRefType>(rows.getType()).getShape(), 0);
  };
  bool isPadded =
      op.getLseLayoutOrDefault() == LseLayout::bhs_padded; // is no rows of O
  if (hasNone(op.getQuery()) || hasNone(op.getOutputInit()) ||
      (!isPadded && hasNone(op.getLseInit())) ||
      (starts && cast<MemRefType>(starts.getType()).getDimSize(0) == 1)) {
    op.erase();
    return success();
  }
  setAlignments();
  setReaches();
  SmallVector<KernelOperand> operands = getKernelOperands(op);
  OpBuilder builder(op);
  for (KernelOperand &operand : operands) {
    operand.value = skipWidening(operand.value);
    if (operand.value.getType()
            .isIndex()) // the host's is wider than a kernel's
      operand.value = arith::IndexCastOp::create(
          builder, op.getLoc(), builder.getI64Type(), operand.value);
  }
  // Two waves a SIMD share its registers.
  gpu::GPUFuncOp kernel =
      createKernel(op, "attention", operands, wavesPerGroup * 64, chip, symbols,
                   /*wavesPerSIMD=*/"2,2");
  kernel->setAttr(kLoweringConfigAttr,
                  getLoweringConfig(op.getContext(), config.getKnobs()));
  buildForwardKernel(kernel, config, op);
  launch(kernel, operands);
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
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<AttentionOp, MergeStatesOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    SymbolTable symbols(module);
    for (Operation *op : ops) {
      auto merge = dyn_cast<MergeStatesOp>(op);
      if (failed(merge ? lowerMerge(merge, **info, symbols)
                       : Lowering(cast<AttentionOp>(op), **info).run(symbols)))
        return signalPassFailure();
    }
  }
};
} // namespace
