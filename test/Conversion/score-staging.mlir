// RUN: attn-opt %s --attn-to-rocdl=chip=gfx950 | FileCheck %s

// Whole dwords go to LDS by DMA, 128 bytes of a row at once; the second half of a row is
// the instruction's offset. No lane reads them from global memory. Behind the loop's
// barrier a half of them is read between MFMAs.
// CHECK-LABEL: gpu.module @f32_attention
// CHECK-DAG:   %[[MORE:.*]] = llvm.mlir.constant(128 : i32)
// CHECK:       rocdl.raw.ptr.buffer.load.lds %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[MORE]],
// CHECK:       rocdl.s.setprio 1
// CHECK:       rocdl.mfma
// CHECK:       llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:       rocdl.mfma
// CHECK:       rocdl.s.setprio 0
func.func @f32(%q: memref<1x1x64x64xf16>, %b: memref<64x64xf32>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x64x64xf16>, memref<1x1x64x64xf16>, memref<1x1x64x64xf16>) bias(%b : memref<64x64xf32>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// Of narrow ones all of a tile has room in registers.
// CHECK-LABEL: gpu.module @narrow_attention
// CHECK:       rocdl.raw.ptr.buffer.load.lds
// CHECK-NOT:   rocdl.s.setprio
// CHECK:       llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi8>
// CHECK-NOT:   rocdl.s.setprio
// CHECK:       llvm.return
func.func @narrow(%q: memref<1x1x64x64xf16>, %m: memref<64x64xi8>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x64x64xf16>, memref<1x1x64x64xf16>, memref<1x1x64x64xf16>) mask(%m : memref<64x64xi8>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// Rows in parts of dwords, and packed heads, go to registers.
// CHECK-LABEL: gpu.module @odd_attention
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : vector<3xi32>
func.func @odd(%q: memref<1x1x64x64xf16>, %k: memref<1x1x63x64xf16>, %b: memref<64x63xf16>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<1x1x64x64xf16>, memref<1x1x63x64xf16>, memref<1x1x63x64xf16>) bias(%b : memref<64x63xf16>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// CHECK-LABEL: gpu.module @packed_attention
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK-NOT:   llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
func.func @packed(%q: memref<1x4x1x64xf16>, %k: memref<1x1x64x64xf16>, %b: memref<4x1x64xf32>, %o: memref<1x4x1x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<1x4x1x64xf16>, memref<1x1x64x64xf16>, memref<1x1x64x64xf16>) bias(%b : memref<4x1x64xf32>) outs(%o : memref<1x4x1x64xf16>)
  return
}
