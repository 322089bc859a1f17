//===- AttnPlugin.cpp - The dialect and its passes for a stock mlir-opt ---===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

static constexpr const char *pluginName = "AttnMLIR";

/// What `--load-dialect-plugin` asks for.
extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, pluginName, LLVM_VERSION_STRING,
          [](DialectRegistry *registry) {
            attn::registerAllAttnDialects(*registry);
          }};
}

/// What `--load-pass-plugin` asks for.
extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, pluginName, LLVM_VERSION_STRING, []() {
            attn::registerAllAttnPasses();
            attn::registerAllAttnPipelines();
          }};
}
