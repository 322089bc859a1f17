"""The reference against values worked out by hand, and the comparer (case G2)."""

import attn_reference as ref
import compare
import ml_dtypes
import numpy as np
import pytest

LN = np.log
INF = np.inf


def counting(sq, skv, h=1, d=4, **options):
    """Q = 0 and V[j] = j: O is the mean visible index, LSE = ln(visible count)."""
    v = np.broadcast_to(np.arange(skv, dtype=float)[:, None], (1, h, skv, d))
    out, lse = ref.attention(np.zeros((1, h, sq, d)), np.ones((1, h, skv, d)), v, **options)
    return out[0, :, :, 0], lse[0]


def counts(sq, skv, **options):
    lse = counting(sq, skv, **options)[1][0]
    return np.rint(np.exp(lse)).astype(int).tolist()


def test_causal_alignments():
    out, lse = counting(2, 5, causal=True)
    np.testing.assert_allclose(out[0], [1.5, 2.0])
    np.testing.assert_allclose(lse[0], LN([4, 5]))
    out, lse = counting(2, 5, causal=True, diagonal_alignment="top_left")
    np.testing.assert_allclose(out[0], [0.0, 0.5])
    np.testing.assert_allclose(lse[0], LN([1, 2]))


def test_causal_rows_without_keys():
    out, lse = counting(6, 4, causal=True)
    np.testing.assert_array_equal(out[0, :2], 0)
    assert (lse[0, :2] == -INF).all()
    np.testing.assert_allclose(out[0, 2:], [0, 0.5, 1, 1.5])


def test_windows():
    assert counts(6, 6, window_left=2, window_right=0) == [1, 2, 3, 3, 3, 3]
    assert counts(6, 6, window_left=2, window_right=0, causal=True) == [1, 2, 3, 3, 3, 3]
    assert counts(6, 6, window_left=2) == [6, 6, 6, 5, 4, 3]
    assert counts(5, 3, window_right=2147483647) == [3] * 5
    assert counts(5, 3, window_right=3) == [2, 3, 3, 3, 3]
    assert counts(4, 4, window_left=0, window_right=0) == [1, 1, 1, 1]


def test_sink_tokens_stay_visible():
    assert counts(6, 6, window_left=1, causal=True, sink_tokens=2) == [1, 2, 3, 4, 4, 4]


def test_offsets_place_the_diagonal():
    assert counts(2, 8, causal=True, q_offset=3) == [4, 5]
    assert counts(2, 8, causal=True, q_offset=5, kv_offset=3) == [3, 4]


@pytest.mark.parametrize(
    "options",
    [{"mask": np.zeros((1, 2))}, {"bias": np.full((1, 2), -INF)}, {"window_left": 0, "q_offset": 9}],
)
def test_rows_without_a_key(options):
    out, lse = counting(1, 2, **options)
    assert out[0, 0] == 0 and lse[0, 0] == -INF


def test_no_keys_at_all():
    out, lse = ref.attention(np.ones((1, 1, 3, 4)), np.ones((1, 1, 0, 4)), np.ones((1, 1, 0, 2)))
    assert out.shape == (1, 1, 3, 2) and (out == 0).all() and (lse == -INF).all()


def test_sink_logit():
    out, lse = counting(1, 2, sink=[1.0])  # scores 0, 0; exp(1) joins the sum
    np.testing.assert_allclose(lse[0, 0], LN(2 + np.e))
    np.testing.assert_allclose(out[0, 0], 1 / (2 + np.e))
    out, lse = counting(1, 2, sink=[3.0], mask=np.zeros((1, 2)))
    assert out[0, 0] == 0 and lse[0, 0] == 3
    plain, none = counting(1, 2), counting(1, 2, sink=[-INF])
    np.testing.assert_array_equal(plain, none)


def test_nan_and_infinity():
    k = np.ones((1, 1, 3, 4))
    k[0, 0, 1] = np.nan
    out, lse = ref.attention(np.ones((1, 1, 3, 4)), k, np.ones((1, 1, 3, 2)), causal=True)
    assert lse[0, 0, 0] == 2 and np.isnan(lse[0, 0, 1:]).all() and np.isnan(out[0, 0, 1:]).all()
    k[0, 0, 1] = np.inf
    out, lse = ref.attention(np.ones((1, 1, 3, 4)), k, np.ones((1, 1, 3, 2)), causal=True)
    assert np.isnan(lse[0, 0, 1:]).all()
    v = np.ones((1, 1, 3, 2))
    v[0, 0, 2] = np.nan
    out, _ = ref.attention(np.ones((1, 1, 3, 4)), np.ones((1, 1, 3, 4)), v, causal=True)
    assert (out[0, 0, :2] == 1).all() and np.isnan(out[0, 0, 2]).all()


