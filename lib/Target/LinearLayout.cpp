//===- LinearLayout.cpp ---------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace mlir::attn;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

LinearLayout::LinearLayout(ArrayRef<StringRef> outputs, Combine combine)
    : combine(combine) {
  for (StringRef name : outputs)
    this->outputs.push_back(name.str());
}

LinearLayout &LinearLayout::add(StringRef name, ArrayRef<Basis> bases) {
  assert(
      llvm::all_of(
          bases, [&](const Basis &b) { return b.size() == outputs.size(); }) &&
      "one entry an output");
  inputs.push_back({name.str(), SmallVector<Basis, 6>(bases)});
  return *this;
}

LinearLayout &LinearLayout::addLinear(StringRef name, unsigned bits,
                                      ArrayRef<int64_t> unit) {
  SmallVector<Basis> bases;
  for (unsigned b = 0; b < bits; ++b) {
    Basis basis;
    for (int64_t u : unit)
      basis.push_back(u << b);
    bases.push_back(basis);
  }
  return add(name, bases);
}

unsigned LinearLayout::getOutput(StringRef name) const {
  auto it = llvm::find(outputs, name);
  assert(it != outputs.end() && "no such output");
  return it - outputs.begin();
}

const LinearLayout::Input *LinearLayout::getInput(StringRef name) const {
  for (const Input &input : inputs)
    if (input.name == name)
      return &input;
  return nullptr;
}

LinearLayout::Basis LinearLayout::apply(ArrayRef<Coord> at) const {
  Basis result(outputs.size(), 0);
  for (auto [name, value] : at) {
    const Input *input = getInput(name);
    assert(input && "no such input");
    assert(value >= 0 && value < (int64_t(1) << input->bases.size()) &&
           "coordinate out of range");
    for (auto [bit, basis] : llvm::enumerate(input->bases))
      if (value >> bit & 1)
        for (unsigned o = 0; o < result.size(); ++o)
          result[o] = join(result[o], basis[o]);
  }
  return result;
}

bool LinearLayout::isDisjoint() const {
  for (unsigned o = 0; o < outputs.size(); ++o) {
    int64_t seen = 0;
    for (const Input &input : inputs)
      for (const Basis &basis : input.bases) {
        if (seen & basis[o])
          return false;
        seen |= basis[o];
      }
  }
  return true;
}

LinearLayout LinearLayout::then(const LinearLayout &next) const {
  assert((isDisjoint() ||
          (combine == Combine::Xor && next.combine == Combine::Xor)) &&
         "carries would be lost");
  SmallVector<StringRef> names(next.outputs.begin(), next.outputs.end());
  LinearLayout result(names, next.combine);
  for (const Input &input : inputs) {
    SmallVector<Basis> bases;
    for (const Basis &basis : input.bases) {
      SmallVector<Coord> at;
      for (auto [name, value] : llvm::zip(outputs, basis))
        if (value)
          at.push_back({name, value});
      bases.push_back(next.apply(at));
    }
    result.add(input.name, bases);
  }
  return result;
}

LinearLayout LinearLayout::invert(ArrayRef<unsigned> bits) const {
  SmallVector<StringRef> names;
  for (const Input &input : inputs)
    names.push_back(input.name);
  LinearLayout result(names, combine);
  for (unsigned o = 0; o < outputs.size(); ++o) {
    SmallVector<Basis> bases(bits[o], Basis(inputs.size(), 0));
    for (auto [i, input] : llvm::enumerate(inputs))
      for (auto [bit, basis] : llvm::enumerate(input.bases))
        if (basis[o]) {
          assert(llvm::isPowerOf2_64(basis[o]) && "not a bit permutation");
          bases[llvm::Log2_64(basis[o])][i] = int64_t(1) << bit;
        }
    result.add(outputs[o], bases);
  }
  return result;
}

void LinearLayout::print(llvm::raw_ostream &os) const {
  os << "(";
  llvm::interleaveComma(outputs, os);
  os << ") by " << (combine == Combine::Add ? "add" : "xor");
  for (const Input &input : inputs) {
    os << "; " << input.name << ":";
    for (const Basis &basis : input.bases) {
      os << " (";
      llvm::interleaveComma(basis, os);
      os << ")";
    }
  }
}

LinearLayout mlir::attn::getAccumulatorLayout() {
  return LinearLayout({"row", "col"})
      .add("lane", {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {4, 0}})
      .add("reg", {{1, 0}, {2, 0}, {8, 0}, {16, 0}});
}

LinearLayout mlir::attn::getOperandLayout(unsigned elementBytes) {
  int64_t e = 16 / elementBytes;
  return LinearLayout({"row", "col"})
      .add("lane", {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, e}})
      .addLinear("elt", llvm::Log2_64(e), {0, 1})
      .addLinear("step", 5, {0, 2 * e})
      .addLinear("block", 1, {32, 0});
}

LinearLayout mlir::attn::getValueLayout(unsigned elementBytes, unsigned group) {
  int64_t e = 16 / elementBytes, g = group;
  LinearLayout layout({"row", "col"});
  layout.add("lane",
             {{0, g}, {0, 2 * g}, {0, 4 * g}, {0, 8 * g}, {0, 16 * g}, {4, 0}});
  if (elementBytes == 2)
    layout.add("elt", {{1, 0}, {2, 0}, {8, 0}});
  else
    layout.add("elt", {{1, 0}, {2, 0}});
  layout.addLinear("step", elementBytes == 2 ? 2 : 3, {2 * e, 0});
  SmallVector<LinearLayout::Basis> blocks;
  for (int64_t b = 1; b < 8; b *= 2)
    blocks.push_back({0, b < g ? b : 32 * b});
  return layout.add("block", blocks);
}

LinearLayout mlir::attn::getTransposedReadLayout() {
  return LinearLayout({"lane", "elt"})
      .add("lane", {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {16, 0}, {32, 0}})
      .add("elt", {{4, 0}, {8, 0}});
}
