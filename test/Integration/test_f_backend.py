"""Group F: reductions, extreme values, shapes that failed elsewhere."""

import numpy as np
import pytest
from attn_program import Problem, assert_matches, run, run_all
from cases import LN, check, heads, spread, unique
from devices import DEVICES


@pytest.mark.parametrize("device", [d for d in DEVICES if d.is_gpu], ids=str)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("causal", [False, True])
def test_F1_waits_and_hazards_of_final_code(device, kind, causal):
    # The emulator's checks of waits, races and wait states go over every
    # instruction that runs: both groups of waves, whole tiles and the last one.
    problems = []
    for d in (64, 128, 256):
        q, k, v = (unique((1, 1, s, d), kind, n) for n, s in enumerate((300, 450, 450)))
        problems.append(Problem(q, k, v, {"causal": causal, "scale": 0.125}))
    for p, result in zip(problems, run_all(problems, device)):
        assert_matches(result, p, what=f"D = {p.q.shape[-1]}: ")


@pytest.mark.kinds("f16", "bf16", "f32")
def test_F2_one_hot_sweeps(device, kind):
    dtype = spread([0], kind).dtype
    p = np.arange(64)
    q, peak, flat = (np.zeros((64, 128)) for _ in range(3))
    q[p, p], q[:, 64] = 1, 1
    # (a) score 0 at key p, -1000 at all others.
    peak[p, p], peak[:, 64] = 1000, -1000
    # (b) score 8 at p, 0 elsewhere.
    flat[p, p] = 8
    # (b) with twice the keys, (c) all -1000.
    wide = np.concatenate([flat, np.zeros((64, 128))])
    low = np.zeros((64, 128))
    low[:, 64] = -1000

    def problem(k):
        v = heads(spread(np.arange(len(k)), kind, 128))
        return Problem(heads(q.astype(dtype)), heads(k.astype(dtype)), v, {"scale": 1.0})

    a, b, b_wide, c = run_all([problem(x) for x in (peak, flat, wide, low)], device)
    check(a, p, 0, exact=True, max_score=1000)
    weight = np.exp(8)
    for result, n in ((b, 64), (b_wide, 128)):
        total = n * (n - 1) / 2
        expected = (weight * p + total - p) / (weight + n - 1)
        check(result, expected, {64: 8.0209139, 128: 8.0417212}[n])
    check(c, 31.5, -995.8411169, exact=True, max_score=1000)


@pytest.mark.needs("causal")
def test_F3_visible_nan_stays_and_invisible_nan_does_nothing(device, kind):
    dtype = spread([0], kind).dtype
    q, k, v = np.ones((1, 1, 8, 64)), np.zeros((1, 1, 8, 64)), np.ones((1, 1, 8, 64))
    k[0, 0, 3] = np.nan
    problem = Problem(*(x.astype(dtype) for x in (q, k, v)), {"causal": True})
    infinite = Problem(problem.q, problem.k.copy(), problem.v, {"causal": True})
    infinite.k[0, 0, 3] = np.inf
    i = np.arange(8)
    for result in run_all([problem, infinite], device):
        check(result, np.where(i < 3, 1, np.nan), np.where(i < 3, LN(i + 1), np.nan))


def test_F3_rows_of_nothing_but_nan_are_not_empty(device, kind):
    dtype = spread([0], kind).dtype
    q = np.full((1, 1, 2, 64), np.nan).astype(dtype)
    result = run(Problem(q, np.ones_like(q), np.ones_like(q)), device)
    check(result, np.nan, np.nan)


@pytest.mark.needs("causal")
def test_NaN_in_a_value_reaches_only_rows_that_see_it(device, kind):
    if device.is_gpu:
        pytest.skip("a GPU tile may let it reach other rows, see docs/Semantics.md")
    q = np.zeros((1, 1, 8, 64), spread([0], kind).dtype)
    v = np.ones_like(q)
    v[0, 0, 3] = np.nan
    result = run(Problem(q, q, v, {"causal": True}), device)
    check(result, np.where(np.arange(8) < 3, 1, np.nan), LN(np.arange(8) + 1))


SHAPES = {
    # 1 x 1024 x 128 there; shorter, since here it also runs on the emulators.
    "f32 1x128x128": ("f32", 1, 1, 128, 128, 128),
    "decode": ("f16", 4, 1, 1, 300, 64),
    "one by one": ("f16", 1, 1, 1, 1, 64),
    "D=256": ("bf16", 2, 1, 16, 128, 256),
    "D=512": ("bf16", 1, 1, 33, 70, 512),
    "no keys": ("f16", 1, 1, 3, 0, 64),
}


@pytest.mark.parametrize(
    "dynamic", [False, pytest.param(True, marks=pytest.mark.needs("dynamic"))]
)
@pytest.mark.parametrize("name", SHAPES)
def test_F7_shapes_that_failed_to_compile_elsewhere(device, name, dynamic):
    kind, hq, hk, sq, skv, d = SHAPES[name]
    if kind not in device.kinds:
        pytest.skip(f"{device} does not compute with {kind}")
    problem = Problem(
        unique((1, hq, sq, d), kind, 1),
        unique((1, hk, skv, d), kind, 2),
        unique((1, hk, skv, d), kind, 3),
        dynamic=dynamic,
    )
    if device.is_gpu and d > 256:
        with pytest.raises(AssertionError, match="expects head dims to be multiples of 8 in 8..256"):
            run(problem, device)
        return
    assert_matches(run(problem, device), problem)
