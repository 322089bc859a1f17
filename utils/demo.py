"""Takes examples/attention.mlir through every level, runs it, checks the numbers."""

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
BIN = ROOT / "build" / "bin"
LENGTHS = np.array([192, 100], np.int32)

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
    ("LLVM dialect", ["-attn-to-cpu"], r"llvm\.func @attention"),
]


def main():
    print(f"\n== {SOURCE.relative_to(ROOT)}")
    print("".join(f"  {line}" for line in open(SOURCE)))
    show_levels()
    inputs = make_inputs()
    expected = attn_reference.attention(
        inputs["q"], inputs["k"], inputs["v"], causal=True, seqlens_kv=LENGTHS
    )
    return 0 if run("cpu", ["--device=cpu"], inputs, expected) else 1


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


def make_inputs():
    rng = np.random.default_rng(0)
    arrays = {
        "q": rng.normal(size=(2, 8, 128, 64)),
        "k": rng.normal(size=(2, 2, 192, 64)),
        "v": rng.normal(size=(2, 2, 192, 64)),
    }
    arrays = {name: x.astype(np.float16) for name, x in arrays.items()}
    for b, length in enumerate(LENGTHS):  # nothing may come from beyond a length
        arrays["k"][b, :, length:] = arrays["v"][b, :, length:] = np.nan
    return {**arrays, "lengths": LENGTHS}


def run(device, flags, inputs, expected):
    """Runs the program, prints what came out; whether it is right."""
    with tempfile.TemporaryDirectory(prefix="attn-demo-") as folder:
        command = [str(SOURCE), *flags]
        for name, array in inputs.items():
            np.save(f"{folder}/{name}.npy", array)
            command += ["--in", f"{name}={folder}/{name}.npy"]
        for name in ("output", "lse"):
            command += ["--out", f"{name}={folder}/{name}.out.npy"]
        tool("attn-run", *command)
        out, lse = (np.load(f"{folder}/{name}.out.npy") for name in ("output", "lse"))

    reference_out, reference_lse = expected
    finite = np.isfinite(reference_lse)
    out_error = np.abs(out - reference_out).max()
    lse_error = np.abs(lse[finite] - reference_lse[finite]).max()
    empty_right = (lse[~finite] == -np.inf).all() and (out[~finite] == 0).all()
    print(f"\n== Run on {device}, against the f64 reference")
    print(f"  O    f16  largest error {out_error:.2e}  (values up to {np.abs(out).max():.2f})")
    print(f"  LSE  f32  largest error {lse_error:.2e}  (values up to {lse[finite].max():.2f})")
    show_row("a row that sees 192 keys", out, lse, (0, 0, 127))
    show_row("a row that sees 1 key", out, lse, (1, 0, 28))
    show_row("a row that sees none", out, lse, (1, 0, 0))
    print(f"  {np.count_nonzero(~finite)} rows see no key: O = 0, LSE = -inf: "
          f"{'yes' if empty_right else 'NO'}")
    right = bool(empty_right and out_error < 2e-3 and lse_error < 2e-4)
    print(f"  {'results are right' if right else 'RESULTS ARE WRONG'}")
    return right


def show_row(what, out, lse, at):
    values = " ".join(f"{x:8.4f}" for x in out[at][:4])
    print(f"  {what:25} LSE {lse[at]:8.4f}  O {values} ...")


def tool(name, *arguments):
    done = subprocess.run([BIN / name, *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
