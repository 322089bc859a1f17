"""Problems made from choices of features, with inputs that expose mix-ups.

Every row, column and head of the inputs is distinct, whatever must not be read
holds NaN, and `magnitude = wide` gives scores down to -64000 with maxima that
grow from tile to tile. All products are exact, so that tolerances stay tight.
"""

import compare
import numpy as np
from attn_program import Problem, view_of
from cases import INF

# Every feature and its levels; the first level is the plain one.
FEATURES = {
    "kind": ("f16", "bf16", "f32", "f64"),
    "layout": ("bhsd", "bshd", "thd"),
    "heads": ((4, 4, 4), (4, 2, 2), (6, 2, 3), (4, 1, 4), (8, 1, 1), (12, 2, 4)),
    "dims": ((64, 64), (40, 24), (128, 72), (8, 136)),
    "lengths": ((32, 32), (1, 77), (70, 33), (17, 130), (45, 1), (5, 140)),
    "visibility": (
        {},
        {"causal": True},
        {"causal": True, "diagonal_alignment": "top_left"},
        {"window_left": 9, "window_right": 4},
        {"window_left": 5, "causal": True, "sink_tokens": 3},
        {"window_right": 0},
    ),
    "softcap": (None, 3.0),
    "bias": (None, "full", "row", "head", "holes"),
    "mask": (None, "full", "keys", "batch"),
    "alibi": (None, "head", "batch"),
    "sink": (None, "some"),
    "padding": (None, "kv", "both", "pages"),
    "offsets": (None, "scalar", "batch"),
    "scale": (None, 0.25, -0.5, "operand"),
    "lse": ("e", None, "two"),
    "splits": (None, 2, 5),
    "form": ("memref", "tensor", "dynamic", "dynamic rows", "strided", "dynamic tensor"),
    "magnitude": ("unit", "wide"),
}


def is_consistent(choice):
    """Whether the features, as far as chosen, go together in one op."""
    get = choice.get
    if get("layout") == "thd" and get("padding") not in (None, "pages"):
        return False
    visibility = get("visibility") or {}
    if "diagonal_alignment" in visibility and get("offsets") is not None:
        return False
    # A wide score needs an exact f32 sum: no scale but a power of two.
    if get("magnitude") == "wide" and get("softcap") is not None:
        return False
    return True


def needs(choice):
    """The features, by their ids in docs/features.json, of levels of this choice."""
    visibility = choice.get("visibility") or {}
    hq, hk, hv = choice.get("heads", (1, 1, 1))
    form = choice.get("form", "")
    needed = {
        "f32": choice.get("kind") == "f32",
        "f64": choice.get("kind") == "f64",
        "bshd": choice.get("layout") == "bshd",
        "thd": choice.get("layout") == "thd",
        "gqa": (hk, hv) != (hq, hq),
        "causal": "causal" in visibility,
        "window": "window_left" in visibility or "window_right" in visibility,
        "bias_mask": choice.get("bias") or choice.get("mask"),
        "lse_base": choice.get("lse") == "two",
        "scale_value": choice.get("scale") == "operand",
        "padded": choice.get("padding"),
        "paged": choice.get("padding") == "pages",
        "thd_paged": choice.get("layout") == "thd" and choice.get("padding") == "pages",
        "split_kv": choice.get("splits"),
        "dynamic": "dynamic" in form,
        "strided": form == "strided",
        **{name: choice.get(name) for name in ("softcap", "alibi", "sink", "offsets")},
    }
    return [name for name, is_needed in needed.items() if is_needed]


def features_of(device):
    """The features with the levels that the device supports."""
    return {
        name: tuple(x for x in levels if not device.lacks(*needs({name: x})))
        for name, levels in FEATURES.items()
    }


