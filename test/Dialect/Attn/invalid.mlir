// One rule of the verifiers a case, named by its number in the op description.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// C1: rank of query
func.func @f(%q: tensor<4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<4x6x8xf32>) {
  // expected-error @+1 {{expects query of rank 4 for layout bhsd, but got rank 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<4x6x8xf32>)
  return
}

// -----

// C1: rank of key, layout bshd
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<2x10x8xf32>, %v: tensor<2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects key of rank 4 for layout bshd, but got rank 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<2x10x8xf32>, tensor<2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {layout = bshd}
  return
}

// -----

// C1: rank of value, layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<1x10x2x8xf32>, %o: tensor<6x4x8xf32>) {
  // expected-error @+1 {{expects value of rank 3 for layout thd, but got rank 4}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<1x10x2x8xf32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C1: rank of output
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x1x1x4x6x8xf32>) {
  // expected-error @+1 {{expects output of rank 4 for layout bhsd, but got rank 6}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x1x1x4x6x8xf32>)
  return
}

// -----

// C2: element type of key
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf16>, %v: tensor<1x2x10x8xf16>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one element type for query, key and value, but got 'f32', 'f16' and 'f16'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf16>, tensor<1x2x10x8xf16>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C2: element type of value
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf64>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one element type for query, key and value, but got 'f32', 'f32' and 'f64'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf64>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C2: element type of output
func.func @f(%q: tensor<1x4x6x8xf16>, %k: tensor<1x2x10x8xf16>, %v: tensor<1x2x10x8xf16>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects output element type to equal query element type, but got 'f32' and 'f16'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf16>, tensor<1x2x10x8xf16>, tensor<1x2x10x8xf16>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C2: f80 is no input
func.func @f(%q: tensor<1x4x6x8xf80>, %k: tensor<1x2x10x8xf80>, %v: tensor<1x2x10x8xf80>, %o: tensor<1x4x6x8xf80>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf80>, tensor<1x2x10x8xf80>, tensor<1x2x10x8xf80>)
      outs(%o : tensor<1x4x6x8xf80>)
  return
}

// -----

// C2: f128 is no input
func.func @f(%q: tensor<1x4x6x8xf128>, %k: tensor<1x2x10x8xf128>, %v: tensor<1x2x10x8xf128>, %o: tensor<1x4x6x8xf128>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf128>, tensor<1x2x10x8xf128>, tensor<1x2x10x8xf128>)
      outs(%o : tensor<1x4x6x8xf128>)
  return
}

// -----

// C2: tf32 is no input
func.func @f(%q: tensor<1x4x6x8xtf32>, %k: tensor<1x2x10x8xtf32>, %v: tensor<1x2x10x8xtf32>, %o: tensor<1x4x6x8xtf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xtf32>, tensor<1x2x10x8xtf32>, tensor<1x2x10x8xtf32>)
      outs(%o : tensor<1x4x6x8xtf32>)
  return
}

// -----

// C2: f6E2M3FN is no input
func.func @f(%q: tensor<1x4x6x8xf6E2M3FN>, %k: tensor<1x2x10x8xf6E2M3FN>, %v: tensor<1x2x10x8xf6E2M3FN>, %o: tensor<1x4x6x8xf6E2M3FN>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf6E2M3FN>, tensor<1x2x10x8xf6E2M3FN>, tensor<1x2x10x8xf6E2M3FN>)
      outs(%o : tensor<1x4x6x8xf6E2M3FN>)
  return
}

// -----

// C2: f8E8M0FNU is no input
func.func @f(%q: tensor<1x4x6x8xf8E8M0FNU>, %k: tensor<1x2x10x8xf8E8M0FNU>, %v: tensor<1x2x10x8xf8E8M0FNU>, %o: tensor<1x4x6x8xf8E8M0FNU>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf8E8M0FNU>, tensor<1x2x10x8xf8E8M0FNU>, tensor<1x2x10x8xf8E8M0FNU>)
      outs(%o : tensor<1x4x6x8xf8E8M0FNU>)
  return
}

// -----

// C2: i16 is no input
func.func @f(%q: tensor<1x4x6x8xi16>, %k: tensor<1x2x10x8xi16>, %v: tensor<1x2x10x8xi16>, %o: tensor<1x4x6x8xi16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xi16>, tensor<1x2x10x8xi16>, tensor<1x2x10x8xi16>)
      outs(%o : tensor<1x4x6x8xi16>)
  return
}

// -----

// C2: index is no input
func.func @f(%q: tensor<1x4x6x8xindex>, %k: tensor<1x2x10x8xindex>, %v: tensor<1x2x10x8xindex>, %o: tensor<1x4x6x8xindex>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xindex>, tensor<1x2x10x8xindex>, tensor<1x2x10x8xindex>)
      outs(%o : tensor<1x4x6x8xindex>)
  return
}

// -----

// C2: complex<f32> is no input
func.func @f(%q: tensor<1x4x6x8xcomplex<f32>>, %k: tensor<1x2x10x8xcomplex<f32>>, %v: tensor<1x2x10x8xcomplex<f32>>, %o: tensor<1x4x6x8xcomplex<f32>>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xcomplex<f32>>, tensor<1x2x10x8xcomplex<f32>>, tensor<1x2x10x8xcomplex<f32>>)
      outs(%o : tensor<1x4x6x8xcomplex<f32>>)
  return
}

// -----

// C2: the output is a float
func.func @f(%q: tensor<1x4x6x8xi8>, %k: tensor<1x2x10x8xi8>, %v: tensor<1x2x10x8xi8>, %o: tensor<1x4x6x8xi8>) {
  // expected-error @+1 {{operand #3 must be variadic of ranked tensor or strided memref of f16, bf16, f32, f64 or fp8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xi8>, tensor<1x2x10x8xi8>, tensor<1x2x10x8xi8>)
      outs(%o : tensor<1x4x6x8xi8>)
  return
}

// -----

