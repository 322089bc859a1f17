// What `attn.lowering_config` may not ask for.
// RUN: attn-opt %s --attn-verify-target=chip=gfx950 -split-input-file -verify-diagnostics

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{expects 'attn.lowering_config' to be #attn.lowering_config<...>, but got {tile_q = 128 : i64}}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = {tile_q = 128}}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects tile_q to be 256 or 128, but got 100}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<tile_q = 100>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects tile_kv to be 64, but got 32}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<tile_kv = 32>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects split_v to be 1, 2 or 4, but got 3}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<split_v = 3>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x256xf16>, %o: memref<1x1x8x256xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects split_v to be 2 or 4, but got 1}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x256xf16>, memref<1x1x8x256xf16>, memref<1x1x8x256xf16>)
      outs(%o : memref<1x1x8x256xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<split_v = 1>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects stages to be 1 or 2, but got 3}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<stages = 3>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf32>, %o: memref<1x1x8x64xf32>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects stages to be 1 for f32, but got 2}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf32>, memref<1x1x8x64xf32>, memref<1x1x8x64xf32>)
      outs(%o : memref<1x1x8x64xf32>)
      attributes {attn.lowering_config = #attn.lowering_config<stages = 2>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects clusters_qk to be in 1..4, but got 5}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<clusters_qk = 5>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects clusters_pv to be in 1..4, but got 0}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<clusters_pv = 0>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects early_exps to be even and in 2..30, but got 7}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<early_exps = 7>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x192xf16>, %v: memref<1x1x8x128xf16>, %o: memref<1x1x8x128xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects clusters_qk and clusters_pv that keep a cluster within 240 VGPRs, but got 1 and 1, which take 288}}
  attn.attention ins(%q, %q, %v : memref<1x1x8x192xf16>, memref<1x1x8x192xf16>, memref<1x1x8x128xf16>)
      outs(%o : memref<1x1x8x128xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<clusters_qk = 1>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x256xf16>, %o: memref<1x1x8x256xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects early_exps to be 0 where two waves exchange P, but got 8}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x256xf16>, memref<1x1x8x256xf16>, memref<1x1x8x256xf16>)
      outs(%o : memref<1x1x8x256xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<early_exps = 8>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects no early_exps with stages = 1, but got 8}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>)
      attributes {attn.lowering_config = #attn.lowering_config<stages = 1, early_exps = 8>}
  return
}

// -----

func.func @f(%q: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  // expected-error @+1 {{in 'attn.lowering_config' on gfx950: expects early_exps to be a multiple of 8 with softcap alone, but got 10}}
  attn.attention ins(%q, %q, %q : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>) {softcap = 30}
      attributes {attn.lowering_config = #attn.lowering_config<early_exps = 10>}
  return
}
