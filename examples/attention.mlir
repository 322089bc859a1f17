// Grouped-query attention over a padded batch, as a model server calls it: eight
// query heads share two key heads, and each sequence has its own number of keys.
func.func @attention(
    %q: tensor<2x8x128x64xf16> {attn.name = "q"},
    %k: tensor<2x2x192x64xf16> {attn.name = "k"},
    %v: tensor<2x2x192x64xf16> {attn.name = "v"},
    %lengths: tensor<2xi32> {attn.name = "lengths"})
    -> (tensor<2x8x128x64xf16> {attn.name = "output"},
        tensor<2x8x128xf32> {attn.name = "lse"}) {
  %o0 = tensor.empty() : tensor<2x8x128x64xf16>
  %lse0 = tensor.empty() : tensor<2x8x128xf32>
  %o, %lse = attn.attention
      ins(%q, %k, %v : tensor<2x8x128x64xf16>, tensor<2x2x192x64xf16>, tensor<2x2x192x64xf16>)
      seqlens_kv(%lengths : tensor<2xi32>)
      outs(%o0, %lse0 : tensor<2x8x128x64xf16>, tensor<2x8x128xf32>) {causal}
  return %o, %lse : tensor<2x8x128x64xf16>, tensor<2x8x128xf32>
}
