"""One attention as data: its operands, checked, and the description that is compiled."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Sequence

import numpy as np

from ._arrays import FLOATS, Numpy, Torch, is_array, namespace_of, share_memory

LAYOUTS = {
    "bhsd": {"q": "B Hq Sq D", "k": "B Hk Skv D", "v": "B Hv Skv Dv", "out": "B Hq Sq Dv"},
    "bshd": {"q": "B Sq Hq D", "k": "B Skv Hk D", "v": "B Skv Hv Dv", "out": "B Sq Hq Dv"},
    "thd": {"q": "Tq Hq D", "k": "Tkv Hk D", "v": "Tkv Hv Dv", "out": "Tq Hq Dv"},
}
LSE_LAYOUTS = {
    "bhs": "B Hq Sq",
    "hs_packed": "Hq Tq",
    "sh_packed": "Tq Hq",
    "bhs_padded": "B Hq max_seqlen_q",
}
# Sizes that a program is compiled for; it serves every other size.
_STATIC = {"splits", "Hq", "Hk", "Hv", "D", "Dv"}
_LARGEST = 2**31 - 1
_MOST_SPLITS = 65535  # a dim of the grid (C23 of attn.attention)
_LARGEST_F32 = float(np.finfo(np.float32).max)
_SMALLEST_F32 = float(np.finfo(np.float32).tiny)


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """Shape and element type of an argument that `compile` has no array for.

    shape: sizes; None is known at the call only. dtype: "f16", "bf16", "f32" or "f64" (of
    a mask "i8"). Any outer strides with a unit inner one are taken at the call.
    """

    shape: Sequence[int | None]
    dtype: str


@dataclasses.dataclass
class Operand:
    """An argument of the program."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    # What is compiled: None is a size or stride that is known at the call.
    type_shape: tuple[int | None, ...]
    type_strides: tuple[int | None, ...] | None
    array: Any = None


