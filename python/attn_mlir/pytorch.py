"""PyTorch: the operator attn_mlir::attention, its gradient, and two adapters.

`attn_mlir.attention` on tensors goes through `torch.ops.attn_mlir.attention`, which
torch.compile and torch.export take as one node. `flash_attn_func` and
`scaled_dot_product_attention` have the signatures of flash_attn and of
torch.nn.functional.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor

from ._problem import _finite, _integer

__all__ = ["flash_attn_func", "scaled_dot_product_attention"]

_LOG2_E = math.log2(math.e)


# ----------------------------------------------------------------------
# The operator
# ----------------------------------------------------------------------


@torch.library.custom_op("attn_mlir::attention", mutates_args=())
def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Optional[Tensor],
    mask: Optional[Tensor],
    alibi_slopes: Optional[Tensor],
    sink: Optional[Tensor],
    seqlens_q: Optional[Tensor],
    seqlens_kv: Optional[Tensor],
    cu_seqlens_q: Optional[Tensor],
    cu_seqlens_kv: Optional[Tensor],
    q_offset: Optional[Tensor],
    kv_offset: Optional[Tensor],
    block_table: Optional[Tensor],
    q_start: Optional[int],
    kv_start: Optional[int],
    causal: bool,
    window_left: int,
    window_right: int,
    sink_tokens: int,
    diagonal: str,
    scale: Optional[float],
    softcap: Optional[float],
    layout: str,
    return_lse: bool,
    lse_base: str,
    lse_layout: Optional[str],
    max_seqlen_q: Optional[int],
    num_kv_splits: int,
    partial: bool,
    device: Optional[str],
    chip: Optional[str],
    checks: Optional[str],
) -> tuple[Tensor, Tensor]:
    """O and LSE, which is empty without return_lse. An offset of all sequences is q_start."""
    arguments = dict(locals())  # nothing else yet
    for name in ("device", "chip", "checks"):
        del arguments[name]
    arguments["window"] = (arguments.pop("window_left"), arguments.pop("window_right"))
    for side in ("q", "kv"):
        start = arguments.pop(f"{side}_start")
        if start is not None:
            arguments[f"{side}_offset"] = start
    from ._attention import run

    arguments |= {"out": None, "lse": None}
    result = run(arguments, device=device, chip=chip, checks=checks)
    return result if return_lse else (result, q.new_empty(0, dtype=torch.float32))


# Where the operator's arguments are, for autograd.
_NAMES = tuple(
    argument.name for argument in torch.ops.attn_mlir.attention.default._schema.arguments
)
_DIFFERENTIABLE = ("q", "k", "v", "bias", "alibi_slopes", "sink")


@_attention.register_fake
def _attention_shapes(*values: Any) -> tuple[Tensor, Tensor]:
    """Shapes and types of the results."""
    a = dict(zip(_NAMES, values))
    q, v, layout = a["q"], a["v"], a["layout"]
    parts = (a["num_kv_splits"],) if a["partial"] else ()
    wide = torch.float32 if parts and q.dtype != torch.float64 else q.dtype
    out = q.new_empty((*parts, *q.shape[:-1], v.shape[-1]), dtype=wide)
    shape: tuple[Any, ...] = (0,)
    if a["return_lse"]:
        if layout == "bhsd":
            shape = tuple(q.shape[:3])
        elif layout == "bshd":
            shape = (q.shape[0], q.shape[2], q.shape[1])
        elif a["lse_layout"] == "sh_packed":
            shape = (q.shape[0], q.shape[1])
        elif a["lse_layout"] == "bhs_padded":
            shape = (a["cu_seqlens_q"].shape[0] - 1, q.shape[1], a["max_seqlen_q"])
        else:
            shape = (q.shape[1], q.shape[0])
    return out, q.new_empty((*parts, *shape), dtype=torch.float32)


# ----------------------------------------------------------------------
# Its gradient
# ----------------------------------------------------------------------


def _save_for_backward(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    tensors = [x if isinstance(x, Tensor) else None for x in inputs]
    ctx.save_for_backward(*tensors, *output)
    ctx.others = [None if isinstance(x, Tensor) else x for x in inputs]


def _backward(ctx: Any, d_out: Tensor, d_lse: Tensor) -> tuple[Optional[Tensor], ...]:
    """From the LSE, by the formulas of docs/Python.md; the scores are made in full."""
    *tensors, out, lse = ctx.saved_tensors
    a = {
        name: x if x is not None else other
        for name, x, other in zip(_NAMES, tensors, ctx.others)
    }
    if a["layout"] == "thd" or a["block_table"] is not None:
        raise NotImplementedError(
            "attn_mlir has no gradient for packed sequences (layout 'thd') or paged keys; use "
            "padded batches (seqlens_q, seqlens_kv) to train"
        )
    if a["partial"]:
        raise NotImplementedError(
            "attn_mlir has no gradient for the states of splits; use partial=False to train"
        )
    if not a["return_lse"]:
        raise RuntimeError("attn_mlir::attention needs return_lse=True for a gradient")
    grads = _gradients(a, out, lse, d_out, d_lse)
    needed = dict(zip(_NAMES, ctx.needs_input_grad))
    return tuple(grads.get(name) if needed[name] else None for name in _NAMES)


_attention.register_autograd(_backward, setup_context=_save_for_backward)


def _gradients(
    a: dict[str, Any], out: Tensor, lse: Tensor, d_out: Tensor, d_lse: Tensor
) -> dict[str, Tensor]:
    wide = torch.float64 if a["q"].dtype == torch.float64 else torch.float32

    def heads_first(x: Tensor) -> Tensor:
        x = x.to(wide)
        return x.transpose(1, 2) if a["layout"] == "bshd" else x

    def without_padding(x: Tensor, lengths: Optional[Tensor]) -> Tensor:
        """Zeros where rows hold what has no effect, NaN perhaps."""
        if lengths is None:
            return x
        row = torch.arange(x.shape[2], device=x.device)[:, None]
        return torch.where(row < lengths.reshape(-1, 1, 1, 1), x, torch.zeros_like(x))

    q, d_o = (without_padding(heads_first(x), a["seqlens_q"]) for x in (a["q"], d_out))
    k, v = (without_padding(heads_first(a[name]), a["seqlens_kv"]) for name in ("k", "v"))
    o = heads_first(out)
    lse, d_lse = lse.to(wide), d_lse.to(wide)
    if a["lse_base"] == "two":
        lse, d_lse = lse / _LOG2_E, d_lse * _LOG2_E
    heads, length_q, width = q.shape[1:]
    scale = a["scale"] if a["scale"] is not None else width**-0.5
    group_k, group_v = heads // k.shape[1], heads // v.shape[1]
    k_all, v_all = k.repeat_interleave(group_k, 1), v.repeat_interleave(group_v, 1)

    scores = q @ k_all.transpose(-1, -2) * scale
    capped = None
    if a["softcap"] is not None:
        capped = torch.tanh(scores / a["softcap"])
        scores = capped * a["softcap"]
    visible, distance = _positions(a, length_q, k.shape[2], q.device)
    if a["alibi_slopes"] is not None:
        slopes = a["alibi_slopes"].to(wide)
        slopes = slopes if slopes.dim() == 2 else slopes[None]
        scores = scores - slopes[:, :, None, None] * distance.to(wide)
    if a["bias"] is not None:
        scores = scores + a["bias"].to(wide)
    if a["mask"] is not None:
        visible = visible & (a["mask"] != 0)
    rows = torch.isneginf(lse)[..., None]
    weights = torch.exp(scores - torch.where(rows, torch.zeros_like(lse)[..., None], lse[..., None]))
    weights = torch.where(visible & ~rows, weights, torch.zeros_like(weights))

    d_weights = d_o @ v_all.transpose(-1, -2)
    delta = ((d_o * o).sum(-1) - d_lse)[..., None]
    d_scores = weights * (d_weights - delta)

    def sum_groups(x: Tensor, group: int) -> Tensor:
        return x.unflatten(1, (-1, group)).sum(2)

    grads: dict[str, Tensor] = {}
    if a["bias"] is not None:
        grads["bias"] = d_scores.sum_to_size(
            (1,) * (4 - a["bias"].dim()) + tuple(a["bias"].shape)
        ).reshape(a["bias"].shape)
    if a["alibi_slopes"] is not None:
        by_head = -(d_scores * distance.to(wide)).sum((2, 3))
        grads["alibi_slopes"] = by_head if a["alibi_slopes"].dim() == 2 else by_head.sum(0)
    if a["sink"] is not None:
        logits = a["sink"].to(wide)[None, :, None]
        empty = torch.isneginf(lse)
        share = torch.exp(logits - torch.where(empty, torch.zeros_like(lse), lse))
        share = torch.where(empty, torch.zeros_like(share), share)
        grads["sink"] = -(share * delta[..., 0]).sum((0, 2))
    if capped is not None:
        d_scores = d_scores * (1 - capped * capped)
    grads["q"] = d_scores @ k_all * scale
    grads["k"] = sum_groups(d_scores.transpose(-1, -2) @ q * scale, group_k)
    grads["v"] = sum_groups(weights.transpose(-1, -2) @ d_o, group_v)
    if a["layout"] == "bshd":
        grads |= {name: grads[name].transpose(1, 2) for name in ("q", "k", "v")}
    return {name: grad.to(a[name].dtype) for name, grad in grads.items()}


def _positions(
    a: dict[str, Any], length_q: int, length_kv: int, device: Any
) -> tuple[Tensor, Tensor]:
    """Which keys a row sees, and its distance to them: [B or 1, 1, Sq, Skv]."""

    def per_batch(x: Any) -> Any:
        return x.to(device).reshape(-1, 1, 1, 1) if isinstance(x, Tensor) else x

    row = torch.arange(length_q, device=device)[:, None]
    key = torch.arange(length_kv, device=device)[None, :]
    valid_q = per_batch(a["seqlens_q"]) if a["seqlens_q"] is not None else length_q
    valid_kv = per_batch(a["seqlens_kv"]) if a["seqlens_kv"] is not None else length_kv
    starts = [a["q_offset"] if a["q_offset"] is not None else a["q_start"]]
    starts += [a["kv_offset"] if a["kv_offset"] is not None else a["kv_start"]]
    if starts[0] is not None or starts[1] is not None:
        offset = sum(
            sign * per_batch(x) for sign, x in zip((1, -1), starts) if x is not None
        )
    else:
        offset = valid_kv - valid_q if a["diagonal"] == "bottom_right" else 0
    relative = row + offset - key
    visible = (row < valid_q) & (key < valid_kv)
    if a["causal"]:
        visible = visible & (relative >= 0)
    if a["window_left"] >= 0:
        visible = visible & ((relative <= a["window_left"]) | (key < a["sink_tokens"]))
    if a["window_right"] >= 0:
        visible = visible & (relative >= -a["window_right"])
    visible, distance = torch.broadcast_tensors(visible, relative.abs())
    shape = (-1, 1, length_q, length_kv)
    return visible.reshape(shape), distance.reshape(shape)


# ----------------------------------------------------------------------
# attn_mlir.attention on tensors
# ----------------------------------------------------------------------


def _whole(name: str, x: Any) -> Any:
    known = isinstance(x, (int, torch.SymInt)) and not isinstance(x, bool)
    return x if known else _integer(name, x)


def _checked_option(name: str, x: Any) -> Any:
    """An argument of the type that the operator wants, whose own message has many lines."""
    if name in ("causal", "return_lse", "partial"):
        if not isinstance(x, (bool, np.bool_)):
            raise ValueError(f"{name}: expects True or False, got {x!r}")
        return bool(x)
    elif name in ("sink_tokens", "num_kv_splits") or name == "max_seqlen_q" and x is not None:
        return _whole(name, x)
    elif name in ("scale", "softcap"):
        if x is not None and not isinstance(x, (int, float, torch.SymInt, torch.SymFloat)):
            return _finite(name, x)
    elif name in ("layout", "diagonal", "lse_base") or name == "lse_layout" and x is not None:
        if not isinstance(x, str):
            raise ValueError(f"{name}: expects a name, got {x!r}")
    elif name in ("seqlens_q", "seqlens_kv", "q_offset", "kv_offset"):
        return int(x) if isinstance(x, np.integer) else x
    return x


def attention_with_autograd(
    a: dict[str, Any], *, device: Optional[str], chip: Optional[str], checks: Optional[str]
) -> Any:
    """`attention` on tensors; `a` has its arguments."""
    needs_grad = torch.is_grad_enabled() and any(
        isinstance(a[name], Tensor) and a[name].requires_grad for name in _DIFFERENTIABLE
    )
    outputs = a["out"] is not None or a["lse"] is not None
    if outputs and not torch.compiler.is_compiling():
        if needs_grad:
            raise ValueError("out: expects None where a gradient is wanted, got an array")
        from ._attention import run

        return run(a, device=device, chip=chip, checks=checks)
    a = {name: _checked_option(name, x) for name, x in a.items()}
    for name, x in (("device", device), ("chip", chip), ("checks", checks)):
        if x is not None and not isinstance(x, str):
            raise ValueError(f"{name}: expects a name or None, got {x!r}")
    window = a["window"] if a["window"] is not None else (-1, -1)
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise ValueError(f"window: expects a pair (left, right), got {window!r}")
    left, right = (-1 if side is None else _whole("window", side) for side in window)

    def tensor(name: str) -> Optional[Tensor]:
        x = a[name]
        if x is None or isinstance(x, Tensor):
            return x
        if isinstance(x, (list, tuple)):
            try:
                return torch.tensor(x, device=a["q"].device)
            except (TypeError, ValueError, RuntimeError) as error:
                raise ValueError(f"{name}: expects numbers, got {x!r}: {error}") from None
        if name in ("seqlens_q", "seqlens_kv") and isinstance(x, (int, torch.SymInt)):
            return torch.full((a["q"].shape[0],), x, device=a["q"].device)
        raise ValueError(f"{name}: expects a torch tensor, as q is, got {type(x).__name__}")

    def split(name: str) -> tuple[Optional[Tensor], Optional[int]]:
        x = a[name]
        if isinstance(x, (int, torch.SymInt)) and not isinstance(x, bool):
            return None, x
        return tensor(name), None

    for name in ("k", "v"):
        if not isinstance(a[name], Tensor):
            raise ValueError(f"{name}: expects a torch tensor, as q is, got {type(a[name]).__name__}")
    values = {name: a[name] for name in _NAMES if name in a}
    values |= {name: tensor(name) for name in _OPTIONAL}
    for side in ("q", "kv"):
        values[f"{side}_offset"], values[f"{side}_start"] = split(f"{side}_offset")
    # The gradient starts from the LSE; it changes no bit of O.
    dense = a["layout"] != "thd" and a["block_table"] is None
    values["return_lse"] = a["return_lse"] or (needs_grad and dense)
    out, lse = torch.ops.attn_mlir.attention(
        **values, window_left=left, window_right=right, device=device, chip=chip, checks=checks
    )
    if a["out"] is not None:
        out = a["out"].copy_(out)
    if not a["return_lse"]:
        return out
    return out, lse if a["lse"] is None else a["lse"].copy_(lse)


_OPTIONAL = ("bias", "mask", "alibi_slopes", "sink", "seqlens_q", "seqlens_kv")
_OPTIONAL += ("cu_seqlens_q", "cu_seqlens_kv", "block_table")


# ----------------------------------------------------------------------
# Merging
# ----------------------------------------------------------------------


def merge_states(states: list[tuple[Tensor, Tensor]], lse_base: str) -> tuple[Tensor, Tensor]:
    """`attn_mlir.merge_states` on tensors of any device, differentiable."""
    unit = 1 / _LOG2_E if lse_base == "two" else 1.0
    lses = [lse * unit for _, lse in states]
    top = torch.stack([lse.detach() for lse in lses]).amax(0)
    reference = torch.where(torch.isneginf(top), torch.zeros_like(top), top)
    dtype = states[0][0].dtype
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    total: Any = 0.0
    acc: Any = 0.0
    for (out, _), lse in zip(states, lses):
        weight = torch.exp(lse - reference)
        total = total + weight
        # A state without weight may hold anything.
        used = torch.where((weight == 0)[..., None], torch.zeros_like(out), out)
        acc = acc + weight[..., None].to(wide) * used.to(wide)
    empty = total == 0
    safe = torch.where(empty, torch.ones_like(total), total)
    out = torch.where(empty[..., None], torch.zeros_like(acc), acc / safe[..., None].to(wide))
    lse = torch.where(empty, torch.full_like(total, -math.inf), reference + torch.log(safe))
    return out.to(dtype), lse / unit


# ----------------------------------------------------------------------
# Adapters
# ----------------------------------------------------------------------


def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: Optional[float] = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Optional[Tensor] = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """`flash_attn.flash_attn_func` on attn_mlir.attention.

    q [B, Sq, Hq, D], k [B, Skv, Hk, D], v [B, Skv, Hk, Dv]; causal is aligned to the bottom
    right; softcap 0 is none. With return_attn_probs: (O, LSE [B, Hq, Sq] of base e, None) in
    place of O. Results are always deterministic. ValueError for dropout.
    """
    from ._attention import attention

    del deterministic
    if dropout_p != 0.0:
        raise ValueError(f"dropout_p: expects 0.0, attn_mlir has no dropout, got {dropout_p}")
    if not isinstance(window_size, (tuple, list)) or len(window_size) != 2:
        raise ValueError(f"window_size: expects a pair (left, right), got {window_size!r}")
    result = attention(
        q,
        k,
        v,
        layout="bshd",
        scale=softmax_scale,
        causal=causal,
        # Causal is the right bound already.
        window=(window_size[0], -1 if causal else window_size[1]),
        softcap=softcap if softcap > 0.0 else None,
        alibi_slopes=alibi_slopes,
        return_lse=return_attn_probs,
    )
    return (*result, None) if return_attn_probs else result


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`torch.nn.functional.scaled_dot_product_attention` on attn_mlir.attention.

    query [..., Hq, L, E], key [..., H, S, E], value [..., H, S, Ev], or without a head dim
    [N, L, E] and so on; attn_mask broadcasts to [..., Hq, L, S]: True takes part, floats are
    added; is_causal is aligned to the top left. A row that sees no key gets zeros.
    ValueError for dropout, for a mask together with is_causal, and for head counts that
    differ without enable_gqa.
    """
    from ._attention import attention

    if dropout_p != 0.0:
        raise ValueError(f"dropout_p: expects 0.0, attn_mlir has no dropout, got {dropout_p}")
    if attn_mask is not None and is_causal:
        raise ValueError("attn_mask: expects None with is_causal=True, got a mask")
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not isinstance(x, Tensor):
            raise ValueError(f"{name}: expects a torch tensor, got {type(x).__name__}")
        if x.dim() < 2:
            raise ValueError(f"{name}: expects 2 dimensions or more, got {x.dim()}")
    lead = query.shape[:-2]

    def as_bhsd(x: Tensor) -> Tensor:
        while x.dim() < 4:
            # [N, L, E] has sequences; no heads.
            x = x.unsqueeze(1) if x.dim() == 3 else x.unsqueeze(0)
        return x.flatten(0, -4) if x.dim() > 4 else x

    q, k, v = as_bhsd(query), as_bhsd(key), as_bhsd(value)
    if not enable_gqa and not q.shape[1] == k.shape[1] == v.shape[1]:
        raise ValueError(
            f"key: expects {q.shape[1]} heads, as query has, without enable_gqa, got "
            f"{k.shape[1]} and {v.shape[1]}"
        )
    options: dict[str, Any] = {}
    if attn_mask is not None:
        if not isinstance(attn_mask, Tensor):
            raise ValueError(f"attn_mask: expects a torch tensor, got {type(attn_mask).__name__}")
        if attn_mask.dtype != torch.bool and not attn_mask.is_floating_point():
            raise ValueError(
                f"attn_mask: expects elements of bool or floats, got {attn_mask.dtype}"
            )
        wanted = (*lead, query.shape[-2], key.shape[-2])
        try:
            whole = attn_mask.expand(wanted)
        except RuntimeError:
            raise ValueError(
                f"attn_mask: expects a shape that broadcasts to {list(wanted)}, got "
                f"{list(attn_mask.shape)}"
            ) from None
        # Four dims are taken as they are, with those that broadcast.
        if query.dim() != 4:
            attn_mask = as_bhsd(whole)
        options["mask" if attn_mask.dtype == torch.bool else "bias"] = attn_mask
    out = attention(
        q,
        k,
        v,
        causal=is_causal,
        diagonal="top_left" if is_causal else "bottom_right",
        scale=scale,
        **options,
    )
    return out.reshape(*lead, *out.shape[-2:])
