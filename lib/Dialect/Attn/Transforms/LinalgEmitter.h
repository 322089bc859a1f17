//===- LinalgEmitter.h - linalg on tensors and memrefs ----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_LINALGEMITTER_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_LINALGEMITTER_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Emits linalg ops in the form (tensors or memrefs) of the op that is being
/// decomposed. Temporaries are tensor.empty or memref.alloc; as after
/// bufferization, the latter are left to buffer deallocation.
class LinalgEmitter {
public:
  LinalgEmitter(PatternRewriter &rewriter, Location loc, bool tensors)
      : rewriter(rewriter), loc(loc), tensors(tensors) {}

  PatternRewriter &rewriter;
  Location loc;
  bool tensors;

  Value constant(Type type, double value);
  Value temporary(ArrayRef<OpFoldResult> shape, Type element);
  Value fill(Value target, double value);
  /// Copies, converting the element type, through `map` from the dims of the
  /// target to those of the source.
  Value convert(Value source, Value target, AffineMap map);

  /// Body of a generic: inputs and then outputs of one element, to results.
  using Body = function_ref<SmallVector<Value>(OpBuilder &, ValueRange)>;
  /// A linalg.generic; returns one value an output: its result, or the memref.
  SmallVector<Value> generic(ValueRange inputs, ValueRange outputs,
                             ArrayRef<AffineMap> maps,
                             ArrayRef<utils::IteratorType> iterators,
                             Body body);

  AffineMap map(unsigned dims, ArrayRef<unsigned> results);

  /// Ends a decomposition: `results` take the place of the results of `op`,
  /// which has none on memrefs.
  void replace(Operation *op, ValueRange results);
};

/// Converts a float (or sign-extended integer) to `type`.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);
/// `value == -inf ? 0 : value`: what exponents are taken relative to, so that a
/// row without keys gives exp(-inf - 0) = 0 and not NaN.
Value finiteReference(OpBuilder &builder, Location loc, Value value);
Value floatConstant(OpBuilder &builder, Location loc, Type type, double value);
/// Fills a tensor or memref of floats; returns the tensor, or `target`.
Value fillWith(OpBuilder &builder, Location loc, Value target, double value);

} // namespace mlir::attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_LINALGEMITTER_H
