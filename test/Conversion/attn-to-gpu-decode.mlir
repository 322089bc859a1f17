// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 -split-input-file | FileCheck %s

// The heads of a group are the rows of a tile, so a workgroup a batch and group.
// A last row sees all keys: causal has gone.
// CHECK-LABEL: func.func @decode(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c6{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK:       gpu.func @decode_attention(%[[Q:[^:]*]]: memref<3x8x1x64xf16>
// CHECK:         memref.subview %[[Q]]{{.*}} [1, 4, 1, 64] {{.*}} to memref<4x64xf16, strided<[64, 1]
// CHECK-NOT:     arith.cmpi sge
func.func @decode(%q: memref<3x8x1x64xf16>, %k: memref<3x2x1024x64xf16>, %o: memref<3x8x1x64xf16>, %l: memref<3x8x1xf32>) {
  attn.attention ins(%q, %k, %k : memref<3x8x1x64xf16>, memref<3x2x1024x64xf16>, memref<3x2x1024x64xf16>) outs(%o, %l : memref<3x8x1x64xf16>, memref<3x8x1xf32>) {causal}
  return
}

// -----

// What depends on the head keeps heads apart.
// CHECK-LABEL: func.func @sink(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c24{{[_0-9]*}},
func.func @sink(%q: memref<3x8x1x64xf16>, %k: memref<3x2x1024x64xf16>, %s: memref<8xf32>, %o: memref<3x8x1x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<3x8x1x64xf16>, memref<3x2x1024x64xf16>, memref<3x2x1024x64xf16>) sink(%s : memref<8xf32>) outs(%o : memref<3x8x1x64xf16>)
  return
}
