"""Combinations of features against the reference.

A generated matrix holds every pair of feature levels at least once; hypothesis
draws further combinations. Several problems share a process.
"""

import hypothesis
import pytest
import random_problems
from attn_program import assert_matches, run_all
from hypothesis import strategies as st
from random_problems import FEATURES

BATCH = 6


def features_of(device):
    kinds = tuple(k for k in FEATURES["kind"] if k in device.kinds)
    return {**FEATURES, "kind": kinds}


def run_choices(choices, device, first_seed):
    problems = [random_problems.make(c, first_seed + n) for n, c in enumerate(choices)]
    for n, (choice, problem, result) in enumerate(
        zip(choices, problems, run_all(problems, device))
    ):
        what = f"seed {first_seed + n}, {random_problems.describe(choice)}: "
        assert_matches(result, problem, what=what)


MATRIX = random_problems.pairwise(FEATURES)


@pytest.mark.parametrize("start", range(0, len(MATRIX), BATCH))
def test_every_pair_of_features(device, start):
    choices = [c for c in MATRIX[start : start + BATCH] if c["kind"] in device.kinds]
    run_choices(choices, device, start)


def choices():
    return st.fixed_dictionaries(
        {name: st.sampled_from(levels) for name, levels in FEATURES.items()}
    ).filter(random_problems.is_consistent)


def sizes(choice, data):
    """Lengths and head sizes beyond those of the matrix."""
    size = st.integers(1, 70)
    return {
        **choice,
        "lengths": (data.draw(size), data.draw(size)),
        "dims": (8 * data.draw(st.integers(1, 12)), 8 * data.draw(st.integers(1, 12))),
    }


def check_drawn(device, data):
    drawn = [sizes(data.draw(choices()), data) for _ in range(3)]
    drawn = [c for c in drawn if c["kind"] in device.kinds]
    run_choices(drawn, device, data.draw(st.integers(0, 2**20)))


@hypothesis.settings(max_examples=8)
@hypothesis.given(st.data())
def test_drawn_combinations(device, data):
    check_drawn(device, data)


@pytest.mark.slow
@hypothesis.settings(max_examples=60, derandomize=False)
@hypothesis.given(st.data())
def test_many_drawn_combinations(device, data):
    check_drawn(device, data)


def test_matrix_holds_every_pair():
    seen = {
        (a, repr(c[a]), b, repr(c[b])) for c in MATRIX for a in FEATURES for b in FEATURES if a < b
    }
    for a, levels in FEATURES.items():
        for x in levels:
            for b, others in FEATURES.items():
                for y in others:
                    if a < b and random_problems.is_consistent({a: x, b: y}):
                        assert (a, repr(x), b, repr(y)) in seen
