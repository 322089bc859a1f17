"""Modelled clocks and time of the GPU kernels beside published figures."""

import argparse
import json
import sys

from model.decode import decode_table, decode_tasks
from model.features import bound_table, feature_table, feature_tasks
from model.loops import (
    LSE_LIMIT,
    PUBLISHED_STEPS,
    SHAPES,
    lse_table,
    plot,
    shape_table,
    shape_tasks,
    target_table,
    target_tasks,
)
from model.measure import CHIPS, ROOT, run_all
from model.small import redo_table, redo_tasks, sweep_table, sweep_tasks

LIMITS = """\
Nothing here ran on silicon. The figures are those of the timing model of
[Timing.md](Timing.md), which lists what it leaves out: instruction fetch, power
limits, and contention in L2 and HBM beyond a bandwidth bound. Published times
are measured and must not be set against modelled ones as they are: the assembly
kernel's measured times are 1.38 times what the model gives for its loop, so the
column "us x 1.38" is the one to compare. A shorter time there is a prediction, not
a result.
"""


DECODE_BOUNDS = """\
The rows of a group of heads share a tile, so K and V come once, and compute takes less than the bound even with
the memory latency doubled. What a small batch loses are the starts and ends of two launches, 4 us. Whether HBM
delivers its nominal rate to this pattern of accesses is not modelled.
"""

# The targets are the table's. Per score: a SIMD has 128 an iteration (2 waves, 2 tiles of
# 32 a lane).
FEATURE_BOUNDS = """\
- **Softcap** as tanh is a product, an exponential, a sum and a reciprocal in front of the softmax: 4 + 8 + 4 + 8 = 24
  clk a score on gfx950, 4 + 16 + 4 + 16 = 40 on gfx942. An iteration of a SIMD has 128 scores, and 3344 (gfx942: 6472)
  clk of the vector port belong to the plain loop, so no order of these instructions takes less than 6416 (11592),
  1.57 (1.41) times the plain loop. So a tile whose scores are all within a quarter of the cap takes a polynomial
  (3 instructions more than the plain exponent; `include/attn/Conversion/TanhSeries.h`), and one v_max3 for two scores
  tells which. Packed, that is 8 clk a score and hides on gfx942. On gfx950 packed f32 does not hide behind an MFMA,
  and single instructions are twice as many: with T clk a tile of a wave, of which 1024 are MFMAs, the shadows have
  room for 768 clk. 524 of them belong to the softmax and the check, so 30 pairs of instructions are single and 34 are
  packed, 4 clk each outside: T = 1160, 1.13, with every slot filled. The loop reaches 1.21: the shadow of a cluster's
  last MFMA is not filled, nor are those in which the other wave's check takes the slots. With y^7, which reaches half
  of the cap, gfx950 took 1.28, and gfx942 spilled 8 registers. Large scores cost what tanh costs, and the check.
- **A bias** on gfx950 goes through LDS, whole lines at a time. An iteration of a compute unit brings 128 KB of f32:
  2048 clk of the path from L2, beside 1024 for K and V, and 1024 of LDS (written once, read once) beside 2304.
  Read straight to registers, 32 bytes of each of 32 rows an instruction, each line is asked for four times (4096 clk),
  and parts of Q K^T and P V have to make room for the registers: 1.86 times the plain loop (bf16: 1.25).
"""


def page(results):
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

{chr(10).join(target_table(results["loops"]))}

Published, D = 128, bf16:

| chip | kernel | clk a step |
|---|---|---|
{steps}

![Two iterations of the gfx950 kernel](images/timeline-gfx950.svg)

## Launches

bf16, at the nominal clock (gfx950 2.2 GHz, gfx942 2.1 GHz), 2 us of start and
end included. The published columns are MI350X measurements.

![Modelled and published times](images/kernels.svg)

{chr(10).join(shape_table(results["launches"]))}

