//===- KernelConfig.cpp -------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/KernelConfig.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::attn;
using llvm::divideCeil;
using llvm::Log2_64;

// Padding behind every 1 KB burst of a tile with transposed or 16-byte reads,
// so that the eight bursts of a column of lines start in different banks.
static constexpr int64_t paddingK = 16, paddingV = 64;

int64_t KernelConfig::getLinesK() const {
  return divideCeil(stepsQK * 2 * getFragment(), getLine());
}

int64_t KernelConfig::getLinesV() const {
  return divideCeil(splitV * blocksV * 32, getLine());
}

// A chip with 16-byte DMA: a burst is 8 rows (r%8 equal) by one line, lanes in
// order. Else: lines in columns, 16-byte chunks of K swizzled by the row.
static int64_t getBurst(const KernelConfig &config, bool isV) {
  return (1024 + (isV ? paddingV : paddingK)) / config.getElementBytes();
}

LinearLayout KernelConfig::getTileLayout(bool isV) const {
  int64_t line = getLine(), fragment = getFragment();
  unsigned inLine = Log2_64(line);
  llvm::SmallVector<LinearLayout::Basis> rows, cols;
  for (unsigned b = 0; b < inLine; ++b)
    cols.push_back({int64_t(1) << b});
  if (chip->dmaBytesPerLane == 16) {
    int64_t burst = getBurst(*this, isV);
    for (unsigned b = 0; b < 3; ++b)
      rows.push_back({burst << b});
    for (unsigned b = 0; b < 3; ++b)
      rows.push_back({line << b});
    for (unsigned b = inLine; b < 9; ++b)
      cols.push_back({8 * burst << (b - inLine)});
    LinearLayout layout({"offset"});
    return layout.add("row", rows).add("col", cols);
  }
  unsigned rowBits = Log2_64(tileKV);
  for (unsigned b = 0; b < rowBits; ++b)
    rows.push_back({line << b | (b < 3 && !isV ? fragment << b : 0)});
  rows.resize(6, LinearLayout::Basis{0});
  for (unsigned b = inLine; b < 9; ++b)
    cols.push_back({line * tileKV << (b - inLine)});
  LinearLayout layout({"offset"}, LinearLayout::Combine::Xor);
  return layout.add("row", rows).add("col", cols);
}

int64_t KernelConfig::getTileElements(bool isV) const {
  int64_t lines = isV ? getLinesV() : getLinesK();
  return lines * (chip->dmaBytesPerLane == 16 ? 8 * getBurst(*this, isV)
                                              : tileKV * getLine());
}

LinearLayout KernelConfig::getStagingLayout(bool isV) const {
  int64_t line = getLine(), fragment = getFragment();
  if (chip->dmaBytesPerLane == 16) {
    LinearLayout layout({"row", "col"});
    return layout
        .add("lane", {{0, fragment},
                      {0, 2 * fragment},
                      {0, 4 * fragment},
                      {8, 0},
                      {16, 0},
                      {32, 0}})
        .addLinear("elt", Log2_64(fragment), {0, 1})
        .addLinear("wave", 3, {1, 0})
        .addLinear("instr", 3, {0, line});
  }
  // Lane l moves dword l%32 of the line of row l/32; the swizzle goes into the
  // column it reads.
  int64_t dword = 4 / getElementBytes();
  auto swizzle = [&](int64_t rowBit) { return isV ? 0 : fragment * rowBit; };
  LinearLayout layout({"row", "col"}, LinearLayout::Combine::Xor);
  layout.add("lane", {{0, dword},
                      {0, 2 * dword},
                      {0, 4 * dword},
                      {0, 8 * dword},
                      {0, 16 * dword},
                      {1, swizzle(1)}});
  layout.addLinear("elt", Log2_64(dword), {0, 1});
  layout.add("wave", {{2, swizzle(2)}, {4, swizzle(4)}, {8, 0}});
  llvm::SmallVector<LinearLayout::Basis> instr = {{16, 0}};
  if (tileKV == 64)
    instr.push_back({32, 0});
  for (int64_t l = 1; l < 8; l *= 2)
    instr.push_back({0, l * line});
  return layout.add("instr", instr);
}

int64_t KernelConfig::getStagingInstructions(bool isV) const {
  int64_t lines = isV ? getLinesV() : getLinesK();
  return lines * tileKV * 128 / (64 * chip->dmaBytesPerLane * wavesPerGroup);
}

int64_t KernelConfig::getLDSBytes() const {
  return (getTileElements(false) + getTileElements(true)) * getElementBytes() *
         (pipelined ? 2 : 1);
}

llvm::Expected<KernelConfig>
mlir::attn::chooseKernelConfig(const ChipInfo &chip, ElementKind kind,
                               int64_t headDimQK, int64_t headDimV) {
  KernelConfig config;
  config.chip = &chip;
  config.kind = kind;
  config.headDimQK = headDimQK;
  config.headDimV = headDimV;
  bool is32 = kind == ElementKind::F32;
  int64_t fragment = config.getFragment();
  config.stepsQK = divideCeil(headDimQK, 2 * fragment);
  config.transposedV = chip.hasTransposedRead && !is32;
  // f16 has to keep P finite, so it votes earlier.
  config.voteLog2 = kind == ElementKind::F16 ? 14 : 24;

  // O takes 16 VGPRs a block, Q 4 a fragment; they leave room for S, P and the
  // operands when they stay within 144 together.
  int64_t blocks = divideCeil(headDimV, 32);
  int64_t split = 1;
  while (split < 4 &&
         (config.stepsQK * 4 + divideCeil(blocks, split) * 16 > 144 ||
          (!is32 && divideCeil(blocks, split) > 4)))
    split *= 2;
  config.splitV = split;
  config.blocksV = divideCeil(blocks, split);
  // Shares of a power of two let the tile layout add or xor their columns;
  // 16-bit elements have two blocks in a line, and without transposed reads a
  // lane reads two blocks at least.
  if (split > 1)
    config.blocksV = llvm::PowerOf2Ceil(config.blocksV);
  if (!is32 && (split > 1 || !config.transposedV))
    config.blocksV = llvm::alignTo(config.blocksV, 2);
  if (!config.transposedV)
    config.groupV = config.blocksV % 4 == 0   ? 4
                    : config.blocksV % 2 == 0 ? 2
                                              : 1;

  int64_t elements = config.tileKV / 2;
  config.pipelined = !is32;
  if (config.pipelined && config.getLDSBytes() > chip.ldsBytes)
    config.pipelined = false;
  if (config.pipelined) {
    bool isWide = split > 1 || headDimQK > 192;
    config.clustersQK =
        isWide            ? divideCeil(config.stepsQK,
                                       config.stepsQK > 12 && split > 1 ? 3 : 4)
        : headDimQK > 128 ? 2
                          : 1;
    config.clustersPV = isWide ? 2 : 1;
    config.earlyExps = elements / 2;
    if (headDimQK > 128 || isWide)
      config.earlyExps = 12;
    if (chip.getPackMethod(kind) == PackMethod::RoundNearestEvenBits)
      config.earlyExps = 14;
  }
  if (config.getLDSBytes() > chip.ldsBytes && chip.dmaBytesPerLane < 16)
    config.tileKV = 32;
  if (config.getLDSBytes() > chip.ldsBytes)
    return llvm::createStringError(
        "expects at most " + llvm::Twine(chip.ldsBytes) + " bytes of LDS on " +
        chip.name + ", but the tiles need " +
        llvm::Twine(config.getLDSBytes()));
  return config;
}
