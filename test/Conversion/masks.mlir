// Where a tile may hold keys that a row does not see, and only there, keys are
// selected: in a branch that the tile's number guards.
// RUN: attn-opt %s --attn-to-gpu=chip=gfx950 -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 -split-input-file | FileCheck %s

// A static multiple of the tile: no mask, in the loop or before it.
// CHECK-LABEL: gpu.func @whole_attention
// CHECK-NOT:     arith.cmpi sge
// CHECK-NOT:     arith.cmpi sgt
// CHECK:         scf.for
// CHECK-NOT:     arith.cmpi sge
// CHECK-NOT:     arith.cmpi sgt
// CHECK:         gpu.return
func.func @whole(%q: memref<1x1x256x64xf16>, %k: memref<1x1x512x64xf16>, %o: memref<1x1x256x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<1x1x256x64xf16>, memref<1x1x512x64xf16>, memref<1x1x512x64xf16>) outs(%o : memref<1x1x256x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<tile_q = 256>}
  return
}

// -----

// One key more: the last tile, number 8, alone is selected in.
// CHECK-LABEL: gpu.func @ragged_attention
// CHECK-DAG:     %[[WHOLE:.*]] = arith.constant 8 : i32
// CHECK:         scf.for
// CHECK:           arith.cmpi sge, %{{.*}}, %[[WHOLE]]
// CHECK:           scf.if
// CHECK:             %[[NEEDS:.*]] = arith.cmpi sge, %{{.*}}, %[[WHOLE]]
// CHECK:             llvm.intr.expect %[[NEEDS]]
// CHECK-NEXT:        scf.if
// CHECK:               arith.cmpi sgt
// CHECK:               arith.select
func.func @ragged(%q: memref<1x1x256x64xf16>, %k: memref<1x1x513x64xf16>, %o: memref<1x1x256x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<1x1x256x64xf16>, memref<1x1x513x64xf16>, memref<1x1x513x64xf16>) outs(%o : memref<1x1x256x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<tile_q = 256>}
  return
}
