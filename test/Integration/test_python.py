"""attn_mlir on NumPy arrays: results, outputs, caching, errors."""

import attn_mlir
import attn_reference
import compare
import ml_dtypes
import numpy as np
import pytest
from attn_mlir import _program
from attn_mlir._arrays import Numpy

RNG = np.random.default_rng(7)
BF16 = ml_dtypes.bfloat16


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def inputs(layout="bhsd", sq=9, skv=13, dtype=np.float32, hq=4, hk=2, d=16):
    """q, k, v of two sequences."""
    if layout == "bhsd":
        shapes = [(2, hq, sq, d), (2, hk, skv, d), (2, hk, skv, d)]
    elif layout == "bshd":
        shapes = [(2, sq, hq, d), (2, skv, hk, d), (2, skv, hk, d)]
    else:
        shapes = [(sq, hq, d), (skv, hk, d), (skv, hk, d)]
    return [normal(*shape, dtype=dtype) for shape in shapes]


def check(arrays, options, **where):
    """attention against the reference, with and without LSE."""
    out, lse = attn_mlir.attention(*arrays, return_lse=True, **options, **where)
    alone = attn_mlir.attention(*arrays, **options, **where)
    compare.assert_same_bits(alone, out, "O without LSE")
    renamed = {"diagonal": "diagonal_alignment"}
    given = {renamed.get(name, name): value for name, value in options.items()}
    given.pop("num_kv_splits", None)
    if "window" in given:
        given["window_left"], given["window_right"] = given.pop("window")
    expected_out, expected_lse = attn_reference.attention(*arrays, **given)
    kind = _kind(arrays[0])
    top = np.abs(arrays[2].astype(np.float64)).max(initial=0)
    rounding = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 1e-5, "f64": 1e-6}[kind] * top
    compare.assert_close(out, expected_out, atol=compare.ulp(expected_out, kind) + rounding, what="O")
    bound = np.where(np.isfinite(expected_lse), 2e-5 * np.maximum(1, np.abs(expected_lse)), 0)
    compare.assert_close(lse, expected_lse, atol=bound, what="LSE")
    return out, lse


def _kind(array):
    return {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}[
        array.dtype.name
    ]


CASES = {
    "causal": {"causal": True},
    "top left": {"causal": True, "diagonal": "top_left"},
    "window": {"window": (3, 1), "sink_tokens": 2},
    "bias": {"bias": normal(1, 4, 9, 13), "mask": RNG.random((9, 13)) > 0.4},
    "row bias": {"bias": normal(1, 1, 1, 13, dtype=np.float16)},
    "alibi": {"alibi_slopes": np.array([0.5, 0.25, 0.125, 1], np.float32), "sink": normal(4)},
    "scores": {"scale": -0.3, "softcap": 2.5, "lse_base": "two"},
    "lengths": {"seqlens_q": [9, 4], "seqlens_kv": np.array([0, 11]), "causal": True},
    "offsets": {"causal": True, "q_offset": 3, "kv_offset": np.array([1, 2], np.int32)},
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_features(options):
    check(inputs(), options)


@pytest.fixture
def optimized(monkeypatch):
    """Compiles as a user's program does."""
    monkeypatch.setenv("ATTN_OPT_LEVEL", "3")


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float64])
def test_element_types(dtype):
    check(inputs(dtype=dtype), {"causal": True})


@pytest.mark.slow
def test_optimized_code_for_the_cpu(optimized):
    check(inputs(dtype=BF16), {"causal": True})


def test_layouts():
    check(inputs("bshd"), {"layout": "bshd"})
    packed = {"layout": "thd", "cu_seqlens_q": [0, 4, 4, 9], "cu_seqlens_kv": [0, 5, 7, 13]}
    for lse_layout in ("hs_packed", "sh_packed"):
        check(inputs("thd"), {**packed, "lse_layout": lse_layout})
    check(inputs("thd"), {**packed, "lse_layout": "bhs_padded", "max_seqlen_q": 6})


