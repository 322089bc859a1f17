//===- SizeExprTest.cpp - Sizes over named dimensions ---------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/SizeExpr.h"
#include "gtest/gtest.h"
#include <limits>

using namespace llvm;
using namespace attn::manifest;

namespace {

/// Parses and evaluates; the text of the error where there is one.
std::string run(StringRef text, const DimMap &dims = {}) {
  Expected<SizeExpr> expr = SizeExpr::parse(text);
  if (!expr)
    return toString(expr.takeError());
  Expected<int64_t> value = expr->evaluate(dims);
  return value ? std::to_string(*value) : toString(value.takeError());
}

std::string reprint(StringRef text) {
  Expected<SizeExpr> expr = SizeExpr::parse(text);
  return expr ? expr->str() : toString(expr.takeError());
}

DimMap makeDims() { return {{"B", 3}, {"Sq", 130}, {"zero", 0}, {"neg", -7}}; }

TEST(SizeExprTest, Arithmetic) {
  DimMap dims = makeDims();
  EXPECT_EQ(run("1 + 2 * 3"), "7");
  EXPECT_EQ(run("(1 + 2) * 3"), "9");
  EXPECT_EQ(run("10 - 3 - 2"), "5");
  EXPECT_EQ(run("10 - (3 - 2)"), "9");
  EXPECT_EQ(run("-2 * -3 - -1"), "7");
  EXPECT_EQ(run("ceildiv(Sq, 128) * B", dims), "6");
  EXPECT_EQ(run("Sq ceildiv 128 * B", dims), "6");
  EXPECT_EQ(run("min(Sq, 64, B)", dims), "3");
  EXPECT_EQ(run("max(B, Sq - 100)", dims), "30");
  EXPECT_EQ(run("\t B\n", dims), "3");
}

TEST(SizeExprTest, CeilDivRoundsUp) {
  DimMap dims = makeDims();
  EXPECT_EQ(run("ceildiv(0, 4)"), "0");
  EXPECT_EQ(run("ceildiv(1, 4)"), "1");
  EXPECT_EQ(run("ceildiv(4, 4)"), "1");
  EXPECT_EQ(run("ceildiv(5, 4)"), "2");
  EXPECT_EQ(run("ceildiv(neg, 4)", dims), "-1");
  EXPECT_EQ(run("ceildiv(neg, 8)", dims), "0");
  EXPECT_EQ(run("ceildiv(9223372036854775807, 2)"), "4611686018427387904");
}

TEST(SizeExprTest, EvaluationErrors) {
  DimMap dims = makeDims();
  EXPECT_EQ(run("B * Hq", dims),
            "in size 'B * Hq': dimension 'Hq' has no value");
  EXPECT_EQ(run("ceildiv(B, zero)", dims),
            "in size 'ceildiv(B, zero)': expects a positive divisor of "
            "ceildiv, but got 0");
  EXPECT_EQ(run("ceildiv(B, neg)", dims),
            "in size 'ceildiv(B, neg)': expects a positive divisor of ceildiv, "
            "but got -7");
  EXPECT_EQ(run("9223372036854775807 + B", dims),
            "in size '9223372036854775807 + B': does not fit into 64 bits");
  EXPECT_EQ(run("9223372036854775807 * B", dims),
            "in size '9223372036854775807 * B': does not fit into 64 bits");
  // Constants are not folded into nonsense either.
  EXPECT_EQ(run("9223372036854775807 + 1"),
            "in size '9223372036854775807 + 1': does not fit into 64 bits");
  EXPECT_EQ(run("-9223372036854775807 - 2"),
            "in size '-9223372036854775807 - 2': does not fit into 64 bits");
}

TEST(SizeExprTest, ParseErrors) {
  EXPECT_EQ(run(""), "expects a number, a name or '(' at column 1 of a size "
                     "expression, but got the end");
  EXPECT_EQ(run("B +"), "expects a number, a name or '(' at column 4 of a size "
                        "expression, but got the end");
  EXPECT_EQ(run("B / 2"), "expects an operator at column 3 of a size "
                          "expression, but got '/'");
  EXPECT_EQ(run("(B"), "expects ')' at column 3 of a size expression, but got "
                       "the end");
  EXPECT_EQ(run("min B"),
            "expects '(' at column 5 of a size expression, but got 'B'");
  EXPECT_EQ(run("ceildiv(4)"), "expects 2 arguments of ceildiv at column 10 of "
                               "a size expression, but got ')'");
  EXPECT_EQ(run("ceildiv(4, 2, 1)"), "expects 2 arguments of ceildiv at column "
                                     "16 of a size expression, but got ')'");
  EXPECT_EQ(run("9223372036854775808"),
            "expects an integer of 64 bits at column 1 of a size expression, "
            "but got '9'");
  EXPECT_EQ(run(StringRef("B \0", 3)),
            "expects an operator at column 3 of a size expression, but got an "
            "unprintable character");
  EXPECT_EQ(run("2B"), "expects an operator at column 2 of a size expression, "
                       "but got 'B'");
}

TEST(SizeExprTest, HostileInputIsRefused) {
  EXPECT_EQ(run(std::string(1000, '(')),
            "expects at most 100 levels of nesting in a size expression");
  EXPECT_EQ(run(std::string(1000, '-') + "1"),
            "expects at most 100 levels of nesting in a size expression");
  EXPECT_EQ(run(std::string(5000, ' ')),
            "expects at most 4096 characters in a size expression, but got "
            "5000");
}

TEST(SizeExprTest, PrintingParsesBack) {
  for (StringRef text : {"B", "B + 2 * Sq", "(B + 2) * Sq", "B - (Sq - 1)",
                         "B - Sq - 1", "B * (Sq * 2)", "ceildiv(Sq + 1, 128)",
                         "min(B, max(Sq, 2))", "B * (-3)", "-1 + B"}) {
    EXPECT_EQ(reprint(text), text);
  }
  EXPECT_EQ(reprint("Sq ceildiv 128"), "ceildiv(Sq, 128)");
  EXPECT_EQ(reprint("min(a, b, c)"), "min(min(a, b), c)");
  // The lowest integer has no literal of its own.
  SizeExpr lowest(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(run(lowest.str()), "-9223372036854775808");
}

TEST(SizeExprTest, BuildersFold) {
  SizeExpr b = SizeExpr::dim("B");
  EXPECT_EQ(SizeExpr::mul(b, 1).str(), "B");
  EXPECT_EQ(SizeExpr::mul(1, b).str(), "B");
  EXPECT_EQ(SizeExpr::add(b, 0).str(), "B");
  EXPECT_EQ(SizeExpr::add(0, b).str(), "B");
  EXPECT_EQ(SizeExpr::sub(b, 0).str(), "B");
  EXPECT_EQ(SizeExpr::sub(0, b).str(), "0 - B");
  EXPECT_EQ(SizeExpr::ceilDiv(b, 1).str(), "B");
  EXPECT_EQ(SizeExpr::ceilDiv(130, 128).getConstant(), 2);
  EXPECT_EQ(SizeExpr::ceilDiv(130, 0).getConstant(), std::nullopt);
  EXPECT_EQ(SizeExpr::min(SizeExpr::max(3, 5), 4).getConstant(), 4);
}

TEST(SizeExprTest, Substitute) {
  Expected<SizeExpr> expr = SizeExpr::parse("max(Sq - 1, ceildiv(B, 8)) * Hq");
  ASSERT_TRUE(bool(expr));
  EXPECT_EQ(expr->substitute({{"B", SizeExpr::dim("N")}}).str(),
            "max(Sq - 1, ceildiv(N, 8)) * Hq");
  EXPECT_EQ(expr->substitute({{"B", 16}, {"Sq", 4}, {"Hq", 2}}).getConstant(),
            6);
  // Once: names in what is put in stay.
  EXPECT_EQ(SizeExpr::dim("B")
                .substitute({{"B", SizeExpr::add(SizeExpr::dim("B"), 1)}})
                .str(),
            "B + 1");
}

TEST(SizeExprTest, Queries) {
  EXPECT_EQ(SizeExpr::dim("q_stride.0").getDim(), StringRef("q_stride.0"));
  EXPECT_EQ(SizeExpr::add(SizeExpr::dim("B"), 1).getDim(), std::nullopt);
  EXPECT_FALSE(SizeExpr::isName("min"));
  EXPECT_FALSE(SizeExpr::isName("1B"));
  EXPECT_FALSE(SizeExpr::isName(""));
  SmallVector<StringRef> names;
  Expected<SizeExpr> expr = SizeExpr::parse("B + Sq * B - max(Hq, Sq)");
  ASSERT_TRUE(bool(expr));
  expr->getDims(names);
  EXPECT_EQ(names, (SmallVector<StringRef>{"B", "Sq", "Hq"}));
  EXPECT_EQ(expr->toJSON(), json::Value("B + Sq * B - max(Hq, Sq)"));
  EXPECT_EQ(SizeExpr(5).toJSON(), json::Value(5));
}

} // namespace
