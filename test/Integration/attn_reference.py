"""Attention and its LSE in f64 numpy: what every other path is measured against.

A transcription of docs/Semantics.md that shares no code with the compiler and
prefers plainness to speed: a loop over sequences and heads, rows vectorised.
Inputs are the values the program under test saw, already rounded to its types.
"""

import numpy as np

NEG_INF = -np.inf


def attention(
    q,
    k,
    v,
    *,
    layout="bhsd",
    scale=None,
    causal=False,
    diagonal_alignment="bottom_right",
    window_left=-1,
    window_right=-1,
    sink_tokens=0,
    softcap=None,
    bias=None,
    mask=None,
    alibi_slopes=None,
    sink=None,
    seqlens_q=None,
    seqlens_kv=None,
    cu_seqlens_q=None,
    cu_seqlens_kv=None,
    q_offset=None,
    kv_offset=None,
    block_table=None,
    key_range=None,
    lse_base="e",
    lse_layout=None,
    max_seqlen_q=None,
):
    """Returns (O, LSE) in f64, O in `layout`, LSE in `lse_layout`.

    q, k, v: [B, H, S, D] (bhsd), [B, S, H, D] (bshd) or [total, H, D] (thd).
    With block_table [B, pages], k and v are page pools: a page takes the place
    of a batch entry, so [pages, Hk, page, D] or [pages, page, Hk, D].
    bias and mask broadcast to [B, Hq, Sq, Skv]; key_range = (begin, end) lets
    no other key be seen (a partial result). Rows beyond a sequence's length are
    neutral: O = 0, LSE = -inf.
    """
    q, k, v = (np.asarray(x).astype(np.float64) for x in (q, k, v))
    hq = q.shape[1] if layout in ("bhsd", "thd") else q.shape[2]
    if scale is None:
        scale = 1.0 / np.sqrt(q.shape[-1])

    sequences = _sequences(
        q, k, v, layout, seqlens_q, seqlens_kv, cu_seqlens_q, cu_seqlens_kv, block_table
    )
    outs, lses = [], []
    for b, (qb, kb, vb, len_q, len_kv) in enumerate(sequences):
        out = np.zeros(qb.shape[:2] + vb.shape[2:])
        lse = np.full(qb.shape[:2], NEG_INF)
        off = _offset(b, len_q, len_kv, q_offset, kv_offset, diagonal_alignment)
        i = np.arange(len_q)[:, None]
        j = np.arange(len_kv)[None, :]
        visible = _visible(i, j, off, causal, window_left, window_right, sink_tokens)
        if key_range is not None:
            visible = visible & (j >= key_range[0]) & (j < key_range[1])
        for h in range(hq):
            keys = kb[h // (hq // kb.shape[0]), :len_kv]
            values = vb[h // (hq // vb.shape[0]), :len_kv]
            with np.errstate(all="ignore"):  # NaN and inf are legal inputs
                s = (qb[h, :len_q] @ keys.T) * scale
                if softcap is not None:
                    s = softcap * np.tanh(s / softcap)
                if alibi_slopes is not None:
                    s = s - _per_head(alibi_slopes, b, h) * np.abs(i + off - j)
                if bias is not None:
                    s = s + _tile(bias, b, h, len_q, len_kv).astype(np.float64)
            seen = visible
            if mask is not None:
                seen = seen & (_tile(mask, b, h, len_q, len_kv) != 0)
            s = np.where(seen, s, NEG_INF)
            z = None if sink is None else float(np.asarray(sink, np.float64)[h])
            out[h, :len_q], lse[h, :len_q] = _softmax(s, values, z)
        outs.append(out)
        lses.append(lse)

    if not outs:  # a batch of nothing
        return np.zeros(q.shape[:-1] + v.shape[-1:]), np.zeros((0, hq, q.shape[1 if layout == "bshd" else 2]))
    lse_layout = lse_layout or ("hs_packed" if layout == "thd" else "bhs")
    if lse_base == "two":
        lses = [lse * np.log2(np.e) for lse in lses]
    return _pack_output(outs, layout), _pack_lse(lses, lse_layout, max_seqlen_q)


def merge_states(states, *, sink=None, lse_base="e"):
    """Merges [(O, LSE), ...] with O [..., Dv] and LSE [...] over disjoint keys.

    A state of weight 0 is ignored even if its O holds NaN. sink broadcasts to
    the LSE's shape.
    """
    unit = np.log(2.0) if lse_base == "two" else 1.0
    outs = [np.asarray(out).astype(np.float64) for out, _ in states]
    lses = [np.asarray(lse).astype(np.float64) * unit for _, lse in states]
    logits = list(lses)
    if sink is not None:
        logits.append(np.broadcast_to(np.asarray(sink, np.float64), lses[0].shape))
    with np.errstate(all="ignore"):
        top = np.max(logits, axis=0)
        empty = top == NEG_INF
        shift = np.where(empty, 0.0, top)
        weights = [np.exp(x - shift) for x in logits]
        total = np.sum(weights, axis=0)
        out = np.zeros_like(outs[0])
        for o, w in zip(outs, weights):
            out += np.where((w == 0)[..., None], 0.0, w[..., None] * o)
        out = np.where(empty[..., None], 0.0, out / total[..., None])
        lse = np.where(empty, NEG_INF, top + np.log(total))
    return out, lse / unit


def _sequences(q, k, v, layout, lens_q, lens_kv, cu_q, cu_kv, block_table):
    """Yields (q, k, v, len_q, len_kv) of every sequence, heads first."""

    def heads_first(x):
        return x if layout == "bhsd" else x.transpose(1, 0, 2)

    if layout == "thd":
        for b in range(len(cu_q) - 1):
            qb = heads_first(q[cu_q[b] : cu_q[b + 1]])
            if block_table is None:
                kb, vb = (heads_first(x[cu_kv[b] : cu_kv[b + 1]]) for x in (k, v))
                len_kv = kb.shape[1]
            else:
                kb, vb = (_gather(x, block_table[b], lens_kv[b], True) for x in (k, v))
                len_kv = lens_kv[b]
            yield qb, kb, vb, qb.shape[1], int(len_kv)
        return
    for b in range(q.shape[0]):
        qb = heads_first(q[b])
        if block_table is None:
            kb, vb = heads_first(k[b]), heads_first(v[b])
        else:
            kb, vb = (
                _gather(x, block_table[b], lens_kv[b], layout != "bhsd") for x in (k, v)
            )
        len_q = qb.shape[1] if lens_q is None else int(lens_q[b])
        len_kv = kb.shape[1] if lens_kv is None else int(lens_kv[b])
        yield qb, kb, vb, len_q, len_kv


def _gather(pool, table, length, page_first):
    """The first `length` rows of one sequence from its pages, heads first."""
    pool = pool.transpose(0, 2, 1, 3) if page_first else pool
    page = pool.shape[2]
    pages = [pool[table[p]] for p in range(-(-int(length) // page))]
    if not pages:
        return np.zeros((pool.shape[1], 0, pool.shape[3]))
    return np.concatenate(pages, axis=1)[:, : int(length)]


def _offset(b, len_q, len_kv, q_offset, kv_offset, alignment):
    if q_offset is None and kv_offset is None:
        return len_kv - len_q if alignment == "bottom_right" else 0
    return _per_batch(q_offset, b) - _per_batch(kv_offset, b)


def _per_batch(x, b):
    """A scalar or [B] array at b; absent is 0."""
    return 0 if x is None else int(x if np.ndim(x) == 0 else x[b])


def _visible(i, j, off, causal, left, right, sink_tokens):
    visible = np.ones(np.broadcast_shapes(i.shape, j.shape), bool)
    if causal:
        visible &= j <= i + off
    if left >= 0:
        visible &= (j >= i + off - left) | (j < sink_tokens)
    if right >= 0:
        visible &= j <= i + off + right
    return visible


def _per_head(x, b, h):
    x = np.asarray(x, np.float64)
    return x[h] if x.ndim == 1 else x[b, h]


def _tile(x, b, h, rows, cols):
    """x, broadcast to [B, Hq, Sq, Skv], at (b, h), its first rows and columns."""
    x = np.asarray(x)
    x = x.reshape((1,) * (4 - x.ndim) + x.shape)
    x = x[b if x.shape[0] > 1 else 0, h if x.shape[1] > 1 else 0]
    x = x[:rows] if x.shape[0] > 1 else x
    x = x[:, :cols] if x.shape[1] > 1 else x
    return np.broadcast_to(x, (rows, cols))


def _softmax(s, values, z):
    """Rows of scores and the values to (O, LSE); z is a sink logit or None."""
    rows, dv = s.shape[0], values.shape[-1]
    if s.shape[1] == 0:
        s, values = np.full((rows, 1), NEG_INF), np.zeros((1, dv))
    with np.errstate(all="ignore"):
        m = s.max(axis=1)
        if z is not None:
            m = np.maximum(m, z)
        shift = np.where(m == NEG_INF, 0.0, m)
        p = np.exp(s - shift[:, None])
        total = p.sum(axis=1)
        if z is not None:
            total = total + np.exp(z - shift)
        if np.isfinite(values).all():
            acc = p @ values
        else:  # an unseen key's value has no effect, whatever it holds
            seen = s != NEG_INF
            acc = np.stack([p[r, seen[r]] @ values[seen[r]] for r in range(rows)])
        # Empty by total == 0, not by m == -inf: an all-NaN row stays NaN.
        empty = total == 0
        out = np.where(empty[:, None], 0.0, acc / total[:, None])
        lse = np.where(empty, NEG_INF, m + np.log(total))
    return out, lse


def _pack_output(outs, layout):
    if layout == "bhsd":
        return np.stack(outs)
    if layout == "bshd":
        return np.stack([out.transpose(1, 0, 2) for out in outs])
    return np.concatenate([out.transpose(1, 0, 2) for out in outs])


def _pack_lse(lses, lse_layout, max_seqlen_q):
    if lse_layout == "bhs":
        return np.stack(lses)
    if lse_layout == "hs_packed":
        return np.concatenate(lses, axis=1)
    if lse_layout == "sh_packed":
        return np.concatenate([lse.T for lse in lses])
    assert lse_layout == "bhs_padded", lse_layout
    rows = max_seqlen_q if max_seqlen_q is not None else max(x.shape[1] for x in lses)
    padded = np.full((len(lses), lses[0].shape[0], rows), NEG_INF)
    for b, lse in enumerate(lses):
        padded[b, :, : lse.shape[1]] = lse
    return padded
