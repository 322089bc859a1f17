// RUN: attn-opt %s -attn-tile -canonicalize -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-tile=q-tile=256 -canonicalize -split-input-file | FileCheck %s --check-prefix=BIG

// A grid of (head, rows); the diagonal moves with the tile.
// CHECK-LABEL: func @causal
// CHECK: scf.forall (%[[H:.*]], %[[ROW:.*]]) = (0, 0) to (8, 128) step (1, 64)
// CHECK: %[[KVH:.*]] = affine.apply #{{.*}}(%[[H]])
// CHECK: tensor.extract_slice %{{.*}}[0, %[[KVH]], 0, 0] [1, 1, 256, 64]
// CHECK: %[[OFF:.*]] = affine.apply #{{.*}}(%[[ROW]])
// CHECK: attn.attention {{.*}} q_offset(%[[OFF]] : index) outs({{.*}} : tensor<1x1x64x64xf16>, tensor<1x1x64xf32>) {causal}
// CHECK: scf.forall.in_parallel
// BIG-LABEL: func @causal
// BIG: scf.forall (%{{.*}}) in (8)
// BIG: attn.attention {{.*}} outs({{.*}} : tensor<1x1x128x64xf16>
func.func @causal(%q: tensor<1x8x128x64xf16>, %k: tensor<1x2x256x64xf16>,
                  %v: tensor<1x2x256x64xf16>, %o: tensor<1x8x128x64xf16>,
                  %l: tensor<1x8x128xf32>) -> (tensor<1x8x128x64xf16>, tensor<1x8x128xf32>) {
  %0:2 = attn.attention
      ins(%q, %k, %v : tensor<1x8x128x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
      outs(%o, %l : tensor<1x8x128x64xf16>, tensor<1x8x128xf32>) {causal}
  return %0#0, %0#1 : tensor<1x8x128x64xf16>, tensor<1x8x128xf32>
}

// -----

// Memrefs are tiled in place.
// CHECK-LABEL: func @memref
// CHECK: scf.forall
// CHECK: memref.subview
// CHECK: attn.attention ins({{.*}}memref<1x1x?x8xf32
// CHECK-NOT: in_parallel
func.func @memref(%q: memref<2x3x70x8xf32>, %o: memref<2x3x70x8xf32>) {
  attn.attention ins(%q, %q, %q : memref<2x3x70x8xf32>, memref<2x3x70x8xf32>, memref<2x3x70x8xf32>)
      outs(%o : memref<2x3x70x8xf32>)
  return
}

// -----

// Packed sequences: one loop over sequences around the grid; rows that belong
// to none are left as they are, and corrupt starts are limited to what there is.
// CHECK-LABEL: func @packed
// CHECK-NOT: linalg.fill
// CHECK: scf.forall (%[[SEQ:.*]]) in (3)
// CHECK: %[[START:.*]] = tensor.extract %{{.*}}[%[[SEQ]]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[START]]
// CHECK: %[[LOW:.*]] = arith.maxsi %[[AT]], %c0
// CHECK: arith.minsi %[[LOW]], %
// CHECK: scf.forall
// CHECK: attn.attention {{.*}} {causal, layout = bshd}
// CHECK: linalg.transpose
// CHECK: scf.forall.in_parallel
func.func @packed(%q: tensor<?x4x32xf32>, %cu: tensor<4xi32>, %o: tensor<?x4x32xf32>,
                  %l: tensor<?x4xf32>) -> (tensor<?x4x32xf32>, tensor<?x4xf32>) {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<?x4x32xf32>, tensor<?x4x32xf32>, tensor<?x4x32xf32>)
      cu_seqlens_q(%cu : tensor<4xi32>) cu_seqlens_kv(%cu : tensor<4xi32>)
      outs(%o, %l : tensor<?x4x32xf32>, tensor<?x4xf32>)
      {causal, layout = thd, lse_layout = sh_packed}
  return %0#0, %0#1 : tensor<?x4x32xf32>, tensor<?x4xf32>
}

// -----

// The pool is that of all sequences; each takes its row of pages and its length.
// CHECK-LABEL: func @packed_over_pages
// CHECK-SAME: %[[POOL:[a-z0-9]*]]: memref<9x16x1x32xf32>
// CHECK: scf.forall (%[[SEQ:.*]]) in (3)
// CHECK-DAG: %[[N:.*]] = memref.load %{{.*}}[%[[SEQ]]] : memref<3xi32>
// CHECK-DAG: %[[KEYS:.*]] = arith.index_cast %[[N]]
// CHECK-DAG: %[[TABLE:.*]] = memref.subview %{{.*}}[%[[SEQ]], 0] [1, 7] [1, 1]
// CHECK: scf.forall
// CHECK: attn.attention ins(%{{.*}}, %[[POOL]], %[[POOL]] : {{.*}} seqlens_kv(%[[KEYS]] : index) {{.*}} block_table(%{{.*}} : memref<1x7xi32, {{.*}}>) {{.*}} {causal, layout = bshd, page_size = 16}
func.func @packed_over_pages(%pool: memref<9x16x1x32xf32>, %q: memref<?x1x32xf32>, %cu: memref<4xi32>,
                             %n: memref<3xi32>, %table: memref<3x7xi32>, %o: memref<?x1x32xf32>) {
  attn.attention ins(%q, %pool, %pool : memref<?x1x32xf32>, memref<9x16x1x32xf32>, memref<9x16x1x32xf32>)
      seqlens_kv(%n : memref<3xi32>) cu_seqlens_q(%cu : memref<4xi32>)
      block_table(%table : memref<3x7xi32>)
      outs(%o : memref<?x1x32xf32>) {causal, layout = thd, page_size = 16}
  return
}

// -----

// A tile is left alone.
// CHECK-LABEL: func @tile
// CHECK-NOT: scf.forall
// CHECK: attn.attention
func.func @tile(%q: tensor<1x1x16x8xf32>, %o: tensor<1x1x16x8xf32>) -> tensor<1x1x16x8xf32> {
  %0 = attn.attention
      ins(%q, %q, %q : tensor<1x1x16x8xf32>, tensor<1x1x16x8xf32>, tensor<1x1x16x8xf32>)
      outs(%o : tensor<1x1x16x8xf32>)
  return %0 : tensor<1x1x16x8xf32>
}

// -----

// Nothing to write: the op goes.

// CHECK-LABEL: func.func @no_rows
// CHECK-NEXT: return
func.func @no_rows(%q: memref<1x1x0x64xf16>, %k: memref<1x1x3x64xf16>, %o: memref<1x1x0x64xf16>,
                   %lse: memref<1x1x0xf32>) {
  attn.attention ins(%q, %k, %k : memref<1x1x0x64xf16>, memref<1x1x3x64xf16>, memref<1x1x3x64xf16>)
    outs(%o, %lse : memref<1x1x0x64xf16>, memref<1x1x0xf32>)
  return
}
