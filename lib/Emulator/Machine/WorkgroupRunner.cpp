//===- WorkgroupRunner.cpp - One workgroup on one host thread -------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Initial register state: LLVM's AMDGPU usage guide, "Initial Kernel Execution
// State".
//
//===----------------------------------------------------------------------===//

#include "WorkgroupRunner.h"
#include <algorithm>
#include <numeric>

using namespace attn::emu;
using namespace llvm;

/// Reads past a buffer's end by wide copies stay inside this padding.
static constexpr size_t ldsPadding = 64;

WorkgroupRunner::WorkgroupRunner(
    LaunchContext &ctx, std::vector<std::unique_ptr<Observer>> observers)
    : ctx(ctx), observers(std::move(observers)) {
  group.ctx = &ctx;
  group.lds.resize(ctx.ldsBytes + ldsPadding);
  waves = std::vector<Wave>(ctx.wavesPerWorkgroup);
  size_t perWave = size_t(numVectorRegs) * numLanes;
  registers.reset(new uint32_t[perWave * waves.size() + 16]);
  // Vector loops like 64-byte alignment.
  uintptr_t base = (reinterpret_cast<uintptr_t>(registers.get()) + 63) & ~63ull;
  for (size_t n = 0; n < waves.size(); ++n)
    waves[n].vgprs = reinterpret_cast<uint32_t *>(base) + perWave * n;
  scratch.resize(size_t(ctx.scratchBytes) * numLanes * waves.size() + 64);
}

WorkgroupRunner::~WorkgroupRunner() = default;

void WorkgroupRunner::setUpWave(Wave &wave, unsigned index) {
  uint32_t *vgprs = wave.vgprs;
  wave = Wave();
  wave.vgprs = vgprs;
  wave.id = index;
  wave.wg = &group;
  wave.ctx = &ctx;
  wave.scratch = scratch.data() + size_t(ctx.scratchBytes) * numLanes * index;
  std::memset(vgprs, 0, size_t(numVectorRegs) * numLanes * 4);

  const Kernel &kernel = *ctx.kernel;
  auto has = [&](unsigned bit) { return kernel.properties >> bit & 1; };
  unsigned reg = 0;
  auto push = [&](uint32_t value) {
    if (reg < numScalarRegs)
      wave.sgpr[reg++] = value;
  };
  auto push64 = [&](uint64_t value) {
    push(value);
    push(value >> 32);
  };
  if (has(0)) { // Private segment buffer: scratch is not reached through it.
    push64(0);
    push64(0);
  }
  if (has(1))
    push64(ctx.dispatchAddress);
  if (has(2))
    push64(ctx.queueAddress);
  if (has(3))
    push64(ctx.kernargAddress);
  if (has(4))
    push64(0); // Dispatch id.
  if (has(5))
    push64(0); // FLAT_SCRATCH is set up by the hardware.
  if (has(6))
    push(ctx.scratchBytes);
  for (unsigned n = 0; n < kernel.preloadDwords; ++n) {
    uint32_t value = 0;
    uint64_t offset = 4ull * (kernel.preloadOffset + n);
    if (offset + 4 <= kernel.kernargSegmentBytes)
      std::memcpy(&value, ctx.kernarg + offset, 4);
    push(value);
  }
  // The count of user registers may leave a gap for alignment.
  reg = std::max<unsigned>(reg, kernel.rsrc2 >> 1 & 31);
  for (unsigned dim = 0; dim < 3; ++dim)
    if (kernel.rsrc2 >> (7 + dim) & 1)
      push(group.id[dim]);
  if (kernel.rsrc2 >> 10 & 1)
    push(0);

  // Work-item ids, packed ten bits each.
  const auto &block = ctx.config.block;
  uint64_t exec = 0;
  uint32_t *v0 = wave.vgpr(0);
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    unsigned flat = index * numLanes + lane;
    if (flat >= ctx.workItems)
      break;
    exec |= uint64_t(1) << lane;
    uint32_t x = flat % block[0], y = flat / block[0] % block[1],
             z = flat / (block[0] * block[1]);
    v0[lane] = x | y << 10 | z << 20;
  }
  wave.setExec(exec);

  uint32_t mode = kernel.rsrc1 >> 12 & 0xff;
  mode |= kernel.rsrc1 >> 21 & 1 ? modeDX10Clamp : 0;
  mode |= kernel.rsrc1 >> 23 & 1 ? modeIEEE : 0;
  mode |= kernel.rsrc1 >> 26 & 1 ? modeFP16Overflow : 0;
  wave.setMode(mode);

  uint64_t entry = kernel.entryAddress;
  // Firmware that has loaded the arguments skips the code that would.
  if (kernel.preloadDwords)
    entry += 256;
  wave.pc = ctx.program->lookup(entry);
  if (!wave.pc)
    wave.raise("the kernel's entry is not an instruction");
}

