"""Attention problems as data: their MLIR text, their reference, a run.

The one place of the test suite that knows the assembly of `attn.attention`
and the command line of `attn-run`. Several problems may share a program (and
so a process); each is one op of the same function.
"""

import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass, field

import attn_reference
import compare
import ml_dtypes
import numpy as np
from devices import Device

BUILD = pathlib.Path(
    os.environ.get("ATTN_BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build")
)

# Optional operands in the order the op lists them.
OPERANDS = (
    "bias mask alibi_slopes sink seqlens_q seqlens_kv cu_seqlens_q cu_seqlens_kv "
    "q_offset kv_offset block_table scale_value kv_split"
).split()
ATTRIBUTES = (
    "causal scale layout diagonal_alignment window_left window_right sink_tokens softcap "
    "lse_base lse_layout num_kv_splits page_size"
).split()

_ELEMENT_TYPES = {
    np.dtype(np.float16): "f16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    np.dtype(np.int32): "i32",
    np.dtype(np.int8): "i8",
    np.dtype(np.bool_): "i1",
}


def element_type(array):
    return _ELEMENT_TYPES[array.dtype]


@dataclass
class View:
    """A strided window of a flat buffer; offset and strides count elements."""

    base: np.ndarray
    offset: int
    shape: tuple
    strides: tuple
    dynamic_offset: bool = False

    @property
    def dtype(self):
        return self.base.dtype

    def read(self):
        """The window's elements as an array that aliases the buffer."""
        size = self.base.itemsize
        return np.lib.stride_tricks.as_strided(
            self.base[self.offset :], self.shape, [s * size for s in self.strides]
        )


@dataclass
class Strided:
    """An array whose memory has gaps: strides, in elements, of its own argument."""

    array: np.ndarray
    strides: tuple

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape

    def read(self):
        return self.array


def view_of(array, *, pitch=None, offset=0, tail=0, fill=np.nan):
    """A view that equals `array`, with row pitch `pitch` in a buffer of `fill`."""
    pitch = pitch or array.shape[-1]
    strides = [1]
    for n, size in enumerate(reversed(array.shape[1:])):
        strides.insert(0, strides[0] * (pitch if n == 0 else size))
    count = offset + strides[0] * array.shape[0] + tail
    view = View(np.full(count, fill, array.dtype), offset, array.shape, tuple(strides))
    view.read()[...] = array
    return view


@dataclass
class Problem:
    """One attn.attention: arrays or views, options by the names the op gives them.

    `out` and `lse` are the destinations with their previous contents; by
    default both are filled with NaN. `lse` = False asks for none. The arrays'
    types are the element types; `out_type` is that of a default `out`. `config`
    is the inside of the op's `attn.lowering_config`. `dynamic` = "rows" leaves
    the numbers of heads in the types. `integers` is the type of lengths and
    offsets for all batches.
    """

    q: object
    k: object
    v: object
    options: dict = field(default_factory=dict)
    out: object = None
    lse: object = True
    out_type: object = None
    dynamic: bool | str = False
    tensors: bool = False
    states: bool = False
    config: str = ""
    integers: str = "i32"

    def __post_init__(self):
        unknown = set(self.options) - set(OPERANDS) - set(ATTRIBUTES)
        assert not unknown, f"unknown options {unknown}"
        if self.out is None:
            shape = self._splits() + self.q.shape[:-1] + self.v.shape[-1:]
            kind = np.float32 if self.states else self.q.dtype
            self.out = np.full(shape, np.nan, self.out_type or kind)
        if self.lse is True:
            self.lse = np.full(self._splits() + self._lse_shape(), np.nan, np.float32)

    def _splits(self):
        return (self.options["num_kv_splits"],) if self.states else ()

    @property
    def has_lse(self):
        return self.lse is not False

    def with_options(self, **options):
        """The same inputs with more options and fresh outputs."""
        return Problem(
            self.q,
            self.k,
            self.v,
            {**self.options, **options},
            out_type=self.out.dtype,
            lse=self.has_lse,
            dynamic=self.dynamic,
            tensors=self.tensors,
            config=self.config,
            integers=self.integers,
        )

    def reference(self, **overrides):
        """(O, LSE) in f64."""
        options = {name: self.options[name] for name in self.options}
        for name in ("num_kv_splits", "kv_split", "page_size"):
            options.pop(name, None)
        if "scale_value" in options:
            options["scale"] = float(options.pop("scale_value"))
        if options.get("lse_layout") == "bhs_padded":
            options["max_seqlen_q"] = self.lse.shape[-1]
        arrays = {name: _read(options[name]) for name in ("bias", "mask") if name in options}
        return attn_reference.attention(
            _read(self.q), _read(self.k), _read(self.v), **{**options, **arrays, **overrides}
        )

    def _lse_shape(self):
        if self.options.get("layout") != "thd":
            b, x, y, _ = self.q.shape
            return (b, x, y) if self.options.get("layout", "bhsd") == "bhsd" else (b, y, x)
        total, heads, _ = self.q.shape
        layout = self.options.get("lse_layout", "hs_packed")
        if layout == "bhs_padded":
            lengths = np.diff(self.options["cu_seqlens_q"])
            return (len(lengths), heads, int(lengths.max(initial=0)))
        return (heads, total) if layout == "hs_packed" else (total, heads)