def paged_inputs():
    """Packed rows of three sequences, and pools of five pages of 16 keys."""
    q, k, v = normal(9, 4, 16), normal(5, 16, 2, 16), normal(5, 16, 2, 16)
    options = {"layout": "thd", "cu_seqlens_q": [0, 4, 4, 9], "seqlens_kv": [20, 3, 32]}
    options["block_table"] = np.array([[4, 0, -1], [1, -1, -1], [2, 3, -1]])
    return (q, k, v), options


@pytest.mark.parametrize("name", ["cpu", "emulator"])
def test_packed_rows_and_paged_keys(name):
    arrays, options = paged_inputs()
    check(arrays, {**options, "causal": True}, device=name)
    # Padded keys are a pool with a page a sequence.
    pages = {"seqlens_kv": [0, 16, 9], "block_table": np.arange(3)[:, None]}
    lse = {"lse_layout": "bhs_padded", "max_seqlen_q": 6}
    check((arrays[0], *(x[:3] for x in arrays[1:])), {**options, **pages, **lse}, device=name)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"cu_seqlens_kv": [0, 20, 23, 55]}, "cu_seqlens_kv: expects None with block_table, whose lengths"),
        ({"cu_seqlens_q": None}, "cu_seqlens_q: expects numbers with layout 'thd', got None"),
        ({"seqlens_kv": None}, "seqlens_kv: expects lengths with block_table, got None"),
        ({"seqlens_kv": [20, 3]}, "seqlens_kv: expects shape [B] with B = 3 as in cu_seqlens_q, got [2]"),
        ({"seqlens_q": [4, 0, 5]}, "seqlens_q: expects cu_seqlens_q with layout 'thd', got lengths"),
        ({"block_table": np.zeros((2, 2), int)}, "block_table: expects shape [B, table] with B = 3"),
        ({"seqlens_kv": [33, 3, 32]}, "buffer 'block_table': expects element 2 to be a page, 0 to 4"),
        ({"k": normal(80, 2, 16)}, "k: expects shape [pages, page, Hk, D], got [80, 2, 16]"),
        ({"block_table": None}, "cu_seqlens_kv: expects numbers with layout 'thd', got None"),
    ],
    ids=lambda x: "",
)
def test_errors_of_packed_rows_and_paged_keys(changes, message):
    (q, k, v), options = paged_inputs()
    with pytest.raises(ValueError) as caught:
        attn_mlir.attention(**{"q": q, "k": k, "v": v, **options, **changes})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize("name", ["cpu", "emulator"])
def test_rows_behind_the_last_packed_sequence_are_neutral(name, splits):
    arrays, options = inputs("thd", d=16), {"layout": "thd", "cu_seqlens_q": [0, 4]}
    options |= {"cu_seqlens_kv": [0, 5], "num_kv_splits": splits, "return_lse": True}
    out, lse = attn_mlir.attention(*arrays, **options, device=name)
    compare.assert_plus_zero(out[4:])
    compare.assert_minus_inf(lse[:, 4:])
    # Of arrays that are given they stay as they are.
    attn_mlir.attention(*arrays, **options, device=name, out=np.add(out, 3, out=out), lse=lse)
    assert (out[4:] == 3).all()
    compare.assert_minus_inf(lse[:, 4:])


@pytest.mark.parametrize("checks", [None, "all"])
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_what_a_merge_of_splits_reads_is_an_input(chip, checks):
    where = {"device": "emulator", "chip": chip, "checks": checks}
    sink = np.array([3, -1, 9, 0], np.float32)
    check(inputs(d=16), {"sink": sink, "num_kv_splits": 3}, **where)
    np.testing.assert_array_equal(sink, [3, -1, 9, 0])
    arrays, options = paged_inputs()
    check(arrays, {**options, "sink": sink, "num_kv_splits": 2, "causal": True}, **where)


