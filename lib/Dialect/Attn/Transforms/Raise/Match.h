//===- Match.h - Recognising attention --------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_MATCH_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_MATCH_H

#include "Element.h"

namespace mlir::attn {

/// A sum over one loop of products of two operands.
struct Contraction {
  linalg::LinalgOp op;
  unsigned sumLoop;
  bool fromZero; ///< not added to what the destination held
};

/// `op` as a contraction, if it is one.
std::optional<Contraction> matchContraction(Operation *op,
                                            ElementReader &reader);

/// Which keys a row sees: those with every mask set, and
/// -left <= key - row <= right where bounds are given.
struct Visibility {
  struct Mask {
    Value tensor; ///< i1
    Indices indices;
    bool hides; ///< true hides the key
  };
  std::optional<int64_t> left, right;
  SmallVector<Mask, 1> masks;
};

/// Adds the keys for which `condition` is `value` as a condition; false if the
/// condition is none that attention knows.
bool addCondition(Visibility &visibility, const Expr *condition, bool value,
                  const Index &row, const Index &key);

/// Attention in the program: everything that the op needs to know.
class Match {
public:
  /// With `finiteMasks`, numbers up to -10^4 hide a key as -inf does.
  Match(ElementReader &reader, bool finiteMasks)
      : reader(reader), finiteMasks(finiteMasks) {}

  /// Recognises the attention whose last product is `op`. On failure `reason`
  /// says why, and is empty for what has nothing of attention.
  LogicalResult run(const Contraction &product);

  Contraction output;            ///< P V
  SmallVector<Index> loops;      ///< of `output`
  Index row, key, column, inner; ///< of O, of the sum, of V, of Q K^T
  View query, keys, value;
  double scale = 1;
  Value scaleValue; ///< f32 or a tensor of one; multiplies `scale` if not null
  std::optional<double> softcap;
  Visibility visibility;
  struct Bias {
    Value tensor;
    Indices indices;
  };
  std::optional<Bias> bias;
  unsigned weightPrecision = 0; ///< mantissa bits that P keeps
  bool computesInF64 = false;
  std::string reason;

private:
  LogicalResult fail(const Twine &why);
  LogicalResult matchWeights(const Expr *weights);
  LogicalResult matchScores(const Expr *scores);
  LogicalResult matchProduct(const Expr *leaf);
  LogicalResult addBias(const Expr *expr);
  bool hides(const Expr *score);
  LogicalResult checkRows();
  LogicalResult checkUses();

  ElementReader &reader;
  bool finiteMasks;
  bool everyRowSees = false; ///< must hold: hidden scores are finite
  Operation *scoreProduct = nullptr;
};

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_MATCH_H
