// RUN: attn-opt %s -attn-raise -canonicalize -split-input-file --remarks-filter=attn-raise --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

#score = affine_map<(b, h, i, j) -> (b, h, i, j)>
#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>

// Sizes and the scale are known at run time only; the product is kept in f32, so
// that the op is one of f32.
// REMARK: raised to attn.attention
// CHECK-LABEL: func @dynamic
// CHECK-SAME: (%[[Q:[^:]*]]: {{.*}}, %[[SCALE:[^:]*]]: f32)
// CHECK: arith.extf
// CHECK: %[[O:.*]] = attn.attention ins({{.*}} : tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>)
// CHECK-SAME: scale_value(%[[SCALE]] : f32)
// CHECK-NEXT: return %[[O]]
func.func @dynamic(%q: tensor<?x4x?x64xf16>, %k: tensor<?x4x?x64xf16>, %v: tensor<?x4x?x64xf16>, %scale: f32) -> tensor<?x4x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q, %c0 : tensor<?x4x?x64xf16>
  %m = tensor.dim %q, %c2 : tensor<?x4x?x64xf16>
  %n = tensor.dim %k, %c2 : tensor<?x4x?x64xf16>
  %e = tensor.empty(%b, %m, %n) : tensor<?x4x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>) outs(%z : tensor<?x4x?x?xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#score, #score], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<?x4x?x?xf32>) outs(%e : tensor<?x4x?x?xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.mulf %x, %scale : f32
    linalg.yield %0 : f32
  } -> tensor<?x4x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%t : tensor<?x4x?x?xf32>) outs(%e : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %oe = tensor.empty(%b, %m) : tensor<?x4x?x64xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x4x?x64xf32>) -> tensor<?x4x?x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%p, %v : tensor<?x4x?x?xf32>, tensor<?x4x?x64xf16>) outs(%oz : tensor<?x4x?x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %0 = arith.extf %y : f16 to f32
    %1 = arith.mulf %x, %0 : f32
    %2 = arith.addf %acc, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}

// -----

// Whole tensors in arith and math, one head; the transposes are part of the op.
// REMARK: raised to attn.attention
// CHECK-LABEL: func @matrices
// CHECK: attn.attention ins({{.*}} : tensor<1x1x16x32xf32>, tensor<1x1x24x32xf32>, tensor<1x1x24x8xf32>)
// CHECK-SAME: {scale = 5.000000e-01}
// CHECK: tensor.collapse_shape {{.*}} into tensor<16x8xf32>
func.func @matrices(%q: tensor<16x32xf32>, %k: tensor<32x24xf32>, %vt: tensor<8x24xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -3.40282347E+38 : f32
  %two = arith.constant dense<2.0> : tensor<16x24xf32>
  %e = tensor.empty() : tensor<16x24xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x24xf32>) -> tensor<16x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<16x32xf32>, tensor<32x24xf32>) outs(%z : tensor<16x24xf32>) -> tensor<16x24xf32>
  %t = arith.divf %s, %two : tensor<16x24xf32>
  %re = tensor.empty() : tensor<16xf32>
  %mz = linalg.fill ins(%least : f32) outs(%re : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.reduce { arith.maximumf } ins(%t : tensor<16x24xf32>) outs(%mz : tensor<16xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<16xf32>) outs(%e : tensor<16x24xf32>) dimensions = [1]
  %d = arith.subf %t, %mb : tensor<16x24xf32>
  %x = math.exp %d : tensor<16x24xf32>
  %lz = linalg.fill ins(%zero : f32) outs(%re : tensor<16xf32>) -> tensor<16xf32>
  %l = linalg.reduce { arith.addf } ins(%x : tensor<16x24xf32>) outs(%lz : tensor<16xf32>) dimensions = [1]
  %lb = linalg.broadcast ins(%l : tensor<16xf32>) outs(%e : tensor<16x24xf32>) dimensions = [1]
  %p = arith.divf %x, %lb : tensor<16x24xf32>
  %oe = tensor.empty() : tensor<16x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<16x8xf32>) -> tensor<16x8xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, j) -> (i, j)>, affine_map<(i, d, j) -> (d, j)>, affine_map<(i, d, j) -> (i, d)>]
      ins(%p, %vt : tensor<16x24xf32>, tensor<8x24xf32>) outs(%oz : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %o : tensor<16x8xf32>
}