def test_a_new_length_is_no_new_program():
    q, k, v = inputs(d=24)
    check((q, k, v), {})
    before = len(_program._programs)
    check((q[:1, :, :5], k[:1, :, :1], v[:1, :, :1]), {})
    check(inputs(sq=70, skv=65, d=24), {})
    assert len(_program._programs) == before


@pytest.mark.parametrize("shape", [(0, 9, 13), (2, 0, 13), (2, 9, 0)], ids=str)
def test_empty_arrays(shape):
    batch, sq, skv = shape
    q, k, v = (x[:batch] for x in inputs())
    out, lse = attn_mlir.attention(q[:, :, :sq], k[:, :, :skv], v[:, :, :skv], return_lse=True)
    compare.assert_plus_zero(out)
    compare.assert_minus_inf(lse)


def test_views_give_the_bits_of_copies():
    q, k, v = inputs()
    expected, expected_lse = attn_mlir.attention(q, k, v, return_lse=True)
    wide = np.full((2, 13, 2, 2, 40), np.nan, np.float32)  # [B, S, k or v, H, more than D]
    wide[:, :, 0, :, 5:21] = k.transpose(0, 2, 1, 3)
    wide[:, :, 1, :, 5:21] = v.transpose(0, 2, 1, 3)
    kv = wide[..., 5:21].transpose(2, 0, 3, 1, 4)
    fortran = np.asfortranarray(q)
    reversed_q = q[:, :, ::-1].copy()[:, :, ::-1]
    for view in (q, fortran, reversed_q):
        out, lse = attn_mlir.attention(view, kv[0], kv[1], return_lse=True)
        compare.assert_same_bits(out, expected)
        compare.assert_same_bits(lse, expected_lse)
    one = np.broadcast_to(k[:1], k.shape)
    compare.assert_same_bits(attn_mlir.attention(q, one, v), attn_mlir.attention(q, one.copy(), v))


def test_preallocated_outputs():
    q, k, v = inputs()
    expected, expected_lse = attn_mlir.attention(q, k, v, return_lse=True)
    strided = np.full((2, 9, 4, 20), np.nan, np.float32)
    inner = np.full((2, 4, 9, 32), np.nan, np.float32)
    for out in (np.empty_like(q), strided[..., :16].transpose(0, 2, 1, 3), inner[..., ::2]):
        lse = np.full((9, 4, 2), np.nan, np.float32).T
        got = attn_mlir.attention(q, k, v, out=out, lse=lse, return_lse=True)
        assert got[0] is out and got[1] is lse
        compare.assert_same_bits(out, expected)
        compare.assert_same_bits(lse, expected_lse)
    assert np.isnan(strided[..., 16:]).all() and np.isnan(inner[..., 1::2]).all()


def test_outputs_have_memory_of_their_own():
    q, k, v = inputs(hk=4)
    bias = normal(2, 4, 9, 13)
    with pytest.raises(ValueError, match="out: expects memory of its own, .* overlaps with q"):
        attn_mlir.attention(q, k, v, out=q)
    with pytest.raises(ValueError, match="out: .* overlaps with v"):
        attn_mlir.attention(q, k, v, out=v[:, :, 4:])
    with pytest.raises(ValueError, match="lse: .* overlaps with bias"):
        attn_mlir.attention(q, k, v, bias=bias, lse=bias[..., 5], return_lse=True)
    with pytest.raises(ValueError, match="lse: .* overlaps with out"):
        out = np.empty_like(q)
        attn_mlir.attention(q, k, v, out=out, lse=out[..., 3], return_lse=True)
    with pytest.raises(ValueError, match="lse: .* overlaps with out"):
        state = attn_mlir.attention(q, k, v, return_lse=True)
        attn_mlir.merge_states([state], out=state[0], lse=state[0][..., 3])
    # Elements of one buffer, side by side.
    shared = np.full((2, 9, 2, 4, 16), np.nan, np.float32)
    shared[:, :, 0] = q.transpose(0, 2, 1, 3)
    out = shared[:, :, 1].transpose(0, 2, 1, 3)
    attn_mlir.attention(shared[:, :, 0].transpose(0, 2, 1, 3), k, v, out=out)
    compare.assert_same_bits(out, attn_mlir.attention(q, k, v))


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_the_emulator(chip, optimized):
    arrays = inputs(dtype=np.float16, sq=33, skv=70, d=64)
    where = {"device": "emulator", "chip": chip, "checks": "all"}
    check(arrays, {"causal": True}, **where)
    check(inputs("bshd", dtype=BF16, d=64), {"layout": "bshd"}, **where)
    scalars = {"causal": True, "q_offset": 40, "kv_offset": 3, "seqlens_kv": [70, 50]}
    check(arrays, scalars, **where)


