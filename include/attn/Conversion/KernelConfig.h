//===- KernelConfig.h - How a wave program is cut ---------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule that turns chip, element type and head dims into tiles, waves and
// LDS tile layouts. docs/Lowering.md prints it as one table.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_KERNELCONFIG_H
#define ATTN_CONVERSION_KERNELCONFIG_H

#include "attn/Target/ChipInfo.h"
#include "attn/Target/LaunchEstimate.h"
#include "attn/Target/LinearLayout.h"

namespace mlir::attn {

/// Waves of a workgroup and rows of Q that one wave owns (an MFMA's columns).
inline constexpr int64_t wavesPerGroup = 8, rowsPerWave = 32;

/// Bytes that the address and the rows of Q, K, V and O are multiples of: the
/// buffer instructions' dword.
inline constexpr int64_t rowAlignment = 4;

/// Decisions that may be given; the rule takes the others. The names are those
/// of `#attn.lowering_config`.
struct KernelKnobs {
  std::optional<int64_t> tileQ, tileKV, splitV, stages, clustersQK, clustersPV,
      earlyExps;
};

/// A knob and its name in IR and tuning files.
struct KernelKnob {
  llvm::StringLiteral name;
  std::optional<int64_t> KernelKnobs::*value;
};
llvm::ArrayRef<KernelKnob> getKernelKnobs();

/// Bytes of a pool of pages whose distances lanes add up in 32 bits.
inline constexpr int64_t maxPoolBytes = (int64_t(1) << 32) - (1 << 16);

/// What a kernel does with a score besides scaling it.
struct ScoreNeeds {
  int64_t vgprs = 0; ///< that hold a lane's bias and mask of a tile
  double clocks = 0; ///< of the vector pipe, a score
  /// What a wave's part of a tile takes in LDS, of those that may be staged
  /// there, the registers that they would take, and those that hold addresses
  /// if they are, with those of pages.
  int64_t ldsBytes = 0, ldsVgprs = 0, ldsAddresses = 0;
  /// Softcap and nothing else: half of it beside each product (pipelined).
  bool capsInExponent = false;
};

/// Everything the builder of the forward kernel decides from.
struct KernelConfig {
  const ChipInfo *chip = nullptr;
  ElementKind kind = ElementKind::BF16;
  int64_t headDimQK = 0, headDimV = 0;

  /// Keys of one tile: 32 or 64.
  int64_t tileKV = 64;
  /// Waves that share 32 rows of Q, each owning a share of V's columns.
  int64_t splitV = 1;
  /// Groups of waves that share rows, each with a part of the keys: group g has
  /// tiles g, g + groupsKV, ... to itself, and all merge their states at the
  /// end (pipelined only).
  int64_t groupsKV = 1;
  /// Of the waves that share rows for V's sake, each takes a share of a tile's
  /// keys in Q K^T and the softmax, too, and hands its P to the other (two such
  /// waves, pipelined only). Else each does all of Q K^T.
  bool exchangesP = false;
  /// Fragments along the contraction of Q K^T (16 bytes a lane each).
  int64_t stepsQK = 0;
  /// 32-column blocks of V and O that one wave owns.
  int64_t blocksV = 0;
  /// Blocks of V read together by one LDS read (1 with transposed reads).
  int64_t groupV = 1;
  /// V comes out of LDS through transposed reads.
  bool transposedV = false;
  /// The software-pipelined program (double-buffered LDS, two wave groups);
  /// else the plain one: stage, wait, multiply.
  bool pipelined = false;
  /// Clusters that Q K^T of a tile is cut into (pipelined only).
  int64_t clustersQK = 1;
  /// The same for P V.
  int64_t clustersPV = 1;
  /// Exponentials of a tile, of tileKV / 2 a lane, that are computed ahead, in
  /// the cluster of P V (pipelined only).
  int64_t earlyExps = 0;
  /// A half-row of a tile whose P sums to more than 2^this raises the maximum.
  int64_t voteLog2 = 24;
  /// Bias and mask go through LDS as far as they may, not straight to registers
  /// (pipelined only).
  bool stagesScores = false;

