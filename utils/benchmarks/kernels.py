"""Modelled clocks and time of the GPU kernels beside published figures."""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
CHIPS = ("gfx950", "gfx942")
# Keys of one step of 256 rows: a step is 32 * D clocks of MFMA on both chips.
STEP_KEYS = {"gfx950": 128, "gfx942": 64}

# B, S, H, Hkv, D.
SHAPES = (
    (2, 2048, 16, 16, 128),
    (2, 4096, 16, 16, 128),
    (1, 8192, 16, 16, 128),
    (2, 2048, 16, 2, 128),
    (4, 2048, 8, 8, 64),
    (8, 1024, 16, 16, 128),
)
# MI350X, bf16, causal, us, in the order of SHAPES.
PUBLISHED = {
    ("FlyDSL", False): (51.4, 156.0, 263.0, 51.3, 40.5, 57.4),
    ("FlyDSL", True): (51.3, 154.7, 262.8, 50.4, 38.7, 58.5),
    ("CK", True): (82.2, 175.9, 342.3, 83.4, 61.6, 81.2),
    ("assembly", True): (60.9, 124.0, 230.1, 62.0, None, 49.6),
}
# Published clocks of a 256 x 128 step, D = 128 bf16, gfx950, and of a 256 x 64
# step, gfx942.
PUBLISHED_STEPS = {
    "gfx950": (
        ("MFMA only", 4105),
        ("Gluon lazy", 4306),
        ("FlyDSL lazy", 4621),
        ("Gluon eager", 4752),
        ("assembly", 5380),
    ),
    "gfx942": (("assembly, truncating", 4888), ("assembly, to nearest", 6016)),
}


# Measured over modelled time of the assembly kernel (docs/Timing.md).
SILICON_RATIO = 1.38


@dataclasses.dataclass(frozen=True)
class Target:
    chip: str
    dtype: str
    d: int
    dv: int
    # One of them: clocks of a step at most, efficiency at least.
    clocks: float = 0
    efficiency: float = 0


TARGETS = (
    Target("gfx950", "bf16", 128, 128, clocks=4200),
    Target("gfx950", "f16", 128, 128, clocks=4200),
    Target("gfx950", "bf16", 64, 64, efficiency=0.68),
    Target("gfx950", "bf16", 192, 128, efficiency=0.95),
    Target("gfx950", "bf16", 96, 96, efficiency=0.75),
    Target("gfx950", "bf16", 80, 80, efficiency=0.75),
    Target("gfx950", "bf16", 256, 256, efficiency=0.75),
    Target("gfx942", "bf16", 128, 128, clocks=4250),
    Target("gfx942", "bf16", 64, 64, efficiency=0.73),
)


def program(shape, dv, dtype, causal, lse, keys=None):
    """One op on memrefs; `keys` is the length of K and V, that of Q by default."""
    b, s, h, hkv, d = shape
    keys = keys or s
    q, k = f"memref<{b}x{h}x{s}x{d}x{dtype}>", f"memref<{b}x{hkv}x{keys}x{d}x{dtype}>"
    v, o = f"memref<{b}x{hkv}x{keys}x{dv}x{dtype}>", f"memref<{b}x{h}x{s}x{dv}x{dtype}>"
    row = f"memref<{b}x{h}x{s}xf32>"
    return f"""
func.func @main(%query: {q}, %key: {k}, %value: {v}, %output: {o}{f", %lse: {row}" if lse else ""}) {{
  attn.attention ins(%query, %key, %value : {q}, {k}, {v})
      outs(%output{", %lse" if lse else ""} : {o}{f", {row}" if lse else ""}){" {causal}" if causal else ""}
  return
}}
"""


