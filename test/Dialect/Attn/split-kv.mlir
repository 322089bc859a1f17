// RUN: attn-opt %s --attn-split-kv -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-split-kv=num-kv-splits=1 -split-input-file | FileCheck %s --check-prefix=ONE
// RUN: not attn-opt %s --attn-split-kv=num-kv-splits=65536 -split-input-file 2>&1 | FileCheck %s --check-prefix=MANY

// ONE-NOT: attn.merge_states
// MANY: error: expects num-kv-splits to be between 0 and 65535, but got 65536

// The states are f32 and have an LSE in any case; the merge has the sink.
// CHECK-LABEL: func @sink
// CHECK-DAG: %[[P:.*]] = tensor.empty() : tensor<4x1x8x16x64xf32>
// CHECK-DAG: %[[L:.*]] = tensor.empty() : tensor<4x1x8x16xf32>
// CHECK: %[[S:.*]]:2 = attn.attention ins({{.*}}) mask({{.*}}) outs(%[[P]], %[[L]] : {{.*}}) {causal, num_kv_splits = 4}
// CHECK: %[[O:.*]] = attn.merge_states (%[[S]]#0, %[[S]]#1 : {{.*}}) sink({{.*}}) outs({{.*}} : tensor<1x8x16x64xf16>)
// CHECK: return %[[O]]
func.func @sink(%q: tensor<1x8x16x64xf16>, %k: tensor<1x2x256x64xf16>, %mask: tensor<16x256xi1>, %sink: tensor<8xf32>,
                %o: tensor<1x8x16x64xf16>) -> tensor<1x8x16x64xf16> {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x8x16x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
      mask(%mask : tensor<16x256xi1>) sink(%sink : tensor<8xf32>)
      outs(%o : tensor<1x8x16x64xf16>) {causal, num_kv_splits = 4}
  return %0 : tensor<1x8x16x64xf16>
}

// -----

// CHECK-LABEL: func @memrefs
// CHECK: memref.alloc({{.*}}) : memref<2x?x?x4x64xf32>
// CHECK: memref.alloc({{.*}}) : memref<2x?x4x?xf32>
// CHECK: attn.attention {{.*}} {layout = bshd, lse_base = two, num_kv_splits = 2}
// CHECK: attn.merge_states {{.*}} {layout = bshd, lse_base = two}
func.func @memrefs(%q: memref<?x?x4x64xbf16>, %k: memref<?x?x2x64xbf16>, %o: memref<?x?x4x64xbf16>, %l: memref<?x4x?xf32>) {
  attn.attention ins(%q, %k, %k : memref<?x?x4x64xbf16>, memref<?x?x2x64xbf16>, memref<?x?x2x64xbf16>)
      outs(%o, %l : memref<?x?x4x64xbf16>, memref<?x4x?xf32>) {layout = bshd, lse_base = two, num_kv_splits = 2}
  return
}

// -----

// CHECK-LABEL: func @packed
// CHECK: tensor.empty(%{{.*}}) : tensor<2x?x4xf32>
// CHECK: attn.attention {{.*}} lse_layout = sh_packed
// CHECK: attn.merge_states {{.*}} sink(%{{.*}} : tensor<4xf32>) cu_seqlens_q(%{{.*}} : tensor<3xi32>) {{.*}} {layout = thd, lse_layout = sh_packed}
func.func @packed(%q: tensor<?x4x64xf16>, %c: tensor<3xi32>, %sink: tensor<4xf32>, %o: tensor<?x4x64xf16>, %l: tensor<?x4xf32>) -> tensor<?x4x64xf16> {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<?x4x64xf16>, tensor<?x4x64xf16>, tensor<?x4x64xf16>)
      sink(%sink : tensor<4xf32>)
      cu_seqlens_q(%c : tensor<3xi32>) cu_seqlens_kv(%c : tensor<3xi32>)
      outs(%o, %l : tensor<?x4x64xf16>, tensor<?x4xf32>) {layout = thd, lse_layout = sh_packed, num_kv_splits = 2}
  return %0#0 : tensor<?x4x64xf16>
}

// -----

// What a merge cannot say, what nobody asked for, and what is split already.
// CHECK-LABEL: func @whole
// CHECK-NOT: attn.merge_states
// CHECK: return
func.func @whole(%q: tensor<1x8x16x64xf16>, %t: tensor<16x8x64xf16>, %c: tensor<3xi32>, %l: tensor<2x8x16xf32>, %sink: tensor<8xf32>,
                 %n: tensor<1xi32>, %p: tensor<4x1x8x16x64xf32>) {
  %0:2 = attn.attention ins(%t, %t, %t : tensor<16x8x64xf16>, tensor<16x8x64xf16>, tensor<16x8x64xf16>)
      cu_seqlens_q(%c : tensor<3xi32>) cu_seqlens_kv(%c : tensor<3xi32>)
      outs(%t, %l : tensor<16x8x64xf16>, tensor<2x8x16xf32>) {layout = thd, lse_layout = bhs_padded, num_kv_splits = 2}
  %1 = attn.attention ins(%q, %q, %q : tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>)
      sink(%sink : tensor<8xf32>) seqlens_q(%n : tensor<1xi32>)
      outs(%q : tensor<1x8x16x64xf16>) {num_kv_splits = 2}
  %2 = attn.attention ins(%q, %q, %q : tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>)
      outs(%q : tensor<1x8x16x64xf16>) {num_kv_splits = 0}
  %3 = attn.attention ins(%q, %q, %q : tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>)
      outs(%p : tensor<4x1x8x16x64xf32>) {num_kv_splits = 4}
  return
}
