"""Decode: the rows of heads that share keys in one tile.

Row r of such a tile is row r // G of head r % G, so what is the head's and what
is the row's must each come out right for every row.
"""

import compare
import numpy as np
import pytest
import random_problems
from attn_program import Problem, View, assert_matches, run, run_all
from cases import INF, LN, check, first, spread
from devices import DEVICES

# Groups of 4, 8, 5 and, of two numbers of heads, 3; Hk != Hv without a common one.
LEVELS = {
    "heads": ((8, 2, 2), (8, 1, 1), (10, 2, 2), (12, 4, 2), (6, 2, 3)),
    "dims": ((64, 64), (40, 24), (128, 72), (192, 136)),
    "lengths": ((4, 150), (1, 77), (2, 64), (16, 130), (13, 5)),
    "form": ("memref", "tensor", "dynamic rows", "strided"),
}
BATCH = 6
GPUS = [device for device in DEVICES if device.is_gpu]  # elsewhere heads are never packed


def matrix_of(device):
    features = random_problems.features_of(device)
    kinds = tuple(kind for kind in features["kind"] if kind != "f64")
    features.update({name: x for name, x in LEVELS.items() if features.get(name)}, kind=kinds)
    return random_problems.pairwise(features, seed=1)


def batches():
    for device in GPUS:
        matrix = matrix_of(device)
        for start in range(0, len(matrix), BATCH):
            yield pytest.param(
                device, start, matrix[start : start + BATCH], id=f"{device}-{start}"
            )


@pytest.mark.parametrize("device, start, choices", batches())
def test_every_pair_of_features(device, start, choices):
    problems = [random_problems.make(c, start + n) for n, c in enumerate(choices)]
    for n, (choice, problem, result) in enumerate(zip(choices, problems, run_all(problems, device))):
        what = f"seed {start + n}, {random_problems.describe(choice)}: "
        assert_matches(result, problem, what=what)


def counting(kind, heads, sq, skv, d=64, **options):
    """V[j] = j and scores of 0: O is the mean visible index, LSE = ln(count)."""
    hq, hkv = heads
    q = np.zeros((1, hq, sq, d), compare.dtype(kind))
    k = np.zeros((1, hkv, skv, d), q.dtype)
    v = spread(np.broadcast_to(np.arange(skv), (1, hkv, skv)), kind, d)
    return Problem(q, k, v, options)


@pytest.mark.parametrize("device", GPUS, ids=str)
@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.needs("gqa", "causal", "window", "offsets", "split_kv")
def test_every_row_has_its_own_place_on_the_diagonal(device, kind):
    table = [
        ((8, 2), 5, 90, {"causal": True}, lambda i: (0, i + 86)),
        ((6, 2), 16, 70, {"causal": True, "num_kv_splits": 2}, lambda i: (0, i + 55)),
        ((8, 1), 7, 7, {"causal": True, "diagonal_alignment": "top_left"}, lambda i: (0, i + 1)),
        ((10, 2), 6, 80, {"window_left": 3, "window_right": 1}, lambda i: (i + 71, i + 76)),
        ((40, 1), 9, 70, {"causal": True, "q_offset": 12}, lambda i: (0, i + 13)),
        ((4, 2), 100, 150, {"window_left": 70, "causal": True}, lambda i: (i - 20, i + 51)),
    ]
    problems = [counting(kind, *shape, **options) for *shape, options, _ in table]
    for (heads, sq, skv, options, seen), result in zip(table, run_all(problems, device)):
        begin, end = (np.clip(np.broadcast_to(x, sq), 0, skv) for x in seen(np.arange(sq)))
        what = f"{heads} {sq}x{skv} {options}: "
        check(result, (begin + end - 1) / 2, LN(end - begin), exact=True, what=what)


@pytest.mark.parametrize("device", GPUS, ids=str)
@pytest.mark.needs("gqa", "bias_mask")
def test_bias_of_a_group_that_waves_divide(device):
    """The second wave begins with a row's last head, and rows are farther apart than heads."""
    rng = np.random.default_rng(8)
    q, k, v, bias = (
        rng.standard_normal(shape).astype(np.float16)
        for shape in ((1, 6, 30, 64), (1, 2, 70, 64), (1, 2, 70, 64), (30, 6, 70))
    )
    bias = View(bias.reshape(-1), 0, (6, 30, 70), (70, 420, 1))
    problem = Problem(q, k, v, {"bias": bias})
    assert_matches(run(problem, device), problem)


