"""Sizes and numbers that do not fit, known only at run time.

Every device refuses them before it launches, in one line: as a module, as a code
object with its manifest, and (test_python.py, test_capi.py) through the C API.
"""

import numpy as np
import pytest
from attn_program import Problem
from launches import Program

def i32(*values):
    return np.array(values, np.int32)


def half(*shape):
    return np.ones(shape, np.float16)


def dense():
    """Every operand that has a batch, heads, rows or keys of its own."""
    options = {
        "bias": half(2, 4, 5, 7),
        "mask": np.ones((2, 4, 5, 7), np.int8),
        "alibi_slopes": np.ones((2, 4), np.float32),
        "sink": np.ones(4, np.float32),
        "seqlens_q": i32(5, 3),
        "seqlens_kv": i32(7, 0),
        "causal": True,
    }
    return Problem(half(2, 4, 5, 64), half(2, 2, 7, 64), half(2, 1, 7, 64), options, dynamic=True)


def offsets():
    options = {"q_offset": i32(1, 2), "kv_offset": i32(0, 3), "causal": True}
    return Problem(half(2, 4, 5, 64), half(2, 4, 7, 64), half(2, 4, 7, 64), options, dynamic=True)


def packed():
    options = {
        "layout": "thd",
        "lse_layout": "bhs_padded",
        "cu_seqlens_q": i32(0, 3, 3, 9),
        "cu_seqlens_kv": i32(0, 4, 5, 11),
        "bias": half(3, 2, 6, 6),
    }
    return Problem(half(9, 2, 64), half(11, 2, 64), half(11, 2, 64), options, dynamic=True)


def paged():
    options = {
        "block_table": i32(0, 1, 2, 9, 4, 9).reshape(3, 2),
        "page_size": 16,
        "seqlens_kv": i32(32, 16, 3),
    }
    return Problem(half(3, 2, 5, 64), half(6, 2, 16, 64), half(6, 2, 16, 64), options, dynamic=True)


def packed_over_pages():
    options = {
        "layout": "thd",
        "cu_seqlens_q": i32(0, 3, 3, 9),
        "block_table": i32(0, 1, 2, 9, 4, 9).reshape(3, 2),
        "page_size": 16,
        "seqlens_kv": i32(32, 16, 3),
        "mask": np.ones((6, 32), np.int8),
    }
    return Problem(half(9, 2, 64), half(6, 16, 2, 64), half(6, 16, 2, 64), options, dynamic=True)


def scalar_length():
    return Problem(half(1, 1, 5, 64), half(1, 1, 7, 64), half(1, 1, 7, 64), {"seqlens_kv": 7})


def wide_length():
    problem = scalar_length()
    problem.integers = "i64"
    return problem