@pytest.mark.parametrize("layout", ["bhsd", "bshd"])
def test_paged_keys(layout, optimized):
    pool = (6, 2, 16, 64) if layout == "bhsd" else (6, 16, 2, 64)
    q, _, _ = inputs(layout, dtype=np.float16, d=64)
    k, v = normal(*pool, dtype=np.float16), normal(*pool, dtype=np.float16)
    options = {"block_table": np.array([[4, 0, 5], [2, -1, -1]]), "seqlens_kv": np.array([40, 7])}
    if layout == "bshd":
        options["layout"] = layout
    check((q, k, v), options, device="emulator", checks="all")
    options["block_table"][0, 2] = 6
    message = "buffer 'block_table': expects element 2 to be a page, 0 to 5, but got 6"
    with pytest.raises(ValueError, match=message):
        attn_mlir.attention(q, k, v, device="emulator", **options)


def test_what_a_chip_cannot_do_is_said():
    with pytest.raises(attn_mlir.UnsupportedError, match="gfx950: .*; device='cpu' computes it"):
        attn_mlir.attention(*inputs(dtype=np.float64), device="emulator")


# ----------------------------------------------------------------------
# G1: every call as if it were the first
# ----------------------------------------------------------------------


@pytest.mark.slow
def test_G1_nothing_that_matters_is_left_out_of_a_key():
    q, k, v = inputs(sq=6, skv=20, d=64, dtype=np.float16)
    strided = np.full((2, 20, 2, 72), np.nan, np.float16)
    strided[..., :64] = k.transpose(0, 2, 1, 3)
    mask1, mask2 = (RNG.random((b, 1, 6, 20)) > 0.3 for b in (1, 2))
    options = [
        {},
        {"return_lse": True},
        {"return_lse": True, "lse_base": "two"},
        {"scale": 1.0},
        {"scale": 0.05},
        {"bias": normal(2, 4, 6, 20, dtype=np.float16)},
        {"bias": normal(2, 4, 6, 20, dtype=np.float32)},
        {"mask": mask1},
        {"mask": mask2},
        {"causal": True},
        {"causal": True, "diagonal": "top_left"},
        {"window": (2, -1)},
        {"window": (-1, 2)},
        {"softcap": 1.0},
        {"softcap": 2.0},
    ]
    for o in options:
        plain = {name: value for name, value in o.items() if name != "return_lse"}
        check((q, k, v), plain)
        check((q, strided[..., :64].transpose(0, 2, 1, 3), v), plain)
    for chip in ("gfx942", "gfx950", "gfx942"):
        for causal in (False, True):
            check((q, k, v), {"causal": causal}, device="emulator", chip=chip)


# ----------------------------------------------------------------------
# Merging
# ----------------------------------------------------------------------


