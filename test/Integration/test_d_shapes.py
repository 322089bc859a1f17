"""Group D: shapes, tails, windows, masks."""

import compare
import numpy as np
import pytest
from attn_program import Problem, View, assert_matches, run, run_all, view_of
from cases import INF, LN, check, first, heads, spread, unique
from test_a_empty_rows import counting


@pytest.mark.parametrize("sq", [1, 17])
def test_D1_tail_columns_are_not_in_the_sum(device, kind, sq):
    lengths = [1, 15, 16, 17, 33, 63, 65, 127, 129]
    problems = [
        Problem(
            heads(first(np.full(sq, 4.0), kind)),
            heads(first(np.full(n, -5.0), kind)),
            heads(spread(np.ones(n), kind)),
            {"scale": 1.0},
        )
        for n in lengths
    ]
    for n, result in zip(lengths, run_all(problems, device)):
        check(result, 1, -20 + LN(n), exact=True, max_score=20, what=f"{n} keys: ")


@pytest.mark.kinds("bf16")
@pytest.mark.needs("offset")
def test_D3_tight_buffers_equal_roomy_ones(device, kind):
    q, k, v = (
        unique((5, 2, s, 128), kind, seed) for seed, s in enumerate((4, 656, 656))
    )
    tight = Problem(q, k, v)
    roomy = Problem(
        *(view_of(x, offset=256, tail=256) for x in (q, k, v)),
        out=view_of(np.full_like(q, np.nan), offset=256, tail=256, fill=-7),
        lse=view_of(np.full((5, 2, 4), np.nan, np.float32), offset=64, tail=64, fill=-7),
    )
    one, other = run_all([tight, roomy], device)
    compare.assert_same_bits(one.out, other.out)
    compare.assert_same_bits(one.lse, other.lse)
    for buffer, inside in ((other.out_buffer, one.out.size), (other.lse_buffer, one.lse.size)):
        edge = (buffer.size - inside) // 2
        outside = np.concatenate([buffer[:edge], buffer[edge + inside :]])
        np.testing.assert_array_equal(outside.astype(np.float32), -7)


@pytest.mark.needs("padded")
def test_D4_nothing_beyond_the_length_has_an_effect(device, kind):
    poisons = [("v", np.nan), ("k", np.nan), ("kv", INF), ("kv", np.nan)]
    problems = []
    for where, poison in poisons:
        q, k, v = (spread(np.full((2, 1, 3), 0.5), kind) for _ in range(3))
        for x in where:
            {"k": k, "v": v}[x][0, 0, 1:] = poison
        problems.append(Problem(q, k, v, {"seqlens_kv": np.array([1, 3])}))
    for result in run_all(problems, device):
        check(result, 0.5, np.array([2.0, 2 + LN(3)])[:, None, None], exact=True)


@pytest.mark.needs("padded")
def test_D4_long_buffer_with_a_poisoned_end(device, kind):
    q = heads(spread([0.5], kind))
    k, v = (heads(spread(np.full(4096, 0.5), kind)) for _ in range(2))
    k[0, 0, 4090:] = v[0, 0, 4090:] = np.nan
    result = run(Problem(q, k, v, {"seqlens_kv": np.array([4090])}), device)
    check(result, 0.5, 2 + LN(4090), exact=True)


@pytest.mark.needs("strided")
def test_D6_head_sizes(device, kind):
    problems = []
    sizes = [8, 40, 72, 80, 96, 160, 256]
    for d in sizes:
        ones = heads(spread(np.ones(4), kind, d))
        v = np.broadcast_to(np.arange(d), (1, 1, 4, d)).astype(ones.dtype)
        q, k, v = (view_of(x, pitch=d + 8) for x in (ones, ones, v))
        problems.append(Problem(q, k, v, {"scale": 0.125}))
    for d, result in zip(sizes, run_all(problems, device)):
        expected = np.broadcast_to(np.arange(d).astype(result.out.dtype), result.out.shape)
        atol = compare.ulp(expected, kind)
        compare.assert_close(result.out, expected, atol=atol, what=f"D={d}: O")
        lse = np.full(result.lse.shape, d / 8 + LN(4))
        compare.assert_close(result.lse, lse, atol=1e-5 + 4 * compare.ulp(d / 8, "f32"))


