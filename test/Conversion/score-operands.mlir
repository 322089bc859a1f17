// RUN: attn-opt %s --attn-to-rocdl=chip=gfx942 | FileCheck %s

// Which rows of a bias or mask are read as they are, and which by the dwords that
// their elements lie in.

// CHECK-LABEL: gpu.module @whole_attention
// CHECK-NOT:   llvm.intr.fshr
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK-NOT:   llvm.intr.fshr
func.func @whole(%q: memref<1x1x64x64xf16>, %b: memref<64x64xf16>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x64x64xf16>, memref<1x1x64x64xf16>, memref<1x1x64x64xf16>) bias(%b : memref<64x64xf16>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// Base and end go to whole dwords; a lane shifts by what its offset has beside them.
// CHECK-LABEL: gpu.module @any_strides_attention
// CHECK:       %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK:       llvm.and %[[ADDRESS]],
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : vector<3xi32>
// CHECK:       llvm.intr.fshr
// CHECK-NOT:   rocdl.raw.ptr.buffer.load {{.*}} : i16
func.func @any_strides(%q: memref<1x1x64x64xf16>, %b: memref<64x64xf16, strided<[?, 1], offset: ?>>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x64x64xf16>, memref<1x1x64x64xf16>, memref<1x1x64x64xf16>) bias(%b : memref<64x64xf16, strided<[?, 1], offset: ?>>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// An odd number of bytes a row; twelve, and one dword more, hold eight of a lane.
// CHECK-LABEL: gpu.module @odd_keys_attention
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK:       llvm.intr.fshr
// CHECK-NOT:   rocdl.raw.ptr.buffer.load {{.*}} : i8
func.func @odd_keys(%q: memref<1x1x64x64xf16>, %k: memref<1x1x63x64xf16>, %m: memref<64x63xi1>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<1x1x64x64xf16>, memref<1x1x63x64xf16>, memref<1x1x63x64xf16>) mask(%m : memref<64x63xi1>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// Keys that are not known to be neighbours.
// CHECK-LABEL: gpu.module @apart_attention
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : i16
// CHECK-NOT:   llvm.intr.fshr
func.func @apart(%q: memref<1x1x64x64xf16>, %b: memref<64x64xf16, strided<[?, ?], offset: ?>>, %o: memref<1x1x64x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x64x64xf16>, memref<1x1x64x64xf16>, memref<1x1x64x64xf16>) bias(%b : memref<64x64xf16, strided<[?, ?], offset: ?>>) outs(%o : memref<1x1x64x64xf16>)
  return
}

// Global memory by name is global memory.
// CHECK-LABEL: gpu.module @global_attention
// CHECK:       rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK-LABEL: gpu.module @global_merge
func.func @global(%q: memref<1x1x64x64xf16, 1>, %b: memref<64x64xf16, 1>, %o: memref<1x1x64x64xf16, 1>, %l: memref<1x1x64xf32, 1>) {
  attn.attention ins(%q, %q, %q : memref<1x1x64x64xf16, 1>, memref<1x1x64x64xf16, 1>, memref<1x1x64x64xf16, 1>) bias(%b : memref<64x64xf16, 1>) outs(%o, %l : memref<1x1x64x64xf16, 1>, memref<1x1x64xf32, 1>)
  attn.merge_states (%o, %l : memref<1x1x64x64xf16, 1>, memref<1x1x64xf32, 1>) outs(%o, %l : memref<1x1x64x64xf16, 1>, memref<1x1x64xf32, 1>)
  return
}
