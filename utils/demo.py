"""Takes examples/attention.mlir through every level and runs it on every device."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "Integration"))

import attn_reference  # noqa: E402

SOURCE = ROOT / "examples" / "attention.mlir"
BIN = pathlib.Path(os.environ.get("ATTN_BUILD_DIR", ROOT / "build")) / "bin"

# Level, the passes that lead to it, what to show of it.
CLEAN = ["-canonicalize", "-cse"]
LEVELS = [
    ("L0 attention", [], r"attn\.attention"),
    ("L1 tiles", ["-attn-tile", *CLEAN], r"scf\.forall \(|attn\.attention"),
    (
        "L1 online softmax",
        ["-attn-tile", "-attn-online-softmax", *CLEAN],
        r"scf\.forall \(|scf\.for |attn\.(online_attention|finalize)",
    ),
    ("CPU: LLVM dialect", ["-attn-to-cpu"], r"llvm\.func @attention"),
    ("GPU: one wave's program", ["-attn-to-gpu=chip=gfx950"], r"gpu\.func|gpu\.launch_func"),
    ("GPU: ROCDL", ["-attn-to-rocdl=chip=gfx950"], r"llvm\.func @attention\w+\("),
]
DEVICES = [
    ("the CPU", ["--device=cpu"]),
    ("gfx942 (emulator)", ["--device=emulator", "--chip=gfx942", "--check=all"]),
    ("gfx950 (emulator)", ["--device=emulator", "--chip=gfx950", "--check=all"]),
]


def main():
    print(f"\n== {SOURCE.relative_to(ROOT)}")
    print("".join(f"  {line}" for line in open(SOURCE)))
    show_levels()
    with tempfile.TemporaryDirectory(prefix="attn-demo-") as folder:
        for chip in ("gfx942", "gfx950"):
            show_code_object(chip, pathlib.Path(folder))
        rng = np.random.default_rng(0)
        sizes = {"q": (1, 8, 128, 64), "k": (1, 2, 96, 64), "v": (1, 2, 96, 64)}
        inputs = {n: rng.normal(size=s).astype(np.float16) for n, s in sizes.items()}
        expected = attn_reference.attention(*inputs.values(), causal=True)
        right = [run(name, flags, inputs, expected, folder) for name, flags in DEVICES]
    return 0 if all(right) else 1


def show_levels():
    print("== The way down")
    for name, passes, pattern in LEVELS:
        lines = tool("attn-opt", str(SOURCE), *passes).splitlines()
        operations = sum(bool(re.match(r"\s+(%\S+ = )?[a-z_]+\.[a-z]", x)) for x in lines)
        print(f"  {name}: {operations} operations, {len(lines)} lines")
        for line in lines:
            if re.search(pattern, line):
                # Names of operands say little; types do.
                short = re.sub(r"\(%[^:()]* : ", "(... : ", line[2:])
                print(f"    {short[:100]}{'...' if len(short) > 100 else ''}")


def show_code_object(chip, folder):
    """Compiles for a chip and prints the kernel's resources and main instructions."""
    files = [folder / f"{chip}.hsaco", folder / f"{chip}.json"]
    flags = [f"--chip={chip}", "-o", str(files[0]), f"--manifest={files[1]}"]
    tool("attn-compile", str(SOURCE), *flags)
    kernel = json.loads(files[1].read_text())["kernels"][0]
    resources = ", ".join(
        f"{kernel[key]} {text}"
        for key, text in (
            ("vgprs", "VGPRs"),
            ("sgprs", "SGPRs"),
            ("lds_bytes", "bytes of LDS"),
            ("scratch_bytes", "bytes of scratch"),
        )
    )
    print(f"\n== Machine code for {chip}: {files[0].stat().st_size} bytes")
    print(f"  {kernel['name']}: {resources}")
    assembly = tool("attn-compile", str(SOURCE), f"--chip={chip}", "--emit=asm", "-o", "-")
    for what in ("v_mfma", "v_exp_f32", "buffer_load", "ds_read", "s_barrier"):
        found = re.findall(rf"^\s+({what}\w*)", assembly, re.M)
        print(f"  {len(found):4} {what}*" + (f", such as {found[0]}" if found else ""))


def run(device, flags, inputs, expected, folder):
    """Runs the program, prints what came out; whether it is right."""
    command = [str(SOURCE), *flags]
    for name, array in inputs.items():
        np.save(f"{folder}/{name}.npy", array)
        command += ["--in", f"{name}={folder}/{name}.npy"]
    for name in ("o", "lse"):
        command += ["--out", f"{name}={folder}/{name}.out.npy"]
    tool("attn-run", *command)
    out, lse = (np.load(f"{folder}/{name}.out.npy") for name in ("o", "lse"))

    reference_out, reference_lse = expected
    finite = np.isfinite(reference_lse)
    out_error = np.abs(out - reference_out).max()
    lse_error = np.abs(lse[finite] - reference_lse[finite]).max()
    empty_right = (lse[~finite] == -np.inf).all() and (out[~finite] == 0).all()
    print(f"\n== Run on {device}, against the f64 reference")
    print(f"  O    f16  largest error {out_error:.2e}  (values up to {np.abs(out).max():.2f})")
    print(f"  LSE  f32  largest error {lse_error:.2e}  (values up to {lse[finite].max():.2f})")
    for what, row in (("sees 96 keys", 127), ("sees 1 key", 32), ("sees none", 0)):
        values = " ".join(f"{x:8.4f}" for x in out[0, 0, row, :4])
        print(f"  row {row:3} {what:13} LSE {lse[0, 0, row]:8.4f}  O {values} ...")
    answer = "yes" if empty_right else "NO"
    print(f"  {np.count_nonzero(~finite)} rows see no key; O = 0 and LSE = -inf there: {answer}")
    right = bool(empty_right and out_error < 2e-3 and lse_error < 2e-4)
    print(f"  {'results are right' if right else 'RESULTS ARE WRONG'}")
    return right


def tool(name, *arguments):
    done = subprocess.run([BIN / name, *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {name} failed: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
