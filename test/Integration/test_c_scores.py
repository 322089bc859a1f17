"""Group C: arithmetic of scores and softmax."""

import compare
import numpy as np
import pytest
from attn_program import Problem, run, run_all
from cases import INF, LN, check, first, heads, spread


def scores(kind, q, k, v, d=64, **options):
    """One row whose scores are q * k[j] (before the scale, default 1)."""
    options = {"scale": 1.0, **options}
    if options["scale"] is None:
        del options["scale"]
    return Problem(
        heads(first([q], kind, d)), heads(first(k, kind, d)), heads(spread(v, kind, d)), options
    )


@pytest.mark.needs("softcap")
def test_C1_softcap_of_large_scores(device, kind):
    both, minus, large, small = run_all(
        [
            scores(kind, 100, [50, 100], [1, 3], softcap=50.0),
            scores(kind, 100, [-100], [3], softcap=50.0),
            scores(kind, 100, [44], [3], softcap=50.0),
            scores(kind, 100, [1], [3], softcap=50.0),
        ],
        device,
    )
    check(both, 2, 50 + LN(2), exact=True)
    check(minus, 3, -50, exact=True)
    check(large, 3, 50, exact=True)
    check(small, 3, 48.2013790, exact=True)


@pytest.mark.needs("bias_mask")
def test_C3_scale_does_not_touch_the_bias(device, kind):
    problem = scores(kind, 0, [0, 0], [0, 1], scale=0.125)
    bias = np.array([[0, -5]], problem.q.dtype)
    check(run(problem.with_options(bias=bias), device), 0.0066929, 0.0067153)


@pytest.mark.kinds("f16")
def test_C4_score_beyond_the_range_of_f16(device, kind):
    q, k = first([400], kind), first([752, 752], kind)
    q[0, 1], k[1, 1] = 1, 8
    v = spread([0, 1], kind)
    result = run(Problem(heads(q), heads(k), heads(v), {"scale": 0.125}), device)
    check(result, 0.7310586, 37601.3125, max_score=37601)


@pytest.mark.needs("bias_mask")
def test_C6_scale_zero_or_negative(device, kind):
    mask = np.array([[1, 1, 0]], np.int8)
    a, b, c, d, e, f = run_all(
        [
            scores(kind, 1, [1, 2, 3], [1, 2, 3], scale=-1.0),
            scores(kind, 1, [100, -100], [1, 2], scale=-1.0),
            scores(kind, 1, [1, 2, 3], [1, 2, 9], scale=0.0, mask=mask),
            scores(kind, 1, [1, 2, 3], [1, 2, 9], scale=-1.0, mask=mask),
            scores(kind, 1, [1, 2, 3], [1, 2, 9], scale=0.0, mask=np.zeros((1, 3), np.int8)),
            scores(kind, 0, [1, 2], [1, 2], scale=3e38),
        ],
        device,
    )
    check(a, 1.4247896, -0.5923940)
    check(b, 2, 100, exact=True)
    check(c, 1.5, LN(2), exact=True)
    check(d, 1.2689414, -0.6867383)
    check(e, 0, -INF)
    check(f, 1.5, LN(2), exact=True)


@pytest.mark.parametrize(
    "given", ["attribute", pytest.param("operand", marks=pytest.mark.needs("scale_value"))]
)
def test_C7_scale_is_the_one_given(device, kind, given):
    table = [
        (1.0, 0.9996646, 8.0003354),
        (0.125, 0.7310586, 1.3132617),
        (0.05, 0.5986877, 0.9130153),
        (None, 0.7310586, 1.3132617),
    ]
    problems = []
    for scale, _, _ in table:
        options = {"scale": scale}
        if given == "operand" and scale is not None:
            options = {"scale": None, "scale_value": scale}
        problems.append(scores(kind, 8, [1, 0], [1, 0], **options))
    for result, (scale, o, lse) in zip(run_all(problems, device), table):
        check(result, o, lse, what=f"scale {scale}: ")


@pytest.mark.kinds("f32")
@pytest.mark.needs("scale_value", "split_kv", "lse_base")
@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize("given", ["scale", "scale_value"])
def test_scores_beyond_the_range_of_f32(device, kind, given, splits):
    """+inf makes a row NaN, and a key of -inf is one that is not seen."""
    nan, far = np.nan, 1e20
    table = [
        ([far, far, 2 * far], 1e30, nan, nan),
        ([far, far, far], 1e30, nan, nan),
        ([far, far, 0], 1e30, nan, nan),
        ([far, far, 2 * far], -1e30, 0, -INF),
        ([far, 0, 0], -1e30, 2.5, LN(40)),
        ([0, 1e38, 1e38], 3.0, 2.5, 3e38),
        ([2e38, 1e38, 1e38], -3.0, 2.5, -3e38),
        ([INF, 0, 0], 0.0, nan, nan),
        ([-INF, 0, 0], 0.0, nan, nan),
        ([far, -1e38, 1e38], 0.0, 164 / 104, LN(104)),
        ([nan, 0, 0], 3.0, nan, nan),
        ([nan, nan, nan], 3.0, nan, nan),
    ]
    problems = []
    for k, scale, _, _ in table:
        options = {"scale": None, "num_kv_splits": splits, given: scale}
        # Keys in the second split only: an LSE as large has no bit for how many there are.
        k = np.concatenate([np.full(64, k[0]), np.repeat(k[1:], 20)])
        v = np.concatenate([np.ones(64), np.repeat([2, 3], 20)])
        problems.append(scores(kind, 1, k, v, **options))
    # In base two it is infinite, and so no state to merge.
    two = problems[5].with_options(lse_base="two", num_kv_splits=1)
    *results, last = run_all([*problems, two], device)
    for result, (k, scale, o, lse) in zip(results, table):
        check(result, o, lse, exact=True, what=f"{k}, scale {scale}: ")
    check(last, 2.5, INF, exact=True)


