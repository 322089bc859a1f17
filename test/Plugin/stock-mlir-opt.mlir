// REQUIRES: plugin
// The plugin brings dialect, passes and pipelines to MLIR's own mlir-opt.
// RUN: mlir-opt %s --load-dialect-plugin=%attn_plugin --verify-roundtrip | FileCheck %s --check-prefix=DIALECT
// RUN: mlir-opt %s --load-dialect-plugin=%attn_plugin --load-pass-plugin=%attn_plugin \
// RUN:   --pass-pipeline="builtin.module(attn-tile{q-tile=32},attn-online-softmax)" | FileCheck %s --check-prefix=PASSES
// Bufferization is an upstream pass; what it knows of the ops comes with the dialect.
// RUN: mlir-opt %s --load-dialect-plugin=%attn_plugin --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   | FileCheck %s --check-prefix=BUFFERS
// RUN: mlir-opt %s --load-dialect-plugin=%attn_plugin --load-pass-plugin=%attn_plugin \
// RUN:   --pass-pipeline="builtin.module(attn-to-cpu)" | FileCheck %s --check-prefix=CPU
// RUN: mlir-opt %s --load-dialect-plugin=%attn_plugin --load-pass-plugin=%attn_plugin \
// RUN:   --pass-pipeline="builtin.module(attn-to-binary{chip=gfx950})" | FileCheck %s --check-prefix=BINARY

// Without the plugin there is no such dialect.
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=NONE

// DIALECT: attn.attention
// PASSES: scf.forall
// PASSES: attn.online_attention
// BUFFERS: attn.attention ins({{.*}} : memref<
// CPU: llvm.func @attention
// CPU-NOT: attn.
// BINARY: gpu.launch_func
// BINARY: gpu.binary {{.*}}gfx950
// NONE: {{[Dd]}}ialect `attn' not found
func.func @attention(%q: tensor<1x2x64x64xf16>, %o: tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16> {
  %0 = attn.attention
      ins(%q, %q, %q : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>)
      outs(%o : tensor<1x2x64x64xf16>)
  return %0 : tensor<1x2x64x64xf16>
}
