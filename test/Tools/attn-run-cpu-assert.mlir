// An assertion of a compiled program ends the program, not the process: one
// line, exit code 1, no output file.

// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: %python %S/Inputs/npy.py write small.npy "np.int32(2)"
// RUN: %python %S/Inputs/npy.py write large.npy "np.int32(5)"
// RUN: attn-run %s --device=cpu --in arg0=small.npy --out output=small.out && ls small.out
// RUN: not attn-run %s --device=cpu --in arg0=large.npy --out output=large.out 2>&1 | FileCheck %s
// CHECK: {{^}}error: 'main' aborted: expects n below 3{{$}}
// RUN: not ls large.out

func.func @main(%n: i32) -> i32 {
  %c = arith.constant 3 : i32
  %ok = arith.cmpi slt, %n, %c : i32
  cf.assert %ok, "expects n below 3"
  return %n : i32
}
