//===- EffectsTest.cpp - Memory effects of the attn ops -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

class EffectsTest : public ::testing::Test {
protected:
  EffectsTest() { context.loadDialect<attn::AttnDialect, func::FuncDialect>(); }

  /// Effects of the first op of `function`, as "name of the argument: r, w or
  /// rw", in the order of the arguments.
  std::string effects(StringRef function) {
    module = parseSourceString<ModuleOp>(function, &context);
    if (!module)
      return "parse error";
    auto func = cast<func::FuncOp>(module->getBody()->front());
    auto op = cast<MemoryEffectOpInterface>(func.getBody().front().front());
    std::string text;
    for (BlockArgument argument : func.getArguments()) {
      text += text.empty() ? "" : " ";
      text += op.getEffectOnValue<MemoryEffects::Read>(argument) ? "r" : "";
      text += op.getEffectOnValue<MemoryEffects::Write>(argument) ? "w" : "";
      text += op.getEffectOnValue<MemoryEffects::Read>(argument) ||
                      op.getEffectOnValue<MemoryEffects::Write>(argument)
                  ? ""
                  : "-";
    }
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(EffectsTest, AttentionReadsInputsAndWritesDestinations) {
  EXPECT_EQ(effects(R"mlir(
    func.func @f(%q: memref<1x2x3x4xf32>, %mask: memref<3x3xi1>, %n: i32,
                 %o: memref<1x2x3x4xf32>, %l: memref<1x2x3xf32>) {
      attn.attention
          ins(%q, %q, %q : memref<1x2x3x4xf32>, memref<1x2x3x4xf32>, memref<1x2x3x4xf32>)
          mask(%mask : memref<3x3xi1>) seqlens_q(%n : i32)
          outs(%o, %l : memref<1x2x3x4xf32>, memref<1x2x3xf32>)
      return
    })mlir"),
            "r r - w w");
}

TEST_F(EffectsTest, OnlineAttentionUpdatesItsState) {
  EXPECT_EQ(effects(R"mlir(
    func.func @f(%q: memref<3x4xf32>, %acc: memref<3x4xf32>, %m: memref<3xf32>,
                 %l: memref<3xf32>) {
      attn.online_attention
          ins(%q, %q, %q : memref<3x4xf32>, memref<3x4xf32>, memref<3x4xf32>)
          outs(%acc, %m, %l : memref<3x4xf32>, memref<3xf32>, memref<3xf32>)
      return
    })mlir"),
            "r rw rw rw");
}

TEST_F(EffectsTest, FinalizeOnlyWritesItsDestinations) {
  EXPECT_EQ(effects(R"mlir(
    func.func @f(%acc: memref<3x4xf32>, %m: memref<3xf32>, %l: memref<3xf32>,
                 %o: memref<3x4xf16>, %lse: memref<3xf32>) {
      attn.finalize ins(%acc, %m, %l : memref<3x4xf32>, memref<3xf32>, memref<3xf32>)
          outs(%o, %lse : memref<3x4xf16>, memref<3xf32>)
      return
    })mlir"),
            "r r r w w");
}

TEST_F(EffectsTest, MergeOnlyWritesItsDestinations) {
  EXPECT_EQ(effects(R"mlir(
    func.func @f(%o1: memref<3x4xf32>, %l1: memref<3xf32>, %o: memref<3x4xf32>,
                 %lse: memref<3xf32>) {
      attn.merge_states (%o1, %l1 : memref<3x4xf32>, memref<3xf32>)
          outs(%o, %lse : memref<3x4xf32>, memref<3xf32>)
      return
    })mlir"),
            "r r w w");
}

TEST_F(EffectsTest, TensorsHaveNone) {
  EXPECT_EQ(effects(R"mlir(
    func.func @f(%q: tensor<1x2x3x4xf32>, %l: tensor<1x2x3xf32>) {
      %0:2 = attn.attention
          ins(%q, %q, %q : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
          outs(%q, %l : tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
      return
    })mlir"),
            "- -");
  EXPECT_TRUE(isMemoryEffectFree(&cast<func::FuncOp>(module->getBody()->front())
                                      .getBody()
                                      .front()
                                      .front()));
}

} // namespace
