"""libAttnC.so through ctypes: programs, devices, kernels, and its errors."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib
import weakref
from typing import Any, Iterable, NamedTuple

__all__ = ["AttnError", "Buffer", "Device", "Kernel", "Program", "UnsupportedError"]


class AttnError(RuntimeError):
    """The compiler or a device failed."""


class UnsupportedError(AttnError, NotImplementedError):
    """What was asked for is legal, but the target cannot do it."""


class UnavailableError(AttnError):
    """A device or its runtime is not there."""


class Buffer(NamedTuple):
    """Memory as a strided array; shape in elements, strides in elements."""

    name: str
    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


# attnDeviceKind
DEVICE_KINDS = {"cpu": 0, "emulator": 1, "hip": 2}
# attnCode
_INVALID_ARGUMENT, _UNSUPPORTED, _UNAVAILABLE = 1, 2, 3
_VERSION = 1


class _CompileOptions(ctypes.Structure):
    _fields_ = [
        ("structSize", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("entry", ctypes.c_char_p),
        ("optLevel", ctypes.c_int32),
    ]


class _DeviceOptions(ctypes.Structure):
    _fields_ = [
        ("structSize", ctypes.c_size_t),
        ("index", ctypes.c_int32),
        ("checks", ctypes.c_char_p),
        ("hostMemory", ctypes.c_int32),
    ]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


def _find_library() -> str:
    """ATTN_LIBRARY, else beside this file (a wheel), else the checkout's build."""
    given = os.environ.get("ATTN_LIBRARY")
    if given:
        return given
    here = pathlib.Path(__file__).resolve().parent
    candidates = [here / "libAttnC.so", here.parents[1] / "build" / "lib" / "libAttnC.so"]
    for path in candidates:
        if path.is_file():
            return str(path)
    looked = " and ".join(map(str, candidates))
    raise ImportError(
        f"attn_mlir needs libAttnC.so, but found none at {looked}; build it (utils/build) or "
        "set ATTN_LIBRARY to its path"
    )


