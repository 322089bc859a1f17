// RUN: attn-opt %s --attn-to-gpu -split-input-file -verify-diagnostics

func.func @tensors(%q: tensor<1x2x16x64xf16>, %k: tensor<1x2x16x64xf16>, %v: tensor<1x2x16x64xf16>, %o: tensor<1x2x16x64xf16>) -> tensor<1x2x16x64xf16> {
  // expected-error @+1 {{expects memref operands in attn-to-gpu; run one-shot-bufferize first}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>) outs(%o : tensor<1x2x16x64xf16>)
  return %0 : tensor<1x2x16x64xf16>
}