class Problem:
    """Checks the arguments of an attention and holds them.

    Every error is a ValueError that names the argument, what it expects and what it got.
    """

    def __init__(self, arguments: dict[str, Any], *, dynamic: bool = True):
        """`arguments`: all of `attention` but those that say where it runs."""
        a = arguments
        self.options: dict[str, Any] = {}
        self.operands: list[Operand] = []
        # (the caller's output, what the program writes) where they differ
        self.copies: list[tuple[Any, Any]] = []
        self._given: dict[str, Any] = {}
        self.sizes: dict[str, tuple[int | None, str]] = {}
        self.dynamic = dynamic
        self.with_specs = any(isinstance(a[name], TensorSpec) for name in ("q", "k", "v"))
        if self.with_specs:
            self.namespace: Numpy | Torch = Numpy()
        else:
            self.namespace = namespace_of("q", a["q"])
        self.layout = _one_of("layout", a["layout"], LAYOUTS)
        if self.layout != "bhsd":
            self.options["layout"] = self.layout
        self.paged = a["block_table"] is not None
        self._check_packing(a)
        letters = self._tensor_letters()
        for name in ("q", "k", "v"):
            self._add_tensor(name, a[name], letters[name].split())
        self._check_tensors()
        dtype = self.operands[0].dtype

        self._set_scores(a["causal"], a["window"], a["sink_tokens"], a["scale"], a["softcap"])
        self._add_lengths(a)
        self._add_offsets(a["q_offset"], a["kv_offset"], a["diagonal"], a["alibi_slopes"])
        self._add_broadcast("bias", a["bias"])
        self._add_broadcast("mask", a["mask"])
        if (slopes := a["alibi_slopes"]) is not None:
            rank = 2 if len(getattr(slopes, "shape", ())) == 2 else 1
            self._add_vector("alibi_slopes", slopes, "f32", ["B", "Hq"][2 - rank :])
        if a["sink"] is not None:
            self._add_vector("sink", a["sink"], "f32", ["Hq"])
        self._set_lse(a["return_lse"], a["lse_base"], a["lse_layout"], a["max_seqlen_q"], a["lse"])
        parts = self._set_splits(a["num_kv_splits"], a["partial"], a["sink"])
        dtype = "f32" if parts and dtype != "f64" else dtype
        self.out = self._add_output("output", a["out"], dtype, parts + letters["out"].split())
        self.lse = None
        if self.has_lse:
            self.lse = self._add_output("lse", a["lse"], "f32", parts + self.lse_letters)
        if a["out"] is not None or a["lse"] is not None:
            check_own_memory(self.namespace, {"out": a["out"], "lse": a["lse"]}, self._given)

    def _check_packing(self, a: dict[str, Any]) -> None:
        if self.paged and a["cu_seqlens_kv"] is not None:
            raise ValueError(
                "cu_seqlens_kv: expects None with block_table, whose lengths are in seqlens_kv, "
                f"got {_kind(a['cu_seqlens_kv'])}"
            )
        for name in self._starts():
            if (a[name] is not None) != (self.layout == "thd"):
                wanted = "numbers with" if self.layout == "thd" else "None without"
                raise ValueError(f"{name}: expects {wanted} layout 'thd', got {_kind(a[name])}")

    def _starts(self) -> Sequence[str]:
        """The arguments that say where packed sequences begin; pages have no such order."""
        return ("cu_seqlens_q",) if self.paged else ("cu_seqlens_q", "cu_seqlens_kv")

    def _tensor_letters(self) -> dict[str, str]:
        letters = dict(LAYOUTS[self.layout])
        if self.paged and self.layout == "bhsd":
            letters |= {"k": "pages Hk page D", "v": "pages Hv page Dv"}
        elif self.paged:
            letters |= {"k": "pages page Hk D", "v": "pages page Hv Dv"}
        return letters

    def _check_tensors(self) -> None:
        """What holds between q, k and v, besides their sizes."""
        q, *others = self.operands
        for operand in others:
            if operand.dtype != q.dtype:
                raise ValueError(
                    f"{operand.name}: expects the element type of q, {q.dtype}, "
                    f"got {operand.dtype}"
                )
        for name, letter in (("k", "Hk"), ("v", "Hv")):
            heads, group = self.size("Hq"), self.size(letter)
            if heads and group and heads % group:
                raise ValueError(
                    f"{name}: expects a number of heads that divides the {heads} of q, got {group}"
                )

    # ------------------------------------------------------------------
    # Sizes
    # ------------------------------------------------------------------

    def size(self, letter: str) -> int | None:
        return self.sizes[letter][0] if letter in self.sizes else None

    def _bind(self, name: str, shape: Sequence[int | None], letters: Sequence[str]) -> None:
        """Gives the sizes their names, and refuses two values for one."""
        wanted = f"[{', '.join(letters)}]"
        if len(shape) != len(letters):
            raise ValueError(f"{name}: expects shape {wanted}, got {_show(shape)}")
        for letter, size in zip(letters, shape):
            known, origin = self.sizes.setdefault(letter, (size, name))
            if known is None and size is not None:
                self.sizes[letter] = (size, name)
            elif size is not None and known != size:
                raise ValueError(
                    f"{name}: expects shape {wanted} with {letter} = {known} as in {origin}, "
                    f"got {_show(shape)}"
                )
            if letter in ("Hq", "Hk", "Hv", "D", "Dv") and size == 0:
                raise ValueError(f"{name}: expects {letter} to be positive, got {_show(shape)}")

    def _type_size(self, letter: str, size: int | None) -> int | None:
        return size if not self.dynamic or letter in _STATIC else None

    # ------------------------------------------------------------------
    # Operands
    # ------------------------------------------------------------------

    def _check_array(self, name: str, x: Any) -> None:
        if self.with_specs:
            return
        if self.namespace.owns(x):
            if not self.namespace.is_dense(x):
                raise ValueError(f"{name}: expects a dense tensor, got one of {x.layout}")
            return
        what = type(x).__name__
        if is_array(x) and hasattr(x, "device"):
            what += f" on {x.device}"
        where = f" on {self.namespace.device}" if hasattr(self.namespace, "device") else ""
        raise ValueError(f"{name}: expects {self.namespace.kind}{where}, as q is, got {what}")

    def _shape_and_type(self, name: str, x: Any) -> tuple[tuple[int | None, ...], str]:
        if isinstance(x, TensorSpec):
            if not self.with_specs:
                raise ValueError(f"{name}: expects {self.namespace.kind}, as q is, got TensorSpec")
            return _spec_shape(name, x.shape), x.dtype
        if self.with_specs:
            raise ValueError(f"{name}: expects a TensorSpec, as the others, got {type(x).__name__}")
        self._check_array(name, x)
        return self.namespace.shape(x), self.namespace.dtype(x)

    def _add_input(self, given: Any, operand: Operand) -> None:
        self._given[operand.name] = given
        self.operands.append(operand)

    def _add_tensor(self, name: str, x: Any, letters: list[str]) -> None:
        """q, k or v: any strides with a unit inner one; others are copied."""
        shape, dtype = self._shape_and_type(name, x)
        if dtype not in FLOATS:
            raise ValueError(
                f"{name}: expects elements of {', '.join(FLOATS)}, got "
                f"{dtype or getattr(x, 'dtype', dtype)}"
            )
        self._bind(name, shape, letters)
        array = None if self.with_specs else self._with_unit_inner(x, dtype)
        type_shape = tuple(self._type_size(letter, s) for letter, s in zip(letters, shape))
        strides = (None,) * (len(shape) - 1) + (1,)
        self._add_input(x, Operand(name, dtype, shape, type_shape, strides, array))

    def _with_unit_inner(self, x: Any, dtype: str) -> Any:
        if self._fits(x, dtype):
            return x
        return self.namespace.contiguous(x)

    def _fits(self, x: Any, dtype: str) -> bool:
        """Whether a program for any outer strides takes `x` as it is."""
        strides = self.namespace.strides(x)
        if strides is None:
            return False
        shape = self.namespace.shape(x)
        if 0 in shape:
            return True
        if shape[-1] > 1 and strides[-1] != 1:
            return False
        return all(stride >= 0 for size, stride in zip(shape, strides) if size > 1)

    def _add_broadcast(self, name: str, x: Any) -> None:
        """bias or mask: dims of 1 broadcast, also missing ones in front."""
        if x is None:
            return
        shape, dtype = self._shape_and_type(name, x)
        if name == "mask":
            if dtype not in ("i1", "i8"):
                raise ValueError(
                    f"mask: expects elements of bool or int8, got {getattr(x, 'dtype', dtype)}"
                )
            dtype = "i8"
        elif dtype not in FLOATS:
            raise ValueError(
                f"{name}: expects elements of {', '.join(FLOATS)}, got {getattr(x, 'dtype', dtype)}"
            )
        if not 1 <= len(shape) <= 4:
            raise ValueError(f"{name}: expects 1 to 4 dimensions, got {_show(shape)}")
        letters = ["B", "Hq", "Sq", "Skv"][4 - len(shape) :]
        type_shape = []
        for letter, size in zip(letters, shape):
            full = self.size(letter)
            if size is not None and size != 1 and full is not None and size != full:
                raise ValueError(
                    f"{name}: expects a shape that broadcasts to [B, Hq, Sq, Skv] = "
                    f"{_show([self.size(s) for s in ('B', 'Hq', 'Sq', 'Skv')])}, got {_show(shape)}"
                )
            type_shape.append(1 if size == 1 else self._type_size(letter, size))
        array, strides = None, (None,) * (len(shape) - 1) + (1,)
        if not self.with_specs:
            array = x if self._fits(x, dtype) else self.namespace.contiguous(x)
            if name == "mask" and self.namespace.dtype(array) == "i1":
                array = self.namespace.as_bytes(array)
        self._add_input(x, Operand(name, dtype, shape, tuple(type_shape), strides, array))

    def _add_vector(self, name: str, x: Any, dtype: str, letters: list[str]) -> None:
        """A small array, contiguous and of a fixed type; lists are taken too."""
        if isinstance(x, TensorSpec) or self.with_specs:
            shape, given = self._shape_and_type(name, x)
            if given != dtype:
                raise ValueError(f"{name}: expects elements of {dtype}, got {given}")
            array = None
        else:
            array = self.namespace.contiguous(self._convert(name, x, dtype))
            shape = self.namespace.shape(array)
        self._bind(name, shape, letters)
        type_shape = tuple(self._type_size(letter, s) for letter, s in zip(letters, shape))
        self._add_input(x, Operand(name, dtype, shape, type_shape, None, array))

    def _convert(self, name: str, x: Any, dtype: str) -> Any:
        """An array or a list of numbers as i32 or f32, none of them another one then."""
        legal = ("i32", "i64") if dtype == "i32" else FLOATS
        if is_array(x):
            self._check_array(name, x)
        else:
            try:
                x = self.namespace.asarray(x)
            except (TypeError, ValueError, OverflowError, RuntimeError) as error:
                raise ValueError(f"{name}: expects numbers, got {x!r}: {error}") from None
            legal = tuple(dict.fromkeys((*legal, "i32", "i64")))
        if 0 not in self.namespace.shape(x):
            given = self.namespace.dtype(x)
            if given not in legal:
                raise ValueError(f"{name}: expects elements of {', '.join(legal)}, got {x.dtype}")
            if dtype == "i32" and given == "i64":
                for value in (int(x.min()), int(x.max())):
                    if not -_LARGEST - 1 <= value <= _LARGEST:
                        raise ValueError(f"{name}: expects numbers of 32 bits, got {value}")
        return self.namespace.convert(x, dtype)

    def _add_per_batch(self, name: str, x: Any) -> None:
        """One number, or one a sequence."""
        if isinstance(x, TensorSpec) or is_array(x) and len(x.shape) or isinstance(x, (list, tuple)):
            self._add_vector(name, x, "i32", ["B"])
            return
        value = _integer(name, x)
        if not -_LARGEST - 1 <= value <= _LARGEST:
            raise ValueError(f"{name}: expects a number of 32 bits, got {value}")
        array = Numpy().convert(value, "i32")
        self._add_input(x, Operand(name, "i32", (), (), None, array))

    def _add_output(self, name: str, given: Any, dtype: str, letters: list[str]) -> Any:
        """The array that results go to; `self.copies` has those to copy from later."""
        argument = "out" if name == "output" else name
        shape = tuple(self.size(letter) for letter in letters)
        array = None
        if not self.with_specs:
            if given is None:
                packed = self.layout == "thd"
                # Rows behind the last packed sequence are nobody's.
                neutral = 0.0 if name == "output" else -math.inf
                array = (
                    self.namespace.full(shape, neutral, dtype)
                    if packed
                    else self.namespace.empty(shape, dtype)
                )
                given = array
            else:
                self._check_output(argument, given, dtype, shape, letters)
                array = given if self._fits_output(given, dtype) else None
                if array is None:
                    array = self.namespace.contiguous(given)
                    self.copies.append((given, array))
        type_shape = tuple(self._type_size(letter, s) for letter, s in zip(letters, shape))
        strides = (None,) * (len(shape) - 1) + (1,)
        self.operands.append(Operand(name, dtype, shape, type_shape, strides, array))
        return given

    def _fits_output(self, x: Any, dtype: str) -> bool:
        pairs = zip(self.namespace.shape(x), self.namespace.strides(x) or ())
        return self._fits(x, dtype) and all(stride for size, stride in pairs if size > 1)

    def _check_output(
        self, name: str, x: Any, dtype: str, shape: tuple[int | None, ...], letters: list[str]
    ) -> None:
        self._check_array(name, x)
        if self.namespace.dtype(x) != dtype:
            raise ValueError(f"{name}: expects elements of {dtype}, got {x.dtype}")
        if self.namespace.shape(x) != shape:
            raise ValueError(
                f"{name}: expects shape [{', '.join(letters)}] = {_show(shape)}, "
                f"got {_show(self.namespace.shape(x))}"
            )
        if not self.namespace.writeable(x):
            raise ValueError(f"{name}: expects an array that can be written, got a read-only one")

    # ------------------------------------------------------------------
    # Options
    # ------------------------------------------------------------------

    def _set_scores(
        self, causal: Any, window: Any, sink_tokens: Any, scale: Any, softcap: Any
    ) -> None:
        if not isinstance(causal, (bool, np.bool_)):
            raise ValueError(f"causal: expects True or False, got {causal!r}")
        if causal:
            self.options["causal"] = True
        left, right = -1, -1
        if window is not None:
            if not isinstance(window, (tuple, list)) or len(window) != 2:
                raise ValueError(f"window: expects a pair (left, right), got {window!r}")
            left, right = (-1 if side is None else _integer("window", side) for side in window)
            if not (-1 <= left <= _LARGEST and -1 <= right <= _LARGEST):
                raise ValueError(
                    "window: expects sides that are -1 or None (unbounded) or 0 to 2**31 - 1, "
                    f"got {window!r}"
                )
            if causal and right > 0:
                raise ValueError(
                    f"window: expects right to be at most 0 with causal, got {right}"
                )
        tokens = _integer("sink_tokens", sink_tokens)
        if not 0 <= tokens <= _LARGEST:
            raise ValueError(f"sink_tokens: expects a number from 0, got {tokens}")
        if tokens and left < 0:
            raise ValueError(f"sink_tokens: expects a window with a left side, got {tokens} tokens")
        for name, value, default in (
            ("window_left", left, -1),
            ("window_right", right, -1),
            ("sink_tokens", tokens, 0),
        ):
            if value != default:
                self.options[name] = value
        self.reads_diagonal = causal or left >= 0 or right >= 0
        if scale is not None:
            self.options["scale"] = _finite("scale", scale)
        if softcap is not None:
            value = _finite("softcap", softcap)
            if value < _SMALLEST_F32:
                raise ValueError(
                    f"softcap: expects a positive number that is normal in f32, or None, got {softcap}"
                )
            self.options["softcap"] = value

    def _add_lengths(self, a: dict[str, Any]) -> None:
        packed = self.layout == "thd"
        if packed:
            for name in self._starts():
                self._add_vector(name, a[name], "i32", ["B + 1"])
            starts, origin = self.sizes["B + 1"]
            if starts == 0:
                raise ValueError("cu_seqlens_q: expects B + 1 numbers, got none")
            self.sizes["B"] = (None if starts is None else starts - 1, origin)
        for name in ("seqlens_q", "seqlens_kv"):
            if a[name] is None:
                continue
            if packed and not (name == "seqlens_kv" and self.paged):
                raise ValueError(f"{name}: expects cu_{name} with layout 'thd', got lengths")
            self._add_per_batch(name, a[name])
        if self.paged:
            if a["seqlens_kv"] is None:
                raise ValueError("seqlens_kv: expects lengths with block_table, got None")
            page = self.size("page")
            if not page:
                raise ValueError(f"k: expects a page size that is positive and known, got {page}")
            self.options["page_size"] = page
            self._add_vector("block_table", a["block_table"], "i32", ["B", "table"])
            for operand in self.operands[1:3]:
                at = 2 if self.layout == "bhsd" else 1
                shape = list(operand.type_shape)
                shape[at] = page
                operand.type_shape = tuple(shape)

    def _add_offsets(self, q_offset: Any, kv_offset: Any, diagonal: Any, slopes: Any) -> None:
        for name, offset in (("q_offset", q_offset), ("kv_offset", kv_offset)):
            if offset is not None:
                self._add_per_batch(name, offset)
        _one_of("diagonal", diagonal, ("bottom_right", "top_left"))
        if diagonal == "top_left":
            if q_offset is not None or kv_offset is not None:
                raise ValueError(
                    "diagonal: expects the default with q_offset or kv_offset, which place the "
                    "diagonal, got 'top_left'"
                )
            # Where nothing reads the diagonal its place is of no interest.
            if self.reads_diagonal or slopes is not None:
                self.options["diagonal_alignment"] = diagonal

    def _set_lse(
        self, return_lse: Any, base: Any, layout: Any, max_seqlen_q: Any, lse: Any
    ) -> None:
        if not isinstance(return_lse, bool):
            raise ValueError(f"return_lse: expects True or False, got {return_lse!r}")
        self.has_lse = return_lse
        _one_of("lse_base", base, ("e", "two"))
        packed = self.layout == "thd"
        if layout is None:
            layout = "hs_packed" if packed else "bhs"
        legal = ("hs_packed", "sh_packed", "bhs_padded") if packed else ("bhs",)
        _one_of("lse_layout", layout, legal)
        if lse is not None and not return_lse:
            raise ValueError("lse: expects return_lse=True, got an array without it")
        if not return_lse:
            return
        if base != "e":
            self.options["lse_base"] = base
        if packed:
            self.options["lse_layout"] = layout
        self.lse_letters = LSE_LAYOUTS[layout].split()
        if layout == "bhs_padded":
            if max_seqlen_q is None:
                raise ValueError("max_seqlen_q: expects a number with lse_layout 'bhs_padded'")
            longest = _integer("max_seqlen_q", max_seqlen_q)
            if not 0 <= longest <= _LARGEST:
                raise ValueError(f"max_seqlen_q: expects a number from 0, got {longest}")
            self.sizes["max_seqlen_q"] = (longest, "max_seqlen_q")

    def _set_splits(self, count: Any, partial: Any, sink: Any) -> list[str]:
        """The dims in front of O and LSE: that of the splits, if their states are wanted."""
        count = _integer("num_kv_splits", count)
        if not 0 <= count <= _MOST_SPLITS:
            raise ValueError(f"num_kv_splits: expects a number from 0 to 65535, got {count}")
        if not isinstance(partial, bool):
            raise ValueError(f"partial: expects True or False, got {partial!r}")
        if count != 1 or partial:
            self.options["num_kv_splits"] = count
        if not partial:
            return []
        if count == 0:
            raise ValueError("num_kv_splits: expects a number of splits with partial, got 0")
        if not self.has_lse:
            raise ValueError("return_lse: expects True with partial, got False")
        if sink is not None:
            raise ValueError("sink: expects None with partial, whose states leave it out, got one")
        self.sizes["splits"] = (count, "num_kv_splits")
        return ["splits"]

    # ------------------------------------------------------------------
    # Results
    # ------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether there is no row to compute."""
        return 0 in self.operands[0].shape or self.size("B") == 0

    def describe(self) -> str:
        """The description to compile; equal problems have equal ones."""
        operands = {
            operand.name: {
                "dtype": operand.dtype,
                "shape": operand.type_shape,
                **({"strides": operand.type_strides} if operand.type_strides else {}),
            }
            for operand in self.operands
        }
        return json.dumps(
            {"op": "attention", "operands": operands, "options": self.options}, sort_keys=True
        )


