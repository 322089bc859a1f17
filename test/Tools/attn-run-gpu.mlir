// One module on every device, compiled by attn-run itself or by attn-compile.
// All scores are 0 and row j of V holds j, so row i holds i / 2 and its LSE is
// ln(i + 1). The first query rows see no key.

// RUN: rm -rf %t && mkdir -p %t && cd %t && split-file %s parts
// RUN: %python %S/Inputs/npy.py write q.npy "np.zeros((1, 2, 6, 64), np.float16)"
// RUN: %python %S/Inputs/npy.py write k.npy "np.ones((1, 1, 4, 64), np.float16)"
// RUN: %python %S/Inputs/npy.py write v.npy "np.broadcast_to(np.arange(4)[:, None], (1, 1, 4, 64)).astype(np.float32)"
// DEFINE: %{files} = --in query=q.npy --in key=k.npy --in value=v.npy --out output=o.npy --out lse=lse.npy
// DEFINE: %{show} = %python %S/Inputs/npy.py row o.npy lse.npy

// RUN: attn-run parts/main.mlir --device=cpu %{files} && %{show} | FileCheck %s
// RUN: rm o.npy && attn-run parts/main.mlir --device=emulator --chip=gfx942 %{files} && %{show} | FileCheck %s
// RUN: rm o.npy && attn-run parts/main.mlir --device=emulator --chip=gfx950 %{files} && %{show} | FileCheck %s
// RUN: rm o.npy && attn-run parts/main.mlir --device=emulator --chip=gfx942 --optimize=0 %{files} && %{show} | FileCheck %s
// RUN: attn-compile parts/main.mlir --chip=gfx950 -o k.hsaco --manifest=k.json
// RUN: rm o.npy && attn-run k.hsaco --manifest=k.json --device=emulator --check=all %{files} && %{show} | FileCheck %s
// CHECK: o.npy <f2 (1, 2, 6, 64) [0.0, 0.0, 0.0, 0.5, 1.0, 1.5]
// CHECK: lse.npy <f4 (1, 2, 6) [-inf, -inf, 0.0, 0.6931{{[0-9]*}}, 1.0986{{[0-9]*}}, 1.3862{{[0-9]*}}]

// Nothing to compute: nothing is launched, and what is there stays.
// RUN: %python %S/Inputs/npy.py write no-q.npy "np.zeros((1, 1, 0, 64), np.float16)"
// RUN: %python %S/Inputs/npy.py write few.npy "np.array([1, 2], np.float32)"
// DEFINE: %{none} = --device=emulator --in arg0=no-q.npy --in arg1=few.npy --out arg2=none.npy --out arg1=same.npy
// RUN: attn-run parts/nothing.mlir %{none} --chip=gfx950
// RUN: %python %S/Inputs/npy.py show none.npy same.npy | FileCheck %s --check-prefix=NOTHING
// NOTHING: none.npy <f2 (1, 1, 0, 64) {{\[\[\[\]\]\]}}
// NOTHING: same.npy <f4 (2,) [1.0, 2.0]
// RUN: rm none.npy && attn-compile parts/nothing.mlir --chip=gfx950 -o none.hsaco --manifest=none.json
// RUN: attn-run none.hsaco --manifest=none.json %{none} && ls none.npy

// No row of two heads: the contiguous strides of the LSE are 0 and 1.
// RUN: %python %S/Inputs/npy.py write cu.npy "np.zeros(2, np.int32)"
// RUN: %python %S/Inputs/npy.py write no-rows.npy "np.zeros((0, 2, 64), np.float16)"
// DEFINE: %{packed} = --in arg0=no-rows.npy --in arg1=cu.npy --out lse=no-lse.npy
// RUN: attn-run parts/packed.mlir --device=emulator --chip=gfx950 %{packed}
// RUN: %python %S/Inputs/npy.py show no-lse.npy | FileCheck %s --check-prefix=NO-ROWS
// NO-ROWS: no-lse.npy <f4 (2, 0)

// A tensor that is only a destination has no buffer, but one command serves all devices.
// DEFINE: %{inits} = --in query=q.npy --in o0=q.npy --in lse0=gone.npy --out output=o.npy --out lse=lse.npy
// RUN: attn-run parts/inits.mlir --device=emulator --chip=gfx950 %{inits} && %{show} | FileCheck %s --check-prefix=INITS
// RUN: %python %S/Inputs/npy.py write gone.npy "np.ones((1, 2, 6), np.float32)"
// RUN: rm o.npy && attn-run parts/inits.mlir --device=cpu %{inits} && %{show} | FileCheck %s --check-prefix=INITS
// RUN: attn-run parts/inits.mlir --bisect --chip=gfx942 %{inits}
// INITS: lse.npy <f4 (1, 2, 6) [1.79{{[0-9]*}},
// RUN: not attn-run parts/inits.mlir --device=emulator --chip=gfx950 %{inits} --in o1=q.npy 2>&1 | FileCheck %s --check-prefix=NO-ARG
// NO-ARG: {{^}}error: --in expects the name of an argument (query, output, lse), but got 'o1'{{$}}

