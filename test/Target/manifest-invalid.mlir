// RUN: split-file %s %t
// RUN: not attn-compile %t/loop.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not attn-compile %t/host.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.none 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not attn-compile %t/call.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.none 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not attn-compile %t/twice.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.none 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not test -e %t.none
// RUN: attn-compile %t/host.mlir --chip=gfx950 -o %t.hsaco
// RUN: not attn-compile %t/two.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: attn-compile %t/two.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json --entry=g
// RUN: FileCheck %s --check-prefix=ENTRY --input-file=%t.json
// RUN: not attn-compile %t/two.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json --entry=foo 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not attn-report %t/two.mlir --chip=gfx950 -o %t.none --entry=foo 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not test -e %t.none
// RUN: attn-compile %t/view.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json
// RUN: FileCheck %s --check-prefix=VIEW --input-file=%t.json
// RUN: attn-compile %t/scalar.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json
// RUN: FileCheck %s --check-prefix=SCALAR --input-file=%t.json
// RUN: not attn-compile %t/sum.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: attn-compile %t/roles.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json
// RUN: FileCheck %s --check-prefix=ROLES --input-file=%t.json
// RUN: not attn-compile %t/narrow.mlir --chip=gfx950 -o %t.hsaco --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=NARROW

//--- loop.mlir
// LOOP: error: 'gpu.launch_func' op expects launches outside of control flow in a manifest
func.func @f(%q: memref<1x1x8x64xf16>, %k: memref<1x1x8x64xf16>, %v: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    attn.attention ins(%q, %k, %v : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>) outs(%o : memref<1x1x8x64xf16>)
  }
  return
}

//--- twice.mlir
// A buffer has one name.
// TWICE: error: 'func.func' op expects every result to be a buffer of its own in a manifest, but 'output' and 'again' are the same
func.func @f(%q: tensor<1x1x8x64xf16>, %o: tensor<1x1x8x64xf16>) -> (tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16> {attn.name = "again"}) {
  %0 = attn.attention ins(%q, %q, %q : tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>) outs(%o : tensor<1x1x8x64xf16>)
  return %0, %0 : tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>
}

//--- two.mlir
// NAMES: error: {{.*}}expects a function called 'foo', but the public functions are: f, g{{$}}
// TWO: error: 'builtin.module' op expects an entry to be named, since both 'f' and 'g' launch kernels
// ENTRY: "kernel": "g_attention"
func.func @f(%q: memref<1x1x8x64xf16>, %k: memref<1x1x8x64xf16>, %v: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  attn.attention ins(%q, %k, %v : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>) outs(%o : memref<1x1x8x64xf16>)
  return
}
func.func @g(%q: memref<1x1x8x64xf16>, %k: memref<1x1x8x64xf16>, %v: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>) {
  attn.attention ins(%q, %k, %v : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>) outs(%o : memref<1x1x8x64xf16>)
  return
}

//--- view.mlir
// A view is its buffer and the bytes in front of it.
// VIEW:      "args": [
// VIEW:      "buffer": "keys",
// VIEW:      "value": 640
func.func @f(%q: memref<1x1x8x64xf16> {attn.name = "query"}, %k: memref<1x1x20x64xf16> {attn.name = "keys"}, %o: memref<1x1x8x64xf16> {attn.name = "output"}) {
  %w = memref.subview %k[0, 0, 5, 0] [1, 1, 8, 64] [1, 1, 1, 1] : memref<1x1x20x64xf16> to memref<1x1x8x64xf16, strided<[1280, 1280, 64, 1], offset: 320>>
  attn.attention ins(%q, %w, %w : memref<1x1x8x64xf16>, memref<1x1x8x64xf16, strided<[1280, 1280, 64, 1], offset: 320>>, memref<1x1x8x64xf16, strided<[1280, 1280, 64, 1], offset: 320>>) outs(%o : memref<1x1x8x64xf16>)
  return
}

