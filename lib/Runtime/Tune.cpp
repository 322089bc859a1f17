//===- Tune.cpp - Searching kernels with the timing model -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Tune.h"
#include "ParseModule.h"
#include "attn/Conversion/Passes.h"
#include "attn/Runtime/CompileModule.h"
#include "attn/Runtime/RunTiming.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mlir::attn;

namespace attn::rt {

/// Values worth a try; those that are not legal fall away.
static ArrayRef<int64_t> getValues(StringRef knob) {
  static constexpr int64_t tileQ[] = {256, 128, 64}, tileKV[] = {64, 32},
                           clusters[] = {1, 2, 4},
                           earlyExps[] = {4, 8, 12, 14, 16, 20, 24};
  if (knob == "tile_q")
    return tileQ;
  if (knob == "tile_kv")
    return tileKV;
  if (knob.starts_with("clusters_"))
    return clusters;
  if (knob == "early_exps")
    return earlyExps;
  return {};
}

SmallVector<KernelKnobs>
getTuningCandidates(const TuningKey &key, const KernelKnobs &base,
                    function_ref<bool(const KernelConfig &)> isFit) {
  SmallVector<KernelKnobs> result;
  auto chip = lookupChip(key.chip);
  if (!chip) {
    consumeError(chip.takeError());
    return result;
  }
  for (const KernelKnob &knob : getKernelKnobs())
    for (int64_t value : getValues(knob.name)) {
      KernelKnobs knobs = base;
      if (knobs.*knob.value == value)
        continue;
      knobs.*knob.value = value;
      auto config = chooseKernelConfig(**chip, key.kind, key.headDimQK,
                                       key.headDimV, std::nullopt, knobs);
      if (!config) {
        consumeError(config.takeError());
        continue;
      }
      if (isFit ? isFit(*config) : isLegal(*config, key))
        result.push_back(knobs);
    }
  return result;
}

/// A module with `op` alone, on memrefs, that asks for `knobs`.
static mlir::OwningOpRef<mlir::ModuleOp> isolate(AttentionOp op,
                                                 const KernelKnobs &knobs) {
  mlir::OpBuilder builder(op.getContext());
  mlir::Location loc = op.getLoc();
  auto module = mlir::ModuleOp::create(builder, loc);
  builder.setInsertionPointToStart(module.getBody());
  SmallVector<mlir::Type> types;
  for (mlir::Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<mlir::RankedTensorType>(type);
    types.push_back(tensor ? mlir::MemRefType::get(tensor.getShape(),
                                                   tensor.getElementType())
                           : type);
  }
  auto function = mlir::func::FuncOp::create(
      builder, loc, "tune", builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  mlir::OperationState state(loc, op->getName());
  state.addOperands(function.getArguments());
  state.addAttributes(op->getAttrs());
  state.attributes.set(kLoweringConfigAttr,
                       getLoweringConfig(op.getContext(), knobs));
  builder.create(state);
  mlir::func::ReturnOp::create(builder, loc);
  return module;
}

namespace {
struct Measurement {
  KernelKnobs knobs; ///< all of them
  double microseconds = 0;
};
} // namespace

static Expected<Measurement> measure(AttentionOp op, const ChipInfo &chip,
                                     const KernelKnobs &knobs) {
  auto module = isolate(op, knobs);
  Measurement result;
  module->walk([&](AttentionOp alone) {
    auto config = chooseKernelConfig(alone, chip);
    if (config)
      result.knobs = config->getKnobs();
    else
      consumeError(config.takeError()); // compiling says it
  });
  auto compiled = compileModule(*module, chip.name, "tune");
  if (!compiled)
    return compiled.takeError();
  auto program =
      KernelProgram::create(MemoryBuffer::getMemBufferCopy(StringRef(
                                compiled->code.data(), compiled->code.size())),
                            std::move(compiled->manifest));
  if (!program)
    return program.takeError();
  TimingOptions options;
  options.sensitivities = false;
  auto launches = runTiming(*program, {}, options);
  if (!launches)
    return launches.takeError();
  result.microseconds = getMicroseconds(*launches);
  return result;
}

static bool isSame(const KernelKnobs &a, const KernelKnobs &b) {
  return all_of(getKernelKnobs(), [&](const KernelKnob &knob) {
    return a.*knob.value == b.*knob.value;
  });
}

static std::string print(const KernelKnobs &knobs) {
  std::string text;
  for (const KernelKnob &knob : getKernelKnobs())
    if (knobs.*knob.value)
      text += (text.empty() ? "" : ", ") + knob.name.str() + " = " +
              std::to_string(*(knobs.*knob.value));
  return text;
}

Expected<TuningEntry> tune(AttentionOp op, const ChipInfo &chip,
                           raw_ostream &progress) {
  std::optional<TuningKey> key = TuningKey::get(op, chip);
  if (!key)
    return createStringError("expects attention with static sizes and no "
                             "options but causal to tune");
  SmallVector<KernelKnobs> seen;
  auto attempt = [&](const KernelKnobs &knobs) -> Expected<Measurement> {
    auto result = measure(op, chip, knobs);
    if (result) {
      progress << formatv("  {0,8:f1} us  {1}\n", result->microseconds,
                          print(result->knobs));
      seen.push_back(result->knobs);
    }
    return result;
  };
  auto best = attempt({});
  if (!best)
    return best.takeError();
  TuningEntry entry{*key, best->knobs, best->microseconds, best->microseconds};
  // Only the rule, which knows the shape, chooses rows by it.
  KernelKnobs base;
  base.tileQ = best->knobs.tileQ;
  for (bool helped = true; helped;) {
    helped = false;
    KernelKnobs next = base;
    for (const KernelKnobs &candidate : getTuningCandidates(*key, base)) {
      // What it comes to, with what the rule adds.
      auto config = chooseKernelConfig(chip, key->kind, key->headDimQK,
                                       key->headDimV, std::nullopt, candidate);
      if (!config)
        return config.takeError();
      if (any_of(seen, [&](const KernelKnobs &knobs) {
            return isSame(knobs, config->getKnobs());
          }))
        continue;
      auto result = attempt(candidate);
      if (!result)
        return result.takeError();
      // Less than this is noise of the projection.
      if (result->microseconds > entry.microseconds * 0.999)
        continue;
      entry.knobs = result->knobs;
      entry.microseconds = result->microseconds;
      next = candidate;
      helped = true;
    }
    base = next;
  }
  progress << formatv("  best: {0:f1} us, the rule's {1:f1} us\n",
                      entry.microseconds, entry.ruleMicroseconds);
  return entry;
}

Error tuneFile(StringRef path, const ChipInfo &chip, TuningTable &table,
               raw_ostream &progress) {
  mlir::DialectRegistry registry;
  registerGPUDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = parseModule(path, context);
  if (!module)
    return module.takeError();
  SmallVector<std::pair<AttentionOp, TuningKey>> work;
  size_t skipped = 0;
  (*module)->walk([&](AttentionOp op) {
    std::optional<TuningKey> key = TuningKey::get(op, chip);
    if (!key)
      ++skipped;
    else if (none_of(work, [&](auto &each) { return each.second == *key; }))
      work.push_back({op, *key});
  });
  if (work.empty())
    return createStringError("expects an attention with static sizes and no "
                             "options but causal in '" +
                             path + "'");
  for (auto [index, each] : enumerate(work)) {
    progress << "kernel " << index + 1 << " of " << work.size() << " on "
             << chip.name << ", " << each.first->getLoc() << "\n";
    auto entry = tune(each.first, chip, progress);
    if (!entry)
      return entry.takeError();
    table.add(std::move(*entry));
  }
  if (skipped)
    progress << skipped << " others have sizes that are not static or options "
             << "that tuning does not know\n";
  return Error::success();
}

} // namespace attn::rt