# Per program: the argument, its shape or numbers instead, and what is said of it.
HEADS = "expects the number of query heads to be a multiple of that of key and value heads"
CASES = {
    dense: [
        # Two key heads and four query heads: a shape of three or eight key heads does not divide.
        ("k", (2, 3, 7, 64), f"{HEADS}, but got 4 and 3"),
        ("k", (2, 8, 7, 64), f"{HEADS}, but got 4 and 8"),
        ("k", (2, 0, 7, 64), f"{HEADS}, but got 4 and 0"),
        ("v", (2, 3, 7, 64), f"{HEADS}, but got 4 and 3"),
        ("k", (2, 2, 6, 64), "'v_0': expects dimension 2 to be 6"),
        ("v", (2, 1, 8, 64), "'v_0': expects dimension 2 to be 7"),
        ("k", (1, 2, 7, 64), "'k_0': expects dimension 0 to be 2"),
        ("v", (3, 1, 7, 64), "'v_0': expects dimension 0 to be 2"),
        ("bias", (3, 4, 5, 7), "'bias_0': expects dimension 0 to be 2"),
        ("bias", (2, 2, 5, 7), "'bias_0': expects dimension 1 to be 4"),
        ("bias", (2, 4, 4, 7), "'bias_0': expects dimension 2 to be 5"),
        ("mask", (2, 4, 5, 6), "'mask_0': expects dimension 3 to be 7"),
        # A dimension that is not statically 1 does not broadcast.
        ("mask", (2, 1, 5, 7), "'mask_0': expects dimension 1 to be 4"),
        ("alibi_slopes", (2, 3), "'alibi_slopes_0': expects dimension 1 to be 4"),
        ("sink", (5,), "'sink_0': expects dimension 0 to be 4"),
        ("seqlens_q", (1,), "'seqlens_q_0': expects dimension 0 to be 2"),
        ("seqlens_kv", (3,), "'seqlens_kv_0': expects dimension 0 to be 2"),
        ("output", (2, 4, 6, 64), "'output_0': expects dimension 2 to be 5"),
        ("lse", (2, 2, 5), "'lse_0': expects dimension 1 to be 4"),
        ("seqlens_q", i32(5, 6), "'seqlens_q_0': expects element 1 to be 0 to 5, but got 6"),
        ("seqlens_q", i32(-1, 5), "'seqlens_q_0': expects element 0 to be 0 to 5, but got -1"),
        ("seqlens_kv", i32(8, 0), "'seqlens_kv_0': expects element 0 to be 0 to 7, but got 8"),
        ("seqlens_kv", i32(0, -(2**31)), "expects element 1 to be 0 to 7, but got -2147483648"),
    ],
    offsets: [
        ("q_offset", (1,), "'q_offset_0': expects dimension 0 to be 2"),
        ("kv_offset", (3,), "'kv_offset_0': expects dimension 0 to be 2"),
    ],
    packed: [
        ("cu_seqlens_q", i32(0, 3, 9), "'cu_seqlens_q_0': expects dimension 0 to be"),
        ("cu_seqlens_kv", i32(0, 4, 5, 7, 11), "'cu_seqlens_kv_0': expects dimension 0 to be"),
        ("bias", (2, 2, 6, 6), "expects dimension 0 to be"),
        ("v", (10, 2, 64), "'v_0': expects dimension 0 to be 11"),
        ("cu_seqlens_q", i32(1, 3, 3, 9), "expects element 0 to be 0, but got 1"),
        ("cu_seqlens_q", i32(0, 4, 3, 9), "expects element 2 to be 4 to 9, but got 3"),
        ("cu_seqlens_q", i32(0, 3, 3, 10), "expects element 3 to be 3 to 9, but got 10"),
        ("cu_seqlens_kv", i32(0, -1, 5, 11), "expects element 1 to be 0 to 11, but got -1"),
        ("cu_seqlens_q", i32(0, 1, 2, 9), "expects sequences of at most 6"),
        ("cu_seqlens_kv", i32(0, 1, 4, 11), "expects sequences of at most 6"),
    ],
    paged: [
        ("block_table", (2, 2), "'block_table_0': expects dimension 0 to be 3"),
        ("v", (7, 2, 16, 64), "'v_0': expects dimension 0 to be 6"),
        ("seqlens_kv", i32(33, 16, 3), "'seqlens_kv_0': expects element 0 to be 0 to 32, but got 33"),
        ("seqlens_kv", i32(32, -16, 3), "'seqlens_kv_0': expects element 1 to be 0 to 32, but got -16"),
        # Element 3 is behind the end of its sequence.
        ("seqlens_kv", i32(32, 17, 3), "'block_table_0': expects element 3 to be a page, 0 to 5, but got 9"),
        ("block_table", i32(0, -1, 2, 9, 4, 9).reshape(3, 2), "element 1 to be a page, 0 to 5, but got -1"),
    ],
    packed_over_pages: [
        ("block_table", (2, 2), "'block_table_0': expects dimension 0 to be 3"),
        ("cu_seqlens_q", i32(0, 3, 9), "expects dimension 0 to be"),
        ("seqlens_kv", (4,), "'cu_seqlens_q_0': expects dimension 0 to be 5"),
        ("cu_seqlens_q", i32(0, 3, 3, 10), "expects element 3 to be 3 to 9, but got 10"),
        ("cu_seqlens_q", i32(0, 2, 2, 9), "expects sequences of at most 6"),
        ("seqlens_kv", i32(33, 16, 3), "'seqlens_kv_0': expects element 0 to be 0 to 32, but got 33"),
        ("seqlens_kv", i32(32, 17, 3), "'block_table_0': expects element 3 to be a page, 0 to 5, but got 9"),
        ("mask", (6, 31), "'seqlens_kv_0': expects element 0 to be 0 to 31, but got 32"),
    ],
    scalar_length: [
        ("seqlens_kv", i32(8), "'seqlens_kv_0': expects element 0 to be 0 to 7, but got 8"),
        ("seqlens_kv", i32(-1), "'seqlens_kv_0': expects element 0 to be 0 to 7, but got -1"),
    ],
    wide_length: [
        ("seqlens_kv", np.array([2**32 + 3]), "element 0 to be 0 to 7, but got 4294967299"),
        ("seqlens_kv", np.array([-(2**32)]), "element 0 to be 0 to 7, but got -4294967296"),
    ],
}


