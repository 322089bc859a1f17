//===- OpSyntax.h - Assembly format shared by the ops -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The assembly of every op of the dialect is made of the same parts:
//   clauses   keyword(%a, %b : type, type)
//   options   {causal, scale = 0.125, lse_base = two}, defaults not printed
//   the rest  attributes {...}: what is not an option of the op
//
#ifndef ATTN_LIB_DIALECT_ATTN_IR_OPSYNTAX_H
#define ATTN_LIB_DIALECT_ATTN_IR_OPSYNTAX_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace mlir::attn::detail {

/// Operands of one clause, before and after resolution.
struct Clause {
  SMLoc loc;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  explicit operator bool() const { return !operands.empty(); }
};

/// Parses `(%a, %b : type, type)`; the keyword has been consumed.
ParseResult parseClauseBody(OpAsmParser &parser, Clause &clause);
/// Parses `keyword(%a : type)` and requires it.
ParseResult parseClause(OpAsmParser &parser, StringRef keyword, Clause &clause);
/// Parses optional clauses in any order, one operand each, into the slot that
/// has the clause's index in `keywords`.
ParseResult parseOptionalClauses(OpAsmParser &parser,
                                 ArrayRef<StringRef> keywords,
                                 MutableArrayRef<Clause> clauses);
/// Appends the operands of a clause.
ParseResult resolve(OpAsmParser &parser, const Clause &clause,
                    OperationState &state);
/// Adds the types of tensor destinations as results.
void addTiedResults(const Clause &outs, OperationState &state);

/// Parses the options in braces and the discardable attributes after
/// `attributes`, if any.
ParseResult parseOptions(OpAsmParser &parser, OperationState &state);

void printClause(OpAsmPrinter &printer, StringRef keyword, ValueRange operands);
/// Prints the options that differ from their defaults.
void printOptions(OpAsmPrinter &printer, Operation *op);

} // namespace mlir::attn::detail

#endif // ATTN_LIB_DIALECT_ATTN_IR_OPSYNTAX_H
