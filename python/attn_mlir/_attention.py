"""attn_mlir.attention and attn_mlir.compile."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from . import _native, _program
from ._arrays import Numpy
from ._problem import Problem, TensorSpec

__all__ = ["CompiledAttention", "TensorSpec", "attention", "compile"]


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    sink_tokens: int = 0,
    diagonal: str = "bottom_right",
    scale: float | None = None,
    softcap: float | None = None,
    bias: Any = None,
    mask: Any = None,
    alibi_slopes: Any = None,
    sink: Any = None,
    seqlens_q: Any = None,
    seqlens_kv: Any = None,
    cu_seqlens_q: Any = None,
    cu_seqlens_kv: Any = None,
    q_offset: Any = None,
    kv_offset: Any = None,
    block_table: Any = None,
    layout: str = "bhsd",
    return_lse: bool = False,
    lse_base: str = "e",
    lse_layout: str | None = None,
    max_seqlen_q: int | None = None,
    num_kv_splits: int = 1,
    partial: bool = False,
    out: Any = None,
    lse: Any = None,
    chip: str | None = None,
    device: str | None = None,
    checks: str | None = None,
) -> Any:
    """Scaled dot product attention, and the log-sum-exp of its scores.

    ``O = softmax(scale * Q K^T + ...) V``, and ``LSE = log(sum(exp(scores)))`` of every row
    in f32. A row that sees no key gets O = 0 and LSE = -inf. docs/Semantics.md says what
    every result is. The first call with a combination of types, head counts, head dims and
    options compiles; other lengths and batch sizes use the same code.

    Sizes: B sequences; Hq, Hk, Hv heads of query, key and value (Hq a multiple of both, head
    h reads key head ``h // (Hq // Hk)``); Sq, Skv rows and keys; D, Dv head dims; for packed
    sequences Tq, Tkv rows and keys of all of them.

    Args:
      q, k, v: NumPy arrays, or torch tensors of one device, of float16, bfloat16 (NumPy's
        through ml_dtypes), float32 or float64, all of one type. [B, Hq, Sq, D],
        [B, Hk, Skv, D], [B, Hv, Skv, Dv] for layout "bhsd"; [B, Sq, Hq, D] and so on for
        "bshd"; [Tq, Hq, D], [Tkv, Hk, D], [Tkv, Hv, Dv] for "thd". Any strides; a view
        whose inner stride is not 1 is copied.
      causal: row i sees the keys up to i + off, where off is Skv - Sq ("bottom_right") or 0
        ("top_left"), or q_offset - kv_offset where one of these is given.
      window: (left, right): row i sees keys from i + off - left to i + off + right; -1 or
        None is unbounded.
      sink_tokens: so many first keys stay visible left of the window.
      diagonal: "bottom_right" or "top_left", see causal.
      scale: multiplies Q K^T; 1 / sqrt(D) by default. Any finite number.
      softcap: c > 0 turns every scaled score s into c * tanh(s / c).
      bias: floats that broadcast to [B, Hq, Sq, Skv], added to the scores in natural units.
      mask: bool or int8 that broadcasts to [B, Hq, Sq, Skv]; False or 0 hides the key.
      alibi_slopes: [Hq] or [B, Hq]; slope * abs(i + off - j) is taken off the score.
      sink: [Hq], a logit that joins the softmax of every row without a value.
      seqlens_q, seqlens_kv: a number or [B] of int32 or int64: valid rows and keys of each
        sequence of a padded batch. Rows beyond get O = 0 and LSE = -inf.
      cu_seqlens_q, cu_seqlens_kv: [B + 1] for "thd": where each sequence begins, and the
        end of the last. Rows behind it are left out (O = 0, LSE = -inf, unless `out` is
        given). With block_table cu_seqlens_q alone.
      q_offset, kv_offset: a number or [B]: the position of the first row and key.
      block_table: [B, pages]: k and v are pools of pages ([pages, Hk, page, D] for "bhsd",
        else [pages, page, Hk, D]); needs seqlens_kv, also for "thd".
      layout: "bhsd", "bshd" or "thd".
      return_lse: whether to return the LSE too. It does not change a bit of O.
      lse_base: "e", or "two" for the logarithm of base two.
      lse_layout: [B, Hq, Sq] ("bhs") for "bhsd" and "bshd"; for "thd" "hs_packed" [Hq, Tq],
        "sh_packed" [Tq, Hq] or "bhs_padded" [B, Hq, max_seqlen_q].
      num_kv_splits: so many parts of the keys are computed side by side, and merged; 0 lets the
        compiler choose.
      partial: whether to return the states of all splits instead of merging them: O of
        float32 (float64 for that) and LSE, each with one more dim in front, of num_kv_splits,
        and without the sink (see `merge_states`). Needs return_lse and a number of splits.
      out, lse: arrays to write the results to, of any strides; they must not overlap with
        any other argument.
      device: "hip", "cpu" (this machine) or "emulator" (GPU code without a GPU, slow). By
        default HIP where there is an AMD GPU and its runtime, else the CPU.
      chip: "gfx942" or "gfx950" for the emulator ("gfx950" by default).
      checks: for the emulator, what it looks for: "all", or names as in docs/Emulator.md.

    Returns:
      O in the layout and type of q, with the head dim of v; with return_lse, (O, LSE).

    Raises:
      ValueError: an argument is wrong; the message names it, says what was expected and
        what came.
      UnsupportedError: the device cannot do it (a NotImplementedError; device="cpu" can).
      AttnError: the device failed.
    """
    arguments = dict(locals())  # nothing else yet
    for name in _TARGET:
        del arguments[name]
    if hasattr(q, "requires_grad"):  # a tensor; torch.compile traces this
        from . import pytorch

        return pytorch.attention_with_autograd(arguments, device=device, chip=chip, checks=checks)
    return run(arguments, device=device, chip=chip, checks=checks)


# What says where it runs; the other arguments, with their defaults, are the problem.
_TARGET = ("device", "chip", "checks")
_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(attention).parameters.items()
    if name not in _TARGET
}


def _complete(function: str, options: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """`given`, and `options` of the caller of `function`, over the defaults."""
    for name in options:
        if name not in _DEFAULTS:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return {**_DEFAULTS, **given, **options}


def run(
    arguments: dict[str, Any],
    *,
    device: str | None,
    chip: str | None,
    checks: str | None = None,
) -> Any:
    """`attention` without torch's dispatcher."""
    problem = Problem(arguments)
    if problem.with_specs:
        raise ValueError("q: expects an array, got TensorSpec, which is for compile")
    device, target = _program.choose_target(device, chip, problem.namespace)
    if checks is not None and not isinstance(checks, str):
        raise ValueError(f"checks: expects names of checks or None, got {checks!r}")
    if checks is not None and device != "emulator":
        raise ValueError(f"checks: expects device='emulator', got {device!r}")
    return _compute(problem, device, target, checks)


def _compute(problem: Problem, device: str, target: str, checks: str | None = None) -> Any:
    """Runs it, and returns O or (O, LSE)."""
    if not problem.is_empty:
        arrays = [(operand.name, operand.dtype, operand.array) for operand in problem.operands]
        try:
            _program.launch(problem.describe(), arrays, problem.namespace, device, target, checks)
        except _native.UnsupportedError as error:
            hint = "" if device == "cpu" else "; device='cpu' computes it on this machine"
            raise _native.UnsupportedError(f"{target}: {error}{hint}") from None
        for given, written in problem.copies:
            problem.namespace.assign(given, written)
    return (problem.out, problem.lse) if problem.has_lse else problem.out


class CompiledAttention:
    """An attention for one target, see `compile`.

    Call it with the arguments it was compiled for; sizes that were dynamic may differ.
    """

    def __init__(self, problem: Problem, arguments: dict[str, Any], device: str, target: str):
        self._description = problem.describe()
        self._dynamic = problem.dynamic
        self._arguments = arguments
        self._device = device
        self._operands = problem.operands
        #: "cpu", "gfx942" or "gfx950".
        self.target = target
        self.program = _program.get_program(self._description, target)

    def __call__(self, q: Any, k: Any, v: Any, *, out: Any = None, lse: Any = None, **more: Any) -> Any:
        """Runs it; `more` are the other arrays and offsets that it was compiled with.

        Returns what `attention` returns, without a gradient. Raises ValueError for arguments
        that it was not compiled for, and where a gradient is wanted.
        """
        if getattr(q, "requires_grad", False) and sys.modules["torch"].is_grad_enabled():
            raise ValueError("q: expects no gradient to be wanted; attn_mlir.attention has one")
        more |= {"q": q, "k": k, "v": v, "out": out, "lse": lse}
        arguments = _complete("CompiledAttention.__call__", more, self._arguments)
        problem = Problem(arguments, dynamic=self._dynamic)
        if problem.describe() != self._description:
            raise ValueError(
                f"q: expects what was compiled, {self._signature()}, got "
                f"{_signature(problem.operands)} and options {problem.options}"
            )
        return _compute(problem, self._device, self.target)

    @property
    def source(self) -> str:
        """The module that was compiled: MLIR text of the dialect attn."""
        return self.program.source

    @functools.cached_property
    def stages(self) -> dict[str, str]:
        """Pass to the module behind it, in order, from "source" to "asm".

        A pass that runs several times has a number behind its name.
        """
        stages: dict[str, str] = {}
        for name, text in self.program.stages():
            key, count = name, 2
            while key in stages:
                key, count = f"{name}.{count}", count + 1
            stages[key] = text
        return stages

    @property
    def asm(self) -> str:
        """The assembly."""
        return self.stages["asm"]

    @property
    def hsaco(self) -> bytes:
        """The code object. AttributeError on the CPU, whose object file is `code`."""
        if self.target == "cpu":
            raise AttributeError("a program for the CPU has no code object; see code")
        return self.program.code

    @property
    def code(self) -> bytes:
        """The code object, or for the CPU a relocatable ELF object."""
        return self.program.code

    @property
    def manifest(self) -> dict[str, Any]:
        """How to launch the code object without this package, see docs/Running.md."""
        return self.program.manifest

    @property
    def report(self) -> dict[str, Any]:
        """Figures: target, code_bytes, and of every kernel its workgroup and registers."""
        keys = ("name", "block", "vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes")
        kernels = self.manifest.get("kernels", [])
        return {
            "target": self.target,
            "code_bytes": len(self.code),
            "kernels": [{key: kernel[key] for key in keys} for kernel in kernels],
        }

    def _signature(self) -> str:
        return _signature(self._operands)

    def __repr__(self) -> str:
        lines = [f"attention for {self.target}: {self._signature()}"]
        for kernel in self.report["kernels"]:
            lines.append(
                f"  {kernel['name']}: {kernel['block'][0]} work-items, {kernel['vgprs']} VGPRs, "
                f"{kernel['sgprs']} SGPRs, {kernel['lds_bytes']} bytes of LDS, "
                f"{kernel['scratch_bytes']} of scratch"
            )
        lines.append(f"  {len(self.code)} bytes of code")
        return "\n".join(lines)


def _signature(operands: Any) -> str:
    def show(operand: Any) -> str:
        sizes = "x".join("?" if s is None else str(s) for s in operand.type_shape)
        return f"{operand.name} {sizes}x{operand.dtype}" if sizes else f"{operand.name} {operand.dtype}"

    return ", ".join(map(show, operands))


def compile(  # noqa: A001 (the name is the point)
    q: Any,
    k: Any,
    v: Any,
    *,
    device: str | None = None,
    chip: str | None = None,
    dynamic: bool = True,
    **options: Any,
) -> CompiledAttention:
    """Compiles an attention without running it.

    Args:
      q, k, v: arrays, or a `TensorSpec` each where there are none yet.
      device, chip: as for `attention`; a chip alone compiles for it, wherever it will run.
      dynamic: whether batch and lengths are left open. False compiles for these sizes only,
        which may save the last tile's masks.
      options: all other arguments of `attention` but `out` and `lse`; arrays may be
        of type `TensorSpec` if q, k and v are.

    Returns:
      A `CompiledAttention`: callable, and with .asm, .hsaco, .manifest, .stages, .report.

    Raises:
      ValueError, UnsupportedError: as `attention`.
    """
    for name in ("out", "lse"):
        if options.get(name) is not None:
            raise ValueError(f"{name}: expects None, since nothing is run yet")
    arguments = _complete("compile", options, {"q": q, "k": k, "v": v})
    problem = Problem(arguments, dynamic=dynamic)
    if device is None and chip is not None:
        device = "hip" if _native.hip_target() == chip else "emulator"
    device, target = _program.choose_target(
        device, chip, Numpy() if problem.with_specs else problem.namespace
    )
    try:
        return CompiledAttention(problem, arguments, device, target)
    except _native.UnsupportedError as error:
        raise _native.UnsupportedError(f"{target}: {error}") from None
