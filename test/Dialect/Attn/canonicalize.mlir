// RUN: attn-opt %s -split-input-file -canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// An lse that nobody uses
//===----------------------------------------------------------------------===//

// Its options go with it, everything else stays.
// CHECK-LABEL: func @drop_unused_lse
// CHECK: %[[O:.*]] = attn.attention ins({{.*}}) bias({{.*}}) outs(%{{[^ ,]*}} : tensor<1x4x6x8xf32>) {causal, scale = 5.000000e-01} attributes {tag}
// CHECK: return %[[O]]
func.func @drop_unused_lse(%q: tensor<1x4x6x8xf32>, %bias: tensor<6x6xf32>, %l: tensor<1x4x6xf32>)
    -> tensor<1x4x6x8xf32> {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      bias(%bias : tensor<6x6xf32>) outs(%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      {causal, scale = 0.5, lse_base = two, lse_layout = bhs} attributes {tag}
  return %0#0 : tensor<1x4x6x8xf32>
}

// -----

// CHECK-LABEL: func @keep_used_lse
// CHECK: %[[R:.*]]:2 = attn.attention
// CHECK-SAME: {lse_base = two}
// CHECK: return %[[R]]#1
func.func @keep_used_lse(%q: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>) -> tensor<1x4x6xf32> {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>) {lse_base = two}
  return %0#1 : tensor<1x4x6xf32>
}

// -----

// A buffer may be read by others.
// CHECK-LABEL: func @keep_lse_buffer
// CHECK: attn.attention {{.*}} outs(%{{.*}}, %{{.*}} : memref<1x4x6x8xf32>, memref<1x4x6xf32>)
func.func @keep_lse_buffer(%q: memref<1x4x6x8xf32>, %o: memref<1x4x6x8xf32>, %l: memref<1x4x6xf32>) {
  attn.attention ins(%q, %q, %q : memref<1x4x6x8xf32>, memref<1x4x6x8xf32>, memref<1x4x6x8xf32>)
      outs(%o, %l : memref<1x4x6x8xf32>, memref<1x4x6xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// One query row is not causal
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @one_row
// CHECK: attn.attention
// CHECK-SAME: outs(%{{.*}} : tensor<1x4x1x8xf32>){{$}}
func.func @one_row(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x6x8xf32>) -> tensor<1x4x1x8xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x4x1x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q : tensor<1x4x1x8xf32>) {causal, diagonal_alignment = bottom_right}
  return %0 : tensor<1x4x1x8xf32>
}

// -----

// A window still reads the diagonal; the rows of bshd are dim 1.
// CHECK-LABEL: func @one_row_window
// CHECK: {diagonal_alignment = bottom_right, layout = bshd, window_left = 3}
func.func @one_row_window(%q: tensor<1x1x4x8xf32>, %k: tensor<1x6x4x8xf32>) -> tensor<1x1x4x8xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x1x4x8xf32>, tensor<1x6x4x8xf32>, tensor<1x6x4x8xf32>)
      outs(%q : tensor<1x1x4x8xf32>) {causal, layout = bshd, window_left = 3, diagonal_alignment = bottom_right}
  return %0 : tensor<1x1x4x8xf32>
}

// -----

// The first row of top_left sees one key.
// CHECK-LABEL: func @one_row_top_left
// CHECK: {causal, diagonal_alignment = top_left}
func.func @one_row_top_left(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x6x8xf32>) -> tensor<1x4x1x8xf32> {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x4x1x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q : tensor<1x4x1x8xf32>) {causal, diagonal_alignment = top_left}
  return %0 : tensor<1x4x1x8xf32>
}

// -----

