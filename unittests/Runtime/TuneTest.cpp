//===- TuneTest.cpp - Which candidates a key is offered -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Tune.h"

#include "gtest/gtest.h"

using namespace mlir::attn;
using attn::rt::getTuningCandidates;

namespace {

TuningKey makeKey(llvm::StringRef chip, ElementKind kind, int64_t headDim) {
  TuningKey key;
  key.chip = chip.str();
  key.kind = kind;
  key.headDimQK = key.headDimV = headDim;
  key.heads = key.rows = key.keys = 64;
  key.aligned = {true, true, true, true};
  return key;
}

TEST(TuneTest, CandidatesAreLegalForEveryTensorOfTheKey) {
  for (llvm::StringRef chip : {"gfx942", "gfx950"})
    for (ElementKind kind :
         {ElementKind::F16, ElementKind::BF16, ElementKind::F32})
      for (int64_t headDim : {8, 64, 96, 128, 192, 256}) {
        TuningKey key = makeKey(chip, kind, headDim);
        for (const KernelKnobs &knobs : getTuningCandidates(key, {}))
          // Sizes are not in question: legal with any.
          for (int64_t size : {1, 100, 1 << 20}) {
            auto config = chooseKernelConfig(
                **lookupChip(chip), kind, headDim, headDim,
                LaunchShape{size, size, size, std::nullopt}, knobs);
            EXPECT_TRUE(bool(config)) << llvm::toString(config.takeError());
          }
      }
}

TEST(TuneTest, TheProgramIsSearched) {
  TuningKey key = makeKey("gfx950", ElementKind::BF16, 128);
  EXPECT_GE(getTuningCandidates(key, {}).size(), 8u);
  // A plain program has no pacing.
  key.kind = ElementKind::F32;
  for (const KernelKnobs &knobs : getTuningCandidates(key, {}))
    EXPECT_FALSE(knobs.earlyExps);
}

// No kernel of today needs more than the 4 bytes that all rows have; one that
// will is not for a key with an operand that may lack it.
TEST(TuneTest, AlignmentDecidesWhatIsOffered) {
  TuningKey key = makeKey("gfx950", ElementKind::BF16, 128);
  auto wide = [&](const KernelConfig &config) {
    KernelConfig other = config;
    other.rowAlignment = 16;
    return isLegal(other, key);
  };
  size_t all = getTuningCandidates(key, {}).size();
  EXPECT_EQ(getTuningCandidates(key, {}, wide).size(), all);
  for (bool &aligned : key.aligned) {
    aligned = false;
    EXPECT_EQ(getTuningCandidates(key, {}, wide).size(), 0u);
    EXPECT_EQ(getTuningCandidates(key, {}).size(), all);
    aligned = true;
  }
}

TEST(TuneTest, AKeyHasOneEntry) {
  TuningTable table;
  TuningEntry entry{makeKey("gfx950", ElementKind::BF16, 128), {}, 2, 3};
  entry.knobs.earlyExps = 8;
  table.add(entry);
  entry.knobs.earlyExps = 10;
  table.add(entry);
  EXPECT_EQ(table.getEntries().size(), 1u);
  EXPECT_EQ(table.lookup(entry.key)->knobs.earlyExps, 10);
  TuningKey other = entry.key;
  other.aligned[2] = false;
  EXPECT_EQ(table.lookup(other), nullptr);

  // What is printed is read again.
  std::string text;
  llvm::raw_string_ostream os(text);
  table.print(os);
  auto again = TuningTable::parse(text);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  ASSERT_NE(again->lookup(entry.key), nullptr);
  EXPECT_EQ(again->lookup(entry.key)->knobs.earlyExps, 10);
}

} // namespace
