//===- Observers.h - The observers of a launch ------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_CHECK_OBSERVERS_H
#define ATTN_LIB_EMULATOR_CHECK_OBSERVERS_H

#include "../Machine/Observer.h"
#include <map>
#include <mutex>

namespace attn::emu {

/// Gathers findings of all threads; the same pair of instructions is kept once.
class FindingCollector {
public:
  explicit FindingCollector(const LaunchContext &ctx) : ctx(ctx) {}

  /// One violation at \p inst of \p wave. \p other is the earlier instruction.
  /// \p describe is called only if this is the first of its kind.
  void add(Check check, const Wave &wave, const Inst &inst, int lane,
           const Inst *other, std::optional<unsigned> otherWave,
           llvm::function_ref<std::pair<std::string, std::string>()> describe);
  void moveTo(Report &report);

private:
  const LaunchContext &ctx;
  std::mutex mutex;
  /// (check, address, address of the other) to index in findings.
  std::map<std::tuple<unsigned, uint32_t, int64_t>, size_t> seen;
  std::vector<Finding> findings;
  std::array<uint64_t, numChecks> counts = {};
  std::array<unsigned, numChecks> kept = {};
};

/// The observers that the options ask for, for one thread.
std::vector<std::unique_ptr<Observer>>
makeObservers(LaunchContext &ctx, FindingCollector &collector);

std::unique_ptr<Observer> makeTracer(LaunchContext &ctx);
std::unique_ptr<Observer> makeChecker(LaunchContext &ctx,
                                      FindingCollector &collector);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_CHECK_OBSERVERS_H