// CHECK-LABEL: func @one_row_offset
// CHECK-COUNT-2: {causal}
func.func @one_row_offset(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x6x8xf32>, %off: i32)
    -> (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x4x1x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      q_offset(%off : i32) outs(%q : tensor<1x4x1x8xf32>) {causal}
  %1 = attn.attention ins(%q, %k, %k : tensor<1x4x1x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      kv_offset(%off : i32) outs(%q : tensor<1x4x1x8xf32>) {causal}
  return %0, %1 : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
}

// -----

// One head of bhsd, one packed row, an unknown number of rows.
// CHECK-LABEL: func @not_one_row
// CHECK: {causal}
// CHECK: {causal, layout = thd}
// CHECK: {causal}
func.func @not_one_row(%h: tensor<1x1x6x8xf32>, %t: tensor<1x4x8xf32>, %cu: tensor<3xi32>,
                       %d: tensor<1x4x?x8xf32>)
    -> (tensor<1x1x6x8xf32>, tensor<1x4x8xf32>, tensor<1x4x?x8xf32>) {
  %0 = attn.attention ins(%h, %h, %h : tensor<1x1x6x8xf32>, tensor<1x1x6x8xf32>, tensor<1x1x6x8xf32>)
      outs(%h : tensor<1x1x6x8xf32>) {causal}
  %1 = attn.attention ins(%t, %t, %t : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%t : tensor<1x4x8xf32>) {causal, layout = thd}
  %2 = attn.attention ins(%d, %d, %d : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>)
      outs(%d : tensor<1x4x?x8xf32>) {causal}
  return %0, %1, %2 : tensor<1x1x6x8xf32>, tensor<1x4x8xf32>, tensor<1x4x?x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// A constant scale operand
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @constant_scale
// CHECK-NOT: scale_value
// CHECK: {scale = -2.500000e-01}
func.func @constant_scale(%q: tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> {
  %scale = arith.constant -0.25 : f32
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      scale_value(%scale : f32) outs(%q : tensor<1x4x6x8xf32>)
  return %0 : tensor<1x4x6x8xf32>
}

// -----

// An attribute is finite; an operand may be anything.
// CHECK-LABEL: func @other_scales
// CHECK-COUNT-2: scale_value
func.func @other_scales(%q: tensor<1x4x6x8xf32>, %scale: f32)
    -> (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) {
  %inf = arith.constant 0x7F800000 : f32
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      scale_value(%inf : f32) outs(%q : tensor<1x4x6x8xf32>)
  %1 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      scale_value(%scale : f32) outs(%q : tensor<1x4x6x8xf32>)
  return %0, %1 : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// Static dims reach the op (the tensor dialect does it for DPS ops).
// CHECK-LABEL: func @tensor_cast
// CHECK: attn.attention ins({{.*}} : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%{{.*}} : tensor<1x4x6x8xf32>)
func.func @tensor_cast(%q: tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> {
  %d = tensor.cast %q : tensor<1x4x6x8xf32> to tensor<?x?x?x?xf32>
  %0 = attn.attention ins(%d, %d, %d : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
      outs(%d : tensor<?x?x?x?xf32>)
  %1 = tensor.cast %0 : tensor<?x?x?x?xf32> to tensor<1x4x6x8xf32>
  return %1 : tensor<1x4x6x8xf32>
}

// -----

// CHECK-LABEL: func @memref_cast
// CHECK-NOT: memref.cast
// CHECK: attn.attention ins({{.*}} : memref<1x4x6x8xf32>, memref<1x4x6x8xf32>, memref<1x4x6x8xf32>) outs(%{{.*}}, %{{.*}} : memref<1x4x6x8xf32>, memref<1x4x?xf32>)
func.func @memref_cast(%q: memref<1x4x6x8xf32>, %o: memref<1x4x6x8xf32>, %l: memref<1x4x?xf32>) {
  %d = memref.cast %q : memref<1x4x6x8xf32> to memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>
  %c = memref.cast %o : memref<1x4x6x8xf32> to memref<1x?x6x8xf32>
  attn.attention ins(%d, %d, %d : memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>, memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>, memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>)
      outs(%c, %l : memref<1x?x6x8xf32>, memref<1x4x?xf32>)
  return
}

// -----

// A cast that adds what the type did not know stays.
// CHECK-LABEL: func @memref_cast_to_static
// CHECK: %[[C:.*]] = memref.cast
// CHECK: attn.attention ins(%[[C]], %[[C]], %[[C]] : memref<1x4x6x8xf32>,
func.func @memref_cast_to_static(%q: memref<?x?x?x?xf32>, %o: memref<1x4x6x8xf32>) {
  %d = memref.cast %q : memref<?x?x?x?xf32> to memref<1x4x6x8xf32>
  attn.attention ins(%d, %d, %d : memref<1x4x6x8xf32>, memref<1x4x6x8xf32>, memref<1x4x6x8xf32>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// CHECK-LABEL: func @memref_cast_of_others
// CHECK-NOT: memref.cast
// CHECK: attn.online_attention ins({{.*}} : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>)
// CHECK: attn.finalize {{.*}} outs(%{{.*}} : memref<4x8xf32>)
// CHECK: attn.merge_states (%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<4xf32>)
func.func @memref_cast_of_others(%q: memref<4x8xf32>, %acc: memref<4x8xf32>, %m: memref<4xf32>,
                                 %l: memref<4xf32>, %o: memref<4x8xf32>) {
  %qd = memref.cast %q : memref<4x8xf32> to memref<?x8xf32>
  %od = memref.cast %o : memref<4x8xf32> to memref<?x8xf32>
  attn.online_attention ins(%qd, %qd, %qd : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>)
      outs(%acc, %m, %l : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
  attn.finalize ins(%acc, %m, %l : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
      outs(%od : memref<?x8xf32>)
  attn.merge_states (%qd, %m : memref<?x8xf32>, memref<4xf32>) outs(%od : memref<?x8xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @drop_empty_states
// CHECK-SAME: (%[[O1:[^:]*]]: {{[^%]*}}%[[L1:[^:]*]]: {{[^%]*}}%[[O2:[^:]*]]: {{[^%]*}}%[[L2:[^:]*]]:
// CHECK: attn.merge_states (%[[O1]], %[[L1]] : {{[^)]*}}), (%[[O2]], %[[L2]] : {{[^)]*}}) outs
func.func @drop_empty_states(%o1: tensor<4x8xf32>, %l1: tensor<4xf32>, %o2: tensor<4x8xf32>,
                             %l2: tensor<4xf32>) -> tensor<4x8xf32> {
  %empty = arith.constant dense<0xFF800000> : tensor<4xf32>
  %0 = attn.merge_states (%o1, %empty : tensor<4x8xf32>, tensor<4xf32>),
      (%o1, %l1 : tensor<4x8xf32>, tensor<4xf32>), (%o2, %empty : tensor<4x8xf32>, tensor<4xf32>),
      (%o2, %l2 : tensor<4x8xf32>, tensor<4xf32>) outs(%o1 : tensor<4x8xf32>)
  return %0 : tensor<4x8xf32>
}

// -----

// One state stays, or the merge would have none: (0, -inf) is its result.
// CHECK-LABEL: func @only_empty_states
// CHECK-SAME: (%[[O1:[^:]*]]:
// CHECK: attn.merge_states (%[[O1]], %{{[^)]*}}) outs
func.func @only_empty_states(%o1: tensor<4x8xf32>, %o2: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %empty = arith.constant dense<0xFF800000> : tensor<4xf32>
  %0 = attn.merge_states (%o1, %empty : tensor<4x8xf32>, tensor<4xf32>),
      (%o2, %empty : tensor<4x8xf32>, tensor<4xf32>) outs(%o1 : tensor<4x8xf32>)
  return %0 : tensor<4x8xf32>
}

// -----

// +inf, a finite minimum and a single empty row are not empty states.
// CHECK-LABEL: func @keep_other_constants
// CHECK: attn.merge_states ({{[^)]*}}), ({{[^)]*}}), ({{[^)]*}}) outs
func.func @keep_other_constants(%o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %inf = arith.constant dense<0x7F800000> : tensor<4xf32>
  %low = arith.constant dense<-3.40282347E+38> : tensor<4xf32>
  %row = arith.constant dense<[0xFF800000, 0.0, 0.0, 0.0]> : tensor<4xf32>
  %0 = attn.merge_states (%o, %inf : tensor<4x8xf32>, tensor<4xf32>),
      (%o, %low : tensor<4x8xf32>, tensor<4xf32>), (%o, %row : tensor<4x8xf32>, tensor<4xf32>)
      outs(%o : tensor<4x8xf32>)
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @single_state
// CHECK: %[[A:.*]]:2 = attn.attention
// CHECK-NOT: attn.merge_states
// CHECK: return %[[A]]#0, %[[A]]#1
func.func @single_state(%q: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>)
    -> (tensor<1x4x6x8xf32>, tensor<1x4x6xf32>) {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>) {lse_base = two}
  %1:2 = attn.merge_states (%0#0, %0#1 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      outs(%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>) {lse_base = two}
  return %1#0, %1#1 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>
}

// -----

// A state of unknown origin may hold NaN where it has no weight; a sink adds
// weight; rounding is not the identity.
// CHECK-LABEL: func @keep_single_state
// CHECK-COUNT-3: attn.merge_states
func.func @keep_single_state(%q: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>, %sink: tensor<4xf32>,
                             %h: tensor<1x4x6x8xf16>)
    -> (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf16>) {
  %0 = attn.merge_states (%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      outs(%q : tensor<1x4x6x8xf32>)
  %1:2 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
  %2 = attn.merge_states (%1#0, %1#1 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      sink(%sink : tensor<4xf32>) outs(%q : tensor<1x4x6x8xf32>)
  %3 = attn.merge_states (%1#0, %1#1 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      outs(%h : tensor<1x4x6x8xf16>)
  return %0, %2, %3 : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf16>
}
