//===- Observers.cpp - The observers of a launch --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Observers.h"
#include "llvm/ADT/STLExtras.h"

using namespace attn::emu;
using namespace llvm;

void FindingCollector::add(
    Check check, const Wave &wave, const Inst &inst, int lane,
    const Inst *other, std::optional<unsigned> otherWave,
    function_ref<std::pair<std::string, std::string>()> describe) {
  std::lock_guard<std::mutex> lock(mutex);
  unsigned index = static_cast<unsigned>(check);
  ++counts[index];
  auto key = std::make_tuple(index, inst.pc, other ? int64_t(other->pc) : -1);
  if (auto it = seen.find(key); it != seen.end()) {
    ++findings[it->second].count;
    return;
  }
  if (kept[index] >= ctx.options.maxFindings)
    return;
  ++kept[index];
  Finding finding;
  finding.check = check;
  std::tie(finding.message, finding.hint) = describe();
  finding.kernel = ctx.kernel->name;
  finding.workgroup = wave.wg->id;
  finding.wave = wave.id;
  finding.lane = lane;
  finding.where = {inst.pc, ctx.program->getText(inst)};
  if (other)
    finding.other = InstructionRef{other->pc, ctx.program->getText(*other)};
  finding.otherWave = otherWave;
  seen[key] = findings.size();
  findings.push_back(std::move(finding));
}

void FindingCollector::moveTo(Report &report) {
  // Threads finish in any order; reports should not depend on it.
  auto key = [](const Finding &finding) {
    return std::make_tuple(finding.check, finding.where.pc,
                           finding.other ? finding.other->pc : 0);
  };
  sort(findings,
       [&](const Finding &a, const Finding &b) { return key(a) < key(b); });
  report.findings = std::move(findings);
  report.counts = counts;
}

std::vector<std::unique_ptr<Observer>>
attn::emu::makeObservers(LaunchContext &ctx, FindingCollector &collector) {
  std::vector<std::unique_ptr<Observer>> result;
  if (ctx.options.trace.os)
    result.push_back(makeTracer(ctx));
  if (ctx.options.checks.any())
    result.push_back(makeChecker(ctx, collector));
  if (ctx.options.observerFactory)
    result.push_back(ctx.options.observerFactory->create(ctx));
  return result;
}
