//===- AttnAttrs.td - Attributes of the attn dialect -------*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD

include "attn/Dialect/Attn/IR/AttnBase.td"
include "mlir/IR/AttrTypeBase.td"

class Attn_Knob<string description>
    : OptionalParameter<"std::optional<int64_t>", description>;

def Attn_LoweringConfigAttr : AttrDef<AttnDialect, "LoweringConfig"> {
  let mnemonic = "lowering_config";
  let summary = "how a GPU kernel is cut";
  let description = [{
    The decisions behind a kernel. As `attn.lowering_config` on an
    `attn.attention` it overrides the rule of `attn-to-gpu` where it names a
    value; on the `gpu.func` it says what was taken. It never changes what is
    computed beyond the order of summation. `docs/Lowering.md` has the rule and
    what is legal.

    ```mlir
    attn.attention ins(...) outs(...) {causal}
        attributes {attn.lowering_config = #attn.lowering_config<tile_q = 128>}
    ```
  }];
  let parameters = (ins
    Attn_Knob<"rows of Q a workgroup owns">:$tile_q,
    Attn_Knob<"keys of one tile">:$tile_kv,
    Attn_Knob<"waves that share rows, each with a part of V's columns">:$split_v,
    Attn_Knob<"2: software pipeline, tiles double buffered; 1: plain">:$stages,
    Attn_Knob<"parts that Q K^T of a tile is cut into">:$clusters_qk,
    Attn_Knob<"parts that P V of a tile is cut into">:$clusters_pv,
    Attn_Knob<"exponentials of a tile computed beside the P V before">:$early_exps
  );
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
