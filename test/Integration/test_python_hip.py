"""attn_mlir on the HIP runtime, for which the stand-in of test/HIP takes the place."""

import os
import subprocess
import sys

import pytest
from attn_program import BUILD
from repository import ROOT

STAND_IN = BUILD / "test/HIP/lib/libamdhip64.so"


def run(code, chips="gfx950", **environment):
    """Runs Python code in a process that has such GPUs; its output."""
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "ATTN_HIP_LIBRARY": str(STAND_IN),
        "ATTN_STANDIN_CHIPS": chips,
        "ATTN_OPT_LEVEL": "3",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + code], check=False, capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PREAMBLE = """
import ctypes, numpy as np, attn_mlir
from attn_mlir import _native, _program
rng = np.random.default_rng(1)
q, k, v = (rng.standard_normal((2, h, s, 64)).astype(np.float16) for h, s in ((4, 9), (2, 13), (2, 13)))
"""


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_a_gpu_is_the_default_device(chip):
    code = """
out, lse = attn_mlir.attention(q, k, v, causal=True, return_lse=True)
assert [target for target, *_ in _program._programs] == [CHIP]
expected = attn_mlir.attention(q, k, v, causal=True, return_lse=True, device="cpu")
assert np.abs(out - expected[0]).max() < 4e-3 and np.abs(lse - expected[1]).max() < 2e-5
strided = np.full((2, 9, 4, 72), np.nan, np.float16)
attn_mlir.attention(q, k, v, causal=True, out=strided[..., :64].transpose(0, 2, 1, 3))
assert (strided[..., :64].transpose(0, 2, 1, 3) == out).all() and np.isnan(strided[..., 64:]).all()
"""
    run(code.replace("CHIP", repr(chip)), chips=chip)


def test_another_chip_than_the_gpu_is_refused():
    code = """
try:
    attn_mlir.attention(q, k, v, chip="gfx942")
except ValueError as error:
    print(error)
"""
    assert run(code) == "chip: expects 'gfx950', which the GPU is, got 'gfx942'\n"


def test_without_a_gpu_the_cpu_computes():
    code = """
attn_mlir.attention(q, k, v)
print(*(target for target, *_ in _program._programs))
try:
    attn_mlir.attention(q, k, v, device="hip")
except attn_mlir.UnavailableError as error:
    print(error)
"""
    first, second = run(code, ATTN_HIP_LIBRARY="/nowhere/libamdhip64.so").splitlines()
    assert first == "cpu"
    assert second.startswith("cannot load the HIP runtime (/nowhere/libamdhip64.so")


def test_memory_of_the_gpu_is_used_in_place():
    """What torch's tensors on a GPU go through: addresses, strides and a stream."""
    code = """
hip = ctypes.CDLL(STAND_IN)
def to_gpu(array):
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)) == 0
    assert hip.hipMemcpy(pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), 1) == 0
    return pointer
compiled = attn_mlir.compile(q, k, v, causal=True, return_lse=True, chip="gfx950")
kernel = _native.device("hip").load(compiled.program)
# q in the memory of [B, S, H, D + 8]
wide = np.full((2, 9, 4, 72), np.nan, np.float16)
wide[..., :64] = q.transpose(0, 2, 1, 3)
out, lse = np.empty_like(q), np.empty((2, 4, 9), np.float32)
arrays = {"q": wide, "k": k, "v": v, "output": out, "lse": lse}
pointers = {name: to_gpu(array) for name, array in arrays.items()}
stream = ctypes.c_void_p()
assert hip.hipStreamCreate(ctypes.byref(stream)) == 0
def strides(array):
    return tuple(s // array.itemsize for s in array.strides)
layouts = {name: strides(array) for name, array in arrays.items()}
layouts["q"] = strides(wide[..., :64].transpose(0, 2, 1, 3))
shapes = {name: array.shape for name, array in arrays.items()} | {"q": q.shape}
buffers = [
    _native.Buffer(o.name, pointers[o.name].value, o.dtype, shapes[o.name], layouts[o.name])
    for o in compiled._operands
]
kernel.launch(buffers, stream.value)
assert hip.hipStreamSynchronize(stream) == 0
for name in ("output", "lse"):
    array = arrays[name]
    assert hip.hipMemcpy(ctypes.c_void_p(array.ctypes.data), pointers[name], ctypes.c_size_t(array.nbytes), 2) == 0
expected = attn_mlir.attention(q, k, v, causal=True, return_lse=True, device="cpu")
assert np.abs(out - expected[0]).max() < 4e-3 and np.abs(lse - expected[1]).max() < 2e-5
"""
    run(code.replace("STAND_IN", repr(str(STAND_IN))))


def test_a_program_with_lse_does_not_run_without_one():
    code = """
compiled = attn_mlir.compile(q, k, v, return_lse=True)
arrays = {"q": q, "k": k, "v": v, "output": np.full_like(q, 7)}
triples = [(o.name, o.dtype, arrays[o.name]) for o in compiled._operands if o.name != "lse"]
numpy = attn_mlir._arrays.Numpy()
for device, target in (("cpu", "cpu"), ("emulator", "gfx950"), ("hip", "gfx950")):
    try:
        _program.launch(compiled._description, triples, numpy, device, target)
    except ValueError as error:
        print(error)
assert (arrays["output"] == 7).all()
"""
    message = "expects a buffer 'lse', which the program writes, but got none\n"
    assert run(code) == 3 * message
