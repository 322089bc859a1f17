// Every kind of argument and result on the CPU. The inputs are whole numbers,
// so the printed values are exact.

// RUN: mkdir -p %t && cd %t && rm -f *.npy
// RUN: %python %S/Inputs/npy.py write a.npy "np.arange(6, dtype=np.float32).reshape(2, 3)"
// RUN: %python %S/Inputs/npy.py write fortran.npy "np.asfortranarray(np.arange(10, 16, dtype=np.float32).reshape(2, 3))"
// RUN: %python %S/Inputs/npy.py write three.npy "np.float32(3)"
// RUN: %python %S/Inputs/npy.py write five.npy "np.array([5], np.int32)"

// RUN: attn-run %s --device=cpu --entry=tensors --in a=a.npy --in=arg1=fortran.npy \
// RUN:   --out output=sum.npy --out lse=scalar.npy --out same=same.npy
// RUN: %python %S/Inputs/npy.py show sum.npy scalar.npy same.npy | FileCheck %s --check-prefix=TENSORS
// TENSORS: sum.npy <f4 (2, 3) {{\[\[}}10.0, 12.0, 14.0], [16.0, 18.0, 20.0]]
// TENSORS: scalar.npy <f4 () 21.0
// TENSORS: same.npy <f4 (2, 3) {{\[\[}}0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
func.func @tensors(%a: tensor<?x3xf32> {attn.name = "a"}, %b: tensor<?x3xf32>)
    -> (tensor<?x3xf32>, f32, tensor<?x3xf32> {attn.name = "same"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d = tensor.dim %a, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%d) : tensor<?x3xf32>
  %r = linalg.add ins(%a, %b : tensor<?x3xf32>, tensor<?x3xf32>)
                  outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %x = tensor.extract %a[%c1, %c2] : tensor<?x3xf32>
  %y = tensor.extract %r[%c1, %c0] : tensor<?x3xf32>
  %s = arith.addf %x, %y : f32
  return %r, %s, %a : tensor<?x3xf32>, f32, tensor<?x3xf32>
}

// A memref with only an output is full of NaN before the run; one with both is
// updated in place. Rows keep their pitch and the offset.
// RUN: attn-run %s --device=cpu --entry=memrefs --in arg0=a.npy --in arg1=three.npy \
// RUN:   --in arg2=five.npy --out arg0=inplace.npy --out arg3=fresh.npy
// RUN: %python %S/Inputs/npy.py show inplace.npy fresh.npy | FileCheck %s --check-prefix=MEMREFS
// MEMREFS: inplace.npy <f4 (2, 3) {{\[\[}}3.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
// MEMREFS: fresh.npy <f4 (2, 2) {{\[\[}}nan, nan], [nan, 5.0]]
func.func @memrefs(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %x: f32, %n: i32,
                   %fresh: memref<2x2xf32, strided<[7, 2], offset: 3>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.store %x, %a[%c0, %c0] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %y = arith.sitofp %n : i32 to f32
  memref.store %y, %fresh[%c1, %c1] : memref<2x2xf32, strided<[7, 2], offset: 3>>
  return
}

// f32 files are rounded to nearest even for f16 and bf16.
// RUN: %python %S/Inputs/npy.py write ties.npy "np.array([1 + 2**-11, 1 + 3 * 2**-11, 65520, -1e-9], np.float32)"
// RUN: %python %S/Inputs/npy.py write bits.npy "np.array([0x3f80, 0xc000, 0x7f80, 0x0001], np.uint16)"
// RUN: attn-run %s --device=cpu --entry=narrow --in arg0=ties.npy --in arg1=bits.npy \
// RUN:   --out output=f16.npy --out lse=bf16.npy
// RUN: %python %S/Inputs/npy.py show f16.npy bf16.npy | FileCheck %s --check-prefix=NARROW
// NARROW: f16.npy <f2 (4,) [1.0, 1.001953125, inf, -0.0]
// NARROW: bf16.npy <u2 (4,) [16256, 49152, 32640, 1]
func.func @narrow(%a: tensor<4xf16>, %b: tensor<4xbf16>) -> (tensor<4xf16>, tensor<4xbf16>) {
  return %a, %b : tensor<4xf16>, tensor<4xbf16>
}

