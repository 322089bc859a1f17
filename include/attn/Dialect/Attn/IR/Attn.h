//===- Attn.h - The attn dialect --------------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTN_H
#define ATTN_DIALECT_ATTN_IR_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "attn/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.h.inc"

namespace mlir::attn {

/// Where the batch, head, sequence and head-dim dims of query, key, value and
/// output stand in a layout. `batch` is -1 for `thd`, whose `seq` dim packs all
/// sequences.
struct DimMap {
  int batch, head, seq, dim;
  unsigned rank() const { return batch < 0 ? 3 : 4; }
};
DimMap getDimMap(Layout layout);
/// That of key and value: with pages their batch dim counts the pages of a
/// pool, which for `thd` has the order of `bshd`.
DimMap getKeyDimMap(Layout layout, bool isPaged);

/// Keys of a split are a multiple of the first number, which keeps reads of
/// small elements aligned; where they are more than the second, a tile of the
/// GPU kernels, of that.
constexpr int64_t kSmallSplitUnit = 4, kSplitUnit = 64;

} // namespace mlir::attn

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.h.inc"

namespace mlir::attn {

/// Discardable attribute (a string) on a function argument or result: the name
/// under which tools and manifests address it.
constexpr llvm::StringLiteral kNameAttr = "attn.name";

/// Discardable attribute (an integer) on a function argument: bytes that its
/// address and its strides but the last are multiples of. Lowerings set it
/// where a kernel relies on it, manifests carry it, launches check it.
constexpr llvm::StringLiteral kAlignmentAttr = "attn.alignment";

/// Discardable attribute (an i64 array) on a memref argument of a function,
/// with a count for each dimension: any box of as many neighbours, or as many
/// as there are, spans less than 2^31 bytes, for kernels that address it in 32
/// bits. Set, carried and checked as the alignment.
constexpr llvm::StringLiteral kReachAttr = "attn.reach";

/// Discardable attribute (an i64 array) on a launch: the kernel operands
/// through which memory is written. `attn-buffer-resources` sets it, and
/// manifests take from it which buffers are outputs.
constexpr llvm::StringLiteral kWrittenAttr = "attn.written";

/// Discardable attribute (a LoweringConfigAttr) on an `attn.attention`, where
/// it overrides the rule of `attn-to-gpu`, and on the kernel made of it.
constexpr llvm::StringLiteral kLoweringConfigAttr = "attn.lowering_config";

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_IR_ATTN_H
