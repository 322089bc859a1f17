//===- Layouts.cpp --------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"
#include "attn/Conversion/Passes.h"

using namespace llvm;
using mlir::attn::KernelConfig;
using mlir::attn::LinearLayout;

static json::Object toJSON(const LinearLayout &layout) {
  json::Array inputs;
  for (const LinearLayout::Input &input : layout.getInputs()) {
    json::Array bases;
    for (const LinearLayout::Basis &basis : input.bases)
      bases.push_back(json::Array(basis));
    inputs.push_back(
        json::Object{{"name", input.name}, {"bases", std::move(bases)}});
  }
  return json::Object{
      {"outputs", json::Array(layout.getOutputs())},
      {"xor", layout.getCombine() == LinearLayout::Combine::Xor},
      {"inputs", std::move(inputs)}};
}

static json::Object describeTile(const KernelConfig &config, bool isV) {
  return json::Object{
      {"rows", config.tileKV},
      {"columns",
       (isV ? config.getLinesV() : config.getLinesK()) * config.getLine()},
      {"bytes", config.getTileElements(isV) * config.getElementBytes()},
      {"layout", toJSON(config.getTileLayout(isV))},
      {"staging", toJSON(config.getStagingLayout(isV))},
      {"instructions", config.getStagingInstructions(isV)}};
}

static json::Object describe(const KernelConfig &config, StringRef function) {
  return json::Object{
      {"function", function},
      {"element", getName(config.kind)},
      {"element_bytes", int64_t(config.getElementBytes())},
      {"head_dim_qk", config.headDimQK},
      {"head_dim_v", config.headDimV},
      {"tile_q", config.getTileQ()},
      {"tile_kv", config.tileKV},
      {"split_v", config.splitV},
      {"groups_kv", config.groupsKV},
      {"exchanges_p", config.exchangesP},
      {"tile_waves", config.getTileWaves()},
      {"steps_qk", config.stepsQK},
      {"blocks_v", config.blocksV},
      {"group_v", config.groupV},
      {"pipelined", config.pipelined},
      {"transposed_v", config.transposedV},
      {"fragment", config.getFragment()},
      {"mfma_depth", int64_t(config.chip->getMFMADepth(config.kind))},
      {"lds_bytes", config.getLDSBytes()},
      {"chip_lds_bytes", int64_t(config.chip->ldsBytes)},
      {"lds_banks", int64_t(config.chip->ldsBanks)},
      {"dma_bytes", int64_t(config.chip->dmaBytesPerLane)},
      {"k", describeTile(config, false)},
      {"v", describeTile(config, true)},
      {"operand",
       toJSON(mlir::attn::getOperandLayout(config.getElementBytes()))},
      {"value", toJSON(mlir::attn::getValueLayout(config.getElementBytes(),
                                                  config.groupV))},
      {"accumulator", toJSON(mlir::attn::getAccumulatorLayout())}};
}

json::Array attn::report::describeLayouts(mlir::ModuleOp module,
                                          const mlir::attn::ChipInfo &chip) {
  json::Array result;
  module.walk([&](mlir::attn::AttentionOp op) {
    if (!isa<mlir::MemRefType>(op.getQuery().getType()))
      return;
    auto config = mlir::attn::chooseKernelConfig(op, chip);
    if (!config)
      return consumeError(config.takeError()); // attn-to-gpu says it.
    auto function = op->getParentOfType<mlir::FunctionOpInterface>();
    result.push_back(describe(*config, function ? function.getName() : ""));
  });
  return result;
}
