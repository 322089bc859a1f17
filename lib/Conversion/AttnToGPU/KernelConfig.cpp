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

int64_t KernelConfig::getVGPREstimate() const {
  int64_t queries = stepsQK * 4, output = blocksV * 16, scores = tileKV / 2,
          p = scores * getElementBytes() / 4;
  int64_t steps = tileKV / (2 * getFragment());
  int64_t k = divideCeil(stepsQK, clustersQK) * (tileKV / 32) * 4,
          v = divideCeil(steps, clustersPV) * blocksV * 4;
  if (!pipelined) // reads a step at a time
    return queries + output + scores + p;
  return queries + output + p + scores + std::max(scores + k, p / 2 + v);
}

WorkgroupCost KernelConfig::getCost() const {
  // Of one tile of a wave: the MFMAs (32 clk, f32 64), and the vector work of
  // the softmax, of which a part of each MFMA hides nothing.
  double depth = chip->getMFMADepth(kind), mfmas = 0;
  mfmas += double(tileKV) / 32 * double(stepsQK * 2 * getFragment()) / depth;
  mfmas += double(tileKV) / depth * double(blocksV);
  double mfmaClocks = kind == ElementKind::F32 ? 64 : 32;
  double matrix = mfmas * mfmaClocks;
  double vector =
      double(tileKV) / 2 *
          (8 + chip->transcendentalClocks + chip->getPackClocks(kind) / 2.0) +
      mfmas * (32 - chip->mfmaShadowClocks);
  constexpr double wavesPerSIMD = 2;
  WorkgroupCost cost;
  cost.rows = getTileQ();
  cost.roundKeys = tileKV;
  cost.roundClocks =
      wavesPerSIMD * (pipelined ? std::max(matrix, vector) : matrix + vector);
  // Start, Q, the first tiles and the first repair, the stores of O.
  cost.fixedClocks = 7500;
  return cost;
}

llvm::ArrayRef<KernelKnob> mlir::attn::getKernelKnobs() {
  static constexpr KernelKnob knobs[] = {
      {"tile_q", &KernelKnobs::tileQ},
      {"tile_kv", &KernelKnobs::tileKV},
      {"split_v", &KernelKnobs::splitV},
      {"stages", &KernelKnobs::stages},
      {"clusters_qk", &KernelKnobs::clustersQK},
      {"clusters_pv", &KernelKnobs::clustersPV},
      {"early_exps", &KernelKnobs::earlyExps}};
  return knobs;
}

