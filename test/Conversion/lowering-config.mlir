// What `attn.lowering_config` on an op overrides stands on the kernel; the rule
// takes the rest.
// RUN: attn-opt %s --attn-to-gpu=chip=gfx950 -split-input-file | FileCheck %s

// CHECK-LABEL: gpu.func @pacing_attention
// CHECK-SAME:    attn.lowering_config = #attn.lowering_config<tile_q = 256, tile_kv = 64, split_v = 1, stages = 2, clusters_qk = 2, clusters_pv = 1, early_exps = 8>
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
