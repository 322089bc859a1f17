"""Sequences of their own lengths: packed, padded, in pages."""

import compare
import numpy as np
import pytest
from attn_program import Problem, Strided, View, assert_matches, run, run_all
from attn_reference import merge_states

from cases import unique
from devices import Device
from launches import Program
from random_problems import _distinct as distinct
from random_problems import _grid as grid

NAN = np.nan


def paged(rng, kind, q_shape, heads_kv, lengths, page, *, dv=None, layout="bhsd", **options):
    """A decode or prefill batch whose keys lie in shuffled pages.

    Pages that no sequence has, the rest of each last page, and table entries
    behind it hold what must not take part.
    """
    dtype = compare.dtype(kind)
    b, _, _, d = q_shape
    dv = dv or d
    counts = [-(-n // page) for n in lengths]
    width = max(counts, default=0) + 2
    total = sum(counts) + 3
    order = rng.permutation(total)
    table = np.full((b, width), -1, np.int32)
    table[:, -1] = 2**31 - 1
    pools = []
    at = 0
    for s, count in enumerate(counts):
        table[s, :count] = order[at : at + count]
        at += count
    for make, columns in ((grid, d), (distinct, dv)):
        pool = np.full((total, heads_kv, page, columns), NAN)
        for s, (n, count) in enumerate(zip(lengths, counts)):
            rows = make(rng, (heads_kv, n, columns))
            for p in range(count):
                part = rows[:, p * page : (p + 1) * page]
                pool[table[s, p], :, : part.shape[1]] = part
        pools.append(pool)
    q = grid(rng, q_shape)
    if layout == "bshd":
        q, *pools = (x.transpose(0, 2, 1, 3) for x in (q, *pools))
        options["layout"] = layout
    arrays = [np.ascontiguousarray(x).astype(dtype) for x in (q, *pools)]
    return Problem(
        *arrays,
        {
            "seqlens_kv": np.array(lengths, np.int32),
            "block_table": table,
            "page_size": page,
            **options,
        },
    )


@pytest.mark.parametrize("page", [16, 32, 48, 80, 96, 192, 1024])
@pytest.mark.kinds("bf16", "f32")
@pytest.mark.needs("paged")
def test_pages_of_any_size(device, kind, page):
    rng = np.random.default_rng(page)
    problems = [
        paged(rng, kind, (3, 2, 33, 64), 1, [0, 1, page + 3], page),
        paged(rng, kind, (2, 4, 1, 128), 2, [2 * page, 131], page, causal=True),
        paged(rng, kind, (2, 2, 70, 72), 2, [65, 200], page, dv=40, layout="bshd", causal=True),
    ]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{page} keys a page: ")


@pytest.mark.kinds("f16")
@pytest.mark.needs("paged")
def test_pages_may_be_shared(device, kind):
    # One prefix of 32 keys for all, in the same pages.
    problem = paged(np.random.default_rng(1), kind, (3, 2, 5, 64), 2, [40, 64, 33], 16, causal=True)
    table = problem.options["block_table"]
    table[:, :2] = table[0, :2]
    result = run(problem, device)
    assert_matches(result, problem)


@pytest.mark.kinds("f16")
@pytest.mark.needs("paged")
def test_pages_of_dynamic_and_strided_pools(device, kind):
    problem = paged(np.random.default_rng(2), kind, (2, 4, 9, 64), 2, [70, 17], 32)
    problem.dynamic = True
    assert_matches(run(problem, device), problem)
    shared = paged(np.random.default_rng(3), kind, (2, 4, 9, 64), 2, [70, 17], 16)
    pages, heads, rows, d = shared.k.shape
    # Keys and values in one buffer, and rows that are no power of two apart.
    both = np.full((2, pages, heads, rows, d + 8), NAN, np.float16)
    both[0, ..., :d], both[1, ..., :d] = shared.k, shared.v
    strides = tuple(s // 2 for s in both.strides[1:])
    views = [View(both.reshape(-1), n * both[0].size, shared.k.shape, strides) for n in (0, 1)]
    strided = Problem(shared.q, *views, shared.options)
    assert_matches(run(strided, device), strided)


@pytest.mark.kinds("f16")
@pytest.mark.needs("paged")
def test_E6_pages_beyond_32_bits(device, kind):
    if not device.is_gpu:
        pytest.skip("the host's buffers are not sparse: this takes 24 GiB")
    problem = paged(np.random.default_rng(4), kind, (1, 1, 3, 64), 1, [150], 64)
    apart = tuple(
        Strided(x, (2**30 + 64, x[0].size, 64, 1)) for x in (problem.k, problem.v)
    )
    far = Problem(problem.q, *apart, problem.options)
    assert_matches(run(far, device), far)


@pytest.mark.parametrize("device", [Device("gfx950")], ids=str)
def test_E7_small_pages_of_a_too_large_pool_are_an_error(device):
    problem = paged(np.random.default_rng(4), "f16", (1, 1, 3, 64), 1, [40], 16)
    apart = tuple(Strided(x, (2**30 + 64, x[0].size, 64, 1)) for x in (problem.k, problem.v))
    far = Problem(problem.q, *apart, problem.options)
    with pytest.raises(AssertionError, match="expects pools of at most 4294901760 bytes"):
        run(far, device)


@pytest.mark.parametrize("page", [48, 64])
@pytest.mark.needs("paged")
def test_pages_that_interleave(device, page):
    # Key i of all pages lies side by side.
    problem = paged(np.random.default_rng(6), "f16", (2, 1, 3, 64), 1, [100, 40], page)
    apart = tuple(Strided(x, (64, 64, 64 * len(x), 1)) for x in (problem.k, problem.v))
    mixed = Problem(problem.q, *apart, problem.options)
    if page == 48 and device.name == "gfx950":
        with pytest.raises(AssertionError, match="expects pages that do not interleave"):
            run(mixed, device)
    else:
        assert_matches(run(mixed, device), mixed)


@pytest.mark.kinds("f16")
@pytest.mark.needs("paged")
@pytest.mark.parametrize("page", [16, 48])
def test_pages_that_no_pool_has_stay_inside(device, kind, page, tmp_path):
    # What the table says is wrong: whatever comes out, nothing outside is read.
    if not device.is_gpu:
        pytest.skip("the host is not launched without the check of pages")
    problem = paged(np.random.default_rng(5), kind, (2, 2, 3, 64), 1, [100, 40], page)
    program = Program(tmp_path, [problem], device)
    program.drop_rules()
    expected, _ = problem.reference()
    for wrong in (-1, -(2**31), 10**6, 2**31 - 1):
        table = problem.options["block_table"].copy()
        table[0, 2] = wrong
        done = program.run(block_table_0=table)
        assert done.returncode == 0, done.stderr
        out = program.load("output_0")
        compare.assert_close(out[1], expected[1], atol=2e-2, what="the other sequence")


def packed(rng, kind, q_lens, kv_lens, heads=2, d=64, **options):
    """Packed sequences of these lengths."""
    dtype = compare.dtype(kind)
    q, k = (grid(rng, (sum(n), heads, d)).astype(dtype) for n in (q_lens, kv_lens))
    v = distinct(rng, k.shape).astype(dtype)
    starts = {
        f"cu_seqlens_{name}": np.cumsum([0, *n]).astype(np.int32)
        for name, n in (("q", q_lens), ("kv", kv_lens))
    }
    return Problem(q, k, v, {"layout": "thd", **starts, **options})


def packed_over_pages(rng, kind, q_lens, q_heads, heads_kv, kv_lens, page, *, d=64, **options):
    """Packed rows whose keys lie in shuffled pages; what must not be read is as in `paged`."""
    shape = (len(kv_lens), 1, 1, d)
    pools = paged(rng, kind, shape, heads_kv, kv_lens, page, layout="bshd")
    q = grid(rng, (sum(q_lens), q_heads, d)).astype(compare.dtype(kind))
    starts = {"layout": "thd", "cu_seqlens_q": np.cumsum([0, *q_lens]).astype(np.int32)}
    return Problem(q, pools.k, pools.v, {**pools.options, **starts, **options})


@pytest.mark.kinds("bf16")
@pytest.mark.parametrize("page", [16, 48])
@pytest.mark.needs("thd_paged", "causal")
def test_packed_rows_over_pages(device, kind, page):
    """A batch as servers have it: chunks of prompts with keys before them, and decodes."""
    rng = np.random.default_rng(page)
    q_lens, kv_lens = [70, 1, 0, 1, 33, 5], [200, 131, 40, 1, 33, 0]
    problems = [
        packed_over_pages(rng, kind, q_lens, 2, 1, kv_lens, page, causal=True, **options)
        for options in (
            {"lse_layout": "bhs_padded"},
            {"lse_layout": "sh_packed", "window_left": 20, "num_kv_splits": 2},
        )
    ]
    problems[1].dynamic = True
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{page} keys a page: ")


@pytest.mark.kinds("f16")
@pytest.mark.needs("thd_paged", "gqa")
def test_packed_decode_over_pages(device, kind):
    """A row or two a sequence, of all heads of a group; one length for all; splits."""
    rng = np.random.default_rng(12)
    lens = [130, 40, 257]
    problems = [
        packed_over_pages(rng, kind, [1, 0, 2], 8, 2, lens, 16, causal=True, num_kv_splits=splits)
        for splits in (3, 0)
    ]
    same = packed_over_pages(rng, kind, [1, 1, 1], 8, 2, [65] * 3, 64)
    same.options["seqlens_kv"] = 65
    results = run_all([*problems, same], device)
    for problem, result in zip(problems, results):
        assert_matches(result, problem)
    assert_matches(results[-1], same, seqlens_kv=[65] * 3)


@pytest.mark.kinds("f16")
@pytest.mark.needs("thd_paged", "split_kv")
def test_states_of_packed_rows_over_pages(device, kind):
    rng = np.random.default_rng(13)
    problem = packed_over_pages(rng, kind, [3, 0, 9], 2, 2, [300, 7, 64], 32, causal=True)
    whole = problem.with_options(num_kv_splits=3)
    parts = Problem(whole.q, whole.k, whole.v, whole.options, states=True)
    result, expected = run(parts, device), problem.reference()
    out, lse = merge_states([(o, s.T) for o, s in zip(result.out, result.lse)])
    compare.assert_close(out, expected[0], atol=2e-3)
    compare.assert_close(lse.T, expected[1], atol=1e-4)


@pytest.mark.kinds("f16")
@pytest.mark.needs("thd_paged", "kv_split")
def test_one_state_of_packed_rows_over_pages(device, kind):
    rng = np.random.default_rng(15)
    lens = [300, 7, 64]
    whole = packed_over_pages(rng, kind, [3, 0, 9], 4, 2, lens, 32, causal=True, num_kv_splits=2)
    problems = [whole.with_options(kv_split=n) for n in range(2)]
    parts = [(x.out, x.lse.T) for x in run_all(problems, device)]
    expected, (out, lse) = whole.reference(), merge_states(parts)
    compare.assert_close(out, expected[0], atol=2e-3)
    compare.assert_close(lse.T, expected[1], atol=1e-4)
    assert np.isneginf(parts[1][1][3:]).all()  # of 64 keys the second half has none


@pytest.mark.kinds("f16")
@pytest.mark.needs("thd_paged")
def test_corrupt_starts_and_pages_stay_inside(device, kind, tmp_path):
    if not device.is_gpu:
        pytest.skip("the host is not launched without the check of starts")
    rng = np.random.default_rng(14)
    problem = packed_over_pages(rng, kind, [5, 7, 30], 2, 2, [9, 2, 70], 16, causal=True)
    program = Program(tmp_path, [problem], device)
    program.drop_rules()
    for starts in ([0, 30, 10, 42], [-7, 5, 2**31 - 1, 42], [50, -(2**31), 99, 0]):
        done = program.run(
            cu_seqlens_q_0=np.array(starts, np.int32),
            seqlens_kv_0=np.array([2**31 - 1, -1, 70], np.int32),
            block_table_0=rng.integers(-9, 99, problem.options["block_table"].shape, np.int32),
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.kinds("bf16")
@pytest.mark.needs("thd", "causal")
def test_packed_sequences_longer_than_a_tile(device, kind):
    rng = np.random.default_rng(6)
    q_lens, kv_lens = [300, 0, 1, 256, 77], [65, 9, 513, 256, 0]
    problems = [
        packed(rng, kind, q_lens, kv_lens, heads=1, causal=True, lse_layout="bhs_padded"),
        packed(
            rng, kind, q_lens, kv_lens, heads=1, causal=True, diagonal_alignment="top_left"
        ),
    ]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem)


@pytest.mark.kinds("f16")
@pytest.mark.needs("thd", "strided")
def test_E7_packed_rows_beyond_four_gigabytes(device, kind):
    if not device.is_gpu:
        pytest.skip("the host's buffers are not sparse: this takes 15 GiB")
    # The second sequence begins past 2^31 elements and 2^32 bytes.
    pitch = 4 * 2**20 - 64
    problem = packed(np.random.default_rng(11), kind, [3, 9], [590, 20], heads=1, causal=True)
    k, v = (Strided(x, (pitch, 64, 1)) for x in (problem.k, problem.v))
    far = Problem(problem.q, k, v, problem.options)
    assert_matches(run(far, device), far)


@pytest.mark.kinds("f16")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.needs("thd", "dynamic")
def test_more_packed_sequences_than_lanes(device, kind, dynamic):
    rng = np.random.default_rng(7)
    q_lens = rng.integers(0, 4, 131)
    q_lens[[5, 70]] = 270, 0
    problem = packed(rng, kind, list(q_lens), list(rng.integers(0, 9, 131)), heads=1)
    problem.dynamic = dynamic
    assert_matches(run(problem, device), problem)


@pytest.mark.kinds("f16")
@pytest.mark.needs("thd")
def test_corrupt_starts_stay_inside(device, kind, tmp_path):
    # Whatever comes out: nothing outside of the tensors is read or written. Who launches
    # without attn-run has no check of starts.
    if not device.is_gpu:
        pytest.skip("the host is not launched without the check of starts")
    problem = packed(np.random.default_rng(8), kind, [5, 7, 30], [9, 2, 70], causal=True)
    padded = problem.with_options(lse_layout="bhs_padded")
    program = Program(tmp_path, [problem, padded], device)
    program.drop_rules()
    for starts in ([0, 30, 10, 42], [-7, 5, 2**31 - 1, 42], [50, -(2**31), 99, 0], [9, 9, 9, 9]):
        starts = np.array(starts, np.int32)
        done = program.run(**{f"cu_seqlens_{x}_{n}": starts for x in ("q", "kv") for n in (0, 1)})
        assert done.returncode == 0, done.stderr


@pytest.mark.kinds("f16")
@pytest.mark.needs("padded")
def test_corrupt_lengths_stay_inside(device, kind, tmp_path):
    # A length is limited to the tensor: these are all keys, or none.
    if not device.is_gpu:
        pytest.skip("the host is not launched without the check of lengths")
    rng = np.random.default_rng(9)
    q, k = (grid(rng, (3, 1, n, 64)).astype(np.float16) for n in (5, 70))
    problem = Problem(q, k, k, {"seqlens_kv": np.array([70, 70, 0], np.int32)})
    program = Program(tmp_path, [problem], device)
    program.drop_rules()
    done = program.run(seqlens_kv_0=np.array([71, 2**31 - 1, -1], np.int32))
    assert done.returncode == 0, done.stderr
    expected = problem.reference()
    compare.assert_close(program.load("lse_0"), expected[1], atol=1e-4)
    compare.assert_plus_zero(program.load("output_0")[2])


@pytest.mark.kinds("f16")
@pytest.mark.needs("padded")
def test_one_length_for_all_is_a_scalar(device, kind):
    rng = np.random.default_rng(10)
    q, k, v = (grid(rng, (2, 1, n, 64)).astype(np.float16) for n in (300, 70, 70))
    q[:, :, 257:] = k[:, :, 33:] = v[:, :, 33:] = NAN
    problem = Problem(q, k, v, {"seqlens_q": 257, "seqlens_kv": 33, "causal": True})
    lengths = {"seqlens_q": [257] * 2, "seqlens_kv": [33] * 2}
    assert_matches(run(problem, device), problem, **lengths)


@pytest.mark.smoke
@pytest.mark.kinds("f16")
@pytest.mark.needs("thd", "split_kv", "sink")
def test_rows_behind_the_last_packed_sequence_are_left_alone(device, kind):
    def problem(starts, lse_layout, splits=1):
        return Problem(
            unique((10, 4, 64), kind, 1),
            unique((12, 2, 64), kind, 2),
            unique((12, 2, 64), kind, 3),
            {
                "layout": "thd",
                "lse_layout": lse_layout,
                "cu_seqlens_q": np.array(starts, np.int32),
                "cu_seqlens_kv": np.array(starts, np.int32),
                "num_kv_splits": splits,
                "sink": np.zeros(4, np.float32),
            },
        )

    ends = [
        problem([0, 3, 8], layout, n) for layout in ("hs_packed", "sh_packed") for n in (1, 2)
    ]
    ends[3].dynamic = True
    *results, none, no_splits = run_all(
        [*ends, problem([0], "hs_packed"), problem([0], "hs_packed", 2)], device
    )
    # They are NaN before the launch.
    for result, end in zip(results, ends):
        lse = result.lse.T if end.options["lse_layout"] == "hs_packed" else result.lse
        for x in (result.out, lse):
            assert np.isfinite(x[:8].astype(np.float64)).all()
            assert np.isnan(x[8:].astype(np.float64)).all()
    for result in (none, no_splits):
        assert np.isnan(result.out.astype(np.float64)).all() and np.isnan(result.lse).all()
