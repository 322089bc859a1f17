// RUN: attn-opt %s --attn-verify-target=chip=gfx942 -split-input-file -verify-diagnostics

func.func @head_dim(%q: tensor<1x2x16x100xf16>, %k: tensor<1x2x16x100xf16>, %v: tensor<1x2x16x100xf16>, %o: tensor<1x2x16x100xf16>) -> tensor<1x2x16x100xf16> {
  // expected-error @+1 {{expects head dims to be multiples of 8 in 8..256 on gfx942, but got Dqk = 100 and Dv = 100; pad with zeros to 104 and 104}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x2x16x100xf16>, tensor<1x2x16x100xf16>, tensor<1x2x16x100xf16>) outs(%o : tensor<1x2x16x100xf16>)
  return %0 : tensor<1x2x16x100xf16>
}

// -----

func.func @too_wide(%q: tensor<1x2x16x512xf16>, %k: tensor<1x2x16x512xf16>, %v: tensor<1x2x16x64xf16>, %o: tensor<1x2x16x64xf16>) -> tensor<1x2x16x64xf16> {
  // expected-error @+1 {{expects head dims to be multiples of 8 in 8..256 on gfx942, but got Dqk = 512 and Dv = 64; use attn-to-cpu}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x2x16x512xf16>, tensor<1x2x16x512xf16>, tensor<1x2x16x64xf16>) outs(%o : tensor<1x2x16x64xf16>)
  return %0 : tensor<1x2x16x64xf16>
}

// -----

func.func @dynamic_head_dim(%q: tensor<1x2x16x?xf16>, %k: tensor<1x2x16x?xf16>, %v: tensor<1x2x16x?xf16>, %o: tensor<1x2x16x?xf16>) -> tensor<1x2x16x?xf16> {
  // expected-error @+1 {{expects static head dims on gfx942; cast query, key, value and output to types with static head dims}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x2x16x?xf16>, tensor<1x2x16x?xf16>, tensor<1x2x16x?xf16>) outs(%o : tensor<1x2x16x?xf16>)
  return %0 : tensor<1x2x16x?xf16>
}

// -----

func.func @element_type(%q: tensor<1x2x16x64xi8>, %k: tensor<1x2x16x64xi8>, %v: tensor<1x2x16x64xi8>, %o: tensor<1x2x16x64xf16>) -> tensor<1x2x16x64xf16> {
  // expected-error @+1 {{expects query and output element type to be one of f16, bf16, f32 and the same on gfx942, but got 'i8' and 'f16'; convert with arith.extf or arith.truncf around the op}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x2x16x64xi8>, tensor<1x2x16x64xi8>, tensor<1x2x16x64xi8>) outs(%o : tensor<1x2x16x64xf16>)
  return %0 : tensor<1x2x16x64xf16>
}

// -----

func.func @f64(%q: tensor<1x2x16x64xf64>, %k: tensor<1x2x16x64xf64>, %v: tensor<1x2x16x64xf64>, %o: tensor<1x2x16x64xf64>) -> tensor<1x2x16x64xf64> {
  // expected-error @+1 {{expects query and output element type to be one of f16, bf16, f32}}
  %0 = attn.attention ins(%q, %k, %v : tensor<1x2x16x64xf64>, tensor<1x2x16x64xf64>, tensor<1x2x16x64xf64>) outs(%o : tensor<1x2x16x64xf64>)
  return %0 : tensor<1x2x16x64xf64>
}

// -----

// The stride of a dimension of one does not matter.
func.func @stride(%q: memref<1x2x16x64xf16, strided<[4097, 2048, 65, 1]>>, %k: memref<1x2x16x64xf16>, %v: memref<1x2x16x64xf16>, %o: memref<1x2x16x64xf16>) {
  // expected-error @+1 {{expects outer strides of query to be multiples of 4 bytes and not negative on gfx942, but got a stride of 130 bytes; copy the operand to a contiguous memref}}
  attn.attention ins(%q, %k, %v : memref<1x2x16x64xf16, strided<[4097, 2048, 65, 1]>>, memref<1x2x16x64xf16>, memref<1x2x16x64xf16>) outs(%o : memref<1x2x16x64xf16>)
  return
}

