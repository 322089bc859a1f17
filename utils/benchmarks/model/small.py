"""What small and ragged problems take, and how often a maximum is raised."""

import itertools
import pathlib
import re
import tempfile

import numpy as np

from model.loops import STEP_KEYS
from model.measure import ROOT, program, run, time_program

SWEEP_ROWS = (1, 16, 64, 128, 200, 256, 300, 512)
SWEEP_KEYS = (1, 32, 63, 64, 65, 128, 200, 256, 512, 1000, 1024)


def sweep(chip, rows, keys, dtype="bf16", d=128):
    """Clocks of the longest workgroup, and the share of them that the products
    of the head it belongs to would take at full rate."""
    shape = (4, rows, 16, 16, d)
    launch = time_program(program(shape, d, dtype, False, keys=keys), chip).longest
    clocks = launch["clocks"]
    ideal = 32 * d * min(rows / launch["row_tiles"], 256) / 256 * keys / STEP_KEYS[chip]
    return clocks, ideal * launch["workgroups"] / clocks


def sweep_tasks(chip):
    return {key: (sweep, chip, *key) for key in itertools.product(SWEEP_ROWS, SWEEP_KEYS)}


def sweep_table(results):
    yield "| keys | " + " | ".join(f"{row} rows" for row in SWEEP_ROWS) + " |"
    yield "|---" * (len(SWEEP_ROWS) + 1) + "|"
    for keys in SWEEP_KEYS:
        cells = []
        for row in SWEEP_ROWS:
            result = results[row, keys]
            cells.append(result if isinstance(result, str) else f"{result[0]}, {result[1]:.0%}")
        yield f"| {keys} | " + " | ".join(cells) + " |"


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
        text = program(shape, d, dtype, False, keys=keys)
        config = "attributes {attn.lowering_config = #attn.lowering_config<tile_q = 256>}"
        text = text.replace("\n  return", f" {config}\n  return")
        (folder / "k.mlir").write_text(text)
        arrays = {"query": query, "key": key, "value": key}
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
            f"output={folder / 'o.npy'}",
        )
    # Each tile has 32 exponentials a lane, a tile done again as many and one more.
    # Fewer than 32 belong to a tile behind the end.
    return (len(re.findall(r"\bv_exp_f32", trace)) - 32 * tiles) // 33


def redo_tasks(chip):
    return {
        (dtype, name): (redo_rate, chip, dtype, scale, grows)
        for dtype in ("bf16", "f16")
        for name, scale, grows in REDO_SCORES
    }


def redo_table(results):
    yield "| type | " + " | ".join(name for name, _, _ in REDO_SCORES) + " |"
    yield "|---" * (len(REDO_SCORES) + 1) + "|"
    for dtype in ("bf16", "f16"):
        cells = []
        for name, _, _ in REDO_SCORES:
            result = results[dtype, name]
            cells.append(result if isinstance(result, str) else f"{result}")
        yield f"| {dtype} | " + " | ".join(cells) + " |"