@dataclass
class Merge:
    """One attn.merge_states of [(O, LSE), ...], arrays or views.

    stacked: the one state has a first dim that counts states. in_place: the
    first state is the destination.
    """

    states: list
    options: dict = field(default_factory=dict)
    out: object = None
    lse: object = True
    out_type: object = None
    dynamic: bool = False
    tensors: bool = False
    stacked: bool = False
    in_place: bool = False

    def __post_init__(self):
        out, lse = self.states[0]
        lead = 1 if self.stacked else 0
        if self.in_place:
            self.out, self.lse = out, lse
        if self.out is None:
            self.out = np.full(out.shape[lead:], np.nan, self.out_type or out.dtype)
        if self.lse is True:
            self.lse = np.full(lse.shape[lead:], np.nan, np.float32)

    @property
    def has_lse(self):
        return self.lse is not False


@dataclass
class Result:
    """What a run wrote: arrays in the problem's shapes, and whole buffers of views."""

    out: np.ndarray
    lse: np.ndarray = None
    out_buffer: np.ndarray = None
    lse_buffer: np.ndarray = None


def module_text(problems, device=Device("cpu")):
    """The module of a program over `problems`, and the arrays of its arguments."""
    return _Builder(problems, device).build()


def run(problem, device=Device("cpu"), **flags):
    """Runs one problem."""
    return run_all([problem], device, **flags)[0]


def refusal(problem):
    """What attn-opt says of a problem that its verifier must refuse."""
    text, _ = module_text([problem])
    command = [tool("attn-opt"), "-"]
    done = subprocess.run(command, input=text, check=False, capture_output=True, text=True)
    assert done.returncode == 1, f"expects a refusal, but got\n{done.stdout}{done.stderr}"
    return done.stderr