@pytest.mark.parametrize("base", ["e", "two"])
def test_merging_parts_gives_the_whole(base):
    q, k, v = inputs()
    options = {"return_lse": True, "lse_base": base}
    whole = attn_mlir.attention(q, k, v, causal=True, **options)
    cuts = [0, 5, 5, 13]
    # A row stands at its position among all keys: 13 - 9 = 4 rows are before the first.
    parts = [
        attn_mlir.attention(
            q, k[:, :, a:b], v[:, :, a:b], causal=True, q_offset=4, kv_offset=a, **options
        )
        for a, b in zip(cuts, cuts[1:])
    ]
    out, lse = attn_mlir.merge_states(parts, lse_base=base)
    compare.assert_close(out, whole[0], atol=1e-5)
    compare.assert_close(lse, whole[1], atol=2e-5)
    expected = attn_reference.merge_states(parts, lse_base=base)
    compare.assert_close(out, expected[0], atol=1e-5)
    compare.assert_close(lse, expected[1], atol=2e-5)


def test_merging_empty_states_and_in_place():
    empty = np.full((2, 3, 4), np.nan, np.float32), np.full((2, 3), -np.inf, np.float32)
    state = normal(2, 3, 4), normal(2, 3)
    out, lse = attn_mlir.merge_states([empty, empty])
    compare.assert_plus_zero(out)
    compare.assert_minus_inf(lse)
    expected = state[0].copy(), state[1].copy()
    attn_mlir.merge_states([state, empty], out=state[0], lse=state[1])
    compare.assert_close(state[0], expected[0], rtol=1e-6)
    compare.assert_close(state[1], expected[1], atol=1e-6)


# ----------------------------------------------------------------------
# compile
# ----------------------------------------------------------------------


def test_compile_shows_everything(optimized):
    spec = attn_mlir.TensorSpec((None, 8, None, 128), "bf16")
    compiled = attn_mlir.compile(spec, spec, spec, causal=True, return_lse=True, chip="gfx950")
    assert compiled.hsaco[:4] == b"\x7fELF"
    assert "v_mfma_f32_32x32x16_bf16" in compiled.asm
    assert compiled.manifest["chip"] == "gfx950" and compiled.manifest["launches"]
    assert "attn.attention" in compiled.stages["source"]
    assert "rocdl." in compiled.stages["convert-attn-to-rocdl"]
    (kernel,) = compiled.report["kernels"]
    assert kernel["vgprs"] > 0 and kernel["scratch_bytes"] == 0
    first, second = repr(compiled).splitlines()[:2]
    assert first == (
        "attention for gfx950: q ?x8x?x128xbf16, k ?x8x?x128xbf16, v ?x8x?x128xbf16, "
        "output ?x8x?x128xbf16, lse ?x8x?xf32"
    )
    assert "512 work-items" in second


def test_a_compiled_attention_is_a_function():
    q, k, v = inputs()
    compiled = attn_mlir.compile(q, k, v, causal=True, q_offset=0, return_lse=True, device="cpu")
    out, lse = compiled(q[:, :, :5], k, v, q_offset=2)
    expected = attn_mlir.attention(q[:, :, :5], k, v, causal=True, q_offset=2, return_lse=True)
    compare.assert_same_bits(out, expected[0])
    compare.assert_same_bits(lse, expected[1])
    assert compiled.code[:4] == b"\x7fELF" and not hasattr(compiled, "hsaco")
    with pytest.raises(ValueError, match="q: expects what was compiled"):
        compiled(q.astype(np.float16), k.astype(np.float16), v.astype(np.float16))
    spec = attn_mlir.TensorSpec((None, 4, None, 16), "f32")
    with_bias = attn_mlir.compile(
        spec, spec, spec, bias=attn_mlir.TensorSpec((1, 1, 9, 13), "f32"), device="cpu"
    )
    with pytest.raises(ValueError, match="bias: expects a NumPy array, as q is, got TensorSpec"):
        with_bias(q, q, q)
    static = attn_mlir.compile(q, k, v, dynamic=False, device="cpu")
    compare.assert_close(static(q, k, v), attn_mlir.attention(q, k, v), atol=1e-6)
    with pytest.raises(ValueError, match="q: expects what was compiled"):
        static(q[:, :, :5], k, v)