@pytest.mark.needs("scale_value", "softcap", "bias_mask", "alibi", "split_kv")
@pytest.mark.parametrize("given", ["scale", "scale_value"])
def test_infinite_products_under_a_scale_of_zero(device, kind, given):
    """0 times infinity is NaN of either sign, whatever else makes a score."""
    more = [
        {},
        {"softcap": 5.0},
        {"bias": np.zeros((1, 70), np.float32)},
        {"alibi_slopes": np.full(1, 0.5, np.float32)},
        {"num_kv_splits": 2},
    ]
    problems = []
    for options in more:
        for k in (INF, -INF):
            keys = np.append(np.full(69, 1.0), k)
            options = {"scale": None, given: 0.0, **options}
            problems.append(scores(kind, 1, keys, np.arange(70), **options))
    minus = np.full(70, -INF)
    zero_and_nan = [0.0] if given == "scale" else [0.0, np.nan]
    for x in zero_and_nan:
        problems.append(scores(kind, 1, minus, np.ones(70), **{"scale": None, given: x}))
    for problem, result in zip(problems, run_all(problems, device)):
        check(result, np.nan, np.nan, what=f"{problem.options}: ")


@pytest.mark.kinds("f16", "bf16", "f32")
@pytest.mark.needs("scale_value", "causal", "offsets", "sink", "softcap")
def test_a_scale_that_is_nan_leaves_rows_without_keys(device, kind):
    q, k, v = (np.ones((1, 1, n, 64), compare.dtype(kind)) for n in (3, 70, 70))
    options = {"scale_value": np.nan, "causal": True, "q_offset": -1, "kv_offset": 0}
    plain = Problem(q, k, v, options)
    more = [{"sink": np.array([2.0])}, {"softcap": 5.0}, {"num_kv_splits": 2}]
    problems = [plain, *(plain.with_options(**x) for x in more)]
    nan = np.nan
    for problem, result in zip(problems, run_all(problems, device)):
        empty = 2 if "sink" in problem.options else -INF
        check(result, [0, nan, nan], [empty, nan, nan], what=f"{problem.options}: ")


@pytest.mark.needs("softcap", "scale_value")
def test_softcap_far_below_the_scale(device, kind):
    """scale / cap is no f32: a product of 0 still is a score of 0, others saturate."""
    cap, scale = 2.0**-100, 2.0**100
    problems = [scores(kind, 1, [0, 0], [1, 2], scale=scale, softcap=cap)]
    problems.append(scores(kind, 1, [1, -1], [1, 2], scale=scale, softcap=cap))
    problems.append(scores(kind, 1, [0, 1], [1, 2], scale=None, scale_value=scale, softcap=cap))
    for result in run_all(problems, device):
        check(result, 1.5, LN(2), exact=True)


@pytest.mark.needs("causal")
def test_C9_running_sum_starts_at_zero(device, kind):
    zero, one = heads(first(np.zeros(160), kind)), heads(spread(np.ones(160), kind))
    result = run(Problem(zero, zero, one, {"causal": True}), device)
    check(result, 1, LN(np.arange(160) + 1), exact=True)


@pytest.mark.smoke
def test_C10_row_maximum_travels_from_tile_to_tile(device, kind):
    problems = []
    for at in (0, 127):
        k, v = np.full(128, -200.0), np.full(128, 7.0)
        k[at], v[at] = 200, 1
        problems.append(scores(kind, 1, k, v))
    for result in run_all(problems, device):
        check(result, 1, 200, exact=True)


def test_C12_growth_below_a_rescale_threshold(device, kind):
    step = np.repeat([0.0, 1.0], 64)
    check(run(scores(kind, 1, 2 * step, step), device), 0.8807971, 6.2858111)


@pytest.mark.kinds("bf16")
def test_C13_weight_of_the_maximum_is_one(device, kind):
    check(run(scores(kind, 1368, [1288], [256], scale=0.125), device), 256, 220248, exact=True)


def test_row_maximum_grows_over_many_tiles(device, kind):
    # Every key beats all before it: each step rescales what was accumulated.
    j = np.arange(256)
    k = j / 2.0
    problem = scores(kind, 1, k, j % 7)
    p = np.exp(k - k.max())
    check(run(problem, device), (p * (j % 7)).sum() / p.sum(), k.max() + LN(p.sum()))
