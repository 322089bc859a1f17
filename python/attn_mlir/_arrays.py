"""NumPy arrays and torch tensors behind one face."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

FLOATS = ("f16", "bf16", "f32", "f64")


def is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) or is_torch(x)


def namespace_of(name: str, x: Any) -> Numpy | Torch:
    """The operations for arrays like `x`, the argument called `name`."""
    if isinstance(x, np.ndarray):
        return Numpy()
    if is_torch(x):
        return Torch(x.device)
    raise ValueError(f"{name}: expects a NumPy array or a torch tensor, got {type(x).__name__}")


class _Elements:
    """Where an array's elements are, as NumPy wants to know it; nothing is read there."""

    def __init__(self, address: int, shape: Any, strides: Any, itemsize: int):
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),
            "shape": tuple(shape),
            "strides": tuple(stride * itemsize for stride in strides),
            "typestr": f"|V{itemsize}",
        }


def share_memory(a: Any, b: Any) -> bool:
    """Whether an element of one lies in the other. Interleaved views share none."""
    try:
        return np.shares_memory(a, b, max_work=10**6)
    except RuntimeError:  # TooHardError, which each NumPy keeps in another place
        return True  # their ranges do


class Numpy:
    """Operations on NumPy arrays."""

    kind = "a NumPy array"
    on_gpu = False
    stream = 0
    index = 0

    _NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
    _NAMES |= {"int8": "i8", "int32": "i32", "int64": "i64", "bool": "i1"}

    def owns(self, x: Any) -> bool:
        return isinstance(x, np.ndarray)

    def is_dense(self, x: Any) -> bool:
        return True

    def dtype(self, x: Any) -> str:
        """MLIR's name of the element type, or "" for one that is not used here."""
        if not x.dtype.isnative:
            return ""
        return self._NAMES.get(x.dtype.name, "")

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def strides(self, x: Any) -> tuple[int, ...] | None:
        """In elements, or None where an element does not begin at a multiple of its size."""
        if any(s % x.itemsize for s in x.strides) or x.ctypes.data % x.itemsize:
            return None
        return tuple(s // x.itemsize for s in x.strides)

    def address(self, x: Any) -> int:
        return x.ctypes.data

    def memory(self, x: Any) -> Any:
        """What `share_memory` takes."""
        return x

    def contiguous(self, x: Any) -> Any:
        return np.ascontiguousarray(x) if x.ndim else x.copy()

    def copy(self, x: Any) -> Any:
        return np.array(x, order="C")

    def numpy_dtype(self, dtype: str) -> Any:
        if dtype == "bf16":
            if ml_dtypes is None:
                raise ValueError("bfloat16 arrays of NumPy need the package ml_dtypes")
            return np.dtype(ml_dtypes.bfloat16)
        names = {short: name for name, short in self._NAMES.items()}
        return np.dtype(names[dtype])

    def full(self, shape: tuple[int, ...], value: float, dtype: str) -> Any:
        return np.full(shape, value, self.numpy_dtype(dtype))

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return np.empty(shape, self.numpy_dtype(dtype))

    def asarray(self, x: Any) -> Any:
        return np.asarray(x)

    def convert(self, x: Any, dtype: str) -> Any:
        return np.asarray(x).astype(self.numpy_dtype(dtype), copy=False)

    def as_bytes(self, x: Any) -> Any:
        return x.view(np.int8)

    def assign(self, target: Any, source: Any) -> None:
        target[...] = source

    def writeable(self, x: Any) -> bool:
        return bool(x.flags.writeable)


class Torch:
    """Operations on torch tensors of one device."""

    kind = "a torch tensor"

    _NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
    _NAMES |= {"int8": "i8", "int32": "i32", "int64": "i64", "bool": "i1"}

    def __init__(self, device: Any):
        self.torch = sys.modules["torch"]
        self.device = device
        self.on_gpu = device.type == "cuda"
        if device.type not in ("cpu", "cuda"):
            raise ValueError(f"q: expects a tensor on the CPU or an AMD GPU, got one on {device}")
        if self.on_gpu and not self.torch.version.hip:
            raise ValueError("q: expects a tensor on the CPU or an AMD GPU, got one on another GPU")

    @property
    def index(self) -> int:
        return (self.device.index or 0) if self.on_gpu else 0

    @property
    def stream(self) -> int:
        if not self.on_gpu:
            return 0
        return self.torch.cuda.current_stream(self.device).cuda_stream

    def owns(self, x: Any) -> bool:
        return is_torch(x) and x.device == self.device

    def is_dense(self, x: Any) -> bool:
        return x.layout == self.torch.strided

    def dtype(self, x: Any) -> str:
        return self._NAMES.get(str(x.dtype).removeprefix("torch."), "")

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def strides(self, x: Any) -> tuple[int, ...] | None:
        return tuple(x.stride())

    def address(self, x: Any) -> int:
        return x.data_ptr()

    def memory(self, x: Any) -> Any:
        """What `share_memory` takes."""
        return np.asarray(_Elements(x.data_ptr(), x.shape, x.stride(), x.element_size()))

    def contiguous(self, x: Any) -> Any:
        return x.contiguous()

    def copy(self, x: Any) -> Any:
        return x.clone(memory_format=self.torch.contiguous_format)

    def torch_dtype(self, dtype: str) -> Any:
        names = {short: name for name, short in self._NAMES.items()}
        return getattr(self.torch, names[dtype])

    def full(self, shape: tuple[int, ...], value: float, dtype: str) -> Any:
        return self.torch.full(shape, value, dtype=self.torch_dtype(dtype), device=self.device)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self.torch.empty(shape, dtype=self.torch_dtype(dtype), device=self.device)

    def asarray(self, x: Any) -> Any:
        return self.torch.as_tensor(x, device=self.device)

    def convert(self, x: Any, dtype: str) -> Any:
        return self.torch.as_tensor(x, dtype=self.torch_dtype(dtype), device=self.device)

    def as_bytes(self, x: Any) -> Any:
        return x.view(self.torch.int8)

    def assign(self, target: Any, source: Any) -> None:
        target.copy_(source)

    def writeable(self, x: Any) -> bool:
        return True
