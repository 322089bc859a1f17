"""Softcap alone: tiles near 0 take a polynomial, the others tanh itself.

A wave of 32 rows decides tile by tile, so the scores here differ from tile to tile and
from row to row, on both sides of what the polynomial reaches: a quarter of the cap.
"""

import json
import subprocess

import compare
import numpy as np
import pytest
from attn_program import Problem, assert_matches, run_all, save, tool
from cases import first, heads
from devices import DEVICES
from test_kernels import normal
from test_sequences import paged

GPUS = [device for device in DEVICES if device.is_gpu]
on_gpus = pytest.mark.parametrize("device", GPUS, ids=str)
REACH = 0.25
TILE = 64


def stepped(kind, cap, levels, d=64, rows=64, loud_row=None, **options):
    """Tile t of 64 keys has scores of both signs up to levels[t] times what the polynomial
    reaches; `loud_row` has four times those of the others."""
    q = np.full(rows, 1.0 if loud_row is None else 0.25)
    if loud_row is not None:
        q[loud_row] = 1
    spread = np.tile(np.concatenate([np.linspace(-1, 1, TILE - 2), [1, -1]]), (len(levels), 1))
    k = (np.array(levels)[:, None] * spread).ravel() * cap * REACH
    v = normal((1, 1, len(k), d), kind, 2)
    options = {"scale": 1.0, "softcap": cap, **options}
    return Problem(heads(first(q, kind, d)), heads(first(k, kind, d)), v, options)


def check_all(problems, device):
    for n, (problem, result) in enumerate(zip(problems, run_all(problems, device))):
        assert_matches(result, problem, what=f"{n}, {problem.options}: ")


@on_gpus
def test_scores_around_the_reach_of_the_series(device):
    inside, outside = 1 - 2**-7, 1 + 2**-7
    levels = [inside, 0.5, outside, inside, 1.3, inside, 3, 0.01, 20, inside, 0.7]
    check_all(
        [
            stepped(kind, cap, levels, **more)
            for kind, cap, more in (
                ("f16", 30.0, {}),
                ("bf16", 50.0, {}),
                ("f16", 2.0, {"scale": -1.0}),
                ("bf16", 30.0, {"loud_row": 37}),
                ("f16", 50.0, {"loud_row": 0}),
                ("bf16", 300.0, {}),  # the exact arm is one for large caps
            )
        ],
        device,
    )


@on_gpus
@pytest.mark.parametrize("sign", [1, -1])
def test_the_polynomial_is_exact_to_a_few_bits(device, sign):
    """A row's scores are all one number, so that its LSE is that number and ln(keys)."""
    rows = np.linspace(0.02, 0.99, 64)
    problems = []
    for cap in (1.0, 30.0, 64.0):
        keys = np.full(6 * TILE, sign * cap * REACH)
        q, k = heads(first(rows, "f16")), heads(first(keys, "f16"))
        problems.append(Problem(q, k, k, {"scale": 1.0, "softcap": cap}))
    for problem, result in zip(problems, run_all(problems, device)):
        _, lse = problem.reference()
        scores = np.abs(lse - np.log(6 * TILE))
        compare.assert_close(result.lse, lse, atol=7e-7 * scores + 4e-6, what="LSE")


@on_gpus
def test_nan_and_infinite_scores(device):
    problems = []
    for kind, value, key in (
        ("f16", np.nan, 70),
        ("bf16", np.nan, 195),
        ("f16", np.inf, 130),
        ("bf16", -np.inf, 100),
    ):
        problem = stepped(kind, 30.0, [0.5] * 5)
        problem.k[0, 0, key, 0] = value
        problems.append(problem)
    check_all(problems, device)