// Conversions that the host may not have come from the runtime.
// RUN: %python %S/Inputs/npy.py write wide.npy "np.array([1 + 2**-11 + 2**-40, 1 + 2**-11, 65520, 1e300])"
// RUN: attn-run %s --device=cpu --entry=convert --in arg0=wide.npy --out output=half.npy --out lse=brain.npy
// RUN: %python %S/Inputs/npy.py show half.npy brain.npy | FileCheck %s --check-prefix=CONVERT
// CONVERT: half.npy <f2 (4,) [1.0009765625, 1.0, inf, inf]
// CONVERT: brain.npy <u2 (4,) [16256, 16256, 18304, 32640]
#id = affine_map<(d0) -> (d0)>
func.func @convert(%a: tensor<4xf64>) -> (tensor<4xf16>, tensor<4xbf16>) {
  %e = tensor.empty() : tensor<4xf16>
  %f = tensor.empty() : tensor<4xbf16>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf64>) outs(%e, %f : tensor<4xf16>, tensor<4xbf16>) {
  ^bb0(%x: f64, %u: f16, %v: bf16):
    %h = arith.truncf %x : f64 to f16
    %b = arith.truncf %x : f64 to bf16
    linalg.yield %h, %b : f16, bf16
  } -> (tensor<4xf16>, tensor<4xbf16>)
  return %r#0, %r#1 : tensor<4xf16>, tensor<4xbf16>
}

// Masks are booleans or i8; an index takes i64 or i32.
// RUN: %python %S/Inputs/npy.py write mask.npy "np.array([0, 2, -1], np.int8)"
// RUN: %python %S/Inputs/npy.py write bool.npy "np.array([True, False, True])"
// RUN: attn-run %s --device=cpu --entry=masks --in arg0=mask.npy --in arg1=bool.npy --in arg2=five.npy \
// RUN:   --out output=left.npy --out lse=right.npy --out result2=index.npy
// RUN: %python %S/Inputs/npy.py show left.npy right.npy index.npy | FileCheck %s --check-prefix=MASKS
// MASKS: left.npy |b1 (3,) [False, True, True]
// MASKS: right.npy |b1 (3,) [True, False, True]
// MASKS: index.npy <i8 () 5
func.func @masks(%a: tensor<3xi1>, %b: tensor<3xi1>, %n: index) -> (tensor<3xi1>, tensor<3xi1>, index) {
  return %a, %b, %n : tensor<3xi1>, tensor<3xi1>, index
}

// Nothing to compute.
// RUN: %python %S/Inputs/npy.py write empty.npy "np.zeros((0, 3), np.float32)"
// RUN: attn-run %s --device=cpu --entry=tensors_only --in arg0=empty.npy --out output=none.npy
// RUN: %python %S/Inputs/npy.py show none.npy | FileCheck %s --check-prefix=EMPTY
// EMPTY: none.npy <f4 (0, 3) []
func.func @tensors_only(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %a : tensor<?x3xf32>
}

// Two results that are one buffer, and a constant: neither is freed twice.
// RUN: attn-run %s --device=cpu --entry=aliases --out output=x.npy --out lse=y.npy --out result2=z.npy
// RUN: %python %S/Inputs/npy.py show x.npy y.npy z.npy | FileCheck %s --check-prefix=ALIASES
// ALIASES: x.npy <f4 (2,) [1.0, 1.0]
// ALIASES: y.npy <f4 (2,) [1.0, 1.0]
// ALIASES: z.npy <f4 (2,) [7.0, 8.0]
func.func @aliases() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %c = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>
  return %r, %r, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