// C2: a bias is f16, bf16, f32 or f64
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<6x10xi32>) {
  // expected-error @+1 {{operand #3 must be bias, ranked tensor or strided memref of f16, bf16, f32 or f64}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      bias(%x : tensor<6x10xi32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C2: a mask is i1 or i8
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<6x10xf32>) {
  // expected-error @+1 {{operand #3 must be mask, ranked tensor or strided memref of i1 or i8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      mask(%x : tensor<6x10xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// Unranked tensors and memrefs have no place.
func.func @f(%q: tensor<*xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref}}
  %0 = attn.attention ins(%q, %q, %q : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

func.func @f(%q: memref<*xf32>, %o: memref<1x4x6x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref}}
  attn.attention ins(%q, %q, %q : memref<*xf32>, memref<*xf32>, memref<*xf32>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// A memref whose layout has no strides.
#tiled = affine_map<(b, h, s, d) -> (b, h, s floordiv 2, d, s mod 2)>
func.func @f(%q: memref<1x4x6x8xf32, #tiled>, %o: memref<1x4x6x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref}}
  attn.attention ins(%q, %q, %q : memref<1x4x6x8xf32, #tiled>, memref<1x4x6x8xf32, #tiled>, memref<1x4x6x8xf32, #tiled>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// C3
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x16xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects key head dim to equal query head dim, but got 16 and 8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C3: layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x16xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>) {
  // expected-error @+1 {{expects key head dim to equal query head dim, but got 16 and 8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x16xf32>, tensor<10x2x8xf32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C4
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x9x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects value length to equal key length, but got 9 and 10}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x9x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C4: layout bshd
func.func @f(%q: tensor<1x6x4x8xf32>, %k: tensor<1x10x2x8xf32>, %v: tensor<1x9x2x8xf32>, %o: tensor<1x6x4x8xf32>) {
  // expected-error @+1 {{expects value length to equal key length, but got 9 and 10}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x6x4x8xf32>, tensor<1x10x2x8xf32>, tensor<1x9x2x8xf32>)
      outs(%o : tensor<1x6x4x8xf32>) {layout = bshd}
  return
}

// -----

// C5: key
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<2x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one batch size for query, key and value, but got 1, 2 and 1}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<2x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C5: key and value, query unknown
func.func @f(%q: tensor<?x4x6x8xf32>, %k: tensor<2x2x10x8xf32>, %v: tensor<3x2x10x8xf32>, %o: tensor<?x4x6x8xf32>) {
  // expected-error @+1 {{expects one batch size for query, key and value, but got ?, 2 and 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<?x4x6x8xf32>, tensor<2x2x10x8xf32>, tensor<3x2x10x8xf32>)
      outs(%o : tensor<?x4x6x8xf32>)
  return
}

// -----

// C6: key heads
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x3x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects query heads to be a multiple of key heads, but got 4 and 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x3x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C6: value heads
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x8x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects query heads to be a multiple of value heads, but got 4 and 8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x8x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C6: query heads known from the output only
func.func @f(%q: tensor<1x?x6x8xf32>, %k: tensor<1x3x10x8xf32>, %v: tensor<1x3x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects query heads to be a multiple of key heads, but got 4 and 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x?x6x8xf32>, tensor<1x3x10x8xf32>, tensor<1x3x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C6: query heads known from the lse only
func.func @f(%q: tensor<1x?x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x?x6x8xf32>, %l: tensor<1x5x6xf32>) {
  // expected-error @+1 {{expects query heads to be a multiple of key heads, but got 5 and 2}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<1x?x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o, %l : tensor<1x?x6x8xf32>, tensor<1x5x6xf32>)
  return
}

// -----

// C6: query heads known from the sink only
func.func @f(%q: tensor<1x?x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x?x6x8xf32>, %x: tensor<5xf32>) {
  // expected-error @+1 {{expects query heads to be a multiple of key heads, but got 5 and 2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x?x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      sink(%x : tensor<5xf32>)
      outs(%o : tensor<1x?x6x8xf32>)
  return
}

// -----

// C7: rows
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x5x8xf32>) {
  // expected-error @+1 {{expects output to have shape 1x4x6x8, but got 1x4x5x8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x5x8xf32>)
  return
}

// -----

// C7: the value's head dim
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x16xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects output to have shape 1x4x6x16, but got 1x4x6x8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x16xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C7: batch known from the key only
func.func @f(%q: tensor<?x4x6x8xf32>, %k: tensor<2x2x10x8xf32>, %v: tensor<2x2x10x8xf32>, %o: tensor<3x4x6x8xf32>) {
  // expected-error @+1 {{expects output to have shape 2x4x6x8, but got 3x4x6x8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<?x4x6x8xf32>, tensor<2x2x10x8xf32>, tensor<2x2x10x8xf32>)
      outs(%o : tensor<3x4x6x8xf32>)
  return
}

// -----

// C8: tensors or memrefs
func.func @f(%q: tensor<1x4x6x8xf32>, %o: memref<1x4x6x8xf32>) {
  // expected-error @+1 {{expects all tensors or all memrefs, but got operands of both kinds}}
  attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// C8: lengths are shaped operands too
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: memref<1xi32>) {
  // expected-error @+1 {{expects all tensors or all memrefs, but got operands of both kinds}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_q(%x : memref<1xi32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C9: element type
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf64>) {
  // expected-error @+1 {{expects lse of element type f32, but got 'f64'}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf64>)
  return
}

// -----

// C9: bhs
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %l: tensor<4x6xf32>) {
  // expected-error @+1 {{expects lse to have shape 1x4x6, but got 4x6}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o, %l : tensor<1x4x6x8xf32>, tensor<4x6xf32>)
  return
}

// -----

// C9: bhs of layout bshd
func.func @f(%q: tensor<1x6x4x8xf32>, %k: tensor<1x10x2x8xf32>, %v: tensor<1x10x2x8xf32>, %o: tensor<1x6x4x8xf32>, %l: tensor<1x6x4xf32>) {
  // expected-error @+1 {{expects lse to have shape 1x4x6, but got 1x6x4}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<1x6x4x8xf32>, tensor<1x10x2x8xf32>, tensor<1x10x2x8xf32>)
      outs(%o, %l : tensor<1x6x4x8xf32>, tensor<1x6x4xf32>) {layout = bshd}
  return
}

// -----

// C9: hs_packed
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %l: tensor<6x4xf32>, %cu: tensor<3xi32>) {
  // expected-error @+1 {{expects lse to have shape 4x6, but got 6x4}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%o, %l : tensor<6x4x8xf32>, tensor<6x4xf32>) {layout = thd}
  return
}

// -----

// C9: sh_packed
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %l: tensor<4x6xf32>, %cu: tensor<3xi32>) {
  // expected-error @+1 {{expects lse to have shape 6x4, but got 4x6}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%o, %l : tensor<6x4x8xf32>, tensor<4x6xf32>) {layout = thd, lse_layout = sh_packed}
  return
}

// -----

// C9: bhs_padded
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %l: tensor<3x4x6xf32>, %cu: tensor<3xi32>) {
  // expected-error @+1 {{expects lse to have shape 2x4x?, but got 3x4x6}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%o, %l : tensor<6x4x8xf32>, tensor<3x4x6xf32>) {layout = thd, lse_layout = bhs_padded}
  return
}

// -----

// C10: lse_base
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects an lse destination with lse_base}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {lse_base = two}
  return
}

// -----

// C10: lse_layout
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects an lse destination with lse_layout}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {lse_layout = bhs}
  return
}

// -----

// C11: bhsd
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %l: tensor<4x6xf32>) {
  // expected-error @+1 {{expects lse_layout bhs with layout bhsd, but got hs_packed}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o, %l : tensor<1x4x6x8xf32>, tensor<4x6xf32>) {lse_layout = hs_packed}
  return
}

// -----

// C11: bshd
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>) {
  // expected-error @+1 {{expects lse_layout bhs with layout bshd, but got bhs_padded}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>) {layout = bshd, lse_layout = bhs_padded}
  return
}

// -----

// C11: thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %l: tensor<4x6xf32>, %cu: tensor<3xi32>) {
  // expected-error @+1 {{expects lse_layout hs_packed, sh_packed or bhs_padded with layout thd, but got bhs}}
  %0:2 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%o, %l : tensor<6x4x8xf32>, tensor<4x6xf32>) {layout = thd, lse_layout = bhs}
  return
}

// -----

// C12: window_left below -1
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects window_left to be at least -1, but got -2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {window_left = -2}
  return
}

// -----

// C12: window_right below -1
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects window_right to be at least -1, but got -9223372036854775808}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {window_right = -9223372036854775808}
  return
}

// -----

// C12: window_left beyond 2^31 - 1
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects window_left to be at most 2147483647, but got 2147483648}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {window_left = 2147483648}
  return
}

// -----

// C12: window_right beyond 2^31 - 1
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects window_right to be at most 2147483647, but got 9223372036854775807}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {window_right = 9223372036854775807}
  return
}

// -----

// C13
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects window_right to be -1 or 0 with causal, which hides all keys right of the diagonal, but got 1}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {causal, window_right = 1}
  return
}

// -----

// C14: zero
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {softcap = 0.0}
  return
}

// -----

// C14: negative
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got -30}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {softcap = -30.0}
  return
}

// -----

// C14: infinite
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got inf}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {softcap = 0x7FF0000000000000 : f64}
  return
}

// -----

// C14: NaN
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got nan}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {softcap = 0x7FF8000000000000 : f64}
  return
}

// -----

// C14: infinite once it is f32
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got 1e+300}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {softcap = 1.0e300}
  return
}

// -----

