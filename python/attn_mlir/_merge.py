"""attn_mlir.merge_states."""

from __future__ import annotations

import json
from typing import Any, Sequence

from . import _program
from ._arrays import FLOATS, Torch, namespace_of
from ._problem import _one_of, _show, check_own_memory


def merge_states(
    states: Sequence[tuple[Any, Any]],
    *,
    lse_base: str = "e",
    out: Any = None,
    lse: Any = None,
) -> tuple[Any, Any]:
    """Merges partial attention results over disjoint sets of keys.

    ``LSE = log(sum_s exp(LSE_s))`` and ``O = sum_s exp(LSE_s - LSE) O_s``, in the order
    given. (0, -inf) is the neutral element: a state with LSE -inf is ignored even if its O
    holds NaN, and only empty states give (0, -inf). This is what split keys, chunked
    prefill and ring attention do with the results of `attention(..., return_lse=True)`.
    Arrays are merged by the compiled `attn.merge_states`; tensors by torch where they are,
    with gradients.

    Args:
      states: pairs (O [..., Dv], LSE [...]) of one shape, O of one float type, LSE float32:
        NumPy arrays or torch tensors, at least one pair. In ring attention convert O to
        float32 first, so that it is not rounded at every step.
      lse_base: the base of all LSEs, "e" or "two".
      out, lse: where to write the results; they may be arrays of the first state, to merge
        into it in place, but must not overlap with each other.

    Returns:
      (O, LSE) of the union of the keys, O in the type of the states.

    Raises:
      ValueError: the message names the argument.
    """
    try:
        states = [tuple(state) for state in states]
    except TypeError as error:
        raise ValueError(f"states: expects pairs (O, LSE), but {error}") from None
    if not states or any(len(state) != 2 for state in states):
        raise ValueError("states: expects at least one pair (O, LSE)")
    _one_of("lse_base", lse_base, ("e", "two"))
    space = namespace_of("states", states[0][0])
    shape, dtype = space.shape(states[0][0]), space.dtype(states[0][0])
    if dtype not in FLOATS or len(shape) < 2:
        raise ValueError(
            f"states: expects O of {', '.join(FLOATS)} with 2 dimensions or more, got "
            f"{states[0][0].dtype} {_show(shape)}"
        )
    arrays = {"output": out, "lse": lse}
    for i, state in enumerate(states):
        arrays |= {f"o{i}": state[0], f"lse{i}": state[1]}
    for name, x in arrays.items():
        if x is None:
            continue
        what = name if name in ("output", "lse") else f"states[{name.lstrip('olse')}]"
        is_lse = name.startswith("lse")
        wanted = ("f32", shape[:-1]) if is_lse else (dtype, shape)
        if not space.owns(x) or (space.dtype(x), space.shape(x)) != wanted:
            raise ValueError(
                f"{'out' if what == 'output' else what}: expects {space.kind} of {wanted[0]} "
                f"{_show(wanted[1])}, got {type(x).__name__} of {getattr(x, 'dtype', '?')} "
                f"{_show(getattr(x, 'shape', ()))}"
            )
    check_own_memory(space, {"out": out, "lse": lse}, {})
    if isinstance(space, Torch):
        from . import pytorch

        result = pytorch.merge_states(states, lse_base)
    else:
        result = _merge_arrays(states, space, shape, dtype, lse_base)
    for given, array in zip((out, lse), result):
        if given is not None:
            space.assign(given, array)
    return (result[0] if out is None else out, result[1] if lse is None else lse)


def _merge_arrays(
    states: list[tuple[Any, ...]], space: Any, shape: tuple[int, ...], dtype: str, base: str
) -> tuple[Any, Any]:
    """Rows of all leading dims are independent: the program sees [rows, Dv] and [rows]."""
    rows = 1
    for size in shape[:-1]:
        rows *= size
    out, lse = space.empty(shape, dtype), space.empty(shape[:-1], "f32")
    if 0 in shape:
        return out, lse
    flat = lambda x, *sizes: space.contiguous(x).reshape(sizes)  # noqa: E731
    width = shape[-1]
    arrays = []
    for i, (o, s) in enumerate(states):
        arrays += [(f"o{i}", dtype, flat(o, rows, width)), (f"lse{i}", "f32", flat(s, rows))]
    arrays += [("output", dtype, out.reshape(rows, width)), ("lse", "f32", lse.reshape(rows))]
    operands = {
        name: {"dtype": kind, "shape": [None, width] if len(x.shape) == 2 else [None]}
        for name, kind, x in arrays
    }
    options = {"lse_base": base} if base != "e" else {}
    description = json.dumps(
        {"op": "merge_states", "operands": operands, "options": options}, sort_keys=True
    )
    _program.launch(description, arrays, space, "cpu", "cpu")
    return out, lse
