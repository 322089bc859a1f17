//===- ChipInfo.h - What differs between CDNA chips, as data ----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes ask this table; none of them compares chip names. A further chip is a
// further row, plus code for what is really new in it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_CHIPINFO_H
#define ATTN_TARGET_CHIPINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::attn {

/// Element types of Q, K, V, O that the GPU path knows.
enum class ElementKind { F16, BF16, F32 };

/// Bytes of one element.
unsigned getByteWidth(ElementKind kind);
/// MLIR's spelling: f16, bf16, f32.
llvm::StringRef getName(ElementKind kind);

/// How two f32 values become one dword of two rounded elements.
enum class PackMethod {
  Convert, ///< `arith.truncf` on a pair selects one instruction (or is free).
  RoundNearestEvenBits, ///< bf16 by integer arithmetic: bfe, add3, perm.
};

/// One CDNA chip. Clocks are issue clocks of a wave64 instruction.
struct ChipInfo {
  llvm::StringRef name; ///< As in `--chip=` and LLVM's `-mcpu=`.
  unsigned computeUnits;
  /// Bytes of LDS one workgroup may use.
  unsigned ldsBytes;
  unsigned ldsBanks;
  /// Bytes one lane moves in one global-to-LDS DMA instruction, at most.
  unsigned dmaBytesPerLane;
  /// Has ds_read_b64_tr_b16.
  bool hasTransposedRead;
  /// Has v_permlane32_swap.
  bool hasPermlaneSwap;
  /// Has v_cvt_pk_bf16_f32.
  bool hasPackedBF16Convert;
  /// Contraction depth of the 32x32 MFMA for 16-bit elements.
  unsigned mfmaDepth16;
  /// Contraction depth of the 32x32 MFMA for f32.
  unsigned mfmaDepth32;
  /// VALU clocks that hide behind one 32-clock MFMA.
  unsigned mfmaShadowClocks;
  unsigned transcendentalClocks;
  /// Can v_pk_*_f32 run while an MFMA does?
  bool packedF32Hides;

  unsigned getMFMADepth(ElementKind kind) const {
    return kind == ElementKind::F32 ? mfmaDepth32 : mfmaDepth16;
  }
  PackMethod getPackMethod(ElementKind kind) const;

  /// Issue clocks of packing one pair with `getPackMethod`.
  unsigned getPackClocks(ElementKind kind) const;
};

/// All chips, in ascending order of name.
llvm::ArrayRef<ChipInfo> getChips();

/// The row of `name`; the error lists the known chips.
llvm::Expected<const ChipInfo *> lookupChip(llvm::StringRef name);

/// Head dimensions the GPU path takes: `minHeadDim`..`maxHeadDim` in steps.
inline constexpr int64_t minHeadDim = 8, maxHeadDim = 256, headDimStep = 8;
constexpr bool isKernelHeadDim(int64_t dim) {
  return dim >= minHeadDim && dim <= maxHeadDim && dim % headDimStep == 0;
}

/// VGPRs a lane has at two waves a SIMD.
inline constexpr unsigned vgprBudget = 256;

} // namespace mlir::attn

#endif // ATTN_TARGET_CHIPINFO_H
