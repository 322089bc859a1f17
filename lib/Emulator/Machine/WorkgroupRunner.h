//===- WorkgroupRunner.h - One workgroup on one host thread -----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_MACHINE_WORKGROUPRUNNER_H
#define ATTN_LIB_EMULATOR_MACHINE_WORKGROUPRUNNER_H

#include "Observer.h"
#include <memory>
#include <random>

namespace attn::emu {

/// Runs workgroups one after the other, reusing its storage. One a thread.
class WorkgroupRunner {
public:
  WorkgroupRunner(LaunchContext &ctx,
                  std::vector<std::unique_ptr<Observer>> observers);
  ~WorkgroupRunner();

  /// Runs the workgroup with linear id \p linear (x fastest) to its end.
  llvm::Error run(uint64_t linear);

  const Statistics &getStatistics() const { return statistics; }
  llvm::ArrayRef<std::unique_ptr<Observer>> getObservers() const {
    return observers;
  }

private:
  void setUp(uint64_t linear);
  void setUpWave(Wave &wave, unsigned index);
  template <bool observed> void runWave(Wave &wave);
  llvm::Error schedule();
  llvm::Error makeError(const Wave &wave) const;
  void collect();

  LaunchContext &ctx;
  std::vector<std::unique_ptr<Observer>> observers;
  Workgroup group;
  std::vector<Wave> waves;
  std::unique_ptr<uint32_t[]> registers;
  std::vector<uint8_t> scratch;
  std::mt19937_64 random;
  Statistics statistics;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_MACHINE_WORKGROUPRUNNER_H
