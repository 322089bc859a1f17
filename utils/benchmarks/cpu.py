"""One thread of the CPU path against numpy doing the same mathematics."""

import argparse
import ctypes
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (after its number of threads is set)

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")


def program(b, h, s, d, causal):
    row, lse = f"memref<{b}x{h}x{s}x{d}xf32>", f"memref<{b}x{h}x{s}xf32>"
    return f"""
func.func @main(%q: {row}, %k: {row}, %v: {row}, %o: {row}, %lse: {lse})
    attributes {{llvm.emit_c_interface}} {{
  attn.attention ins(%q, %k, %v : {row}, {row}, {row})
      outs(%o, %lse : {row}, {lse}){" {causal}" if causal else ""}
  return
}}
"""


def compile_program(text, folder):
    """Compiles MLIR text to a shared library and returns its main function."""
    steps = [
        [ROOT / "build/bin/attn-opt", "--attn-to-cpu"],
        [LLVM / "mlir-translate", "--mlir-to-llvmir"],
    ]
    for step in steps:
        text = subprocess.run(step, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
    library = folder / "program.so"
    subprocess.run(
        [LLVM / "clang", "-x", "ir", "-", "-O3", "-march=native", "-shared", "-fPIC", "-lm"]
        + ["-Wno-override-module", "-o", library],
        input=text,
        check=True,
        text=True,
    )
    return ctypes.CDLL(str(library))._mlir_ciface_main


def descriptor(array):
    """The memref descriptor of a contiguous array."""
    rank = array.ndim

    class Descriptor(ctypes.Structure):
        _fields_ = [
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
            ("sizes", ctypes.c_int64 * rank),
            ("strides", ctypes.c_int64 * rank),
        ]

    sizes = (ctypes.c_int64 * rank)(*array.shape)
    strides = (ctypes.c_int64 * rank)(*(n // array.itemsize for n in array.strides))
    pointer = array.ctypes.data
    return Descriptor(pointer, pointer, 0, sizes, strides)


def numpy_attention(q, k, v, causal):
    """The whole score matrix of one head at a time, in f32."""
    out, lse = np.empty_like(q), np.empty(q.shape[:3], np.float32)
    scale = np.float32(1 / np.sqrt(q.shape[-1]))
    hidden = np.triu(np.ones((q.shape[2], k.shape[2]), bool), 1) if causal else None
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            s = (q[b, h] * scale) @ k[b, h].T
            if causal:
                s[hidden] = -np.inf
            m = s.max(axis=1, keepdims=True)
            s -= m
            np.exp(s, out=s)
            total = s.sum(axis=1, keepdims=True)
            out[b, h] = (s @ v[b, h]) / total
            lse[b, h] = (m + np.log(total))[:, 0]
    return out, lse


def best_of(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(prog="utils/bench cpu", description=__doc__)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--seq", type=int, default=1024)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-numpy", action="store_true", help="leave out numpy's score matrix")
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    shape = (1, args.heads, args.seq, args.dim)
    q, k, v = (rng.normal(size=shape).astype(np.float32) for _ in range(3))
    out, lse = np.full(shape, np.nan, np.float32), np.full(shape[:3], np.nan, np.float32)
    with tempfile.TemporaryDirectory(prefix="attn-bench-") as folder:
        run = compile_program(program(*shape, args.causal), pathlib.Path(folder))
    arguments = [ctypes.byref(descriptor(x)) for x in (q, k, v, out, lse)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours = best_of(lambda: run(*arguments), args.repeats)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    flops = 4 * args.heads * args.seq**2 * args.dim / (2 if args.causal else 1)
    print(f"f32 B=1 H={args.heads} S={args.seq} D={args.dim}{' causal' if args.causal else ''}")
    print(f"  attn    {ours * 1e3:9.2f} ms  {flops / ours / 1e9:7.2f} GFLOP/s  "
          f"memory grew by {grown / 1024:.1f} MiB")
    if args.no_numpy:
        return
    theirs = best_of(lambda: numpy_attention(q, k, v, args.causal), args.repeats)
    print(f"  numpy   {theirs * 1e3:9.2f} ms  {flops / theirs / 1e9:7.2f} GFLOP/s")
    print(f"  ratio   {ours / theirs:9.2f}")
    expected_out, expected_lse = numpy_attention(q, k, v, args.causal)
    print(f"  difference: O {np.abs(out - expected_out).max():.1e}, "
          f"LSE {np.abs(lse - expected_lse).max():.1e}")


if __name__ == "__main__":
    sys.exit(main())
