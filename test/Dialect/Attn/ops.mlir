// Every op, clause, option and layout, as tensors and as memrefs, survives the
// custom form, the generic form and bytecode.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// The short case; a default that is written is not printed.
// CHECK-LABEL: func @short
// CHECK-SAME: (%[[Q:.*]]: tensor<1x8x128x64xf16>, %[[K:.*]]: tensor<1x2x256x64xf16>, %[[V:[^:]*]]: tensor<1x2x256x64xf16>, %[[O:[^:]*]]:
func.func @short(%q: tensor<1x8x128x64xf16>, %k: tensor<1x2x256x64xf16>,
                 %v: tensor<1x2x256x64xf16>, %o: tensor<1x8x128x64xf16>)
    -> tensor<1x8x128x64xf16> {
  // CHECK: attn.attention ins(%[[Q]], %[[K]], %[[V]] : tensor<1x8x128x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>) outs(%[[O]] : tensor<1x8x128x64xf16>){{$}}
  %0 = attn.attention
      ins(%q, %k, %v : tensor<1x8x128x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
      outs(%o : tensor<1x8x128x64xf16>)
      {layout = bhsd, window_left = -1, window_right = -1, sink_tokens = 0, num_kv_splits = 1}
  return %0 : tensor<1x8x128x64xf16>
}

// CHECK-LABEL: func @with_lse
func.func @with_lse(%q: tensor<1x8x128x64xbf16>, %k: tensor<1x8x128x64xbf16>,
                    %v: tensor<1x8x128x32xbf16>, %o: tensor<1x8x128x32xbf16>,
                    %l: tensor<1x8x128xf32>)
    -> (tensor<1x8x128x32xbf16>, tensor<1x8x128xf32>) {
  // CHECK: %{{.*}}:2 = attn.attention ins({{.*}}) outs(%{{.*}}, %{{.*}} : tensor<1x8x128x32xbf16>, tensor<1x8x128xf32>) {causal}
  %0:2 = attn.attention
      ins(%q, %k, %v : tensor<1x8x128x64xbf16>, tensor<1x8x128x64xbf16>, tensor<1x8x128x32xbf16>)
      outs(%o, %l : tensor<1x8x128x32xbf16>, tensor<1x8x128xf32>) {causal}
  return %0#0, %0#1 : tensor<1x8x128x32xbf16>, tensor<1x8x128xf32>
}

// Dynamic dims; different key and value heads; clauses in any order.
// CHECK-LABEL: func @every_clause
func.func @every_clause(
    %q: tensor<?x?x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x4x?x32xf32>,
    %bias: tensor<?x1x?x?xf16>, %mask: tensor<?xi1>, %slopes: tensor<?x?xf32>,
    %sink: tensor<?xf32>, %lq: tensor<?xi32>, %lkv: i32, %qoff: index,
    %kvoff: tensor<?xi32>, %scale: f32, %o: tensor<?x?x?x32xf32>,
    %l: tensor<?x?x?xf32>) -> tensor<?x?x?x32xf32> {
  // CHECK: attn.attention ins
  // CHECK-SAME: bias(%{{.*}} : tensor<?x1x?x?xf16>) mask(%{{.*}} : tensor<?xi1>) alibi_slopes(%{{.*}} : tensor<?x?xf32>) sink(%{{.*}} : tensor<?xf32>)
  // CHECK-SAME: seqlens_q(%{{.*}} : tensor<?xi32>) seqlens_kv(%{{.*}} : i32) q_offset(%{{.*}} : index) kv_offset(%{{.*}} : tensor<?xi32>) scale_value(%{{.*}} : f32) outs(
  // CHECK-SAME: {causal, lse_base = two, lse_layout = bhs, num_kv_splits = 0, sink_tokens = 4, softcap = 5.000000e+01, window_left = 128, window_right = 0}
  %0:2 = attn.attention
      ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x4x?x32xf32>)
      scale_value(%scale : f32) kv_offset(%kvoff : tensor<?xi32>) q_offset(%qoff : index)
      seqlens_kv(%lkv : i32) seqlens_q(%lq : tensor<?xi32>)
      sink(%sink : tensor<?xf32>) alibi_slopes(%slopes : tensor<?x?xf32>)
      mask(%mask : tensor<?xi1>) bias(%bias : tensor<?x1x?x?xf16>)
      outs(%o, %l : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>)
      {causal, lse_base = two, lse_layout = bhs, num_kv_splits = 0, sink_tokens = 4,
       softcap = 50, window_left = 128, window_right = 0}
  return %0#0 : tensor<?x?x?x32xf32>
}

