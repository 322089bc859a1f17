//===- KernelConfig.cpp ---------------------------------------------------===//
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
    llvm::SmallVector<LinearLayout::Basis> wave, instr;
    for (int64_t row = 1; row < 8; row *= 2)
      (row < getTileWaves() ? wave : instr).push_back({row, 0});
    for (int64_t l = 1; l < 8; l *= 2)
      instr.push_back({0, l * line});
    LinearLayout layout({"row", "col"});
    return layout
        .add("lane", {{0, fragment},
                      {0, 2 * fragment},
                      {0, 4 * fragment},
                      {8, 0},
                      {16, 0},
                      {32, 0}})
        .addLinear("elt", Log2_64(fragment), {0, 1})
        .add("wave", wave)
        .add("instr", instr);
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
  llvm::SmallVector<LinearLayout::Basis> wave, instr;
  for (int64_t row = 2; row < tileKV; row *= 2)
    (row < 2 * getTileWaves() ? wave : instr)
        .push_back({row, row < 8 ? swizzle(row) : 0});
  layout.add("wave", wave);
  for (int64_t l = 1; l < 8; l *= 2)
    instr.push_back({0, l * line});
  return layout.add("instr", instr);
}

int64_t KernelConfig::getStagingInstructions(bool isV) const {
  int64_t lines = isV ? getLinesV() : getLinesK();
  return lines * tileKV * 128 / (64 * chip->dmaBytesPerLane * getTileWaves());
}

int64_t KernelConfig::getGroupStride(bool isV) const {
  // Alone in its bits where offsets are joined by xor.
  int64_t elements = getTileElements(isV);
  return chip->dmaBytesPerLane == 16 ? elements : llvm::PowerOf2Ceil(elements);
}

LinearLayout KernelConfig::getMergeLayout() const {
  int64_t fragment = getFragment();
  LinearLayout layout({"offset"});
  return layout.addLinear("lane", 6, {fragment})
      .addLinear("quad", 2, {64 * fragment})
      .addLinear("wave", 2, {256 * fragment});
}

LinearLayout KernelConfig::getExchangeLayout() const {
  int64_t fragment = getFragment(), steps = getWaveKeys() / (2 * fragment);
  LinearLayout layout({"offset"});
  return layout.addLinear("lane", 6, {fragment})
      .addLinear("step", Log2_64(steps), {64 * fragment})
      .addLinear("wave", 3, {64 * fragment * steps});
}

LinearLayout KernelConfig::getMaximumLayout() const {
  int64_t width = 4 / getElementBytes();
  LinearLayout layout({"offset"});
  return layout.addLinear("lane", 6, {width})
      .addLinear("wave", 3, {64 * width});
}

int64_t KernelConfig::getMaximumOffset() const {
  return exchangesP ? wavesPerGroup * 32 * getWaveKeys() : 0;
}

int64_t KernelConfig::getExchangeElements() const {
  return exchangesP
             ? getMaximumOffset() + wavesPerGroup * 64 * 4 / getElementBytes()
             : 0;
}

int64_t KernelConfig::getStagingSpan() const {
  LinearLayout layout = getStagingLayout(/*isV=*/false);
  int64_t last = 0;
  for (llvm::StringRef name : {"lane", "wave"})
    for (const LinearLayout::Basis &basis : layout.getInput(name)->bases)
      last |= basis[0];
  return last + 1;
}

int64_t KernelConfig::getLDSBytes() const {
  int64_t elements = 0;
  for (bool isV : {false, true})
    elements += (groupsKV - 1) * getGroupStride(isV) + getTileElements(isV);
  return (elements * (pipelined ? 2 : 1) + getExchangeElements()) *
             getElementBytes() +
         (stagesScores ? wavesPerGroup * scores.ldsBytes : 0);
}

int64_t KernelConfig::getVGPREstimate() const {
  int64_t queries = stepsQK * 4, output = blocksV * 16,
          scores = getWaveKeys() / 2, p = scores * getElementBytes() / 4;
  queries += getScoreVGPRs() * getWaveKeys() / 64;
  int64_t steps = tileKV / (2 * getFragment());
  int64_t k = divideCeil(stepsQK, clustersQK) * (getWaveKeys() / 32) * 4,
          v = divideCeil(steps, clustersPV) * blocksV * 4;
  if (!pipelined) // reads a step at a time
    return queries + output + scores + p;
  int64_t more = exchangesP ? p : p / 2; // the other wave's, or early ones
  if (stagesScores)                      // read by halves
    more += this->scores.ldsVgprs / 2;
  return queries + output + p + scores + std::max(scores + k, more + v);
}

