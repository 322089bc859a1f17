"""Small exact inputs, and the check of a result against hand-made values.

Tests named after an id (A1, B2, ...) reproduce a public bug report with values
of our own, see docs/Testing.md. Their inputs make scores exact: one component
of Q and K carries the number, the rest is zero.
"""

import compare
import numpy as np
from attn_program import element_type

INF = np.inf
LN = np.log

# Relative error of O for each type of output.
RTOL = {"f16": 2e-3, "bf16": 1e-2, "f32": 1e-5, "f64": 1e-6}


def first(values, kind, d=64):
    """[..., S] numbers to [..., S, d] rows whose first component is the number."""
    values = np.asarray(values, np.float64)
    x = np.zeros(values.shape + (d,))
    x[..., 0] = values
    return x.astype(compare.dtype(kind))


def spread(values, kind, d=64):
    """[..., S] numbers to [..., S, d] rows that repeat the number."""
    values = np.asarray(values, np.float64)
    return np.repeat(values[..., None], d, axis=-1).astype(compare.dtype(kind))


def heads(x, b=1, h=1):
    """One head's [S, d] for every batch and head."""
    return np.broadcast_to(x, (b, h) + x.shape).copy()


def unique(shape, kind, seed=0):
    """Numbers that differ between heads, rows and columns, of magnitude 1."""
    count = int(np.prod(shape))
    steps = np.random.default_rng(seed).permutation(count) / max(count, 1)
    return (2 * steps - 1).reshape(shape).astype(compare.dtype(kind))


def check(result, out, lse=None, *, exact=False, max_score=None, what=""):
    """Checks O (each row one number) and LSE against expected values.

    exact: O to one ulp of its type, for integers in disguise (4 if O is as wide
    as the arithmetic inside, whose rounding then shows). The LSE may be off by 4
    f32 ulps of the largest score (default: of the largest |LSE|) plus 1e-5. Rows
    expected empty are checked by their bits.
    """
    kind = element_type(result.out)
    rows = np.broadcast_to(np.asarray(out, np.float64), result.out.shape[:-1])
    expected = np.broadcast_to(rows[..., None], result.out.shape)
    if exact:
        atol = compare.ulp(expected, kind) * (1 if kind in ("f16", "bf16") else 4)
        compare.assert_close(result.out, expected, atol=atol, what=what + "O")
    else:
        compare.assert_close(result.out, expected, rtol=RTOL[kind], what=what + "O")
    if lse is None:
        return
    lse = np.broadcast_to(np.asarray(lse, np.float64), result.lse.shape)
    finite = np.abs(lse[np.isfinite(lse)])
    top = finite.max(initial=0) if max_score is None else max_score
    bound = 4 * compare.ulp(top, "f32") + 1e-5
    compare.assert_close(result.lse, lse, atol=bound, what=what + "LSE")
    empty = lse == -INF
    compare.assert_minus_inf(result.lse[empty], what=what + "LSE of rows without keys")
    if empty.any() and lse.shape == result.out.shape[:-1] and (rows[empty] == 0).all():
        compare.assert_plus_zero(result.out[empty], what=what + "O of rows without keys")
