// Effects, shapes and destinations as other passes see them.
// RUN: attn-opt %s -split-input-file -cse -canonicalize | FileCheck %s
// RUN: attn-opt %s -split-input-file -resolve-ranked-shaped-type-result-dims -canonicalize | FileCheck %s --check-prefix=DIMS
// RUN: attn-opt %s -split-input-file -eliminate-empty-tensors -empty-tensor-to-alloc-tensor -one-shot-bufferize=bufferize-function-boundaries -cse -canonicalize | FileCheck %s --check-prefix=BUFFER

// Tensor ops without users are dead; equal ones are one.
// CHECK-LABEL: func @tensor_ops
// CHECK-NOT: attn.attention
// CHECK: attn.finalize
// CHECK-NOT: attn.
// CHECK: return
func.func @tensor_ops(%q: tensor<1x4x6x8xf32>, %acc: tensor<4x8xf32>, %m: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q : tensor<1x4x6x8xf32>)
  %1:3 = attn.online_attention ins(%acc, %acc, %acc : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      outs(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %2 = attn.finalize ins(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%acc : tensor<4x8xf32>)
  %3 = attn.finalize ins(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%acc : tensor<4x8xf32>)
  %4 = attn.merge_states (%acc, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%acc : tensor<4x8xf32>)
  return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Memref ops write, so they stay.
// CHECK-LABEL: func @memref_ops
// CHECK: attn.attention
// CHECK: attn.online_attention
// CHECK: attn.finalize
// CHECK: attn.merge_states
func.func @memref_ops(%q: memref<1x4x6x8xf32>, %o: memref<1x4x6x8xf32>, %k: memref<4x8xf32>,
                      %acc: memref<4x8xf32>, %m: memref<4xf32>, %l: memref<4xf32>,
                      %out: memref<4x8xf32>, %merged: memref<4x8xf32>) {
  attn.attention ins(%q, %q, %q : memref<1x4x6x8xf32>, memref<1x4x6x8xf32>, memref<1x4x6x8xf32>)
      outs(%o : memref<1x4x6x8xf32>)
  attn.online_attention ins(%k, %k, %k : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>)
      outs(%acc, %m, %l : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
  attn.finalize ins(%acc, %m, %l : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
      outs(%out : memref<4x8xf32>)
  attn.merge_states (%out, %m : memref<4x8xf32>, memref<4xf32>) outs(%merged : memref<4x8xf32>)
  return
}

// -----

// Dims of results are those of the destinations.
// DIMS-LABEL: func @dims
// DIMS-SAME: (%[[Q:.*]]: tensor<?x4x?x8xf32>, %[[O:.*]]: tensor<?x4x?x8xf32>, %[[L:.*]]: tensor<?x4x?xf32>,
// DIMS-DAG: %[[C0:.*]] = arith.constant 0
// DIMS-DAG: %[[C2:.*]] = arith.constant 2
// DIMS-DAG: %[[ROWS:.*]] = tensor.dim %[[O]], %[[C2]]
// DIMS-DAG: %[[BATCH:.*]] = tensor.dim %[[L]], %[[C0]]
// DIMS-DAG: %[[M:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?xf32>
// DIMS-DAG: %[[N:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?x8xf16>
// DIMS-DAG: %[[P:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?x8xf32>
// DIMS: return %[[ROWS]], %[[BATCH]], %[[M]], %[[N]], %[[P]]
func.func @dims(%q: tensor<?x4x?x8xf32>, %o: tensor<?x4x?x8xf32>, %l: tensor<?x4x?xf32>,
                %acc: tensor<?x8xf32>, %m: tensor<?xf32>, %out: tensor<?x8xf16>)
    -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0:2 = attn.attention ins(%q, %q, %q : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>)
      outs(%o, %l : tensor<?x4x?x8xf32>, tensor<?x4x?xf32>)
  %rows = tensor.dim %0#0, %c2 : tensor<?x4x?x8xf32>
  %batch = tensor.dim %0#1, %c0 : tensor<?x4x?xf32>
  %1:3 = attn.online_attention ins(%acc, %acc, %acc : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>)
      outs(%acc, %m, %m : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  %d1 = tensor.dim %1#1, %c0 : tensor<?xf32>
  %2 = attn.finalize ins(%acc, %m, %m : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
      outs(%out : tensor<?x8xf16>)
  %d2 = tensor.dim %2, %c0 : tensor<?x8xf16>
  %3 = attn.merge_states (%acc, %m : tensor<?x8xf32>, tensor<?xf32>) outs(%acc : tensor<?x8xf32>)
  %d3 = tensor.dim %3, %c0 : tensor<?x8xf32>
  return %rows, %batch, %d1, %d2, %d3 : index, index, index, index, index
}

// -----

// The destination decides where the result goes: no buffer but the caller's.
// BUFFER-LABEL: func @written_in_place
// BUFFER-SAME: %{{[^:]*}}: {{[^%]*}}, %[[O:[^:]*]]:
// BUFFER-NOT: alloc
// BUFFER-NOT: copy
// BUFFER: attn.attention {{.*}} outs(%[[O]] :
func.func @written_in_place(%q: tensor<1x4x6x8xf32>,
                            %o: tensor<1x4x6x8xf32> {bufferization.writable = true})
    -> tensor<1x4x6x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return %0 : tensor<1x4x6x8xf32>
}

// -----

// A destination that is also an input gets a buffer of its own (C28), whose old
// content nobody reads.
// BUFFER-LABEL: func @input_as_destination
// BUFFER-SAME: (%[[Q:[^:]*]]:
// BUFFER: %[[NEW:.*]] = memref.alloc
// BUFFER-NOT: copy
// BUFFER: attn.attention ins(%[[Q]], %[[Q]], %[[Q]] : {{.*}}) outs(%[[NEW]] :
func.func @input_as_destination(%q: tensor<1x4x6x8xf32> {bufferization.writable = true})
    -> tensor<1x4x6x8xf32> {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q : tensor<1x4x6x8xf32>)
  return %0 : tensor<1x4x6x8xf32>
}

// -----

// The state of the online softmax is read: it is copied where it must stay, here
// because two parts start from one tensor.
// BUFFER-LABEL: func @state_is_read
// BUFFER-SAME: %{{[^:]*}}: {{[^%]*}}, %[[ACC:[^:]*]]: {{[^%]*}}, %[[M:[^:]*]]:
// BUFFER: memref.copy %[[M]], %[[A:[^ ]*]] :
// BUFFER: memref.copy %[[M]], %[[B:[^ ]*]] :
// BUFFER: attn.online_attention {{.*}} outs(%[[ACC]], %[[A]], %[[B]] :
func.func @state_is_read(%q: tensor<4x8xf32>, %acc: tensor<4x8xf32>, %m: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:3 = attn.online_attention ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      outs(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// An empty destination becomes the slice the result is inserted into.
// BUFFER-LABEL: func @into_slice
// BUFFER: %[[PART:.*]] = memref.subview
// BUFFER: attn.attention {{.*}} outs(%[[PART]] :
// BUFFER-NOT: copy
func.func @into_slice(%q: tensor<1x4x6x8xf32>,
                      %o: tensor<2x4x6x8xf32> {bufferization.writable = true})
    -> tensor<2x4x6x8xf32> {
  %empty = tensor.empty() : tensor<1x4x6x8xf32>
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%empty : tensor<1x4x6x8xf32>)
  %1 = tensor.insert_slice %0 into %o[1, 0, 0, 0] [1, 4, 6, 8] [1, 1, 1, 1]
      : tensor<1x4x6x8xf32> into tensor<2x4x6x8xf32>
  return %1 : tensor<2x4x6x8xf32>
}
