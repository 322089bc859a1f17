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
