"""Group A: rows that see no key."""

import re
import subprocess

import compare
import numpy as np
import pytest
from attn_program import Problem, assert_matches, module_text, run, run_all, tool
from cases import INF, LN, check, first, heads, spread


def counting(sq, skv, kind, h=1, d=64, **options):
    """Q = 0 and V[j] = j: O is the mean visible index, LSE = ln(count)."""
    zero = np.zeros((sq, d)), np.zeros((skv, d))
    q, k = (heads(x.astype(spread([0], kind).dtype), h=h) for x in zero)
    return Problem(q, k, heads(spread(np.arange(skv), kind, d), h=h), options)


@pytest.mark.kinds("f16", "bf16")
@pytest.mark.needs("bias_mask")
def test_A1_one_query_one_key_masked(device, kind):
    problems = []
    for d in (8 if device.is_gpu else 2, 64):
        q, k = (heads(spread([1], kind, d)) for _ in range(2))
        v = spread([3], kind, d)
        v[0, 1:] = 4
        problems.append(Problem(q, k, heads(v), {"bias": np.full((1, 1), -INF, v.dtype)}))
        problems.append(Problem(q, k, heads(v), {"mask": np.zeros((1, 1), np.int8)}))
    for result in run_all(problems, device):
        check(result, 0, -INF)


@pytest.mark.smoke
@pytest.mark.needs("causal")
def test_A2_causal_with_more_queries_than_keys(device, kind):
    small, large = run_all(
        [counting(6, 4, kind, causal=True), counting(192, 64, kind, causal=True)], device
    )
    lse = np.array([-INF, -INF, 0, LN(2), LN(3), LN(4)])
    check(small, [0, 0, 0, 0.5, 1, 1.5], lse, exact=True)
    k = np.arange(64)
    check(
        large,
        np.concatenate([np.zeros(128), k / 2]),
        np.concatenate([np.full(128, -INF), LN(k + 1)]),
        exact=True,
    )


@pytest.mark.kinds("bf16", "f16")
@pytest.mark.needs("causal", "gqa")
def test_A3_lse_of_empty_rows_is_minus_infinity(device, kind):
    q = spread(np.ones((1, 32, 33)), kind, 128)
    kv = spread(np.ones((1, 8, 1)), kind, 128)
    result = run(Problem(q, kv, kv, {"causal": True, "scale": 1 / 128}), device)
    check(result, [0] * 32 + [1], [-INF] * 32 + [1.0], exact=True)