@on_gpus
@pytest.mark.parametrize("cap", [1e-30, 1e-3, 65.0, 1e4, 1e30])
def test_tiny_and_huge_caps(device, cap):
    problems = []
    for kind, scale in (("f16", 1.0), ("bf16", 4.0)):
        q, k, v = (normal((1, 1, n, 64), kind, i, s) for i, (n, s) in enumerate(((64, scale), (330, 1), (330, 1))))
        for options in ({}, {"scale_value": np.float32(0.125)}):
            problems.append(Problem(q, k, v, {"softcap": cap, **options}))
    check_all(problems, device)


def drawn(kind, d, options, sq=70, skv=330, scale=1.5, dv=None, hq=1, hkv=1, **more):
    q = normal((1, hq, sq, d), kind, 0, scale)
    k = normal((1, hkv, skv, d), kind, 1)
    # Some tiles are loud.
    k[:, :, 140:150] *= 4
    v = normal((1, hkv, skv, dv or d), kind, 2)
    return Problem(q, k, v, {"softcap": 20.0, **options}, **more)


@on_gpus
@pytest.mark.parametrize("d, dv", [(16, 16), (128, 128), (192, 128), (256, 256)])
def test_every_kind_of_kernel(device, d, dv):
    check_all(
        [
            drawn("bf16", d, {"causal": True}, dv=dv),
            drawn("f16", d, {}, skv=256, dv=dv),
            drawn("f16", d, {"window_left": 100, "window_right": 3, "sink_tokens": 2}, dv=dv),
        ],
        device,
    )


@on_gpus
def test_with_other_features(device):
    lengths = {"seqlens_q": np.array([33], np.int32), "seqlens_kv": np.array([301], np.int32)}
    sink = {"sink": np.array([0.5], np.float32)}
    problems = [
        drawn("bf16", 64, {**lengths, **sink, "causal": True}),
        drawn("f16", 64, {"num_kv_splits": 3}, skv=700),
        drawn("bf16", 128, {"causal": True}, sq=2, hq=8, hkv=2),
        drawn("f16", 128, {"scale_value": np.float32(-0.1)}, dynamic=True),
        drawn("bf16", 128, {"scale_value": np.float32(0)}),
        drawn("f16", 64, {"mask": np.tri(70, 330, 200, dtype=np.int8)}),
        drawn("bf16", 64, {"bias": normal((1, 1, 70, 330), "bf16", 5)}),
    ]
    if device.name == "gfx942":
        problems.append(drawn("bf16", 64, {}, config="tile_kv = 32"))
    problems.append(drawn("f16", 64, {"causal": True}, config="tile_q = 128"))
    check_all(problems, device)


@on_gpus
@pytest.mark.parametrize("d, dv", [(40, 128), (64, 64), (128, 128)])
def test_over_pages(device, d, dv):
    """Of small pages lanes choose their own, which are fewer numbers than a tile has pages."""
    rng = np.random.default_rng(d)
    problems = [
        paged(rng, "f16", (2, 2, 70, d), 1, [300, 77], page, dv=dv, softcap=3.0)
        for page in (16, 48, 128)
    ]
    check_all(problems, device)


@on_gpus
def test_both_arms_are_taken(device, tmp_path):
    """The timing model tells them apart."""
    size = "memref<1x1x1024x64xbf16>"
    source = tmp_path / "program.mlir"
    source.write_text(f"""
func.func @main(%q : {size} {{attn.name = "q"}}, %k : {size}, %v : {size}, %o : {size}) {{
  attn.attention ins(%q, %k, %v : {size}, {size}, {size}) outs(%o : {size}) {{softcap = 30}}
  return
}}
""")

    def clocks(scale):
        save(tmp_path / "q.npy", normal((1, 1, 1024, 64), "bf16", 0, scale))
        command = [tool("attn-run"), source, "--device=emulator", f"--chip={device.name}"]
        done = subprocess.run(
            [*map(str, command), "--timing=json", f"--in=q={tmp_path / 'q.npy'}"],
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)["launches"][0]["iteration_clocks"]

    assert clocks(1) < 0.85 * clocks(20)
