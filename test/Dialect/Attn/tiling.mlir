// TilingInterface through the transform dialect.
// RUN: attn-opt %s -split-input-file -transform-interpreter -canonicalize -cse | FileCheck %s

// A grid of (batch, heads, rows). Two heads lie in one group of four; a bias
// without a batch dim and a mask of one row are sliced in their own dims only;
// lengths are those of the tile; the diagonal moves by the first row.
// CHECK-DAG: #[[$GROUP:.*]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-DAG: #[[$DIAGONAL:.*]] = affine_map<(d0, d1, d2) -> (d0 - d1 + d2 * 32)>
// CHECK-LABEL: func @every_operand
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[R:.*]]) in (2, 4, 4)
// CHECK-DAG: %[[HEAD:.*]] = affine.apply #{{.*}}(%[[H]])
// CHECK-DAG: %[[ROW:.*]] = affine.apply #{{.*}}(%[[R]])
// CHECK-DAG: %[[KV:.*]] = affine.apply #[[$GROUP]](%[[H]])
// CHECK: %[[Q:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[HEAD]], %[[ROW]], 0] [1, 2, 32, 64]
// CHECK: %[[K:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[KV]], 0, 0] [1, 1, 256, 64]
// CHECK: %[[V:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[HEAD]], 0, 0] [1, 2, 256, 64]
// CHECK: %[[BIAS:.*]] = tensor.extract_slice %{{.*}}[%[[HEAD]], %[[ROW]], 0] [2, 32, 256]
// CHECK: %[[MASK:.*]] = tensor.extract_slice %{{.*}}[%[[B]], 0, 0, 0] [1, 1, 1, 256]
// CHECK: %[[SLOPES:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[HEAD]]] [1, 2]
// CHECK: %[[SINK:.*]] = tensor.extract_slice %{{.*}}[%[[HEAD]]] [2]
// CHECK: %[[LKV:.*]] = tensor.extract_slice %[[LENS:.*]][%[[B]]] [1]
// CHECK: %[[O:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[HEAD]], %[[ROW]], 0] [1, 2, 32, 64]
// CHECK: %[[L:.*]] = tensor.extract_slice %{{.*}}[%[[B]], %[[HEAD]], %[[ROW]]] [1, 2, 32]
// CHECK: %[[SQ32:.*]] = tensor.extract %{{.*}}[%[[B]]]
// CHECK: %[[SQ:.*]] = arith.index_cast %[[SQ32]]
// CHECK: %[[REST:.*]] = arith.subi %[[SQ]], %[[ROW]]
// CHECK: %[[MOST:.*]] = arith.minsi %[[REST]], %{{.*}}
// CHECK: %[[ROWS:.*]] = arith.maxsi %[[MOST]], %{{.*}}
// CHECK: %[[SKV32:.*]] = tensor.extract %[[LENS]][%[[B]]]
// CHECK: %[[SKV:.*]] = arith.index_cast %[[SKV32]]
// CHECK: %[[OFF:.*]] = affine.apply #[[$DIAGONAL]](%[[SKV]], %[[SQ]], %[[R]])
// CHECK: attn.attention ins(%[[Q]], %[[K]], %[[V]] : {{[^)]*}}) bias(%[[BIAS]] : {{[^)]*}}) mask(%[[MASK]] : {{[^)]*}}) alibi_slopes(%[[SLOPES]] : {{[^)]*}}) sink(%[[SINK]] : {{[^)]*}})
// CHECK-SAME: seqlens_q(%[[ROWS]] : index) seqlens_kv(%[[LKV]] : tensor<1xi32>) q_offset(%[[OFF]] : index) outs(%[[O]], %[[L]] : {{[^)]*}}) {causal}
func.func @every_operand(%q: tensor<2x8x128x64xf16>, %k: tensor<2x2x256x64xf16>,
    %v: tensor<2x8x256x64xf16>, %bias: tensor<8x128x256xf32>, %mask: tensor<2x1x1x256xi1>,
    %slopes: tensor<2x8xf32>, %sink: tensor<8xf32>, %lq: tensor<2xi32>, %lkv: tensor<2xi32>,
    %o: tensor<2x8x128x64xf16>, %l: tensor<2x8x128xf32>)
    -> (tensor<2x8x128x64xf16>, tensor<2x8x128xf32>) {
  %0:2 = attn.attention
      ins(%q, %k, %v : tensor<2x8x128x64xf16>, tensor<2x2x256x64xf16>, tensor<2x8x256x64xf16>)
      bias(%bias : tensor<8x128x256xf32>) mask(%mask : tensor<2x1x1x256xi1>)
      alibi_slopes(%slopes : tensor<2x8xf32>) sink(%sink : tensor<8xf32>)
      seqlens_q(%lq : tensor<2xi32>) seqlens_kv(%lkv : tensor<2xi32>)
      outs(%o, %l : tensor<2x8x128x64xf16>, tensor<2x8x128xf32>)
      {causal, diagonal_alignment = bottom_right}
  return %0#0, %0#1 : tensor<2x8x128x64xf16>, tensor<2x8x128xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 2, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Nothing reads the diagonal: no offset appears. Rows that do not divide give a
// last tile of fewer. Broadcast dims of 1 and a rank-0 mask are left alone.
// CHECK-LABEL: func @no_diagonal
// CHECK: scf.for
// CHECK: %[[N:.*]] = affine.min
// CHECK: tensor.extract_slice %{{.*}}[0, 0, %[[ROW:.*]], 0] [2, 4, %[[N]], 8]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, %[[ROW]], 0] [1, 1, %[[N]], 1]
// CHECK: attn.attention {{.*}} mask(%{{.*}} : tensor<i1>) outs({{.*}} : tensor<2x4x?x8xf32>){{$}}
func.func @no_diagonal(%q: tensor<2x4x70x8xf32>, %bias: tensor<1x1x70x1xf32>, %mask: tensor<i1>)
    -> tensor<2x4x70x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<2x4x70x8xf32>, tensor<2x4x70x8xf32>, tensor<2x4x70x8xf32>)
      bias(%bias : tensor<1x1x70x1xf32>) mask(%mask : tensor<i1>) outs(%q : tensor<2x4x70x8xf32>)
  return %0 : tensor<2x4x70x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loops:1 = transform.structured.tile_using_for %op tile_sizes [0, 0, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Offsets: q_offset of the batch plus the first row; kv_offset as it is.
// CHECK-DAG: #[[$ADD:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func @offsets
// CHECK: scf.for %[[B:[^ ]*]] =
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: %[[KVOFF:.*]] = tensor.extract_slice %{{.*}}[%[[B]]] [1]
// CHECK: %[[OFF32:.*]] = tensor.extract %{{.*}}[%[[B]]]
// CHECK: %[[OFF:.*]] = arith.index_cast %[[OFF32]]
// CHECK: %[[SUM:.*]] = affine.apply #[[$ADD]](%[[ROW]], %[[OFF]])
// CHECK: q_offset(%[[SUM]] : index) kv_offset(%[[KVOFF]] : tensor<1xi32>) outs({{.*}}) {window_left = 4}
func.func @offsets(%q: tensor<2x4x64x8xf32>, %qoff: tensor<2xi32>, %kvoff: tensor<2xi32>)
    -> tensor<2x4x64x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<2x4x64x8xf32>, tensor<2x4x64x8xf32>, tensor<2x4x64x8xf32>)
      q_offset(%qoff : tensor<2xi32>) kv_offset(%kvoff : tensor<2xi32>)
      outs(%q : tensor<2x4x64x8xf32>) {window_left = 4}
  return %0 : tensor<2x4x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op tile_sizes [1, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// kv_offset alone means q_offset 0, so the first row is the tile's.
// CHECK-LABEL: func @kv_offset
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: q_offset(%[[ROW]] : index) kv_offset(%{{.*}} : i64)
func.func @kv_offset(%q: tensor<2x4x64x8xf32>, %kvoff: i64) -> tensor<2x4x64x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<2x4x64x8xf32>, tensor<2x4x64x8xf32>, tensor<2x4x64x8xf32>)
      kv_offset(%kvoff : i64) outs(%q : tensor<2x4x64x8xf32>) {causal}
  return %0 : tensor<2x4x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loops:1 = transform.structured.tile_using_for %op tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Whole rows keep alignment and lengths: only batches and heads are sliced.