def test_arrays_that_a_gpu_cannot_take_in_place_are_copied(optimized):
    """For tensors in its memory; the kernel wants rows that begin at whole dwords."""
    q, k, v = inputs(dtype=np.float16, d=64)
    program = attn_mlir.compile(q, k, v, chip="gfx942").program
    odd = np.zeros((2, 4, 9, 65), np.float16)[..., :64]
    shifted = np.zeros(q.size + 1, np.float16)[1:].reshape(q.shape)
    arrays = [("q", "f16", odd), ("k", "f16", k), ("v", "f16", v), ("output", "f16", shifted)]
    taken, copies = _program.align(program, arrays, Numpy())
    kept = [a is b for (_, _, a), (_, _, b) in zip(taken, arrays)]
    assert kept == [False, True, True, False]
    ((given, written),) = copies
    assert given is shifted and written is taken[3][2]


# ----------------------------------------------------------------------
# Errors
# ----------------------------------------------------------------------


def _wrong_arguments():
    q, k, v = inputs()
    other = normal(2, 2, 12, 16)
    yield {"q": [1.0]}, "q: expects a NumPy array or a torch tensor, got list"
    yield {"k": 3}, "k: expects a NumPy array, as q is, got int"
    yield {"q": q.astype(np.int32)}, "q: expects elements of f16, bf16, f32, f64, got i32"
    yield {"k": k.astype(np.float16)}, "k: expects the element type of q, f32, got f16"
    yield {"q": q[0]}, "q: expects shape [B, Hq, Sq, D], got [4, 9, 16]"
    yield {"v": other}, "v: expects shape [B, Hv, Skv, Dv] with Skv = 13 as in k, got [2, 2, 12, 16]"
    yield {"k": k[:1]}, "k: expects shape [B, Hk, Skv, D] with B = 2 as in q, got [1, 2, 13, 16]"
    three = normal(2, 3, 13, 16)
    yield {"k": three}, "k: expects a number of heads that divides the 4 of q, got 3"
    yield {"layout": "bhds"}, "layout: expects 'bhsd' or 'bshd' or 'thd', got 'bhds'"
    yield {"layout": ["bhsd"]}, "layout: expects 'bhsd' or 'bshd' or 'thd', got ['bhsd']"
    yield {"layout": "bshd", "cu_seqlens_q": [0, 1]}, "cu_seqlens_q: expects None without layout 'thd', got list"
    yield {"layout": "thd"}, "cu_seqlens_q: expects numbers with layout 'thd', got None"
    yield {"causal": 1}, "causal: expects True or False, got 1"
    yield {"window": 5}, "window: expects a pair (left, right), got 5"
    yield {"window": (-2, 0)}, "window: expects sides that are -1 or None"
    yield {"window": (0, 1), "causal": True}, "window: expects right to be at most 0 with causal"
    yield {"window": (1.5, 1)}, "window: expects an integer, got 1.5"
    yield {"sink_tokens": 3}, "sink_tokens: expects a window with a left side"
    yield {"scale": float("nan")}, "scale: expects a number that is finite in f32, got nan"
    yield {"scale": "half"}, "scale: expects a number, got 'half'"
    yield {"softcap": -1.0}, "softcap: expects a positive number that is normal in f32, or None, got -1.0"
    yield {"bias": normal(3, 13)}, "bias: expects a shape that broadcasts to [B, Hq, Sq, Skv] = [2, 4, 9, 13], got [3, 13]"
    yield {"bias": np.zeros((9, 13), bool)}, "bias: expects elements of f16, bf16, f32, f64, got bool"
    yield {"mask": normal(9, 13)}, "mask: expects elements of bool or int8, got float32"
    yield {"alibi_slopes": np.zeros(3, np.float32)}, "alibi_slopes: expects shape [Hq] with Hq = 4 as in q, got [3]"
    yield {"sink": np.zeros(4, np.int32)}, "sink: expects elements of f16, bf16, f32, f64, got int32"
    yield {"seqlens_kv": [1, 2, 3]}, "seqlens_kv: expects shape [B] with B = 2 as in q, got [3]"
    yield {"seqlens_kv": [1, 14]}, "buffer 'seqlens_kv': expects element 1 to be 0 to 13, but got 14"
    yield {"seqlens_kv": 2**40}, "seqlens_kv: expects a number of 32 bits, got 1099511627776"
    yield {"seqlens_kv": np.array([1, 2**32])}, "seqlens_kv: expects numbers of 32 bits, got 4294967296"
    yield {"seqlens_kv": [1, 2.5]}, "seqlens_kv: expects elements of i32, i64, got float64"
    yield {"alibi_slopes": [1, "a", 3, 4]}, "alibi_slopes: expects elements of"
    yield {"q_offset": "a"}, "q_offset: expects an integer, got 'a'"
    yield {"q_offset": 1, "diagonal": "top_left"}, "diagonal: expects the default"
    yield {"block_table": np.zeros((2, 3), np.int32)}, "seqlens_kv: expects lengths with block_table"
    yield {"block_table": np.zeros((2, 3), np.int32), "layout": "thd"}, "cu_seqlens_q: expects numbers with layout 'thd', got None"
    yield {"lse_base": "2", "return_lse": True}, "lse_base: expects 'e' or 'two', got '2'"
    yield {"lse_layout": "hs_packed", "return_lse": True}, "lse_layout: expects 'bhs', got 'hs_packed'"
    yield {"lse": np.empty((2, 4, 9), np.float32)}, "lse: expects return_lse=True"
    yield {"lse": np.empty((2, 4, 9)), "return_lse": True}, "lse: expects elements of f32, got float64"
    yield {"out": np.empty((2, 4, 9, 8), np.float32)}, "out: expects shape [B, Hq, Sq, Dv] = [2, 4, 9, 16], got [2, 4, 9, 8]"
    fixed = np.empty((2, 4, 9, 16), np.float32)
    fixed.flags.writeable = False
    yield {"out": fixed}, "out: expects an array that can be written"
    yield {"device": "cuda"}, "device: expects 'cpu', 'emulator', 'hip' or None, got 'cuda'"
    yield {"chip": "gfx90a"}, "chip: expects 'gfx942' or 'gfx950', got 'gfx90a'"
    yield {"chip": "gfx950", "device": "cpu"}, "chip: expects None with device='cpu', got 'gfx950'"
    yield {"checks": 5, "device": "emulator"}, "checks: expects names of checks or None, got 5"
    yield {"checks": "all", "device": "cpu"}, "checks: expects device='emulator', got 'cpu'"


