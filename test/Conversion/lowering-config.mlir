// What `attn.lowering_config` on an op overrides stands on the kernel; the rule
// takes the rest.
// RUN: attn-opt %s --attn-to-gpu=chip=gfx950 -split-input-file | FileCheck %s

// CHECK-LABEL: gpu.func @pacing_attention
// CHECK-SAME:    attn.lowering_config = #attn.lowering_config<tile_q = 128, tile_kv = 64, split_v = 1, stages = 2, clusters_qk = 2, clusters_pv = 1, early_exps = 8>
func.func @pacing(%q: memref<1x1x256x128xbf16>, %o: memref<1x1x256x128xbf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x256x128xbf16>, memref<1x1x256x128xbf16>, memref<1x1x256x128xbf16>)
      outs(%o : memref<1x1x256x128xbf16>)
      attributes {attn.lowering_config = #attn.lowering_config<clusters_qk = 2, early_exps = 8>}
  return
}

// -----

// CHECK-LABEL: gpu.func @plain_attention
// CHECK-SAME:    attn.lowering_config = #attn.lowering_config<tile_q = 128, tile_kv = 64, split_v = 2, stages = 1>
func.func @plain(%q: memref<1x1x256x128xbf16>, %o: memref<1x1x256x128xbf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x256x128xbf16>, memref<1x1x256x128xbf16>, memref<1x1x256x128xbf16>)
      outs(%o : memref<1x1x256x128xbf16>)
      attributes {attn.lowering_config = #attn.lowering_config<split_v = 2, stages = 1>}
  return
}

// -----

// Rows of a workgroup by makespan. 32 causal heads of 2048 rows are 256 tiles of
// 256 rows, one a compute unit, so that the heaviest one is all: smaller tiles.
// CHECK-LABEL: gpu.func @one_a_unit_attention
// CHECK-SAME:    <tile_q = 128,
func.func @one_a_unit(%q: memref<2x16x2048x128xbf16>, %o: memref<2x16x2048x128xbf16>) {
  attn.attention ins(%q, %q, %q : memref<2x16x2048x128xbf16>, memref<2x16x2048x128xbf16>, memref<2x16x2048x128xbf16>)
      outs(%o : memref<2x16x2048x128xbf16>) {causal}
  return
}

// -----

// They need no help where all weigh the same,
// CHECK-LABEL: gpu.func @not_causal_attention
// CHECK-SAME:    <tile_q = 256,
func.func @not_causal(%q: memref<2x16x2048x128xbf16>, %o: memref<2x16x2048x128xbf16>) {
  attn.attention ins(%q, %q, %q : memref<2x16x2048x128xbf16>, memref<2x16x2048x128xbf16>, memref<2x16x2048x128xbf16>)
      outs(%o : memref<2x16x2048x128xbf16>)
  return
}

// -----

// or where there are enough of them.
// CHECK-LABEL: gpu.func @many_attention
// CHECK-SAME:    <tile_q = 256,
func.func @many(%q: memref<8x32x2048x128xbf16>, %o: memref<8x32x2048x128xbf16>) {
  attn.attention ins(%q, %q, %q : memref<8x32x2048x128xbf16>, memref<8x32x2048x128xbf16>, memref<8x32x2048x128xbf16>)
      outs(%o : memref<8x32x2048x128xbf16>) {causal}
  return
}

// -----

// Few rows leave one group of waves idle, or half the keys to each.
// CHECK-LABEL: gpu.func @one_row_attention
// CHECK-SAME:    workgroup(%{{.*}} : memref<16640xbf16, #gpu.address_space<workgroup>>
// CHECK-SAME:    <tile_q = 128,
func.func @one_row(%q: memref<1x8x1x128xbf16>, %k: memref<1x8x4096x128xbf16>, %o: memref<1x8x1x128xbf16>) {
  attn.attention ins(%q, %k, %k : memref<1x8x1x128xbf16>, memref<1x8x4096x128xbf16>, memref<1x8x4096x128xbf16>)
      outs(%o : memref<1x8x1x128xbf16>)
  return
}
