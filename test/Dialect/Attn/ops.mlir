// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK-LABEL: func @short
// CHECK-SAME: (%[[Q:.*]]: tensor<1x8x128x64xf16>, %[[K:.*]]: tensor<1x2x256x64xf16>, %[[V:[^:]*]]: tensor<1x2x256x64xf16>, %[[O:[^:]*]]:
func.func @short(%q: tensor<1x8x128x64xf16>, %k: tensor<1x2x256x64xf16>,
                 %v: tensor<1x2x256x64xf16>, %o: tensor<1x8x128x64xf16>)
    -> tensor<1x8x128x64xf16> {
  // CHECK: attn.attention ins(%[[Q]], %[[K]], %[[V]] : tensor<1x8x128x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>) outs(%[[O]] : tensor<1x8x128x64xf16>){{$}}
  %0 = attn.attention
      ins(%q, %k, %v : tensor<1x8x128x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
      outs(%o : tensor<1x8x128x64xf16>)
      {layout = bhsd, window_left = -1, window_right = -1, sink_tokens = 0, num_kv_splits = 1}
  return %0 : tensor<1x8x128x64xf16>
}