// -----

// Rows 16 MiB apart: 129 of them are too many for 32 bits.
func.func @far_rows(%q: memref<1x1x129x64xf16, strided<[1, 1, 8388608, 1]>>, %k: memref<1x1x128x64xf16, strided<[1, 1, 8388608, 1]>>, %o: memref<1x1x129x64xf16>) {
  // expected-error @+1 {{expects 1x1x129x64 neighbouring elements of query to span less than 2147483648 bytes on gfx942, but got 2147483776; copy the operand to a contiguous memref}}
  attn.attention ins(%q, %k, %k : memref<1x1x129x64xf16, strided<[1, 1, 8388608, 1]>>, memref<1x1x128x64xf16, strided<[1, 1, 8388608, 1]>>, memref<1x1x128x64xf16, strided<[1, 1, 8388608, 1]>>) outs(%o : memref<1x1x129x64xf16>)
  return
}

// -----

// A transposed bias of many queries: a row of it reaches over all of them.
func.func @transposed_bias(%q: memref<1x1x32768x64xf16>, %b: memref<32768x32768xf32, strided<[1, 32768]>>, %o: memref<1x1x32768x64xf16>) {
  // expected-error @+1 {{expects 32x32768 neighbouring elements of bias to span less than 2147483648 bytes on gfx942, but got 4294836352; copy the operand to a contiguous memref}}
  attn.attention ins(%q, %q, %q : memref<1x1x32768x64xf16>, memref<1x1x32768x64xf16>, memref<1x1x32768x64xf16>) bias(%b : memref<32768x32768xf32, strided<[1, 32768]>>) outs(%o : memref<1x1x32768x64xf16>)
  return
}

// -----

func.func @bias(%q: tensor<1x2x16x64xf16>, %b: tensor<16x16xf64>, %o: tensor<1x2x16x64xf16>) -> tensor<1x2x16x64xf16> {
  // expected-error @+1 {{expects bias element type to be one of f16, bf16, f32 on gfx942, but got 'f64'; convert with arith.truncf before the op}}
  %0 = attn.attention ins(%q, %q, %q : tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>) bias(%b : tensor<16x16xf64>) outs(%o : tensor<1x2x16x64xf16>)
  return %0 : tensor<1x2x16x64xf16>
}

// -----

func.func @bias_space(%q: memref<1x2x16x64xf16>, %b: memref<16x16xf32, 3>, %o: memref<1x2x16x64xf16>) {
  // expected-error @+1 {{expects operands in global memory on gfx942, but got memory space 3 : i64; copy the operand to global memory}}
  attn.attention ins(%q, %q, %q : memref<1x2x16x64xf16>, memref<1x2x16x64xf16>, memref<1x2x16x64xf16>) bias(%b : memref<16x16xf32, 3>) outs(%o : memref<1x2x16x64xf16>)
  return
}

// -----

func.func @fine(%q: memref<?x?x?x8xbf16, strided<[?, ?, ?, 1], offset: ?>>, %k: memref<?x?x?x8xbf16>, %v: memref<?x?x?x256xbf16>, %o: memref<?x?x?x256xbf16>, %l: memref<?x?x?xf32>) {
  attn.attention ins(%q, %k, %v : memref<?x?x?x8xbf16, strided<[?, ?, ?, 1], offset: ?>>, memref<?x?x?x8xbf16>, memref<?x?x?x256xbf16>) outs(%o, %l : memref<?x?x?x256xbf16>, memref<?x?x?xf32>) {causal, scale = 0.0 : f64, layout = bshd, lse_base = two}
  return
}

// -----