@functools.cache
def library() -> ctypes.CDLL:
    """The loaded library, with the types of its functions."""
    path = _find_library()
    try:
        lib = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"attn_mlir cannot load {path}: {error}") from error
    text, size, handle = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    out = ctypes.POINTER(handle)
    options = ctypes.POINTER(_CompileOptions)
    signatures = {
        "attnGetVersion": (ctypes.c_uint32, []),
        "attnGetBuildId": (text, []),
        "attnGetCapabilities": (handle, [out]),
        "attnResultGetCode": (ctypes.c_int, [handle]),
        "attnResultGetMessage": (text, [handle]),
        "attnResultDestroy": (None, [handle]),
        "attnBlobGetData": (handle, [handle]),
        "attnBlobGetSize": (size, [handle]),
        "attnBlobDestroy": (None, [handle]),
        "attnCompile": (handle, [text, size, options, out]),
        "attnDescribe": (handle, [text, size, out]),
        "attnCompileDescription": (handle, [text, size, options, out]),
        "attnProgramDestroy": (None, [handle]),
        "attnProgramGetSource": (text, [handle]),
        "attnProgramGetManifest": (text, [handle]),
        "attnProgramGetInterface": (text, [handle]),
        "attnProgramGetCode": (handle, [handle, ctypes.POINTER(size)]),
        "attnProgramGetStages": (handle, [handle, out]),
        "attnProgramSerialize": (handle, [handle, out]),
        "attnProgramDeserialize": (handle, [text, size, out]),
        "attnDeviceIsAvailable": (handle, [ctypes.c_int]),
        "attnDeviceCreate": (handle, [ctypes.c_int, ctypes.POINTER(_DeviceOptions), out]),
        "attnDeviceGetTarget": (text, [handle]),
        "attnDeviceDestroy": (None, [handle]),
        "attnKernelLoad": (handle, [handle, handle, out]),
        "attnKernelDestroy": (None, [handle]),
        "attnKernelLaunch": (handle, [handle, ctypes.POINTER(_Buffer), size, handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    version = lib.attnGetVersion()
    if version // 1000 != _VERSION:
        raise ImportError(f"attn_mlir expects version {_VERSION} of the C API, got {version}")
    return lib


def check(result: int | None) -> None:
    """Raises what a call of the C API came to."""
    if not result:
        return
    lib = library()
    code = lib.attnResultGetCode(result)
    message = lib.attnResultGetMessage(result).decode()
    lib.attnResultDestroy(result)
    if code == _INVALID_ARGUMENT:
        raise ValueError(message)
    if code == _UNSUPPORTED:
        raise UnsupportedError(message)
    if code == _UNAVAILABLE:
        raise UnavailableError(message)
    raise AttnError(message)


def _take_blob(blob: ctypes.c_void_p) -> bytes:
    lib = library()
    data = ctypes.string_at(lib.attnBlobGetData(blob), lib.attnBlobGetSize(blob))
    lib.attnBlobDestroy(blob)
    return data


class _Handle:
    """Owns a handle; destroyed with this object."""

    _destroy = ""

    def __init__(self, handle: ctypes.c_void_p):
        self.handle = handle
        weakref.finalize(self, getattr(library(), self._destroy), handle)


class Program(_Handle):
    """A compiled function: code, manifest, interface."""

    _destroy = "attnProgramDestroy"

    @staticmethod
    def compile(description: str, target: str, opt_level: int = 3) -> Program:
        """From a description, see attnDescribe in attn-c/Program.h."""
        options = _CompileOptions(
            ctypes.sizeof(_CompileOptions), target.encode(), None, opt_level
        )
        text, handle = description.encode(), ctypes.c_void_p()
        check(library().attnCompileDescription(text, len(text), options, ctypes.byref(handle)))
        return Program(handle)

    @staticmethod
    def deserialize(data: bytes) -> Program:
        handle = ctypes.c_void_p()
        check(library().attnProgramDeserialize(data, len(data), ctypes.byref(handle)))
        return Program(handle)

    def serialize(self) -> bytes:
        blob = ctypes.c_void_p()
        check(library().attnProgramSerialize(self.handle, ctypes.byref(blob)))
        return _take_blob(blob)

    @property
    def source(self) -> str:
        return library().attnProgramGetSource(self.handle).decode()

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads(library().attnProgramGetManifest(self.handle))

    @property
    def interface(self) -> dict[str, Any]:
        return json.loads(library().attnProgramGetInterface(self.handle))

    @functools.cached_property
    def alignments(self) -> dict[str, tuple[int, str]]:
        """Buffer to (bytes that address and outer strides are a multiple of, role)."""
        return {
            buffer["name"]: (buffer.get("alignment", 1), buffer["role"])
            for buffer in self.manifest["buffers"]
        }

    @property
    def code(self) -> bytes:
        size = ctypes.c_size_t()
        data = library().attnProgramGetCode(self.handle, ctypes.byref(size))
        return ctypes.string_at(data, size.value)

    def stages(self) -> list[tuple[str, str]]:
        """(pass, module text) for every pass that changed the module; compiles again."""
        blob = ctypes.c_void_p()
        check(library().attnProgramGetStages(self.handle, ctypes.byref(blob)))
        return [(stage["name"], stage["text"]) for stage in json.loads(_take_blob(blob))]


class Device(_Handle):
    """A device; see `device`."""

    _destroy = "attnDeviceDestroy"

    def __init__(self, kind: str, index: int, checks: str | None, host_memory: bool):
        options = _DeviceOptions(
            ctypes.sizeof(_DeviceOptions),
            index,
            checks.encode() if checks else None,
            host_memory,
        )
        handle = ctypes.c_void_p()
        check(library().attnDeviceCreate(DEVICE_KINDS[kind], options, ctypes.byref(handle)))
        super().__init__(handle)
        self.kind = kind
        self.target = library().attnDeviceGetTarget(handle).decode()

    def load(self, program: Program) -> Kernel:
        handle = ctypes.c_void_p()
        check(library().attnKernelLoad(self.handle, program.handle, ctypes.byref(handle)))
        return Kernel(handle)


class Kernel(_Handle):
    """A program on a device."""

    _destroy = "attnKernelDestroy"

    def launch(self, buffers: Iterable[Buffer], stream: int = 0) -> None:
        """Runs it; `stream` is a hipStream_t, 0 for the default one."""
        array = (_Buffer * len(list(buffers := tuple(buffers))))()
        for entry, buffer in zip(array, buffers):
            rank = len(buffer.shape)
            entry.name = buffer.name.encode()
            entry.data = buffer.address
            entry.dtype = buffer.dtype.encode()
            entry.rank = rank
            entry.shape = (ctypes.c_int64 * rank)(*buffer.shape)
            entry.strides = (ctypes.c_int64 * rank)(*buffer.strides)
        check(library().attnKernelLaunch(self.handle, array, len(buffers), stream or None))


@functools.cache
def device(kind: str, index: int = 0, checks: str | None = None, host_memory: bool = False) -> Device:
    """The device of this process that these options describe."""
    return Device(kind, index, checks, host_memory)


@functools.cache
def hip_target() -> str:
    """The chip of GPU 0, "" without one."""
    try:
        return device("hip", host_memory=True).target
    except UnavailableError:
        return ""


@functools.cache
def build_id() -> str:
    return library().attnGetBuildId().decode()


def capabilities() -> dict[str, Any]:
    """What the library can do: version, build_id, llvm, targets, host, devices."""
    blob = ctypes.c_void_p()
    check(library().attnGetCapabilities(ctypes.byref(blob)))
    return json.loads(_take_blob(blob))


@functools.cache
def host() -> str:
    """The CPU that target "cpu" compiles for."""
    return capabilities()["host"]
