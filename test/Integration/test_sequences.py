"""Sequences of their own lengths: packed, padded, in pages."""

import compare
import numpy as np
import pytest
from attn_program import Problem, assert_matches, run, run_all
from cases import INF
from random_problems import _distinct as distinct
from random_problems import _grid as grid

NAN = np.nan


def paged(rng, kind, q_shape, heads_kv, lengths, page, *, dv=None, layout="bhsd", **options):
    """A decode or prefill batch whose keys lie in shuffled pages.

    Pages that no sequence has, the rest of each last page, and table entries
    behind it hold what must not take part.
    """
    dtype = compare.dtype(kind)
    b, _, _, d = q_shape
    dv = dv or d
    counts = [-(-n // page) for n in lengths]
    width = max(counts, default=0) + 2
    total = sum(counts) + 3
    order = rng.permutation(total)
    table = np.full((b, width), -1, np.int32)
    table[:, -1] = 2**31 - 1
    pools = []
    at = 0
    for s, count in enumerate(counts):
        table[s, :count] = order[at : at + count]
        at += count
    for make, columns in ((grid, d), (distinct, dv)):
        pool = np.full((total, heads_kv, page, columns), NAN)
        for s, (n, count) in enumerate(zip(lengths, counts)):
            rows = make(rng, (heads_kv, n, columns))
            for p in range(count):
                part = rows[:, p * page : (p + 1) * page]
                pool[table[s, p], :, : part.shape[1]] = part
        pools.append(pool)
    q = grid(rng, q_shape)
    if layout == "bshd":
        q, *pools = (x.transpose(0, 2, 1, 3) for x in (q, *pools))
        options["layout"] = layout
    arrays = [np.ascontiguousarray(x).astype(dtype) for x in (q, *pools)]
    return Problem(
        *arrays,
        {
            "seqlens_kv": np.array(lengths, np.int32),
            "block_table": table,
            "page_size": page,
            **options,
        },
    )


@pytest.mark.parametrize("page", [16, 32, 64, 128, 192, 1024])
@pytest.mark.needs("paged")
def test_pages_of_any_size(device, kind, page):
    rng = np.random.default_rng(page)
    problems = [
        paged(rng, kind, (3, 2, 33, 64), 1, [0, 1, page + 3], page),
        paged(rng, kind, (2, 4, 1, 128), 2, [2 * page, 131], page, causal=True),
        paged(rng, kind, (2, 2, 70, 72), 2, [65, 200], page, dv=40, layout="bshd", causal=True),
    ]
    for problem, result in zip(problems, run_all(problems, device)):
        assert_matches(result, problem, what=f"{page} keys a page: ")
