// Dims of 0, which slices cannot be cut from, pass all levels: no key is an
// ordinary problem whose rows are empty.
// RUN: attn-opt %s -split-input-file -attn-tile -canonicalize | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-to-cpu | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: func @no_keys
// CHECK: scf.forall
// CHECK: %[[K:.*]] = tensor.empty() : tensor<1x1x0x8xf32>
// CHECK: attn.attention ins(%{{.*}}, %[[K]], %{{.*}} :
// CPU-LABEL: llvm.func @no_keys
// CPU-NOT: attn.
func.func @no_keys(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x0x8xf32>, %bias: tensor<4x3x0xf32>,
                   %o: tensor<2x4x3x8xf32>, %l: tensor<2x4x3xf32>)
    -> (tensor<2x4x3x8xf32>, tensor<2x4x3xf32>) {
  %0:2 = attn.attention ins(%q, %k, %k : tensor<2x4x3x8xf32>, tensor<2x2x0x8xf32>, tensor<2x2x0x8xf32>)
      bias(%bias : tensor<4x3x0xf32>) outs(%o, %l : tensor<2x4x3x8xf32>, tensor<2x4x3xf32>) {causal}
  return %0#0, %0#1 : tensor<2x4x3x8xf32>, tensor<2x4x3xf32>
}

// -----

// CHECK-LABEL: func @no_keys_memref
// CHECK-SAME: %{{[^:]*}}: {{[^%]*}}, %[[K:[^:]*]]:
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[K]] to offset: [0], sizes: [1, 0, 1, 8], strides: [1, 1, 1, 1]
// CHECK: attn.attention ins(%{{.*}}, %[[PART]], %{{.*}} :
// CPU-LABEL: llvm.func @no_keys_memref
// CPU-NOT: attn.
func.func @no_keys_memref(%q: memref<2x70x4x8xf16>, %k: memref<2x0x2x8xf16>, %o: memref<2x70x4x8xf16>) {
  attn.attention ins(%q, %k, %k : memref<2x70x4x8xf16>, memref<2x0x2x8xf16>, memref<2x0x2x8xf16>)
      outs(%o : memref<2x70x4x8xf16>) {layout = bshd}
  return
}

// -----

// CHECK-LABEL: func @no_packed_keys
// CHECK: attn.attention
// CPU-LABEL: llvm.func @no_packed_keys
// CPU-NOT: attn.
func.func @no_packed_keys(%q: tensor<5x4x8xf32>, %k: tensor<0x4x8xf32>, %cu: tensor<3xi32>)
    -> tensor<5x4x8xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<5x4x8xf32>, tensor<0x4x8xf32>, tensor<0x4x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%q : tensor<5x4x8xf32>) {layout = thd}
  return %0 : tensor<5x4x8xf32>
}

// -----

// CPU-LABEL: llvm.func @no_rows_merged
// CPU-NOT: attn.
func.func @no_rows_merged(%o: tensor<0x8xf32>, %l: tensor<0xf32>) -> tensor<0x8xf32> {
  %0 = attn.merge_states (%o, %l : tensor<0x8xf32>, tensor<0xf32>) outs(%o : tensor<0x8xf32>)
  return %0 : tensor<0x8xf32>
}

// -----

// That there is no batch stands in one type only.
// CHECK-LABEL: func @no_batch
// CHECK-NOT: attn.attention
// CPU-LABEL: llvm.func @no_batch
// CPU-NOT: attn.
func.func @no_batch(%q: tensor<?x2x?x8xf32>, %o: tensor<?x2x?x8xf32>, %l: tensor<0x2x?xf32>)
    -> (tensor<?x2x?x8xf32>, tensor<0x2x?xf32>) {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>)
      outs(%o, %l : tensor<?x2x?x8xf32>, tensor<0x2x?xf32>)
  return %0#0, %0#1 : tensor<?x2x?x8xf32>, tensor<0x2x?xf32>
}