// C14: subnormal once it is f32
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got 1e-40}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {softcap = 1.0e-40}
  return
}

// -----

// C15: infinite
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects scale to be finite in f32, but got -inf}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {scale = 0xFFF0000000000000 : f64}
  return
}

// -----

// C15: NaN
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects scale to be finite in f32, but got nan}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {scale = 0x7FF8000000000000 : f64}
  return
}

// -----

// C15: infinite once it is f32
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects scale to be finite in f32, but got 1e+39}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {scale = 1.0e39}
  return
}

// -----

// C15: twice
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: f32) {
  // expected-error @+1 {{expects one scale, but got an attribute and an operand}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      scale_value(%x : f32)
      outs(%o : tensor<1x4x6x8xf32>) {scale = 1.0}
  return
}

// -----

// C15: the operand is f32
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: f64) {
  // expected-error @+1 {{must be scale_value, 32-bit float, but got 'f64'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      scale_value(%x : f64)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C16: nothing reads the diagonal
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects causal, a window or alibi_slopes with diagonal_alignment, which means nothing without}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {diagonal_alignment = top_left}
  return
}

// -----

// C16: and an offset
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: i32) {
  // expected-error @+1 {{expects either diagonal_alignment or explicit offsets, but got both}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      kv_offset(%x : i32)
      outs(%o : tensor<1x4x6x8xf32>) {causal, diagonal_alignment = bottom_right}
  return
}

// -----

// C17: negative
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects sink_tokens not to be negative, but got -1}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {sink_tokens = -1}
  return
}

// -----

// C17: beyond 2^31 - 1
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects sink_tokens to be at most 2147483647, but got 2147483648}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {window_left = 1, sink_tokens = 2147483648}
  return
}

// -----

// C17: without window_left
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects window_left with sink_tokens, which are visible anyway without it}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {causal, sink_tokens = 4}
  return
}

// -----

// C18: bias
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<2x6x10xf32>) {
  // expected-error @+1 {{expects bias to broadcast to 1x4x6x10, but got 2x6x10}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      bias(%x : tensor<2x6x10xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C18: mask of key heads (D12)
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<1x2x6x10xi1>) {
  // expected-error @+1 {{expects mask to broadcast to 1x4x6x10, but got 1x2x6x10}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      mask(%x : tensor<1x2x6x10xi1>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C18: rank
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<1x1x4x6x10xi8>) {
  // expected-error @+1 {{expects mask to broadcast to 1x4x6x10, but got 1x1x4x6x10}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      mask(%x : tensor<1x1x4x6x10xi8>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C18: layout bshd broadcasts to [B, Hq, Sq, Skv] too
func.func @f(%q: tensor<1x6x4x8xf32>, %k: tensor<1x10x2x8xf32>, %v: tensor<1x10x2x8xf32>, %o: tensor<1x6x4x8xf32>, %x: tensor<1x6x4x10xf32>) {
  // expected-error @+1 {{expects bias to broadcast to 1x4x6x10, but got 1x6x4x10}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x6x4x8xf32>, tensor<1x10x2x8xf32>, tensor<1x10x2x8xf32>)
      bias(%x : tensor<1x6x4x10xf32>)
      outs(%o : tensor<1x6x4x8xf32>) {layout = bshd}
  return
}

// -----

// C18: dims that only bias and mask know
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<6x7xf32>, %y: tensor<6x8xi1>) {
  // expected-error @+1 {{expects mask to broadcast to 1x4x6x7, but got 6x8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
      bias(%x : tensor<6x7xf32>) mask(%y : tensor<6x8xi1>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C19: alibi_slopes
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<2xf32>) {
  // expected-error @+1 {{expects alibi_slopes to have shape 4, but got 2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      alibi_slopes(%x : tensor<2xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C19: alibi_slopes a batch
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<4x1xf32>) {
  // expected-error @+1 {{expects alibi_slopes to have shape 1x4, but got 4x1}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      alibi_slopes(%x : tensor<4x1xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C19: rank of alibi_slopes
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<f32>) {
  // expected-error @+1 {{expects alibi_slopes to have shape 4, but got scalar}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      alibi_slopes(%x : tensor<f32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C19: sink
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<1x4xf32>) {
  // expected-error @+1 {{expects sink to have shape 4, but got 1x4}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      sink(%x : tensor<1x4xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: shape
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<2xi32>) {
  // expected-error @+1 {{expects seqlens_q to have shape 1, but got 2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_q(%x : tensor<2xi32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: rank
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<i32>) {
  // expected-error @+1 {{expects seqlens_kv to have shape 1, but got scalar}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_kv(%x : tensor<i32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: a batch size that only seqlens know
func.func @f(%q: tensor<?x4x6x8xf32>, %k: tensor<?x2x10x8xf32>, %v: tensor<?x2x10x8xf32>, %o: tensor<?x4x6x8xf32>, %x: tensor<2xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{expects seqlens_kv to have shape 2, but got 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<?x4x6x8xf32>, tensor<?x2x10x8xf32>, tensor<?x2x10x8xf32>)
      seqlens_q(%x : tensor<2xi32>) seqlens_kv(%y : tensor<3xi32>)
      outs(%o : tensor<?x4x6x8xf32>)
  return
}

// -----

// C20: element type
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<1xi64>) {
  // expected-error @+1 {{must be seqlens_q, index, i32, i64, or a [B] tensor or memref of i32, but got 'tensor<1xi64>'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_q(%x : tensor<1xi64>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: a scalar i16
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: i16) {
  // expected-error @+1 {{must be seqlens_kv, index, i32, i64, or a [B] tensor or memref of i32, but got 'i16'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_kv(%x : i16)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: a scalar f32
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: f32) {
  // expected-error @+1 {{must be seqlens_kv, index, i32, i64, or a [B] tensor or memref of i32, but got 'f32'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_kv(%x : f32)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: a scalar ui32
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: ui32) {
  // expected-error @+1 {{must be seqlens_kv, index, i32, i64, or a [B] tensor or memref of i32, but got 'ui32'}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      seqlens_kv(%x : ui32)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C20: layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: i32) {
  // expected-error @+1 {{expects no seqlens_kv with layout thd, whose lengths are in cu_seqlens}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      seqlens_kv(%x : i32)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: without its twin
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: tensor<3xi32>) {
  // expected-error @+1 {{expects cu_seqlens_q and cu_seqlens_kv together, but got only cu_seqlens_q}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%x : tensor<3xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: without its twin
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: tensor<3xi32>) {
  // expected-error @+1 {{expects cu_seqlens_q and cu_seqlens_kv together, but got only cu_seqlens_kv}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_kv(%x : tensor<3xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: thd without them
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>) {
  // expected-error @+1 {{expects cu_seqlens_q and cu_seqlens_kv with layout thd}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: bhsd with them
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<2xi32>) {
  // expected-error @+1 {{expects layout thd with cu_seqlens, but got bhsd}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      cu_seqlens_q(%x : tensor<2xi32>) cu_seqlens_kv(%x : tensor<2xi32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C21: length
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: tensor<3xi32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{expects cu_seqlens_q and cu_seqlens_kv to be equally long, but got 3 and 4}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%x : tensor<3xi32>) cu_seqlens_kv(%y : tensor<4xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: rank
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: tensor<3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{expects cu_seqlens_kv of rank 1, but got rank 2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%x : tensor<3xi32>) cu_seqlens_kv(%y : tensor<1x3xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: not even one
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: tensor<0xi32>) {
  // expected-error @+1 {{expects cu_seqlens_q to have at least one element, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      cu_seqlens_q(%x : tensor<0xi32>) cu_seqlens_kv(%x : tensor<0xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C21: a batch size that only cu_seqlens_kv knows
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %x: tensor<?xi32>, %y: tensor<3xi32>, %s: tensor<3x4xf32>) {
  // expected-error @+1 {{expects alibi_slopes to have shape 2x4, but got 3x4}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      alibi_slopes(%s : tensor<3x4xf32>)
      cu_seqlens_q(%x : tensor<?xi32>) cu_seqlens_kv(%y : tensor<3xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C22: block_table alone
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects block_table and page_size together, but got only block_table}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>)
  return
}

// -----

// C22: page_size alone
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects block_table and page_size together, but got only page_size}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {page_size = 16}
  return
}