// Which split is an argument of its own, or a constant; the second has the last four keys.
// RUN: %python %S/Inputs/npy.py write one.npy "np.array(1)"
// RUN: %python %S/Inputs/npy.py write key8.npy "np.ones((1, 1, 8, 64), np.float16)"
// RUN: %python %S/Inputs/npy.py write value8.npy "np.broadcast_to(np.arange(8)[:, None], (1, 1, 8, 64)).astype(np.float32)"
// DEFINE: %{split} = --in query=q.npy --in key=key8.npy --in value=value8.npy --out output=o.npy --out lse=lse.npy
// RUN: attn-run parts/split.mlir --entry=given --device=cpu %{split} --in split=one.npy && %{show} | FileCheck %s --check-prefix=SPLIT
// RUN: rm o.npy && attn-run parts/split.mlir --entry=given --device=emulator --check=all --chip=gfx950 %{split} --in split=one.npy && %{show} | FileCheck %s --check-prefix=SPLIT
// RUN: rm o.npy && attn-run parts/split.mlir --entry=constant --device=emulator --check=all --chip=gfx942 %{split} && %{show} | FileCheck %s --check-prefix=SPLIT
// SPLIT: o.npy <f2 (1, 2, 6, 64) [0.0, 0.0, 4.0, 4.5, 5.0, 5.5]

// RUN: not attn-run parts/main.mlir --device=emulator %{files} 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: {{^}}error: a module needs --chip=gfx942 or --chip=gfx950{{$}}
// RUN: not attn-run parts/main.mlir --device=emulator --chip=gfx90a %{files} 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: {{^}}error: --chip: {{.*}}gfx90a
// RUN: not attn-run parts/main.mlir --device=emulator --chip=gfx950 --entry=other %{files} 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: {{^}}error: {{.*}}other
// RUN: not attn-run parts/main.mlir --device=emulator --chip=gfx950 --in query=k.npy --in key=k.npy --in value=v.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHAPE
// SHAPE: {{^}}error: 'query': expects shape 1x2x6x64, but got 1x1x4x64{{$}}

//--- main.mlir
func.func @main(%q: memref<1x2x6x64xf16> {attn.name = "query"},
                %k: memref<1x1x4x64xf16> {attn.name = "key"},
                %v: memref<1x1x4x64xf16> {attn.name = "value"},
                %o: memref<1x2x6x64xf16> {attn.name = "output"},
                %lse: memref<1x2x6xf32> {attn.name = "lse"}) {
  attn.attention
      ins(%q, %k, %v : memref<1x2x6x64xf16>, memref<1x1x4x64xf16>, memref<1x1x4x64xf16>)
      outs(%o, %lse : memref<1x2x6x64xf16>, memref<1x2x6xf32>) {causal}
  return
}

//--- split.mlir
func.func @given(%q: memref<1x2x6x64xf16> {attn.name = "query"},
                 %k: memref<1x1x8x64xf16> {attn.name = "key"},
                 %v: memref<1x1x8x64xf16> {attn.name = "value"},
                 %s: index {attn.name = "split"},
                 %o: memref<1x2x6x64xf16> {attn.name = "output"},
                 %lse: memref<1x2x6xf32> {attn.name = "lse"}) {
  attn.attention
      ins(%q, %k, %v : memref<1x2x6x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      kv_split(%s : index)
      outs(%o, %lse : memref<1x2x6x64xf16>, memref<1x2x6xf32>) {causal, num_kv_splits = 2}
  return
}
func.func @constant(%q: memref<1x2x6x64xf16> {attn.name = "query"},
                    %k: memref<1x1x8x64xf16> {attn.name = "key"},
                    %v: memref<1x1x8x64xf16> {attn.name = "value"},
                    %o: memref<1x2x6x64xf16> {attn.name = "output"},
                    %lse: memref<1x2x6xf32> {attn.name = "lse"}) {
  %s = arith.constant 1 : index
  attn.attention
      ins(%q, %k, %v : memref<1x2x6x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      kv_split(%s : index)
      outs(%o, %lse : memref<1x2x6x64xf16>, memref<1x2x6xf32>) {causal, num_kv_splits = 2}
  return
}

//--- nothing.mlir
func.func @nothing(%q: memref<1x1x0x64xf16>, %x: memref<2xf32>, %o: memref<1x1x0x64xf16>) {
  attn.attention
      ins(%q, %q, %q : memref<1x1x0x64xf16>, memref<1x1x0x64xf16>, memref<1x1x0x64xf16>)
      outs(%o : memref<1x1x0x64xf16>)
  return
}

//--- inits.mlir
func.func @attention(%q: tensor<1x2x6x64xf16> {attn.name = "query"},
                     %o0: tensor<1x2x6x64xf16> {attn.name = "o0"},
                     %lse0: tensor<1x2x6xf32> {attn.name = "lse0"})
    -> (tensor<1x2x6x64xf16>, tensor<1x2x6xf32>) {
  %o, %lse = attn.attention
      ins(%q, %q, %q : tensor<1x2x6x64xf16>, tensor<1x2x6x64xf16>, tensor<1x2x6x64xf16>)
      outs(%o0, %lse0 : tensor<1x2x6x64xf16>, tensor<1x2x6xf32>)
  return %o, %lse : tensor<1x2x6x64xf16>, tensor<1x2x6xf32>
}

//--- packed.mlir
func.func @packed(%q: tensor<0x2x64xf16>, %cu: tensor<2xi32>)
    -> (tensor<0x2x64xf16>, tensor<2x0xf32>) {
  %o0 = tensor.empty() : tensor<0x2x64xf16>
  %lse0 = tensor.empty() : tensor<2x0xf32>
  %o, %lse = attn.attention
      ins(%q, %q, %q : tensor<0x2x64xf16>, tensor<0x2x64xf16>, tensor<0x2x64xf16>)
      cu_seqlens_q(%cu : tensor<2xi32>) cu_seqlens_kv(%cu : tensor<2xi32>)
      outs(%o0, %lse0 : tensor<0x2x64xf16>, tensor<2x0xf32>) {layout = thd}
  return %o, %lse : tensor<0x2x64xf16>, tensor<2x0xf32>
}