# What features cost over plain dense attention, D = 128, with LSE: the clause
# and options of the op, the type of its operand %x, and the most its time may
# be, as a multiple of the plain kernel's. The last are ratios of two lengths.
FEATURE_SHAPE = (4, 2048, 16, 16, 128)
FEATURES = {
    "bias": ("bias(%x : {0})", "memref<2048x2048x{dtype}>", "", 1.25),
    "f32 bias": ("bias(%x : {0})", "memref<2048x2048xf32>", "", 1.25),
    "mask": ("mask(%x : {0})", "memref<2048x2048xi8>", "", None),
    "softcap": ("", "", "softcap = 30.0", 1.15),
    "ALiBi, slope 2^-8": ("alibi_slopes(%x : {0})", "memref<16xf32>", "", 1.15),
    "sink": ("sink(%x : {0})", "memref<16xf32>", "", 1.02),
    "window 512, S 2048 to 8192": ("", "", "causal, window_left = 511", 4.4),
}
ALIBI_SLOPE = 2.0**-8


def run(*command):
    result = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if result.returncode:
        raise RuntimeError(result.stderr.strip() or f"{command[0]} failed")
    return result.stdout


def mca_clocks(code, chip, launch):
    """llvm-mca's bound for the main loop, clocks of a SIMD an iteration.

    Its unit is an issue turn of 4 clocks. The vector and the matrix pipe are
    used by all waves of the SIMD, issue slots by one wave alone.
    """
    if not launch["loop_addresses"]:
        return None
    text = {}
    for line in run(ROOT / "build/bin/attn-run", code, "--disassemble").splitlines():
        if match := re.match(r"\s*([0-9a-f]+)  (?:[0-9A-F]{8} )+\s*(.*)", line):
            text[int(match[1], 16)] = match[2]
    lines = [text[address] for address in launch["loop_addresses"]]
    source = code.with_suffix(".loop.s")
    source.write_text("\n".join(lines) + "\n")
    text = run(
        LLVM / "llvm-mca",
        "-mtriple=amdgcn-amd-amdhsa",
        f"-mcpu={chip}",
        "-iterations=10",
        "-instruction-info=false",
        source,
    )
    slots = float(re.search(r"Block RThroughput:\s*([\d.]+)", text)[1])
    names = re.findall(r"^\[\d+\]\s+- (\w+)$", text, re.M)
    values = re.search(r"Resource pressure per iteration:\n.*\n(.*)\n", text)[1].split()
    pressure = dict(zip(names, (0.0 if value == "-" else float(value) for value in values)))
    waves = sum(wave["simd"] == 0 for wave in launch["waves"])
    return 4 * max(slots, waves * max(pressure["HWVALU"], pressure["HWXDL"]))


