"""Case F5: the level of optimisation changes no result.

Six inputs with exact scores (those of A2, B8, C10, D1, D8 and F2) at LLVM's
levels 0, 1 and 3; every LSE within 2 ulp of the first level's, O within one
ulp of its type.
"""

import compare
import numpy as np
import pytest
from attn_program import Problem, run_all
from cases import first, heads, spread

LEVELS = (0, 1, 3)


def inputs(kind):
    """The six problems, one of each case."""
    ones, none = np.ones, np.zeros
    jump = np.full(128, -200.0)
    jump[0] = 200
    hot = none((64, 128))
    hot[np.arange(64), np.arange(64)] = 8
    sweep = np.eye(64, 128).astype(compare.dtype(kind))
    scale = {"scale": 1.0}
    return [
        Problem(
            heads(first(none(192), kind)),
            heads(first(none(64), kind)),
            heads(spread(np.arange(64), kind)),
            {"causal": True},
        ),
        Problem(
            first(np.arange(8)[None, :, None], kind, 128),
            first(ones((1, 2, 300)), kind, 128),
            spread(ones((1, 2, 300)), kind, 128),
            scale,
        ),
        Problem(
            heads(first(ones(1), kind)),
            heads(first(jump, kind)),
            heads(spread(np.where(jump > 0, 1, 7), kind)),
            scale,
        ),
        Problem(
            heads(first(np.full(17, 4.0), kind)),
            heads(first(np.full(65, -5.0), kind)),
            heads(spread(ones(65), kind)),
            scale,
        ),
        Problem(
            first((np.arange(8) / 8)[None, :, None], kind),
            first(ones((1, 2, 512)), kind),
            spread(np.arange(512)[None, None, :].repeat(2, axis=1) % 2, kind),
            scale,
        ),
        Problem(
            heads(sweep),
            heads(hot.astype(compare.dtype(kind))),
            heads(spread(np.arange(64), kind, 128)),
            scale,
        ),
    ]


@pytest.mark.slow
@pytest.mark.kinds("bf16", "f16")
@pytest.mark.needs("causal", "gqa")
def test_F5_optimisation_changes_no_result(device, kind):
    runs = []
    for level in LEVELS:
        runs.append(run_all(inputs(kind), device, extra_args=[f"--optimize={level}"]))
    for level, results in zip(LEVELS[1:], runs[1:]):
        for n, (base, result) in enumerate(zip(runs[0], results)):
            what = f"input {n} at -O{level}: "
            lse = base.lse.astype(np.float64)
            compare.assert_close(
                result.lse, lse, atol=2 * compare.ulp(np.nan_to_num(lse), "f32"), what=what + "LSE"
            )
            out = base.out.astype(np.float64)
            compare.assert_close(result.out, out, atol=compare.ulp(out, kind), what=what + "O")
