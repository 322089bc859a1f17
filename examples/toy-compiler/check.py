"""Runs what toyc made of program.mlir and checks its numbers.

    check.py inputs             writes q.npy, k.npy, v.npy
    check.py library toy.so     calls the host's code with them
    check.py output o.npy       compares what another program wrote
"""

import ctypes
import sys

import numpy as np


def inputs():
    rng = np.random.default_rng(7)
    shapes = {"q": (2, 8, 100, 64), "k": (2, 4, 160, 64), "v": (2, 4, 160, 64)}
    return {n: rng.standard_normal(s).astype(np.float16) for n, s in shapes.items()}


def reference(q, k, v):
    """Row i sees the keys up to i; in f64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (x.repeat(q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    rows, keys = np.ogrid[: scores.shape[-2], : scores.shape[-1]]
    weights = np.where(keys <= rows, np.exp(scores), 0)
    return weights @ v / weights.sum(axis=-1, keepdims=True)


class Descriptor(ctypes.Structure):
    """MLIR's memref of rank 4."""

    _fields_ = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
        ("sizes", ctypes.c_int64 * 4),
        ("strides", ctypes.c_int64 * 4),
    ]

    @staticmethod
    def of(array):
        strides = [s // array.itemsize for s in array.strides]
        at = array.ctypes.data
        return Descriptor(at, at, 0, tuple(array.shape), tuple(strides))

    def copy(self, dtype):
        sizes, strides = list(self.sizes), list(self.strides)
        assert self.offset == 0 and strides[-1] == 1
        buffer = (ctypes.c_char * (sizes[0] * strides[0] * dtype.itemsize))
        return np.frombuffer(buffer.from_address(self.aligned), dtype).reshape(sizes).copy()


def call(path, arrays):
    result = Descriptor()
    arguments = [Descriptor.of(array) for array in arrays.values()]
    ctypes.CDLL(path)._mlir_ciface_program(
        ctypes.byref(result), *(ctypes.byref(x) for x in arguments)
    )
    return result.copy(np.dtype(np.float16))


def main():
    mode, *files = sys.argv[1:]
    arrays = inputs()
    if mode == "inputs":
        for name, array in arrays.items():
            np.save(name, array)
        return
    got = call(f"./{files[0]}", arrays) if mode == "library" else np.load(files[0])
    error = np.abs(got - reference(**arrays)).max()
    assert error < 4e-3, f"{mode}: largest error {error}"
    print(f"{got.size} results are right")


main()