def time_program(text, chip, timeline=None, inputs=None):
    """The launches that attn-run --timing reports, the one that does the work, and
    llvm-mca's bound for its loop."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, code, manifest = (folder / name for name in ("k.mlir", "k.hsaco", "k.json"))
        source.write_text(text)
        compiler, runner = ROOT / "build/bin/attn-compile", ROOT / "build/bin/attn-run"
        run(compiler, source, f"--chip={chip}", "-o", code, f"--manifest={manifest}")
        extra = [f"--timeline={timeline}"] if timeline else []
        for name, array in (inputs or {}).items():
            np.save(folder / f"{name}.npy", array)
            extra.append(f"--in={name}={folder / name}.npy")
        report = run(runner, code, f"--manifest={manifest}", "--timing=json", *extra)
        launches = json.loads(report)["launches"]
        launch = max(launches, key=lambda item: item["clocks"])
        return launches, launch, mca_clocks(code, chip, launch)


def measure(chip, shape, dtype, causal, lse, dv=None, timeline=None):
    """One row, with what the tables need besides."""
    b, s, h, hkv, d = shape
    dv = dv or d
    launches, launch, mca = time_program(program(shape, dv, dtype, causal, lse), chip, timeline)
    us = sum(item["launch"]["projected_us"] - item["launch"]["overhead_us"] for item in launches)
    us += launches[0]["launch"]["overhead_us"]
    # Rows and keys of one iteration on one compute unit.
    tile = 16
    while launch["row_tiles"] * tile < s:
        tile *= 2
    rows = tile * launch["workgroups"]
    ideal = 32 * (d + dv) / 2
    clocks = efficiency = None
    scale = 1
    if launch["iteration_clocks"]:
        keys = 32
        while keys * launch["iterations"] < s:
            keys *= 2
        scale = 256 / rows * STEP_KEYS[chip] / keys
        clocks = launch["iteration_clocks"] * scale
        efficiency = ideal / clocks
    flops = 2 * b * h * s * s * (d + dv) / (2 if causal else 1)
    row = {
        "chip": chip,
        "head_dim": d,
        "dtype": dtype,
        "shape": list(shape),
        "causal": causal,
        "lse": lse,
        "mode": "default",
        "clk_per_step": clocks and round(clocks, 1),
        "mfma_efficiency": efficiency and round(efficiency, 4),
        "vgprs": launch["vgprs"],
        "lds_bytes": launch["lds_bytes"],
        "projected_us": round(us, 2),
        "tflops": round(flops / us / 1e6, 1),
    }
    extra = {
        "dv": dv,
        "mca_clk_per_step": mca and round(mca * scale, 1),
        "sensitivities": {
            item["name"]: round(item["iteration_clocks"] * scale)
            for item in launch["sensitivities"]
        },
        "lds_conflicts": launch["lds_conflicts"],
        "loop_instructions": len(launch["loop_addresses"]),
        "tile": tile,
    }
    return row, extra


@functools.cache
def feature_makespan(chip, dtype, name, rows=None):
    """Clocks of a launch with that feature (None: plain)."""
    clause, type_, options, _ = FEATURES[name] if name else ("", "", "", None)
    b, s, h, hkv, d = FEATURE_SHAPE
    type_ = type_.format(dtype=dtype)
    text = program((b, rows or s, h, hkv, d), d, dtype, False, True)
    if type_:
        text = text.replace(") {\n", f", %x: {type_}) {{\n", 1)
    text = text.replace("\n      outs(", f" {clause.format(type_)}\n      outs(")
    text = text.replace("\n  return", f" {{{options}}}\n  return")
    inputs = {}
    if name and name.startswith("ALiBi"):
        inputs["arg5"] = np.full(h, ALIBI_SLOPE, np.float32)
    _, launch, _ = time_program(text, chip, inputs=inputs)
    return launch["launch"]["makespan_clocks"]


def feature_cost(chip, dtype, name):
    if name.startswith("window"):
        return feature_makespan(chip, dtype, name, 8192) / feature_makespan(chip, dtype, name)
    return feature_makespan(chip, dtype, name) / feature_makespan(chip, dtype, None)


def feature_table(results):
    chips = sorted({(chip, dtype) for chip, dtype, _ in results}, reverse=True)
    yield "| feature | target | " + " | ".join(f"{c} {t}" for c, t in chips) + " |"
    yield "|---" * (len(chips) + 2) + "|"
    for name, (_, _, _, limit) in FEATURES.items():
        cells = []
        for chip, dtype in chips:
            cost = results[chip, dtype, name]
            if not isinstance(cost, str):
                verdict = "" if limit is None else ", met" if cost <= limit else ", missed"
                cost = f"{cost:.2f}{verdict}"
            cells.append(cost)
        wanted = "" if limit is None else f"<= {limit:.2f}"
        yield f"| {name} | {wanted} | " + " | ".join(cells) + " |"


SWEEP_ROWS = (1, 16, 64, 128, 200, 256, 300, 512)
SWEEP_KEYS = (1, 32, 63, 64, 65, 128, 200, 256, 512, 1000, 1024)


def sweep(chip, rows, keys, dtype="bf16", d=128):
    """Clocks of the longest workgroup, and the share of them that the products
    of the head it belongs to would take at full rate."""
    shape = (4, rows, 16, 16, d)
    _, launch, _ = time_program(program(shape, d, dtype, False, False, keys), chip)
    clocks = launch["clocks"]
    ideal = 32 * d * min(rows / launch["row_tiles"], 256) / 256 * keys / STEP_KEYS[chip]
    return clocks, ideal * launch["workgroups"] / clocks


def sweep_table(results):
    rows = sorted({row for _, row, _ in results})
    yield "| keys | " + " | ".join(f"{row} rows" for row in rows) + " |"
    yield "|---" * (len(rows) + 1) + "|"
    for keys in sorted({keys for _, _, keys in results}):
        cells = []
        for row in rows:
            (result,) = (r for (_, x, y), r in results.items() if (x, y) == (row, keys))
            cells.append(result if isinstance(result, str) else f"{result[0]}, {result[1]:.0%}")
        yield f"| {keys} | " + " | ".join(cells) + " |"


def is_met(target, row):
    if row["clk_per_step"] is None:
        return False
    if target.clocks:
        return row["clk_per_step"] <= target.clocks
    return row["mfma_efficiency"] >= target.efficiency


def target_table(results):
    yield "| chip | D | type | clk a step | MFMA | target | | llvm-mca | VGPRs | LDS conflicts | slow barrier | read + 4 | exp x 1.5 | all three | half LDS |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for target, result in results:
        d = f"{target.d}" if target.d == target.dv else f"{target.d}/{target.dv}"
        wanted = f"<= {target.clocks} clk" if target.clocks else f">= {target.efficiency:.0%}"
        if isinstance(result, str):
            yield f"| {target.chip} | {d} | {target.dtype} | {result} | | {wanted} | missed |" + " |" * 8
            continue
        row, extra = result
        rows = extra["sensitivities"]
        names = (
            "barrier 32 clk",
            "MFMA read + 4 clk",
            "exp x 1.5",
            "all three",
            "half LDS bandwidth",
        )
        yield (
            f"| {target.chip} | {d} | {target.dtype} | {row['clk_per_step']:.0f} | {row['mfma_efficiency']:.1%} | {wanted} | "
            f"{'met' if is_met(target, row) else 'missed'} | {extra['mca_clk_per_step']:.0f} | {row['vgprs']} | "
            f"{extra['lds_conflicts']:.0f} | "
            + " | ".join(str(rows[name]) for name in names)
            + " |"
        )


def shape_table(results):
    yield "| chip | B, S, H, Hkv, D | causal | LSE | rows | clk a step | MFMA | us | TFLOPS | us x 1.38 | FlyDSL | CK | assembly |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for key, result in results:
        chip, shape, causal, lse = key
        published = []
        for name in ("FlyDSL", "CK", "assembly"):
            values = PUBLISHED.get((name, lse)) if chip == "gfx950" and causal else None
            value = values[SHAPES.index(shape)] if values else None
            published.append("" if value is None else f"{value}")
        text = ", ".join(map(str, shape))
        yes = ("no", "yes")
        if isinstance(result, str):
            yield f"| {chip} | {text} | {yes[causal]} | {yes[lse]} | | {result} | | | | " + " | ".join(
                published
            ) + " |"
            continue
        row, extra = result
        step = (
            ""
            if row["clk_per_step"] is None
            else f"{row['clk_per_step']:.0f} | {row['mfma_efficiency']:.1%}"
        )
        yield (
            f"| {chip} | {text} | {yes[causal]} | {yes[lse]} | {extra['tile']} | {step or ' | '} | {row['projected_us']:.1f} | {row['tflops']:.0f} | {row['projected_us'] * SILICON_RATIO:.1f} | "
            + " | ".join(published)
            + " |"
        )


LSE_LIMIT = 0.005  # of the time at S = 1024


def lse_table(results):
    """What asking for the LSE costs, at the shape with S = 1024."""
    yield "| chip | causal | loop instructions, without and with | us, without and with | more | target | |"
    yield "|---|---|---|---|---|---|---|"
    table = dict(results)
    for (chip, shape, causal, lse), result in results:
        if shape[1] != 1024 or not lse:
            continue
        pair = table[chip, shape, causal, False], result
        if any(isinstance(each, str) for each in pair):
            continue
        loops = [extra["loop_instructions"] for _, extra in pair]
        times = [row["projected_us"] for row, _ in pair]
        more = times[1] / times[0] - 1
        met = "met" if loops[0] == loops[1] and more <= LSE_LIMIT else "missed"
        yield (
            f"| {chip} | {('no', 'yes')[causal]} | {loops[0]}, {loops[1]} | {times[0]:.2f}, {times[1]:.2f} | "
            f"{more:.2%} | <= {LSE_LIMIT:.1%}, same loop | {met} |"
        )


REDO_SCORES = (
    ("N(0, 1)", 1, False),
    ("N(0, 8^2)", 8, False),
    ("N(0, 1), 4 more each tile", 1, True),
)


def redo_rate(chip, dtype, scale, grows, tiles=64, d=64):
    """Tiles of `tiles` whose maximum one wave raises: it computes them again."""
    keys = 64 * tiles
    shape = (1, 32, 1, 1, d)
    random = np.random.default_rng(1)
    query, key = (random.normal(size=(1, 1, rows, d)) * scale**0.5 for rows in (32, keys))
    if grows:
        # One component carries what all rows have in common.
        query[..., 0] = d**0.5
        key[..., 0] = 4 * (np.arange(keys) // 64)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = program(shape, d, dtype, False, False, keys)
        config = "attributes {attn.lowering_config = #attn.lowering_config<tile_q = 256>}"
        text = text.replace("\n  return", f" {config}\n  return")
        (folder / "k.mlir").write_text(text)
        arrays = {"arg0": query, "arg1": key, "arg2": key}
        files = []
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array.astype(np.float32))
            files += ["--in", f"{name}={folder / name}.npy"]
        trace = run(
            ROOT / "build/bin/attn-run",
            folder / "k.mlir",
            "--device=emulator",
            f"--chip={chip}",
            "--trace-workgroup=0",
            "--trace-wave=0",
            *files,
            "--out",
            f"arg3={folder / 'o.npy'}",
        )
    # Each tile has 32 exponentials a lane, a tile done again as many and one more.
    # Fewer than 32 belong to a tile behind the end.
    return (len(re.findall(r"\bv_exp_f32", trace)) - 32 * tiles) // 33


def redo_table(results):
    yield "| type | " + " | ".join(name for name, _, _ in REDO_SCORES) + " |"
    yield "|---" * (len(REDO_SCORES) + 1) + "|"
    for dtype in ("bf16", "f16"):
        cells = []
        for name, _, _ in REDO_SCORES:
            result = results[dtype, name]
            cells.append(result if isinstance(result, str) else f"{result}")
        yield f"| {dtype} | " + " | ".join(cells) + " |"


def plot(results):
    """Bars of modelled and published us, gfx950, causal, with LSE."""
    colors = {
        "model x 1.38": "#3366cc",
        "FlyDSL": "#dd8833",
        "CK": "#999999",
        "assembly": "#66aa55",
    }
    groups = []
    for index, shape in enumerate(SHAPES):
        result = dict(results).get(("gfx950", shape, True, True))
        if result is None or isinstance(result, str):
            continue
        bars = {"model x 1.38": result[0]["projected_us"] * SILICON_RATIO}
        bars.update(
            {
                name: values[index]
                for (name, lse), values in PUBLISHED.items()
                if lse and values[index]
            }
        )
        groups.append((shape, bars))
    top = max((max(bars.values()) for _, bars in groups), default=1)
    width, height, base = 1000, 340, 270
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="40" y="20" font-size="14">us, bf16, causal, with LSE: modelled (gfx950, 2.2 GHz) times 1.38, and published (MI350X)</text>',
    ]
    for index, (shape, bars) in enumerate(groups):
        x = 50 + index * 155
        for name in colors:
            if name not in bars:
                continue
            tall = bars[name] * 220 / top
            parts.append(
                f'<rect x="{x}" y="{base - tall:.1f}" width="28" height="{tall:.1f}" fill="{colors[name]}"/>'
            )
            parts.append(
                f'<text x="{x + 14}" y="{base - tall - 4:.1f}" text-anchor="middle">{bars[name]:.0f}</text>'
            )
            x += 31
        parts.append(
            f'<text x="{50 + index * 155 + 60}" y="{base + 16}" text-anchor="middle">{", ".join(map(str, shape))}</text>'
        )
    for index, name in enumerate(colors):
        parts.append(
            f'<rect x="{50 + 110 * index}" y="{base + 34}" width="12" height="12" fill="{colors[name]}"/>'
        )
        parts.append(f'<text x="{68 + 110 * index}" y="{base + 44}">{name}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


LIMITS = """\
Nothing here ran on silicon. The figures are those of the timing model of
[Timing.md](Timing.md), which lists what it leaves out: instruction fetch, power
limits, and contention in L2 and HBM beyond a bandwidth bound. Published times
are measured and must not be set against modelled ones as they are: the assembly
kernel's measured times are 1.38 times what the model gives for its loop, so the
column "us x 1.38" is the one to compare. A shorter time there is a prediction, not
a result.
"""


def page(targets, shapes, sweeps, redos, features):
    steps = "\n".join(
        f"| {chip} | {name} | {clocks} |"
        for chip, rows in PUBLISHED_STEPS.items()
        for name, clocks in rows
    )
    return f"""# Modelled performance

