"""How much of the HBM bandwidth decoding and long contexts use."""

import dataclasses
import math

import numpy as np

from model.measure import module, time_program

D, LEAST = 128, 0.8
HBM_BYTES_PER_US = {"gfx950": 8e6, "gfx942": 5.3e6}


@dataclasses.dataclass(frozen=True)
class Problem:
    b: int
    sq: int
    keys: int
    page: int = 0
    h: int = 64
    hkv: int = 8


PROBLEMS = (
    *(Problem(64, sq, 8192, page) for page in (0, 16, 128) for sq in (1, 4, 16)),
    # Too few heads for the chip: splits.
    *(Problem(4, sq, 8192, page) for page in (0, 16) for sq in (1, 4)),
    *(Problem(1, 1, 131072, page) for page in (0, 16)),
)


def decode_module(p):
    """The module, what it needs in files, and the bytes it has to move."""
    query, lse = f"memref<{p.b}x{p.h}x{p.sq}x{D}xbf16>", f"memref<{p.b}x{p.h}x{p.sq}xf32>"
    pool = (p.b * p.keys // p.page, p.hkv, p.page) if p.page else (p.b, p.hkv, p.keys)
    key = f"memref<{'x'.join(map(str, pool))}x{D}xbf16>"
    options, arguments, clauses, arrays = ["num_kv_splits = 0"], {}, "", {}
    if p.sq > 1:
        options.append("causal")
    if p.page:
        pages = p.keys // p.page
        arguments = {"lengths": f"memref<{p.b}xi32>", "table": f"memref<{p.b}x{pages}xi32>"}
        clauses = (
            f"seqlens_kv(%lengths : {arguments['lengths']}) block_table(%table : {arguments['table']})"
        )
        options.append(f"page_size = {p.page}")
        order = np.random.default_rng(0).permutation(p.b * pages).astype(np.int32)
        arrays = {"lengths": np.full(p.b, p.keys, np.int32), "table": order.reshape(p.b, -1)}
    text = module(query, key, key, query, lse, arguments, clauses, ", ".join(options))
    moved = 2 * 2 * math.prod(pool) * D + p.b * p.h * p.sq * (2 * 2 * D + 4)
    return text, arrays, moved + sum(array.nbytes for array in arrays.values())


def time_decode(chip, problem):
    text, arrays, moved = decode_module(problem)
    timing = time_program(text, chip, arrays)
    first, *rest = timing.launches
    slow = {row["name"]: row["clocks"] for row in first["sensitivities"]}["memory latency x 2"]
    slowdown = slow / first["clocks"]
    bound = moved / HBM_BYTES_PER_US[chip]
    return {
        "chip": chip,
        **dataclasses.asdict(problem),
        # The grid's second dimension is the number of the split.
        "splits": first["grid"][1],
        "workgroups": first["launch"]["workgroups"],
        "loop_us": first["launch"]["makespan_clocks"] / first["clock_mhz"],
        # The same with twice the memory latency.
        "slow_us": first["launch"]["makespan_clocks"] / first["clock_mhz"] * slowdown,
        "merge_us": sum(launch["launch"]["projected_us"] for launch in rest),
        "projected_us": timing.us,
        "bound_us": bound,
        "hbm_share": bound / timing.us,
    }


def decode_tasks(chips):
    return {(chip, problem): (time_decode, chip, problem) for chip in chips for problem in PROBLEMS}


def decode_table(results):
    yield "| chip | B, Sq, Skv | pages of | splits | workgroups | compute, us | latency x 2 | merge, us | all, us | HBM bound, us | of it | target | |"
    yield "|---" * 13 + "|"
    for (chip, p), row in results.items():
        start = f"| {chip} | {p.b}, {p.sq}, {p.keys} | {p.page or ''} | "
        if isinstance(row, str):
            yield start + f"{row} | | | | | | | | >= {LEAST:.0%} | missed |"
            continue
        yield start + (
            f"{row['splits']} | {row['workgroups']} | {row['loop_us']:.1f} | {row['slow_us']:.1f} | {row['merge_us']:.1f} | "
            f"{row['projected_us']:.1f} | {row['bound_us']:.1f} | {row['hbm_share']:.0%} | >= {LEAST:.0%} | "
            f"{'met' if row['hbm_share'] >= LEAST else 'missed'} |"
        )
