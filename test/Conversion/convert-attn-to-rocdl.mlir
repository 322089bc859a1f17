// RUN: attn-opt %s --attn-to-rocdl=chip=gfx950 | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: attn-opt %s --attn-to-rocdl=chip=gfx942 | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: attn-opt %s --attn-to-binary=chip=gfx950 | FileCheck %s --check-prefix=BINARY

// BINARY-LABEL: func.func @f(
// BINARY:         gpu.launch_func @f_attention::@f_attention
// BINARY-NOT:   gpu.module
// BINARY:       gpu.binary @f_attention [#gpu.object<#rocdl.target<{{.*}}chip = "gfx950"{{.*}}>, bin = "\7FELF

// CHECK:       gpu.module @f_attention
// CHECK-COUNT-4: llvm.mlir.global internal @{{.*}}addr_space = 3
// CHECK-NOT:   {{ (gpu|amdgpu|arith|scf|cf|vector|memref|math)\.}}
// CHECK:       llvm.func @f_attention(%{{.*}}: !llvm.ptr<1> {
// CHECK-NOT:   __oc
// GFX950:      rocdl.mfma.f32.32x32x16.bf16
// GFX942:      rocdl.mfma.f32.32x32x8bf16.1k
// CHECK-NOT:   {{ (gpu|amdgpu|arith|scf|cf|vector|memref|math)\.}}
// CHECK:       llvm.return
func.func @f(%q: tensor<1x2x256x128xbf16>, %k: tensor<1x2x256x128xbf16>, %v: tensor<1x2x256x128xbf16>, %o0: tensor<1x2x256x128xbf16>) -> tensor<1x2x256x128xbf16> {
  %o = attn.attention ins(%q, %k, %v : tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>) outs(%o0 : tensor<1x2x256x128xbf16>)
  return %o : tensor<1x2x256x128xbf16>
}