Written by `utils/bench kernels --docs`; do not edit.

{LIMITS}
## Loops

Clocks of a SIMD for 256 rows of Q and 128 keys (gfx942: 64 keys); the ideal is
32 D. The last columns change one constant of the model each. llvm-mca's column
is its bound from issue slots and pipes, which knows no barriers and no shadow.

{chr(10).join(target_table(targets))}

Published, D = 128, bf16:

| chip | kernel | clk a step |
|---|---|---|
{steps}

![Two iterations of the gfx950 kernel](images/timeline-gfx950.svg)

## Launches

bf16, at the nominal clock (gfx950 2.2 GHz, gfx942 2.1 GHz), 2 us of start and
end included. The published columns are MI350X measurements.

![Modelled and published times](images/kernels.svg)

{chr(10).join(shape_table(shapes))}

The column "rows" says how many rows of Q a workgroup owns, which the rule chooses by makespan
([Lowering.md](Lowering.md#the-rule)).

## What the LSE costs

No instruction of the loop, and at S = 1024 no more than {LSE_LIMIT:.1%} of the time:

{chr(10).join(lse_table(shapes))}

## What features cost

Time of a launch, as a multiple of that without the feature; B, S, H = 4, 2048, 16, D = 128, with LSE. For the window it is the
multiple for four times the length: without tile skipping it would be 16.

{chr(10).join(feature_table(features))}

## How often a maximum is raised

Of 64 tiles of 64 keys, those that one wave of 32 rows computes again because the sum of a half-row of P
passed the threshold (bf16 2^24, f16 2^14); gfx950, D = 64. The first tile, whose maximum is found before the
loop, does not count. A textbook online softmax looks for the maximum of all 64.

{chr(10).join(redo_table(redos))}

## Small and ragged problems

gfx950, bf16, D = 128, 64 heads: clocks of the longest workgroup, start and end
included, and the share of them that its products take at full rate.

{chr(10).join(sweep_table(sweeps))}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--chip", choices=CHIPS, help="one chip only")
    parser.add_argument("--quick", action="store_true", help="targets and the first shape only")
    parser.add_argument("--scores", action="store_true", help="what score features cost instead")
    parser.add_argument("--sweep", action="store_true", help="small and ragged problems instead")
    parser.add_argument("--features", action="store_true", help="what features cost instead")
    parser.add_argument("--jobs", type=int, default=2, help="kernels at a time")
    parser.add_argument(
        "--docs", action="store_true", help="write docs/Performance.md and its pictures"
    )
    options = parser.parse_args()
    if options.docs and (options.quick or options.chip):
        parser.error("--docs needs all rows")
    chips = [options.chip] if options.chip else CHIPS
    if options.features:
        import features

        return features.main(chips)
    shapes = SHAPES[:1] if options.quick else SHAPES
    targets = [target for target in TARGETS if target.chip in chips]
    keys = [
        (chip, shape, causal, lse)
        for chip in chips
        for shape in shapes
        for causal in (True, False)
        for lse in (True, False)
    ]

    images = ROOT / "docs/images"
    timeline = None
    if options.docs:
        images.mkdir(exist_ok=True)
        timeline = images / "timeline-gfx950.svg"
    done = 0

    def attempt(*arguments, **keywords):
        nonlocal done
        try:
            result = measure(*arguments, **keywords)
        except RuntimeError as error:
            result = str(error).splitlines()[-1]
        done += 1
        if sys.stderr.isatty():
            print(f"\r{done} of {len(targets) + len(keys)}", end="", file=sys.stderr, flush=True)
        return result

    def attempt_other(measurement, *arguments):
        try:
            return measurement(*arguments)
        except RuntimeError as error:
            return str(error).splitlines()[-1]

    sweep_keys = [
        (options.chip or "gfx950", rows, keys) for rows in SWEEP_ROWS for keys in SWEEP_KEYS
    ]
    sweeps = {}
    if options.sweep or options.docs:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(attempt_other, sweep, *key) for key in sweep_keys]
            sweeps = {key: job.result() for key, job in zip(sweep_keys, jobs)}
    if options.sweep:
        print("\n".join(sweep_table(sweeps)))
        return 0

    feature_keys = [
        (chip, dtype, name) for chip in chips for dtype in ("bf16", "f16") for name in FEATURES
    ]
    features = {}
    if not options.quick:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(attempt_other, feature_cost, *key) for key in feature_keys]
            features = {key: job.result() for key, job in zip(feature_keys, jobs)}
    if options.scores:
        print("\n".join(feature_table(features)))
        return 0

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        target_jobs = [
            pool.submit(
                attempt,
                t.chip,
                (2, 2048, 16, 16, t.d),
                t.dtype,
                False,
                False,
                t.dv,
                timeline if t is TARGETS[0] else None,
            )
            for t in targets
        ]
        shape_jobs = [
            pool.submit(attempt, chip, shape, "bf16", causal, lse)
            for chip, shape, causal, lse in keys
        ]
        redo_keys = [
            (dtype, name, (scale, grows))
            for dtype in ("bf16", "f16")
            for name, scale, grows in REDO_SCORES
        ]
        redo_jobs = [
            pool.submit(attempt_other, redo_rate, chips[0], dtype, *how)
            for dtype, _, how in redo_keys
        ]
        target_results = [(target, job.result()) for target, job in zip(targets, target_jobs)]
        shape_results = [(key, job.result()) for key, job in zip(keys, shape_jobs)]
        redos = {
            (dtype, name): job.result() for (dtype, name, _), job in zip(redo_keys, redo_jobs)
        }
    if sys.stderr.isatty():
        print(file=sys.stderr)

    failures = [result for _, result in target_results + shape_results if isinstance(result, str)]
    if options.docs:
        (ROOT / "docs/Performance.md").write_text(page(target_results, shape_results, sweeps, redos, features))
        (images / "kernels.svg").write_text(plot(shape_results))
    if options.json:
        rows = [
            result[0] for _, result in target_results + shape_results if not isinstance(result, str)
        ]
        print(json.dumps({"rows": rows}, indent=1))
    else:
        print("\n".join(target_table(target_results)))
        print()
        print("\n".join(shape_table(shape_results)))
        print()
        print("The LSE:")
        print("\n".join(lse_table(shape_results)))
        print()
        if features:
            print("What features cost, a multiple of the time without:")
            print("\n".join(feature_table(features)))
            print()
        print("Tiles of 64 whose maximum one wave raises:")
        print("\n".join(redo_table(redos)))
        print()
        print(LIMITS)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
