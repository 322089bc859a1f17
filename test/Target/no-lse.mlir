// Asked without the LSE, the code object has no trace of it.
// RUN: attn-compile %s --chip=gfx942 --emit=asm | FileCheck %s
// RUN: attn-compile %s --chip=gfx950 --emit=asm | FileCheck %s

// CHECK-LABEL: f_attention:
// CHECK-NOT:   v_log_f32
// CHECK-NOT:   {{buffer_store_dword .*}}
// CHECK:       .kernarg_segment_size: 32
func.func @f(%q: memref<1x1x256x64xf16>, %k: memref<1x1x256x64xf16>, %v: memref<1x1x256x64xf16>, %o: memref<1x1x256x64xf16>) {
  attn.attention ins(%q, %k, %v : memref<1x1x256x64xf16>, memref<1x1x256x64xf16>, memref<1x1x256x64xf16>) outs(%o : memref<1x1x256x64xf16>)
  return
}