def test_softcap_and_scale_order():
    # Score 0.5 * 8 = 4, capped, then the bias, which neither touches.
    out, lse = ref.attention(
        np.full((1, 1, 1, 1), 8.0),
        np.ones((1, 1, 1, 1)),
        np.ones((1, 1, 1, 1)),
        scale=0.5,
        softcap=2.0,
        bias=[[10.0]],
    )
    np.testing.assert_allclose(lse[0, 0, 0], 2 * np.tanh(2.0) + 10)


def test_alibi_uses_the_diagonal():
    out, lse = counting(1, 3, alibi_slopes=[1.0])  # off = 2: distances 2, 1, 0
    np.testing.assert_allclose(lse[0, 0], LN(np.exp(-2) + np.exp(-1) + 1))
    out, lse = counting(1, 3, alibi_slopes=[[1.0]], diagonal_alignment="top_left")
    np.testing.assert_allclose(lse[0, 0], LN(np.exp(-2) + np.exp(-1) + 1))


def test_heads_of_key_and_value_differ():
    q = np.ones((1, 8, 1, 1))
    k = np.arange(2.0).reshape(1, 2, 1, 1)
    v = np.arange(4.0).reshape(1, 4, 1, 1)
    out, lse = ref.attention(q, k, v, scale=1.0)
    assert lse[0, :, 0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert out[0, :, 0, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_layouts_agree():
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=(2, h, s, 8)) for h, s in ((4, 5), (2, 7), (4, 7)))
    out, lse = ref.attention(q, k, v, causal=True)
    swapped = [x.transpose(0, 2, 1, 3) for x in (q, k, v)]
    out2, lse2 = ref.attention(*swapped, causal=True, layout="bshd")
    np.testing.assert_array_equal(out2.transpose(0, 2, 1, 3), out)
    np.testing.assert_array_equal(lse2, lse)
    packed = [x.reshape(-1, *x.shape[2:]) for x in swapped]
    out3, lse3 = ref.attention(
        *packed, causal=True, layout="thd", cu_seqlens_q=[0, 5, 10], cu_seqlens_kv=[0, 7, 14]
    )
    np.testing.assert_array_equal(out3.reshape(out2.shape), out2)
    np.testing.assert_array_equal(lse3, np.concatenate(list(lse), axis=1))
    sh = ref.attention(
        *packed,
        causal=True,
        layout="thd",
        cu_seqlens_q=[0, 5, 10],
        cu_seqlens_kv=[0, 7, 14],
        lse_layout="sh_packed",
    )[1]
    np.testing.assert_array_equal(sh, lse3.T)


def test_padded_batch_is_neutral_beyond_its_length():
    rng = np.random.default_rng(2)
    q, k, v = (rng.normal(size=(2, 1, 4, 8)) for _ in range(3))
    k[0, 0, 2:] = v[0, 0, 2:] = np.nan
    out, lse = ref.attention(q, k, v, seqlens_q=[3, 4], seqlens_kv=[2, 4], causal=True)
    short = ref.attention(q[:1, :, :3], k[:1, :, :2], v[:1, :, :2], causal=True)
    np.testing.assert_array_equal(out[0, :, :3], short[0][0])
    np.testing.assert_array_equal(lse[0, :, :3], short[1][0])
    assert (out[0, 0, 3] == 0).all() and lse[0, 0, 3] == -INF


def test_padded_lse_of_packed_sequences():
    _, lse = ref.attention(
        np.zeros((3, 1, 2)),
        np.zeros((3, 1, 2)),
        np.zeros((3, 1, 2)),
        layout="thd",
        cu_seqlens_q=[0, 1, 3],
        cu_seqlens_kv=[0, 1, 3],
        lse_layout="bhs_padded",
        max_seqlen_q=4,
    )
    assert lse.shape == (2, 1, 4)
    np.testing.assert_allclose(lse[0, 0], [0, -INF, -INF, -INF])
    np.testing.assert_allclose(lse[1, 0], [LN(2), LN(2), -INF, -INF])


def test_packed_rows_over_pages_equal_packed_keys():
    rng = np.random.default_rng(4)
    q, k, v = (rng.normal(size=(n, 2, 8)) for n in (7, 9, 9))
    pools = []
    for x in (k, v):
        pool = np.full((4, 4, 2, 8), np.nan)
        pool[2], pool[0, :1], pool[3] = x[:4], x[4:5], x[5:]
        pools.append(pool)
    options = {"layout": "thd", "cu_seqlens_q": [0, 4, 7], "causal": True}
    pages = {"block_table": np.array([[2, 0], [3, -1]]), "seqlens_kv": [5, 4]}
    got = ref.attention(q, *pools, **options, **pages)
    expected = ref.attention(q, k, v, **options, cu_seqlens_kv=[0, 5, 9])
    for x, y in zip(got, expected):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("layout", ["bhsd", "bshd"])
