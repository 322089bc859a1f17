// Eight query heads share four key heads; 100 rows look at 160 keys.
func.func @program(
    %q: tensor<2x8x100x64xf16> {attn.name = "q"},
    %k: tensor<2x4x160x64xf16> {attn.name = "k"},
    %v: tensor<2x4x160x64xf16> {attn.name = "v"})
    -> tensor<2x8x100x64xf16> {
  %o = toy.sdpa %q, %k, %v causal
      : (tensor<2x8x100x64xf16>, tensor<2x4x160x64xf16>, tensor<2x4x160x64xf16>)
      -> tensor<2x8x100x64xf16>
  return %o : tensor<2x8x100x64xf16>
}
