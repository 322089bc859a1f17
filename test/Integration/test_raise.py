"""attn-raise: what it raises means the same, and what is no attention stays."""

import subprocess

import attn_reference
import decomposed
import ml_dtypes
import numpy as np
import pytest
from attn_program import load, save, tool
from devices import Device

LOWEST = float(np.finfo(np.float32).min)
REMARKS = ["--remarks-filter=attn-raise", "--remark-format=emitRemark"]


def inputs(heads=(4, 4, 4), lengths=(12, 20), dims=(16, 8), dtype=np.float32, layout="bhsd"):
    rng = np.random.default_rng(11)
    shapes = {
        "q": (2, heads[0], lengths[0], dims[0]),
        "k": (2, heads[1], lengths[1], dims[0]),
        "v": (2, heads[2], lengths[1], dims[1]),
    }
    arrays = {n: rng.standard_normal(s).astype(dtype) for n, s in shapes.items()}
    if layout == "bshd":
        arrays = {n: np.ascontiguousarray(x.swapaxes(1, 2)) for n, x in arrays.items()}
    return arrays


def bias(dtype=np.float32):
    return np.random.default_rng(12).standard_normal((2, 1, 12, 20)).astype(dtype)


def mask():
    visible = np.random.default_rng(13).random((12, 20)) < 0.7
    visible[:, 3] = True
    return visible


