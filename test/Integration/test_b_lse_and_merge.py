"""Group B: the meaning and place of the LSE, merging, heads."""

import subprocess

import attn_reference
import compare
import numpy as np
import pytest
from attn_program import Merge, Problem, View, assert_matches, run, run_all, tool
from cases import INF, LN, check, first, heads, spread
from test_a_empty_rows import counting

F32 = np.float32


def state(out, lse):
    """One row of one head: O = out in all columns, LSE = lse."""
    return np.full((1, 1, 1, 4), out, F32), np.full((1, 1, 1), lse, F32)


def merged(device, *cases, **options):
    """(O, LSE) of each list of states, run in one process."""
    results = run_all([Merge([state(*s) for s in case], options) for case in cases], device)
    return [(r.out, r.lse) for r in results]


@pytest.mark.needs("lse_base")
def test_B1_natural_logarithm_by_default(device, kind):
    eight = heads(first(np.ones(8), kind))
    v = heads(spread(np.arange(8), kind))
    zeros, ones = (heads(first([x], kind)) for x in (0, 1))
    problems = [Problem(q, eight, v, {"scale": 1.0}) for q in (zeros, ones)]
    problems += [p.with_options(lse_base="two") for p in problems]
    results = run_all(problems, device)
    for result, lse in zip(results, (LN(8), 1 + LN(8), 3, 3 + 1 / LN(2))):
        check(result, 3.5, lse, exact=True)


@pytest.mark.parametrize("base, unit", [("e", 1.0), ("two", LN(2))])
@pytest.mark.needs("merge")
def test_B1_merge_uses_the_base_of_its_states(device, base, unit):
    case = [(0, LN(2) / unit), (1, LN(8) / unit)]
    [(out, lse)] = merged(device, case, lse_base=base)
    compare.assert_close(out, np.full(out.shape, 0.8), rtol=1e-6)
    compare.assert_close(lse, np.full(lse.shape, LN(10) / unit), rtol=1e-6)


@pytest.mark.needs("merge")
def test_B2_merge_with_empty_states(device):
    empty, some, other = (0, -INF), (5, 2.0), (3, 1.0)
    cases = [
        [empty, empty],
        [empty, some],
        [some, empty],
        [(np.nan, -INF), some],
        [empty, some, other],
        [some, empty, other],
        [some, other, empty],
        [some, other],
    ]
    got = merged(device, *cases)
    compare.assert_plus_zero(got[0][0])
    compare.assert_minus_inf(got[0][1])
    for out, lse in got[1:4]:
        np.testing.assert_array_equal(out, F32(5))
        np.testing.assert_array_equal(lse, F32(2))
    for out, lse in got[4:7]:
        compare.assert_same_bits(out, got[7][0])
        compare.assert_same_bits(lse, got[7][1])


