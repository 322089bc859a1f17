"""Programs by description: compiled once, kept in memory and on disk."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any, Sequence

from . import _cache, _native
from ._arrays import Numpy, Torch

CHIPS = ("gfx942", "gfx950")
DEVICES = ("cpu", "emulator", "hip")

_programs: dict[tuple[str, int, str], _native.Program] = {}
_lock = threading.Lock()


def opt_level() -> int:
    """ATTN_OPT_LEVEL, LLVM's 0 to 3: 3 by default; less compiles faster."""
    text = os.environ.get("ATTN_OPT_LEVEL", "3")
    if text not in ("0", "1", "2", "3"):
        raise ValueError(f"ATTN_OPT_LEVEL: expects 0 to 3, got {text!r}")
    return int(text)


def get_program(description: str, target: str) -> _native.Program:
    """The program of a description for "cpu" or a chip.

    The disk's key holds all that decides the code: the description (every type, size,
    stride and option), the target, the optimization level, the host's features for "cpu",
    and the build ids of the compiler and of LLVM and MLIR.
    """
    level = opt_level()
    memory_key = (target, level, description)
    program = _programs.get(memory_key)
    if program is not None:
        return program
    host = _native.host() if target == "cpu" else ""
    name = _cache.key(_native.build_id(), target, str(level), host, description)
    program = _read(name)
    if program is None:
        program = _native.Program.compile(description, target, level)
        _cache.write(name, program.serialize())
    with _lock:
        return _programs.setdefault(memory_key, program)


def _read(name: str) -> _native.Program | None:
    data = _cache.read(name)
    if data is None:
        return None
    try:
        return _native.Program.deserialize(data)
    except (ValueError, _native.AttnError):
        _cache.discard(name)
        return None


@functools.lru_cache(maxsize=1024)
def _load(
    program: _native.Program, device: str, index: int, checks: str | None, host_memory: bool
) -> _native.Kernel:
    return _native.device(device, index, checks, host_memory).load(program)


def choose_target(
    device: str | None, chip: str | None, namespace: Numpy | Torch
) -> tuple[str, str]:
    """(device, target): HIP where there is an AMD GPU, else the CPU, unless asked otherwise."""
    if chip is not None and chip not in CHIPS:
        raise ValueError(f"chip: expects {' or '.join(map(repr, CHIPS))}, got {chip!r}")
    if device is not None and device not in DEVICES:
        raise ValueError(
            f"device: expects {', '.join(map(repr, DEVICES))} or None, got {device!r}"
        )
    if namespace.on_gpu and device not in (None, "hip"):
        raise ValueError(f"device: expects 'hip' for tensors on a GPU, got {device!r}")
    if device is None:
        device = "hip" if namespace.on_gpu or _native.hip_target() else "cpu"
        if chip is not None and device == "cpu":
            raise ValueError(
                f"chip: expects an AMD GPU for {chip!r}, got none; device='emulator' runs "
                "without one"
            )
    if device == "cpu":
        if chip is not None:
            raise ValueError(f"chip: expects None with device='cpu', got {chip!r}")
        return device, "cpu"
    if device == "emulator":
        return device, chip or "gfx950"
    host_memory = not namespace.on_gpu
    target = _native.device("hip", namespace.index, None, host_memory).target
    if chip is not None and chip != target:
        raise ValueError(f"chip: expects {target!r}, which the GPU is, got {chip!r}")
    return device, target


def launch(
    description: str,
    arrays: Sequence[tuple[str, str, Any]],
    namespace: Numpy | Torch,
    device: str,
    target: str,
    checks: str | None = None,
) -> None:
    """Runs a program on (name, type, array) triples; scalars are NumPy arrays of rank 0."""
    host_memory = device == "hip" and not namespace.on_gpu
    program = get_program(description, target)
    kernel = _load(program, device, namespace.index, checks, host_memory)
    copies = []
    if namespace.on_gpu:
        arrays, copies = align(program, arrays, namespace)
    buffers = []
    for name, dtype, array in arrays:
        space = namespace if namespace.owns(array) else Numpy()
        strides = space.strides(array) or ()
        buffers.append(
            _native.Buffer(name, space.address(array), dtype, space.shape(array), strides)
        )
    kernel.launch(buffers, namespace.stream)
    for given, written in copies:
        namespace.assign(given, written)


def align(
    program: _native.Program, arrays: Sequence[tuple[str, str, Any]], namespace: Numpy | Torch
) -> tuple[list[tuple[str, str, Any]], list[tuple[Any, Any]]]:
    """Copies in place of arrays that a kernel cannot take where they are.

    Returns the arrays to launch on, and pairs (the caller's output, what is written).
    """
    result, copies = [], []
    for name, dtype, array in arrays:
        alignment, role = program.alignments.get(name, (1, "input"))
        if namespace.owns(array) and not _is_aligned(array, alignment, namespace):
            copy = namespace.copy(array)
            if role == "output":
                copies.append((array, copy))
            array = copy
        result.append((name, dtype, array))
    return result, copies


def _is_aligned(array: Any, alignment: int, namespace: Numpy | Torch) -> bool:
    width = array.itemsize
    pairs = zip(namespace.shape(array)[:-1], namespace.strides(array) or ())
    return namespace.address(array) % alignment == 0 and all(
        stride * width % alignment == 0 for size, stride in pairs if size > 1
    )
