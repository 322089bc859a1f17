// REQUIRES: plugin
// A module that upstream MLIR runs: our pipeline makes the gpu.binary, upstream
// passes make the host code, and mlir-runner loads and launches through MLIR's
// runtime wrappers, here on the stand-in. Row j of V holds j; all scores are 0.

// RUN: mkdir -p %t
// RUN: %host_cxx -std=c++17 -shared -fPIC %S/Inputs/mlir_rocm_runtime.cpp -o %t/libmlir_rocm_runtime.so \
// RUN:   -L%hip_stand_in -lamdhip64 -Wl,-rpath,%hip_stand_in
// RUN: attn-opt %s -pass-pipeline="builtin.module(attn-to-binary{chip=gfx942})" \
// RUN:   | mlir-opt -pass-pipeline="builtin.module(convert-linalg-to-loops,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,finalize-memref-to-llvm,gpu-to-llvm,reconcile-unrealized-casts)" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%t/libmlir_rocm_runtime.so,%mlir_runner_utils 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=leaked

// CHECK: sizes = [2, 6]
// CHECK-NEXT: [0, {{ *}}0, {{ *}}0, {{ *}}0.5, {{ *}}1, {{ *}}1.5]
// CHECK-NEXT: [0, {{ *}}0, {{ *}}0, {{ *}}0.5, {{ *}}1, {{ *}}1.5]
// CHECK: sizes = [1, 2, 6]
// CHECK-NEXT: [-inf, {{ *}}-inf, {{ *}}0, {{ *}}0.693147, {{ *}}1.09861, {{ *}}1.38629]
// CHECK-NEXT: [-inf, {{ *}}-inf, {{ *}}0, {{ *}}0.693147, {{ *}}1.09861, {{ *}}1.38629]

func.func @attention(%q: memref<1x2x6x64xf16>, %k: memref<1x1x4x64xf16>, %v: memref<1x1x4x64xf16>,
                     %o: memref<1x2x6x64xf16>, %lse: memref<1x2x6xf32>) {
  attn.attention
      ins(%q, %k, %v : memref<1x2x6x64xf16>, memref<1x1x4x64xf16>, memref<1x1x4x64xf16>)
      outs(%o, %lse : memref<1x2x6x64xf16>, memref<1x2x6xf32>) {causal}
  return
}
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %q = memref.alloc() : memref<1x2x6x64xf16>
  %k = memref.alloc() : memref<1x1x4x64xf16>
  %v = memref.alloc() : memref<1x1x4x64xf16>
  %o = memref.alloc() : memref<1x2x6x64xf16>
  %lse = memref.alloc() : memref<1x2x6xf32>
  linalg.fill ins(%zero : f16) outs(%q : memref<1x2x6x64xf16>)
  linalg.fill ins(%one : f16) outs(%k : memref<1x1x4x64xf16>)
  linalg.generic {indexing_maps = [affine_map<(b, h, j, d) -> (b, h, j, d)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%v : memref<1x1x4x64xf16>) {
  ^bb0(%old: f16):
    %j = linalg.index 2 : index
    %i = arith.index_cast %j : index to i32
    %f = arith.sitofp %i : i32 to f16
    linalg.yield %f : f16
  }
  %t0 = gpu.wait async
  %dq, %t1 = gpu.alloc async [%t0] () : memref<1x2x6x64xf16>
  %dk, %t2 = gpu.alloc async [%t1] () : memref<1x1x4x64xf16>
  %dv, %t3 = gpu.alloc async [%t2] () : memref<1x1x4x64xf16>
  %do, %t4 = gpu.alloc async [%t3] () : memref<1x2x6x64xf16>
  %dl, %t5 = gpu.alloc async [%t4] () : memref<1x2x6xf32>
  %t6 = gpu.memcpy async [%t5] %dq, %q : memref<1x2x6x64xf16>, memref<1x2x6x64xf16>
  %t7 = gpu.memcpy async [%t6] %dk, %k : memref<1x1x4x64xf16>, memref<1x1x4x64xf16>
  %t8 = gpu.memcpy async [%t7] %dv, %v : memref<1x1x4x64xf16>, memref<1x1x4x64xf16>
  gpu.wait [%t8]
  func.call @attention(%dq, %dk, %dv, %do, %dl) : (memref<1x2x6x64xf16>, memref<1x1x4x64xf16>, memref<1x1x4x64xf16>, memref<1x2x6x64xf16>, memref<1x2x6xf32>) -> ()
  %t9 = gpu.wait async
  %t10 = gpu.memcpy async [%t9] %lse, %dl : memref<1x2x6xf32>, memref<1x2x6xf32>
  %t10b = gpu.memcpy async [%t10] %o, %do : memref<1x2x6x64xf16>, memref<1x2x6x64xf16>
  gpu.wait [%t10b]
  // One column of each head, as f32.
  %column = memref.subview %o[0, 0, 0, 63] [1, 2, 6, 1] [1, 1, 1, 1]
      : memref<1x2x6x64xf16> to memref<2x6xf16, strided<[384, 64], offset: 63>>
  %wide = memref.alloc() : memref<2x6xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%column : memref<2x6xf16, strided<[384, 64], offset: 63>>) outs(%wide : memref<2x6xf32>) {
  ^bb0(%x: f16, %old: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  }
  %w = memref.cast %wide : memref<2x6xf32> to memref<*xf32>
  func.call @printMemrefF32(%w) : (memref<*xf32>) -> ()
  %u = memref.cast %lse : memref<1x2x6xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  %t11 = gpu.wait async
  %t12 = gpu.dealloc async [%t11] %dq : memref<1x2x6x64xf16>
  %t13 = gpu.dealloc async [%t12] %dk : memref<1x1x4x64xf16>
  %t14 = gpu.dealloc async [%t13] %dv : memref<1x1x4x64xf16>
  %t15 = gpu.dealloc async [%t14] %do : memref<1x2x6x64xf16>
  %t16 = gpu.dealloc async [%t15] %dl : memref<1x2x6xf32>
  gpu.wait [%t16]
  return
}
