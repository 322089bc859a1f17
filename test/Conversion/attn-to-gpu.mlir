// RUN: attn-opt %s --attn-to-gpu=chip=gfx950 -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: attn-opt %s --attn-to-gpu=chip=gfx942 -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942

// The host launches a grid of (batch, head, q tile) in place of the op.
// CHECK: module attributes {gpu.container_module}
// CHECK-LABEL: func.func @f(
// CHECK-NOT:     attn.attention
// CHECK:         gpu.launch_func @f_attention::@f_attention blocks in (%[[N:c8[_0-9]*]], {{.*}}) threads in (%[[T:c512[_0-9]*]], {{.*}}) args(
// CHECK:         return

// CHECK:       gpu.module @f_attention [#rocdl.target<{{.*}}chip = "gfx9
// CHECK:         gpu.func @f_attention(%[[Q:[^:]*]]: memref<2x2x300x64xf16> {attn.name = "query"}
// GFX950-SAME:   workgroup({{.*}} : memref<4160xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}
// GFX942-SAME:   workgroup({{.*}} : memref<4096xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}
// CHECK-SAME:    kernel attributes {
// CHECK-SAME:    attn.lowering_config = #attn.lowering_config<tile_q = 256, tile_kv = 64, split_v = 1, stages = 2, clusters_qk = 1, clusters_pv = 1, early_exps = 16>
// CHECK-SAME:    known_block_size = array<i32: 512, 1, 1>
// CHECK-SAME:    ["amdgpu-agpr-alloc", "0"]

// One (batch, head) of an operand; ragged edges are out-of-bounds reads.
// CHECK:         memref.subview %[[Q]]
// CHECK:         vector.transfer_read {{.*}} {in_bounds = [false, true]} : memref<300x64xf16
// GFX950-SAME:   vector<1x8xf16>
// Tiles reach LDS as wide as the chip's DMA.
// GFX950:        vector.transfer_read {{.*}} vector<1x8xf16>
// GFX950:        vector.store {{.*}} {alignment = 16 : i64} : memref<4160xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// GFX942:        vector.store {{.*}} {alignment = 4 : i64} : memref<4096xf16, #gpu.address_space<workgroup>>, vector<2xf16>

// Two tiles a round; the barrier is fenced against MachineSink.
// CHECK:         scf.for
// GFX950:          amdgpu.mfma 32x32x16
// GFX942:          amdgpu.mfma 32x32x8
// CHECK:           rocdl.ballot
// CHECK:           llvm.inline_asm has_side_effects {{.*}}"~{memory}"
// CHECK-NEXT:      rocdl.s.barrier
// CHECK-NEXT:      llvm.inline_asm has_side_effects {{.*}}"~{memory}"
// GFX950:          amdgpu.transpose_load
// GFX942:          llvm.call_intrinsic "llvm.amdgcn.perm"

