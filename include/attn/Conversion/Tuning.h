//===- Tuning.h - Choices that were searched before -------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tuning file maps kinds of attention to knobs of `attn.lowering_config`.
// `attn-tune` writes it, `attn-compile --tuning` applies it. docs/Tuning.md has
// the format.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TUNING_H
#define ATTN_CONVERSION_TUNING_H

#include "attn/Conversion/KernelConfig.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::attn {

/// What a choice is for. Everything that decides whether knobs are legal is
/// exact; sizes, which decide only what is fast, are in buckets, so that there
/// are few keys.
struct TuningKey {
  std::string chip;
  ElementKind kind = ElementKind::BF16;
  int64_t headDimQK = 0, headDimV = 0;
  bool causal = false;
  /// The least powers of two that hold batches times heads, rows and keys.
  int64_t heads = 0, rows = 0, keys = 0;
  /// Do all rows of query, key, value and output begin at multiples of 16 bytes
  /// of a buffer that does?
  std::array<bool, 4> aligned = {};

  /// The key of `op`; none where a size is not static, or where the op asks for
  /// more than causal attention with whole sequences.
  static std::optional<TuningKey> get(AttentionOp op, const ChipInfo &chip);
  bool operator==(const TuningKey &other) const;
};

/// Can a kernel of `config` run on what has `key`? (An operand whose rows are
/// not aligned has them at multiples of 4 bytes.)
bool isLegal(const KernelConfig &config, const TuningKey &key);

struct TuningEntry {
  TuningKey key;
  KernelKnobs knobs;
  /// Projected by the timing model, with these knobs and with the rule's.
  double microseconds = 0, ruleMicroseconds = 0;
};

class TuningTable {
public:
  /// Reads a tuning file; every entry of it is legal. Errors are one line.
  static llvm::Expected<TuningTable> parse(llvm::StringRef text);
  void print(llvm::raw_ostream &os) const;

  /// Adds an entry, in place of one with its key.
  void add(TuningEntry entry);
  const TuningEntry *lookup(const TuningKey &key) const;
  llvm::ArrayRef<TuningEntry> getEntries() const { return entries; }
  /// Sets `attn.lowering_config` on every attention of `module` that has none
  /// and that the table knows.
  void apply(ModuleOp module, const ChipInfo &chip) const;

private:
  std::vector<TuningEntry> entries;
};

/// `knobs` as an attribute.
LoweringConfigAttr getLoweringConfig(MLIRContext *context,
                                     const KernelKnobs &knobs);

} // namespace mlir::attn

#endif // ATTN_CONVERSION_TUNING_H
