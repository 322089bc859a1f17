// A manifest shows buffers as the function takes and returns them, not as the
// kernel sees them.
// RUN: attn-compile %s --chip=gfx950 -o %t.hsaco --manifest=%t.json
// RUN: FileCheck %s --input-file=%t.json --implicit-check-not=workspace

// CHECK: "name": "q"
// CHECK: "shape": [
// CHECK-NEXT: 8,
// CHECK-NEXT: 16,
// CHECK-NEXT: 64
// CHECK-NEXT: ],
// CHECK: "name": "output"
// CHECK: "shape": [
// CHECK-NEXT: 2,
// CHECK-NEXT: 4,
// CHECK-NEXT: 1024
// CHECK-NEXT: ],
// CHECK-NEXT: "strides": [
// CHECK-NEXT: 4096,
// CHECK-NEXT: 1024,
// CHECK-NEXT: 1
// CHECK-NEXT: ]
func.func @heads(%q: tensor<8x16x64xf16> {attn.name = "q"}) -> tensor<2x4x1024xf16> {
  %q4 = tensor.expand_shape %q [[0, 1], [2], [3]] output_shape [2, 4, 16, 64] : tensor<8x16x64xf16> into tensor<2x4x16x64xf16>
  %empty = tensor.empty() : tensor<2x4x16x64xf16>
  %o = attn.attention ins(%q4, %q4, %q4 : tensor<2x4x16x64xf16>, tensor<2x4x16x64xf16>, tensor<2x4x16x64xf16>)
      outs(%empty : tensor<2x4x16x64xf16>)
  %flat = tensor.collapse_shape %o [[0], [1], [2, 3]] : tensor<2x4x16x64xf16> into tensor<2x4x1024xf16>
  return %flat : tensor<2x4x1024xf16>
}