@pytest.mark.parametrize("changes, message", _wrong_arguments(), ids=lambda x: str(x)[:50] if isinstance(x, str) else "")
def test_errors_name_the_argument(changes, message):
    q, k, v = inputs()
    with pytest.raises(ValueError) as caught:
        attn_mlir.attention(**{"q": q, "k": k, "v": v, **changes})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("shape", ["abcd", (1, 4, -3, 16), (1, 4, 3, 16.0)], ids=str)
def test_sizes_of_a_spec_are_checked(shape):
    spec = attn_mlir.TensorSpec(shape, "f16")
    with pytest.raises(ValueError, match="q: expects sizes from 0 or None in its shape, got"):
        attn_mlir.compile(spec, spec, spec)


def test_what_belongs_to_compile_or_attention_alone():
    spec = attn_mlir.TensorSpec((1, 4, None, 16), "f16")
    with pytest.raises(ValueError, match="q: expects an array, got TensorSpec"):
        attn_mlir.attention(spec, spec, spec)
    with pytest.raises(TypeError, match="compile.. got an unexpected keyword argument 'casual'"):
        attn_mlir.compile(spec, spec, spec, casual=True)


@pytest.mark.parametrize(
    "cu, message",
    [
        ([1, 13], "element 0 to be 0, but got 1"),
        ([0, 14], "element 1 to be 0 to 13, but got 14"),
        ([0, 5, 4], "element 2 to be 5 to 13, but got 4"),
    ],
)
def test_packed_positions_are_checked(cu, message):
    q, k, v = inputs("thd")
    with pytest.raises(ValueError, match=message):
        attn_mlir.attention(q, k, v, layout="thd", cu_seqlens_q=[0] * len(cu), cu_seqlens_kv=cu)