def attempt(text, *options):
    """attn-raise's output and what it remarked."""
    command = [tool("attn-opt"), "-", f"--attn-raise={' '.join(options)}", *REMARKS]
    done = subprocess.run(command, input=text, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def run(text, arrays, folder, device=Device("cpu")):
    (folder / "program.mlir").write_text(text)
    command = [tool("attn-run"), str(folder / "program.mlir"), *device.arguments]
    for name, array in arrays.items():
        save(folder / f"{name}.npy", array.astype(np.int8) if array.dtype == bool else array)
        command += ["--in", f"{name}={folder / name}.npy"]
    command += ["--out", f"output={folder / 'output'}.npy"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return load(folder / "output.npy", arrays["q"].dtype)


# (options of the program, its inputs, text in the op)
RAISED = {
    "split": ({}, {}, "tensor<2x4x12x16xf32>"),
    "named": ({"softmax": "named", "scale": "query"}, {}, ""),
    "fused": ({"softmax": "fused", "scale": "both"}, {}, ""),
    "reciprocal": ({"softmax": "reciprocal", "scale": "divide"}, {}, ""),
    "no maximum": ({"softmax": "plain"}, {}, ""),
    "softcap": ({"softcap": 2.0}, {}, "softcap = 2.0"),
    "repeated heads": ({}, {"heads": (8, 2, 4)}, "tensor<2x2x20x16xf32>, tensor<2x4x20x8xf32>"),
    "one key head": ({}, {"heads": (4, 1, 1)}, "tensor<2x1x20x16xf32>"),
    "bshd": ({"layout": "bshd"}, {"layout": "bshd", "heads": (4, 2, 2)}, "layout = bshd"),
    "one row, one head": ({"scale": "both"}, {"heads": (1, 1, 1), "lengths": (1, 20)}, ""),
    "one key": ({"guard": True}, {"lengths": (12, 1), "heads": (4, 2, 2)}, ""),
    "bias": ({}, {"bias": bias()}, "bias("),
    "mask": ({}, {"mask": mask()}, "mask("),
    "added mask": ({"added": True}, {"mask": mask()}, "mask("),
    "causal": ({"causal": 0}, {}, "{causal, diagonal_alignment = top_left}"),
    "causal to the end": ({"causal": 8}, {}, "{causal}"),
    "causal, added": ({"causal": 0, "added": True}, {"bias": bias()}, "causal"),
    "causal, shifted": ({"causal": -2, "guard": True}, {}, "q_offset("),
    "window": ({"causal": 8, "window": 3}, {}, "{causal, window_left = 11}"),
    "band": ({"causal": 3, "window": 2}, {}, "window_left = 2, window_right = 3"),
    "anticausal": ({"window": 0}, {}, "window_left = 0"),
    "lowest": ({"causal": 0, "hidden": LOWEST}, {}, "causal"),
    "lowest in a band": ({"causal": 1, "window": 2, "hidden": LOWEST}, {}, "window_right = 1"),
    "mask and band": ({"causal": 8}, {"mask": mask()}, "causal"),
    "guard": ({"causal": -5, "guard": True, "softmax": "named"}, {}, "q_offset("),
    "f16": ({}, {"dtype": np.float16}, "tensor<2x4x12x16xf16>"),
    "widened": ({"compute": "f32"}, {"dtype": np.float16}, "tensor<2x4x12x16xf32>"),
    "P rounded": ({"compute": "f32", "p": "f16"}, {"dtype": np.float16}, "<2x4x12x16xf16>"),
    "bf16": ({}, {"dtype": ml_dtypes.bfloat16, "heads": (4, 2, 2)}, "<2x4x12x16xbf16>"),
}


def arrays_of(problem):
    extra = {n: problem[n] for n in ("bias", "mask") if n in problem}
    return {**inputs(**{n: x for n, x in problem.items() if n not in extra}), **extra}


def reference(arrays, how):
    """O in f64, from the options of the program."""
    options = {"layout": how.get("layout", "bhsd"), "scale": 0.25}
    axis = 1 if options["layout"] == "bshd" else 2
    rows, keys = arrays["q"].shape[axis], arrays["k"].shape[axis]
    visible = np.ones((rows, keys), bool) & arrays.get("mask", True)
    distance = np.arange(keys) - np.arange(rows)[:, None]
    visible &= distance <= how.get("causal", 99)
    visible &= -distance <= how.get("window", 99)
    if "softcap" in how:
        options["softcap"] = how["softcap"]
    if "bias" in arrays:
        options["bias"] = arrays["bias"].astype(np.float64)
    return attn_reference.attention(
        *(arrays[n] for n in "qkv"), mask=visible.astype(np.int8), **options
    )[0]


@pytest.mark.parametrize("how, problem, expected", RAISED.values(), ids=RAISED)
def test_raised_program_means_the_same(how, problem, expected, tmp_path):
    arrays = arrays_of(problem)
    text = decomposed.write(arrays, **how)
    raised, remarks = attempt(text)
    assert "raised to attn.attention" in remarks, f"{remarks}\n{text}"
    assert raised.count("attn.attention") == 1 and expected in raised, raised
    assert "math.exp" not in raised and "batch_matmul" not in raised, raised
    right = reference(arrays, how)
    # Never less accurate, up to the rounding of the last step.
    slack = {"float32": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}[arrays["q"].dtype.name]
    error = np.abs(run(raised, arrays, tmp_path) - right).max()
    assert error < 3 * slack
    if how.get("softmax") != "named":  # which nothing upstream lowers to loops
        assert error <= np.abs(run(text, arrays, tmp_path) - right).max() + slack


def test_narrow_raises_to_the_type_of_the_inputs(tmp_path):
    arrays = inputs(dtype=np.float16)
    text = decomposed.write(arrays, compute="f32")
    raised, _ = attempt(text, "narrow=true")
    assert "tensor<2x4x12x16xf16>, tensor<2x4x20x16xf16>" in raised and "extf" not in raised
    assert np.abs(run(raised, arrays, tmp_path) - reference(arrays, {})).max() < 3e-3


@pytest.mark.parametrize("added", [False, True])
def test_finite_masks_hide_on_request(added, tmp_path):
    arrays, how = inputs(), {"causal": 0, "hidden": -1e9}
    text = decomposed.write(arrays, added=added, **how)
    assert ("causal" in attempt(text)[0]) is False
    raised, _ = attempt(text, "finite-masks=true")
    assert "{causal, diagonal_alignment = top_left}" in raised
    assert np.abs(run(raised, arrays, tmp_path) - reference(arrays, how)).max() < 6e-6


@pytest.mark.smoke
def test_raised_program_becomes_a_kernel(device, tmp_path):
    # As torch-mlir writes it: P rounded, heads repeated, causal from positions.
    arrays = inputs(heads=(4, 2, 2), lengths=(20, 40), dims=(32, 32), dtype=np.float16)
    how = {"causal": 20}
    raised, _ = attempt(decomposed.write(arrays, compute="f32", p="f16", **how))
    error = np.abs(run(raised, arrays, tmp_path, device) - reference(arrays, how)).max()
    assert error < 3e-3


def test_rows_without_keys_are_zero_where_the_program_gives_nan(tmp_path):
    arrays = inputs()
    text = decomposed.write(arrays, causal=-2)
    raised, _ = attempt(text)
    before, after = run(text, arrays, tmp_path), run(raised, arrays, tmp_path)
    assert np.isnan(before[:, :, :2]).all() and not np.isnan(before[:, :, 2:]).any()
    assert (after[:, :, :2] == 0).all()
    np.testing.assert_allclose(after[:, :, 2:], before[:, :, 2:], atol=2e-6)


# (what is wrong, options, inputs, why it is not raised)
KEPT = {
    "softmax over rows": ({}, {}, "no sum over the keys"),
    "minimum": ({}, {}, "not the maximum of the scores"),
    "maximum of something else": ({}, {}, "not the maximum of the scores"),
    "other sum": ({}, {}, "not the sum of their exponentials"),
    "sum from 1": ({}, {}, "no sum over the keys"),
    "exp2": ({}, {}, "not exponentials divided by their sum"),
    "dropout": ({}, {}, "not exponentials divided by their sum"),
    "transposed weights": ({}, {"lengths": (16, 16)}, "not the sum of their exponentials"),
    "scale a column": ({}, {}, ""),
    "two biases": ({}, {"bias": bias()}, "two biases"),
    "scale after bias": ({}, {"bias": bias()}, "scaled after a mask or bias"),
    "finite mask": ({"causal": 0, "hidden": -1e4}, {}, "not selected to be -inf"),
    "lowest, empty rows": ({"causal": -1, "hidden": LOWEST}, {}, "a row may see no key"),
    "lowest, any mask": ({"hidden": LOWEST}, {"mask": mask()}, "a row may see no key"),
    "other use": ({}, {}, "another use"),
    "no keys": ({}, {"lengths": (12, 0)}, ""),
    "other guard": ({"guard": True}, {}, "a condition other than"),
}


@pytest.mark.parametrize("flaw", KEPT)
def test_what_is_not_attention_stays(flaw):
    how, problem, why = KEPT[flaw]
    text = decomposed.write(arrays_of(problem), break_at=flaw, **how)
    kept, remarks = attempt(text)
    if flaw == "scale a column":
        # Part of how the keys are computed: attention of those is exact.
        assert "attn.attention" in kept
        return
    assert "attn.attention" not in kept
    assert ("not raised: " in remarks and why in remarks) if why else not remarks, remarks