// -----

// C22: no lengths
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects seqlens_kv with block_table}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 16}
  return
}

// -----

// C22: page_size 0
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: tensor<3xi32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects page_size to be between 1 and 2147483647, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      seqlens_kv(%n : tensor<3xi32>) block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 0}
  return
}

// -----

// C22: page_size beyond 2^31 - 1
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: tensor<3xi32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects page_size to be between 1 and 2147483647, but got 2147483648}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      seqlens_kv(%n : tensor<3xi32>) block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 2147483648}
  return
}

// -----

// C22: page dim of key
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: tensor<3xi32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects the page dim of key and value to equal page_size, but got 16 and 32}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      seqlens_kv(%n : tensor<3xi32>) block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 32}
  return
}

// -----

// C22: page dim of value alone
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x?x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: tensor<3xi32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects the page dim of key and value to equal page_size, but got 16 and 32}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x?x8xf32>, tensor<9x2x16x8xf32>)
      seqlens_kv(%n : tensor<3xi32>) block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 32}
  return
}

// -----

// C22: pools of one size (C5)
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<8x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: tensor<3xi32>, %x: tensor<3x7xi32>) {
  // expected-error @+1 {{expects pools of key and value of as many pages, but got 9 and 8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<8x2x16x8xf32>)
      seqlens_kv(%n : tensor<3xi32>) block_table(%x : tensor<3x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 16}
  return
}

// -----

// C22: shape of block_table
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: tensor<3xi32>, %x: tensor<7xi32>) {
  // expected-error @+1 {{expects block_table to have shape 3x?, but got 7}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      seqlens_kv(%n : tensor<3xi32>) block_table(%x : tensor<7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 16}
  return
}

// -----

// C22: batch of block_table
func.func @f(%q: tensor<3x4x1x8xf32>, %k: tensor<9x2x16x8xf32>, %v: tensor<9x2x16x8xf32>, %o: tensor<3x4x1x8xf32>, %n: i32, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects block_table to have shape 3x?, but got 2x7}}
  %0 = attn.attention ins(%q, %k, %v : tensor<3x4x1x8xf32>, tensor<9x2x16x8xf32>, tensor<9x2x16x8xf32>)
      seqlens_kv(%n : i32) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<3x4x1x8xf32>) {page_size = 16}
  return
}

// -----

// C1: pools of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects key of rank 4 for layout thd with block_table, but got rank 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C1: pools of layout thd without block_table
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects key of rank 3 for layout thd, but got rank 4}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C3: layout thd with block_table
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x16xf32>, %v: tensor<9x16x2x16xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects key head dim to equal query head dim, but got 16 and 8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x16xf32>, tensor<9x16x2x16xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C5: pools of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<8x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects pools of key and value of as many pages, but got 9 and 8}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<8x16x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C6: pools of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x3x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects query heads to be a multiple of key heads, but got 4 and 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x3x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C20: seqlens_kv for packed keys
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<10x2x8xf32>, %v: tensor<10x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects no seqlens_kv with layout thd, whose lengths are in cu_seqlens}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<10x2x8xf32>, tensor<10x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// C20: seqlens_q with pages of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects no seqlens_q with layout thd, whose lengths are in cu_seqlens}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_q(%n : tensor<2xi32>) seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C20: batch of seqlens_kv with pages of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects seqlens_kv to have shape 2, but got 3}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_kv(%n3 : tensor<3xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C21: cu_seqlens_kv with pages of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects no cu_seqlens_kv with block_table, whose lengths are in seqlens_kv}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) cu_seqlens_kv(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C21: pages of layout thd without cu_seqlens_q
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects cu_seqlens_q with layout thd and block_table}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C21: cu_seqlens_q with pages of another layout
func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<2x6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects layout thd with cu_seqlens, but got bshd}}
  %0 = attn.attention ins(%q, %k, %v : tensor<2x6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<2x6x4x8xf32>) {layout = bshd, page_size = 16}
  return
}

// -----

// C22: layout thd without seqlens_kv
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects seqlens_kv with block_table}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 16}
  return
}

// -----

// C22: page dim of layout thd
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<9x16x2x8xf32>, %v: tensor<9x16x2x8xf32>, %o: tensor<6x4x8xf32>, %cu: tensor<3xi32>, %n: tensor<2xi32>, %n3: tensor<3xi32>, %x: tensor<2x7xi32>) {
  // expected-error @+1 {{expects the page dim of key and value to equal page_size, but got 16 and 2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<6x4x8xf32>, tensor<9x16x2x8xf32>, tensor<9x16x2x8xf32>)
      seqlens_kv(%n : tensor<2xi32>) cu_seqlens_q(%cu : tensor<3xi32>) block_table(%x : tensor<2x7xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, page_size = 2}
  return
}

// -----

// C23: negative
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects num_kv_splits to be between 0 and 65535, but got -1}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {num_kv_splits = -1}
  return
}

// -----

// C23: too many
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects num_kv_splits to be between 0 and 65535, but got 65536}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {num_kv_splits = 65536}
  return
}

// -----

// C24: value (E1)
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x2x10x8xf32>, %v: memref<1x2x10x8xf32, strided<[320, 160, 16, 2]>>, %o: memref<1x4x6x8xf32>) {
  // expected-error @+1 {{expects value to have unit inner stride, but got 2}}
  attn.attention ins(%q, %k, %v : memref<1x4x6x8xf32>, memref<1x2x10x8xf32>, memref<1x2x10x8xf32, strided<[320, 160, 16, 2]>>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// C24: output
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x2x10x8xf32>, %v: memref<1x2x10x8xf32>, %o: memref<1x4x6x8xf32, strided<[192, 48, 1, 6]>>) {
  // expected-error @+1 {{expects output to have unit inner stride, but got 6}}
  attn.attention ins(%q, %k, %v : memref<1x4x6x8xf32>, memref<1x2x10x8xf32>, memref<1x2x10x8xf32>)
      outs(%o : memref<1x4x6x8xf32, strided<[192, 48, 1, 6]>>)
  return
}

// -----

// C25
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<2xi32>) {
  // expected-error @+1 {{expects q_offset to have shape 1, but got 2}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      q_offset(%x : tensor<2xi32>)
      outs(%o : tensor<1x4x6x8xf32>) {causal}
  return
}

// -----

// C25
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<1x1xi32>) {
  // expected-error @+1 {{expects kv_offset to have shape 1, but got 1x1}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      kv_offset(%x : tensor<1x1xi32>)
      outs(%o : tensor<1x4x6x8xf32>) {causal}
  return
}

// -----

// C26: no destination
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one destination for the output and at most one for the lse, but got 0 destinations}}
  "attn.attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> ()
  return
}

// -----

// C26: three destinations
func.func @f(%q: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>) {
  // expected-error @+1 {{expects one destination for the output and at most one for the lse, but got 3 destinations}}
  %0:3 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q, %l, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>)
  return
}

// -----

// C26: operand groups
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one query, but got 2 in operandSegmentSizes}}
  "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// C26: operand groups
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one key, but got 2 in operandSegmentSizes}}
  "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// C26: operand groups
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one value, but got 0 in operandSegmentSizes}}
  "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// C26: two operands in one optional group