def test_packed_sequences_fit_their_mask():
    q, k, v = inputs("thd")
    starts = {"layout": "thd", "cu_seqlens_q": [0, 4, 9], "cu_seqlens_kv": [0, 5, 13]}
    check((q, k, v), {**starts, "mask": np.ones((5, 8), bool)})
    with pytest.raises(ValueError, match="'cu_seqlens_kv': expects sequences of at most 7"):
        attn_mlir.attention(q, k, v, **starts, mask=np.ones((5, 7), bool))
    with pytest.raises(ValueError, match="'cu_seqlens_q': expects sequences of at most 4"):
        attn_mlir.attention(
            q, k, v, **starts, return_lse=True, lse_layout="bhs_padded", max_seqlen_q=4
        )
    with pytest.raises(ValueError, match="max_seqlen_q: expects a number from 0, got -5"):
        attn_mlir.attention(
            q, k, v, **starts, return_lse=True, lse_layout="bhs_padded", max_seqlen_q=-5
        )


@pytest.mark.parametrize(
    "states, message",
    [
        ([], "states: expects at least one pair"),
        (5, "states: expects pairs .O, LSE., but 'int' object is not iterable"),
        ([5], "states: expects pairs .O, LSE., but 'int' object is not iterable"),
        ([(normal(2, 3), normal(3))], r"states\[0\]: expects a NumPy array of f32 \[2\]"),
        ([(normal(2, 3), normal(2)), (normal(2, 4), normal(2))], r"states\[1\]: expects"),
        ([(np.zeros((2, 3), int), normal(2))], "states: expects O of f16"),
    ],
)
def test_merging_errors(states, message):
    with pytest.raises(ValueError, match=message):
        attn_mlir.merge_states(states)


@pytest.mark.parametrize("where", [{}, {"device": "emulator", "chip": "gfx950"}], ids=["cpu", "gfx950"])
def test_states_of_all_splits(where):
    q, k, v = inputs(d=64) if where else inputs()
    options = {"causal": True, "num_kv_splits": 3}
    whole, lse = attn_mlir.attention(q, k, v, causal=True, return_lse=True, **where)
    split = attn_mlir.attention(q, k, v, return_lse=True, **options, **where)
    outs, lses = attn_mlir.attention(q, k, v, return_lse=True, partial=True, **options, **where)
    assert outs.shape == (3, *whole.shape) and outs.dtype == np.float32
    assert lses.shape == (3, *lse.shape) and np.isneginf(lses[2]).any()
    for out, one in (split, attn_mlir.merge_states(list(zip(outs, lses)))):
        compare.assert_close(out.astype(np.float64), whole.astype(np.float64), atol=2e-3)
        compare.assert_close(one, lse.astype(np.float64), atol=np.where(np.isfinite(lse), 1e-5, 0))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_kv_splits": -1}, "num_kv_splits: expects a number from 0 to 65535, got -1"),
        ({"num_kv_splits": 65536}, "num_kv_splits: expects a number from 0 to 65535, got 65536"),
        ({"num_kv_splits": 0, "partial": True}, "num_kv_splits: expects a number of splits with partial"),
        ({"partial": True, "return_lse": False}, "return_lse: expects True with partial"),
        ({"partial": True, "sink": np.zeros(4, np.float32)}, "sink: expects None with partial"),
    ],
)
def test_wrong_splits(options, message):
    with pytest.raises(ValueError, match=message):
        attn_mlir.attention(*inputs(), **{"return_lse": True, **options})
