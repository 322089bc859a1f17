//===- LinearLayout.h - Which lane and register holds what ------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One class answers "where is element (i, j)" for MFMA fragments, LDS tiles
// and global loads alike. A layout is a table: every bit of every input
// coordinate (lane, element, instruction, ...) moves every output coordinate
// (row and column, or an LDS offset) by a fixed amount.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_LINEARLAYOUT_H
#define ATTN_TARGET_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>

namespace mlir::attn {

class LinearLayout {
public:
  /// How the contributions of the set bits meet: by addition (strides,
  /// padding) or by exclusive or (swizzles). Where the contributions to a
  /// coordinate share no bit the two agree.
  enum class Combine { Add, Xor };

  /// Contribution of one input bit, one entry an output.
  using Basis = llvm::SmallVector<int64_t, 2>;

  struct Input {
    std::string name;
    llvm::SmallVector<Basis, 6> bases; ///< Lowest bit first.
  };

  /// A named coordinate value.
  using Coord = std::pair<llvm::StringRef, int64_t>;

  explicit LinearLayout(llvm::ArrayRef<llvm::StringRef> outputs,
                        Combine combine = Combine::Add);

  /// Adds an input of `bases.size()` bits (range 0 .. 2^bits - 1).
  LinearLayout &add(llvm::StringRef name, llvm::ArrayRef<Basis> bases);
  /// Adds an input of `bits` bits whose bit b contributes `unit` * 2^b.
  LinearLayout &addLinear(llvm::StringRef name, unsigned bits,
                          llvm::ArrayRef<int64_t> unit);

  llvm::ArrayRef<Input> getInputs() const { return inputs; }
  llvm::ArrayRef<std::string> getOutputs() const { return outputs; }
  Combine getCombine() const { return combine; }
  /// Index of the output `name`; it must exist.
  unsigned getOutput(llvm::StringRef name) const;
  /// The input `name`, or null.
  const Input *getInput(llvm::StringRef name) const;

  /// The output coordinates at `at`; inputs not named are 0.
  Basis apply(llvm::ArrayRef<Coord> at) const;

  /// True if the contributions to every output share no bit, so that the
  /// value of a set of input bits is that of its bits put together.
  bool isDisjoint() const;

  /// `next` after this layout: this layout's outputs are `next`'s inputs.
  /// This layout must be disjoint.
  LinearLayout then(const LinearLayout &next) const;

  /// Inverse of a layout that permutes bits (every contribution is a single
  /// bit of a single output). `bits` gives the width of every output.
  LinearLayout invert(llvm::ArrayRef<unsigned> bits) const;

  void print(llvm::raw_ostream &os) const;

private:
  int64_t join(int64_t a, int64_t b) const {
    return combine == Combine::Add ? a + b : a ^ b;
  }

  llvm::SmallVector<std::string, 2> outputs;
  llvm::SmallVector<Input, 4> inputs;
  Combine combine;
};

//===----------------------------------------------------------------------===//
// Operand maps of the 32x32 MFMAs (wave64), from AMD's matrix instruction
// calculator and the CDNA ISA documents.
//===----------------------------------------------------------------------===//

/// Accumulator: (lane, reg) -> (row, col). Lane l holds column l%32, rows
/// 8*(reg/4) + 4*(l/32) + reg%4 for reg = 0..15.
LinearLayout getAccumulatorLayout();

/// A (or, transposed, B) operand fragment of 16 bytes a lane whose contraction
/// order is free: (lane, elt, step, block) -> (row, col) with row = l%32 +
/// 32*block and col = elt + E*(l/32) + 2*E*step, E = 16 / `elementBytes`.
/// A chip whose MFMA is shallower takes the elements in several MFMAs.
LinearLayout getOperandLayout(unsigned elementBytes);

/// V as the A operand of O^T = V^T P^T: (lane, elt, step, block) -> (row, col)
/// of V. `elt` and `step` follow the accumulator's register order, so that P^T
/// needs no exchange: row = 8*(elt/4) + 4*(l/32) + elt%4 + 2*E*step. Columns:
/// `group` blocks are read together, block b holds column
/// 32*group*(b/group) + group*(l%32) + b%group.
LinearLayout getValueLayout(unsigned elementBytes, unsigned group);

/// What ds_read_b64_tr_b16 exchanges inside 16 lanes: (lane, elt) of the
/// result -> (lane, elt) of the lane that read it. Result element r of lane c
/// is element c%4 of what lane 4*r + c/4 read.
LinearLayout getTransposedReadLayout();

} // namespace mlir::attn

#endif // ATTN_TARGET_LINEARLAYOUT_H