func.func @f(%q: tensor<1x4x6x8xf32>, %b: tensor<6x6xf32>) {
  // expected-error @+1 {{operand group starting at #3 requires 0 or 1 element, but found 2}}
  "attn.attention"(%q, %q, %q, %b, %b, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// C26: sizes that do not add up
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{operand count (4) does not match with the total size (5) specified in attribute 'operandSegmentSizes'}}
  "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// C26: a negative size
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'operandSegmentSizes' attribute cannot have negative elements}}
  "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Results are tied to the destinations: none is missing.
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> ()
  return
}

// -----

// Results are tied to the destinations: types are equal.
func.func @f(%q: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expected type of operand #3 ('tensor<1x4x6x8xf32>') to match type of corresponding result ('tensor<1x4x6x?xf32>')}}
  %0 = "attn.attention"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}>
      : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x?xf32>
  return
}

// -----

// C27: query heads
func.func @f(%q: tensor<1x0x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x0x6x8xf32>) {
  // expected-error @+1 {{expects query heads to be positive, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x0x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x0x6x8xf32>)
  return
}

// -----

// C27: key heads
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x0x10x8xf32>, %v: tensor<1x0x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects key heads to be positive, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x0x10x8xf32>, tensor<1x0x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C27: value heads
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x0x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects value heads to be positive, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x0x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C27: head dim of query and key
func.func @f(%q: tensor<1x4x6x0xf32>, %k: tensor<1x2x10x0xf32>, %v: tensor<1x2x10x8xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects query head dim to be positive, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x0xf32>, tensor<1x2x10x0xf32>, tensor<1x2x10x8xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// C27: head dim of value
func.func @f(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x10x8xf32>, %v: tensor<1x2x10x0xf32>, %o: tensor<1x4x6x0xf32>) {
  // expected-error @+1 {{expects value head dim to be positive, but got 0}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x4x6x8xf32>, tensor<1x2x10x8xf32>, tensor<1x2x10x0xf32>)
      outs(%o : tensor<1x4x6x0xf32>)
  return
}

// -----

// C28: the output is the query
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x4x6x8xf32>) {
  // expected-error @+1 {{expects a memref destination to be no other operand, but got one value as operands 0 and 3}}
  attn.attention ins(%q, %k, %k : memref<1x4x6x8xf32>, memref<1x4x6x8xf32>, memref<1x4x6x8xf32>)
      outs(%q : memref<1x4x6x8xf32>)
  return
}

// -----

// C29: a reversed view (E5)
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x2x10x8xf32, strided<[160, 80, -8, 1], offset: 72>>, %v: memref<1x2x10x8xf32, strided<[160, 80, -8, 1], offset: 72>>, %o: memref<1x4x6x8xf32>) {
  // expected-error @+1 {{expects strides not to be negative, but got -8 in operand 1}}
  attn.attention ins(%q, %k, %v : memref<1x4x6x8xf32>, memref<1x2x10x8xf32, strided<[160, 80, -8, 1], offset: 72>>, memref<1x2x10x8xf32, strided<[160, 80, -8, 1], offset: 72>>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// C29: a reversed bias
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x2x10x8xf32>, %v: memref<1x2x10x8xf32>, %o: memref<1x4x6x8xf32>, %x: memref<6x10xf32, strided<[10, -1], offset: 9>>) {
  // expected-error @+1 {{expects strides not to be negative, but got -1 in operand 3}}
  attn.attention ins(%q, %k, %v : memref<1x4x6x8xf32>, memref<1x2x10x8xf32>, memref<1x2x10x8xf32>)
      bias(%x : memref<6x10xf32, strided<[10, -1], offset: 9>>)
      outs(%o : memref<1x4x6x8xf32>)
  return
}

// -----

// C29: an output that overlaps itself
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x2x10x8xf32>, %v: memref<1x2x10x8xf32>, %o: memref<1x4x6x8xf32, strided<[0, 0, 8, 1]>>) {
  // expected-error @+1 {{expects strides of a destination to be positive, but got 0 in operand 3}}
  attn.attention ins(%q, %k, %v : memref<1x4x6x8xf32>, memref<1x2x10x8xf32>, memref<1x2x10x8xf32>)
      outs(%o : memref<1x4x6x8xf32, strided<[0, 0, 8, 1]>>)
  return
}

// -----

// C29: an lse that overlaps itself
func.func @f(%q: memref<1x4x6x8xf32>, %k: memref<1x2x10x8xf32>, %v: memref<1x2x10x8xf32>, %o: memref<1x4x6x8xf32>, %l: memref<1x4x6xf32, strided<[0, 6, 0]>>) {
  // expected-error @+1 {{expects strides of a destination to be positive, but got 0 in operand 4}}
  attn.attention ins(%q, %k, %v : memref<1x4x6x8xf32>, memref<1x2x10x8xf32>, memref<1x2x10x8xf32>)
      outs(%o, %l : memref<1x4x6x8xf32>, memref<1x4x6xf32, strided<[0, 6, 0]>>)
  return
}

// -----

// O1: rank of key
func.func @f(%q: tensor<4x8xf32>, %k: tensor<1x6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects key of rank 2, but got rank 3}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<1x6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O1: element types
func.func @f(%q: tensor<4x8xf16>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects one element type for query, key and value, but got 'f16', 'f32' and 'f32'}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf16>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O1: head dim
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x7xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects key head dim to equal query head dim, but got 7 and 8}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x7xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O1: lengths
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<5x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects value length to equal key length, but got 5 and 6}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<5x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O2: rank of acc
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects acc of rank 2, but got rank 1}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O2: element type
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf16>, %m: tensor<4xf16>, %l: tensor<4xf16>) {
  // expected-error @+1 {{expects a state of f32 or f64, but got 'f16'}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf16>, tensor<4xf16>, tensor<4xf16>)
  return
}

// -----

// O2: one element type
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf64>, %l: tensor<4xf64>) {
  // expected-error @+1 {{expects max to have the element type of acc, but got 'f64' and 'f32'}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf64>, tensor<4xf64>)
  return
}

// -----

// O2: shape of sum
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<5xf32>) {
  // expected-error @+1 {{expects sum to have shape 4, but got 5}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

// O2: lengths that only max and sum know
func.func @f(%q: tensor<?x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<?x16xf32>, %m: tensor<4xf32>, %l: tensor<5xf32>) {
  // expected-error @+1 {{expects sum to have shape 4, but got 5}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<?x16xf32>, tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

// O2: shape of acc
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x8xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects acc to have shape 4x16, but got 4x8}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O3
func.func @f(%q: tensor<4x8xf32>, %m: memref<4xf32>, %acc: memref<4x8xf32>) {
  // expected-error @+1 {{expects all tensors or all memrefs, but got operands of both kinds}}
  attn.online_attention ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      outs(%acc, %m, %m : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
  return
}

// -----

// O4: causal
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects 'at' (row, column) with causal, a window or alibi_slope}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {causal}
  return
}

// -----

// O4: a window
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects 'at' (row, column) with causal, a window or alibi_slope}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {window_right = 0}
  return
}

// -----

// O4: alibi_slope
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %x: f32) {
  // expected-error @+1 {{expects 'at' (row, column) with causal, a window or alibi_slope}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      alibi_slope(%x : f32)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O4: half a position
func.func @f(%q: tensor<4x8xf32>, %row: index, %m: tensor<4xf32>) {
  // expected-error @+1 {{expects row and column together}}
  %0:3 = "attn.online_attention"(%q, %q, %q, %row, %q, %m, %m)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 3>}>
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, index, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O5: bias
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %x: tensor<6x4xf32>) {
  // expected-error @+1 {{expects bias to broadcast to 4x6, but got 6x4}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      bias(%x : tensor<6x4xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O5: mask
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %x: tensor<1x1x6xi1>) {
  // expected-error @+1 {{expects mask to broadcast to 4x6, but got 1x1x6}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      mask(%x : tensor<1x1x6xi1>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O6: as C12
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{expects window_left to be at least -1, but got -2}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      at(%i, %i)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {window_left = -2}
  return
}