//--- scalar.mlir
// Scalars, and elements of one-element arguments, are inputs passed by value.
// SCALAR:      "args": [
// SCALAR:      "buffer": "rows",
// SCALAR-NEXT: "kind": "i32",
// SCALAR:      "buffer": "keys",
// SCALAR-NEXT: "kind": "i32",
func.func @f(%q: memref<1x1x8x64xf16>, %k: memref<1x1x20x64xf16>, %o: memref<1x1x8x64xf16>, %rows: i32 {attn.name = "rows"}, %keys: memref<1xi32> {attn.name = "keys"}) {
  %c0 = arith.constant 0 : index
  %n = memref.load %keys[%c0] : memref<1xi32>
  attn.attention ins(%q, %k, %k : memref<1x1x8x64xf16>, memref<1x1x20x64xf16>, memref<1x1x20x64xf16>) seqlens_q(%rows : i32) seqlens_kv(%n : i32) outs(%o : memref<1x1x8x64xf16>)
  return
}

//--- roles.mlir
// What a merge reads is an input, also where arguments may overlap.
// ROLES:     "name": "s",
// ROLES-NEXT: "role": "input",
// ROLES:     "name": "cu",
// ROLES-NEXT: "role": "input",
// ROLES:     "name": "o",
// ROLES-NEXT: "role": "output",
func.func @f(%q: memref<16x2x64xf16>, %s: memref<2xf32> {attn.name = "s"}, %cu: memref<3xi32> {attn.name = "cu"}, %o: memref<16x2x64xf16> {attn.name = "o"}) {
  attn.attention ins(%q, %q, %q : memref<16x2x64xf16>, memref<16x2x64xf16>, memref<16x2x64xf16>) sink(%s : memref<2xf32>)
      cu_seqlens_q(%cu : memref<3xi32>) cu_seqlens_kv(%cu : memref<3xi32>) outs(%o : memref<16x2x64xf16>) {layout = thd, num_kv_splits = 2}
  return
}

//--- narrow.mlir
// NARROW: error: 'gpu.launch_func' op expects kernel operands to be arguments of the function or computed from dimensions in a manifest; pass a number (i32, i64 or index) as it is
func.func @f(%q: memref<1x1x8x64xf16>, %k: memref<1x1x20x64xf16>, %o: memref<1x1x8x64xf16>, %keys: i64) {
  %n = arith.trunci %keys : i64 to i32
  attn.attention ins(%q, %k, %k : memref<1x1x8x64xf16>, memref<1x1x20x64xf16>, memref<1x1x20x64xf16>) seqlens_kv(%n : i32) outs(%o : memref<1x1x8x64xf16>)
  return
}

//--- sum.mlir
// SUM: error: 'memref.load' op runs on the host, but a manifest can only launch kernels; pass what it loads (an offset, a size or a number) as an argument of the function
func.func @f(%q: memref<1x1x8x64xf16>, %k: memref<1x1x20x64xf16>, %o: memref<1x1x8x64xf16>, %keys: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %keys[%c0] : memref<1xi32>
  %twice = arith.addi %n, %n : i32
  attn.attention ins(%q, %k, %k : memref<1x1x8x64xf16>, memref<1x1x20x64xf16>, memref<1x1x20x64xf16>) seqlens_kv(%twice : i32) outs(%o : memref<1x1x8x64xf16>)
  return
}

//--- host.mlir
// HOST: error: 'linalg.add' op runs on the host, but a manifest can only launch kernels
func.func @host(%q: memref<1x1x16x64xf16>, %o: memref<1x1x16x64xf16>) {
  %s = memref.alloc() : memref<1x1x16x64xf16>
  linalg.add ins(%q, %q : memref<1x1x16x64xf16>, memref<1x1x16x64xf16>) outs(%s : memref<1x1x16x64xf16>)
  attn.attention ins(%s, %s, %s : memref<1x1x16x64xf16>, memref<1x1x16x64xf16>, memref<1x1x16x64xf16>)
      outs(%o : memref<1x1x16x64xf16>)
  return
}

//--- call.mlir
// CALL: error: 'func.call' op runs on the host, but a manifest can only launch kernels
func.func private @callee(%q: memref<1x1x16x64xf16>, %o: memref<1x1x16x64xf16>) {
  attn.attention ins(%q, %q, %q : memref<1x1x16x64xf16>, memref<1x1x16x64xf16>, memref<1x1x16x64xf16>)
      outs(%o : memref<1x1x16x64xf16>)
  return
}
func.func @call(%q: memref<1x1x16x64xf16>, %o: memref<1x1x16x64xf16>) {
  call @callee(%q, %o) : (memref<1x1x16x64xf16>, memref<1x1x16x64xf16>) -> ()
  return
}