WorkgroupCost KernelConfig::getCost() const {
  // A tile of one wave. The MFMAs (32 clk, f32 64), and the vector work of the
  // softmax with what each MFMA takes of the vector pipe:
  double depth = chip->getMFMADepth(kind), mfmas = 0;
  mfmas +=
      double(getWaveKeys()) / 32 * double(stepsQK * 2 * getFragment()) / depth;
  mfmas += double(tileKV) / depth * double(blocksV);
  double mfmaClocks = kind == ElementKind::F32 ? 64 : 32;
  double matrix = mfmas * mfmaClocks;
  double vector =
      double(getWaveKeys()) / 2 *
          (8 + chip->transcendentalClocks + chip->getPackClocks(kind) / 2.0) +
      mfmas * (32 - chip->mfmaShadowClocks);
  // What the four waves of a group read of LDS and all stage in it, the DMA
  // instructions, and for each cluster the way there and back.
  double memory = 110 * double(clustersQK + clustersPV);
  for (bool isV : {false, true}) {
    int64_t lines = isV ? getLinesV() : getLinesK();
    double bytes = double(tileKV * lines) * 128;
    double read = 4 * bytes / (isV || exchangesP ? double(splitV) : 1);
    memory += (read + bytes * double(groupsKV)) / (4 * chip->ldsBanks) +
              11 * double(getStagingInstructions(isV));
  }
  constexpr double wavesPerSIMD = 2;
  WorkgroupCost cost;
  cost.rows = getTileQ();
  cost.roundKeys = getRoundKeys();
  cost.roundClocks =
      wavesPerSIMD * (pipelined ? std::max({matrix, vector, memory})
                                : matrix + vector + memory);
  // Start, Q, the first tiles and repair, masks, merging, the stores of O, and
  // the tile that is computed and dropped: 11 to 13 thousand clocks on gfx950
  // and 14 to 17 on gfx942 in the timing model.
  cost.fixedClocks = 10000 + cost.roundClocks;
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

/// VGPRs without those that hold addresses.
static constexpr int64_t maxEstimate = vgprBudget - 16;

/// What paces the pipelined program.
static llvm::Error choosePacing(KernelConfig &config,
                                const KernelKnobs &knobs) {
  // P is handed over under a maximum that both waves agree on only then, so
  // nothing of the next tile is computed beside its product.
  if (config.exchangesP && knobs.earlyExps && *knobs.earlyExps)
    return refuse("early_exps", "0 where two waves exchange P",
                  *knobs.earlyExps);
  bool isWide = config.splitV > 1 || config.headDimQK > 192;
  int64_t elements = config.tileKV / 2;
  int64_t steps = config.tileKV / (2 * config.getFragment());
  // What the timing model likes best (docs/Lowering.md).
  if (config.exchangesP) {
    config.clustersQK = config.clustersPV = 1;
    config.earlyExps = 0;
  } else if (config.tileKV == 32) {
    config.clustersQK = divideCeil(config.stepsQK, 12);
    config.clustersPV = 1;
    config.earlyExps = isWide || config.headDimQK > 128 ? 4 : 6;
  } else {
    config.clustersQK =
        isWide ? divideCeil(config.stepsQK,
                            config.stepsQK > 12 && config.splitV > 1 ? 3 : 4)
        : config.headDimQK > 128 ? 2
                                 : 1;
    config.clustersPV = isWide ? 2 : 1;
    config.earlyExps = elements / 2;
    if (config.headDimQK > 128 || isWide)
      config.earlyExps = 12;
    if (config.chip->getPackMethod(config.kind) ==
        PackMethod::RoundNearestEvenBits)
      config.earlyExps = 14;
  }

  // The transform is beside P V, as are the early exponentials.
  if (config.scores.capsInExponent) {
    // Whole fragments of P, which its arms hand on.
    config.earlyExps = llvm::alignTo(elements / 2, config.getFragment());
  } else if (config.scores.clocks > 0) {
    double each = 8 + config.chip->transcendentalClocks +
                  config.chip->getPackClocks(config.kind) / 2.0;
    double beside = double(elements) * config.scores.clocks;
    if (!config.transposedV) // two elements of V a v_perm
      beside += double(elements * config.blocksV / 2) * 4;
    double even = (double(elements) - beside / each) / 2;
    config.earlyExps = std::max<int64_t>(
        std::min<int64_t>(config.earlyExps, int64_t(even) & ~int64_t(1)), 2);
  }
  // Operands of scores that do not come out of LDS stay from tile to tile:
  // smaller parts make room, also for what becomes of the operands.
  bool areHeld = config.getScoreVGPRs() > 0;
  bool isTight = config.stagesScores &&
                 (config.scores.ldsAddresses > 4 || config.headDimQK > 128);
  int64_t unpacked = areHeld || isTight ? 8 : 0;
  if (config.scores.vgprs)
    while (config.getVGPREstimate() > maxEstimate - unpacked &&
           config.clustersQK < config.stepsQK) {
      if (config.clustersPV < config.clustersQK && config.clustersPV < steps)
        ++config.clustersPV;
      else
        ++config.clustersQK;
      // With more, f16 operands of 16 bytes a lane spill.
      if (areHeld)
        config.earlyExps = std::min<int64_t>(config.earlyExps, 6);
    }
  if (config.scores.vgprs && !knobs.stages && config.groupsKV == 1 &&
      config.getVGPREstimate() > maxEstimate) {
    config.pipelined = false;
    config.clustersQK = config.clustersPV = 1;
    config.earlyExps = 0;
    config.stagesScores = false;
    return llvm::Error::success();
  }
  config.clustersQK = knobs.clustersQK.value_or(config.clustersQK);
  config.clustersPV = knobs.clustersPV.value_or(config.clustersPV);
  config.earlyExps = knobs.earlyExps.value_or(config.earlyExps);
  if (llvm::Error error =
          verifyRange("clusters_qk", config.clustersQK, 1, config.stepsQK))
    return error;
  if (llvm::Error error =
          verifyRange("clusters_pv", config.clustersPV, 1, steps))
    return error;
  if (config.exchangesP && config.clustersPV != 1)
    return refuse("clusters_pv", "1 where two waves exchange P",
                  config.clustersPV);
  if (!config.exchangesP &&
      (config.earlyExps < 2 || config.earlyExps > elements - 2 ||
       config.earlyExps % 2))
    return refuse("early_exps", "even and in 2.." + llvm::Twine(elements - 2),
                  config.earlyExps);
  if (config.scores.capsInExponent && config.earlyExps % config.getFragment())
    return refuse("early_exps",
                  "a multiple of " + llvm::Twine(config.getFragment()) +
                      " with softcap alone",
                  config.earlyExps);
  if (config.getVGPREstimate() > maxEstimate)
    return llvm::createStringError(
        "expects clusters_qk and clusters_pv that keep a cluster within " +
        llvm::Twine(maxEstimate) + " VGPRs, but got " +
        llvm::Twine(config.clustersQK) + " and " +
        llvm::Twine(config.clustersPV) + ", which take " +
        llvm::Twine(config.getVGPREstimate()));
  return llvm::Error::success();
}

/// Tiles and stages, `splitV` known.
static llvm::Error chooseTiles(KernelConfig &config, const KernelKnobs &knobs) {
  const ChipInfo &chip = *config.chip;
  auto fits = [&] { return config.getLDSBytes() <= int64_t(chip.ldsBytes); };
  bool is32 = config.kind == ElementKind::F32;
  int64_t rows = config.getTileQ();
  // Groups of waves that share keys exist in the pipelined program only, where
  // all of V is one wave's.
  bool mayGroup = !is32 && config.splitV == 1 && knobs.stages.value_or(2) == 2;
  if (knobs.tileQ && *knobs.tileQ != rows &&
      !(mayGroup && *knobs.tileQ == rows / 2))
    return refuse("tile_q",
                  mayGroup ? llvm::Twine(rows) + " or " + llvm::Twine(rows / 2)
                           : llvm::Twine(rows),
                  *knobs.tileQ);
  config.groupsKV = knobs.tileQ ? rows / *knobs.tileQ : 1;

  int64_t leastKV = chip.dmaBytesPerLane < 16 ? 32 : 64;
  config.tileKV = knobs.tileKV.value_or(64);
  if (config.tileKV != 64 && config.tileKV != leastKV)
    return refuse("tile_kv", leastKV == 64 ? "64" : "32 or 64", config.tileKV);
  if (knobs.stages && (*knobs.stages < 1 || *knobs.stages > 2))
    return refuse("stages", "1 or 2", *knobs.stages);
  if (is32 && knobs.stages == 2)
    return refuse("stages", "1 for f32", 2);
  config.pipelined = !is32 && knobs.stages.value_or(2) == 2;
  // Smaller tiles rather than parts, where operands of scores take registers.
  constexpr int64_t narrow = 64;
  if (config.pipelined && config.scores.vgprs && !knobs.tileKV &&
      config.stepsQK * 4 + config.blocksV * 16 > narrow)
    config.tileKV = leastKV;
  // Smaller tiles rather than no pipeline.
  if (config.pipelined && !fits() && !knobs.tileKV)
    config.tileKV = leastKV;
  if (config.pipelined && !fits() && config.groupsKV == 1 && !knobs.stages) {
    config.pipelined = false;
    config.tileKV = knobs.tileKV.value_or(64);
  }
  if (config.pipelined && config.splitV == 2 && config.transposedV &&
      config.scores.clocks == 0) {
    config.exchangesP = true;
    config.exchangesP = fits();
  }
  if (!fits() && !knobs.tileKV)
    config.tileKV = leastKV;
  if (config.pipelined && config.scores.ldsBytes && fits()) {
    config.stagesScores = true;
    config.stagesScores = fits();
  }
  if (!fits())
    return llvm::createStringError(
        "expects at most " + llvm::Twine(chip.ldsBytes) + " bytes of LDS on " +
        chip.name + ", but the tiles need " +
        llvm::Twine(config.getLDSBytes()));
  // Groups merge a block of O at a time through the tiles of K.
  int64_t block = config.getTileWaves() * 256 * config.getFragment();
  if (config.groupsKV > 1 &&
      config.groupsKV * config.getGroupStride(false) < block)
    return refuse("tile_q", llvm::Twine(rows) + " with tiles of K this small",
                  *knobs.tileQ);
  return llvm::Error::success();
}

/// The rule without the sizes of the launch.
static llvm::Expected<KernelConfig>
makeConfig(const ChipInfo &chip, ElementKind kind, int64_t headDimQK,
           int64_t headDimV, const KernelKnobs &knobs,
           const ScoreNeeds &scores) {
  KernelConfig config;
  config.scores = scores;
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
  if (llvm::Error error = chooseTiles(config, knobs))
    return error;
  if (config.pipelined) {
    if (llvm::Error error = choosePacing(config, knobs))
      return error;
    return config;
  }
  for (const KernelKnob &knob : getKernelKnobs().take_back(3))
    if (knobs.*knob.value)
      return llvm::createStringError("expects no " + knob.name +
                                     " with stages = 1, but got " +
                                     llvm::Twine(*(knobs.*knob.value)));
  return config;
}

llvm::Expected<KernelConfig> mlir::attn::chooseKernelConfig(
    const ChipInfo &chip, ElementKind kind, int64_t headDimQK, int64_t headDimV,
    const std::optional<LaunchShape> &shape, const KernelKnobs &knobs,
    const ScoreNeeds &scores) {
  auto whole = makeConfig(chip, kind, headDimQK, headDimV, knobs, scores);
  if (!whole || knobs.tileQ || !shape)
    return whole;
  KernelKnobs halfKnobs = knobs;
  halfKnobs.tileQ = whole->getTileQ() / 2;
  auto half = makeConfig(chip, kind, headDimQK, headDimV, halfKnobs, scores);
  if (!half) {
    llvm::consumeError(half.takeError());
    return whole;
  }
  // Half the rows fill the chip sooner, but start twice as often.
  double wholeClocks = estimateMakespan(chip, *shape, whole->getCost());
  double halfClocks = estimateMakespan(chip, *shape, half->getCost());
  if (halfClocks < wholeClocks)
    return half;
  return whole;
}
