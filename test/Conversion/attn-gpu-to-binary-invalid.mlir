// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-to-gpu=chip=gfx950 -attn-gpu-to-binary

// A pass was left out.
func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{'gpu.func' op expects kernels in the llvm and rocdl dialects; run attn-buffer-resources and convert-attn-to-rocdl first}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>) outs(%o : memref<1x1x8x64xf16>)
  return
}