// -----

// O6: as C13
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{expects window_right to be -1 or 0 with causal, which hides all keys right of the diagonal, but got 3}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      at(%i, %i)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {causal, window_right = 3}
  return
}

// -----

// O6: as C14
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects softcap to be finite, positive and normal in f32, but got -1}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {softcap = -1}
  return
}

// -----

// O6: as C15
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %x: f32) {
  // expected-error @+1 {{expects one scale, but got an attribute and an operand}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      scale_value(%x : f32)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {scale = 1}
  return
}

// -----

// O6: as C17
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{expects window_left with sink_tokens, which are visible anyway without it}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x16xf32>)
      at(%i, %i)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>) {causal, sink_tokens = 1}
  return
}

// -----

// O7: destinations
func.func @f(%q: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expects three destinations (acc, max, sum), but got 2}}
  %0:2 = attn.online_attention ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      outs(%q, %m : tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

// O7: operand groups
func.func @f(%q: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expects one key, but got 0 in operandSegmentSizes}}
  %0:3 = "attn.online_attention"(%q, %q, %q, %q, %m, %m)
      <{operandSegmentSizes = array<i32: 1, 0, 2, 0, 0, 0, 0, 0, 0, 3>}>
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O8: query and key
func.func @f(%q: tensor<4x0xf32>, %k: tensor<6x0xf32>, %v: tensor<6x16xf32>, %acc: tensor<4x16xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects query head dim to be positive, but got 0}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x0xf32>, tensor<6x0xf32>, tensor<6x16xf32>)
      outs(%acc, %m, %l : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O8: value
func.func @f(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x0xf32>, %acc: tensor<4x0xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects value head dim to be positive, but got 0}}
  %0:3 = attn.online_attention ins(%q, %k, %v : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x0xf32>)
      outs(%acc, %m, %l : tensor<4x0xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// O9: as C24
func.func @f(%q: memref<4x8xf32>, %k: memref<6x8xf32>, %v: memref<6x16xf32>, %acc: memref<4x16xf32, strided<[1, 4]>>, %m: memref<4xf32>, %l: memref<4xf32>) {
  // expected-error @+1 {{expects acc to have unit inner stride, but got 4}}
  attn.online_attention ins(%q, %k, %v : memref<4x8xf32>, memref<6x8xf32>, memref<6x16xf32>)
      outs(%acc, %m, %l : memref<4x16xf32, strided<[1, 4]>>, memref<4xf32>, memref<4xf32>)
  return
}

// -----

// O9: as C28
func.func @f(%q: memref<4x8xf32>, %acc: memref<4x8xf32>, %m: memref<4xf32>) {
  // expected-error @+1 {{expects a memref destination to be no other operand, but got one value as operands 4 and 5}}
  attn.online_attention ins(%q, %q, %q : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>)
      outs(%acc, %m, %m : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
  return
}

// -----

// O9: as C29
func.func @f(%q: memref<4x8xf32, strided<[-8, 1], offset: 24>>, %k: memref<6x8xf32>, %v: memref<6x16xf32>, %acc: memref<4x16xf32>, %m: memref<4xf32>, %l: memref<4xf32>) {
  // expected-error @+1 {{expects strides not to be negative, but got -8 in operand 0}}
  attn.online_attention ins(%q, %k, %v : memref<4x8xf32, strided<[-8, 1], offset: 24>>, memref<6x8xf32>, memref<6x16xf32>)
      outs(%acc, %m, %l : memref<4x16xf32>, memref<4xf32>, memref<4xf32>)
  return
}

// -----

// F1: rank of acc
func.func @f(%acc: tensor<1x4x16xf32>, %m: tensor<4xf32>, %s: tensor<4xf32>, %o: tensor<4x16xf16>) {
  // expected-error @+1 {{expects acc of rank 2, but got rank 3}}
  %0 = attn.finalize ins(%acc, %m, %s : tensor<1x4x16xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%o : tensor<4x16xf16>)
  return
}

// -----

// F1: element type
func.func @f(%acc: tensor<4x16xbf16>, %m: tensor<4xbf16>, %s: tensor<4xbf16>, %o: tensor<4x16xf16>) {
  // expected-error @+1 {{expects a state of f32 or f64, but got 'bf16'}}
  %0 = attn.finalize ins(%acc, %m, %s : tensor<4x16xbf16>, tensor<4xbf16>, tensor<4xbf16>)
      outs(%o : tensor<4x16xf16>)
  return
}

// -----

// F1: one element type
func.func @f(%acc: tensor<4x16xf32>, %m: tensor<4xf32>, %s: tensor<4xf64>, %o: tensor<4x16xf16>) {
  // expected-error @+1 {{expects sum to have the element type of acc, but got 'f64' and 'f32'}}
  %0 = attn.finalize ins(%acc, %m, %s : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf64>)
      outs(%o : tensor<4x16xf16>)
  return
}

// -----

// F1: shape of max
func.func @f(%acc: tensor<4x16xf32>, %m: tensor<4x1xf32>, %s: tensor<4x1xf32>, %o: tensor<4x16xf16>) {
  // expected-error @+1 {{expects max to have shape 4, but got 4x1}}
  %0 = attn.finalize ins(%acc, %m, %s : tensor<4x16xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
      outs(%o : tensor<4x16xf16>)
  return
}

// -----

// F2: shape of output
func.func @f(%acc: tensor<4x16xf32>, %m: tensor<4xf32>, %s: tensor<4xf32>, %o: tensor<4x8xf16>) {
  // expected-error @+1 {{expects output to have shape 4x16, but got 4x8}}
  %0 = attn.finalize ins(%acc, %m, %s : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%o : tensor<4x8xf16>)
  return
}

// -----

// F2: element type of lse
func.func @f(%acc: tensor<4x16xf32>, %m: tensor<4xf32>, %s: tensor<4xf32>, %o: tensor<4x16xf16>, %l: tensor<4xf64>) {
  // expected-error @+1 {{expects lse of element type f32, but got 'f64'}}
  %0:2 = attn.finalize ins(%acc, %m, %s : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%o, %l : tensor<4x16xf16>, tensor<4xf64>)
  return
}

// -----

// F2: shape of lse
func.func @f(%acc: tensor<4x16xf32>, %m: tensor<4xf32>, %s: tensor<4xf32>, %o: tensor<4x16xf16>, %l: tensor<5xf32>) {
  // expected-error @+1 {{expects lse to have shape 4, but got 5}}
  %0:2 = attn.finalize ins(%acc, %m, %s : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%o, %l : tensor<4x16xf16>, tensor<5xf32>)
  return
}

// -----

// F2: rows that only the output knows
func.func @f(%acc: tensor<?x16xf32>, %m: tensor<?xf32>, %s: tensor<?xf32>, %o: tensor<4x16xf16>, %l: tensor<5xf32>) {
  // expected-error @+1 {{expects lse to have shape 4, but got 5}}
  %0:2 = attn.finalize ins(%acc, %m, %s : tensor<?x16xf32>, tensor<?xf32>, tensor<?xf32>)
      outs(%o, %l : tensor<4x16xf16>, tensor<5xf32>)
  return
}

// -----

// F3
func.func @f(%acc: tensor<4x8xf32>, %m: tensor<4xf32>, %o: memref<4x8xf32>) {
  // expected-error @+1 {{expects all tensors or all memrefs, but got operands of both kinds}}
  attn.finalize ins(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%o : memref<4x8xf32>)
  return
}

// -----

// F4
func.func @f(%acc: tensor<4x16xf32>, %m: tensor<4xf32>, %s: tensor<4xf32>, %o: tensor<4x16xf16>) {
  // expected-error @+1 {{expects an lse destination with lse_base}}
  %0 = attn.finalize ins(%acc, %m, %s : tensor<4x16xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%o : tensor<4x16xf16>) {lse_base = two}
  return
}

// -----

// F5: destinations
func.func @f(%acc: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expects one destination for the output and at most one for the lse, but got 3 destinations}}
  %0:3 = attn.finalize ins(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// F5: operand groups
func.func @f(%acc: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expects one sum, but got 0 in operandSegmentSizes}}
  %0 = "attn.finalize"(%acc, %m, %acc) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}>
      : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// F6: as C24
func.func @f(%acc: memref<4x16xf32>, %m: memref<4xf32>, %s: memref<4xf32>, %o: memref<4x16xf32, strided<[32, 2]>>) {
  // expected-error @+1 {{expects output to have unit inner stride, but got 2}}
  attn.finalize ins(%acc, %m, %s : memref<4x16xf32>, memref<4xf32>, memref<4xf32>)
      outs(%o : memref<4x16xf32, strided<[32, 2]>>)
  return
}

// -----

// F6: as C28
func.func @f(%acc: memref<4x8xf32>, %m: memref<4xf32>, %l: memref<4xf32>) {
  // expected-error @+1 {{expects a memref destination to be no other operand, but got one value as operands 0 and 3}}
  attn.finalize ins(%acc, %m, %l : memref<4x8xf32>, memref<4xf32>, memref<4xf32>)
      outs(%acc : memref<4x8xf32>)
  return
}

// -----

// F6: as C29
func.func @f(%acc: memref<4x16xf32>, %m: memref<4xf32>, %s: memref<4xf32>, %o: memref<4x16xf16>, %l: memref<4xf32, strided<[0]>>) {
  // expected-error @+1 {{expects strides of a destination to be positive, but got 0 in operand 4}}
  attn.finalize ins(%acc, %m, %s : memref<4x16xf32>, memref<4xf32>, memref<4xf32>)
      outs(%o, %l : memref<4x16xf16>, memref<4xf32, strided<[0]>>)
  return
}

// -----

// M1
func.func @f(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects at least one state, but got none}}
  %0 = "attn.merge_states"(%o) <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// M2: element types
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o1: tensor<1x4x6x8xf16>, %l1: tensor<1x4x6xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects one element type for all outputs, but got 'f32' and 'f16'}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>), (%o1, %l1 : tensor<1x4x6x8xf16>, tensor<1x4x6xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// M2: shapes of states
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o1: tensor<1x4x7x8xf32>, %l1: tensor<1x4x7xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects output of state 1 to have shape 1x4x6x8, but got 1x4x7x8}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>), (%o1, %l1 : tensor<1x4x7x8xf32>, tensor<1x4x7xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// M2: shape of the destination
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o: tensor<1x4x6x9xf32>) {
  // expected-error @+1 {{expects output to have shape 1x4x6x8, but got 1x4x6x9}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      outs(%o : tensor<1x4x6x9xf32>)
  return
}

