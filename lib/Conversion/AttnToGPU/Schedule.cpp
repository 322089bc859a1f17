//===- Schedule.cpp - Weave the softmax between the MFMAs -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/KernelTarget.h"
#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSCHEDULE
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Issue clocks of `op` on the vector pipe; 0 for what becomes no instruction
/// or a part of another one.
static double getClocks(Operation *op, const ChipInfo &chip) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<ROCDL::ROCDLExp2, ROCDL::ROCDLRcp>(
          [&](auto) { return chip.transcendentalClocks; })
      .Case<math::FmaOp, arith::AddFOp, arith::SubFOp, arith::MulFOp>(
          [&](Operation *op) {
            auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
            // Two are one packed instruction.
            return vector ? 2 * llvm::alignTo(vector.getNumElements(), 2) : 4;
          })
      .Case<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::SIToFPOp>(
          [](auto) { return 4; })
      .Case([](arith::ExtFOp op) { // of f16 a part of its reader
        return op.getIn().getType().isBF16() ? 4 : 0;
      })
      .Case([](arith::MaxNumFOp) { return 2; }) // two become v_max3
      .Case([&](arith::TruncFOp op) -> double {
        Type element = getElementTypeOrSelf(op.getType());
        return chip.getPackClocks(element.isBF16() ? ElementKind::BF16
                                                   : ElementKind::F16);
      })
      .Case([](arith::AndIOp) { return 4; }) // with its shift, v_bfe
      .Case([](arith::AddIOp) { return 2; }) // two become v_add3
      .Case([](LLVM::CallIntrinsicOp op) {
        return op.getIntrin() == "llvm.amdgcn.perm" ? 4 : 0;
      })
      .Default([](Operation *) { return 0; });
}

/// Becomes v_pk_*_f32?
static bool isPackedF32(Operation *op) {
  if (!isa<math::FmaOp, arith::AddFOp, arith::MulFOp>(op))
    return false;
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  return vector && vector.getNumElements() == 2;
}

/// May the op be moved between others that compute?
static bool isArithmetic(Operation *op) {
  if (isa<ROCDL::BallotOp>(op)) // reads EXEC, which a block does not change
    return true;
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin() == "llvm.amdgcn.perm";
  return op->hasAttr(kWovenAttr) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op));
}

namespace {

class Weaver {
public:
  Weaver(ArrayRef<Operation *> ops, const ChipInfo &chip)
      : ops(ops), chip(chip) {}
  /// Reorders; false if the cluster stays as it is.
  bool run();

private:
  bool split();
  void emit(Operation *op) { op->moveBefore(end); }
  void fence() {
    OpBuilder builder(end);
    ROCDL::SchedBarrier::create(builder, end->getLoc(), 0);
  }
  double clocks(Operation *op) const { return getClocks(op, chip); }

  ArrayRef<Operation *> ops;
  const ChipInfo &chip;
  Operation *end = nullptr; ///< what follows the cluster
  /// The MFMAs, each behind the preparation of its operands.
  SmallVector<SmallVector<Operation *>> windows;
  SmallVector<Operation *> vectorWork;
};

} // namespace

bool Weaver::split() {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  // What an MFMA needs of the cluster, in order: its preparation.
  DenseSet<Operation *> claimed;
  for (Operation *op : ops) {
    if (!isa<amdgpu::MFMAOp>(op))
      continue;
    SmallVector<Operation *> needed, work = {op};
    while (!work.empty())
      for (Value operand : work.pop_back_val()->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && inside.contains(def) && !isa<amdgpu::MFMAOp>(def) &&
            claimed.insert(def).second) {
          needed.push_back(def);
          work.push_back(def);
        }
      }
    llvm::sort(needed, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    claimed.insert(op);
    needed.push_back(op);
    windows.push_back(std::move(needed));
  }
  for (Operation *op : ops)
    if (!claimed.contains(op))
      vectorWork.push_back(op);
  // Neither list may read the other.
  for (Operation *op : vectorWork)
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (claimed.contains(def) && !def->hasTrait<OpTrait::ConstantLike>())
          return false;
  return windows.size() > 1;
}

