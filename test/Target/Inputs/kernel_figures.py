"""Compiles kernels over element types and head dims and checks their figures."""

import itertools
import json
import subprocess
import sys

HEAD_DIMS = [(8, 8), (32, 32), (64, 64), (80, 80), (96, 96), (128, 128),
             (192, 128), (256, 256)]

# Clause and the type of its operand %x, options.
FEATURES = {
    "bias": ("bias(%x : {0})", "memref<200x200x{element}>", ""),
    "f32 bias": ("bias(%x : {0})", "memref<200x200xf32>", ""),
    "mask": ("mask(%x : {0})", "memref<200x200xi8>", "causal"),
    "alibi": ("alibi_slopes(%x : {0})", "memref<4xf32>", "causal"),
    "softcap": ("sink(%x : {0})", "memref<4xf32>", "softcap = 30.0"),
    "window": ("q_offset(%x : {0})", "memref<2xi32>", "window_left = 90, window_right = 9"),
}


def featured(element, d, name):
    clause, type_, options = FEATURES[name]
    type_ = type_.format(element=element)
    q, lse = f"memref<2x4x200x{d}x{element}>", "memref<2x4x200xf32>"
    return (f"func.func @f(%q: {q}, %k: {q}, %v: {q}, %o: {q}, %l: {lse}, %x: {type_}) {{\n"
            f"  attn.attention ins(%q, %k, %v : {q}, {q}, {q}) {clause.format(type_)} "
            f"outs(%o, %l : {q}, {lse}) {{{options}}}\n  return\n}}\n")


def module(element, dqk, dv, causal, dynamic):
    size = "?" if dynamic else "200"
    q = f"memref<2x4x{size}x{dqk}x{element}>"
    v = f"memref<2x4x{size}x{dv}x{element}>"
    lse = f"memref<2x4x{size}xf32>"
    options = " {causal}" if causal else ""
    return (f"func.func @f(%q: {q}, %k: {q}, %v: {v}, %o: {v}, %l: {lse}) {{\n"
            f"  attn.attention ins(%q, %k, %v : {q}, {q}, {v}) "
            f"outs(%o, %l : {v}, {lse}){options}\n  return\n}}\n")


def figures(compiler, chip, text):
    run = subprocess.run(
        [compiler, "-", f"--chip={chip}", "-o", "/dev/null", "--kernel-stats"],
        input=text, capture_output=True, text=True, check=False)
    if run.returncode:
        return None, run.stderr
    return json.loads(run.stderr)["kernels"][0], ""


def main(compiler):
    failures = 0
    problems = [(dims, True, False) for dims in HEAD_DIMS]
    problems += [(dims, False, True) for dims in ((64, 64), (128, 128))]
    texts = [(element, f"{dqk}/{dv} causal={causal} dynamic={dynamic}",
              module(element, dqk, dv, causal, dynamic))
             for element, ((dqk, dv), causal, dynamic) in itertools.product(
                 ("bf16", "f16", "f32"), problems)]
    texts += [(element, f"128/128 {name}", featured(element, 128, name))
              for element, name in itertools.product(("bf16", "f16"), FEATURES)]
    for chip, (element, what, text) in itertools.product(("gfx942", "gfx950"), texts):
        name = f"{chip} {element} {what}"
        kernel, errors = figures(compiler, chip, text)
        if kernel is None:
            print(f"{name}: {errors}")
            failures += 1
            continue
        bad = [f"{key}={kernel[key]}"
               for key in ("scratch_bytes", "vgpr_spills", "sgpr_spills", "agprs")
               if kernel[key]]
        if kernel["vgprs"] > 256:
            bad.append(f"vgprs={kernel['vgprs']}")
        if kernel["lds_bytes"] > (65536 if chip == "gfx942" else 163840):
            bad.append(f"lds_bytes={kernel['lds_bytes']}")
        if bad:
            print(f"{name}: {', '.join(bad)}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