func.func @inner(%q: memref<1x2x16x64xf16>, %k: memref<1x2x16x64xf16, strided<[?, ?, ?, ?]>>, %o: memref<1x2x16x64xf16>) {
  // expected-error @+1 {{expects a static inner stride of 1 on gfx942, but got 'memref<1x2x16x64xf16, strided<[?, ?, ?, ?]>>'; cast the operand to a type that has it}}
  attn.attention ins(%q, %k, %k : memref<1x2x16x64xf16>, memref<1x2x16x64xf16, strided<[?, ?, ?, ?]>>, memref<1x2x16x64xf16, strided<[?, ?, ?, ?]>>) outs(%o : memref<1x2x16x64xf16>)
  return
}

// -----

func.func @space(%q: memref<1x2x16x64xf16>, %k: memref<1x2x16x64xf16, 3>, %o: memref<1x2x16x64xf16>) {
  // expected-error @+1 {{expects operands in global memory on gfx942, but got memory space 3 : i64; copy the operand to global memory}}
  attn.attention ins(%q, %k, %k : memref<1x2x16x64xf16>, memref<1x2x16x64xf16, 3>, memref<1x2x16x64xf16, 3>) outs(%o : memref<1x2x16x64xf16>)
  return
}

// -----

// More workgroups than a launch can have, though neither count wraps alone (F8).
func.func @grid(%q: memref<4294967296x4294967296x4x64xf16>, %o: memref<4294967296x4294967296x4x64xf16>) {
  // expected-error @+1 {{expects at most 8388607 workgroups}}
  attn.attention ins(%q, %q, %q : memref<4294967296x4294967296x4x64xf16>, memref<4294967296x4294967296x4x64xf16>, memref<4294967296x4294967296x4x64xf16>) outs(%o : memref<4294967296x4294967296x4x64xf16>)
  return
}

// -----

// More rows than a launch can have work-items for.
func.func @merged_rows(%o: memref<1099511627776x1099511627776x128xf32>, %l: memref<1099511627776x1099511627776xf32>) {
  // expected-error @+1 {{expects at most 134217727 rows of 128 columns on gfx942, but got more; merge slices of them}}
  attn.merge_states (%o, %l : memref<1099511627776x1099511627776x128xf32>, memref<1099511627776x1099511627776xf32>) outs(%o : memref<1099511627776x1099511627776x128xf32>)
  return
}

// -----

func.func @merge(%o: memref<4x8xf64>, %l: memref<4xf32>, %out: memref<4x8xf64>) {
  // expected-error @+1 {{expects outputs of element type f16, bf16, f32 on gfx942, but got 'f64' and 'f64'; convert around the op}}
  attn.merge_states (%o, %l : memref<4x8xf64>, memref<4xf32>) outs(%out : memref<4x8xf64>)
  return
}

// -----

func.func @merge_space(%o: memref<4x8xf32, 3>, %l: memref<4xf32>, %out: memref<4x8xf32>) {
  // expected-error @+1 {{expects operands in global memory on gfx942, but got memory space 3 : i64}}
  attn.merge_states (%o, %l : memref<4x8xf32, 3>, memref<4xf32>) outs(%out : memref<4x8xf32>)
  return
}

// -----

func.func @merge_inner_stride(%o: memref<4x8xf32, strided<[?, ?]>>, %l: memref<4xf32>, %out: memref<4x8xf32>) {
  // expected-error @+1 {{expects a static inner stride of 1 on gfx942}}
  attn.merge_states (%o, %l : memref<4x8xf32, strided<[?, ?]>>, memref<4xf32>) outs(%out : memref<4x8xf32>)
  return
}

// -----

func.func @page_size(%q: memref<1x2x16x64xf16>, %k: memref<9x2x24x64xf16>, %n: i32, %t: memref<1x5xi32>, %o: memref<1x2x16x64xf16>) {
  // expected-error @+1 {{expects page_size to be a multiple of 16 on gfx942, but got 24; gather the pages first}}
  attn.attention ins(%q, %k, %k : memref<1x2x16x64xf16>, memref<9x2x24x64xf16>, memref<9x2x24x64xf16>) seqlens_kv(%n : i32) block_table(%t : memref<1x5xi32>) outs(%o : memref<1x2x16x64xf16>) {page_size = 24}
  return
}
