// Grouped-query attention with its LSE, as a model server calls it for a chunk of a
// prompt: eight query heads share two key heads, and row i of 128 sees the keys up to
// i - 32, so that the first 32 rows see none.
func.func @attention(
    %q: memref<1x8x128x64xf16> {attn.name = "q"},
    %k: memref<1x2x96x64xf16> {attn.name = "k"},
    %v: memref<1x2x96x64xf16> {attn.name = "v"},
    %o: memref<1x8x128x64xf16> {attn.name = "o"},
    %lse: memref<1x8x128xf32> {attn.name = "lse"}) {
  attn.attention
      ins(%q, %k, %v : memref<1x8x128x64xf16>, memref<1x2x96x64xf16>, memref<1x2x96x64xf16>)
      outs(%o, %lse : memref<1x8x128x64xf16>, memref<1x8x128xf32>) {causal}
  return
}