@pytest.mark.needs("merge")
def test_B3_merge_of_far_apart_and_large_lses(device):
    cases = [
        ([(1, -100), (2, 100)], 2, 100),
        ([(2, 100), (1, -100)], 2, 100),
        ([(1, 1000), (2, 1000)], 1.5, 1000 + LN(2)),
        ([(1, -1000), (3, -1000)], 2, -1000 + LN(2)),
    ]
    got = merged(device, *(c[0] for c in cases))
    for (out, lse), (_, o, s) in zip(got, cases):
        compare.assert_close(out, np.full(out.shape, o), rtol=1e-6)
        compare.assert_close(lse, np.full(lse.shape, s), rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("strided", [0, 1])
@pytest.mark.needs("merge", "strided")
def test_B4_merge_of_inputs_with_different_strides(device, strided):
    h, t, dv = 4, 3, 128
    wide = View(np.full(t * h * 192, np.nan, F32), 0, (t, h, dv), (h * 192, 192, 1))
    wide.read()[...] = np.arange(h)[:, None]
    dense = np.broadcast_to(10 + np.arange(h, dtype=F32)[:, None], (t, h, dv)).copy()
    lse = np.zeros((h, t), F32)
    states = [(wide, lse), (dense, lse)]
    if strided:
        states.reverse()
    merge = Merge(states, {"layout": "thd"}, out=np.full((t, h, dv), np.nan, F32))
    result = run(merge, device)
    expected = np.broadcast_to(5 + np.arange(h)[:, None], (t, h, dv))
    compare.assert_close(result.out, expected, rtol=1e-6)
    compare.assert_close(result.lse, np.full((h, t), LN(2)), rtol=1e-6)


@pytest.mark.needs("merge")
@pytest.mark.parametrize("form", ["memref", "dynamic", "tensor"])
def test_merge_of_many_states(device, form):
    rng = np.random.default_rng(5)
    states = [
        (rng.normal(size=(2, 3, 5, 8)).astype(F32), rng.normal(0, 9, size=(2, 3, 5)).astype(F32))
        for _ in range(5)
    ]
    states[1][1][0, 1] = -INF
    states[1][0][0, 1] = np.nan
    for _, lse in states:
        lse[1, 2, 4] = -INF
    sink = np.array([-1.0, 4.0, -INF], F32)
    variants = [{}, {"sink": sink}, {"lse_base": "two"}, {"sink": sink, "lse_base": "two"}]
    merges = [
        Merge(states, options, dynamic=form == "dynamic", tensors=form == "tensor")
        for options in variants
    ]
    for options, result in zip(variants, run_all(merges, device)):
        broadcast = sink[None, :, None] if "sink" in options else None
        base = options.get("lse_base", "e")
        out, lse = attn_reference.merge_states(states, sink=broadcast, lse_base=base)
        compare.assert_close(result.out, out, rtol=1e-5, atol=1e-6, what=f"{options}: O")
        compare.assert_close(result.lse, lse, rtol=1e-6, atol=1e-6, what=f"{options}: LSE")


def random_states(shape, lse_dims, count, kind="f32", seed=7):
    """`count` states of O [shape], LSE [shape[d] for d in lse_dims]; some are empty."""
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(count):
        out = rng.normal(size=shape).astype(compare.dtype(kind))
        lse = rng.normal(0, 9, size=[shape[d] for d in lse_dims]).astype(F32)
        lse[rng.random(lse.shape) < 0.2] = -INF
        states.append((out, lse))
    return states


def check_merge(result, merge, states, kind, what):
    """Compares with the reference, whose O and LSE rows are in one order."""
    dims = {"bshd": (0, 2, 1), "thd": (1, 0)}.get(merge.options.get("layout"))
    if merge.options.get("lse_layout") == "sh_packed":
        dims = None
    same = [
        (out.astype(F32), lse if dims is None else np.transpose(lse, dims)) for out, lse in states
    ]
    out, lse = attn_reference.merge_states(same)
    compare.assert_close(
        result.out, out, rtol=1e-5, atol=1e-6 + compare.ulp(out, kind), what=f"{what}: O"
    )
    got = result.lse if dims is None else np.transpose(result.lse, dims)
    compare.assert_close(got, lse, rtol=1e-6, atol=1e-6, what=f"{what}: LSE")


# Shape of O, options. Head dims: a vector of columns, ragged lanes, an odd number
# of columns, more than one wave takes at once.
MERGES = {
    "rank 1": ((8,), {}),
    "ragged lanes": ((2, 3, 5, 24), {}),
    "odd columns": ((3, 7), {}),
    "wide": ((5, 1, 520), {}),
    "bshd": ((2, 5, 3, 16), {"layout": "bshd"}),
    "hs_packed": ((9, 3, 32), {"layout": "thd"}),
    "sh_packed": ((9, 3, 32), {"layout": "thd", "lse_layout": "sh_packed"}),
}


@pytest.mark.needs("merge")
def test_merge_of_any_shape_and_type(device, kind):
    """States of every type and f32 stacks of them; static, dynamic and tensors in turn."""
    flags = {"dynamic": kind == "bf16", "tensors": kind == "f32"}
    names, problems = [], []
    for n, (name, (shape, options)) in enumerate(MERGES.items()):
        lse_dims = list(range(len(shape) - 1))
        if options.get("layout") == "bshd":
            lse_dims = [0, 2, 1]
        elif options.get("layout") == "thd" and "lse_layout" not in options:
            lse_dims = [1, 0]
        for count, stacked in ((2, False), (21 if n % 2 else 3, True)):
            if stacked:
                states = random_states(shape, lse_dims, count)
                given = [tuple(np.stack(x) for x in zip(*states))]
                merge = Merge(given, options, out_type=compare.dtype(kind), stacked=True, **flags)
            else:
                given = states = random_states(shape, lse_dims, count, kind)
                merge = Merge(given, options, **flags)
            names.append(f"{name}, {count} states, stacked: {stacked}")
            problems.append((merge, states))
    results = run_all([merge for merge, _ in problems], device)
    for name, (merge, states), result in zip(names, problems, results):
        check_merge(result, merge, states, kind, name)


@pytest.mark.needs("merge")
def test_merge_of_one_row(device, tmp_path):
    """An LSE of rank 0 may come as a file of one element."""
    row, lse = "memref<64xf32>", "memref<f32>"
    (tmp_path / "row.mlir").write_text(f"""
func.func @row(%a: {row} {{attn.name = "a"}}, %x: {lse} {{attn.name = "x"}},
               %b: {row} {{attn.name = "b"}}, %y: {lse} {{attn.name = "y"}},
               %o: {row} {{attn.name = "o"}}, %l: {lse} {{attn.name = "l"}}) {{
  attn.merge_states (%a, %x : {row}, {lse}), (%b, %y : {row}, {lse}) outs(%o, %l : {row}, {lse})
  return
}}""")
    arrays = {"a": np.full(64, 2), "x": LN([3]), "b": np.full(64, 6), "y": LN(1)}
    command = [tool("attn-run"), "row.mlir", *device.arguments]
    for name, x in arrays.items():
        np.save(tmp_path / name, np.asarray(x, F32))
        command += ["--in", f"{name}={name}.npy"]
    command += ["--out", "o=o.npy", "--out", "l=l.npy"]
    subprocess.run(command, check=True, cwd=tmp_path)
    compare.assert_close(np.load(tmp_path / "o.npy"), np.full(64, 3.0), atol=1e-6)
    compare.assert_close(np.load(tmp_path / "l.npy"), np.array(LN(4)), atol=1e-6)


@pytest.mark.needs("merge")
def test_merge_in_place(device, kind):
    states = random_states((2, 3, 5, 40), (0, 1, 2), 3, kind)
    wide = random_states((4, 600), (0,), 2, kind)
    copies = [[(out.copy(), lse.copy()) for out, lse in given] for given in (states, wide)]
    merges = [Merge(given, in_place=True) for given in copies]
    for given, merge, result in zip((states, wide), merges, run_all(merges, device)):
        check_merge(result, merge, given, kind, "in place")


SPLITS = [1, 2, 3, 5, 8, 16, 17]


@pytest.mark.needs("split_kv")
def test_B5_more_splits_than_keys(device, kind):
    problems = [counting(1, 16, kind, num_kv_splits=n) for n in SPLITS]
    problems += [counting(1, n, kind, num_kv_splits=4) for n in (1, 0)]
    *many, one, none = run_all(problems, device)
    for splits, result in zip(SPLITS, many):
        check(result, 7.5, LN(16), exact=True, what=f"{splits} splits: ")
    check(one, 0, 0, exact=True)
    check(none, 0, -INF, exact=True)


@pytest.mark.needs("split_kv")
def test_B5_states_of_unused_splits(device, kind):
    """16 keys take four splits of 17, 130 keys three of 36 and one of the rest."""
    many = counting(1, 16, kind, num_kv_splits=17)
    few = counting(3, 130, kind, num_kv_splits=4)
    states = [Problem(p.q, p.k, p.v, p.options, states=True) for p in (many, few)]
    result, ragged = run_all(states, device)
    used = np.arange(17) < 4
    rows = np.where(used, 4 * np.arange(17) + 1.5, 0)[:, None, None, None]
    check(result, rows, np.where(used, LN(4), -INF)[:, None, None, None], exact=True)
    begin, end = np.array([(0, 36), (36, 72), (72, 108), (108, 130)]).T[..., None, None, None]
    check(ragged, (begin + end - 1) / 2, LN(end - begin), exact=True)


@pytest.mark.needs("kv_split")
def test_B5_state_of_one_split(device, kind):
    """Of 16 keys in splits of 8: two, and none where there is no such split."""
    numbers = [0, 1, 2, 3, -1, 2**32]
    one, whole = (counting(1, 16, kind, num_kv_splits=n) for n in (3, 2))
    problems = [p.with_options(kv_split=n) for p in (one, whole) for n in numbers]
    problems[1].dynamic = True
    for n, result in zip(2 * numbers, run_all(problems, device)):
        mean, lse = (8 * n + 3.5, LN(8)) if n in (0, 1) else (0, -INF)
        check(result, mean, lse, exact=True, what=f"split {n}: ")


@pytest.mark.kinds("bf16")
@pytest.mark.needs("kv_split", "window", "bias_mask", "gqa", "decode")
def test_B5_one_state_equals_that_among_all(device, kind):
    rng = np.random.default_rng(6)
    shapes = (1, 4, 5, 64), (1, 2, 700, 64), (1, 2, 700, 64)
    arrays = [rng.normal(size=shape).astype(compare.dtype(kind)) for shape in shapes]
    options = {"num_kv_splits": 4, "causal": True, "window_left": 400, "sink_tokens": 9}
    options["bias"] = rng.normal(size=(1, 4, 5, 700)).astype(np.float32)
    every = Problem(*arrays, options, states=True)
    each = [Problem(*arrays, {**options, "kv_split": n}, out_type=np.float32) for n in range(4)]
    result, *parts = run_all([every, *each], device)
    for n, part in enumerate(parts):
        np.testing.assert_array_equal(part.out, result.out[n])
        np.testing.assert_array_equal(part.lse, result.lse[n])


@pytest.mark.needs("split_kv", "causal")
def test_B5_states_of_splits_that_are_empty_for_some_rows(device, kind):
    whole = counting(8, 8, kind, causal=True, num_kv_splits=2)
    flags = {"dynamic": kind == "bf16", "tensors": kind == "f32"}
    states = Problem(whole.q, whole.k, whole.v, whole.options, states=True, **flags)
    plain = Problem(whole.q, whole.k, whole.v, whole.options, **flags)
    parts, split = run_all([states, plain], device)
    i = np.arange(8)
    low = np.minimum(i, 3) / 2, LN(np.minimum(i + 1, 4))
    with np.errstate(divide="ignore"):
        high = np.where(i < 4, 0, (4 + np.maximum(i, 4)) / 2), LN(np.maximum(i - 3, 0))
    expected = [np.stack(x)[:, None, None] for x in zip(low, high)]
    check(parts, *expected, exact=True)
    check(split, i / 2, LN(i + 1), exact=True)


@pytest.mark.slow
@pytest.mark.needs("split_kv", "causal", "gqa")
def test_splits_of_many_tiles(device, kind):
    """Ranges of whole tiles and a ragged end, causal rows that miss late splits."""
    rng = np.random.default_rng(3)
    shapes = (2, 4, 70, 64), (2, 2, 700, 64), (2, 1, 700, 72)
    q, k, v = (rng.normal(size=shape).astype(compare.dtype(kind)) for shape in shapes)
    problems = [
        Problem(q, k, v, {"num_kv_splits": 3}),
        Problem(q, k, v, {"num_kv_splits": 0}),
        Problem(q, k, v, {"num_kv_splits": 8, "causal": True}),
    ]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{problem.options}: ")


@pytest.mark.kinds("f16")
@pytest.mark.needs("split_kv", "window")
def test_splits_that_a_window_leaves_empty(device, kind):
    # Chips choose twelve splits here, of which the window leaves two and the sink token one.
    rng = np.random.default_rng(4)
    q, k, v = (rng.normal(size=(1, 1, n, 64)).astype(np.float16) for n in (5, 3200, 3200))
    options = {"num_kv_splits": 0, "causal": True, "window_left": 519, "sink_tokens": 1}
    problem = Problem(q, k, v, options)
    assert_matches(run(problem, device), problem)


@pytest.mark.needs("split_kv", "offsets", "causal", "merge")
def test_B5_splits_that_are_empty_for_some_rows(device, kind):
    whole = counting(8, 8, kind, causal=True)
    parts = []
    for begin in (0, 4):
        offsets = {"causal": True, "kv_offset": begin, "q_offset": 0}
        k, v = (x[:, :, begin : begin + 4].copy() for x in (whole.k, whole.v))
        parts.append(Problem(whole.q, k, v, offsets))
    low, high, split = run_all([*parts, counting(8, 8, kind, causal=True, num_kv_splits=2)], device)
    i = np.arange(8)
    check(low, np.minimum(i, 3) / 2, LN(np.minimum(i + 1, 4)), exact=True)
    expected = np.where(i < 4, 0, (4 + np.maximum(i, 4)) / 2)
    with np.errstate(divide="ignore"):
        check(high, expected, LN(np.maximum(i - 3, 0)), exact=True)
    check(split, i / 2, LN(i + 1), exact=True)
    states = [(r.out.astype(F32), r.lse) for r in (low, high)]
    check(run(Merge(states), device), i / 2, LN(i + 1), exact=False)


@pytest.mark.parametrize("sq", [1, 2])
@pytest.mark.needs("gqa")
def test_B8_every_head_of_a_group_writes_its_lse(device, kind, sq):
    q = first(np.repeat(np.arange(8)[None, :, None], sq, axis=2), kind, 128)
    k = first(np.ones((1, 2, 300)), kind, 128)
    v = spread(np.ones((1, 2, 300)), kind, 128)
    lse = np.full((1, 8, sq), -7777, F32)
    result = run(Problem(q, k, v, {"scale": 1.0}, lse=lse), device)
    check(result, 1, np.arange(8)[None, :, None] + LN(300))


def packed_scores(kind):
    """q_lens [3, 1, 4], two heads, five keys each; row t of head h scores 10h + t."""
    scores = 10 * np.arange(2)[None, :] + np.arange(8)[:, None]
    q = first(scores, kind)
    k = first(np.ones((15, 2)), kind)
    v = spread(np.ones((15, 2)), kind)
    options = {
        "layout": "thd",
        "scale": 1.0,
        "cu_seqlens_q": np.cumsum([0, 3, 1, 4]),
        "cu_seqlens_kv": np.array([0, 5, 10, 15]),
    }
    return q, k, v, options, scores.T + LN(5)


@pytest.mark.parametrize("strides", [(11, 1), (1, 2)], ids=["gap", "transposed"])
@pytest.mark.needs("thd", "strided")
def test_B9_lse_goes_where_its_strides_say(device, kind, strides):
    q, k, v, options, expected = packed_scores(kind)
    lse = View(np.full(22, -7777, F32), 0, (2, 8), strides)
    result = run(Problem(q, k, v, options, lse=lse), device)
    check(result, 1, expected)
    written = View(np.zeros(22, bool), 0, (2, 8), strides)
    written.read()[...] = True
    np.testing.assert_array_equal(result.lse_buffer[~written.base], -7777)


@pytest.mark.needs("thd")
def test_B9_lse_layouts(device, kind):
    q, k, v, options, expected = packed_scores(kind)
    layouts = ("hs_packed", "sh_packed", "bhs_padded")
    hs, sh, padded = run_all(
        [Problem(q, k, v, {**options, "lse_layout": name}) for name in layouts], device
    )
    check(hs, 1, expected)
    check(sh, 1, expected.T)
    rows = np.full((3, 2, 4), -INF)
    for b, (begin, end) in enumerate([(0, 3), (3, 4), (4, 8)]):
        rows[b, :, : end - begin] = expected[:, begin:end]
    check(padded, 1, rows)


@pytest.mark.needs("offset")
def test_B9_nothing_is_written_behind_the_lse(device, kind):
    problem = counting(33, 5, kind)
    lse = View(np.full(64, -7777, F32), 0, (1, 1, 33), (33, 33, 1))
    result = run(Problem(problem.q, problem.k, problem.v, lse=lse), device)
    check(result, 2, LN(5))
    np.testing.assert_array_equal(result.lse_buffer[33:], -7777)


@pytest.mark.parametrize("hq, hk", [(4, 2), (48, 2), (28, 4), (12, 12)])
@pytest.mark.needs("gqa")
def test_B11_heads_map_to_groups_in_order(device, kind, hq, hk):
    q = first(np.ones((1, hq, 1)), kind)
    k = first(np.repeat(np.arange(hk)[None, :, None], 16, axis=2), kind)
    v = spread(np.repeat(np.arange(hk)[None, :, None], 16, axis=2), kind)
    result = run(Problem(q, k, v, {"scale": 1.0}), device)
    group = (np.arange(hq) // (hq // hk))[None, :, None]
    check(result, group, group + LN(16), exact=True)


@pytest.mark.needs("gqa")
def test_B11_key_and_value_heads_may_differ(device, kind):
    q = first(np.ones((1, 12, 3)), kind)
    k = first(np.repeat(np.arange(2)[None, :, None], 16, axis=2), kind)
    v = spread(np.repeat(np.arange(6)[None, :, None], 16, axis=2), kind)
    result = run(Problem(q, k, v, {"scale": 1.0}), device)
    h = np.arange(12)[None, :, None]
    check(result, h // 2, h // 6 + LN(16), exact=True)
