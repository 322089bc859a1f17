//===- Element.h - One element of a tensor as an expression -----*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an element of a tensor is, looked at through elementwise ops, reshapes,
// transposes, broadcasts and fills of linalg, tensor and arith. How a producer
// split its program into ops leaves no trace in the expression.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_ELEMENT_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_ELEMENT_H

#include "Digits.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

namespace mlir::attn {

struct Expr {
  enum Kind {
    Constant, ///< `constant`
    Scalar,   ///< `value`, the same for all elements
    Leaf,     ///< the element of `value` at `indices`
    Position, ///< indices[0] as a number
    Apply,    ///< `op` on `operands`
  };
  Kind kind;
  Type type;
  TypedAttr constant;
  Value value;
  Indices indices;
  Operation *op = nullptr;
  SmallVector<const Expr *, 3> operands;

  /// A tensor of the program and the position in it that is this expression;
  /// null if it is computed within an op's body only.
  Value tensor;
  Indices tensorIndices;
};

/// Element of a tensor after pure data movement and changes of type and scale.
struct View {
  Value tensor;
  Indices indices;
  double factor = 1;    ///< what elements of `tensor` are multiplied with
  Value scalar = {};    ///< and a number known at run time, if not null
  bool widened = false; ///< by arith.extf on the way
};

/// Reads elements, owns expressions and remembers which ops it went through.
class ElementReader {
public:
  /// The element of `tensor` at `indices`.
  const Expr *read(Value tensor, const Indices &indices);

  /// Where data movement alone brings the element from. With `scaled`, also
  /// through multiplications with a number.
  View look(Value tensor, const Indices &indices, bool scaled);

  /// What `op` computes for a value of its body, without the destinations, at
  /// a position of its loops. Null where the reader does not know.
  const Expr *readBody(linalg::LinalgOp op, Value value, ArrayRef<Index> loops);

  /// Positions of an operand at a position of the loops.
  std::optional<Indices> mapIndices(linalg::LinalgOp op, OpOperand &operand,
                                    ArrayRef<Index> loops);

  /// Loops from the position in result `number`, if that fixes all but
  /// reductions, whose index is `reduced`.
  std::optional<SmallVector<Index>> loopsOfResult(linalg::LinalgOp op,
                                                  unsigned number,
                                                  const Indices &indices,
                                                  const Index &reduced = {});

  /// A loop that nothing so far runs over.
  Index addLoop(int64_t size) { return indexOfLoop(loops++, size); }

  /// Ops whose results were looked into.
  llvm::SetVector<Operation *> visited;

private:
  Expr *create(Expr::Kind kind, Type type);
  const Expr *scalar(Value value);
  const Expr *apply(Operation *op, ArrayRef<const Expr *> operands);
  bool stepOverView(Value &tensor, Indices &indices);
  bool stepOverElementwise(View &view, bool scaled);

  std::deque<Expr> exprs;
  unsigned loops = 0;
};

/// Without changes of float type.
const Expr *stripCasts(const Expr *expr);

/// Whether two expressions are the same up to changes of float type, fast-math
/// flags and the order of commutative operands.
bool equal(const Expr *a, const Expr *b);

/// The value of a constant float or integer, else nothing.
std::optional<double> getNumber(const Expr *expr);

bool isNegativeInfinity(const Expr *expr);

/// Whether `expr` applies `Op`.
template <typename... Op> bool applies(const Expr *expr) {
  return expr->kind == Expr::Apply && isa<Op...>(expr->op);
}

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_RAISE_ELEMENT_H
