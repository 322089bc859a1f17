// Every misuse is one line on stderr, exit code 1, and no output file.

// RUN: mkdir -p %t && cd %t && rm -f *.npy out
// RUN: %python %S/Inputs/npy.py write q.npy "np.zeros((2, 4), np.float32)"
// RUN: %python %S/Inputs/npy.py write short.npy "np.zeros((2, 3), np.float32)"
// RUN: %python %S/Inputs/npy.py write flat.npy "np.zeros((8,), np.float32)"
// RUN: %python %S/Inputs/npy.py write int.npy "np.zeros((2, 4), np.int32)"
// RUN: %python %S/Inputs/npy.py write one.npy "np.float32(1)"
// RUN: echo "not numpy" > junk.npy
// DEFINE: %{run} = not attn-run %s --device=cpu --entry=f
// DEFINE: %{good} = --in query=q.npy --in arg1=one.npy --out output=out

// Command line.
// RUN: not attn-run --device=cpu 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: {{^}}error: expects one IN.mlir or OUT.hsaco, but got 0{{$}}
// RUN: not attn-run %s 2>&1 | FileCheck %s --check-prefix=NO-DEVICE
// NO-DEVICE: {{^}}error: --device expects cpu, emulator or hip, but got ''{{$}}
// RUN: not attn-run %s --device=tpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: {{^}}error: --device expects cpu, emulator or hip, but got 'tpu'{{$}}
// RUN: not attn-run %s --device=hip:first 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: {{^}}error: --device expects hip:INDEX with a number, but got 'hip:first'{{$}}
// RUN: env ATTN_HIP_LIBRARY=gone.so not attn-run %s --device=hip 2>&1 | FileCheck %s --check-prefix=HIP
// HIP: {{^}}error: cannot load the HIP runtime (gone.so; ATTN_HIP_LIBRARY names another file): gone.so: cannot open shared object file: No such file or directory{{$}}
// RUN: not attn-run %s --devise=cpu 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: {{^}}error: unknown option '--devise=cpu', did you mean '--device=cpu'?{{$}}
// RUN: not attn-run %s --device=cpu --in 2>&1 | FileCheck %s --check-prefix=NO-VALUE
// NO-VALUE: {{^}}error: --in expects a value{{$}}
// RUN: %{run} --in q.npy 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: {{^}}error: --in expects NAME=FILE.npy, but got 'q.npy'{{$}}
// RUN: %{run} %{good} --in query=q.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: {{^}}error: --in expects every name once, but got 'query' again{{$}}
// RUN: %{run} %{good} --out output=other 2>&1 | FileCheck %s --check-prefix=OUT-TWICE
// OUT-TWICE: {{^}}error: --out expects every name once, but got 'output' again{{$}}
// What only the emulator can do; checks may be asked for on any device.
// RUN: %{run} %{good} --check=everything 2>&1 | FileCheck %s --check-prefix=CHECK-NAME
// CHECK-NAME: {{^}}error: --check expects checks out of none, all, {{.*}}, but got 'everything'{{$}}
// RUN: attn-run %s --device=cpu --entry=f %{good} --check=all && rm out
// RUN: %{run} %{good} --schedule=reversed 2>&1 | FileCheck %s --check-prefix=EMULATOR
// EMULATOR: {{^}}error: --schedule is for the emulator, but the device is 'cpu'{{$}}
// RUN: %{run} %{good} --stats 2>&1 | FileCheck %s --check-prefix=STATS
// STATS: {{^}}error: --stats is for the emulator, but the device is 'cpu'{{$}}

// Module.
// RUN: not attn-run missing.mlir --device=cpu 2>&1 | FileCheck %s --check-prefix=NO-MODULE
// NO-MODULE: {{^}}error: cannot read 'missing.mlir': No such file or directory{{$}}
// RUN: not attn-run junk.npy --device=cpu 2>&1 | FileCheck %s --check-prefix=NOT-MLIR
// NOT-MLIR: {{^}}error: junk.npy:1:1: {{.*[^ ]$}}
// RUN: echo 'func.func @f(%%a: f32) -> f64 { return %%a : f32 }' > bad.mlir
// RUN: not attn-run bad.mlir --device=cpu 2>&1 | FileCheck %s --check-prefix=VERIFIER
// VERIFIER: {{^}}error: bad.mlir:1:{{[0-9]+}}: type of return operand 0
// RUN: not attn-run %s --device=cpu 2>&1 | FileCheck %s --check-prefix=ENTRIES
// ENTRIES: {{^}}error: expects one public function or --entry=NAME, but the public functions are: f, g, two, odd{{$}}
// RUN: not attn-run %s --device=cpu --entry=h 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: {{^}}error: expects a function called 'h', but the public functions are: f, g, two, odd{{$}}
// RUN: not attn-run %s --device=cpu --entry=two 2>&1 | FileCheck %s --check-prefix=SAME-NAME
// SAME-NAME: {{^}}error: expects every argument and result of 'two' to have its own name, but 'output' is there twice{{$}}
// RUN: not attn-run %s --device=cpu --entry=odd 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: {{^}}error: 'arg0': expects elements that a .npy file can hold, but got tensor<2xi7>{{$}}