// -----

// M2: a dim that only later states know
func.func @f(%o0: tensor<?x8xf32>, %l0: tensor<?xf32>, %o1: tensor<5x8xf32>, %l1: tensor<?xf32>, %o2: tensor<6x8xf32>, %l2: tensor<?xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{expects output of state 2 to have shape 5x8, but got 6x8}}
  %0 = attn.merge_states (%o0, %l0 : tensor<?x8xf32>, tensor<?xf32>), (%o1, %l1 : tensor<5x8xf32>, tensor<?xf32>), (%o2, %l2 : tensor<6x8xf32>, tensor<?xf32>)
      outs(%o : tensor<?x8xf32>)
  return
}

// -----

// M2: rank of a layout
func.func @f(%o0: tensor<4x6x8xf32>, %l0: tensor<4x6xf32>, %o: tensor<4x6x8xf32>) {
  // expected-error @+1 {{expects outputs of rank 4 for layout bshd, but got rank 3}}
  %0 = attn.merge_states (%o0, %l0 : tensor<4x6x8xf32>, tensor<4x6xf32>)
      outs(%o : tensor<4x6x8xf32>) {layout = bshd}
  return
}

// -----

// M2: rank
func.func @f(%o0: tensor<f32>, %l0: tensor<f32>, %o: tensor<f32>) {
  // expected-error @+1 {{expects outputs of rank at least 1 for layout bhsd, but got rank 0}}
  %0 = attn.merge_states (%o0, %l0 : tensor<f32>, tensor<f32>)
      outs(%o : tensor<f32>)
  return
}

// -----

