"""Group E: strides, offsets, views."""

import subprocess

import compare
import numpy as np
import pytest
from attn_program import Problem, Strided, View, assert_matches, refusal, run, run_all, tool
from cases import LN, check, spread, unique

NAN = np.nan


def head_last(x):
    """A [B, H, S, D] array as a view of [B, S, H, D] memory."""
    b, h, s, d = x.shape
    base = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(-1)
    return View(base, 0, x.shape, (s * h * d, d, h * d, 1))


@pytest.mark.kinds("bf16", "f16")
@pytest.mark.needs("strided")
def test_E1_each_operand_as_a_transposed_view(device, kind):
    shape = (1, 16, 62, 128)
    q, v = unique(shape, kind, 1), unique(shape, kind, 2)
    k = np.zeros_like(q)
    plain = Problem(q, k, v)
    problems = [plain]
    problems += [Problem(head_last(q), k, v), Problem(q, head_last(k), v)]
    problems += [Problem(q, k, head_last(v)), Problem(q, k, v, out=head_last(plain.out))]
    expected, *others = run_all(problems, device)
    compare.assert_close(expected.lse, np.full(expected.lse.shape, LN(62)), atol=1e-5)
    for name, result in zip("qkvo", others):
        compare.assert_same_bits(result.out, expected.out, f"O with {name} transposed")
        compare.assert_same_bits(result.lse, expected.lse, f"LSE with {name} transposed")


@pytest.mark.kinds("bf16", "f16")
@pytest.mark.needs("strided")
def test_E1_value_of_each_head(device, kind):
    q = np.zeros((1, 16, 62, 128), spread([0], kind).dtype)
    v = spread(np.repeat(np.arange(16)[None, :, None], 62, axis=2), kind, 128)
    result = run(Problem(q, q, head_last(v)), device)
    check(result, np.arange(16)[None, :, None], LN(62), exact=True)


@pytest.mark.parametrize(
    "dynamic",
    [False, pytest.param(True, marks=pytest.mark.needs("loaded_offset"))],
    ids=["static", "dynamic"],
)
@pytest.mark.needs("offset")
def test_E5_offset_of_a_view(device, kind, dynamic):
    k, v = np.full((20, 64), NAN), np.full((20, 64), NAN)
    k[5:14], v[5:14] = 0, np.arange(9)[:, None]
    dtype = spread([0], kind).dtype
    k, v = (
        View(x.astype(dtype).reshape(-1), 5 * 64, (1, 1, 9, 64), (1280, 1280, 64, 1), dynamic)
        for x in (k, v)
    )
    lse = View(np.full(8, -7777, np.float32), 3, (1, 1, 2), (2, 2, 1), dynamic)
    result = run(Problem(np.zeros((1, 1, 2, 64), dtype), k, v, lse=lse), device)
    check(result, 4, LN(9), exact=True)
    np.testing.assert_array_equal(result.lse_buffer[[0, 1, 2, 5, 6, 7]], -7777)


@pytest.mark.parametrize("element", [np.bool_, np.int8])
@pytest.mark.kinds("f16")
@pytest.mark.needs("offset", "bias_mask")
def test_E5_offset_of_a_mask(device, kind, element):
    """What lies in front of the view hides nothing."""
    mask = np.ones((3, 2, 9), element)
    mask[1, :, 4:] = 0
    mask = View(mask.reshape(-1), 18, (2, 9), (9, 1))
    q, k = (np.zeros((1, 1, n, 64), spread([0], kind).dtype) for n in (2, 9))
    check(run(Problem(q, k, k, {"mask": mask}), device), 0, LN(4), exact=True)


