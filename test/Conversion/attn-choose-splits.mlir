// RUN: attn-opt %s --attn-choose-splits=chip=gfx950 -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: attn-opt %s --attn-choose-splits=chip=gfx942 -split-input-file | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: not attn-opt %s --attn-choose-splits=chip=gfx90a -split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: {{.*}}gfx90a

// Eight workgroups, one a group of heads: so many times fewer than compute units.
// CHECK-LABEL: func @fill
// GFX950: {num_kv_splits = 32}
// GFX942: {num_kv_splits = 38}
func.func @fill(%q: tensor<1x64x1x128xbf16>, %k: tensor<1x8x16384x128xbf16>) -> tensor<1x64x1x128xbf16> {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x64x1x128xbf16>, tensor<1x8x16384x128xbf16>, tensor<1x8x16384x128xbf16>)
      outs(%q : tensor<1x64x1x128xbf16>) {num_kv_splits = 0}
  return %0 : tensor<1x64x1x128xbf16>
}

// -----

// At least 256 keys a split; what is asked for stays; one split is the default.
// CHECK-LABEL: func @few_keys
// CHECK: {num_kv_splits = 4}
// CHECK: {num_kv_splits = 7}
// CHECK: outs(%{{.*}} : tensor<1x1x1x128xbf16>){{$}}
// CHECK: outs(%{{.*}} : tensor<1x1x1x?xbf16>){{$}}
func.func @few_keys(%q: tensor<1x1x1x128xbf16>, %k: tensor<1x1x1100x128xbf16>, %s: tensor<1x1x300x128xbf16>,
                    %d: tensor<1x1x1x?xbf16>, %e: tensor<1x1x9000x?xbf16>) {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x1x1x128xbf16>, tensor<1x1x1100x128xbf16>, tensor<1x1x1100x128xbf16>)
      outs(%q : tensor<1x1x1x128xbf16>) {num_kv_splits = 0}
  %1 = attn.attention ins(%q, %k, %k : tensor<1x1x1x128xbf16>, tensor<1x1x1100x128xbf16>, tensor<1x1x1100x128xbf16>)
      outs(%q : tensor<1x1x1x128xbf16>) {num_kv_splits = 7}
  %2 = attn.attention ins(%q, %s, %s : tensor<1x1x1x128xbf16>, tensor<1x1x300x128xbf16>, tensor<1x1x300x128xbf16>)
      outs(%q : tensor<1x1x1x128xbf16>) {num_kv_splits = 0}
  %3 = attn.attention ins(%d, %e, %e : tensor<1x1x1x?xbf16>, tensor<1x1x9000x?xbf16>, tensor<1x1x9000x?xbf16>)
      outs(%d : tensor<1x1x1x?xbf16>) {num_kv_splits = 0}
  return
}

// -----

// A window leaves 4096 of 16384 keys: four times as many splits, of which those
// that are seen fill the chip; never more than four times as many as fill it. A
// window of less than 512 keys is one split's work.
// CHECK-LABEL: func @window
// GFX950: num_kv_splits = 64, window_left = 4095
// GFX942: num_kv_splits = 64, window_left = 4095
// GFX950: num_kv_splits = 128, window_left = 4095
// GFX942: num_kv_splits = 152, window_left = 4095
// CHECK: {causal, window_left = 255}
// Without a right end it is the last key.
// GFX950: num_kv_splits = 64, window_left = 4095
// GFX942: num_kv_splits = 64, window_left = 4095
// GFX950: diagonal_alignment = top_left, num_kv_splits = 32, window_left = 4095
// GFX942: diagonal_alignment = top_left, num_kv_splits = 38, window_left = 4095
func.func @window(%q: tensor<1x64x1x128xbf16>, %k: tensor<1x8x16384x128xbf16>, %l: tensor<1x8x65536x128xbf16>) {
  %0 = attn.attention ins(%q, %k, %k : tensor<1x64x1x128xbf16>, tensor<1x8x16384x128xbf16>, tensor<1x8x16384x128xbf16>)
      outs(%q : tensor<1x64x1x128xbf16>) {num_kv_splits = 0, causal, window_left = 4095}
  %1 = attn.attention ins(%q, %l, %l : tensor<1x64x1x128xbf16>, tensor<1x8x65536x128xbf16>, tensor<1x8x65536x128xbf16>)
      outs(%q : tensor<1x64x1x128xbf16>) {num_kv_splits = 0, window_left = 4095, window_right = 0}
  %2 = attn.attention ins(%q, %k, %k : tensor<1x64x1x128xbf16>, tensor<1x8x16384x128xbf16>, tensor<1x8x16384x128xbf16>)
      outs(%q : tensor<1x64x1x128xbf16>) {num_kv_splits = 0, causal, window_left = 255}
  %3 = attn.attention ins(%q, %k, %k : tensor<1x64x1x128xbf16>, tensor<1x8x16384x128xbf16>, tensor<1x8x16384x128xbf16>)
      outs(%q : tensor<1x64x1x128xbf16>) {num_kv_splits = 0, window_left = 4095}
  %4 = attn.attention ins(%q, %k, %k : tensor<1x64x1x128xbf16>, tensor<1x8x16384x128xbf16>, tensor<1x8x16384x128xbf16>)
      outs(%q : tensor<1x64x1x128xbf16>) {num_kv_splits = 0, window_left = 4095, diagonal_alignment = top_left}
  return
}