def test_pages_equal_contiguous_keys(layout):
    rng = np.random.default_rng(3)
    q = rng.normal(size=(2, 2, 3, 8))
    k, v = (rng.normal(size=(2, 2, 12, 8)) for _ in range(2))
    table = np.array([[4, 1, -1], [0, 5, 2]])
    pools = []
    for x in (k, v):
        pool = np.full((6, 2, 4, 8), np.nan)
        for b, pages in enumerate(table):
            for p, page in enumerate(pages):
                if page >= 0:
                    pool[page] = x[b, :, 4 * p : 4 * p + 4]
        pools.append(pool)
    lens = [7, 11]
    expected = ref.attention(q, k, v, seqlens_kv=lens, causal=True)
    if layout == "bshd":
        q, *pools = (x.transpose(0, 2, 1, 3) for x in (q, *pools))
    out, lse = ref.attention(
        q, *pools, seqlens_kv=lens, causal=True, block_table=table, layout=layout
    )
    out = out.transpose(0, 2, 1, 3) if layout == "bshd" else out
    np.testing.assert_array_equal(out, expected[0])
    np.testing.assert_array_equal(lse, expected[1])


def test_base_two():
    _, lse = counting(1, 8, lse_base="two")
    np.testing.assert_allclose(lse[0, 0], 3.0)
    out, lse = ref.merge_states([([0.0], 1.0), ([1.0], 3.0)], lse_base="two")
    np.testing.assert_allclose([out[0], lse], [0.8, np.log2(10)])


def test_merge_equals_the_whole():
    rng = np.random.default_rng(4)
    q, k, v = (rng.normal(size=(1, 2, s, 8)) for s in (5, 9, 9))
    whole = ref.attention(q, k, v, causal=True, sink=[0.5, -1.0])
    parts = [
        ref.attention(q, k, v, causal=True, key_range=r) for r in ((0, 4), (4, 4), (4, 9))
    ]
    out, lse = ref.merge_states(parts, sink=np.array([[0.5], [-1.0]]))
    np.testing.assert_allclose(out, whole[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(lse, whole[1], rtol=1e-12)


def test_merge_of_empty_states():
    empty, some = ([0.0], -INF), ([5.0], 2.0)
    out, lse = ref.merge_states([empty, empty])
    assert out[0] == 0 and lse == -INF
    for states in ([empty, some], [some, empty], [([np.nan], -INF), some]):
        out, lse = ref.merge_states(states)
        assert out[0] == 5 and lse == 2
    out, lse = ref.merge_states([empty], sink=1.5)
    assert out[0] == 0 and lse == 1.5


@pytest.mark.parametrize(
    "expected, actual",
    [(np.nan, 1.0), (1.0, np.nan), (-INF, -3e38), (-INF, np.nan), (INF, -INF), (1.0, INF)],
)
def test_G2_comparer_sees_nan_and_infinity(expected, actual):
    with pytest.raises(AssertionError):
        compare.assert_close([0.0, actual], [0.0, expected], atol=1e30, rtol=1e30)


def test_G2_comparer_lets_minus_zero_pass():
    compare.assert_close([-0.0], [0.0])
    compare.assert_close([np.nan, -INF], [np.nan, -INF])


def test_G2_comparer_checks_shape_and_tolerance():
    with pytest.raises(AssertionError, match="shape"):
        compare.assert_close([1.0], [[1.0]])
    with pytest.raises(AssertionError, match="1 of 2 elements differ; at \\(1,\\)"):
        compare.assert_close([1.0, 1.2], [1.0, 1.0], atol=0.1)
    with pytest.raises(AssertionError):
        compare.assert_plus_zero(np.float32([-0.0]))
    with pytest.raises(AssertionError):
        compare.assert_minus_inf(np.float32([-3.4e38]))
    compare.assert_minus_inf(np.float32([-INF]))


def test_G2_reference_of_a_window_that_excludes_every_key():
    # rocMLIR's sweep failed on the NaN of its own reference here.
    out, lse = counting(1, 2, window_left=0, window_right=0, q_offset=2)
    assert out[0, 0] == 0 and lse[0, 0] == -INF


def test_ulp():
    assert compare.ulp(1.0, "f32") == 2.0**-23
    assert compare.ulp(1.5, "bf16") == 2.0**-7
    assert compare.ulp(0.0, "f16") == 2.0**-24
    x = np.array([1.0], ml_dtypes.bfloat16)
    assert compare.bits(x)[0] == 0x3F80
