// The same input at every level of lowering.

// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %python %S/Inputs/npy.py write x.npy "np.sin(np.arange(2 * 70 * 64, dtype=np.float32)).reshape(1, 2, 70, 64)"
// RUN: %python %S/Inputs/npy.py write d.npy "np.ones((1, 1, 2, 8))"

// RUN: attn-run good.mlir --bisect --chip=gfx942 --in arg0=x.npy --out arg1=o.npy --out arg2=lse.npy | FileCheck %s
// CHECK: {{^}}cpu, one tile reference{{$}}
// CHECK-NEXT: {{^}}cpu, tiles arg1 {{.*}} arg2 {{.*}} agrees{{$}}
// CHECK-NEXT: {{^}}cpu, tiles, optimized arg1 {{.*}} arg2 {{.*}} agrees{{$}}
// CHECK-NEXT: {{^}}gfx942, code object arg1 {{.*}} arg2 {{.*}} agrees{{$}}
// CHECK-NEXT: {{^}}gfx942, code object, optimized arg1 {{.*}} arg2 {{.*}} agrees{{$}}
// The outputs are those of the first level.
// RUN: %python %S/Inputs/npy.py show lse.npy | FileCheck %s --check-prefix=LSE
// LSE: lse.npy <f4 (1, 2, 70) {{\[\[\[}}

// A level that cannot run is the one to look at.
// RUN: not attn-run wide.mlir --bisect --chip=gfx950 --in arg0=d.npy --out arg1=none.npy 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE-DAG: {{^}}gfx950, code object does not run{{$}}
// WIDE-DAG: {{^}}error: first difference at level 'gfx950, code object': wide.mlir:{{.*f64}}
// RUN: not ls none.npy
// RUN: attn-run wide.mlir --bisect --in arg0=d.npy --out arg1=some.npy && ls some.npy

// RUN: not attn-run good.mlir --bisect --in arg0=x.npy 2>&1 | FileCheck %s --check-prefix=NO-OUT
// NO-OUT: {{^}}error: --bisect expects --out NAME=FILE.npy of what it is to compare{{$}}
// RUN: not attn-run good.mlir --bisect --in arg0=d.npy --out arg1=o.npy --out arg2=l.npy 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: {{^}}error: 'arg0': expects f16 (a file of <f2 or <f4), but got f64 (<f8){{$}}

//--- good.mlir
func.func @good(%q: memref<1x2x70x64xf16>, %o: memref<1x2x70x64xf16>, %lse: memref<1x2x70xf32>) {
  attn.attention
      ins(%q, %q, %q : memref<1x2x70x64xf16>, memref<1x2x70x64xf16>, memref<1x2x70x64xf16>)
      outs(%o, %lse : memref<1x2x70x64xf16>, memref<1x2x70xf32>) {causal}
  return
}

//--- wide.mlir
func.func @wide(%q: memref<1x1x2x8xf64>, %o: memref<1x1x2x8xf64>) {
  attn.attention
      ins(%q, %q, %q : memref<1x1x2x8xf64>, memref<1x1x2x8xf64>, memref<1x1x2x8xf64>)
      outs(%o : memref<1x1x2x8xf64>)
  return
}
