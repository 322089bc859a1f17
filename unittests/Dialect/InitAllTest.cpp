//===- InitAllTest.cpp - Registration without a backend -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/InitAll.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Pass/PassRegistry.h"
#include "gtest/gtest.h"

using namespace mlir;

TEST(InitAll, DialectsComeWithTheirInterfaces) {
  DialectRegistry registry;
  attn::registerAllAttnDialects(registry);
  MLIRContext context(registry);
  ASSERT_TRUE(context.getOrLoadDialect("attn"));
  EXPECT_TRUE(RegisteredOperationName::lookup("attn.attention", &context)
                  ->hasInterface<bufferization::BufferizableOpInterface>());
}

TEST(InitAll, PassesOnTheDialectNeedNoBackend) {
  attn::registerAttnTransformsPasses();
  EXPECT_TRUE(PassInfo::lookup("attn-tile"));
  EXPECT_FALSE(PassInfo::lookup("attn-to-gpu"));
}