The column "rows" says how many rows of Q a workgroup owns, which the rule chooses by makespan
([Lowering.md](Lowering.md#the-rule)).

## What the LSE costs

No instruction of the loop, and at S = 1024 no more than {LSE_LIMIT:.1%} of the time:

{chr(10).join(lse_table(results["launches"]))}

## Decoding

Few rows of Q to long K and V, bf16, 64 heads to 8 of K and V, D = 128, with LSE and `num_kv_splits = 0`; causal where
Sq > 1. "Compute" is what the compute units take if memory is as fast as L2, "all" the projected time of the
launches (attention and, with splits, the merge), of which each has 2 us of start and end. The bound is Q, K, V,
O, LSE and the table of pages, each once, at the nominal bandwidth of HBM.

{chr(10).join(decode_table(results["decode"]))}

{DECODE_BOUNDS}
## What features cost

As a multiple of the clocks without the feature, D = 128, with LSE: of the launch (B, S, H = 4, 2048, 16; heaviest
workgroups first, shared units and all), or of its longest workgroup (2, 4096, 16), where equal work is the point. The
window's figure is that of four times the length: without tile skipping it would be 16.

{chr(10).join(feature_table(results["features"]))}

What bounds those that miss their target, in clocks of a SIMD an iteration of the main loop (two tiles of 64 keys): what the
vector port and the matrix pipe are busy for, and what a wave waits for longest.

{chr(10).join(bound_table(results["features"]))}

{FEATURE_BOUNDS}
## How often a maximum is raised

Of 64 tiles of 64 keys, those that one wave of 32 rows computes again because the sum of a half-row of P
passed the threshold (bf16 2^24, f16 2^14); gfx950, D = 64. The first tile, whose maximum is found before the
loop, does not count. A textbook online softmax looks for the maximum of all 64.

{chr(10).join(redo_table(results["redos"]))}

## Small and ragged problems

gfx950, bf16, D = 128, 64 heads: clocks of the longest workgroup, start and end
included, and the share of them that its products take at full rate.

{chr(10).join(sweep_table(results["sweep"]))}
"""


# Names of the parts, in the order they are printed, with their tables: (title, function
# of the part's results).
TABLES = {
    "loops": (("Loops", target_table),),
    "launches": (("Launches", shape_table), ("The LSE", lse_table)),
    "decode": (("Decoding", decode_table),),
    "features": (("What features cost", feature_table), ("What bounds them", bound_table)),
    "redos": (("Tiles of 64 whose maximum one wave raises", redo_table),),
    "sweep": (("Small and ragged problems", sweep_table),),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--chip", choices=CHIPS, help="one chip only")
    parser.add_argument("--quick", action="store_true", help="loops and the first shape only")
    parser.add_argument(
        "--only", choices=TABLES, action="append", help="this part only (may be repeated)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="kernels at a time")
    parser.add_argument(
        "--docs", action="store_true", help="write docs/Performance.md and its pictures"
    )
    options = parser.parse_args()
    if options.docs and (options.quick or options.chip or options.only):
        parser.error("--docs needs all rows")
    chips = [options.chip] if options.chip else CHIPS
    images = ROOT / "docs/images"
    timeline = images / "timeline-gfx950.svg" if options.docs else None
    parts = options.only or (["loops", "launches"] if options.quick else list(TABLES))

    tasks = {
        "loops": target_tasks(chips, timeline),
        "launches": shape_tasks(chips, SHAPES[:1] if options.quick else SHAPES),
        "decode": decode_tasks(chips),
        "features": feature_tasks(chips),
        "redos": redo_tasks(chips[0]),
        "sweep": sweep_tasks(chips[0]),
    }
    done = run_all(
        {(part, key): task for part in parts for key, task in tasks[part].items()}, options.jobs
    )
    results = {part: {key: done[part, key] for key in tasks[part]} for part in parts}
    failures = [result for result in done.values() if isinstance(result, str)]

    if options.docs:
        (ROOT / "docs/Performance.md").write_text(page(results))
        (images / "kernels.svg").write_text(plot(results["launches"]))
    if options.json:
        rows = {
            part: [row for row in results.get(part, {}).values() if not isinstance(row, str)]
            for part in ("loops", "launches", "decode")
        }
        plain = [row for row, _ in rows["loops"] + rows["launches"]]
        print(json.dumps({"rows": plain, "decode": rows["decode"]}, indent=1))
    else:
        for part in parts:
            for title, table in TABLES[part]:
                head, line, *rows = table(results[part])
                if rows:
                    print(f"{title}:", head, line, *rows, "", sep="\n")
        print(LIMITS)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
