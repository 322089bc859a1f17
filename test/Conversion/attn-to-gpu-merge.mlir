// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 --attn-buffer-resources -split-input-file | FileCheck %s --check-prefix=ADDRESS

// Without gaps the rows are one dim; a row of 128 columns takes 32 lanes.
// CHECK-LABEL: func.func @stack(
// CHECK:         memref.reinterpret_cast {{.*}} to memref<8x128xbf16>
// CHECK:         memref.reinterpret_cast {{.*}} to memref<20x8x128xf32>
// CHECK:         memref.reinterpret_cast {{.*}} to memref<20x8xf32>
// CHECK:         gpu.launch_func @stack_merge::@stack_merge blocks in (%c1
// CHECK-SAME:      threads in (%c256
// CHECK:       gpu.func @stack_merge(%{{.*}}: memref<20x8x128xf32> {attn.name = "output0"}
// CHECK-SAME:    attn.may_alias
// Sixteen states at a time: those behind the twentieth have no weight.
// CHECK:         scf.for
// CHECK-COUNT-16:  vector.load {{.*}} vector<4xf32>
// CHECK-NOT:       vector.load
// CHECK:         arith.truncf {{.*}} vector<4xbf16>
// CHECK:         vector.store
// CHECK:         memref.store

// Arguments may overlap, and every access is a 64-bit address.
// ADDRESS-LABEL: gpu.func @stack_merge(
// ADDRESS-NOT:     llvm.noalias
// ADDRESS:         llvm.getelementptr {{.*}} -> !llvm.ptr<1>, f32
// ADDRESS:         llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xf32>
// ADDRESS:         llvm.store {{.*}} {alignment = 2 : i64} : vector<4xbf16>, !llvm.ptr<1>
func.func @stack(%o: memref<20x2x4x128xf32>, %l: memref<20x2x4xf32>, %out: memref<2x4x128xbf16>, %lse: memref<2x4xf32>) {
  attn.merge_states (%o, %l : memref<20x2x4x128xf32>, memref<20x2x4xf32>) outs(%out, %lse : memref<2x4x128xbf16>, memref<2x4xf32>)
  return
}

// -----

// With gaps a row has an index for every dim; without lse nothing stores one.
// CHECK-LABEL: func.func @strided(
// CHECK-NOT:     memref.reinterpret_cast
// CHECK:         gpu.launch_func @strided_merge::@strided_merge
// CHECK:       gpu.func @strided_merge(
// CHECK:         arith.remui
// CHECK-COUNT-2: vector.load {{.*}} vector<8xf16>
// CHECK-NOT:     memref.store
func.func @strided(%a: memref<3x4x128xf16, strided<[768, 192, 1]>>, %b: memref<3x4x128xf16>, %l: memref<4x3xf32>, %out: memref<3x4x128xf16>) {
  attn.merge_states (%a, %l : memref<3x4x128xf16, strided<[768, 192, 1]>>, memref<4x3xf32>), (%b, %l : memref<3x4x128xf16>, memref<4x3xf32>) outs(%out : memref<3x4x128xf16>) {layout = thd}
  return
}

// -----

// Nothing to do.
// CHECK-LABEL: func.func @empty(
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @empty(%o: memref<0x8xf32>, %l: memref<0xf32>, %out: memref<0x8xf32>) {
  attn.merge_states (%o, %l : memref<0x8xf32>, memref<0xf32>) outs(%out : memref<0x8xf32>)
  return
}
