// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 -split-input-file | FileCheck %s

// The rows of a group's heads are those of a tile, so a workgroup a batch and group:
// row r is row r / 4 of head r % 4. A last row sees all keys: causal has gone.
// CHECK-LABEL: func.func @decode(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c6{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK:       gpu.func @decode_attention(%[[Q:[^:]*]]: memref<3x8x1x64xf16>
// CHECK:         vector.load %[[Q]][{{.*}}] : memref<3x8x1x64xf16>, vector<8xf16>
// CHECK-NOT:     arith.cmpi sge
// Readers of O keep the distance that LLVM may miscount behind this.
// CHECK:         rocdl.s.nop 11
// CHECK:         arith.remui %[[ROW:.*]], %c4_i32
// CHECK:         arith.divui %[[ROW]], %c4_i32
// CHECK:         vector.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<3x8x1x64xf16>, vector<8xf16>
func.func @decode(%q: memref<3x8x1x64xf16>, %k: memref<3x2x1024x64xf16>, %o: memref<3x8x1x64xf16>, %l: memref<3x8x1xf32>) {
  attn.attention ins(%q, %k, %k : memref<3x8x1x64xf16>, memref<3x2x1024x64xf16>, memref<3x2x1024x64xf16>) outs(%o, %l : memref<3x8x1x64xf16>, memref<3x8x1xf32>) {causal}
  return
}

// -----

// Heads that share both key and value head: 8 / 2 and 8 / 4 have 2 in common.
// 64 rows a tile of 128; the sink is read by lanes.
// CHECK-LABEL: func.func @heads(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c12{{[_0-9]*}},
// CHECK:       memref.load %{{.*}}[%{{.*}}] : memref<8xf32>
func.func @heads(%q: memref<3x8x32x64xf16>, %k: memref<3x2x1024x64xf16>, %v: memref<3x4x1024x64xf16>, %s: memref<8xf32>, %o: memref<3x8x32x64xf16>) {
  attn.attention ins(%q, %k, %v : memref<3x8x32x64xf16>, memref<3x2x1024x64xf16>, memref<3x4x1024x64xf16>) sink(%s : memref<8xf32>) outs(%o : memref<3x8x32x64xf16>) {causal}
  return
}

// -----

// Rows that fill tiles keep heads apart.
// CHECK-LABEL: func.func @prefill(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c24{{[_0-9]*}},
func.func @prefill(%q: memref<3x8x128x64xf16>, %k: memref<3x2x1024x64xf16>, %o: memref<3x8x128x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<3x8x128x64xf16>, memref<3x2x1024x64xf16>, memref<3x2x1024x64xf16>) outs(%o : memref<3x8x128x64xf16>)
  return
}

// -----

// A group's heads of a bias within reach of one resource, and out of it.
// CHECK-LABEL: func.func @bias(
// CHECK:         gpu.launch_func {{.*}} blocks in (%c6{{[_0-9]*}},
// CHECK:         gpu.launch_func {{.*}} blocks in (%c24{{[_0-9]*}},
func.func @bias(%q: memref<3x8x4x64xf16>, %k: memref<3x2x1024x64xf16>, %o: memref<3x8x4x64xf16>, %near: memref<8x4x1024xf16>, %far: memref<8x4x1024xf16, strided<[134217728, 1024, 1]>>) {
  attn.attention ins(%q, %k, %k : memref<3x8x4x64xf16>, memref<3x2x1024x64xf16>, memref<3x2x1024x64xf16>) bias(%near : memref<8x4x1024xf16>) outs(%o : memref<3x8x4x64xf16>)
  attn.attention ins(%q, %k, %k : memref<3x8x4x64xf16>, memref<3x2x1024x64xf16>, memref<3x2x1024x64xf16>) bias(%far : memref<8x4x1024xf16, strided<[134217728, 1024, 1]>>) outs(%o : memref<3x8x4x64xf16>)
  return
}

// -----

// Rows and heads that are not known: the former pack, the latter cannot.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         memref.dim %arg0, %c1
// CHECK-NOT:     %c4
// CHECK:         gpu.launch_func @dynamic_attention
func.func @dynamic(%q: memref<2x?x?x64xf16>, %k: memref<2x?x1024x64xf16>, %o: memref<2x?x?x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<2x?x?x64xf16>, memref<2x?x1024x64xf16>, memref<2x?x1024x64xf16>) outs(%o : memref<2x?x?x64xf16>)
  return
}

// CHECK-LABEL: func.func @rows(
// CHECK:         arith.muli %{{.*}}, %c4{{[_0-9]*}} : index
// CHECK:         gpu.launch_func @rows_attention
func.func @rows(%q: memref<2x8x?x64xf16>, %k: memref<2x2x1024x64xf16>, %o: memref<2x8x?x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<2x8x?x64xf16>, memref<2x2x1024x64xf16>, memref<2x2x1024x64xf16>) outs(%o : memref<2x8x?x64xf16>)
  return
}
