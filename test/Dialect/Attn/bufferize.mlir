// RUN: attn-opt %s -one-shot-bufferize=bufferize-function-boundaries -canonicalize -split-input-file | FileCheck %s

// O and LSE are written into the destinations without a copy.
// CHECK-LABEL: func @in_place
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: attn.attention ins({{.*}}memref<1x2x16x8xf32
func.func @in_place(%q: tensor<1x2x16x8xf32>, %o: tensor<1x2x16x8xf32>, %l: tensor<1x2x16xf32>)
    -> (tensor<1x2x16x8xf32>, tensor<1x2x16xf32>) {
  %0:2 = attn.attention
      ins(%q, %q, %q : tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>)
      outs(%o, %l : tensor<1x2x16x8xf32>, tensor<1x2x16xf32>)
  return %0#0, %0#1 : tensor<1x2x16x8xf32>, tensor<1x2x16xf32>
}

// -----

// A destination that is also an input is not overwritten while it is read.
// CHECK-LABEL: func @conflict
// CHECK: memref.alloc
// CHECK: attn.attention
func.func @conflict(%q: tensor<1x2x16x8xf32>) -> tensor<1x2x16x8xf32> {
  %0 = attn.attention
      ins(%q, %q, %q : tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>)
      outs(%q : tensor<1x2x16x8xf32>)
  return %0 : tensor<1x2x16x8xf32>
}