@pytest.mark.needs("any_head_dim")
def test_D6_odd_head_sizes(device, kind):
    problems = []
    sizes = [(1, 1), (7, 20), (20, 3), (264, 9)]
    for dqk, dv in sizes:
        q, k = (heads(spread(np.ones(4), kind, dqk)) for _ in range(2))
        v = np.broadcast_to(np.arange(dv), (1, 1, 4, dv)).astype(q.dtype)
        problems.append(Problem(q, k, v, {"scale": 0.125}))
    for (dqk, dv), result in zip(sizes, run_all(problems, device)):
        expected = np.broadcast_to(np.arange(dv).astype(result.out.dtype), result.out.shape)
        atol = compare.ulp(expected, kind)
        compare.assert_close(result.out, expected, atol=atol, what=f"D={dqk}, {dv}: O")
        lse = np.full(result.lse.shape, dqk / 8 + LN(4))
        compare.assert_close(result.lse, lse, atol=1e-5 + 4 * compare.ulp(dqk / 8, "f32"))


def test_D6_upper_half_of_the_head(device, kind):
    problems = []
    for at in (0, 64):
        q, k = (np.zeros((1, 1, n, 128), spread([0], kind).dtype) for n in (1, 4))
        q[..., at], k[0, 0, :, at] = 2, [0, 1, 2, 3]
        problems.append(Problem(q, k, heads(spread([1, 2, 3, 4], kind, 128)), {"scale": 0.5}))
    low, high = run_all(problems, device)
    compare.assert_same_bits(low.out, high.out)
    compare.assert_same_bits(low.lse, high.lse)


