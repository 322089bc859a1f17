//===- ForwardKernel.h - The forward attention kernel -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One wave's program for O and LSE of dense attention; docs/Lowering.md tells
// the structure.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNEL_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNEL_H

#include "KernelLaunch.h"
#include "attn/Conversion/KernelConfig.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::attn {

/// The operands that `op` has, in the order of the kernel's arguments: query,
/// key, value, the optional inputs, output, lse. Only these are arguments, so a
/// kernel finds one by name.
llvm::SmallVector<KernelOperand> getKernelOperands(AttentionOp op);

/// Strides of a memref, or of a tensor once it is one, in elements: kDynamic
/// where one is dynamic, and none where nothing is known.
llvm::SmallVector<int64_t> getElementStrides(ShapedType type);

/// Elements that one read of a bias or mask may take: 4 keys where they are
/// contiguous, else 1.
int64_t getScoreReadWidth(MemRefType type);

/// What `op`'s kernel does with a score besides scaling it, per tile of 64
/// keys.
ScoreNeeds getScoreNeeds(AttentionOp op, const ChipInfo &chip);

/// May a tile of `operand`, the bias or mask of `op`, be staged in LDS? And the
/// bytes that one of that element type takes there, of a wave.
bool mayStageScores(AttentionOp op, Value operand, const ChipInfo &chip);
int64_t getStagedScoreBytes(Type element);

/// What packed sequences add to their starts, in rows a sequence, before these
/// are divided into tiles: the grid counts slots of those.
int64_t getSlotSlack(AttentionOp op, int64_t tileQ);

/// Query heads whose rows share tiles, so that K and V are read once for all of
/// them: those with the same key and value head, where one head's rows do not
/// fill a tile (decode) or their number is not known. 1 where heads stay apart.
int64_t getPackedHeads(AttentionOp op);

/// Rows of a page that lie in one tile of keys, whatever the page.
int64_t getPagePart(int64_t pageSize, const KernelConfig &config);

/// The launch, where the types tell it: of packed sequences the mean one, of
/// pages as many keys as the block table has room for.
std::optional<LaunchShape> getLaunchShape(AttentionOp op);

/// Rows of one head that a wave reads of a bias or mask: of packed heads the
/// first one may be the last of a place.
inline int64_t getRunRows(int64_t packing) {
  return llvm::divideCeil(rowsPerWave - 1, packing) + 1;
}

/// An operand that lanes address in 32 bits from a place of their wave: any box
/// of `counts` neighbours in each dimension, or as many as there are, has to
/// span less than `maxReachBytes`.
struct OperandReach {
  StringRef name;
  Value operand;
  SmallVector<int64_t> counts;
};
inline constexpr int64_t maxReachBytes = int64_t(1) << 31;
SmallVector<OperandReach> getReaches(AttentionOp op);
/// What such a box spans at most, with `isExact` where all its sizes are
/// static; nothing if a stride is not.
struct ReachBytes {
  uint64_t bytes = 0;
  bool isExact = true;
};
std::optional<ReachBytes> getBytes(const OperandReach &reach);
/// Fails where static sizes and strides exceed a reach.
LogicalResult verifyReaches(AttentionOp op, const ChipInfo &chip);

/// Fills the empty `func` with the program for `op`, whose arguments are the
/// kernel operands. Adds the LDS buffers as workgroup attributions.
void buildForwardKernel(gpu::GPUFuncOp func, const KernelConfig &config,
                        AttentionOp op);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNEL_H
