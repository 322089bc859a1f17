// RUN: attn-opt %s -attn-decompose -split-input-file -verify-diagnostics | FileCheck %s
// RUN: attn-opt %s -attn-decompose -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=FLAGS

// Case A11: no op of the softmax forbids NaN or infinity.
// FLAGS-NOT: fastmath<{{.*(nnan|ninf|fast)}}

// CHECK-LABEL: func @online
// The key is transposed and converted once a tile.
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<32x8xf16>) outs(%{{.*}} : tensor<8x32xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// Hidden keys are selected away.
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: arith.maximumf
// CHECK: math.exp
// The sum is of unrounded f32.
// CHECK: arith.addf {{.*}} : f32
// CHECK-NOT: attn.
func.func @online(%q: tensor<16x8xf16>, %k: tensor<32x8xf16>, %v: tensor<32x8xf16>, %i: index, %j: index,
                  %acc: tensor<16x8xf32>, %m: tensor<16xf32>, %l: tensor<16xf32>)
    -> (tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<16x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>)
      at(%i, %j) outs(%acc, %m, %l : tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>) {causal}
  return %0#0, %0#1, %0#2 : tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

// CHECK-LABEL: func @finalize
// CHECK: arith.divf
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// CHECK: math.log
// CHECK-NOT: attn.
func.func @finalize(%acc: memref<16x8xf32>, %m: memref<16xf32>, %l: memref<16xf32>,
                    %o: memref<16x8xbf16>, %lse: memref<16xf32>) {
  attn.finalize ins(%acc, %m, %l : memref<16x8xf32>, memref<16xf32>, memref<16xf32>)
      outs(%o, %lse : memref<16x8xbf16>, memref<16xf32>)
  return
}

// -----

// Without an lse no logarithm is taken.
// CHECK-LABEL: func @finalize_no_lse
// CHECK-NOT: math.log
// CHECK: return
func.func @finalize_no_lse(%acc: memref<16x8xf32>, %m: memref<16xf32>, %l: memref<16xf32>, %o: memref<16x8xbf16>) {
  attn.finalize ins(%acc, %m, %l : memref<16x8xf32>, memref<16xf32>, memref<16xf32>)
      outs(%o : memref<16x8xbf16>)
  return
}

// -----

// CHECK-LABEL: func @merge
// CHECK: math.exp2
// CHECK: math.log2
// CHECK-NOT: attn.
func.func @merge(%o1: tensor<4x8xf32>, %l1: tensor<4xf32>, %o2: tensor<4x8xf32>, %l2: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0:2 = attn.merge_states (%o1, %l1 : tensor<4x8xf32>, tensor<4xf32>), (%o2, %l2 : tensor<4x8xf32>, tensor<4xf32>)
      outs(%o1, %l1 : tensor<4x8xf32>, tensor<4xf32>) {lse_base = two}
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// A stack is reduced along its first dim.
// CHECK-LABEL: func @merge_stack
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]
// CHECK: arith.select
// CHECK-NOT: attn.
func.func @merge_stack(%o: tensor<3x4x8xf32>, %l: tensor<3x4xf32>, %out: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = attn.merge_states (%o, %l : tensor<3x4x8xf32>, tensor<3x4xf32>) outs(%out : tensor<4x8xf16>)
  return %0 : tensor<4x8xf16>
}

// -----

// Rows of no sequence keep what the destinations hold.
// CHECK-LABEL: func @merge_packed
// CHECK-SAME: %[[CU:[^ ]*]]: memref<?xi32>
// CHECK: %[[FIRST:.*]] = memref.load %[[CU]]
// CHECK: arith.index_cast %[[FIRST]]
// CHECK-COUNT-2: linalg.index 0
// CHECK: linalg.index 1
// CHECK-NOT: attn.
func.func @merge_packed(%a: memref<6x4x8xf32>, %la: memref<4x6xf32>, %cu: memref<?xi32>, %out: memref<6x4x8xf16>, %lse: memref<4x6xf32>,
                        %stack: memref<3x6x4x8xf32>, %lses: memref<3x6x4xf32>, %lse2: memref<6x4xf32>) {
  attn.merge_states (%stack, %lses : memref<3x6x4x8xf32>, memref<3x6x4xf32>) cu_seqlens_q(%cu : memref<?xi32>)
      outs(%out, %lse2 : memref<6x4x8xf16>, memref<6x4xf32>) {layout = thd, lse_layout = sh_packed}
  attn.merge_states (%a, %la : memref<6x4x8xf32>, memref<4x6xf32>) cu_seqlens_q(%cu : memref<?xi32>)
      outs(%out, %lse : memref<6x4x8xf16>, memref<4x6xf32>) {layout = thd}
  return
}

// -----

func.func @int8(%q: memref<16x8xi8>, %acc: memref<16x8xf32>, %m: memref<16xf32>, %l: memref<16xf32>) {
  // expected-error @below {{expects f16, bf16, f32 or f64 inputs to decompose, but got 'i8'}}
  attn.online_attention ins(%q, %q, %q : memref<16x8xi8>, memref<16x8xi8>, memref<16x8xi8>)
      outs(%acc, %m, %l : memref<16x8xf32>, memref<16xf32>, memref<16xf32>)
  return
}

// -----

// A mask of keys only and a bias of one number broadcast over the rows.
// CHECK-LABEL: func @broadcast
// CHECK-NOT: attn.
// CHECK: return
func.func @broadcast(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %mask: tensor<?xi1>, %bias: tensor<f16>,
                     %acc: tensor<?x8xf32>, %m: tensor<?xf32>, %l: tensor<?xf32>) -> tensor<?x8xf32> {
  %0:3 = attn.online_attention ins(%q, %k, %k : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>)
      bias(%bias : tensor<f16>) mask(%mask : tensor<?xi1>)
      outs(%acc, %m, %l : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?x8xf32>
}
