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

def AttnTilePass : Pass<"attn-tile"> {
  let summary = "tile attention into a grid of (batch, query head, query rows)";
  let description = [{
    Every `attn.attention` becomes a `scf.forall` over batches, query heads and
    tiles of `q-tile` query rows, whose body holds the attention of one tile.
    A problem of packed sequences (`thd`) first becomes a `scf.forall` over its
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

    Precondition: every `attn.attention` has the form that `attn-tile` leaves,
    and no `block_table`.
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

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
