"""What the GPU kernels do beside the plain road: tiles, votes, pacing."""

import json
import subprocess

import compare
import numpy as np
import pytest
from attn_program import Problem, assert_matches, run_all, tool
from devices import DEVICES

GPUS = [device for device in DEVICES if device.is_gpu]
on_gpus = pytest.mark.parametrize("device", GPUS, ids=str)
# Rows a workgroup owns; 128 lets two groups of waves share them, each with every
# other tile of keys.
TILES = ("tile_q = 256", "tile_q = 128")


def normal(shape, kind, seed, scale=1.0):
    x = np.random.default_rng(seed).normal(size=shape) * scale
    return x.astype(compare.dtype(kind))


def problem(sq, skv, kind="bf16", d=64, h=1, scale=1.0, config="", **options):
    q, k, v = (
        normal((1, h, s, d), kind, seed, size)
        for seed, (s, size) in enumerate(((sq, scale), (skv, scale), (skv, 1.0)))
    )
    return Problem(q, k, v, options, config=config)


@on_gpus
@pytest.mark.parametrize("config", TILES)
@pytest.mark.parametrize("d", [64, 128])
def test_tiles(device, config, d):
    problems = [
        problem(sq, skv, kind, d, 2, config=config, causal=causal)
        for sq, skv, kind, causal in (
            (1, 1, "f16", False),
            (40, 64, "bf16", False),  # one tile: the second group has none
            (130, 128, "f16", False),
            (130, 257, "bf16", False),
            (300, 300, "f16", True),
            (257, 100, "bf16", True),  # rows without keys
            (64, 450, "bf16", True),
        )
    ]
    for p, result in zip(problems, run_all(problems, device)):
        assert_matches(result, p, what=f"{p.q.shape} {p.k.shape}: ")


# Waves that share rows: two that hand P to each other where the tiles leave LDS
# for it, or each with all of Q K^T.
@on_gpus
@pytest.mark.parametrize("dqk, dv", [(256, 256), (64, 192)])
def test_wide_heads(device, dqk, dv):
    problems = []
    for sq, skv, kind, causal in (
        (1, 1, "f16", False),
        (130, 257, "bf16", False),
        (200, 192, "f16", True),
        (140, 100, "bf16", True),  # rows without keys
    ):
        p = problem(sq, skv, kind, dqk, causal=causal)
        v = normal((1, 1, skv, dv), kind, 2)
        problems.append(Problem(p.q, p.k, v, p.options))
    for p, result in zip(problems, run_all(problems, device)):
        assert_matches(result, p, what=f"{p.q.shape} {p.k.shape}: ")


@on_gpus
def test_pacing(device):
    configs = (
        "clusters_qk = 2",
        "clusters_pv = 2",
        "early_exps = 2",
        "early_exps = 30",
        "split_v = 2, stages = 1",
    )
    problems = [problem(64, 200, "f16", 64, config=c, causal=True) for c in configs]
    if device.name == "gfx942":
        problems.append(problem(64, 200, "bf16", 64, config="tile_kv = 32", causal=True))
    for p, result in zip(problems, run_all(problems, device)):
        assert_matches(result, p, what=p.config + ": ")


def where(config):
    """Head dims with a kernel of that kind of their own, and the config of it."""
    return (256, "") if config == "wide" else (64, config)


