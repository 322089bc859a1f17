// Tiles that are refused, with a reason.
// RUN: attn-opt %s -split-input-file -transform-interpreter -verify-diagnostics=only-expected

// Six heads reach into a second group of four.
func.func @f(%q: tensor<2x12x64x8xf32>, %k: tensor<2x3x64x8xf32>) -> tensor<2x12x64x8xf32> {
  // expected-error @+1 {{expects a tile of query heads to divide or be a multiple of the group size 4, but got 6}}
  %0 = attn.attention ins(%q, %k, %k : tensor<2x12x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>)
      outs(%q : tensor<2x12x64x8xf32>)
  return %0 : tensor<2x12x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [0, 6]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Five heads do not divide twelve: the last tile is smaller.
func.func @f(%q: tensor<2x12x64x8xf32>, %k: tensor<2x3x64x8xf32>) -> tensor<2x12x64x8xf32> {
  // expected-error @+1 {{expects a tile of 1 query head, or static heads that it divides, to tile heads}}
  %0 = attn.attention ins(%q, %k, %k : tensor<2x12x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>)
      outs(%q : tensor<2x12x64x8xf32>)
  return %0 : tensor<2x12x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [0, 5]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows of two sequences that end in different places.
func.func @f(%q: tensor<2x12x64x8xf32>, %k: tensor<2x3x64x8xf32>, %n: tensor<2xi32>) -> tensor<2x12x64x8xf32> {
  // expected-error @+1 {{expects a batch tile of 1 to tile rows of a problem with lengths or offsets per batch}}
  %0 = attn.attention ins(%q, %k, %k : tensor<2x12x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>)
      seqlens_q(%n : tensor<2xi32>)
      outs(%q : tensor<2x12x64x8xf32>)
  return %0 : tensor<2x12x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows of two sequences with diagonals of their own.
func.func @f(%q: tensor<2x12x64x8xf32>, %k: tensor<2x3x64x8xf32>, %n: tensor<2xi32>) -> tensor<2x12x64x8xf32> {
  // expected-error @+1 {{expects a batch tile of 1 to tile rows of a problem with lengths or offsets per batch}}
  %0 = attn.attention ins(%q, %k, %k : tensor<2x12x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>)
      q_offset(%n : tensor<2xi32>)
      outs(%q : tensor<2x12x64x8xf32>) {causal}
  return %0 : tensor<2x12x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// bottom_right reads the lengths of the keys.
func.func @f(%q: tensor<2x12x64x8xf32>, %k: tensor<2x3x64x8xf32>, %n: tensor<2xi32>) -> tensor<2x12x64x8xf32> {
  // expected-error @+1 {{expects a batch tile of 1 to tile rows of a problem with lengths or offsets per batch}}
  %0 = attn.attention ins(%q, %k, %k : tensor<2x12x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>)
      seqlens_kv(%n : tensor<2xi32>)
      outs(%q : tensor<2x12x64x8xf32>) {causal}
  return %0 : tensor<2x12x64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op tile_sizes [2, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Two heads from the second of a group of four on would need two groups.
func.func @f(%q: tensor<1x8x64x8xf32>, %k: tensor<1x2x64x8xf32>, %l: tensor<1x8x64xf32>)
    -> tensor<1x8x64xf32> {
  // expected-error @+1 {{expects a tile of 2 query heads to start at a multiple of 2}}
  %0:2 = attn.attention ins(%q, %k, %k : tensor<1x8x64x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>)
      outs(%q, %l : tensor<1x8x64x8xf32>, tensor<1x8x64xf32>)
  %1 = scf.forall (%i) in (3) shared_outs(%out = %l) -> tensor<1x8x64xf32> {
    %h = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%i)
    %part = tensor.extract_slice %0#1[0, %h, 0] [1, 2, 64] [1, 1, 1] : tensor<1x8x64xf32> to tensor<1x2x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[0, %h, 0] [1, 2, 64] [1, 1, 1] : tensor<1x2x64xf32> into tensor<1x8x64xf32>
    }
  }
  return %1 : tensor<1x8x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    %attention = transform.structured.match ops{["attn.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse_into_containing_op %attention into %op
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