void WorkgroupRunner::setUp(uint64_t linear) {
  const auto &grid = ctx.config.grid;
  group.linear = linear;
  group.id = {uint32_t(linear % grid[0]), uint32_t(linear / grid[0] % grid[1]),
              uint32_t(linear / (uint64_t(grid[0]) * grid[1]))};
  std::fill(group.lds.begin(), group.lds.end(), 0);
  std::fill(scratch.begin(), scratch.end(), 0);
  for (unsigned n = 0; n < waves.size(); ++n)
    setUpWave(waves[n], n);
  // Every workgroup has its own stream, whatever thread it lands on.
  random.seed(ctx.options.seed * 0x9e3779b97f4a7c15ull + linear);
}

template <bool observed> void WorkgroupRunner::runWave(Wave &wave) {
  while (wave.budget-- > 0) {
    const Inst *inst = wave.pc;
    wave.pc = inst + 1;
    ++wave.classCounts[static_cast<unsigned>(inst->instClass)];
    if (observed) {
      for (auto &observer : observers)
        observer->before(wave, *inst);
      inst->fn(wave, *inst);
      for (auto &observer : observers)
        observer->after(wave, *inst);
    } else {
      inst->fn(wave, *inst);
    }
    if (wave.state == WaveState::Faulted) {
      wave.pc = inst;
      return;
    }
  }
}

Error WorkgroupRunner::makeError(const Wave &wave) const {
  const Inst &inst = *wave.pc;
  return createStringError(formatv(
      "kernel '{0}', workgroup ({1}, {2}, {3}), wave {4}, address {5:x}: "
      "'{6}' {7}",
      ctx.kernel->name, group.id[0], group.id[1], group.id[2], wave.id, inst.pc,
      ctx.program->getText(inst), wave.fault));
}

Error WorkgroupRunner::schedule() {
  std::vector<unsigned> order(waves.size());
  for (unsigned n = 0; n < order.size(); ++n)
    order[n] = n;
  if (ctx.options.schedule == Schedule::Reversed)
    std::reverse(order.begin(), order.end());
  bool isRandom = ctx.options.schedule == Schedule::Random;
  const int64_t quantum = std::max(1u, ctx.options.quantum);
  const uint64_t limit = ctx.options.maxInstructionsPerWave;
  while (true) {
    if (isRandom)
      std::shuffle(order.begin(), order.end(), random);
    unsigned running = 0, atBarrier = 0;
    for (unsigned index : order) {
      Wave &wave = waves[index];
      if (wave.state == WaveState::Running) {
        int64_t budget =
            isRandom ? 1 + int64_t(random() % (2 * quantum)) : quantum;
        wave.executed = std::accumulate(wave.classCounts.begin(),
                                        wave.classCounts.end(), uint64_t(0));
        if (wave.executed >= limit) {
          wave.fault = formatv("has not ended after {0} instructions (endless "
                               "loop, or the limit is too low)",
                               wave.executed)
                           .str();
          return makeError(wave);
        }
        wave.budget = std::min<uint64_t>(budget, limit - wave.executed);
        if (observers.empty())
          runWave<false>(wave);
        else
          runWave<true>(wave);
        if (wave.state == WaveState::Faulted)
          return makeError(wave);
      }
      running += wave.state == WaveState::Running;
      atBarrier += wave.state == WaveState::AtBarrier;
    }
    if (running)
      continue;
    if (!atBarrier)
      return Error::success();
    // Ended waves do not count: the barrier waits for those that are left.
    for (auto &observer : observers)
      observer->barrier(waves);
    for (Wave &wave : waves)
      if (wave.state == WaveState::AtBarrier)
        wave.state = WaveState::Running;
  }
}

void WorkgroupRunner::collect() {
  ++statistics.workgroups;
  statistics.waves += waves.size();
  for (const Wave &wave : waves) {
    for (unsigned n = 0; n < numInstClasses; ++n)
      statistics.instructions[n] += wave.classCounts[n];
    statistics.mfmaFlops += wave.mfmaFlops;
    statistics.globalReadBytes += wave.globalRead;
    statistics.globalWriteBytes += wave.globalWrite;
    statistics.ldsReadBytes += wave.ldsRead;
    statistics.ldsWriteBytes += wave.ldsWrite;
    statistics.ldsDMABytes += wave.ldsDMA;
  }
}

Error WorkgroupRunner::run(uint64_t linear) {
  setUp(linear);
  for (const Wave &wave : waves)
    if (wave.state == WaveState::Faulted)
      return createStringError("kernel '" + ctx.kernel->name +
                               "': " + wave.fault);
  for (auto &observer : observers)
    observer->beginWorkgroup(group, waves);
  if (Error error = schedule())
    return error;
  for (auto &observer : observers)
    observer->endWorkgroup(group, waves);
  collect();
  return Error::success();
}