// Names.
// RUN: %{run} %{good} --in quary=q.npy 2>&1 | FileCheck %s --check-prefix=UNKNOWN-IN
// UNKNOWN-IN: {{^}}error: --in expects the name of an argument (query, arg1), but got 'quary'{{$}}
// RUN: %{run} %{good} --out lse=other 2>&1 | FileCheck %s --check-prefix=UNKNOWN-OUT
// UNKNOWN-OUT: {{^}}error: --out expects the name of a result or memref (output), but got 'lse'{{$}}
// RUN: %{run} %{good} --out query=other 2>&1 | FileCheck %s --check-prefix=OUT-OF-TENSOR
// OUT-OF-TENSOR: {{^}}error: --out expects a result or a memref, but 'query' is another argument{{$}}
// RUN: %{run} --in query=q.npy --out output=out 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: {{^}}error: argument 'arg1' needs --in arg1=FILE.npy{{$}}
// RUN: not attn-run %s --device=cpu --entry=g --out arg0=out 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: {{^}}error: 'arg0': expects --in arg0=FILE.npy to give the sizes of shape 2x?{{$}}
// RUN: not attn-run %s --device=cpu --entry=g 2>&1 | FileCheck %s --check-prefix=MISSING-MEMREF
// MISSING-MEMREF: {{^}}error: argument 'arg0' needs --in arg0=FILE.npy or --out arg0=FILE.npy{{$}}

// Files.
// RUN: %{run} --in query=none.npy --in arg1=one.npy 2>&1 | FileCheck %s --check-prefix=NO-NPY
// NO-NPY: {{^}}error: cannot read 'none.npy': No such file or directory{{$}}
// RUN: %{run} --in query=junk.npy --in arg1=one.npy 2>&1 | FileCheck %s --check-prefix=JUNK
// JUNK: {{^}}error: 'junk.npy': expects a .npy file, but got another format{{$}}
// RUN: %{run} --in query=short.npy --in arg1=one.npy --out output=out 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: {{^}}error: 'query': expects shape ?x4, but got 2x3{{$}}
// RUN: %{run} --in query=flat.npy --in arg1=one.npy --out output=out 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: {{^}}error: 'query': expects rank 2 (?x4), but got rank 1 (8){{$}}
// RUN: %{run} --in query=int.npy --in arg1=one.npy --out output=out 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: {{^}}error: 'query': expects f16 (a file of <f2 or <f4), but got i32 (<i4){{$}}
// RUN: %{run} --in query=q.npy --in arg1=q.npy --out output=out 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: {{^}}error: 'arg1': expects a scalar or one element, but got shape 2x4{{$}}
// RUN: %{run} --in query=q.npy --in arg1=one.npy --out output=nowhere/out 2>&1 | FileCheck %s --check-prefix=NO-FOLDER
// NO-FOLDER: {{^}}error: cannot write 'nowhere/out': No such file or directory{{$}}
// RUN: %{run} --in query=q.npy --in arg1=one.npy --out output=. 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: {{^}}error: cannot write '.': Is a directory{{$}}

// Nothing of the above was written, and one line means one line.
// RUN: not ls out
// RUN: %{run} %{good} --in quary=q.npy 2>&1 | count 1
// RUN: not attn-run bad.mlir --device=cpu 2>&1 | count 1
// RUN: not attn-run junk.npy --device=cpu 2>&1 | count 1

// What is outside of the elements has to stay as it is.
// RUN: not attn-run %s --device=cpu --entry=stray --out arg0=out 2>&1 | FileCheck %s --check-prefix=STRAY
// STRAY: {{^}}error: 'arg0': the program wrote outside of the elements, 8 bytes after the first one{{$}}
// RUN: not ls out

func.func @f(%q: tensor<?x4xf16> {attn.name = "query"}, %s: f32) -> tensor<?x4xf16> {
  return %q : tensor<?x4xf16>
}

func.func @g(%m: memref<2x?xf32>) {
  return
}

func.func @two(%a: f32 {attn.name = "output"}) -> f32 {
  return %a : f32
}

func.func @odd(%a: tensor<2xi7>) {
  return
}

func.func private @stray(%m: memref<2x2xf32, strided<[4, 1]>>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %row = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1]
      : memref<2x2xf32, strided<[4, 1]>> to memref<4xf32>
  linalg.fill ins(%x : f32) outs(%row : memref<4xf32>)
  return
}
