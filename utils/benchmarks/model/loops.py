"""Loops and launches of plain attention beside published figures."""

import dataclasses
import itertools
import re
import tempfile

from model.measure import LLVM, program, run, time_program

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


def mca_clocks(timing, chip):
    """llvm-mca's bound for the main loop, clocks of a SIMD an iteration.

    Its unit is an issue turn of 4 clocks. The vector and the matrix pipe are
    used by all waves of the SIMD, issue slots by one wave alone.
    """
    if not timing.loop:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".s") as source:
        source.write("\n".join(timing.loop) + "\n")
        source.flush()
        text = run(
            LLVM / "llvm-mca",
            "-mtriple=amdgcn-amd-amdhsa",
            f"-mcpu={chip}",
            "-iterations=10",
            "-instruction-info=false",
            source.name,
        )
    slots = float(re.search(r"Block RThroughput:\s*([\d.]+)", text)[1])
    names = re.findall(r"^\[\d+\]\s+- (\w+)$", text, re.M)
    values = re.search(r"Resource pressure per iteration:\n.*\n(.*)\n", text)[1].split()
    pressure = dict(zip(names, (0.0 if value == "-" else float(value) for value in values)))
    waves = sum(wave["simd"] == 0 for wave in timing.longest["waves"])
    return 4 * max(slots, waves * max(pressure["HWVALU"], pressure["HWXDL"]))


def time_plain(chip, shape, dtype, causal, lse, dv=None, timeline=None):
    """One row, with what the tables need besides."""
    b, s, h, hkv, d = shape
    dv = dv or d
    timing = time_program(
        program(shape, dv, dtype, lse, "causal" if causal else ""), chip, timeline=timeline
    )
    launch, us, mca = timing.longest, timing.us, mca_clocks(timing, chip)
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
        "loop_instructions": len(timing.loop),
        "tile": tile,
    }
    return row, extra


def is_met(target, row):
    if row["clk_per_step"] is None:
        return False
    if target.clocks:
        return row["clk_per_step"] <= target.clocks
    return row["mfma_efficiency"] >= target.efficiency


def target_tasks(chips, timeline=None):
    return {
        t: (
            time_plain,
            t.chip,
            (2, 2048, 16, 16, t.d),
            t.dtype,
            False,
            False,
            t.dv,
            timeline if t is TARGETS[0] else None,
        )
        for t in TARGETS
        if t.chip in chips
    }


def target_table(results):
    yield "| chip | D | type | clk a step | MFMA | target | | llvm-mca | VGPRs | LDS conflicts | slow barrier | read + 4 | exp x 1.5 | all three | half LDS |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for target, result in results.items():
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


def shape_tasks(chips, shapes=SHAPES):
    return {
        key: (time_plain, key[0], key[1], "bf16", *key[2:])
        for key in itertools.product(chips, shapes, (True, False), (True, False))
    }


def shape_table(results):
    yield "| chip | B, S, H, Hkv, D | causal | LSE | rows | clk a step | MFMA | us | TFLOPS | us x 1.38 | FlyDSL | CK | assembly |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (chip, shape, causal, lse), result in results.items():
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
    for (chip, shape, causal, lse), result in results.items():
        if shape[1] != 1024 or not lse:
            continue
        pair = results[chip, shape, causal, False], result
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
        result = results.get(("gfx950", shape, True, True))
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
