// RUN: attn-opt %s --attn-to-gpu=chip=gfx950 --attn-buffer-resources -split-input-file | FileCheck %s

// Memrefs become pointers; dynamic sizes and strides follow them. The launch
// passes the address of the first element, offset included.
// CHECK-LABEL: func.func @f(
// CHECK:         %{{.*}}, %[[OFF:.*]], %{{.*}}:4, %{{.*}}:4 = memref.extract_strided_metadata %arg0
// CHECK:         %[[PTR:.*]] = memref.extract_aligned_pointer_as_index %arg0
// CHECK:         %[[A:.*]] = arith.index_cast %[[PTR]] : index to i64
// CHECK:         %[[O:.*]] = arith.index_cast %[[OFF]] : index to i64
// CHECK:         %[[BYTES:.*]] = arith.muli %[[O]], %c2_i64
// CHECK:         %[[SUM:.*]] = arith.addi %[[A]], %[[BYTES]]
// CHECK:         llvm.inttoptr %[[SUM]] : i64 to !llvm.ptr<1>
// CHECK:         gpu.launch_func
// CHECK-NOT:     memref<
// CHECK:       gpu.func @f_attention(
// CHECK-SAME:    %[[Q:[^:]*]]: !llvm.ptr<1> {attn.name = "query", llvm.inreg, llvm.noalias, llvm.readonly}
// CHECK-SAME:    !llvm.ptr<1> {attn.name = "key"
// CHECK-SAME:    i32 {attn.name = "key.size2"}
// CHECK-SAME:    %[[STRIDE:[^:]*]]: i64 {attn.name = "key.stride0"}
// CHECK-SAME:    {attn.name = "output", llvm.inreg, llvm.noalias, llvm.writeonly}

// 64-bit arithmetic up to the base.
// CHECK:         arith.muli {{.*}}, %[[STRIDE]] : i64
// CHECK-NOT:     vector.transfer_read
// CHECK-NOT:     vector.store
// The descriptor ends with the rows that are left; none are behind the end.
// CHECK:         llvm.getelementptr {{.*}} -> !llvm.ptr<1>, i8
// CHECK:         %[[LEFT:.*]] = arith.subi {{.*}} : i32
// CHECK:         %[[ROWS:.*]] = arith.maxsi %[[LEFT]]
// CHECK:         %[[RECORDS:.*]] = arith.muli %[[ROWS]]
// CHECK:         %[[SCALAR:.*]] = rocdl.readfirstlane %[[RECORDS]] : i32
// CHECK:         %[[WIDE:.*]] = arith.extui %[[SCALAR]] : i32 to i64
// CHECK:         rocdl.make.buffer.rsrc {{.*}}, {{.*}}, %[[WIDE]],
// CHECK:         rocdl.raw.ptr.buffer.load.lds
// CHECK:         rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// The guard of the lse store became an offset no resource reaches.
// CHECK:         rocdl.log
// CHECK-NOT:     scf.if
// CHECK:         %[[AT:.*]] = arith.select {{.*}} : i32
// CHECK:         rocdl.raw.ptr.buffer.store {{.*}}, {{.*}}, %[[AT]], {{.*}} : f32
// CHECK-NOT:     memref.store
// CHECK-NOT:     vector.transfer_write
// CHECK:         rocdl.raw.ptr.buffer.store {{.*}} : vector<4xi32>
func.func @f(%q: memref<1x2x256x64xf16, strided<[32768, 16384, 64, 1], offset: ?>>, %k: memref<1x2x?x64xf16>, %v: memref<1x2x?x64xf16>, %o: memref<1x2x256x64xf16>, %l: memref<1x2x256xf32>) {
  attn.attention ins(%q, %k, %v : memref<1x2x256x64xf16, strided<[32768, 16384, 64, 1], offset: ?>>, memref<1x2x?x64xf16>, memref<1x2x?x64xf16>) outs(%o, %l : memref<1x2x256x64xf16>, memref<1x2x256xf32>) {causal}
  return
}

// -----

// Columns behind the head dim go out of range.
// CHECK-LABEL: gpu.func @ragged_attention
// CHECK:         arith.constant 56 : i32
// CHECK:         %[[COL:.*]] = arith.cmpi slt
// CHECK:         %[[OUT:.*]] = arith.constant -2147483648 : i32
// CHECK:         arith.select %[[COL]], {{.*}}, %[[OUT]]
func.func @ragged(%q: memref<1x2x16x72xf16>, %k: memref<1x2x16x72xf16>, %v: memref<1x2x16x72xf16>, %o: memref<1x2x16x72xf16>) {
  attn.attention ins(%q, %k, %v : memref<1x2x16x72xf16>, memref<1x2x16x72xf16>, memref<1x2x16x72xf16>) outs(%o : memref<1x2x16x72xf16>)
  return
}

// -----

// A length is a scalar load, which is limited to the tensor; nothing beyond it
// has a record.
// CHECK-LABEL: gpu.func @padded_attention
// CHECK:         %[[AT:.*]] = llvm.getelementptr {{.*}} -> !llvm.ptr<1>, i32
// CHECK:         %[[N:.*]] = llvm.load %[[AT]] invariant {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK:         %[[MOST:.*]] = arith.minsi %[[N]], %c20_i32
// CHECK:         %[[PIN:.*]] = llvm.inline_asm {{.*}} %[[MOST]]
// CHECK:         arith.maxsi %[[PIN]]
// CHECK-NOT:     memref.load
func.func @padded(%q: memref<3x2x16x64xf16>, %k: memref<3x2x20x64xf16>, %n: memref<3xi32>, %o: memref<3x2x16x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<3x2x16x64xf16>, memref<3x2x20x64xf16>, memref<3x2x20x64xf16>) seqlens_kv(%n : memref<3xi32>) outs(%o : memref<3x2x16x64xf16>)
  return
}

// -----

// Small pages on a chip whose DMA spans the tile: the pool is one resource.
// Distances are 32 bits, so a larger pool is an error at run time.
// CHECK-LABEL: gpu.func @paged_attention
// CHECK:         %[[LARGE:.*]] = arith.cmpi ugt, {{.*}} : i64
// CHECK:         scf.if %[[LARGE]]
// CHECK-NEXT:      llvm.intr.trap
// CHECK:         rocdl.raw.ptr.buffer.load.lds
func.func @paged(%q: memref<3x2x16x64xf16>, %k: memref<?x2x16x64xf16>, %n: memref<3xi32>, %t: memref<3x9xi32>, %o: memref<3x2x16x64xf16>) {
  attn.attention ins(%q, %k, %k : memref<3x2x16x64xf16>, memref<?x2x16x64xf16>, memref<?x2x16x64xf16>) seqlens_kv(%n : memref<3xi32>) block_table(%t : memref<3x9xi32>) outs(%o : memref<3x2x16x64xf16>) {page_size = 16}
  return
}

// -----

// A pointer that is loaded from is not writeonly, though it is stored through.
module attributes {gpu.container_module} {
  gpu.module @m {
    // CHECK-LABEL: gpu.func @both
    // CHECK-SAME:  (%{{[^:]*}}: !llvm.ptr<1> {attn.name = "arg0", llvm.inreg, llvm.noalias}, %{{[^:]*}}: !llvm.ptr<1> {{{.*}}llvm.writeonly}
    gpu.func @both(%a: memref<16xf32>, %b: memref<16xf32>, %i: index) kernel {
      %x = memref.load %a[%i] : memref<16xf32>
      memref.store %x, %a[%i] : memref<16xf32>
      memref.store %x, %b[%i] : memref<16xf32>
      gpu.return
    }
  }
}
