//===- Passes.td - Passes on the attn dialect --------------*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
#define ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnSplitKVPass : Pass<"attn-split-kv"> {
  let summary = "take the keys of attention in parts and merge their states";
  let description = [{
    An `attn.attention` with `num_kv_splits` > 1 and ordinary destinations becomes
    one that gives the state of every split, in f32 (f64), and the
    `attn.merge_states` of the stack, which also folds in the sink.

    Before:
    ```mlir
    %o = attn.attention ins(%q, %k, %v : tensor<1x8x1x64xf16>, ...)
        outs(%o0 : tensor<1x8x1x64xf16>) {num_kv_splits = 4}
    ```
    After:
    ```mlir
    %p = tensor.empty() : tensor<4x1x8x1x64xf32>
    %l = tensor.empty() : tensor<4x1x8x1xf32>
    %s:2 = attn.attention ins(%q, %k, %v : tensor<1x8x1x64xf16>, ...)
        outs(%p, %l : tensor<4x1x8x1x64xf32>, tensor<4x1x8x1xf32>) {num_kv_splits = 4}
    %o = attn.merge_states (%s#0, %s#1 : tensor<4x1x8x1x64xf32>, tensor<4x1x8x1xf32>)
        outs(%o0 : tensor<1x8x1x64xf16>)
    ```

    `num_kv_splits` = 0 means 1 here. Two forms stay whole, as a merge cannot say
    them: `bhs_padded`, and a sink beside pad rows (`seqlens_q`), which must not see it.

    Precondition: none, tensors or memrefs. Postcondition: every other
    `attn.attention` with ordinary destinations has `num_kv_splits` <= 1.
  }];
  let options = [
    Option<"numKVSplits", "num-kv-splits", "int64_t", "0",
           "splits of every attention; 0: what the op says">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def AttnTilePass : Pass<"attn-tile"> {
  let summary = "tile attention into a grid of (batch, query head, query rows)";
  let description = [{
    Every `attn.attention` becomes a `scf.forall` over batches, query heads and
    tiles of `q-tile` query rows, whose body holds the attention of one tile.
    One that gives the states of splits first becomes a `scf.forall` over the
    splits. A problem of packed sequences (`thd`) then becomes a `scf.forall` over its
    sequences; rows that belong to no sequence get O = 0 and LSE = -inf.

    Before:
    ```mlir
    %o = attn.attention ins(%q, %k, %v : tensor<2x8x128x64xf16>, ...)
        outs(%o0 : tensor<2x8x128x64xf16>) {causal}
    ```
    After:
    ```mlir
    %o = scf.forall (%b, %h, %t) in (2, 8, 2) shared_outs(%out = %o0) {
      %row = affine.apply affine_map<(d0) -> (d0 * 64)>(%t)
      ...
      %tile = attn.attention ins(%qt, %kt, %vt : tensor<1x1x64x64xf16>, ...)
          q_offset(%offset : index) outs(%ot : tensor<1x1x64x64xf16>) {causal}
      scf.forall.in_parallel { tensor.parallel_insert_slice %tile ... }
    }
    ```

    Precondition: any `attn.attention` on tensors or memrefs.
    Postcondition: every `attn.attention` has layout `bhsd` or `bshd`, one
    batch, one query, key and value head and at most `q-tile` query rows. One
    that had this form is left alone.
  }];
  let options = [
    Option<"qTile", "q-tile", "int64_t", "64", "query rows a tile">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def AttnOnlineSoftmaxPass
    : Pass<"attn-online-softmax"> {
  let summary = "turn attention tiles into a loop over KV tiles";
  let description = [{
    Every tile of `attn-tile` becomes a `scf.for` over tiles of `kv-tile` keys
    that carries (acc, m, l) through `attn.online_attention`, and an
    `attn.finalize`. KV tiles that no row of the tile sees (causal, window) are
    not visited. A last loop of at most one trip takes the ragged end.

    Before:
    ```mlir
    %tile, %lse = attn.attention ins(%q, %k, %v : tensor<1x1x64x64xf16>, ...)
        outs(%o0, %lse0 : tensor<1x1x64x64xf16>, tensor<1x1x64xf32>)
    ```
    After:
    ```mlir
    %s:3 = scf.for %j = %lo to %hi step %c64 iter_args(%acc = ..., %m = ..., %l = ...) {
      %n:3 = attn.online_attention ins(%q2, %kj, %vj : tensor<64x64xf16>, ...)
          outs(%acc, %m, %l : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
      scf.yield %n#0, %n#1, %n#2
    }
    %o, %lse = attn.finalize ins(%s#0, %s#1, %s#2 : ...) outs(...)
    ```

    With a `block_table` a tile lies in one page: its size is the largest one up
    to `kv-tile` that divides `page_size`.

    Precondition: every `attn.attention` has the form that `attn-tile` leaves.
    Postcondition: no `attn.attention` is left.
  }];
  let options = [
    Option<"kvTile", "kv-tile", "int64_t", "64", "keys a tile">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def AttnDecomposePass
    : Pass<"attn-decompose"> {
  let summary = "decompose the online softmax into linalg, arith and math";
  let description = [{
    `attn.online_attention`, `attn.finalize` and `attn.merge_states` become
    upstream ops, on tensors and on memrefs alike. Hidden keys are selected
    away, never added away: NaN or infinity in a hidden key or value has no
    effect. No op carries `nnan` or `ninf`.

    Precondition: none. Postcondition: only `attn.attention` may be left of the
    dialect.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"
  ];
}

def AttnCopiesToLinalgPass : Pass<"attn-copies-to-linalg"> {
  let summary = "turn copies between strided memrefs into linalg";
  let description = [{
    The LLVM lowering turns a `memref.copy` of strided memrefs into a call of
    MLIR's runner library. As linalg it becomes a loop, so that the code needs
    no library.

    Before:
    ```mlir
    memref.copy %a, %b : memref<4x8xf32, strided<[16, 1]>> to memref<4x8xf32>
    ```
    After:
    ```mlir
    linalg.generic {...} ins(%a : memref<4x8xf32, strided<[16, 1]>>)
                         outs(%b : memref<4x8xf32>)
    ```

    Precondition: none. Postcondition: every `memref.copy` is between memrefs of
    identity layout.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def AttnRaisePass : Pass<"attn-raise"> {
  let summary = "recognise attention written in linalg and raise it to the op";
  let description = [{
    Finds `softmax(Q K^T * scale + ...) V` as producers decompose it and puts
    `attn.attention` in its place.

    Before:
    ```mlir
    %kt = linalg.transpose ins(%k : tensor<8x128x64xf32>) outs(...) permutation = [0, 2, 1]
    %s = linalg.batch_matmul ins(%q, %kt : ...) outs(%zero : tensor<8x128x128xf32>)
    %p = linalg.softmax dimension(2) ins(%s : tensor<8x128x128xf32>) outs(...)
    %o = linalg.batch_matmul ins(%p, %v : ...) outs(%zero2 : tensor<8x128x64xf32>)
    ```
    After:
    ```mlir
    %o4 = attn.attention ins(%q4, %k4, %v4 : tensor<1x8x128x64xf32>, ...)
        outs(%empty : tensor<1x8x128x64xf32>) {scale = 1.0}
    ```

    The pass does not look for sequences of ops but for what an element of the
    result is: how the program is split into ops, named or generic, and which
    reshapes, transposes, broadcasts and casts stand between them does not
    matter. Understood are linalg on tensors, `tensor.expand_shape`,
    `collapse_shape`, `cast` and `splat`, and elementwise arith and math.

    * Products: `linalg.batch_matmul`, `matmul`, `contract`, `generic`, either
      operand transposed; batch and head dims in any number and order. Repeated
      key and value heads become grouped heads.
    * Scale: numbers that multiply or divide Q, K or the scores, one of them
      known at run time; `c * tanh(x / c)` as softcap.
    * Softmax: maximum, exponential, sum, quotient, or `linalg.softmax`. Without
      the maximum it is the same function, which overflows later, and is raised.
    * Bias: a tensor that is added. Mask: a tensor of i1 that selects between
      score and -inf, or between an added 0 and -inf. Conditions on positions
      that make a band around the diagonal become `causal` and windows. The
      lowest number of f32 or bf16 stands for -inf where a band leaves every row
      a key; other finite numbers do with `finite-masks` only, because rows that
      see no key then average the values in the program, and are 0 in the op.

    What is not exactly this stays as it is; remarks say why. They are asked for
    by `--remarks-filter=attn-raise --remark-format=emitRemark`.

    The result is never less accurate. Scores accumulate in f32 whatever the
    program did. Where it widens f16 or bf16 inputs and keeps P wide, the op gets
    widened inputs too; with `narrow` it gets the inputs as they are, and P is
    rounded as `docs/Semantics.md` allows. Where the program gives NaN, for rows
    that see no key or for overflow of its narrower types, the op gives what
    `docs/Semantics.md` says: a row without keys is 0.

    Precondition: none. Postcondition: the ops that only fed attention that was
    raised are gone.
  }];
  let options = [
    Option<"narrow", "narrow", "bool", "false",
           "attend in f16 or bf16 also where the program widens its inputs">,
    Option<"finiteMasks", "finite-masks", "bool", "false",
           "take scores that are set to a number up to -10000 as hidden">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn::AttnDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