@pytest.mark.parametrize("d", [64, 128, 256])
@pytest.mark.kinds("f16", "bf16")
@pytest.mark.needs("gqa")
def test_D8_one_query_row(device, kind, d):
    shapes = [(b, hk) for b in (1, 3) for hk in (8, 2, 1)]
    problems, expected = [], []
    for b, hk in shapes:
        # K and V tell batches and heads apart.
        number = np.arange(b * hk).reshape(b, hk, 1)
        factor = 1 + number / 8
        k = first(np.broadcast_to(factor, (b, hk, 512)), kind, d)
        v = spread(number + np.arange(512) % 2, kind, d)
        query = np.arange(b)[:, None, None] + np.arange(8)[None, :, None] / 8
        problems.append(Problem(first(query, kind, d), k, v, {"scale": 1.0}))
        groups = [x.repeat(8 // hk, axis=1) for x in (number, factor)]
        expected.append((groups[0] + 0.5, query * groups[1] + LN(512)))
    for (b, hk), result, (out, lse) in zip(shapes, run_all(problems, device), expected):
        check(result, out, lse, exact=True, what=f"B={b} Hk={hk}: ")


@pytest.mark.kinds("f16", "bf16")
@pytest.mark.needs("gqa", "split_kv", "padded", "causal", "bshd")
def test_decode_with_groups_of_heads(device, kind):
    """One row a head, four heads a group: splits, lengths, layouts, causal."""
    rng = np.random.default_rng(11)

    def inputs(q, kv):
        shapes = (*q, 64), (*kv, 64), (*kv, 72)
        return [rng.normal(size=shape).astype(compare.dtype(kind)) for shape in shapes]

    lengths = np.array([150, 0], np.int32)
    problems = [
        Problem(*inputs((2, 8, 1), (2, 2, 200)), {"causal": True, "num_kv_splits": 3}),
        Problem(*inputs((2, 1, 8), (2, 200, 2)), {"layout": "bshd", "lse_base": "two"}),
        Problem(*inputs((2, 8, 1), (2, 2, 200)), {"seqlens_kv": lengths, "num_kv_splits": 2}),
    ]
    for n, (problem, result) in enumerate(zip(problems, run_all(problems, device))):
        assert_matches(result, problem, what=f"{n}: ")


def visible_to_o_lse(visible):
    """Mean index and ln of the count of each row of a visibility matrix."""
    visible = np.asarray(visible, bool)
    count = visible.sum(axis=-1)
    total = (visible * np.arange(visible.shape[-1])).sum(axis=-1)
    with np.errstate(divide="ignore"):
        return total / np.maximum(count, 1), LN(count)


@pytest.mark.needs("window", "causal")
def test_D10_window_bounds(device, kind):
    table = [
        (6, 6, {"window_left": 2, "window_right": 0}, [1, 2, 3, 3, 3, 3]),
        (6, 6, {"window_left": 2, "window_right": 0, "causal": True}, [1, 2, 3, 3, 3, 3]),
        (6, 6, {"window_left": 2}, [6, 6, 6, 5, 4, 3]),
        (5, 3, {"window_right": 2147483647}, [3, 3, 3, 3, 3]),
        (5, 3, {"window_right": 3}, [2, 3, 3, 3, 3]),
        (4, 4, {"window_left": 0, "window_right": 0}, [1, 1, 1, 1]),
        (6, 6, {"window_left": 1, "sink_tokens": 2, "causal": True}, [1, 2, 3, 4, 4, 4]),
    ]
    problems = [counting(sq, skv, kind, **options) for sq, skv, options, _ in table]
    for (sq, skv, options, counts), result in zip(table, run_all(problems, device)):
        what = f"{sq}x{skv} {options}: "
        check(result, result.out[..., 0], LN(counts), what=what)
        i, j = np.arange(sq)[:, None] + skv - sq, np.arange(skv)
        left, right = options.get("window_left", -1), options.get("window_right", -1)
        seen = (left < 0) | (j >= i - left) | (j < options.get("sink_tokens", 0))
        seen = seen & ((right < 0) | (j <= i + right)) & (not options.get("causal") or j <= i)
        check(result, *visible_to_o_lse(seen), exact=True, what=what)


@pytest.mark.kinds("bf16", "f32")
@pytest.mark.needs("window")
def test_windows_that_skip_tiles_on_both_sides(device, kind):
    table = [
        (330, 520, {"window_left": 70, "window_right": 33}),
        (330, 520, {"window_left": 64, "causal": True, "sink_tokens": 70}),
        (600, 40, {"window_left": 20, "window_right": 300}),
        (40, 700, {"window_left": 0, "window_right": 0, "diagonal_alignment": "top_left"}),
        (300, 300, {"window_right": 0, "window_left": 1 << 30}),
    ]
    problems = [
        Problem(*(unique((1, 1, n, 64), kind, seed) for seed, n in enumerate((sq, skv, skv))), options)
        for sq, skv, options in table
    ]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{problem.options}: ")


@pytest.mark.needs("causal")
def test_D11_causal_alignment_when_lengths_differ(device, kind):
    shapes = [(2, 5), (64, 192)]
    for alignment in ("bottom_right", "top_left"):
        problems = [
            counting(sq, skv, kind, causal=True, diagonal_alignment=alignment)
            for sq, skv in shapes
        ]
        for (sq, skv), result in zip(shapes, run_all(problems, device)):
            count = np.arange(sq) + 1 + (skv - sq if alignment == "bottom_right" else 0)
            check(result, (count - 1) / 2, LN(count), exact=True, what=f"{alignment} {sq}x{skv}: ")


def masks():
    """Masks of several shapes whose visible counts a formula gives."""
    b, h = np.arange(2)[:, None, None, None], np.arange(4)[None, :, None, None]
    i, j = np.arange(6)[None, None, :, None], np.arange(20)[None, None, None, :]
    return [
        j <= i,
        j <= i + 3 * b,
        j <= i + h,
        np.broadcast_to(j < 7, (1, 1, 1, 20)),
        (j <= i)[0, 0],
        j <= i + 3 * b + h,
    ]


def broadcast_view(x, shape):
    """`x` with stride 0 along every dimension that it lacks."""
    padded = x.reshape((1,) * (len(shape) - x.ndim) + x.shape)
    strides, step = [], 1
    for size in reversed(padded.shape):
        strides.insert(0, step if size > 1 else 0)
        step *= size
    return View(padded.reshape(-1).copy(), 0, shape, tuple(strides))


@pytest.mark.needs("bias_mask", "gqa", "strided", "dynamic")
def test_bias_and_mask_in_parts_of_dwords(device, kind):
    """Rows that begin anywhere, as types tell or as only the launch does; i1 and i8."""
    rng = np.random.default_rng(12)
    dtype = compare.dtype(kind)

    def normal(*shape):
        return rng.normal(size=shape).astype(dtype)

    q, k, one = normal(2, 4, 40, 64), normal(2, 2, 203, 64), normal(2, 4, 1, 64)
    bias, mask = normal(2, 4, 40, 203), rng.random((2, 1, 40, 203)) < 0.8
    problems = [
        Problem(q, k, k, {"bias": bias, "causal": True}, dynamic=True),
        Problem(q, k, k, {"bias": view_of(bias, pitch=207, offset=3), "mask": mask}),
        Problem(q, k, k, {"mask": mask, "softcap": 5.0}, dynamic=True),
        Problem(q, k, k, {"mask": view_of(mask.astype(np.int8), offset=1, fill=1)}),
        Problem(one, k, k, {"bias": bias[:, :, :1], "mask": mask[0, 0, :1]}, dynamic=True),
    ]
    for n, (problem, result) in enumerate(zip(problems, run_all(problems, device))):
        assert_matches(result, problem, what=f"{n}: ")


@pytest.mark.needs("bias_mask", "gqa", "strided")
def test_D12_mask_broadcast(device, kind):
    q = np.zeros((2, 4, 6, 64), spread([0], kind).dtype)
    k = np.zeros((2, 2, 20, 64), q.dtype)
    v = spread(np.broadcast_to(np.arange(20), (2, 2, 20)), kind)
    full = (2, 4, 6, 20)
    problems, expected = [], []
    for mask in masks():
        mask = mask.astype(np.int8)
        whole = np.broadcast_to(mask.reshape((1,) * (4 - mask.ndim) + mask.shape), full)
        for form in (mask, np.ascontiguousarray(whole), broadcast_view(mask, full)):
            problems.append(Problem(q, k, v, {"mask": form}))
            expected.append(whole)
    results = run_all(problems, device)
    for n, (result, visible) in enumerate(zip(results, expected)):
        check(result, *visible_to_o_lse(visible), exact=True, what=f"mask {n // 3}.{n % 3}: ")
    for n in range(0, len(results), 3):
        for other in results[n + 1 : n + 3]:
            compare.assert_same_bits(other.lse, results[n].lse)
            compare.assert_same_bits(other.out, results[n].out)


@pytest.mark.needs("bias_mask", "gqa", "strided")
def test_D12_bias_broadcast(device, kind):
    q = np.zeros((2, 4, 6, 64), spread([0], kind).dtype)
    k = np.zeros((2, 2, 20, 64), q.dtype)
    v = spread(np.broadcast_to(np.arange(20), (2, 2, 20)), kind)
    problems = [
        Problem(q, k, v, {"bias": np.where(mask, 0, -INF).astype(q.dtype)}) for mask in masks()
    ]
    for n, (mask, result) in enumerate(zip(masks(), run_all(problems, device))):
        whole = np.broadcast_to(mask.reshape((1,) * (4 - mask.ndim) + mask.shape), (2, 4, 6, 20))
        check(result, *visible_to_o_lse(whole), exact=True, what=f"bias {n}: ")


@pytest.mark.kinds("f16")
@pytest.mark.needs("bias_mask")
@pytest.mark.parametrize("d", [16, 32])
def test_D12_operands_the_same_for_all_keys(device, kind, d):
    """Reads that leave the loop over keys are none that its waits may count."""
    rng = np.random.default_rng(d)
    q, k, v = (
        rng.standard_normal(shape).astype(spread([0], kind).dtype)
        for shape in ((1, 3, 1, d), (1, 1, 260, d), (1, 1, 260, d))
    )
    mask = np.array([1, 0, 1], np.int8).reshape(1, 3, 1, 1)
    problems = [
        Problem(q, k, v, options)
        for options in ({"mask": mask}, {"bias": q[:, :, :, :1]}, {"bias": q[0, 0, :, :1]})
    ]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem)


@pytest.mark.kinds("f16")
@pytest.mark.needs("bias_mask", "dynamic")
def test_D12_bias_and_mask_one_key_a_read(device, kind):
    """64 reads a tile, of rows that may begin anywhere: more than a wait can count."""
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal((1, 2, n, 64)).astype(np.float16) for n in (17, 130, 130))
    bias = rng.standard_normal((2, 17, 130)).astype(np.float16)
    mask = (rng.random((1, 2, 17, 130)) < 0.7).astype(np.int8)
    problem = Problem(q, k, v, {"bias": bias, "mask": mask}, dynamic=True)
    assert_matches(run(problem, device), problem)