  /// Bytes that rows of all operands must begin at multiples of.
  int64_t rowAlignment = attn::rowAlignment;
  ScoreNeeds scores;

  int64_t getTileQ() const {
    return wavesPerGroup / (splitV * groupsKV) * rowsPerWave;
  }
  /// Waves that stage and read one tile.
  int64_t getTileWaves() const { return wavesPerGroup / groupsKV; }
  /// Keys of a tile that one wave computes scores of.
  int64_t getWaveKeys() const { return tileKV / (exchangesP ? splitV : 1); }
  /// Keys that all groups take together.
  int64_t getRoundKeys() const { return tileKV * groupsKV; }
  unsigned getElementBytes() const { return getByteWidth(kind); }
  /// Elements of one 16-byte fragment.
  int64_t getFragment() const { return 16 / getElementBytes(); }
  /// Elements of a 128-byte line of an LDS tile.
  int64_t getLine() const { return 128 / getElementBytes(); }
  /// Lines of one row of K, of V, in LDS.
  int64_t getLinesK() const;
  int64_t getLinesV() const;

  /// (row, col) -> offset in elements inside the LDS tile of K or V.
  LinearLayout getTileLayout(bool isV) const;
  /// Elements of that tile, padding included.
  int64_t getTileElements(bool isV) const;
  /// Elements from one group's tile to the next's.
  int64_t getGroupStride(bool isV) const;
  /// What one DMA instruction moves: (lane, elt, wave, instr) -> (row, col),
  /// `wave` one of those that stage the tile.
  /// In LDS the lanes of one instruction are consecutive.
  LinearLayout getStagingLayout(bool isV) const;
  int64_t getStagingInstructions(bool isV) const;
  /// Where a wave leaves a block of O^T for the wave it merges with: (lane,
  /// quad of registers, row wave) -> offset in elements.
  LinearLayout getMergeLayout() const;
  /// Where a wave leaves P, (lane, step of its keys, wave) -> offset in
  /// elements, and the 4 bytes of its maxima behind it, (lane, wave) -> offset.
  LinearLayout getExchangeLayout() const;
  LinearLayout getMaximumLayout() const;
  /// Elements before the maxima, and of the whole.
  int64_t getMaximumOffset() const;
  int64_t getExchangeElements() const;
  /// Rows of a tile among which those of one DMA instruction lie.
  int64_t getStagingSpan() const;
  /// Registers that hold a tile of bias and mask.
  int64_t getScoreVGPRs() const {
    return scores.vgprs - (stagesScores ? scores.ldsVgprs : 0);
  }
  /// LDS bytes of the whole kernel.
  int64_t getLDSBytes() const;
  /// VGPRs of the widest cluster: Q, O, two tiles of S, P and what the cluster
  /// has read; a few more hold addresses.
  int64_t getVGPREstimate() const;
  /// What a workgroup costs, for estimateMakespan.
  WorkgroupCost getCost() const;
  /// All knobs, as they were taken.
  KernelKnobs getKnobs() const;
};

/// The rule. `headDimQK` and `headDimV` are multiples of 8 in 8..256; `shape`
/// is none where a size is not known. Fails, with the limit and the need, where
/// the LDS of `chip` is too small or `knobs` asks for what is not legal.
llvm::Expected<KernelConfig> chooseKernelConfig(
    const ChipInfo &chip, ElementKind kind, int64_t headDimQK, int64_t headDimV,
    const std::optional<LaunchShape> &shape = std::nullopt,
    const KernelKnobs &knobs = {}, const ScoreNeeds &scores = {});

} // namespace mlir::attn

#endif // ATTN_CONVERSION_KERNELCONFIG_H