@pytest.mark.kinds("bf16")
@pytest.mark.needs("gqa", "causal", "padded")
def test_lse_changes_no_bit_of_packed_rows(device, kind):
    rng = np.random.default_rng(4)
    q, k, v = (
        rng.standard_normal(shape).astype(compare.dtype(kind))
        for shape in ((2, 12, 5, 64), (2, 2, 200, 64), (2, 2, 200, 64))
    )
    options = {"causal": True, "seqlens_q": np.array([5, 2]), "seqlens_kv": np.array([200, 130])}
    both, alone = run_all([Problem(q, k, v, options), Problem(q, k, v, options, lse=False)], device)
    compare.assert_same_bits(both.out, alone.out)


@pytest.mark.kinds("bf16")
@pytest.mark.needs("gqa", "thd", "padded")
def test_rows_that_do_not_take_part_change_no_bit(device, kind):
    """What a tile holds beside its rows: rows of the next sequence, pad rows, none."""
    rng = np.random.default_rng(6)
    q, k, v = (
        rng.standard_normal(shape).astype(compare.dtype(kind))
        for shape in ((9, 6, 64), (150, 2, 64), (150, 2, 64))
    )
    packed = {
        "layout": "thd",
        "cu_seqlens_q": np.array([0, 3, 9, 9]),
        "cu_seqlens_kv": np.array([0, 70, 140, 150]),
    }
    poisoned = q.copy()
    poisoned[3:] = np.nan
    padded = [x.swapaxes(0, 1)[None] for x in (q, k, v)]
    padded[0] = np.concatenate([padded[0]] * 2, axis=0)
    padded[1:] = (np.concatenate([x] * 2, axis=0) for x in padded[1:])
    lengths = {"seqlens_q": np.array([3, 0])}
    large = padded[0].copy()
    large[:, :, 3:] = 100
    one, other, few, same = run_all(
        [
            Problem(q, k, v, packed),
            Problem(poisoned, k, v, packed),
            Problem(*padded, lengths),
            Problem(large, *padded[1:], lengths),
        ],
        device,
    )
    compare.assert_same_bits(one.out[:3], other.out[:3])
    compare.assert_same_bits(one.lse[:, :3], other.lse[:, :3])
    compare.assert_same_bits(few.out, same.out)
    compare.assert_same_bits(few.lse, same.lse)
    compare.assert_plus_zero(few.out[:, :, 3:])


@pytest.mark.kinds("f16")
@pytest.mark.needs("gqa", "thd", "split_kv")
def test_states_of_packed_sequences_with_padded_lse(device, kind):
    q = first(np.zeros((7, 6)), kind)
    k = first(np.zeros((150, 2)), kind)
    v = spread(np.broadcast_to(np.arange(150) % 75, (2, 150)).T, kind)
    options = {
        "layout": "thd",
        "lse_layout": "bhs_padded",
        "cu_seqlens_q": np.array([0, 2, 2, 7]),
        "cu_seqlens_kv": np.array([0, 75, 75, 150]),
        "num_kv_splits": 2,
    }
    result = run(Problem(q, k, v, options, states=True), device)
    begin, end = np.array([(0, 40), (40, 75)]).T
    rows = np.arange(5) < np.array([2, 0, 5])[:, None]
    lse = np.where(rows[None, :, None], LN(end - begin)[:, None, None, None], -INF)
    check(result, ((begin + end - 1) / 2)[:, None, None], lse, exact=True)


@pytest.mark.parametrize("device", GPUS, ids=str)
@pytest.mark.needs("gqa", "thd", "causal")
def test_packed_sequences_of_several_tiles(device):
    """480, 8 and 800 rows of 8 heads; pad rows of LSE that fill tiles of their own."""
    rng = np.random.default_rng(9)
    q, k, v = (
        rng.standard_normal(shape).astype(np.float16)
        for shape in ((161, 8, 32), (60, 1, 32), (60, 1, 32))
    )
    options = {
        "layout": "thd",
        "lse_layout": "bhs_padded",
        "cu_seqlens_q": np.array([0, 60, 61, 161]),
        "cu_seqlens_kv": np.array([0, 20, 21, 60]),
        "causal": True,
    }
    problem = Problem(q, k, v, options, lse=np.full((3, 8, 170), np.nan, np.float32))
    assert_matches(run(problem, device), problem)