@pytest.mark.kinds("f16")
@pytest.mark.needs("bias_mask")
def test_D13_additive_mask_of_a_left_padded_batch(device, kind):
    q = np.zeros((2, 2, 7, 64), np.float16)
    v = spread(np.broadcast_to(np.arange(7), (2, 2, 7)), kind)
    i, j = np.arange(7)[:, None], np.arange(7)[None, :]
    low = np.float16(-65504)
    bias = np.full((2, 1, 7, 7), low)
    bias[0, 0][j <= i] = 0
    bias[1, 0][(j <= i) & (j >= 3)] = 0
    bias[1, 0, :3] = -0.0
    result = run(Problem(q, q, v, {"bias": bias}), device)
    padded = np.array([3, 3, 3, 3, 3.5, 4, 4.5])
    lse = np.concatenate([np.full(3, LN(7)), LN([1, 2, 3, 4])])
    check(
        result,
        np.stack([np.arange(7) / 2, padded])[:, None],
        np.stack([LN(np.arange(7) + 1), lse])[:, None],
        exact=True,
    )


@pytest.mark.needs("offsets", "causal")
def test_offsets_place_the_diagonal(device, kind):
    table = [
        ({"q_offset": 3}, lambda i: i + 4),
        ({"q_offset": 5, "kv_offset": 3}, lambda i: i + 3),
        ({"q_offset": np.array([0, 6])}, lambda i: np.array([i + 1, i + 7])),
        ({"kv_offset": np.array([0, 1])}, lambda i: np.array([i + 1, i])),
    ]
    problems = []
    for options, _ in table:
        one = counting(2, 9, kind, causal=True, **options)
        q, k, v = (np.concatenate([x, x]) for x in (one.q, one.k, one.v))
        problems.append(Problem(q, k, v, one.options))
    for (options, count), result in zip(table, run_all(problems, device)):
        counts = np.broadcast_to(count(np.arange(2)), (2, 2))[:, None]
        with np.errstate(divide="ignore"):
            expected = np.maximum(counts - 1, 0) / 2, LN(counts)
        check(result, *expected, exact=True, what=f"{options}: ")