def make(choice, seed):
    """The problem of a complete choice of features."""
    rng = np.random.default_rng(seed)
    dtype = compare.dtype(choice["kind"])
    hq, hk, hv = choice["heads"]
    dqk, dv = choice["dims"]
    sq, skv = choice["lengths"]
    batch = 2
    packed = choice["layout"] == "thd"
    # Packed sequences have a length each, one of them none.
    q_lens = [sq, 0, max(sq // 2, 1)] if packed else [sq] * batch
    kv_lens = [skv, 3, max(skv - 1, 0)] if packed else [skv] * batch
    batch = len(q_lens)

    q = [_grid(rng, (hq, n, dqk)) for n in q_lens]
    k = [_grid(rng, (hk, n, dqk)) for n in kv_lens]
    v = [_distinct(rng, (hv, n, dv)) for n in kv_lens]
    if choice["magnitude"] == "wide":
        for x in q:
            x[..., 0] = 64.0
        for x in k:  # scores from -64000 up in steps of 4 * 64, times the scale
            x[..., 0] = -1000.0 + 4 * (np.arange(x.shape[1]) // 8)

    options = dict(choice["visibility"])
    _add_scale(options, choice, dqk)
    if choice["softcap"] is not None:
        options["softcap"] = choice["softcap"]
    scores = (batch, hq, max(q_lens), max(kv_lens))
    _add_bias_and_mask(options, choice, rng, scores, dtype)
    if choice["alibi"]:
        shape = (hq,) if choice["alibi"] == "head" else (batch, hq)
        options["alibi_slopes"] = (2.0 ** -rng.integers(1, 8, shape)).astype(np.float32)
    if choice["sink"]:
        options["sink"] = rng.integers(-3, 4, hq).astype(np.float32)
        options["sink"][0] = -INF
    if choice["padding"]:
        lengths = kv_lens if packed else [skv, max(skv - 5, 0)]
        options["seqlens_kv"] = np.array(lengths, np.int32)
        for x, y, n in zip(k, v, lengths):
            x[:, n:] = y[:, n:] = np.nan
        if choice["padding"] == "both":
            lengths = [max(sq - 3, 0), sq]
            options["seqlens_q"] = np.array(lengths, np.int32)
            for x, n in zip(q, lengths):
                x[:, n:] = np.nan
    if choice["offsets"] == "scalar":
        options["q_offset"] = 11
    elif choice["offsets"] == "batch":
        options["q_offset"] = rng.integers(0, 40, batch).astype(np.int32)
        options["kv_offset"] = rng.integers(0, 12, batch).astype(np.int32)
    if choice["lse"] == "two":
        options["lse_base"] = "two"
    if choice["splits"]:
        options["num_kv_splits"] = choice["splits"]
    if choice["layout"] != "bhsd":
        options["layout"] = choice["layout"]
    if packed:
        options["cu_seqlens_q"] = np.cumsum([0, *q_lens]).astype(np.int32)
        if choice["padding"] is None:
            options["cu_seqlens_kv"] = np.cumsum([0, *kv_lens]).astype(np.int32)
        if seed % 3:
            options["lse_layout"] = ("sh_packed", "bhs_padded")[seed % 3 - 1]
    if choice["lse"] is None:
        options.pop("lse_layout", None)

    if choice["padding"] == "pages":
        page = (16, 32, 64)[seed % 3]
        k, v, options["block_table"] = _paged(rng, k, v, options["seqlens_kv"], page)
        options["page_size"] = page
    pools = "bshd" if packed and choice["padding"] == "pages" else choice["layout"]
    arrays = [
        _arrange(x, layout).astype(dtype)
        for x, layout in zip((q, k, v), (choice["layout"], pools, pools))
    ]
    form = choice["form"]
    out = None
    if form == "strided":  # rows with a gap of poison, in a larger buffer
        out = np.full(arrays[0].shape[:-1] + (dv,), np.nan, dtype)
        arrays = [view_of(x, pitch=x.shape[-1] + 8, offset=4, tail=5) for x in arrays]
        out = view_of(out, pitch=dv + 4, offset=2, tail=1, fill=-7)
    return Problem(
        *arrays,
        options,
        out=out,
        lse=choice["lse"] is not None,
        dynamic="rows" if form == "dynamic rows" else "dynamic" in form,
        tensors="tensor" in form,
    )


def _paged(rng, keys, values, lengths, page):
    """Pools of pages, and the table that finds each sequence's keys in them.

    What holds no key is NaN, or in no page at all.
    """
    counts = [-(-n // page) for n in lengths]
    order = iter(rng.permutation(sum(counts) + 1))
    table = np.full((len(keys), max(counts) + 1), -1, np.int32)
    pools = [
        [np.full((x[0].shape[0], page, x[0].shape[2]), np.nan) for _ in range(sum(counts) + 1)]
        for x in (keys, values)
    ]
    for b, n in enumerate(lengths):
        for p in range(counts[b]):
            table[b, p] = next(order)
            for pool, x in zip(pools, (keys, values)):
                rows = x[b][:, p * page : min((p + 1) * page, n)]
                pool[table[b, p]][:, : rows.shape[1]] = rows
    return *pools, table


def _grid(rng, shape):
    """Multiples of 1/8 in [-1, 1]: products and their sums are exact in f32."""
    return rng.integers(-8, 9, shape) / 8.0


def _distinct(rng, shape):
    """Values in [-1, 1] of which no two are equal before rounding."""
    count = int(np.prod(shape))
    return (2.0 * rng.permutation(count) / max(count, 1) - 1).reshape(shape)


def _add_scale(options, choice, dqk):
    scale = choice["scale"]
    if choice["magnitude"] == "wide" and scale is None and dqk != 64:
        scale = 0.125  # 1/sqrt(D) would round the large scores
    if scale == "operand":
        options["scale_value"] = 0.125
    elif scale is not None:
        options["scale"] = scale


def _add_bias_and_mask(options, choice, rng, scores, dtype):
    b, h, sq, skv = scores
    shapes = {"full": scores, "row": (1, 1, 1, skv), "head": (h, sq, skv), "holes": (b, 1, sq, skv)}
    if choice["bias"]:
        bias = _grid(rng, shapes[choice["bias"]])
        if choice["bias"] == "holes":
            bias[rng.random(bias.shape) < 0.3] = -INF
        options["bias"] = bias.astype(dtype)
    shapes = {"full": scores, "keys": (skv,), "batch": (b, 1, sq, skv)}
    if choice["mask"]:
        options["mask"] = (rng.random(shapes[choice["mask"]]) < 0.7).astype(np.int8)


def _arrange(sequences, layout):
    """[H, S, D] of each sequence to the layout."""
    if layout == "bhsd":
        return np.stack(sequences)
    if layout == "bshd":
        return np.stack([x.transpose(1, 0, 2) for x in sequences])
    return np.concatenate([x.transpose(1, 0, 2) for x in sequences])


def pairwise(features, seed=0):
    """Choices that together hold every consistent pair of levels.

    Greedy: each choice is the best of several random ones that start from a
    pair not yet seen.
    """
    rng = np.random.default_rng(seed)
    names = list(features)
    index = {
        (a, i, b, j)
        for n, a in enumerate(names)
        for b in names[n + 1 :]
        for i, x in enumerate(features[a])
        for j, y in enumerate(features[b])
        if is_consistent({a: x, b: y})
    }
    choices = []
    while index:
        a, i, b, j = min(index)
        best, covered = None, set()
        for _ in range(40):
            levels = {name: int(rng.integers(len(features[name]))) for name in names}
            levels[a], levels[b] = i, j
            if not is_consistent({name: features[name][k] for name, k in levels.items()}):
                continue
            pairs = {
                (x, levels[x], y, levels[y]) for n, x in enumerate(names) for y in names[n + 1 :]
            }
            if best is None or len(pairs & index) > len(covered):
                best, covered = levels, pairs & index
        assert best is not None, f"no consistent choice holds {a}={i}, {b}={j}"
        choices.append({name: features[name][k] for name, k in best.items()})
        index -= covered
    return choices


def describe(choice):
    """The levels that are not plain, for messages."""
    parts = [f"{k}={v}" for k, v in choice.items() if v != FEATURES[k][0]]
    return ", ".join(parts) or "plain"
