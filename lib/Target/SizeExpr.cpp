//===- SizeExpr.cpp - Sizes over named dimensions -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <limits>

using namespace llvm;

namespace attn::manifest {

namespace {
enum Kind { Constant, Dim, Add, Sub, Mul, CeilDiv, Min, Max };

/// Deep or long input is refused: the parser and the evaluator recurse.
constexpr unsigned maxDepth = 100;
constexpr size_t maxLength = 4096;
} // namespace

struct SizeExpr::Node {
  int kind;
  int64_t value = 0;
  std::string name;
  std::shared_ptr<const Node> lhs, rhs;
};

using NodeRef = std::shared_ptr<const SizeExpr::Node>;

static StringRef functionName(int kind) {
  switch (kind) {
  case CeilDiv:
    return "ceildiv";
  case Min:
    return "min";
  default:
    return "max";
  }
}

/// The result, or nothing when it does not exist or does not fit 64 bits.
static std::optional<int64_t> apply(int kind, int64_t a, int64_t b) {
  int64_t result;
  switch (kind) {
  case Add:
    return AddOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Sub:
    return SubOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case Mul:
    return MulOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case CeilDiv:
    // Truncation is already upwards for a negative dividend.
    return b <= 0 ? std::nullopt
                  : std::optional(a / b + (a > 0 && a % b != 0 ? 1 : 0));
  case Min:
    return std::min(a, b);
  case Max:
    return std::max(a, b);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

SizeExpr::SizeExpr(int64_t value)
    : node(std::make_shared<Node>(Node{Constant, value, "", {}, {}})) {}

SizeExpr SizeExpr::dim(StringRef name) {
  assert(isName(name) && "not a dimension name");
  return SizeExpr(std::make_shared<Node>(Node{Dim, 0, name.str(), {}, {}}));
}

SizeExpr SizeExpr::binary(int kind, SizeExpr lhs, SizeExpr rhs) {
  if (lhs.getConstant() && rhs.getConstant())
    if (auto folded = apply(kind, lhs.node->value, rhs.node->value))
      return SizeExpr(*folded);
  // Neutral elements.
  bool rhsZero = rhs.getConstant() == 0, rhsOne = rhs.getConstant() == 1;
  if (((kind == Add || kind == Sub) && rhsZero) ||
      ((kind == Mul || kind == CeilDiv) && rhsOne))
    return lhs;
  if ((kind == Add && lhs.getConstant() == 0) ||
      (kind == Mul && lhs.getConstant() == 1))
    return rhs;
  return SizeExpr(
      std::make_shared<Node>(Node{kind, 0, "", lhs.node, rhs.node}));
}

SizeExpr SizeExpr::add(SizeExpr l, SizeExpr r) { return binary(Add, l, r); }
SizeExpr SizeExpr::sub(SizeExpr l, SizeExpr r) { return binary(Sub, l, r); }
SizeExpr SizeExpr::mul(SizeExpr l, SizeExpr r) { return binary(Mul, l, r); }
SizeExpr SizeExpr::ceilDiv(SizeExpr l, SizeExpr r) {
  return binary(CeilDiv, l, r);
}
SizeExpr SizeExpr::min(SizeExpr l, SizeExpr r) { return binary(Min, l, r); }
SizeExpr SizeExpr::max(SizeExpr l, SizeExpr r) { return binary(Max, l, r); }

bool SizeExpr::isName(StringRef name) {
  if (name.empty() || !(isAlpha(name.front()) || name.front() == '_'))
    return false;
  if (!all_of(name, [](char c) { return isAlnum(c) || c == '_' || c == '.'; }))
    return false;
  return name != "ceildiv" && name != "min" && name != "max";
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace {
/// Recursive descent; the first error sticks and every caller unwinds.
class Parser {
public:
  explicit Parser(StringRef text) : text(text) {}

  Expected<SizeExpr> parse() {
    if (text.size() > maxLength)
      return createStringError(
          formatv("expects at most {0} characters in a size expression, but "
                  "got {1}",
                  maxLength, text.size()));
    SizeExpr result = parseExpr();
    skipSpace();
    if (message.empty() && pos != text.size())
      fail("expects an operator");
    if (!message.empty())
      return createStringError(message);
    return result;
  }

private:
  void skipSpace() {
    while (pos < text.size() && isSpace(text[pos]))
      ++pos;
  }

  SizeExpr fail(StringRef what) {
    if (message.empty()) {
      std::string got = pos < text.size()
                            ? ("'" + text.substr(pos, 1) + "'").str()
                            : "the end";
      if (pos < text.size() && !isPrint(text[pos]))
        got = "an unprintable character";
      message = formatv("{0} at column {1} of a size expression, but got {2}",
                        what, pos + 1, got);
    }
    return SizeExpr();
  }

  bool accept(char c) {
    skipSpace();
    if (!message.empty() || pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }

  /// The identifier at the cursor, which stays where it is.
  StringRef peekWord() {
    skipSpace();
    StringRef rest = text.substr(pos);
    if (rest.empty() || !(isAlpha(rest.front()) || rest.front() == '_'))
      return "";
    return rest.take_while(
        [](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  }

  // The depth bound holds for the tree too, not for the recursion only: a long
  // chain "a+a+a..." leans left, and maxLength bounds it.
  SizeExpr parseExpr() {
    SizeExpr lhs = parseTerm();
    while (message.empty()) {
      if (accept('+'))
        lhs = SizeExpr::add(lhs, parseTerm());
      else if (accept('-'))
        lhs = SizeExpr::sub(lhs, parseTerm());
      else
        break;
    }
    return lhs;
  }

  SizeExpr parseTerm() {
    SizeExpr lhs = parseFactor();
    while (message.empty()) {
      if (accept('*')) {
        lhs = SizeExpr::mul(lhs, parseFactor());
      } else if (peekWord() == "ceildiv") {
        pos += strlen("ceildiv");
        lhs = SizeExpr::ceilDiv(lhs, parseFactor());
      } else {
        break;
      }
    }
    return lhs;
  }

  SizeExpr parseFactor() {
    skipSpace();
    if (++depth > maxDepth) {
      if (message.empty())
        message = formatv("expects at most {0} levels of nesting in a size "
                          "expression",
                          maxDepth);
      return SizeExpr();
    }
    SizeExpr result = parsePrimary();
    --depth;
    return result;
  }

  SizeExpr parsePrimary() {
    if (accept('-'))
      return SizeExpr::sub(0, parseFactor());
    if (accept('(')) {
      SizeExpr inner = parseExpr();
      return accept(')') ? inner : fail("expects ')'");
    }
    StringRef digits =
        text.substr(pos).take_while([](char c) { return isDigit(c); });
    if (!digits.empty()) {
      int64_t value;
      if (digits.getAsInteger(10, value))
        return fail("expects an integer of 64 bits");
      pos += digits.size();
      return SizeExpr(value);
    }
    StringRef word = peekWord();
    if (word.empty())
      return fail("expects a number, a name or '('");
    if (SizeExpr::isName(word)) {
      pos += word.size();
      return SizeExpr::dim(word);
    }
    return parseCall(word);
  }

  SizeExpr parseCall(StringRef function) {
    pos += function.size();
    if (!accept('('))
      return fail("expects '('");
    SizeExpr result = parseExpr();
    unsigned numArgs = 1;
    while (message.empty() && accept(',')) {
      SizeExpr next = parseExpr();
      if (function == "ceildiv" && ++numArgs > 2)
        return fail("expects 2 arguments of ceildiv");
      if (function == "min")
        result = SizeExpr::min(result, next);
      else if (function == "max")
        result = SizeExpr::max(result, next);
      else
        result = SizeExpr::ceilDiv(result, next);
    }
    if (function == "ceildiv" && numArgs != 2)
      return fail("expects 2 arguments of ceildiv");
    return accept(')') ? result : fail("expects ')'");
  }

  StringRef text;
  size_t pos = 0;
  unsigned depth = 0;
  std::string message;
};
} // namespace

Expected<SizeExpr> SizeExpr::parse(StringRef text) {
  return Parser(text).parse();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

std::optional<int64_t> SizeExpr::getConstant() const {
  if (node->kind == Constant)
    return node->value;
  return std::nullopt;
}

std::optional<StringRef> SizeExpr::getDim() const {
  if (node->kind == Dim)
    return StringRef(node->name);
  return std::nullopt;
}

static void collect(const NodeRef &node, SmallVectorImpl<StringRef> &names) {
  if (!node)
    return;
  if (node->kind == Dim && !is_contained(names, node->name))
    names.push_back(node->name);
  collect(node->lhs, names);
  collect(node->rhs, names);
}

void SizeExpr::getDims(SmallVectorImpl<StringRef> &names) const {
  collect(node, names);
}

static Expected<int64_t> evaluateNode(const NodeRef &node, const DimMap &dims) {
  if (node->kind == Constant)
    return node->value;
  if (node->kind == Dim) {
    auto it = dims.find(node->name);
    if (it == dims.end())
      return createStringError(
          formatv("dimension '{0}' has no value", node->name));
    return it->second;
  }
  Expected<int64_t> lhs = evaluateNode(node->lhs, dims);
  if (!lhs)
    return lhs;
  Expected<int64_t> rhs = evaluateNode(node->rhs, dims);
  if (!rhs)
    return rhs;
  if (node->kind == CeilDiv && *rhs <= 0)
    return createStringError(
        formatv("expects a positive divisor of ceildiv, but got {0}", *rhs));
  std::optional<int64_t> result = apply(node->kind, *lhs, *rhs);
  if (!result)
    return createStringError("does not fit into 64 bits");
  return *result;
}

Expected<int64_t> SizeExpr::evaluate(const DimMap &dims) const {
  Expected<int64_t> result = evaluateNode(node, dims);
  if (!result && !getConstant())
    return createStringError("in size '" + str() +
                             "': " + toString(result.takeError()));
  return result;
}

/// `level` is how tightly the context binds: 0 sum, 1 right of a sum, 2
/// product, 3 right of a product.
static void print(const NodeRef &node, int level, std::string &out) {
  switch (node->kind) {
  case Constant:
    // The sign is an operator of the grammar, which has no literal for 2^63.
    if (node->value < 0 && level > 0)
      out += '(';
    if (node->value == std::numeric_limits<int64_t>::min())
      out += std::to_string(node->value + 1) + " - 1";
    else
      out += std::to_string(node->value);
    if (node->value < 0 && level > 0)
      out += ')';
    return;
  case Dim:
    out += node->name;
    return;
  case Add:
  case Sub:
  case Mul: {
    int own = node->kind == Mul ? 2 : 0;
    bool parenthesize = level > own;
    if (parenthesize)
      out += '(';
    print(node->lhs, own, out);
    out += node->kind == Add ? " + " : node->kind == Sub ? " - " : " * ";
    print(node->rhs, own + 1, out);
    if (parenthesize)
      out += ')';
    return;
  }
  default:
    out += functionName(node->kind);
    out += '(';
    print(node->lhs, 0, out);
    out += ", ";
    print(node->rhs, 0, out);
    out += ')';
  }
}

SizeExpr SizeExpr::substitute(const StringMap<SizeExpr> &names) const {
  switch (node->kind) {
  case Constant:
    return *this;
  case Dim: {
    auto it = names.find(node->name);
    return it == names.end() ? *this : it->second;
  }
  default:
    return binary(node->kind, SizeExpr(node->lhs).substitute(names),
                  SizeExpr(node->rhs).substitute(names));
  }
}

std::string SizeExpr::str() const {
  std::string out;
  print(node, 0, out);
  return out;
}

json::Value SizeExpr::toJSON() const {
  if (auto value = getConstant())
    return *value;
  return str();
}

} // namespace attn::manifest
