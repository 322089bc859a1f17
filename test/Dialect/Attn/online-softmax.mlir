// RUN: attn-opt %s -attn-online-softmax -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @plain
// CHECK-SAME: (%[[Q:.*]]: tensor<1x1x16x8xf16>, %[[K:.*]]: tensor<1x1x228x8xf16>
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: linalg.fill ins(%[[NONE]] : f32)
// CHECK-DAG: linalg.fill ins(%{{.*}} : f32) outs({{.*}} : tensor<16x8xf32>)
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: tensor.extract_slice %[[K]][0, 0, %[[J]], 0] [1, 1, 64, 8]
// CHECK: attn.online_attention ins({{.*}}tensor<64x8xf16>) outs(
// CHECK: scf.yield
// The ragged end.
// CHECK: %[[T:.*]]:3 = attn.online_attention ins({{.*}}tensor<36x8xf16>
// CHECK: attn.finalize ins(%[[T]]#0, %[[T]]#1, %[[T]]#2
// CHECK-NOT: attn.attention
func.func @plain(%q: tensor<1x1x16x8xf16>, %k: tensor<1x1x228x8xf16>, %o: tensor<1x1x16x8xf16>,
                 %l: tensor<1x1x16xf32>) -> (tensor<1x1x16x8xf16>, tensor<1x1x16xf32>) {
  %0:2 = attn.attention
      ins(%q, %k, %k : tensor<1x1x16x8xf16>, tensor<1x1x228x8xf16>, tensor<1x1x228x8xf16>)
      outs(%o, %l : tensor<1x1x16x8xf16>, tensor<1x1x16xf32>)
  return %0#0, %0#1 : tensor<1x1x16x8xf16>, tensor<1x1x16xf32>
}

// -----

// A sliding window bounds the loop on both sides; without a window or causal
// no position is passed on.
// CHECK-LABEL: func @window
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: attn.online_attention {{.*}} at(%{{.*}}, %{{.*}}) {{.*}} {window_left = 4, window_right = 2}
func.func @window(%q: memref<1x1x16x8xf32>, %k: memref<1x1x?x8xf32>, %off: index, %o: memref<1x1x16x8xf32>) {
  attn.attention ins(%q, %k, %k : memref<1x1x16x8xf32>, memref<1x1x?x8xf32>, memref<1x1x?x8xf32>)
      q_offset(%off : index) outs(%o : memref<1x1x16x8xf32>) {window_left = 4, window_right = 2}
  return
}

// -----

// Asked without lse, nothing of it is there.
// CHECK-LABEL: func @no_lse
// CHECK: attn.finalize ins({{.*}}) outs(%{{[^,]*}} : memref<16x8xf32
func.func @no_lse(%q: memref<1x1x16x8xf32>, %o: memref<1x1x16x8xf32>) {
  attn.attention ins(%q, %q, %q : memref<1x1x16x8xf32>, memref<1x1x16x8xf32>, memref<1x1x16x8xf32>)
      outs(%o : memref<1x1x16x8xf32>)
  return
}

// -----

// One batch and one head, of which some types do not know.
// CHECK-LABEL: func @unknown_units
// CHECK: extract_slice %arg1[0, 0, %{{.*}}, 0] [1, 1, 64, 8] [1, 1, 1, 1] : tensor<?x1x?x8xf32> to tensor<64x8xf32>
// CHECK: insert_slice {{.*}} into %arg2[0, 0, 0, 0] [1, 1, 16, 8] [1, 1, 1, 1] : tensor<16x8xf32> into tensor<?x?x?x8xf32>
func.func @unknown_units(%q: tensor<1x1x16x8xf32>, %k: tensor<?x1x?x8xf32>, %o: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x1x16x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>)
      outs(%o : tensor<?x?x?x8xf32>)
  return %0 : tensor<?x?x?x8xf32>
}

// -----

func.func @all_splits(%q: memref<1x1x16x8xf32>, %o: memref<3x1x1x16x8xf32>) {
  // expected-error @below {{expects one split for the online softmax (run attn-tile first), but got destinations of 3}}
  attn.attention ins(%q, %q, %q : memref<1x1x16x8xf32>, memref<1x1x16x8xf32>, memref<1x1x16x8xf32>)
      outs(%o : memref<3x1x1x16x8xf32>) {num_kv_splits = 3}
  return
}

// -----

func.func @not_tiled(%q: memref<1x2x16x8xf32>, %o: memref<1x2x16x8xf32>) {
  // expected-error @below {{expects one batch and one head for the online softmax (run attn-tile first), but got 'memref<1x2x16x8xf32>'}}
  attn.attention ins(%q, %q, %q : memref<1x2x16x8xf32>, memref<1x2x16x8xf32>, memref<1x2x16x8xf32>)
      outs(%o : memref<1x2x16x8xf32>)
  return
}

// -----

// A tile lies in one page, whose number is looked up and limited to the pool.
// CHECK-LABEL: func @paged
// CHECK: scf.for %[[J:.*]] = %{{.*}} step %c16
// CHECK:   %[[AT:.*]] = arith.divui %[[J]], %c16
// CHECK:   %[[ENTRY:.*]] = memref.load %{{.*}}[%c0{{.*}}, %[[AT]]]
// CHECK:   %[[PAGE:.*]] = arith.index_cast %[[ENTRY]]
// CHECK:   %[[LOW:.*]] = arith.maxsi %[[PAGE]], %c0
// CHECK:   %[[IN:.*]] = arith.minsi %[[LOW]], %c8
// CHECK:   %[[ROW:.*]] = arith.remui %[[J]], %c16
// CHECK:   memref.subview %{{.*}}[%[[IN]], 0, %[[ROW]], 0] [1, 1, 16, 8]
func.func @paged(%q: memref<1x1x16x8xf32>, %k: memref<9x1x16x8xf32>, %t: memref<1x4xi32>, %n: memref<1xi32>,
                 %o: memref<1x1x16x8xf32>) {
  attn.attention ins(%q, %k, %k : memref<1x1x16x8xf32>, memref<9x1x16x8xf32>, memref<9x1x16x8xf32>)
      seqlens_kv(%n : memref<1xi32>) block_table(%t : memref<1x4xi32>)
      outs(%o : memref<1x1x16x8xf32>) {page_size = 16}
  return
}

// -----

// A size that folds to a constant value is static in the type of the slice.
// CHECK-LABEL: func @constant_sizes
// CHECK: attn.online_attention ins({{.*}} : memref<16x8xf32
func.func @constant_sizes(%q: memref<1x1x16x8xf32>, %o: memref<1x1x16x8xf32>) {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %s = memref.subview %q[0, 0, 0, 0] [1, 1, %c16, %c8] [1, 1, 1, 1]
      : memref<1x1x16x8xf32> to memref<1x1x?x?xf32, strided<[128, 128, 8, 1]>>
  attn.attention ins(%s, %s, %s : memref<1x1x?x?xf32, strided<[128, 128, 8, 1]>>, memref<1x1x?x?xf32, strided<[128, 128, 8, 1]>>, memref<1x1x?x?xf32, strided<[128, 128, 8, 1]>>)
      outs(%o : memref<1x1x16x8xf32>)
  return
}
