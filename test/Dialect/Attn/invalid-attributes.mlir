// The attributes attn.name, attn.alignment and attn.reach.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// A name is a string.
// expected-error @+1 {{expects 'attn.name' to be a string of letters, digits, '_', '-' and '.', but got 3 : i64}}
func.func @f(%a: i32 {attn.name = 3}) {
  return
}

// -----

// A name is not empty.
// expected-error @+1 {{expects 'attn.name' to be a string of letters, digits, '_', '-' and '.', but got ""}}
func.func @f(%a: i32 {attn.name = ""}) {
  return
}

// -----

// A name fits in NAME=FILE.
// expected-error @+1 {{expects 'attn.name' to be a string of letters, digits, '_', '-' and '.', but got "a=b"}}
func.func @f(%a: i32) -> (i32 {attn.name = "a=b"}) {
  return %a : i32
}

// -----

// Two arguments with one name.
// expected-error @+1 {{expects 'attn.name' to be given once, but got "a" again}}
func.func @f(%a: i32 {attn.name = "a"}, %b: i32, %c: i32 {attn.name = "a"}) {
  return
}

// -----

// Two results with one name.
// expected-error @+1 {{expects 'attn.name' to be given once, but got "o" again}}
func.func @f(%a: i32 {attn.name = "o"}) -> (i32 {attn.name = "o"}, i32 {attn.name = "o"}) {
  return %a, %a : i32, i32
}

// -----

// Another attribute of the dialect, on an argument and on a result.
// expected-error @+1 {{has unknown attribute 'attn.nmae' of the attn dialect}}
func.func @f(%a: i32 {attn.nmae = "a"}) {
  return
}

// -----

// expected-error @+1 {{has unknown attribute 'attn.role' of the attn dialect}}
func.func @f(%a: i32) -> (i32 {attn.role = "out"}) {
  return %a : i32
}

// -----

// A name on something else.
// expected-error @+1 {{expects 'attn.name' on arguments and results of functions only}}
func.func @f() attributes {attn.name = "f"} {
  return
}

// -----

// expected-error @+1 {{expects 'attn.alignment' to be a power of two, but got 6 : i64}}
func.func @f(%a: memref<4xf16> {attn.alignment = 6}) {
  return
}

// -----

// expected-error @+1 {{expects 'attn.alignment' to be a power of two, but got "4"}}
func.func @f(%a: memref<4xf16> {attn.alignment = "4"}) {
  return
}

// -----

// expected-error @+1 {{expects 'attn.alignment' on arguments of functions only}}
func.func @f() attributes {attn.alignment = 4} {
  return
}

// -----

// expected-error @+1 {{expects 'attn.reach' to be an array<i64> with a positive count for each dimension of a memref, but got array<i64: 1, 2>}}
func.func @f(%a: memref<4xf16> {attn.reach = array<i64: 1, 2>}) {
  return
}

// -----

// expected-error @+1 {{expects 'attn.reach' to be an array<i64> with a positive count for each dimension of a memref, but got array<i64: 0>}}
func.func @f(%a: memref<4xf16> {attn.reach = array<i64: 0>}) {
  return
}

// -----

// expected-error @+1 {{expects 'attn.reach' to be an array<i64> with a positive count for each dimension of a memref, but got array<i32: 1>}}
func.func @f(%a: memref<4xf16> {attn.reach = array<i32: 1>}) {
  return
}

// -----

// expected-error @+1 {{expects 'attn.reach' to be an array<i64> with a positive count for each dimension of a memref, but got array<i64: 1>}}
func.func @f(%a: tensor<4xf16> {attn.reach = array<i64: 1>}) {
  return
}

// -----

// expected-error @+1 {{expects 'attn.reach' on arguments of functions only}}
func.func @f() attributes {attn.reach = array<i64: 4>} {
  return
}