@pytest.mark.needs("offsets", "window", "alibi")
@pytest.mark.kinds("f16")
def test_offsets_and_windows_of_any_size(device, kind):
    far = 2**31 - 1
    q = heads(spread(np.zeros(4), kind))
    v = heads(spread(np.arange(9), kind))
    slopes = {"alibi_slopes": np.full(1, 2.0**-20, np.float32)}
    table = [
        # A window begins or ends near the first key, however far its row is.
        *(
            {"q_offset": left + 3, "window_left": left}
            for left in (2**29 - 1, far - 6)
        ),
        *({"kv_offset": right - 1, "window_right": right} for right in (2**30, far)),
        {"q_offset": 2**29 + 5, "kv_offset": 2**29, "causal": True},
        # Every key is visible, or none.
        {"q_offset": far, "window_left": 5},
        {"kv_offset": far, "window_left": 0, "window_right": far},
        {"kv_offset": far, "causal": True},
        {"q_offset": -far - 1, "kv_offset": far, "window_right": far},
        {"q_offset": far, "kv_offset": -far - 1, "window_left": far},
        {"window_left": far, "window_right": far},
        {"q_offset": np.array([2**30 + 4]), "window_left": 2**30, "window_right": 5},
        *({"q_offset": off, **slopes} for off in (2**30 - 4, -far)),
        {"q_offset": far, "kv_offset": -far, **slopes},
    ]
    problems = [Problem(q, np.zeros_like(v), v, options) for options in table]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{problem.options}: ")