def run_all(problems, device=Device("cpu"), extra_args=()):
    """Runs several problems in one process; a list of Results."""
    text, arrays = module_text(problems, device)
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        folder = pathlib.Path(folder)
        source = folder / "program.mlir"
        source.write_text(text)
        command = [tool("attn-run"), str(source), *device.arguments, *extra_args]
        for name, array in arrays.items():
            save(folder / f"{name}.npy", array)
            command += ["--in", f"{name}={folder / name}.npy"]
        outputs = {}
        for n, problem in enumerate(problems):
            out_name, lse_name = _destination_names(n, problem)
            outputs[out_name] = problem.out
            if problem.has_lse:
                outputs[lse_name] = problem.lse
        for name in outputs:
            command += ["--out", f"{name}={folder / name}.result.npy"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, (
            f"attn-run failed with exit code {done.returncode}:\n{done.stderr}\n{text}"
        )
        loaded = {
            name: load(folder / f"{name}.result.npy", destination.dtype)
            for name, destination in outputs.items()
        }
    results = []
    for n, problem in enumerate(problems):
        out_name, lse_name = _destination_names(n, problem)
        out, out_buffer = _window(problem.out, loaded[out_name])
        lse, lse_buffer = None, None
        if problem.has_lse:
            lse, lse_buffer = _window(problem.lse, loaded[lse_name])
        results.append(Result(out, lse, out_buffer, lse_buffer))
    return results


def _destination_names(n, problem):
    """The names of the arguments or results that hold O and LSE."""
    if isinstance(problem, Merge) and problem.in_place:
        return f"o0_{n}", f"s0_{n}"
    return f"output_{n}", f"lse_{n}"


def tool(name):
    """The path of one of the project's programs."""
    return str(BUILD / "bin" / name)


def save(path, array):
    """Writes .npy as attn-run reads it: bf16 as its bit patterns."""
    if array.dtype == ml_dtypes.bfloat16:
        array = array.view(np.uint16)
    np.save(path, array)


def load(path, dtype):
    array = np.load(path)
    return array.view(dtype) if dtype == ml_dtypes.bfloat16 else array


def _read(x):
    return x.read() if isinstance(x, (View, Strided)) else x


def _window(destination, loaded):
    """The result's elements, and the whole buffer where it was the argument."""
    if not isinstance(destination, View) or loaded.shape == destination.shape:
        return loaded, None
    view = View(loaded, destination.offset, destination.shape, destination.strides)
    return view.read().copy(), loaded


def float_literal(x):
    """A float as MLIR writes it: a point before any exponent."""
    text = repr(float(x))
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


class _Builder:
    def __init__(self, problems, device):
        self.problems = problems
        self.device = device
        self.arguments = []  # text of the function's arguments
        self.results = []  # text of its result types
        self.returned = []  # (value, type)
        self.arrays = {}
        self.body = []

    def build(self):
        for n, problem in enumerate(self.problems):
            if isinstance(problem, Merge):
                self._add_merge(n, problem)
            else:
                self._add_problem(n, problem)
        results = f" -> ({', '.join(self.results)})" if self.results else ""
        returned = ""
        if self.returned:
            values, types = zip(*self.returned)
            returned = f" {', '.join(values)} : {', '.join(types)}"
        arguments = ",\n    ".join(self.arguments)
        body = "\n".join(f"  {line}" for line in self.body)
        text = f"func.func @main(\n    {arguments}){results} {{\n{body}\n  return{returned}\n}}\n"
        return text, self.arrays

    def _add_problem(self, n, problem):
        ins = [self._add(n, problem, name, getattr(problem, name)) for name in ("q", "k", "v")]
        clauses = ""
        for name in OPERANDS:
            if name in problem.options:
                value, type_ = self._option(n, problem, name)
                clauses += f" {name}({value} : {type_})"
        config = ""
        if problem.config:
            config = f"#attn.lowering_config<{problem.config}>"
            config = f" attributes {{attn.lowering_config = {config}}}"
        self._add_op(n, problem, f"attn.attention ins({_typed(ins)}){clauses}", attributes=config)

    def _add_merge(self, n, problem):
        states, first = [], None
        for m, (out, lse) in enumerate(problem.states):
            pair = self._add(n, problem, f"o{m}", out), self._add(n, problem, f"s{m}", lse)
            states.append(f"({_typed(pair)})")
            first = first or pair
        clauses = ""
        if "sink" in problem.options:
            value, type_ = self._option(n, problem, "sink")
            clauses = f" sink({value} : {type_})"
        outs = first if problem.in_place else None
        self._add_op(n, problem, f"attn.merge_states {', '.join(states)}{clauses}", outs)

    def _add_op(self, n, problem, text, outs=None, attributes=""):
        """Adds the op with its destinations, and the results it returns on tensors."""
        outs = outs or self._destinations(n, problem)
        results = ""
        if problem.tensors:
            names = [f"%o{n}", f"%s{n}"][: len(outs)]
            results = ", ".join(names) + " = "
            for value, (_, type_), name in zip(names, outs, ("output", "lse")):
                self.results.append(f'{type_} {{attn.name = "{name}_{n}"}}')
                self.returned.append((value, type_))
        options = _attributes(problem.options) + attributes
        self.body.append(f"{results}{text} outs({_typed(outs)}){options}")

    def _destinations(self, n, problem):
        outs = [self._destination(n, problem, "output", problem.out)]
        if problem.has_lse:
            outs.append(self._destination(n, problem, "lse", problem.lse))
        return outs

    def _destination(self, n, problem, name, x):
        if not problem.tensors:
            return self._add(n, problem, name, x)
        if not self.device.is_gpu:
            return self._add(n, problem, f"{name}_init", x)
        # A GPU entry returns its own buffers, with sizes that follow the query's.
        value, layout = f"%{name}_{n}_init", problem.options.get("layout", "bhsd")
        dims = {"thd": [0, 1]}.get(layout, [0, 1, 2])
        if name == "lse":
            lse_layout = problem.options.get("lse_layout", "hs_packed" if layout == "thd" else layout)
            dims = {
                "bshd": [0, 2, 1],
                "hs_packed": [1, 0],
                "bhs_padded": [None, 1, None],  # static where no query dim says it
            }.get(lse_layout, dims)
        sizes, operands = [str(s) for s in x.shape], []
        if problem.dynamic:
            unknown = "?x" * (problem.q.ndim - 1)
            query_type = f"tensor<{unknown}{problem.q.shape[-1]}x{element_type(problem.q)}>"
            for at, dim in enumerate(dims):
                if dim is None:
                    continue
                sizes[at] = "?"
                operands.append(f"{value}_d{at}")
                self.body += [
                    f"{value}_c{at} = arith.constant {dim} : index",
                    f"{operands[-1]} = tensor.dim %q_{n}, {value}_c{at} : {query_type}",
                ]
        type_ = f"tensor<{'x'.join([*sizes, element_type(x)])}>"
        self.body.append(f"{value} = tensor.empty({', '.join(operands)}) : {type_}")
        return value, type_

    def _add(self, n, problem, name, x):
        kind = "tensor" if problem.tensors else "memref"
        heads = None
        if problem.dynamic == "rows" and name != "lse":
            heads = len(x.shape) - (3 if problem.options.get("layout", "bhsd") == "bhsd" else 2)
        # Tied by suffix to the problem: several share one function.
        return self._operand(f"{name}_{n}", x, kind, problem.dynamic, heads=heads)

    def _operand(self, name, x, kind, dynamic, keep_ones=False, heads=None):
        """Adds an argument for an array or view; its SSA value and type."""
        if isinstance(x, Strided):
            type_ = f"memref<{_sizes(x)}x{element_type(x)}, strided<[{_strides(x)}]>>"
            return self._argument(name, type_, x.read().copy()), type_
        if isinstance(x, View):
            return self._view(name, x)
        dynamic_sizes = len(x.shape) if dynamic else 0
        if dynamic and self.device.is_gpu and name.rpartition("_")[0] in ("q", "k", "v", "output"):
            dynamic_sizes -= 1  # a kernel is made for its head dims
        sizes = [
            "?" if n < dynamic_sizes and n != heads and not (keep_ones and s == 1) else str(s)
            for n, s in enumerate(x.shape)
        ]
        type_ = f"{kind}<{'x'.join([*sizes, element_type(x)])}>"
        return self._argument(name, type_, x), type_

    def _argument(self, name, type_, array):
        self.arguments.append(f'%{name}: {type_} {{attn.name = "{name}"}}')
        self.arrays[name] = array
        return f"%{name}"

    def _view(self, name, view):
        element = element_type(view.base)
        base_type = f"memref<{view.base.size}x{element}>"
        base = self._argument(name, base_type, view.base)
        offset, shown = str(view.offset), str(view.offset)
        if view.dynamic_offset:
            holder = self._argument(
                f"{name}_offset", "memref<1xi32>", np.array([view.offset], np.int32)
            )
            offset, shown = f"%{name}_o", "?"
            self.body += [
                f"%{name}_c0 = arith.constant 0 : index",
                f"%{name}_i = memref.load {holder}[%{name}_c0] : memref<1xi32>",
                f"{offset} = arith.index_cast %{name}_i : i32 to index",
            ]
        sizes = ", ".join(map(str, view.shape))
        type_ = f"memref<{_sizes(view)}x{element}, strided<[{_strides(view)}], offset: {shown}>>"
        self.body.append(
            f"%{name}_view = memref.reinterpret_cast {base} to offset: [{offset}], "
            f"sizes: [{sizes}], strides: [{_strides(view)}] : {base_type} to {type_}"
        )
        return f"%{name}_view", type_

    def _option(self, n, problem, name):
        x, kind = problem.options[name], "tensor" if problem.tensors else "memref"
        if isinstance(x, View) or np.ndim(x) > 0:
            if not isinstance(x, View):
                x = np.asarray(x)
                if name == "mask":
                    x = x.astype(x.dtype if x.dtype == np.bool_ else np.int8)
                elif x.dtype.kind == "i":
                    x = x.astype(np.int32, copy=False)
                elif name in ("alibi_slopes", "sink"):
                    x = x.astype(np.float32)
            # A size of 1 that broadcasts is known when compiling.
            keep_ones = name in ("bias", "mask")
            return self._operand(f"{name}_{n}", x, kind, problem.dynamic, keep_ones)
        # A scalar known at run time only: loaded from a buffer of one element.
        element = {"scale_value": "f32", "kv_split": "index"}.get(name, problem.integers)
        dtype = {"f32": np.float32, "i32": np.int32}.get(element, np.int64)
        label = f"{name}_{n}"
        holder = self._argument(label, f"{kind}<1x{element}>", np.array([x], dtype))
        load = "memref.load" if kind == "memref" else "tensor.extract"
        self.body += [
            f"%{label}_c0 = arith.constant 0 : index",
            f"%{label}_v = {load} {holder}[%{label}_c0] : {kind}<1x{element}>",
        ]
        return f"%{label}_v", element


def _sizes(view):
    return "x".join(map(str, view.shape))


def _strides(view):
    return ", ".join(map(str, view.strides))


def _typed(operands):
    values, types = zip(*operands)
    return f"{', '.join(values)} : {', '.join(types)}"


def _attributes(options):
    parts = []
    for name in ATTRIBUTES:
        if name not in options:
            continue
        value = options[name]
        if name == "causal":
            parts += ["causal"] if value else []
        elif name in ("scale", "softcap"):
            parts.append(f"{name} = {float_literal(value)}")
        else:
            parts.append(f"{name} = {value}")
    return f" {{{', '.join(parts)}}}" if parts else ""


def assert_matches(result, problem, *, what="", **overrides):
    """Compares with the reference within the bounds of docs/Semantics.md.

    LSE: 2e-5 * max(1, |LSE|). O: one ulp of the output type plus the rounding
    of P to the value's type, relative to max |V|; f32 inputs keep 1e-5. Splits
    add what rounding their LSE to f32 does to their weights.
    """
    out, lse = problem.reference(**overrides)
    values = np.abs(_read(problem.v).astype(np.float64))
    top = values[np.isfinite(values)].max(initial=0)
    kind = element_type(problem.out)
    relative = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 1e-5, "f64": 1e-6}[
        element_type(problem.v)
    ]
    if problem.options.get("num_kv_splits", 1) != 1:
        largest = np.abs(lse[np.isfinite(lse)]).max(initial=0)
        relative += 2 * float(np.spacing(np.float32(largest)))
    atol = compare.ulp(out, kind) + relative * top
    compare.assert_close(result.out, out, atol=np.where(np.isfinite(out), atol, 0), what=f"{what}O")
    if problem.has_lse:
        with np.errstate(invalid="ignore"):
            bound = 2e-5 * np.maximum(1, np.abs(lse))
        bound = np.where(np.isfinite(lse), bound, 0)
        compare.assert_close(result.lse, lse, atol=bound, what=f"{what}LSE")