// Heads of tiles that cover two groups.
// CHECK-LABEL: func @whole_rows
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 2)
// CHECK: tensor.extract_slice %{{.*}}[%[[B2:.*]], %{{.*}}, 0, 0] [2, 4, 64, 8]
// CHECK: tensor.extract_slice %{{.*}}[%[[B2]], %{{.*}}, 0, 0] [2, 2, 64, 8]
// CHECK: attn.attention {{.*}} seqlens_q(%{{.*}} : tensor<2xi32>) outs({{.*}}) {causal, diagonal_alignment = top_left}
func.func @whole_rows(%q: tensor<4x8x64x8xf32>, %k: tensor<4x4x64x8xf32>, %lq: tensor<4xi32>)
    -> tensor<4x8x64x8xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<4x8x64x8xf32>, tensor<4x4x64x8xf32>, tensor<4x4x64x8xf32>)
      seqlens_q(%lq : tensor<4xi32>) outs(%q : tensor<4x8x64x8xf32>)
      {causal, diagonal_alignment = top_left}
  return %0 : tensor<4x8x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2, 4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Layout bshd, dynamic dims, memrefs: written in place; one head needs no
// static number of heads.
// CHECK-LABEL: func @bshd_memref
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[R:.*]]) in
// CHECK: arith.divui %[[H]], %{{.*}}
// CHECK: memref.subview %{{.*}}[%[[B]], %[[ROW:.*]], %[[H]], 0] [1, %[[N:.*]], 1, %{{.*}}]
// CHECK: %[[O:.*]] = memref.subview %{{.*}}[%[[B]], %[[ROW]], %[[H]], 0] [1, %[[N]], 1, %{{.*}}]
// CHECK: %[[L:.*]] = memref.subview %{{.*}}[%[[B]], %[[H]], %[[ROW]]] [1, 1, %[[N]]]
// CHECK: attn.attention {{.*}} outs(%[[O]], %[[L]] : {{[^)]*}}) {layout = bshd}
// CHECK-NOT: in_parallel
func.func @bshd_memref(%q: memref<?x?x?x?xf32>, %k: memref<?x?x?x?xf32>, %o: memref<?x?x?x?xf32>,
                       %l: memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>) {
  attn.attention ins(%q, %k, %k : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>)
      outs(%o, %l : memref<?x?x?x?xf32>, memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>)
      {layout = bshd}
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 1, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Layout thd: heads are the one loop.
// CHECK-LABEL: func @thd
// CHECK: scf.forall (%[[H:.*]]) in (4)
// CHECK: tensor.extract_slice %{{.*}}[0, %[[HEAD:.*]], 0] [%{{.*}}, 2, 8]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[H]], 0] [%{{.*}}, 1, 8]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[HEAD]]] [%{{.*}}, 2]
// CHECK: attn.attention {{.*}} cu_seqlens_q(%[[CU:.*]] : tensor<4xi32>) cu_seqlens_kv(%[[CU]] : tensor<4xi32>) outs({{.*}} : tensor<?x2x8xf32>, tensor<?x2xf32>) {causal, layout = thd, lse_layout = sh_packed}
func.func @thd(%q: tensor<?x8x8xf32>, %k: tensor<?x4x8xf32>, %cu: tensor<4xi32>, %l: tensor<?x8xf32>)
    -> (tensor<?x8x8xf32>, tensor<?x8xf32>) {
  %0:2 = attn.attention ins(%q, %k, %k : tensor<?x8x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>)
      cu_seqlens_q(%cu : tensor<4xi32>) cu_seqlens_kv(%cu : tensor<4xi32>)
      outs(%q, %l : tensor<?x8x8xf32>, tensor<?x8xf32>) {causal, layout = thd, lse_layout = sh_packed}
  return %0#0, %0#1 : tensor<?x8x8xf32>, tensor<?x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Pools of layout thd have the order of bshd; operands a sequence stay whole.
// CHECK-LABEL: func @thd_paged
// CHECK-SAME: %[[LEN:[a-z0-9]*]]: tensor<3xi32>, %[[TABLE:[a-z0-9]*]]: tensor<3x7xi32>
// CHECK: scf.forall (%[[H:.*]]) in (4)
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, 0] [%{{.*}}, 2, 8]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, %[[H]], 0] [9, 16, 1, 8]
// CHECK: attn.attention {{.*}} seqlens_kv(%[[LEN]] : tensor<3xi32>) cu_seqlens_q({{.*}}) q_offset(%[[LEN]] : tensor<3xi32>) block_table(%[[TABLE]] : tensor<3x7xi32>) outs({{.*}} : tensor<?x2x8xf32>) {causal, layout = thd, page_size = 16}
func.func @thd_paged(%q: tensor<?x8x8xf32>, %pool: tensor<9x16x4x8xf32>, %len: tensor<3xi32>,
                     %table: tensor<3x7xi32>, %cu: tensor<4xi32>) -> tensor<?x8x8xf32> {
  %0 = attn.attention ins(%q, %pool, %pool : tensor<?x8x8xf32>, tensor<9x16x4x8xf32>, tensor<9x16x4x8xf32>)
      seqlens_kv(%len : tensor<3xi32>) cu_seqlens_q(%cu : tensor<4xi32>)
      q_offset(%len : tensor<3xi32>) block_table(%table : tensor<3x7xi32>)
      outs(%q : tensor<?x8x8xf32>) {causal, layout = thd, page_size = 16}
  return %0 : tensor<?x8x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Pages belong to no batch: pools are whole but for their heads.
// CHECK-LABEL: func @paged
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (3, 8)
// CHECK: tensor.extract_slice %{{.*}}[0, %[[KV:.*]], 0, 0] [9, 1, 16, 64]
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], 0] [1, 7]
// CHECK: attn.attention {{.*}} block_table(%{{.*}} : tensor<1x7xi32>) outs({{.*}}) {page_size = 16}
func.func @paged(%q: tensor<3x8x1x64xf16>, %pool: tensor<9x2x16x64xf16>, %len: tensor<3xi32>,
                 %table: tensor<3x7xi32>) -> tensor<3x8x1x64xf16> {
  %0 = attn.attention ins(%q, %pool, %pool : tensor<3x8x1x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16>)
      seqlens_kv(%len : tensor<3xi32>) block_table(%table : tensor<3x7xi32>)
      outs(%q : tensor<3x8x1x64xf16>) {page_size = 16}
  return %0 : tensor<3x8x1x64xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Fused into the loops of a consumer.
// CHECK-LABEL: func @fuse
// CHECK: scf.for %[[B:[^ ]*]] =
// CHECK: scf.for %[[H:[^ ]*]] =
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: %[[O:.*]] = attn.attention {{.*}} q_offset(%[[ROW]] : index) outs({{.*}} : tensor<1x4x32x64xf32>) {causal}
// CHECK: linalg.exp ins(%[[O]] : tensor<1x4x32x64xf32>)
func.func @fuse(%q: tensor<2x8x128x64xf32>, %k: tensor<2x2x256x64xf32>, %o: tensor<2x8x128x64xf32>)
    -> tensor<2x8x128x64xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<2x8x128x64xf32>, tensor<2x2x256x64xf32>, tensor<2x2x256x64xf32>)
      outs(%o : tensor<2x8x128x64xf32>) {causal, diagonal_alignment = top_left}
  %1 = linalg.exp ins(%0 : tensor<2x8x128x64xf32>) outs(%o : tensor<2x8x128x64xf32>) -> tensor<2x8x128x64xf32>
  return %1 : tensor<2x8x128x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.fuse %op tile_sizes [1, 4, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The consumer of the lse, in a loop that is there already.
// CHECK-LABEL: func @fuse_lse
// CHECK: scf.forall (%[[H:.*]]) in (4)
// CHECK: %[[R:.*]]:2 = attn.attention {{.*}} outs({{.*}} : tensor<1x2x64x8xf32>, tensor<1x2x64xf32>)
// CHECK: linalg.exp ins(%[[R]]#1 : tensor<1x2x64xf32>)
func.func @fuse_lse(%q: tensor<1x8x64x8xf32>, %k: tensor<1x4x64x8xf32>, %l: tensor<1x8x64xf32>)
    -> tensor<1x8x64xf32> {
  %0:2 = attn.attention ins(%q, %k, %k : tensor<1x8x64x8xf32>, tensor<1x4x64x8xf32>, tensor<1x4x64x8xf32>)
      outs(%q, %l : tensor<1x8x64x8xf32>, tensor<1x8x64xf32>)
  %1 = scf.forall (%i) in (4) shared_outs(%out = %l) -> tensor<1x8x64xf32> {
    %h = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %part = tensor.extract_slice %0#1[0, %h, 0] [1, 2, 64] [1, 1, 1] : tensor<1x8x64xf32> to tensor<1x2x64xf32>
    %into = tensor.extract_slice %out[0, %h, 0] [1, 2, 64] [1, 1, 1] : tensor<1x8x64xf32> to tensor<1x2x64xf32>
    %exp = linalg.exp ins(%part : tensor<1x2x64xf32>) outs(%into : tensor<1x2x64xf32>) -> tensor<1x2x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %exp into %out[0, %h, 0] [1, 2, 64] [1, 1, 1] : tensor<1x2x64xf32> into tensor<1x8x64xf32>
    }
  }
  return %1 : tensor<1x8x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    %attention = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse_into_containing_op %attention into %op
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A part of the value's head dim is no tile: the op is fused as a whole.
// CHECK-LABEL: func @part_of_head_dim
// CHECK: scf.forall
// CHECK: attn.attention {{.*}} outs({{.*}} : tensor<1x8x64x8xf32>)
func.func @part_of_head_dim(%q: tensor<1x8x64x8xf32>) -> tensor<1x8x64x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x8x64x8xf32>, tensor<1x8x64x8xf32>, tensor<1x8x64x8xf32>)
      outs(%q : tensor<1x8x64x8xf32>)
  %1 = scf.forall (%i) in (8) shared_outs(%out = %q) -> tensor<1x8x64x8xf32> {
    %part = tensor.extract_slice %0[0, 0, 0, %i] [1, 8, 64, 1] [1, 1, 1, 1] : tensor<1x8x64x8xf32> to tensor<1x8x64x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[0, 0, 0, %i] [1, 8, 64, 1] [1, 1, 1, 1] : tensor<1x8x64x1xf32> into tensor<1x8x64x8xf32>
    }
  }
  return %1 : tensor<1x8x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    %attention = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse_into_containing_op %attention into %op
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A part of packed rows is none either.
// CHECK-LABEL: func @part_of_packed_rows
// CHECK: scf.forall
// CHECK: attn.attention {{.*}} outs({{.*}} : tensor<64x8x8xf32>) {layout = thd}
func.func @part_of_packed_rows(%q: tensor<64x8x8xf32>, %cu: tensor<3xi32>) -> tensor<64x8x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<64x8x8xf32>, tensor<64x8x8xf32>, tensor<64x8x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%q : tensor<64x8x8xf32>) {layout = thd}
  %1 = scf.forall (%i) in (64) shared_outs(%out = %q) -> tensor<64x8x8xf32> {
    %part = tensor.extract_slice %0[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<64x8x8xf32> to tensor<1x8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<1x8x8xf32> into tensor<64x8x8xf32>
    }
  }
  return %1 : tensor<64x8x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    %attention = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse_into_containing_op %attention into %op
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
