"""What features cost over plain dense attention."""

import collections
import dataclasses
import functools
import re
from typing import Callable

import numpy as np

from model.measure import module, program, time_program

D = 128
TYPES = ("bf16", "f16")


@dataclasses.dataclass(frozen=True)
class Feature:
    name: str
    # Type of the elements -> the module, and arrays by argument.
    build: Callable
    # The most it may cost: times what `plain` builds takes.
    limit: float | None
    plain: Callable
    # What is compared: the launch's makespan, or its longest workgroup.
    of: str


# Scores: B, S, H, Hkv, D.
SHAPE = (4, 2048, 16, 16, D)
ALIBI_SLOPE = 2.0**-8


def dense(shape, dtype, options=""):
    return program(shape, shape[-1], dtype, True, options), {}


DENSE = functools.partial(dense, SHAPE)


def score(name, limit, clause="", type_="", options="", arrays=None):
    def build(dtype):
        operand = type_.format(dtype=dtype)
        return (
            program(
                SHAPE,
                D,
                dtype,
                True,
                options,
                arguments={"x": operand} if operand else None,
                clauses=f"{clause}(%x : {operand})" if operand else "",
            ),
            arrays or {},
        )

    return Feature(name, build, limit, DENSE, "launch")


# Sequences of equal length, so that the work is that of the dense problem.
B, S, H = 2, 4096, 16
DENSE_SEQUENCES = {
    (d, options): functools.partial(dense, (B, S, H, H, d), options=options)
    for d, options in ((D, ""), (D, "causal"), (64, ""))
}


def sequences(name, limit, build, options="", d=D):
    return Feature(
        name + (f", {options}" if options else "") + (f", D = {d}" if d != D else ""),
        lambda dtype: build(dtype, options),
        limit,
        DENSE_SEQUENCES[d, options],
        "workgroup",
    )