def check_own_memory(
    namespace: Numpy | Torch, outputs: dict[str, Any], inputs: dict[str, Any]
) -> None:
    """Refuses an output with an element in an input or in another output."""
    inputs = {name: x for name, x in inputs.items() if namespace.owns(x)}
    for name, output in outputs.items():
        if output is None:
            continue
        for other, x in inputs.items():
            if share_memory(namespace.memory(output), namespace.memory(x)):
                raise ValueError(
                    f"{name}: expects memory of its own, got an array that overlaps with {other}"
                )
        inputs[name] = output


def _kind(x: Any) -> str:
    return "None" if x is None else type(x).__name__


def _show(shape: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _spec_shape(name: str, shape: Any) -> tuple[int | None, ...]:
    """The sizes of a `TensorSpec`."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
            raise ValueError(f"{name}: expects sizes from 0 or None in its shape, got {shape!r}")
    return sizes


def _one_of(name: str, value: Any, legal: Any) -> Any:
    if not isinstance(value, str) or value not in legal:
        raise ValueError(f"{name}: expects {' or '.join(map(repr, legal))}, got {value!r}")
    return value


def _integer(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return value.__index__()
    except (AttributeError, TypeError):
        raise ValueError(f"{name}: expects an integer, got {value!r}") from None


def _finite(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expects a number, got {value!r}") from None
    if not abs(number) <= _LARGEST_F32:
        raise ValueError(f"{name}: expects a number that is finite in f32, got {number}")
    return number