// M3: shape of an lse
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o1: tensor<1x4x6x8xf32>, %l1: tensor<1x6x4xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects lse of state 1 to have shape 1x4x6, but got 1x6x4}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>), (%o1, %l1 : tensor<1x4x6x8xf32>, tensor<1x6x4xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// M3: bshd
func.func @f(%o0: tensor<1x6x4x8xf32>, %l0: tensor<1x6x4xf32>, %o: tensor<1x6x4x8xf32>) {
  // expected-error @+1 {{expects lse of state 0 to have shape 1x4x6, but got 1x6x4}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x6x4x8xf32>, tensor<1x6x4xf32>)
      outs(%o : tensor<1x6x4x8xf32>) {layout = bshd}
  return
}

// -----

// M3: thd
func.func @f(%o0: tensor<6x4x8xf32>, %l0: tensor<6x4xf32>, %o: tensor<6x4x8xf32>) {
  // expected-error @+1 {{expects lse of state 0 to have shape 4x6, but got 6x4}}
  %0 = attn.merge_states (%o0, %l0 : tensor<6x4x8xf32>, tensor<6x4xf32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// M3: element type of an lse
func.func @f(%o0: tensor<4x8xf64>, %l0: tensor<4xf64>, %o: tensor<4x8xf64>) {
  // expected-error @+1 {{operand #1 must be variadic of ranked tensor or strided memref of f32, but got}}
  %0 = attn.merge_states (%o0, %l0 : tensor<4x8xf64>, tensor<4xf64>)
      outs(%o : tensor<4x8xf64>)
  return
}

// -----

// M3: element type of the destination
func.func @f(%o0: tensor<4x8xf32>, %l0: tensor<4xf32>, %o: tensor<4x8xf32>, %l: tensor<4xf64>) {
  // expected-error @+1 {{expects lse of element type f32, but got 'f64'}}
  %0:2 = attn.merge_states (%o0, %l0 : tensor<4x8xf32>, tensor<4xf32>)
      outs(%o, %l : tensor<4x8xf32>, tensor<4xf64>)
  return
}

// -----

// M3: shape of the destination
func.func @f(%o0: tensor<4x8xf32>, %l0: tensor<4xf32>, %o: tensor<4x8xf32>, %l: tensor<8xf32>) {
  // expected-error @+1 {{expects lse to have shape 4, but got 8}}
  %0:2 = attn.merge_states (%o0, %l0 : tensor<4x8xf32>, tensor<4xf32>)
      outs(%o, %l : tensor<4x8xf32>, tensor<8xf32>)
  return
}

// -----

// M4: a state in base two
func.func @f(%q: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>) {
  %0:2 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
      outs(%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>) {lse_base = two}
  // expected-error @+1 {{expects all states to have lse_base e, but state 1 has lse_base two}}
  %1 = attn.merge_states (%q, %l : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>),
      (%0#0, %0#1 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// M4: a finalized state in base e, a merged state in base two
func.func @f(%acc: tensor<4x8xf32>, %m: tensor<4xf32>) {
  %0:2 = attn.finalize ins(%acc, %m, %m : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%acc, %m : tensor<4x8xf32>, tensor<4xf32>)
  %1:2 = attn.merge_states (%acc, %m : tensor<4x8xf32>, tensor<4xf32>)
      outs(%acc, %m : tensor<4x8xf32>, tensor<4xf32>) {lse_base = two}
  // expected-error @+1 {{expects all states to have lse_base two, but state 1 has lse_base e}}
  %2 = attn.merge_states (%1#0, %1#1 : tensor<4x8xf32>, tensor<4xf32>),
      (%0#0, %0#1 : tensor<4x8xf32>, tensor<4xf32>) outs(%acc : tensor<4x8xf32>) {lse_base = two}
  return
}

// -----

// M5
func.func @f(%a: tensor<4x8xf32>, %l: tensor<4xf32>, %o: memref<4x8xf32>) {
  // expected-error @+1 {{expects all tensors or all memrefs, but got operands of both kinds}}
  attn.merge_states (%a, %l : tensor<4x8xf32>, tensor<4xf32>) outs(%o : memref<4x8xf32>)
  return
}

// -----

// M10: layout
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<2xi32>) {
  // expected-error @+1 {{expects layout thd with cu_seqlens_q, but got bhsd}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      cu_seqlens_q(%x : tensor<2xi32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// M10: length
func.func @f(%o0: tensor<6x4x8xf32>, %l0: tensor<4x6xf32>, %o: tensor<6x4x8xf32>, %x: tensor<0xi32>) {
  // expected-error @+1 {{expects the length of cu_seqlens_q to be positive, but got 0}}
  %0 = attn.merge_states (%o0, %l0 : tensor<6x4x8xf32>, tensor<4x6xf32>)
      cu_seqlens_q(%x : tensor<0xi32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd}
  return
}

// -----

// M6: no head dim
func.func @f(%o0: tensor<4x8xf32>, %l0: tensor<4xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expects outputs of rank 4 with sink, but got rank 2}}
  %0 = attn.merge_states (%o0, %l0 : tensor<4x8xf32>, tensor<4xf32>)
      sink(%x : tensor<4xf32>)
      outs(%o : tensor<4x8xf32>)
  return
}

// -----

// M6: shape
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o: tensor<1x4x6x8xf32>, %x: tensor<6xf32>) {
  // expected-error @+1 {{expects sink to have shape 4, but got 6}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      sink(%x : tensor<6xf32>)
      outs(%o : tensor<1x4x6x8xf32>)
  return
}

// -----

// M7: bhsd
func.func @f(%o0: tensor<1x4x6x8xf32>, %l0: tensor<1x4x6xf32>, %o: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{expects lse_layout bhs with layout bhsd, but got sh_packed}}
  %0 = attn.merge_states (%o0, %l0 : tensor<1x4x6x8xf32>, tensor<1x4x6xf32>)
      outs(%o : tensor<1x4x6x8xf32>) {lse_layout = sh_packed}
  return
}

// -----

// M7: thd
func.func @f(%o0: tensor<6x4x8xf32>, %l0: tensor<4x6xf32>, %o: tensor<6x4x8xf32>) {
  // expected-error @+1 {{expects lse_layout hs_packed or sh_packed with layout thd, but got bhs_padded}}
  %0 = attn.merge_states (%o0, %l0 : tensor<6x4x8xf32>, tensor<4x6xf32>)
      outs(%o : tensor<6x4x8xf32>) {layout = thd, lse_layout = bhs_padded}
  return
}

// -----

// M8: destinations
func.func @f(%a: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects one destination for the output and at most one for the lse, but got 3 destinations}}
  %0:3 = attn.merge_states (%a, %l : tensor<4x8xf32>, tensor<4xf32>)
      outs(%a, %l, %l : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// M8: operand groups
func.func @f(%a: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expects one lse an output, but got 1 and 2}}
  %0 = "attn.merge_states"(%a, %a, %l, %a) <{operandSegmentSizes = array<i32: 2, 1, 0, 0, 1>}>
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// M9: as C24
func.func @f(%o0: memref<4x8xf32, strided<[16, 2]>>, %l0: memref<4xf32>, %o: memref<4x8xf32>) {
  // expected-error @+1 {{expects outputs to have unit inner stride, but got 2}}
  attn.merge_states (%o0, %l0 : memref<4x8xf32, strided<[16, 2]>>, memref<4xf32>)
      outs(%o : memref<4x8xf32>)
  return
}

// -----

// M9: as C28, but the output may be that of a state
func.func @f(%a: memref<4x4x4xf32>, %l: memref<4x4xf32>) {
  // expected-error @+1 {{expects a memref destination to be no other operand, but got one value as operands 1 and 2}}
  attn.merge_states (%a, %l : memref<4x4x4xf32>, memref<4x4xf32>) outs(%l : memref<4x4xf32>)
  return
}

// -----

// M2: a stack is alone
func.func @f(%a: tensor<3x4x8xf32>, %l: tensor<3x4xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects output to have shape 3x4x8, but got 4x8}}
  %0 = attn.merge_states (%a, %l : tensor<3x4x8xf32>, tensor<3x4xf32>),
      (%a, %l : tensor<3x4x8xf32>, tensor<3x4xf32>) outs(%o : tensor<4x8xf32>)
  return
}

// -----

// M2: an empty stack
func.func @f(%a: tensor<0x4x8xf32>, %l: tensor<0x4xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects the number of stacked states to be positive, but got 0}}
  %0 = attn.merge_states (%a, %l : tensor<0x4x8xf32>, tensor<0x4xf32>) outs(%o : tensor<4x8xf32>)
  return
}

// -----

// M3: one lse a state of the stack
func.func @f(%a: tensor<3x4x8xf32>, %l: tensor<2x4xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects lse of state 0 to have shape 3x4, but got 2x4}}
  %0 = attn.merge_states (%a, %l : tensor<3x4x8xf32>, tensor<2x4xf32>) outs(%o : tensor<4x8xf32>)
  return
}

// -----

// M9: as C29
func.func @f(%o0: memref<4x8xf32>, %l0: memref<4xf32, strided<[-1], offset: 3>>, %o: memref<4x8xf32>) {
  // expected-error @+1 {{expects strides not to be negative, but got -1 in operand 1}}
  attn.merge_states (%o0, %l0 : memref<4x8xf32>, memref<4xf32, strided<[-1], offset: 3>>)
      outs(%o : memref<4x8xf32>)
  return
}

// -----

// C30: the split dim
func.func @f(%q: tensor<1x4x6x8xf16>, %o: tensor<3x1x4x6x8xf32>) {
  // expected-error @+1 {{expects output to have shape 2x1x4x6x8, but got 3x1x4x6x8}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>)
      outs(%o : tensor<3x1x4x6x8xf32>) {num_kv_splits = 2}
  return
}

// -----

// C30: a number of splits
func.func @f(%q: tensor<1x4x6x8xf16>, %o: tensor<3x1x4x6x8xf32>) {
  // expected-error @+1 {{expects num_kv_splits to be positive for the states of splits, but got 0}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>)
      outs(%o : tensor<3x1x4x6x8xf32>) {num_kv_splits = 0}
  return
}

// -----

// C30: sink
func.func @f(%q: tensor<1x4x6x8xf16>, %s: tensor<4xf32>, %o: tensor<3x1x4x6x8xf32>) {
  // expected-error @+1 {{expects no sink for the states of splits; fold it in with attn.merge_states}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>)
      sink(%s : tensor<4xf32>) outs(%o : tensor<3x1x4x6x8xf32>) {num_kv_splits = 3}
  return
}

// -----

// C31: one split or all
func.func @f(%q: tensor<1x4x6x8xf16>, %i: index, %o: tensor<3x1x4x6x8xf32>) {
  // expected-error @+1 {{expects destinations without a split dim with kv_split}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>)
      kv_split(%i : index) outs(%o : tensor<3x1x4x6x8xf32>) {num_kv_splits = 3}
  return
}