@pytest.mark.parametrize("d", [64, 68])
@pytest.mark.needs("thd")
def test_A4_sequence_of_length_zero_in_a_batch(device, kind, d):
    if device.is_gpu:
        d = -(-d // 8) * 8  # kernels take multiples of 8
    q_lens, kv_lens = [1, 2, 1, 2], [0, 2, 0, 2]
    q, k = (np.zeros((n, 2, d), spread([0], kind).dtype) for n in (6, 4))
    v = np.repeat(spread([0, 1, 0, 1], kind, d)[:, None], 2, axis=1)
    options = {
        "layout": "thd",
        "cu_seqlens_q": np.cumsum([0, *q_lens]),
        "cu_seqlens_kv": np.cumsum([0, *kv_lens]),
    }
    result = run(Problem(q, k, v, options), device)
    empty = np.repeat([True, False, True, False], q_lens)
    check(
        result,
        np.where(empty, 0, 0.5)[:, None],
        np.where(empty, -INF, LN(2))[None],
        exact=True,
    )


def test_A4_no_keys_at_all(device, kind):
    check(run(counting(3, 0, kind), device), 0, -INF)


@pytest.mark.kinds("bf16", "f16")
def test_A6_scores_below_any_finite_sentinel(device, kind):
    def problem(a, b, v):
        return Problem(
            heads(first([a], kind)), heads(first([b] * len(v), kind)), heads(spread(v, kind)),
            {"scale": 1.0},
        )

    problems = [problem(240, -250, [1, 2, 6]), problem(240, -250, [5])]
    if kind == "bf16":
        problems.append(problem(490, -500, [1, 1, 3, 3]))
    three, one, *four = run_all(problems, device)
    check(three, 3, -60000 + LN(3), exact=True)
    check(one, 5, -60000, exact=True)
    for result in four:
        check(result, 2, -245000 + LN(4), exact=True)


@pytest.mark.needs("bias_mask", "causal")
def test_A7_mask_that_hides_all_keys_of_a_row(device, kind):
    base = counting(2, 5, kind)
    base.v += np.ones((), base.v.dtype)
    mask = np.array([[0] * 5, [1] * 5], np.int8)
    # Causal and mask together hide everything from row 0, which alone sees 0..3.
    both = np.array([[0, 0, 0, 0, 1], [1] * 5], np.int8)
    plain, causal = run_all(
        [base.with_options(mask=mask), base.with_options(mask=both, causal=True)], device
    )
    for result in (plain, causal):
        check(result, [0, 3], [-INF, LN(5)], exact=True)


@pytest.mark.needs("bias_mask")
def test_A9_empty_rows_at_the_head_of_a_tile(device, kind):
    ranges = [(0, 14), (8, 22), (18, 32), (0, 1)]
    problems = []
    for begin, end in ranges:
        bias = np.zeros((32, 64), np.float32)
        bias[begin:end] = -INF
        problem = counting(32, 64, kind)
        problems.append(problem.with_options(bias=bias.astype(problem.q.dtype)))
    results = run_all(problems, device)
    seen = None
    for (begin, end), result in zip(ranges, results):
        empty = (np.arange(32) >= begin) & (np.arange(32) < end)
        check(result, np.where(empty, 0, 31.5), np.where(empty, -INF, LN(64)), exact=True)
        rows = {r.tobytes() for r in result.out[0, 0, ~empty]}
        rows |= {s.tobytes() for s in result.lse[0, 0, ~empty]}
        assert seen is None or rows == seen, "rows with keys differ between variants"
        seen = rows


@pytest.mark.needs("softcap", "causal", "bias_mask")
def test_A11_everything_at_once_empties_two_rows(device, kind):
    rng = np.random.default_rng(11)
    q, k, v = (
        rng.normal(size=(1, 1, 8, 64)).astype(counting(1, 1, kind).q.dtype) for _ in range(3)
    )
    mask = (rng.random((8, 8)) < 0.6).astype(np.int8)
    mask[[2, 5]] = 0
    mask[[0, 1, 3, 4, 6, 7], 0] = 1
    problem = Problem(
        q,
        k,
        v,
        {"softcap": 30.0, "causal": True, "mask": mask, "bias": np.zeros((8, 8), q.dtype)},
    )
    # A build without optimisation and one with all of it (the last level counts).
    for level in ("0", "3"):
        result = run(problem, device, extra_args=[f"--optimize={level}"])
        assert_matches(result, problem, what=f"level {level}: ")
        assert (result.lse[0, 0, [2, 5]] == -INF).all()
        compare.assert_plus_zero(result.out[0, 0, [2, 5]])


@pytest.mark.parametrize(
    "pipeline, marker",
    [("attn-to-cpu", "llvm.fdiv"), *((f"attn-to-rocdl=chip={x}", "rocdl.mfma") for x in ("gfx942", "gfx950"))],
)
def test_A11_no_fast_math_on_scores(kind, pipeline, marker):
    """No op of the lowered program may assume that there is no NaN or infinity."""
    problem = counting(8, 8, kind, causal=True, softcap=30.0, sink=np.zeros(1, np.float32))
    text, _ = module_text([problem])
    command = [tool("attn-opt"), f"-{pipeline}", "-"]
    done = subprocess.run(command, input=text, check=True, capture_output=True, text=True)
    assert marker in done.stdout
    flags = set(re.findall(r"fastmath(?:Flags = #llvm\.fastmath)?<([^>]*)>", done.stdout))
    names = {name.strip() for group in flags for name in group.split(",")}
    assert not names & {"nnan", "ninf", "fast"}, names


@pytest.mark.needs("sink", "causal")
def test_sink_logit_of_a_row_without_keys(device, kind):
    problem = counting(3, 2, kind, h=2)
    sink = np.array([1.5, -INF], np.float32)
    result, plain = run_all(
        [problem.with_options(causal=True, sink=sink), problem.with_options(causal=True)], device
    )
    assert result.lse[0, 0, 0] == 1.5 and (result.out[0, 0, 0] == 0).all()
    # A sink of -inf is no sink, bit for bit.
    np.testing.assert_array_equal(result.lse[0, 1], plain.lse[0, 1])
    assert result.out[0, 1].tobytes() == plain.out[0, 1].tobytes()
    np.testing.assert_allclose(result.lse[0, 0, 1:], LN(np.exp(1.5) + [1, 2]), rtol=1e-5)


def test_nothing_to_compute_writes_nothing(device, kind):
    no_batch = counting(2, 3, kind)
    no_batch = Problem(no_batch.q[:0], no_batch.k[:0], no_batch.v[:0])
    for result in run_all([counting(0, 3, kind), no_batch], device):
        assert result.out.size == 0 and result.lse.size == 0
