// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 | FileCheck %s

// The splits are the grid's second dim. Equal ones of whole tiles need no mask;
// O is f32 in rows of 16 bytes a lane.
// CHECK-LABEL: func.func @split(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c16{{[_0-9]*}}, %c4{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK:         %[[SPLIT:.*]] = gpu.block_id  y
// CHECK:         memref.subview %arg1[{{.*}}] [1, 1, 256, 64]
// CHECK:         memref.subview %arg3[%[[SPLIT]],
// CHECK:         vector.transfer_write {{.*}} vector<1x4xf32>, memref<16x64xf32
func.func @split(%q: memref<2x8x16x64xf16>, %k: memref<2x8x1024x64xf16>, %o: memref<4x2x8x16x64xf32>, %l: memref<4x2x8x16xf32>) {
  attn.attention ins(%q, %k, %k : memref<2x8x16x64xf16>, memref<2x8x1024x64xf16>, memref<2x8x1024x64xf16>) outs(%o, %l : memref<4x2x8x16x64xf32>, memref<4x2x8x16xf32>) {num_kv_splits = 4}
  return
}