@pytest.mark.needs("offsets", "padded", "window")
@pytest.mark.kinds("f16")
@pytest.mark.parametrize("integers", ["i32", "i64", "index"])
def test_lengths_and_offsets_of_every_integer_type(device, kind, integers):
    far = 2**31 - 1 if integers == "i32" else 2**40
    q = heads(spread(np.zeros(5), kind))
    v = heads(spread(np.arange(40), kind))
    table = [
        {"seqlens_q": 3, "seqlens_kv": 33},
        {"seqlens_kv": 0, "causal": True},
        {"q_offset": 7, "causal": True},
        {"q_offset": far, "kv_offset": far - 4, "causal": True},
        {"q_offset": -far, "kv_offset": -far, "window_left": 2, "window_right": 3},
        {"q_offset": far, "window_left": 2},
        {"kv_offset": far, "causal": True},
    ]
    problems = [Problem(q, np.zeros_like(v), v, x, integers=integers) for x in table]
    for problem, result in zip(problems, run_all(problems, device)):
        lengths = {x: [n] for x, n in problem.options.items() if x.startswith("seqlens")}
        assert_matches(result, problem, what=f"{problem.options}: ", **lengths)


@pytest.mark.needs("padded", "bias_mask", "alibi", "split_kv")
@pytest.mark.kinds("f16", "bf16")
def test_pad_rows_with_one_tile_of_keys(device, kind):
    """LLVM knows that there is one tile or none."""
    rng = np.random.default_rng(9)
    problems = []
    for skv, splits in ((7, 1), (64, 2), (64, 4)):
        q, k, v = (rng.normal(size=(2, 2, n, 64)).astype(compare.dtype(kind)) for n in (5, skv, skv))
        options = {"seqlens_q": np.array([3, 0], np.int32), "num_kv_splits": splits}
        bias = {"bias": rng.normal(size=(5, skv)).astype(q.dtype)}
        alibi = {"alibi_slopes": np.array([0.5, 0.25], np.float32)}
        problems += [Problem(q, k, v, {**options, **x}) for x in (bias, alibi)]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{problem.options}: ")


@pytest.mark.needs("padded", "causal")
def test_lengths_of_a_padded_batch(device, kind):
    # Rows beyond a query length are neutral; the diagonal ends at the lengths.
    q = np.zeros((3, 2, 5, 64), spread([0], kind).dtype)
    v = spread(np.broadcast_to(np.arange(6), (3, 2, 6)), kind)
    k = np.zeros_like(v)
    options = {"seqlens_q": np.array([5, 2, 0]), "seqlens_kv": np.array([6, 3, 4]), "causal": True}
    result = run(Problem(q, k, v, options), device)
    counts = np.array([[2, 3, 4, 5, 6], [2, 3, 0, 0, 0], [0] * 5])[:, None]
    with np.errstate(divide="ignore"):
        check(result, np.maximum(counts - 1, 0) / 2, LN(counts), exact=True)