bool Weaver::run() {
  end = ops.back()->getNextNode();
  if (!split())
    return false;

  size_t n = windows.size();
  SmallVector<double> preparation;
  for (ArrayRef<Operation *> window : windows) {
    double sum = 0;
    for (Operation *op : window)
      sum += clocks(op);
    preparation.push_back(sum);
  }
  double total = 0;
  for (double clocks : ArrayRef(preparation).drop_front())
    total += clocks;
  for (Operation *op : vectorWork)
    if (chip.packedF32Hides || !isPackedF32(op))
      total += clocks(op);
  double cap = chip.mfmaShadowClocks;
  // Even shares; where everything together does not fit the shadows, a little
  // more behind each MFMA and the rest behind the last.
  double target = std::min(cap, total / (n - 1));
  if (total > cap * (n - 1))
    target = std::max(target, (total - 8) / (n - 0.5));

  // Where packed f32 does not hide, it stands right in front of the next MFMA,
  // evenly shared out too.
  bool defers = !chip.packedF32Hides;
  double packedTotal = 0;
  if (defers)
    for (Operation *op : vectorWork)
      packedTotal += isPackedF32(op) ? clocks(op) : 0;
  // All in time for their exponentials.
  constexpr size_t behindPacked = 4;
  double packedShare =
      packedTotal / double(n > behindPacked + 1 ? n - 1 - behindPacked : 1);
  double packedCredit = 0;

  for (Operation *op : windows.front())
    emit(op);
  fence();
  DenseSet<Operation *> pending(vectorWork.begin(), vectorWork.end());
  auto isReady = [&](Operation *op) {
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      return pending.contains(operand.getDefiningOp());
    });
  };
  // With what it needs, but for that which takes clocks.
  std::function<bool(Operation *)> isNearlyReady = [&](Operation *op) {
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return pending.contains(def) && (clocks(def) > 0 || !isNearlyReady(def));
    });
  };
  std::function<void(Operation *)> place = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (pending.contains(def))
          place(def);
    emit(op);
    pending.erase(op);
  };
  double credit = 0;
  for (size_t k = 1; k < n; ++k) {
    for (Operation *op : ArrayRef(windows[k]).drop_back())
      emit(op);
    credit += target - preparation[k];
    double room = std::max(cap, target) - preparation[k];
    if (k == n - 1)
      credit = room; // nothing but the last MFMA stands before the barrier
    packedCredit += packedShare;
    for (Operation *op : vectorWork) {
      if (!pending.contains(op) || !isReady(op) || (defers && isPackedF32(op)))
        continue;
      double spent = clocks(op);
      if (spent > std::min(credit, room) + 1e-6)
        break;
      credit -= spent;
      room -= spent;
      place(op);
    }
    if (defers && packedTotal > 0) {
      fence();
      for (Operation *op : vectorWork) {
        if (!pending.contains(op) || !isPackedF32(op) || !isNearlyReady(op))
          continue;
        if (clocks(op) > packedCredit + 1e-6)
          break;
        packedCredit -= clocks(op);
        place(op);
      }
    }
    fence();
    emit(windows[k].back());
    fence();
  }
  for (Operation *op : vectorWork)
    if (pending.contains(op))
      place(op);
  return true;
}

namespace {
struct SchedulePass : public mlir::attn::impl::AttnScheduleBase<SchedulePass> {
  using AttnScheduleBase::AttnScheduleBase;

  void scheduleBlock(Block &block, const ChipInfo &chip) {
    // Clusters first: weaving inserts operations.
    SmallVector<SmallVector<Operation *>> clusters;
    bool behindBarrier = false;
    SmallVector<Operation *> run;
    auto close = [&] {
      if (behindBarrier && llvm::any_of(run, [](Operation *op) {
            return isa<amdgpu::MFMAOp>(op);
          }))
        clusters.push_back(run);
      run.clear();
    };
    for (Operation &op : block) {
      if (isArithmetic(&op)) {
        run.push_back(&op);
        continue;
      }
      close();
      behindBarrier |= isa<ROCDL::SBarrierOp>(op);
    }
    for (ArrayRef<Operation *> ops : clusters)
      Weaver(ops, chip).run();
  }

  void runOnOperation() override {
    gpu::GPUFuncOp func = getOperation();
    auto module = func->getParentOfType<gpu::GPUModuleOp>();
    auto target = module ? getKernelTarget(module) : ROCDL::ROCDLTargetAttr();
    if (!target)
      return;
    llvm::Expected<const ChipInfo *> chip = lookupChip(target.getChip());
    if (!chip) {
      func.emitOpError(llvm::toString(chip.takeError()));
      return signalPassFailure();
    }
    func.walk([&](Block *block) { scheduleBlock(*block, **chip); });
  }
};
} // namespace