@pytest.mark.kinds("f16")
@pytest.mark.parametrize("problem", CASES, ids=lambda problem: problem.__name__)
@pytest.mark.needs("dynamic", "thd", "padded", "paged", "thd_paged")
def test_what_does_not_fit_is_refused_before_the_launch(device, kind, problem, tmp_path):
    program = Program(tmp_path, [problem()], device)
    for n, (argument, change, message) in enumerate(CASES[problem]):
        name = f"{argument}_0"
        if isinstance(change, tuple):
            change = np.zeros(change, program.arrays[name].dtype)
        program.expect_error(message, **{name: change})
        if n == 0 and device.is_gpu:  # compiled on the way: what is checked is the same
            program.expect_error(message, program.as_module, **{name: change})
    good = program.run()
    assert good.returncode == 0, good.stderr


@pytest.mark.kinds("f16")
@pytest.mark.needs("padded")
def test_kernels_limit_lengths_that_nobody_checked(device, kind, tmp_path):
    if not device.is_gpu:
        pytest.skip("the host is not launched without the check")
    program = Program(tmp_path, [wide_length()], device)
    program.drop_rules()
    lse = {}
    for length in (7, 2**32 + 3, -(2**32) + 3):
        done = program.run(seqlens_kv_0=np.array([length]))
        assert done.returncode == 0, done.stderr
        lse[length] = program.load("lse_0")
    np.testing.assert_array_equal(lse[2**32 + 3], lse[7])
    assert np.isneginf(lse[-(2**32) + 3]).all() and np.isfinite(lse[7]).all()


@pytest.mark.kinds("f16")
@pytest.mark.needs("dense")
def test_an_entry_with_lse_does_not_run_without_one(device, kind, tmp_path):
    program = Program(tmp_path, [scalar_length()], device)
    program.arrays.pop("lse_0")
    program.outputs.remove("lse_0")
    message = "argument 'lse_0' needs --in lse_0=FILE.npy or --out lse_0=FILE.npy"
    program.expect_error(message)
    if not device.is_gpu:
        return
    program.expect_error(message, program.as_module)
    # Nor with a manifest that does not know of it.
    program.change_manifest(lambda manifest: drop_buffer(manifest, "lse_0"))
    program.expect_error("expects an argument of 8 bytes at offset")


@pytest.mark.kinds("f16")
@pytest.mark.needs("split_kv")
def test_an_entry_with_a_workspace_does_not_run_without_one(device, kind, tmp_path):
    if not device.is_gpu:
        pytest.skip("code for the host allocates its workspace")
    problem = Problem(half(1, 1, 5, 64), half(1, 1, 300, 64), half(1, 1, 300, 64))
    program = Program(tmp_path, [problem.with_options(num_kv_splits=2)], device)
    done = program.run()
    assert done.returncode == 0, done.stderr
    [path.unlink() for path in tmp_path.glob("*.result.npy")]
    program.change_manifest(lambda manifest: drop_buffer(manifest, "workspace0"))
    program.expect_error("expects an argument of 8 bytes at offset")


def drop_buffer(manifest, name):
    count = len(manifest["buffers"])
    manifest["buffers"] = [x for x in manifest["buffers"] if x["name"] != name]
    assert len(manifest["buffers"]) == count - 1
    for kernel in manifest["kernels"]:
        kernel["args"] = [x for x in kernel["args"] if x.get("buffer") != name]
