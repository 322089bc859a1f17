// What the parser of the custom assembly refuses.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// Operands of ins
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects query, key and value in 'ins', but got 2 operands}}
  %0 = attn.attention ins(%q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// Operands of ins
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects query, key and value in 'ins', but got 4 operands}}
  %0 = attn.online_attention ins(%q, %q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// Operands of ins
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects acc, max and sum in 'ins', but got 1 operands}}
  %0 = attn.finalize ins(%q : tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// Types of a clause
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects one type an operand, but got 2 types for 3 operands}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// A clause without types
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expected ':'}}
  %0 = attn.attention ins(%q, %q, %q) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// ins is missing
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expected 'ins'}}
  %0 = attn.attention outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// outs is missing
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
  // expected-error @+1 {{expected 'outs'}}
  {causal}
  return
}

// -----

// An unknown clause
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
  // expected-error @+1 {{expected 'outs'}}
  biass(%q : tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// A clause twice
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
  bias(%q : tensor<1x4x6x8xf32>)
  // expected-error @+1 {{expects 'bias' at most once, but got it again}}
  bias(%q : tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// Two operands in an optional clause
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
  // expected-error @+1 {{expects one operand in 'bias', but got 2}}
  bias(%q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// Half a position
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  %0 = attn.online_attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
  // expected-error @+1 {{expects row and column in 'at', but got 1 operands}}
  at(%i) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// Half a state
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects a state to be (output, lse), but got 1 operands}}
  %0 = attn.merge_states (%q : tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// No state
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expected '('}}
  %0 = attn.merge_states outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// An operand of another type
// expected-note @+1 {{prior use here}}
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{use of value '%i' expects different type than prior uses: 'tensor<1x4x6x8xf32>' vs 'index'}}
  %0 = attn.attention ins(%q, %q, %i : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>)
  return
}

// -----

// A layout that is none
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects layout to be one of bhsd, bshd, thd, but got sbhd}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {layout = sbhd}
  return
}

// -----

// An alignment that is none
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects diagonal_alignment to be one of bottom_right, top_left, but got center}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {diagonal_alignment = center}
  return
}

// -----

// A base that is none
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects lse_base to be one of e, two, but got ten}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {lse_base = ten}
  return
}

// -----

// An lse layout that is none
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects lse_layout to be one of bhs, hs_packed, sh_packed, bhs_padded, but got bsh}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {lse_layout = bsh}
  return
}

// -----

// An attribute in place of a keyword
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{attribute 'layout' failed to satisfy constraint}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {layout = "bhsd"}
  return
}

// -----

// An option without its value
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{attribute 'layout' failed to satisfy constraint}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {layout}
  return
}

// -----

// An option of no value with one
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{attribute 'causal' failed to satisfy constraint: unit attribute}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {causal = true}
  return
}

// -----

// An integer of another width
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{attribute 'window_left' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {window_left = 3 : i32}
  return
}

// -----

// A scale that is no number
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects scale to be a number, but got "half"}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {scale = "half"}
  return
}

// -----

// A softcap that is no number
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects softcap to be a number, but got true}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {softcap = true}
  return
}

// -----

// An option twice
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {causal,
  // expected-error @+1 {{expects option 'causal' at most once, but got it again}}
  causal}
  return
}

// -----

// A name that is missing
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects the name of an option}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {causal, }
  return
}

// -----

// Options that do not end
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expected '}'}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {causal scale = 1.0}
  return
}

// -----

// An option that is none (a misspelt one changes nothing silently)
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects an option of the op, but got 'casual'; other attributes go in 'attributes {...}'}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {casual}
  return
}

// -----

// An option of another op
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects an option of the op, but got 'layout'}}
  %0 = attn.finalize ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {layout = bhsd}
  return
}

// -----

// What the syntax says already
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects an option of the op, but got 'operandSegmentSizes'}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) {operandSegmentSizes = array<i32: 1>}
  return
}

// -----

// An option among the other attributes
func.func @f(%q: tensor<1x4x6x8xf32>, %i: index) {
  // expected-error @+1 {{expects 'causal' among the options, but got it in 'attributes'}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) outs(%q : tensor<1x4x6x8xf32>) attributes {causal}
  return
}