# A jump of one row's maximum, which one lane's half-row sees, must reach P, O and
# l of that row alone, wherever the tile stands in the loop.
@on_gpus
@pytest.mark.parametrize("config", [*TILES, "wide"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_one_lane_votes(device, kind, config):
    tiles, row = 6, 37
    d, config = where(config)
    problems = []
    for tile in (0, 1, tiles // 2, tiles - 1):
        for key in (0, 37):  # one in each half-wave
            p = problem(64, 64 * tiles, kind, d, config=config, scale=0.25)
            p.q[..., 0] = 0
            p.q[0, 0, row, 0] = 16
            p.k[..., 0] = 0
            p.k[0, 0, 64 * tile + key, 0] = 32  # a score of 64 for that row
            problems.append(p)
    for p, result in zip(problems, run_all(problems, device)):
        assert_matches(result, p)


@on_gpus
@pytest.mark.parametrize("config", [*TILES, "wide"])
def test_scores_that_overflow(device, config):
    """A row with a score of +inf is NaN, its neighbours are not touched."""
    problems = []
    d, config = where(config)
    for tile in (0, 2, 4):
        p = problem(64, 320, "bf16", d, config=config)
        p.q[..., 0] = 0
        p.q[0, 0, 5, 0] = p.k[0, 0, 64 * tile + 9, 0] = 2.0**100
        problems.append(p)
    for p, result in zip(problems, run_all(problems, device)):
        rest = np.arange(64) != 5
        assert np.isnan(result.out[0, 0, 5].astype(float)).all()
        assert np.isnan(result.lse[0, 0, 5])
        expected, lse = p.reference()  # in f64 the score is finite
        compare.assert_close(result.lse[0, 0, rest], lse[0, 0, rest], atol=1e-4)
        compare.assert_close(
            result.out[0, 0, rest].astype(float), expected[0, 0, rest], atol=0.03
        )


@on_gpus
@pytest.mark.parametrize("config", [*TILES, "wide"])
def test_growing_and_wide_scores(device, config):
    d, config = where(config)
    grows = problem(64, 448, "f16", d, config=config)
    grows.k *= (1 + np.arange(448) // 64)[:, None].astype(grows.k.dtype)
    # Scores of N(0, 8^2).
    wide = problem(64, 448, "bf16", d, config=config, scale=8**0.5)
    for q, result in zip((grows, wide), run_all([grows, wide], device)):
        assert_matches(result, q)


def timing(chip, lse, folder):
    """What the timing model says of 128 heads of 1024 rows and keys, D = 128."""
    type_ = "memref<8x16x1024x128xbf16>"
    row = "memref<8x16x1024xf32>"
    arguments, outs, types = f"%q: {type_}, %o: {type_}", "%o", type_
    if lse:
        arguments, outs, types = f"{arguments}, %l: {row}", "%o, %l", f"{type_}, {row}"
    source = folder / f"lse{lse}.mlir"
    source.write_text(
        f"func.func @main({arguments}) {{\n"
        f"  attn.attention ins(%q, %q, %q : {type_}, {type_}, {type_})"
        f" outs({outs} : {types})\n  return\n}}\n"
    )
    command = [tool("attn-run"), source, "--timing=json", f"--chip={chip}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["launches"][0]


@on_gpus
def test_the_lse_costs_next_to_nothing(device, tmp_path):
    without, with_lse = (timing(device.name, lse, tmp_path) for lse in (False, True))
    assert len(without["loop_addresses"]) == len(with_lse["loop_addresses"]) > 0
    times = [launch["launch"]["projected_us"] for launch in (without, with_lse)]
    assert times[0] <= times[1] <= 1.005 * times[0]


@on_gpus
@pytest.mark.parametrize("config", TILES)
def test_biases_whose_log2_overflows(device, config):
    """A row's maximum may be any finite value, also where it leaves the range of f32
    in log2 units, and change between such values and ordinary ones."""
    low, high = (s * 2.0**127 * (2 - 2.0**-7) for s in (-1, 1))  # the ends of bf16
    rows, keys = 40, 300
    bias = normal((rows, keys), "f32", 7, 5.0)
    bias[0] = low
    bias[1, :128] = low
    bias[2] = high
    bias[3, -1] = high
    bias[4, 5] = high
    bias[5, :130] = -np.inf
    bias[6] = 2.0**127
    bias[7] = -(2.0**127)
    bias[7, 100:] = -(2.0**127) * 1.5
    bias[8] = -np.inf
    bias[9, 200] = np.nan
    bias[10, 64] = np.inf
    bias[11, 1::2], bias[11, ::2] = -np.inf, low
    bias[12], bias[12, :64] = -np.inf, low
    bias[13, 130:], bias[13, :130] = high, low
    bias[14], bias[14, 290] = low, -(2.0**127) * 1.25
    problems = [
        problem(
            rows, keys, kind, d, config=config, bias=(size * bias).astype(compare.dtype(of)), **options
        )
        for kind, d, of, size, options in (
            ("bf16", 128, "bf16", 1, {}),
            ("bf16", 64, "bf16", 1, {"causal": True}),
            ("f16", 64, "f32", 1, {}),
            # 2^28 is far, but not beyond f32; 2^21 is where far begins. Sums with an
            # ordinary score would be rounded to f32.
            ("bf16", 64, "bf16", 2.0**-100, {"scale": 0.0}),
            ("bf16", 64, "f32", 2.0**-107, {"scale": 0.0}),
            ("bf16", 32, "f32", 2.0**-8, {"num_kv_splits": 2}),
            ("f16", 32, "f32", 1, {"sink": np.float32([-np.inf])}),
        )
    ]
    for p, result in zip(problems, run_all(problems, device)):
        assert_matches(result, p, what=f"{p.k.shape}: ")


def pages_of(x, page, seed):
    """A pool of pages with the keys of `x`, in any order, and its block table."""
    b, h, n, d = x.shape
    count = -(-n // page)
    padded = np.full((b, h, count * page, d), np.nan, x.dtype)
    padded[:, :, :n] = x
    order = np.random.default_rng(seed).permutation(b * count)
    pool = np.empty((b * count, h, page, d), x.dtype)
    pool[order] = padded.reshape(b, h, count, page, d).swapaxes(1, 2).reshape(pool.shape)
    return pool, order.reshape(b, count).astype(np.int32)


@on_gpus
def test_bias_and_mask_by_way_of_lds(device):
    """Whole dwords on gfx950 are staged; rows and keys that end inside of a tile, heads
    side by side, and every other thing that changes which keys a tile has."""
    rng = np.random.default_rng(21)

    def bias(kind, *shape):
        x = normal(shape, kind, shape[-1], 2.0)
        x[..., 3::7] = -np.inf
        return x

    def mask(*shape):
        return (rng.random(shape) < 0.7).astype(np.int8)

    problems = [
        problem(200, 204, "bf16", 64, 2, bias=bias("f32", 1, 2, 200, 204), causal=True),
        # Rows at odd dwords, 128 columns, two tiles and one key.
        problem(70, 129, "f16", 128, 2, bias=bias("f32", 2, 70, 129)),
        problem(70, 260, "bf16", 128, 2, bias=bias("bf16", 70, 260), mask=mask(1, 2, 70, 260)),
        problem(90, 324, "f16", 64, 2, bias=bias("f16", 90, 324), window_left=60, sink_tokens=3),
        problem(33, 196, "bf16", 64, 1, mask=mask(33, 196), num_kv_splits=3, bias=bias("f32", 1, 196)),
        problem(130, 450, "bf16", 64, 1, config="tile_q = 128", bias=bias("bf16", 130, 450)),
        problem(64, 200, "f16", 64, 1, config="early_exps = 30", bias=bias("f32", 64, 200)),
        problem(1, 300, "f16", 64, 2, bias=bias("f32", 2, 1, 300), mask=mask(300)),
    ]
    d192 = problem(60, 140, "bf16", 192, bias=bias("f32", 60, 140), causal=True)
    v = normal((1, 1, 140, 128), "bf16", 9)
    problems.append(Problem(d192.q, d192.k, v, d192.options))
    dynamic = problem(72, 136, "bf16", 64, 2, bias=bias("f32", 72, 136), mask=mask(72, 136))
    problems.append(Problem(dynamic.q, dynamic.k, dynamic.v, dynamic.options, dynamic=True))
    paged = problem(80, 148, "bf16", 64, 2, bias=bias("f32", 2, 80, 148), softcap=5.0)
    options = paged.options | {"page_size": 48, "seqlens_kv": np.array([148], np.int32)}
    k, options["block_table"] = pages_of(paged.k, 48, 0)
    v, _ = pages_of(paged.v, 48, 0)
    problems.append(Problem(paged.q, k, v, options))
    for n, (p, result) in enumerate(zip(problems, run_all(problems, device))):
        assert_matches(result, p, what=f"{n}: ")
