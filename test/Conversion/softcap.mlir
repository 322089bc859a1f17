// Softcap alone: the greatest score of a tile, without its sign, decides which arm
// both dot clusters take: tanh itself, or a polynomial of packed f32. Nothing spills.
// RUN: attn-compile %s --chip=gfx942 --emit=asm | FileCheck %s
// RUN: attn-compile %s --chip=gfx950 --emit=asm | FileCheck %s --check-prefixes=CHECK,GFX950

// CHECK-LABEL:  alone_attention:
// CHECK:        s_cmp_eq_u64 [[BEYOND:s\[[0-9:]+\]]], 0
// CHECK:        s_cbranch_scc1 [[WITHIN:.LBB[0-9_]+]]
// CHECK:        s_barrier
// CHECK:        v_rcp_f32
// CHECK:      [[WITHIN]]:
// CHECK:        s_barrier
// On gfx950 packed f32 does not hide behind an MFMA, so half of it is single.
// GFX950:       v_fmaak_f32 [[U:v[0-9]+]], [[S:v[0-9]+]], [[S]]
// CHECK:        v_pk_fma_f32 [[PAIR:v\[[0-9:]+\]]], [[SCORES:v\[[0-9:]+\]]], [[SCORES]]
// CHECK-NOT:    v_rcp_f32
// CHECK:        s_barrier
// CHECK:        v_max3_f32 {{v[0-9]+}}, {{v[0-9]+|\|v[0-9]+\|}}, |{{v[0-9]+}}|, |{{v[0-9]+}}|
// CHECK:        .vgpr_spill_count: 0
func.func @alone(%q: memref<1x1x256x128xbf16>, %o: memref<1x1x256x128xbf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x256x128xbf16>, memref<1x1x256x128xbf16>, memref<1x1x256x128xbf16>)
      outs(%o : memref<1x1x256x128xbf16>) {softcap = 30}
  return
}
