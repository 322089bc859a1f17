//===- AttnBase.td - The attn dialect and its enums --------*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNBASE_TD
#define ATTN_DIALECT_ATTN_IR_ATTNBASE_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def AttnDialect : Dialect {
  let name = "attn";
  let cppNamespace = "::mlir::attn";
  let summary = "Attention with an optional log-sum-exp (LSE) result";
  let description = [{
    One op says what attention is, `attn.attention`; three more appear on the
    way down: `attn.online_attention` (one KV tile of the online softmax),
    `attn.finalize` (state to O and LSE) and `attn.merge_states` (combines
    partial results). `docs/Semantics.md` is the numeric contract of all four.

    Every op is in destination style: on tensors the results are tied to the
    `outs`, on memrefs there is no result and the `outs` are written. Constraint
    numbers (C1, C2, ...) link the op descriptions, the verifiers and the tests
    in `test/Dialect/Attn/invalid.mlir`.

    The dialect owns four discardable attributes. `attn.name`, a string on a
    function argument or result, is the name under which tools address it. It is
    made of letters, digits, `_`, `-` and `.`, and no two arguments and no two
    results of a function share one. `attn.alignment`, an integer on a memref
    argument, says how many bytes its address and its strides but the last are
    multiples of; `attn-to-gpu` sets it, and launches check it. So they do with
    `attn.reach`, an array with a count for each dimension of a memref argument:
    any box of as many neighbours, or as many as there are, spans less than 2^31
    bytes.
    `attn.lowering_config`, a `#attn.lowering_config` on an `attn.attention` or a
    GPU kernel, says how the kernel is cut.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect"
  ];
}

class Attn_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_Layout : Attn_Enum<"Layout", "order of the query, key, value and output dims", [
  I32EnumAttrCase<"bhsd", 0>, // [B, H, S, D]
  I32EnumAttrCase<"bshd", 1>, // [B, S, H, D]
  I32EnumAttrCase<"thd", 2>,  // [total, H, D], sequences packed
]>;
def Attn_LayoutAttr : EnumAttr<AttnDialect, Attn_Layout, "layout">;

def Attn_DiagonalAlignment
    : Attn_Enum<"DiagonalAlignment", "where the diagonal of a non-square score matrix lies", [
  I32EnumAttrCase<"bottom_right", 0>, // the last row sees the last key
  I32EnumAttrCase<"top_left", 1>,     // the first row sees the first key
]>;
def Attn_DiagonalAlignmentAttr
    : EnumAttr<AttnDialect, Attn_DiagonalAlignment, "diagonal_alignment">;

def Attn_LseBase : Attn_Enum<"LseBase", "base of the logarithm of the LSE", [
  I32EnumAttrCase<"e", 0>,
  I32EnumAttrCase<"two", 1>,
]>;
def Attn_LseBaseAttr : EnumAttr<AttnDialect, Attn_LseBase, "lse_base">;

def Attn_LseLayout : Attn_Enum<"LseLayout", "order of the LSE dims", [
  I32EnumAttrCase<"bhs", 0>,        // [B, Hq, Sq]
  I32EnumAttrCase<"hs_packed", 1>,  // [Hq, total_q]
  I32EnumAttrCase<"sh_packed", 2>,  // [total_q, Hq]
  I32EnumAttrCase<"bhs_padded", 3>, // [B, Hq, max_seqlen_q]
]>;
def Attn_LseLayoutAttr : EnumAttr<AttnDialect, Attn_LseLayout, "lse_layout">;

#endif // ATTN_DIALECT_ATTN_IR_ATTNBASE_TD