@pytest.mark.kinds("f16")
@pytest.mark.needs("strided", "dynamic")
@pytest.mark.parametrize("sizes", [(1, 5, 2), ("?", "?", "?")], ids=["static", "dynamic"])
def test_transposed_views_inside_a_function(device, kind, tmp_path, sizes):
    """[B, S, H, D] memory as bhsd, of Q and of O."""
    q, k = unique((1, 5, 2, 64), kind, 1), unique((1, 2, 40, 64), kind, 2)
    b, s, h = sizes
    array, turned = f"memref<{b}x{s}x{h}x64xf16>", f"memref<{b}x{h}x{s}x64xf16, "
    turned += "strided<[?, 64, ?, 1]>>" if b == "?" else "strided<[640, 64, 128, 1]>>"
    keys = "memref<1x2x40x64xf16>"
    (tmp_path / "turned.mlir").write_text(f"""
func.func @turned(%q: {array} {{attn.name = "q"}}, %k: {keys} {{attn.name = "k"}}, %o: {array} {{attn.name = "o"}}) {{
  %qt = memref.transpose %q (b, s, h, d) -> (b, h, s, d) : {array} to {turned}
  %ot = memref.transpose %o (b, s, h, d) -> (b, h, s, d) : {array} to {turned}
  attn.attention ins(%qt, %k, %k : {turned}, {keys}, {keys}) outs(%ot : {turned})
  return
}}""")
    for name, x in {"q": q, "k": k, "o": np.full_like(q, NAN)}.items():
        np.save(tmp_path / f"{name}.npy", x)
    command = [tool("attn-run"), "turned.mlir", *device.arguments, "--out", "o=result.npy"]
    command += [x for name in "qko" for x in ("--in", f"{name}={name}.npy")]
    subprocess.run(command, check=True, cwd=tmp_path)
    expected, _ = Problem(q.transpose(0, 2, 1, 3), k, k).reference()
    compare.assert_close(np.load(tmp_path / "result.npy").transpose(0, 2, 1, 3), expected, atol=2e-3)


def test_E5_reversed_view_is_refused():
    # Row j of the view is row 8 - j of the buffer.
    q = np.zeros((1, 1, 9, 64), np.float32)
    v = View(q.reshape(-1), 8 * 64, (1, 1, 9, 64), (576, 576, -64, 1))
    assert "expects strides not to be negative" in refusal(Problem(q, q, v))


def test_E1_inner_stride_of_a_view_is_refused():
    q = np.zeros((1, 1, 9, 64), np.float32)
    v = View(np.zeros(9 * 128, np.float32), 0, (1, 1, 9, 64), (1152, 1152, 128, 2))
    assert "expects value to have unit inner stride, but got 2" in refusal(Problem(q, q, v))


def far_apart(x, batch_stride=2**31 + 64):
    """A [2, 1, S, D] array whose second batch lies beyond 2^31 elements."""
    s, d = x.shape[2:]
    return Strided(x, (batch_stride, s * d, d, 1))


@pytest.mark.kinds("f16")
@pytest.mark.needs("strided")
def test_E6_batches_beyond_32_bits(device, kind):
    if not device.is_gpu:
        pytest.skip("the host's buffers are not sparse: this takes 16 GiB")
    q = unique((2, 1, 16, 64), kind, 1)
    k, v = unique((2, 1, 16, 64), kind, 2), spread(np.repeat([[[1]], [[2]]], 16, axis=2), kind)
    problem = Problem(far_apart(q), far_apart(k), far_apart(v), out=far_apart(np.zeros_like(q)))
    result = run(problem, device)
    check(result, np.array([1, 2])[:, None, None], exact=True)
    assert_matches(result, problem)


@pytest.mark.kinds("f16")
@pytest.mark.needs("strided")
def test_E7_rows_beyond_four_gigabytes(device, kind):
    if not device.is_gpu:
        pytest.skip("the host's buffers are not sparse: this takes 15 GiB")
    # 600 rows of 4 Mi elements: the last is past 2^31 elements and 2^32 bytes.
    pitch = 4 * 2**20 - 64
    q, k = (np.zeros((1, 1, n, 64), np.float16) for n in (8, 600))
    v = spread(np.arange(600)[None, None], kind)
    k, v = (Strided(x, (600 * pitch, 600 * pitch, pitch, 1)) for x in (k, v))
    result = run(Problem(q, k, v, {"causal": True}), device)
    visible = 593 + np.arange(8)
    check(result, (visible - 1) / 2, LN(visible), exact=True)