def paged(page, d=D):
    def build(dtype, options):
        table = -(-S // page)
        pages = B * table
        types = {"lengths": f"memref<{B}xi32>", "table": f"memref<{B}x{table}xi32>"}
        clauses = (
            f"seqlens_kv(%lengths : {types['lengths']}) block_table(%table : {types['table']})"
        )
        order = np.random.default_rng(0).permutation(pages).astype(np.int32)
        arrays = {"lengths": np.full(B, S, np.int32), "table": order.reshape(B, -1)}
        query = f"memref<{B}x{H}x{S}x{d}x{dtype}>"
        pool = f"memref<{pages}x{H}x{page}x{d}x{dtype}>"
        lse = f"memref<{B}x{H}x{S}xf32>"
        options = ", ".join(filter(None, (f"page_size = {page}", options)))
        return module(query, pool, pool, query, lse, types, clauses, options), arrays

    return build


def padded(dtype, options):
    types = {"lengths": f"memref<{B}xi32>"}
    clauses = f"seqlens_q(%lengths : {types['lengths']}) seqlens_kv(%lengths : {types['lengths']})"
    text = program((B, S, H, H, D), D, dtype, True, options, arguments=types, clauses=clauses)
    return text, {"lengths": np.full(B, S, np.int32)}


def packed(dtype, options):
    rows = f"memref<{B * S}x{H}x{D}x{dtype}>"
    types = {"starts": f"memref<{B + 1}xi32>"}
    clauses = " ".join(f"cu_seqlens_{x}(%starts : {types['starts']})" for x in ("q", "kv"))
    options = ", ".join(filter(None, ("layout = thd", options)))
    text = module(rows, rows, rows, rows, f"memref<{H}x{B * S}xf32>", types, clauses, options)
    return text, {"starts": np.arange(B + 1, dtype=np.int32) * S}


def window(rows):
    shape = (SHAPE[0], rows, *SHAPE[2:])
    return functools.partial(dense, shape, options="causal, window_left = 511")


FEATURES = (
    score("bias", 1.25, "bias", "memref<2048x2048x{dtype}>"),
    score("f32 bias", 1.25, "bias", "memref<2048x2048xf32>"),
    score("boolean mask", None, "mask", "memref<2048x2048xi8>"),
    score("softcap", 1.15, options="softcap = 30.0"),
    # Scores of N(0, 11^2), so that every tile has some beyond a quarter of the cap.
    score("softcap of large scores", None, options="softcap = 30.0, scale = 1.0"),
    score(
        "ALiBi, slope 2^-8",
        1.15,
        "alibi_slopes",
        "memref<16xf32>",
        arrays={"x": np.full(SHAPE[2], ALIBI_SLOPE, np.float32)},
    ),
    score("sink", 1.02, "sink", "memref<16xf32>"),
    Feature("window 512, 4 times as long", window(8192), 4.4, window(2048), "launch"),
    sequences("packed sequences", 1.05, packed),
    sequences("packed sequences", 1.05, packed, "causal"),
    sequences("padded batch", 1.05, padded, "causal"),
    *(sequences(f"pages of {page}", 1.05, paged(page)) for page in (16, 32, 48, 64, 128)),
    sequences("pages of 16", 1.05, paged(16), "causal"),
    *(sequences(f"pages of {page}", 1.05, paged(page, 64), d=64) for page in (16, 32, 48, 64)),
)


@functools.cache
def time_plain(build, chip, dtype):
    return time_program(build(dtype)[0], chip)


def clocks(timing, of):
    launch = timing.longest
    return launch["launch"]["makespan_clocks"] if of == "launch" else launch["clocks"]


def time_feature(feature, chip, dtype):
    """How often the plain one's clocks, and the two timings."""
    text, arrays = feature.build(dtype)
    timing = time_program(text, chip, arrays)
    plain = time_plain(feature.plain, chip, dtype)
    return clocks(timing, feature.of) / clocks(plain, feature.of), timing, plain


def feature_tasks(chips):
    return {
        (chip, dtype, feature): (time_feature, feature, chip, dtype)
        for chip in chips
        for dtype in TYPES
        for feature in FEATURES
    }


def feature_table(results):
    columns = list(dict.fromkeys((chip, dtype) for chip, dtype, _ in results))
    yield "| feature | of the | target | " + " | ".join(f"{c} {t}" for c, t in columns) + " |"
    yield "|---" * (len(columns) + 3) + "|"
    for feature in FEATURES:
        cells = []
        for column in columns:
            result = results[*column, feature]
            cells.append(result if isinstance(result, str) else f"{result[0]:.2f}{verdict(feature, result[0])}")
        wanted = "" if feature.limit is None else f"<= {feature.limit:.2f}"
        yield f"| {feature.name} | {feature.of} | {wanted} | " + " | ".join(cells) + " |"


def verdict(feature, cost):
    return "" if feature.limit is None else ", met" if cost <= feature.limit else ", missed"


@dataclasses.dataclass(frozen=True)
class Slots:
    """Clocks of one SIMD in an iteration of the main loop, each as if nothing else were."""

    vector: float  # the vector port: vector instructions, and the MFMAs' issue
    matrix: float  # the matrix pipe
    loop: float


def count_slots(timing):
    launch = timing.longest
    constants = launch["constants"]
    vector = 0
    for text in timing.loop:
        if text.startswith("v_mfma"):
            vector += constants["mfmaIssue"]
        elif re.match(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_", text):
            vector += constants["transcendental"]
        elif text.startswith("v_"):
            vector += constants["valu"]
    waves = sum(wave["simd"] == 0 for wave in launch["waves"])
    clocks = launch["iteration_clocks"]
    return Slots(waves * vector, launch["mfma_efficiency"] * clocks, clocks)


def bound_table(results):
    """Of those that cost more than they may."""
    yield "| chip | type | feature | clk an iteration, with and without | vector port | matrix pipe | longest wait of the waves |"
    yield "|---|---|---|---|---|---|---|"
    for (chip, dtype, feature), result in results.items():
        if isinstance(result, str) or not feature.limit or result[0] <= feature.limit:
            continue
        slots, plain = (count_slots(timing) for timing in result[1:])
        yield (
            f"| {chip} | {dtype} | {feature.name} | {slots.loop:.0f}, {plain.loop:.0f} | {slots.vector:.0f} | "
            f"{slots.matrix:.0f} | {wait(result[1])} |"
        )


def wait(timing):
    launch = timing.longest
    clocks = collections.Counter()
    for wave in launch["waves"]:
        clocks.update(wave["steady"])
    del clocks["issue"]
    (name, most), *_ = clocks.most_common()
    return f"{name}, {most / len(launch['waves']):.0f}"