// Numbers keep their value however they are spelt and printed.
// CHECK-LABEL: func @numbers
func.func @numbers(%q: tensor<1x1x4x8xf32>, %o: tensor<1x1x4x8xf32>) {
  // CHECK: {scale = -5.000000e-01}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {scale = -0.5}
  // CHECK: {scale = 0.000000e+00, softcap = 1.000000e+00}
  %1 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {scale = 0 : i8, softcap = 1.0 : bf16}
  // A float without a decimal form is printed in hexadecimal, with its type.
  // CHECK: {scale = 0x41678C29C0000000 : f64}
  %2 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {scale = 12345678.0}
  // CHECK: {scale = -1.000000e+00, softcap = 2.550000e+02}
  %3 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {scale = -1, softcap = 255 : ui8}
  // CHECK: {diagonal_alignment = top_left, window_left = 2147483647}
  %4 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {window_left = 2147483647, diagonal_alignment = top_left}
  return
}

// Attributes of others stand apart from the options; the long spelling of an
// option is understood.
// CHECK-LABEL: func @attributes
func.func @attributes(%q: tensor<1x1x4x8xf32>, %o: tensor<1x1x4x8xf32>) {
  // CHECK: outs(%{{.*}} : tensor<1x1x4x8xf32>) attributes {mine, test.other = 3 : i64}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {} attributes {mine, test.other = 3}
  // CHECK: {causal, layout = bshd} attributes {mine}
  %1 = attn.attention ins(%q, %q, %q : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>)
      outs(%o : tensor<1x1x4x8xf32>) {layout = #attn<layout bshd>, causal} attributes {mine}
  return
}

// Element types: inputs of 8 bits have an output of any float type.
// CHECK-LABEL: func @element_types
func.func @element_types(%f64: tensor<1x1x4x8xf64>, %i8: tensor<1x1x4x8xi8>,
                         %ocp: tensor<1x1x4x8xf8E4M3FN>, %fnuz: tensor<1x1x4x8xf8E5M2FNUZ>,
                         %bf16: tensor<1x1x4x8xbf16>, %mask: tensor<4x4xi8>) {
  // CHECK-COUNT-4: attn.attention
  %0 = attn.attention ins(%f64, %f64, %f64 : tensor<1x1x4x8xf64>, tensor<1x1x4x8xf64>, tensor<1x1x4x8xf64>)
      mask(%mask : tensor<4x4xi8>) outs(%f64 : tensor<1x1x4x8xf64>)
  %1 = attn.attention ins(%i8, %i8, %i8 : tensor<1x1x4x8xi8>, tensor<1x1x4x8xi8>, tensor<1x1x4x8xi8>)
      outs(%bf16 : tensor<1x1x4x8xbf16>)
  %2 = attn.attention ins(%ocp, %ocp, %ocp : tensor<1x1x4x8xf8E4M3FN>, tensor<1x1x4x8xf8E4M3FN>, tensor<1x1x4x8xf8E4M3FN>)
      outs(%bf16 : tensor<1x1x4x8xbf16>)
  %3 = attn.attention ins(%fnuz, %fnuz, %fnuz : tensor<1x1x4x8xf8E5M2FNUZ>, tensor<1x1x4x8xf8E5M2FNUZ>, tensor<1x1x4x8xf8E5M2FNUZ>)
      outs(%fnuz : tensor<1x1x4x8xf8E5M2FNUZ>)
  return
}

// Empty problems are problems; zero-rank masks broadcast.
// CHECK-LABEL: func @empty
func.func @empty(%q: tensor<0x2x0x8xf32>, %k: tensor<0x1x0x8xf32>, %mask: tensor<i1>,
                 %o: tensor<0x2x0x8xf32>, %l: tensor<0x2x0xf32>) {
  // CHECK: mask(%{{.*}} : tensor<i1>) outs(
  %0:2 = attn.attention ins(%q, %k, %k : tensor<0x2x0x8xf32>, tensor<0x1x0x8xf32>, tensor<0x1x0x8xf32>)
      mask(%mask : tensor<i1>) outs(%o, %l : tensor<0x2x0x8xf32>, tensor<0x2x0xf32>)
  return
}

// Layout bshd on memrefs: strided views, preallocated output and lse, whose
// order of strides is free.
// CHECK-LABEL: func @bshd_memref
func.func @bshd_memref(%q: memref<2x16x8x64xf16, strided<[?, ?, ?, 1], offset: ?>>,
                       %k: memref<2x32x2x64xf16>, %v: memref<2x32x2x64xf16, 3>,
                       %bias: memref<16x32xf32, strided<[0, 1]>>,
                       %o: memref<2x16x8x64xf16>,
                       %l: memref<2x8x16xf32, strided<[128, 1, 8], offset: 3>>) {
  // CHECK: attn.attention ins({{.*}}) bias(%{{.*}} : memref<16x32xf32, strided<[0, 1]>>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : memref<2x16x8x64xf16>, memref<2x8x16xf32, strided<[128, 1, 8], offset: 3>>) {causal, diagonal_alignment = top_left, layout = bshd}
  attn.attention
      ins(%q, %k, %v : memref<2x16x8x64xf16, strided<[?, ?, ?, 1], offset: ?>>,
          memref<2x32x2x64xf16>, memref<2x32x2x64xf16, 3>)
      bias(%bias : memref<16x32xf32, strided<[0, 1]>>)
      outs(%o, %l : memref<2x16x8x64xf16>, memref<2x8x16xf32, strided<[128, 1, 8], offset: 3>>)
      {causal, layout = bshd, diagonal_alignment = top_left}
  return
}

// Layout thd, with each of its lse layouts.
// CHECK-LABEL: func @thd
func.func @thd(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %cu: tensor<4xi32>,
               %o: tensor<?x8x64xf16>, %hs: tensor<8x?xf32>, %sh: tensor<?x8xf32>,
               %padded: tensor<3x8x?xf32>) {
  // CHECK: cu_seqlens_q(%{{.*}} : tensor<4xi32>) cu_seqlens_kv(%{{.*}} : tensor<4xi32>) outs(%{{.*}}, %{{.*}} : tensor<?x8x64xf16>, tensor<8x?xf32>) {layout = thd}
  %0:2 = attn.attention ins(%q, %k, %k : tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>)
      cu_seqlens_q(%cu : tensor<4xi32>) cu_seqlens_kv(%cu : tensor<4xi32>)
      outs(%o, %hs : tensor<?x8x64xf16>, tensor<8x?xf32>) {layout = thd}
  // CHECK: {layout = thd, lse_layout = hs_packed}
  %1:2 = attn.attention ins(%q, %k, %k : tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>)
      cu_seqlens_q(%cu : tensor<4xi32>) cu_seqlens_kv(%cu : tensor<4xi32>)
      outs(%o, %hs : tensor<?x8x64xf16>, tensor<8x?xf32>) {layout = thd, lse_layout = hs_packed}
  // CHECK: {layout = thd, lse_layout = sh_packed}
  %2:2 = attn.attention ins(%q, %k, %k : tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>)
      cu_seqlens_q(%cu : tensor<4xi32>) cu_seqlens_kv(%cu : tensor<4xi32>)
      outs(%o, %sh : tensor<?x8x64xf16>, tensor<?x8xf32>) {layout = thd, lse_layout = sh_packed}
  // CHECK: {layout = thd, lse_base = e, lse_layout = bhs_padded}
  %3:2 = attn.attention ins(%q, %k, %k : tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>)
      cu_seqlens_q(%cu : tensor<4xi32>) cu_seqlens_kv(%cu : tensor<4xi32>)
      outs(%o, %padded : tensor<?x8x64xf16>, tensor<3x8x?xf32>)
      {layout = thd, lse_layout = bhs_padded, lse_base = e}
  return
}

// CHECK-LABEL: func @paged
func.func @paged(%q: memref<3x8x1x64xf16>, %pool: memref<?x2x16x64xf16>,
                 %len: memref<3xi32>, %table: memref<3x?xi32>, %o: memref<3x8x1x64xf16>) {
  // CHECK: seqlens_kv(%{{.*}} : memref<3xi32>) block_table(%{{.*}} : memref<3x?xi32>) outs(%{{.*}} : memref<3x8x1x64xf16>) {page_size = 16}
  attn.attention ins(%q, %pool, %pool : memref<3x8x1x64xf16>, memref<?x2x16x64xf16>, memref<?x2x16x64xf16>)
      seqlens_kv(%len : memref<3xi32>) block_table(%table : memref<3x?xi32>)
      outs(%o : memref<3x8x1x64xf16>) {page_size = 16}
  return
}

// CHECK-LABEL: func @thd_paged
func.func @thd_paged(%q: memref<?x8x64xf16>, %pool: memref<?x16x2x64xf16>, %len: memref<3xi32>,
                     %cu: memref<4xi32>, %table: memref<3x?xi32>, %o: memref<?x8x64xf16>) {
  // CHECK: seqlens_kv(%{{.*}} : memref<3xi32>) cu_seqlens_q(%{{.*}} : memref<4xi32>) block_table(%{{.*}} : memref<3x?xi32>) outs(%{{.*}} : memref<?x8x64xf16>) {layout = thd, page_size = 16}
  attn.attention ins(%q, %pool, %pool : memref<?x8x64xf16>, memref<?x16x2x64xf16>, memref<?x16x2x64xf16>)
      seqlens_kv(%len : memref<3xi32>) cu_seqlens_q(%cu : memref<4xi32>)
      block_table(%table : memref<3x?xi32>)
      outs(%o : memref<?x8x64xf16>) {layout = thd, page_size = 16}
  return
}

// CHECK-LABEL: func @online
func.func @online(%q: tensor<64x128xf16>, %k: tensor<?x128xf16>, %v: tensor<?x96xf16>,
                  %row: index, %col: index, %bias: tensor<64x?xf32>, %mask: tensor<1x?xi1>,
                  %slope: f32, %scale: f32, %acc: tensor<64x96xf32>, %m: tensor<64xf32>,
                  %l: tensor<64xf32>) {
  // CHECK: attn.online_attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x128xf16>, tensor<?x128xf16>, tensor<?x96xf16>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x96xf32>, tensor<64xf32>, tensor<64xf32>){{$}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<64x128xf16>, tensor<?x128xf16>, tensor<?x96xf16>)
      outs(%acc, %m, %l : tensor<64x96xf32>, tensor<64xf32>, tensor<64xf32>)
  // CHECK: at(%{{.*}}, %{{.*}}) bias(%{{.*}} : tensor<64x?xf32>) mask(%{{.*}} : tensor<1x?xi1>) alibi_slope(%{{.*}} : f32) scale_value(%{{.*}} : f32) outs
  // CHECK-SAME: {causal, sink_tokens = 2, softcap = 3.000000e+01, window_left = 7}
  %1:3 = attn.online_attention ins(%q, %k, %v : tensor<64x128xf16>, tensor<?x128xf16>, tensor<?x96xf16>)
      at(%row, %col) scale_value(%scale : f32) alibi_slope(%slope : f32)
      mask(%mask : tensor<1x?xi1>) bias(%bias : tensor<64x?xf32>)
      outs(%acc, %m, %l : tensor<64x96xf32>, tensor<64xf32>, tensor<64xf32>)
      {causal, sink_tokens = 2, softcap = 30, window_left = 7}
  return
}

// CHECK-LABEL: func @online_memref
func.func @online_memref(%q: memref<?x8xf64, strided<[?, 1], offset: ?>>, %k: memref<?x8xf64>,
                         %acc: memref<?x8xf64>, %m: memref<?xf64>, %l: memref<?xf64>) {
  // CHECK: attn.online_attention ins({{.*}}) outs({{.*}}) {scale = 2.500000e-01}
  attn.online_attention ins(%q, %k, %k : memref<?x8xf64, strided<[?, 1], offset: ?>>, memref<?x8xf64>, memref<?x8xf64>)
      outs(%acc, %m, %l : memref<?x8xf64>, memref<?xf64>, memref<?xf64>) {scale = 0.25}
  return
}

// CHECK-LABEL: func @finalize
func.func @finalize(%acc: tensor<64x128xf32>, %m: tensor<64xf32>, %l: tensor<64xf32>, %sink: f32,
                    %o: tensor<64x128xf16>, %lse: tensor<64xf32>) {
  // CHECK: attn.finalize ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<64x128xf16>){{$}}
  %0 = attn.finalize ins(%acc, %m, %l : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
      outs(%o : tensor<64x128xf16>)
  // CHECK: sink(%{{.*}} : f32) outs(%{{.*}}, %{{.*}} : tensor<64x128xf16>, tensor<64xf32>) {lse_base = two}
  %1:2 = attn.finalize ins(%acc, %m, %l : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
      sink(%sink : f32) outs(%o, %lse : tensor<64x128xf16>, tensor<64xf32>) {lse_base = two}
  return
}

// CHECK-LABEL: func @finalize_memref
func.func @finalize_memref(%acc: memref<?x?xf64>, %m: memref<?xf64>, %l: memref<?xf64>,
                           %o: memref<?x?xf64>, %lse: memref<?xf32, strided<[?], offset: ?>>) {
  // CHECK: attn.finalize ins({{.*}}) outs(%{{.*}}, %{{.*}} : memref<?x?xf64>, memref<?xf32, strided<[?], offset: ?>>)
  attn.finalize ins(%acc, %m, %l : memref<?x?xf64>, memref<?xf64>, memref<?xf64>)
      outs(%o, %lse : memref<?x?xf64>, memref<?xf32, strided<[?], offset: ?>>)
  return
}

// One state or many, any rank without a layout; the output may be rounded.
// CHECK-LABEL: func @merge
func.func @merge(%o1: tensor<2x8x64x128xf32>, %l1: tensor<2x8x64xf32>, %o2: tensor<?x?x?x128xf32>,
                 %l2: tensor<?x?x?xf32>, %sink: tensor<8xf32>, %o: tensor<2x8x64x128xf16>) {
  // CHECK: attn.merge_states (%{{.*}}, %{{.*}} : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>) outs(%{{.*}} : tensor<2x8x64x128xf16>){{$}}
  %0 = attn.merge_states (%o1, %l1 : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>)
      outs(%o : tensor<2x8x64x128xf16>) {lse_base = e}
  // CHECK: attn.merge_states (%{{.*}}, %{{.*}} : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>), (%{{.*}}, %{{.*}} : tensor<?x?x?x128xf32>, tensor<?x?x?xf32>) sink(%{{.*}} : tensor<8xf32>) outs(%{{.*}}, %{{.*}} : {{.*}}) {lse_base = two}
  %1:2 = attn.merge_states (%o1, %l1 : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>),
      (%o2, %l2 : tensor<?x?x?x128xf32>, tensor<?x?x?xf32>)
      sink(%sink : tensor<8xf32>)
      outs(%o, %l1 : tensor<2x8x64x128xf16>, tensor<2x8x64xf32>) {lse_base = two}
  return
}

// CHECK-LABEL: func @merge_layouts
func.func @merge_layouts(%v: tensor<16xf32>, %s: tensor<f32>, %b: memref<2x16x8x64xbf16>,
                         %bl: memref<2x8x16xf32>, %bo: memref<2x16x8x64xbf16>,
                         %t: tensor<?x8x64xf32>, %hs: tensor<8x?xf32>, %sh: tensor<?x8xf32>,
                         %sink: tensor<8xf32>, %cu: tensor<?xi32>) {
  // CHECK: attn.merge_states (%{{.*}}, %{{.*}} : tensor<16xf32>, tensor<f32>) outs
  %0 = attn.merge_states (%v, %s : tensor<16xf32>, tensor<f32>) outs(%v : tensor<16xf32>)
  // CHECK: outs(%{{.*}} : memref<2x16x8x64xbf16>) {layout = bshd}
  attn.merge_states (%b, %bl : memref<2x16x8x64xbf16>, memref<2x8x16xf32>)
      outs(%bo : memref<2x16x8x64xbf16>) {layout = bshd}
  // CHECK: sink(%{{.*}} : tensor<8xf32>) cu_seqlens_q(%{{.*}} : tensor<?xi32>) outs({{.*}}) {layout = thd}
  %1 = attn.merge_states (%t, %hs : tensor<?x8x64xf32>, tensor<8x?xf32>)
      cu_seqlens_q(%cu : tensor<?xi32>) sink(%sink : tensor<8xf32>)
      outs(%t : tensor<?x8x64xf32>) {layout = thd}
  // CHECK: {layout = thd, lse_layout = sh_packed}
  %2 = attn.merge_states (%t, %sh : tensor<?x8x64xf32>, tensor<?x8xf32>)
      outs(%t : tensor<?x8x64xf32>) {layout = thd, lse_layout = sh_packed}
  return
}

// CHECK-LABEL: func @splits
func.func @splits(%q: tensor<1x8x16x64xf16>, %i: index, %o: tensor<1x8x16x64xf32>, %p: tensor<4x1x8x16x64xf32>,
                  %l: tensor<4x1x8x16xf32>) {
  // CHECK: outs(%{{.*}}, %{{.*}} : tensor<4x1x8x16x64xf32>, tensor<4x1x8x16xf32>) {num_kv_splits = 4}
  %0:2 = attn.attention ins(%q, %q, %q : tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>)
      outs(%p, %l : tensor<4x1x8x16x64xf32>, tensor<4x1x8x16xf32>) {num_kv_splits = 4}
  // CHECK: kv_split(%{{.*}} : index) outs(%{{.*}} : tensor<1x8x16x64xf32>) {num_kv_splits = 4}
  %1 = attn.attention ins(%q, %q, %q : tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>, tensor<1x8x16x64xf16>)
      kv_split(%i : index) outs(%o : tensor<1x8x16x64xf32>) {num_kv_splits = 4}
  return
}

// CHECK-LABEL: func @merge_stack
func.func @merge_stack(%p: memref<4x8x64x128xf32>, %l: memref<4x8x64xf32>,
                       %o: memref<8x64x128xbf16>, %o1: memref<8x64x128xf32>,
                       %l1: memref<8x64xf32>) {
  // CHECK: attn.merge_states (%{{.*}}, %{{.*}} : memref<4x8x64x128xf32>, memref<4x8x64xf32>) outs(%{{.*}}, %{{.*}} : memref<8x64x128xbf16>, memref<8x64xf32>)
  attn.merge_states (%p, %l : memref<4x8x64x128xf32>, memref<4x8x64xf32>)
      outs(%o, %l1 : memref<8x64x128xbf16>, memref<8x64xf32>)
  // In place.
  // CHECK: attn.merge_states (%[[O:.*]], %[[L:.*]] : {{.*}}) outs(%[[O]], %[[L]] :
  attn.merge_states (%o1, %l1 : memref<8x64x128xf32>, memref<8x64xf32>)
      outs(%o1, %l1 : memref<8x64x128xf32>, memref<8x64xf32>)
  return
}

// CHECK-LABEL: func @names
// CHECK-SAME: {attn.name = "query"}
// CHECK-SAME: {attn.name = "output"}
func.func @names(%q: tensor<1xf32> {attn.name = "query"})
    -> (tensor<1xf32> {attn.name = "output"}) {
  return %q : tensor<1xf32>
}

// CHECK-LABEL: func @lowering_config
// CHECK: attributes {attn.lowering_config = #attn.lowering_config<tile_q = 128, early_exps = 14>}
func.func @lowering_config(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<early_exps = 14, tile_q = 128>}
  return
}
