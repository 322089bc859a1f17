// RUN: attn-opt %s -attn-to-cpu | FileCheck %s
// RUN: attn-opt %s -attn-to-cpu='q-tile=16 kv-tile=32' | FileCheck %s

// Only the LLVM dialect is left.
// CHECK-NOT: unrealized_conversion_cast
// CHECK-LABEL: llvm.func @tensors
// CHECK-LABEL: llvm.func @packed
// CHECK-LABEL: llvm.func @merge
func.func @tensors(%q: tensor<?x?x?x?xbf16>, %k: tensor<?x?x?x?xbf16>, %o: tensor<?x?x?x?xbf16>,
                   %l: tensor<?x?x?xf32>, %b: tensor<?x?x1x?xf32>, %m: tensor<1x?x?xi1>, %s: tensor<?xf32>,
                   %a: tensor<?x?xf32>, %n: tensor<?xi32>, %c: f32)
    -> (tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>) {
  %0:2 = attn.attention
      ins(%q, %k, %k : tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>)
      bias(%b : tensor<?x?x1x?xf32>) mask(%m : tensor<1x?x?xi1>) alibi_slopes(%a : tensor<?x?xf32>)
      sink(%s : tensor<?xf32>) seqlens_q(%n : tensor<?xi32>) seqlens_kv(%n : tensor<?xi32>)
      scale_value(%c : f32) outs(%o, %l : tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>)
      {window_left = 3, window_right = 2, sink_tokens = 1, softcap = 30, lse_base = two, layout = bshd}
  return %0#0, %0#1 : tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>
}

func.func @packed(%q: memref<?x4x32xf32>, %cu: memref<?xi32>, %o: memref<?x4x32xf32>, %l: memref<?x4xf32>) {
  attn.attention ins(%q, %q, %q : memref<?x4x32xf32>, memref<?x4x32xf32>, memref<?x4x32xf32>)
      cu_seqlens_q(%cu : memref<?xi32>) cu_seqlens_kv(%cu : memref<?xi32>)
      outs(%o, %l : memref<?x4x32xf32>, memref<?x4xf32>) {causal, layout = thd, lse_layout = sh_packed}
  return
}

func.func @merge(%o1: memref<2x3x4x8xf16>, %l1: memref<2x4x3xf32>, %s: memref<4xf32>, %o: memref<2x3x4x8xf16>) {
  attn.merge_states (%o1, %l1 : memref<2x3x4x8xf16>, memref<2x4x3xf32>), (%o1, %l1 : memref<2x3x4x8xf16>, memref<2x4x3xf32>)
      sink(%s : memref<4xf32>) outs(%o : memref<2x3x4x8xf16>) {layout = bshd}
  return
}
