"""The emulator: instructions and MFMA operations a second, and the price of checks."""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLANG = pathlib.Path("/usr/lib/llvm-22/bin/clang")

# A loop of mixed vector work with a divergent branch, and one of matrix work.
KERNELS = """
kernel void valu(global float *out, int n) {
  uint g = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  float a = g * 1e-3f, b = 1.5f, c = 0.25f, d = 0.1f;
  uint x = g, y = g * 7 + 1;
  for (int i = 0; i < n; ++i) {
    a = __builtin_fmaf(a, b, c);
    b = __builtin_fmaxf(a * d, b - c);
    c = a + b * 0.5f;
    d = __builtin_fminf(c, d) * 0.999f + 0.001f;
    x = (x << 5) ^ (y >> 3);
    y = y * 1664525u + x;
    if ((x & 15u) == 3u) {
      a += 1.0f;
      y ^= x;
    }
    d = __builtin_fmaf(d, (float)(x & 255u), a);
    a = a > 1e6f ? 1.0f : a;
    c = y > x ? c : d * 0.01f;
  }
  out[g] = a + b + c + d + (float)(x + y);
}

typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
kernel void mfma(global float *out, int n) {
  uint t = __builtin_amdgcn_workitem_id_x();
  f16x4 a = {(_Float16)t, 1, 2, 3}, b = {1, 0.5f, 0.25f, (_Float16)t};
  f32x16 c = 0, d = 0;
  for (int i = 0; i < n; ++i) {
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, d, 0, 0, 0);
  }
  float sum = 0;
  for (int i = 0; i < 16; ++i)
    sum += c[i] + d[i];
  out[__builtin_amdgcn_workgroup_id_x() * 256 + t] = sum;
}
"""


def build(folder, chip):
    """Compiles KERNELS; returns the code object."""
    source, code = folder / "kernels.cl", folder / f"{chip}.hsaco"
    source.write_text(KERNELS)
    subprocess.run(
        [CLANG, "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={chip}"]
        + ["-nogpulib", "-Xclang", "-finclude-default-header", "-O3", source, "-o", code],
        check=True,
    )
    return code


def manifest(folder, chip, kernel, groups, count):
    """Writes what attn-run wants to know of a launch."""
    path = folder / f"{chip}-{kernel}.json"
    pointer = {"name": "out", "kind": "pointer", "offset": 0, "size": 8, "buffer": "out"}
    number = {"name": "n", "kind": "i32", "offset": 8, "size": 4, "value": count}
    size = {"lds_bytes": 0, "kernarg_bytes": 12, "vgprs": 64, "agprs": 0, "sgprs": 32}
    described = {"name": kernel, "block": [256, 1, 1], **size, "scratch_bytes": 0}
    described["args"] = [pointer, number]
    buffer = {"name": "out", "dtype": "f32", "shape": [256 * groups], "strides": [1]}
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "chip": chip,
                "buffers": [{**buffer, "role": "output"}],
                "kernels": [described],
                "launches": [{"kernel": kernel, "grid": [groups, 1, 1]}],
            }
        )
    )
    return path


def run(folder, chip, code, kernel, groups, count, check):
    """Wall-clock seconds of the whole process, and its statistics."""
    command = [ROOT / "build/bin/attn-run", code, "--device=emulator"]
    command += [f"--manifest={manifest(folder, chip, kernel, groups, count)}"]
    command += ["--out", f"out={folder / 'out.npy'}", f"--check={check}", "--stats=json"]
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    text = done.stdout if "{" in done.stdout else done.stderr
    stats = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return seconds, stats.get("statistics", stats)


def measure(folder, chip, code, kernel, groups, count, check, repeats):
    """Best of some runs, without the fixed cost of starting and loading."""
    best = min(
        (run(folder, chip, code, kernel, groups, count, check) for _ in range(repeats)),
        key=lambda result: result[0],
    )
    empty = min(run(folder, chip, code, kernel, groups, 0, check)[0] for _ in range(repeats))
    return best[0] - empty, best[0], best[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", default="gfx942", choices=["gfx942", "gfx950"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code = build(folder, options.chip)
        print(f"{'kernel':8} {'checks':7} {'process s':>10} {'net s':>8}  rate")
        net = {}
        for kernel, groups, count in (("valu", 32, 4000), ("mfma", 16, 4000)):
            for check in ("none", "all"):
                seconds, whole, stats = measure(
                    folder, options.chip, code, kernel, groups, count, check, options.repeats
                )
                net[kernel, check] = seconds
                if kernel == "mfma":
                    rate = f"{stats['mfmaFlops'] / seconds / 1e9:.1f} GFLOP/s (target 8)"
                else:
                    rate = f"{stats['totalInstructions'] / seconds / 1e6:.1f} M wave-instructions/s"
                    rate += " (target 15)"
                if check == "all":
                    rate = rate.split(" (")[0]
                print(f"{kernel:8} {check:7} {whole:10.2f} {seconds:8.2f}  {rate}")
        for kernel in ("valu", "mfma"):
            ratio = net[kernel, "all"] / net[kernel, "none"]
            print(f"{kernel}: checks cost {ratio:.1f} x (target at most 8)")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"largest process: {peak / 1024:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