KernelKnobs KernelConfig::getKnobs() const {
  KernelKnobs knobs;
  knobs.tileQ = getTileQ();
  knobs.tileKV = tileKV;
  knobs.splitV = splitV;
  knobs.stages = pipelined ? 2 : 1;
  if (!pipelined)
    return knobs;
  knobs.clustersQK = clustersQK;
  knobs.clustersPV = clustersPV;
  knobs.earlyExps = earlyExps;
  return knobs;
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

static llvm::Error refuse(const llvm::Twine &knob, const llvm::Twine &legal,
                          int64_t value) {
  return llvm::createStringError("expects " + knob + " to be " + legal +
                                 ", but got " + llvm::Twine(value));
}

static llvm::Error verifyRange(llvm::StringRef knob, int64_t value,
                               int64_t least, int64_t most) {
  if (value >= least && value <= most)
    return llvm::Error::success();
  return refuse(knob,
                least == most
                    ? llvm::Twine(least)
                    : "in " + llvm::Twine(least) + ".." + llvm::Twine(most),
                value);
}

/// Waves that share rows, and what of V each owns.
static llvm::Error chooseSplitV(KernelConfig &config,
                                const KernelKnobs &knobs) {
  bool is32 = config.kind == ElementKind::F32;
  // O takes 16 VGPRs a block, Q 4 a fragment; they leave room for S, P and the
  // operands when they stay within 144 together.
  int64_t blocks = divideCeil(config.headDimV, 32), least = 1;
  while (least < 4 &&
         (config.stepsQK * 4 + divideCeil(blocks, least) * 16 > 144 ||
          (!is32 && divideCeil(blocks, least) > 4)))
    least *= 2;
  int64_t split = knobs.splitV.value_or(least);
  if (split < least || split > 4 || !llvm::isPowerOf2_64(split))
    return refuse("split_v",
                  least == 4   ? "4"
                  : least == 2 ? "2 or 4"
                               : "1, 2 or 4",
                  split);
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
  return llvm::Error::success();
}

/// What paces the pipelined program.
static llvm::Error choosePacing(KernelConfig &config,
                                const KernelKnobs &knobs) {
  bool isWide = config.splitV > 1 || config.headDimQK > 192;
  int64_t elements = config.tileKV / 2;
  int64_t steps = config.tileKV / (2 * config.getFragment());
  config.clustersQK =
      isWide ? divideCeil(config.stepsQK,
                          config.stepsQK > 12 && config.splitV > 1 ? 3 : 4)
      : config.headDimQK > 128 ? 2
                               : 1;
  config.clustersPV = isWide ? 2 : 1;
  config.earlyExps = elements / 2;
  if (config.headDimQK > 128 || isWide)
    config.earlyExps = std::min<int64_t>(config.earlyExps, 12);
  if (config.chip->getPackMethod(config.kind) ==
      PackMethod::RoundNearestEvenBits)
    config.earlyExps = std::min<int64_t>(config.earlyExps, 14);

  config.clustersQK = knobs.clustersQK.value_or(config.clustersQK);
  config.clustersPV = knobs.clustersPV.value_or(config.clustersPV);
  config.earlyExps = knobs.earlyExps.value_or(config.earlyExps);
  if (llvm::Error error =
          verifyRange("clusters_qk", config.clustersQK, 1, config.stepsQK))
    return error;
  if (llvm::Error error =
          verifyRange("clusters_pv", config.clustersPV, 1, steps))
    return error;
  if (config.earlyExps < 2 || config.earlyExps > elements - 2 ||
      config.earlyExps % 2)
    return refuse("early_exps", "even and in 2.." + llvm::Twine(elements - 2),
                  config.earlyExps);
  constexpr int64_t addresses = 16;
  if (config.getVGPREstimate() + addresses > int64_t(vgprBudget))
    return llvm::createStringError(
        "expects clusters_qk and clusters_pv that keep a cluster within " +
        llvm::Twine(vgprBudget - addresses) + " VGPRs, but got " +
        llvm::Twine(config.clustersQK) + " and " +
        llvm::Twine(config.clustersPV) + ", which take " +
        llvm::Twine(config.getVGPREstimate()));
  return llvm::Error::success();
}

llvm::Expected<KernelConfig> mlir::attn::chooseKernelConfig(
    const ChipInfo &chip, ElementKind kind, int64_t headDimQK, int64_t headDimV,
    const std::optional<LaunchShape> &shape, const KernelKnobs &knobs) {
  KernelConfig config;
  config.chip = &chip;
  config.kind = kind;
  config.headDimQK = headDimQK;
  config.headDimV = headDimV;
  config.stepsQK = divideCeil(headDimQK, 2 * config.getFragment());
  config.transposedV = chip.hasTransposedRead && kind != ElementKind::F32;
  // f16 has to keep P finite, so it votes earlier.
  config.voteLog2 = kind == ElementKind::F16 ? 14 : 24;
  if (llvm::Error error = chooseSplitV(config, knobs))
    return error;
  if (knobs.tileQ && *knobs.tileQ != config.getTileQ())
    return refuse("tile_q", llvm::Twine(config.getTileQ()), *knobs.tileQ);

  auto fits = [&] { return config.getLDSBytes() <= int64_t(chip.ldsBytes); };
  int64_t leastKV = chip.dmaBytesPerLane < 16 ? 32 : 64;
  config.tileKV = knobs.tileKV.value_or(64);
  if (config.tileKV != 64 && config.tileKV != leastKV)
    return refuse("tile_kv", leastKV == 64 ? "64" : "32 or 64", config.tileKV);
  config.pipelined = kind != ElementKind::F32;
  config.pipelined = config.pipelined && fits();
  if (knobs.stages) {
    if (*knobs.stages < 1 || *knobs.stages > 2)
      return refuse("stages", "1 or 2", *knobs.stages);
    config.pipelined = *knobs.stages == 2;
    if (config.pipelined && kind == ElementKind::F32)
      return refuse("stages", "1 for f32", 2);
  }
  if (!fits() && !knobs.tileKV)
    config.tileKV = leastKV;
  if (!fits())
    return llvm::createStringError(
        "expects at most " + llvm::Twine(chip.ldsBytes) + " bytes of LDS on " +
        chip.name + ", but the tiles need " +
        llvm::Twine(config.getLDSBytes()));
  if (config.pipelined)
    if (llvm::Error error = choosePacing(config, knobs))
      return error;
  if (!config.pipelined)
    for (const KernelKnob &knob : getKernelKnobs().take_back(3))
      if (knobs.*knob.value)
        return llvm::createStringError("expects no " + knob.name +
                                       " with stages = 1, but got " +
                                       llvm::Twine(*(knobs.*knob.value)));
  return config;
}