// Without lse there is no logarithm and no store of one.
// CHECK-NOT:     rocdl.log
// CHECK-NOT:     memref.store
// CHECK:         vector.transfer_write {{.*}} {in_bounds = [false, true]} : vector<1x8xf16>, memref<300x64xf16
func.func @f(%q: memref<2x2x300x64xf16>, %k: memref<2x2x256x64xf16>, %v: memref<2x2x256x64xf16>, %o: memref<2x2x300x64xf16>) {
  attn.attention ins(%q, %k, %v : memref<2x2x300x64xf16>, memref<2x2x256x64xf16>, memref<2x2x256x64xf16>) outs(%o : memref<2x2x300x64xf16>) attributes {attn.lowering_config = #attn.lowering_config<tile_q = 256>}
  return
}

// -----

// Dynamic sizes: the grid is computed, and nothing is launched when it is 0.
// Launches check what the kernel expects of addresses and strides.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %{{.*}}: memref<?x?x?x128xbf16> {attn.alignment = 4 : i64, attn.reach = array<i64: 1, 256, 1, 128>}
// CHECK-SAME:    %{{.*}}: memref<?x?x?xf32>) {
// CHECK:         %[[TILES:.*]] = arith.ceildivui
// CHECK:         %[[GRID:.*]] = arith.muli {{.*}}, %[[TILES]]
// CHECK:         %[[ANY:.*]] = arith.cmpi ne, %[[GRID]]
// CHECK:         scf.if %[[ANY]]
// CHECK:           gpu.launch_func {{.*}} blocks in (%[[GRID]],
// CHECK:       gpu.func @dynamic_attention(
// CHECK-SAME:    {attn.name = "lse"}
// CHECK:         rocdl.log
// CHECK:         scf.if
// CHECK-NEXT:      arith.index_cast
// CHECK-NEXT:      arith.index_cast
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      memref.store
func.func @dynamic(%q: memref<?x?x?x128xbf16>, %k: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %l: memref<?x?x?xf32>) {
  attn.attention ins(%q, %k, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) outs(%o, %l : memref<?x?x?x128xbf16>, memref<?x?x?xf32>) {causal, layout = bshd}
  return
}

// -----

// Rows of which only the number is dynamic are near enough; a bias with any
// strides is read from a wave's first row on.
// CHECK-LABEL: func.func @reach(
// CHECK-NOT:     attn.reach
// CHECK-SAME:    memref<1x1x?x?xf32, strided<[?, ?, ?, ?]>> {attn.reach = array<i64: 1, 1, 32, 2147483648>}
// CHECK-NOT:     attn.reach
// CHECK:         gpu.launch_func
func.func @reach(%q: memref<1x1x300x64xf16>, %k: memref<1x1x?x64xf16>, %v: memref<1x1x?x64xf16>, %b: memref<1x1x?x?xf32, strided<[?, ?, ?, ?]>>, %o: memref<1x1x300x64xf16>) {
  attn.attention ins(%q, %k, %v : memref<1x1x300x64xf16>, memref<1x1x?x64xf16>, memref<1x1x?x64xf16>) bias(%b : memref<1x1x?x?xf32, strided<[?, ?, ?, ?]>>) outs(%o : memref<1x1x300x64xf16>)
  return
}

// -----

// What has no element has no reach, whatever its strides are.
// CHECK-LABEL: func.func @no_reach(
// CHECK-NOT:     attn.reach
// CHECK:         gpu.launch_func
func.func @no_reach(%q: memref<1x1x300x64xf16>, %k: memref<1x1x0x64xf16>, %b: memref<?x0xf32, strided<[?, ?]>>, %o: memref<1x1x300x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<1x1x300x64xf16>, memref<1x1x0x64xf16>, memref<1x1x0x64xf16>) bias(%b : memref<?x0xf32, strided<[?, ?]>>) outs(%o : memref<1x1x300x64xf16>)
  return
}

// -----

// No rows, as the type of the LSE alone says.
// CHECK-LABEL: func.func @no_rows(
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @no_rows(%q: memref<1x1x?x64xf16>, %o: memref<1x1x?x64xf16>, %l: memref<1x1x0xf32>) {
  attn.attention ins(%q, %q, %q : memref<1x1x?x64xf16>, memref<1x1x?x64xf16>, memref<1x1x?x64xf16>) outs(%o, %l : memref<1x1x?x64xf16>, memref<1x1x0xf32>)
  return
}

// -----

// f32 and wide heads take the plain program; f32 needs no more than its width.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     attn.alignment
// CHECK-LABEL: gpu.func @wide_attention
// CHECK-SAME:    attn.lowering_config = #attn.lowering_config<tile_q = 64, tile_kv = {{.*}}, split_v = 4, stages = 1>
// CHECK:         amdgpu.mfma 32x32x2
func.func @wide(%q: memref<1x1x8x256xf32>, %k: memref<1x1x8x256xf32>, %v: memref<1x1x8x256xf32>, %o: memref<1x1x8x256xf32>) {
  attn.attention ins(%q, %k, %v : memref<1x1x8x256xf32>, memref<1x1x8x256xf32>, memref<1x1x8x256xf32>) outs(%o : memref<1x1x8x256xf32>)
  return
}

// -----

// Nothing to do.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return
// CHECK-NOT:   gpu.module
func.func @empty(%q: memref<1x1x0x64xf32>, %k: memref<1x1x8x64xf32>, %v: memref<1x1x8x64xf32>, %o: memref<1x1x0x64xf32>) {
  attn.attention ins(%q, %k, %v : memref<1x1x0x64xf32>, memref<1x1x8x64xf32>, memref<1x1x8x64xf32>) outs(%o : memref<1x1x0x64xf32>)
  return
}