// -----

// The softmax is over the rows of a square matrix.
// REMARK: not raised: the softmax is not over the keys
// CHECK-LABEL: func @rows
// CHECK-NOT: attn.attention
func.func @rows(%q: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%q, %q : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.softmax dimension(0) ins(%s : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %o = linalg.matmul ins(%p, %q : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %o : tensor<16x16xf32>
}

// -----

// REMARK: not raised: the weighted sum does not start from zero
// CHECK-LABEL: func @output_is_added
// CHECK-NOT: attn.attention
func.func @output_is_added(%q: tensor<16x16xf32>, %residual: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%q, %q : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %o = linalg.matmul ins(%p, %q : tensor<16x16xf32>, tensor<16x16xf32>) outs(%residual : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %o : tensor<16x16xf32>
}

// -----

// A bias that the product of the scores starts from, and another one.
// REMARK: not raised: the product of the scores does not start from zero
// CHECK-LABEL: func @scores_are_added
// CHECK-NOT: attn.attention
func.func @scores_are_added(%q: tensor<16x16xf32>, %bias: tensor<16x16xf32>, %other: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%q, %q : tensor<16x16xf32>, tensor<16x16xf32>) outs(%bias : tensor<16x16xf32>) -> tensor<16x16xf32>
  %t = arith.addf %s, %other : tensor<16x16xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %o = linalg.matmul ins(%p, %q : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %o : tensor<16x16xf32>
}

// -----

#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#kept = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>

// As torch-mlir prints it: a maximum that also finds its place, a triangle made
// of the positions, -inf as a tensor, P rounded to f16 and widened again.
// REMARK: raised to attn.attention
// CHECK-LABEL: func @torch
// CHECK-SAME: (%[[Q:[^:]*]]: {{[^%]*}}, %[[K:[^:]*]]: {{[^%]*}}, %[[V:[^:]*]]: {{[^%]*}})
// CHECK: %[[O:.*]] = attn.attention ins(%[[Q]], %[[K]], %[[V]] : tensor<1x2x32x16xf16>, tensor<1x2x32x16xf16>, tensor<1x2x32x16xf16>)
// CHECK-SAME: {causal, window_left = 7}
// CHECK-NEXT: return %[[O]]
func.func @torch(%q: tensor<1x2x32x16xf16>, %k: tensor<1x2x32x16xf16>, %v: tensor<1x2x32x16xf16>) -> tensor<1x2x32x16xf16> {
  %zero = arith.constant 0.0 : f32
  %place = arith.constant 0 : i64
  %least = arith.constant 0xFF800000 : f32
  %scale = arith.constant 2.5e-01 : f64
  %false = arith.constant false
  %far = arith.constant -7 : i64
  %all = arith.constant dense<true> : tensor<32x32xi1>
  %hidden = arith.constant dense<0xFF800000> : tensor<f32>
  %e0 = tensor.empty() : tensor<1x2x32x16xf32>
  %qw = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<1x2x32x16xf16>) outs(%e0 : tensor<1x2x32x16xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x16xf32>
  %kw = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<1x2x32x16xf16>) outs(%e0 : tensor<1x2x32x16xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x16xf32>
  %vw = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<1x2x32x16xf16>) outs(%e0 : tensor<1x2x32x16xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x16xf32>
  %e1 = tensor.empty() : tensor<1x2x16x32xf32>
  %kt = linalg.transpose ins(%kw : tensor<1x2x32x16xf32>) outs(%e1 : tensor<1x2x16x32xf32>) permutation = [0, 1, 3, 2]
  %qc = tensor.collapse_shape %qw [[0, 1], [2], [3]] : tensor<1x2x32x16xf32> into tensor<2x32x16xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<1x2x16x32xf32> into tensor<2x16x32xf32>
  %e2 = tensor.empty() : tensor<2x32x32xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %sc = linalg.batch_matmul ins(%qc, %kc : tensor<2x32x16xf32>, tensor<2x16x32xf32>) outs(%f2 : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %s = tensor.expand_shape %sc [[0, 1], [2], [3]] output_shape [1, 2, 32, 32] : tensor<2x32x32xf32> into tensor<1x2x32x32xf32>
  %e3 = tensor.empty() : tensor<1x2x32x32xf32>
  %st = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<1x2x32x32xf32>) outs(%e3 : tensor<1x2x32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.truncf %scale : f64 to f32
    %1 = arith.mulf %in, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x2x32x32xf32>
  %e4 = tensor.empty() : tensor<32x32xi1>
  %triangle = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%all : tensor<32x32xi1>) outs(%e4 : tensor<32x32xi1>) {
  ^bb0(%in: i1, %out: i1):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = linalg.index 1 : index
    %3 = arith.index_cast %2 : index to i64
    %4 = arith.cmpi sle, %3, %1 : i64
    %5 = arith.select %4, %in, %false : i1
    linalg.yield %5 : i1
  } -> tensor<32x32xi1>
  %e5 = tensor.empty() : tensor<32xi64>
  %line = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e5 : tensor<32xi64>) {
  ^bb0(%out: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    linalg.yield %1 : i64
  } -> tensor<32xi64>
  %keys = tensor.expand_shape %line [[0, 1]] output_shape [1, 32] : tensor<32xi64> into tensor<1x32xi64>
  %rows = tensor.expand_shape %line [[0, 1]] output_shape [32, 1] : tensor<32xi64> into tensor<32x1xi64>
  %e6 = tensor.empty() : tensor<32x32xi64>
  %distance = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, #map2], iterator_types = ["parallel", "parallel"]} ins(%keys, %rows : tensor<1x32xi64>, tensor<32x1xi64>) outs(%e6 : tensor<32x32xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %0 = arith.subi %a, %b : i64
    linalg.yield %0 : i64
  } -> tensor<32x32xi64>
  %near = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%distance : tensor<32x32xi64>) outs(%e4 : tensor<32x32xi1>) {
  ^bb0(%in: i64, %out: i1):
    %0 = arith.cmpi sge, %in, %far : i64
    linalg.yield %0 : i1
  } -> tensor<32x32xi1>
  %both = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%near, %triangle : tensor<32x32xi1>, tensor<32x32xi1>) outs(%e4 : tensor<32x32xi1>) {
  ^bb0(%a: i1, %b: i1, %out: i1):
    %0 = arith.andi %a, %b : i1
    linalg.yield %0 : i1
  } -> tensor<32x32xi1>
  %seen = tensor.expand_shape %both [[0, 1, 2], [3]] output_shape [1, 1, 32, 32] : tensor<32x32xi1> into tensor<1x1x32x32xi1>
  %sm = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>, #map4, affine_map<(d0, d1, d2, d3) -> ()>, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%seen, %st, %hidden : tensor<1x1x32x32xi1>, tensor<1x2x32x32xf32>, tensor<f32>) outs(%e3 : tensor<1x2x32x32xf32>) {
  ^bb0(%a: i1, %b: f32, %c: f32, %out: f32):
    %0 = arith.select %a, %b, %c : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x32xf32>
  %e7 = tensor.empty() : tensor<1x2x32xi64>
  %f7 = linalg.fill ins(%place : i64) outs(%e7 : tensor<1x2x32xi64>) -> tensor<1x2x32xi64>
  %e8 = tensor.empty() : tensor<1x2x32xf32>
  %f8 = linalg.fill ins(%least : f32) outs(%e8 : tensor<1x2x32xf32>) -> tensor<1x2x32xf32>
  %m:2 = linalg.generic {indexing_maps = [#map4, #row, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%sm : tensor<1x2x32x32xf32>) outs(%f8, %f7 : tensor<1x2x32xf32>, tensor<1x2x32xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %0 = linalg.index 3 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %in, %out : f32
    %3 = arith.cmpf ogt, %in, %out : f32
    %4 = arith.select %3, %1, %at : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<1x2x32xf32>, tensor<1x2x32xi64>)
  %mx = tensor.expand_shape %m#0 [[0], [1], [2, 3]] output_shape [1, 2, 32, 1] : tensor<1x2x32xf32> into tensor<1x2x32x1xf32>
  %d = linalg.generic {indexing_maps = [#map4, #kept, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sm, %mx : tensor<1x2x32x32xf32>, tensor<1x2x32x1xf32>) outs(%e3 : tensor<1x2x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x32xf32>
  %x = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%d : tensor<1x2x32x32xf32>) outs(%e3 : tensor<1x2x32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x32xf32>
  %e9 = tensor.empty() : tensor<1x2x32x1xf32>
  %f9 = linalg.fill ins(%zero : f32) outs(%e9 : tensor<1x2x32x1xf32>) -> tensor<1x2x32x1xf32>
  %l = linalg.generic {indexing_maps = [#map4, #kept], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x : tensor<1x2x32x32xf32>) outs(%f9 : tensor<1x2x32x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x1xf32>
  %p = linalg.generic {indexing_maps = [#map4, #kept, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %l : tensor<1x2x32x32xf32>, tensor<1x2x32x1xf32>) outs(%e3 : tensor<1x2x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x32xf32>
  %e10 = tensor.empty() : tensor<1x2x32x32xf16>
  %ph = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<1x2x32x32xf32>) outs(%e10 : tensor<1x2x32x32xf16>) {
  ^bb0(%in: f32, %out: f16):
    %0 = arith.truncf %in : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<1x2x32x32xf16>
  %pw = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%ph : tensor<1x2x32x32xf16>) outs(%e3 : tensor<1x2x32x32xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x32xf32>
  %pc = tensor.collapse_shape %pw [[0, 1], [2], [3]] : tensor<1x2x32x32xf32> into tensor<2x32x32xf32>
  %vc = tensor.collapse_shape %vw [[0, 1], [2], [3]] : tensor<1x2x32x16xf32> into tensor<2x32x16xf32>
  %e11 = tensor.empty() : tensor<2x32x16xf32>
  %f11 = linalg.fill ins(%zero : f32) outs(%e11 : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %oc = linalg.batch_matmul ins(%pc, %vc : tensor<2x32x32xf32>, tensor<2x32x16xf32>) outs(%f11 : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %o = tensor.expand_shape %oc [[0, 1], [2], [3]] output_shape [1, 2, 32, 16] : tensor<2x32x16xf32> into tensor<1x2x32x16xf32>
  %e12 = tensor.empty() : tensor<1x2x32x16xf16>
  %oh = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%o : tensor<1x2x32x16xf32>) outs(%e12 : tensor<1x2x32x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %0 = arith.truncf %in : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<1x2x32x16xf16>
  return %oh : tensor<1x2x32x16xf16>
}

// -----

// In the loop the scores would be computed once a trip.
// REMARK: not raised: scores and output are computed in different blocks
// CHECK-LABEL: func @loop
// CHECK-NOT: attn.attention
func.func @loop(%q: tensor<16x8xf32>, %k: tensor<8x16xf32>, %vs: tensor<4x16x8xf32>, %os: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%q, %k : tensor<16x8xf32>, tensor<8x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %e1 = tensor.empty() : tensor<16x8xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%all = %os) -> tensor<4x16x8xf32> {
    %v = tensor.extract_slice %vs[%i, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<4x16x8xf32> to tensor<16x8xf32>
    %o = linalg.matmul ins(%p, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%z1 : tensor<16x8xf32>) -> tensor<16x8xf32>
    %next = tensor.insert_slice %o into %all[%i, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<16x8xf32> into tensor<4x16x8xf32>
    scf.yield %next : tensor<4x16x8xf32>
  }
  return %r : tensor<4x16x8xf32>
}

// -----

// A batch of any size, collapsed with the heads; no reshape is left.
// REMARK: raised to attn.attention
// CHECK-LABEL: func @repeated_heads
// CHECK-SAME: (%[[Q:[^:]*]]: {{[^%]*}}, %[[K:[^:]*]]: {{[^%]*}}, %[[V:[^:]*]]: {{[^%]*}})
// CHECK-NOT: shape
// CHECK: %[[O:.*]] = attn.attention ins(%[[Q]], %[[K]], %[[V]] : tensor<?x4x8x16xf32>, tensor<?x2x10x16xf32>, tensor<?x2x10x16xf32>)
// CHECK-NEXT: return %[[O]]
func.func @repeated_heads(%q: tensor<?x4x8x16xf32>, %k: tensor<?x2x10x16xf32>, %v: tensor<?x2x10x16xf32>) -> tensor<?x4x8x16xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q, %c0 : tensor<?x4x8x16xf32>
  %n = arith.muli %b, %c4 : index
  %ke = tensor.empty(%b) : tensor<?x2x2x10x16xf32>
  %kb = linalg.generic {indexing_maps = [affine_map<(a, h, g, s, d) -> (a, h, s, d)>, affine_map<(a, h, g, s, d) -> (a, h, g, s, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<?x2x10x16xf32>) outs(%ke : tensor<?x2x2x10x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x2x2x10x16xf32>
  %vb = linalg.generic {indexing_maps = [affine_map<(a, h, g, s, d) -> (a, h, s, d)>, affine_map<(a, h, g, s, d) -> (a, h, g, s, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<?x2x10x16xf32>) outs(%ke : tensor<?x2x2x10x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x2x2x10x16xf32>
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<?x4x8x16xf32> into tensor<?x8x16xf32>
  %kc = tensor.collapse_shape %kb [[0, 1, 2], [3], [4]] : tensor<?x2x2x10x16xf32> into tensor<?x10x16xf32>
  %vc = tensor.collapse_shape %vb [[0, 1, 2], [3], [4]] : tensor<?x2x2x10x16xf32> into tensor<?x10x16xf32>
  %te = tensor.empty(%n) : tensor<?x16x10xf32>
  %kt = linalg.transpose ins(%kc : tensor<?x10x16xf32>) outs(%te : tensor<?x16x10xf32>) permutation = [0, 2, 1]
  %se = tensor.empty(%n) : tensor<?x8x10xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<?x8x10xf32>) -> tensor<?x8x10xf32>
  %s = linalg.batch_matmul ins(%qc, %kt : tensor<?x8x16xf32>, tensor<?x16x10xf32>) outs(%sz : tensor<?x8x10xf32>) -> tensor<?x8x10xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<?x8x10xf32>) outs(%se : tensor<?x8x10xf32>) -> tensor<?x8x10xf32>
  %oe = tensor.empty(%n) : tensor<?x8x16xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x8x16xf32>) -> tensor<?x8x16xf32>
  %o = linalg.batch_matmul ins(%p, %vc : tensor<?x8x10xf32>, tensor<?x10x16xf32>) outs(%oz : tensor<?x8x16xf32>) -> tensor<?x8x16xf32>
  %r = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [%b, 4, 8, 16] : tensor<?x8x16xf32> into tensor<?x4x8x16xf32>
  return %r : tensor<?x4x8x16xf32>
}

// -----

// As einsum writes grouped heads: batches b, heads h of g queries each, rows t
// before heads. The row is the longer of the loops that the keys lack.
// REMARK: raised to attn.attention
// CHECK-LABEL: func @grouped
// CHECK-SAME: (%[[Q:[^:]*]]: {{[^%]*}}, %[[K:[^:]*]]: {{[^%]*}}, %[[V:[^:]*]]: {{[^%]*}})
// CHECK: %[[QC:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0], [1], [2, 3], [4]]
// CHECK: %[[O:.*]] = attn.attention ins(%[[QC]], %[[K]], %[[V]] : tensor<2x12x6x16xf32>, tensor<2x20x2x16xf32>, tensor<2x20x2x16xf32>)
// CHECK-SAME: {causal, layout = bshd, scale = 1.000000e+00}
// CHECK: tensor.collapse_shape %[[O]] {{\[\[}}0], [1], [2, 3]]
// CHECK-NEXT: return
func.func @grouped(%q: tensor<2x12x2x3x16xf32>, %k: tensor<2x20x2x16xf32>, %v: tensor<2x20x2x16xf32>) -> tensor<2x12x96xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c8 = arith.constant 8 : i32
  %se = tensor.empty() : tensor<2x2x3x12x20xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x3x12x20xf32>) -> tensor<2x2x3x12x20xf32>
  %s = linalg.contract
      indexing_maps = [affine_map<(b, h, g, t, s, d) -> (b, t, h, g, d)>, affine_map<(b, h, g, t, s, d) -> (b, s, h, d)>,
                       affine_map<(b, h, g, t, s, d) -> (b, h, g, t, s)>]
      ins(%q, %k : tensor<2x12x2x3x16xf32>, tensor<2x20x2x16xf32>) outs(%sz : tensor<2x2x3x12x20xf32>) -> tensor<2x2x3x12x20xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(b, h, g, t, s) -> (b, h, g, t, s)>, affine_map<(b, h, g, t, s) -> (b, h, g, t, s)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x2x3x12x20xf32>) outs(%se : tensor<2x2x3x12x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = linalg.index 3 : index
    %1 = linalg.index 4 : index
    %2 = arith.index_cast %0 : index to i32
    %3 = arith.index_cast %1 : index to i32
    %4 = arith.addi %2, %c8 : i32
    %5 = arith.cmpi sge, %4, %3 : i32
    %6 = arith.select %5, %in, %least : f32
    linalg.yield %6 : f32
  } -> tensor<2x2x3x12x20xf32>
  %p = linalg.softmax dimension(4) ins(%m : tensor<2x2x3x12x20xf32>) outs(%se : tensor<2x2x3x12x20xf32>) -> tensor<2x2x3x12x20xf32>
  %oe = tensor.empty() : tensor<2x12x2x3x16xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x12x2x3x16xf32>) -> tensor<2x12x2x3x16xf32>
  %o = linalg.contract
      indexing_maps = [affine_map<(b, t, h, g, d, s) -> (b, h, g, t, s)>, affine_map<(b, t, h, g, d, s) -> (b, s, h, d)>,
                       affine_map<(b, t, h, g, d, s) -> (b, t, h, g, d)>]
      ins(%p, %v : tensor<2x2x3x12x20xf32>, tensor<2x20x2x16xf32>) outs(%oz : tensor<2x12x2x3x16xf32>) -> tensor<2x12x2x3x16xf32>
  %r = tensor.collapse_shape %o [[0], [1], [2, 3, 4]] : tensor<2x12x2x3x16xf32> into tensor<2x12x96xf32>
  return %r : tensor<2x12x96xf32>
}

// -----

// A scale in a tensor of one element.
// REMARK: raised to attn.attention
// CHECK-LABEL: func @scale_tensor
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor<1x1xf32>
// CHECK: %[[S:.*]] = tensor.extract %[[SCALE]]
// CHECK: attn.attention {{.*}} scale_value(%[[S]] : f32)
func.func @scale_tensor(%scale: tensor<1x1xf32>, %q: tensor<16x8xf32>, %k: tensor<8x16xf32>, %v: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%q, %k : tensor<16x8xf32>, tensor<8x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, 0)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%scale, %s : tensor<1x1xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<16x16xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %oe = tensor.empty() : tensor<16x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<16x8xf32>) -> tensor<16x8xf32>
  %o = linalg.matmul ins(%p, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%oz : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %o : tensor<16x8xf32>
}
