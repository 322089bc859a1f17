"""Combinations of features against the reference.

A generated matrix holds every pair of feature levels at least once; hypothesis
draws further combinations. Several problems share a process.
"""

import hypothesis
import pytest
import random_problems
from attn_program import assert_matches, run_all
from devices import DEVICES
from hypothesis import strategies as st
from random_problems import FEATURES

BATCH = 6


def run_choices(choices, device, first_seed, extra_args=()):
    problems = [random_problems.make(c, first_seed + n) for n, c in enumerate(choices)]
    for n, (choice, problem, result) in enumerate(
        zip(choices, problems, run_all(problems, device, extra_args))
    ):
        what = f"seed {first_seed + n}, {random_problems.describe(choice)}: "
        assert_matches(result, problem, what=what)


def batches():
    """(device, first index, choices) of the matrix of every device."""
    for device in DEVICES:
        matrix = random_problems.pairwise(random_problems.features_of(device))
        for start in range(0, len(matrix), BATCH):
            yield pytest.param(
                device, start, matrix[start : start + BATCH], id=f"{device}-{start}"
            )


@pytest.mark.parametrize("device, start, choices", batches())
def test_every_pair_of_features(device, start, choices):
    run_choices(choices, device, start)


@pytest.mark.slow
@pytest.mark.parametrize("level", (0, 1))
@pytest.mark.parametrize("device", [device for device in DEVICES if device.is_gpu], ids=str)
def test_features_without_optimisation(device, level):
    """Some of the matrix: spilled registers and unfolded arithmetic come only here."""
    matrix = random_problems.pairwise(random_problems.features_of(device))
    long_preamble = {name: levels[0] for name, levels in FEATURES.items()}
    long_preamble |= {"lengths": (70, 33), "visibility": {"causal": True}}
    long_preamble |= {"mask": "full", "padding": "both", "form": "dynamic", "kind": "bf16"}
    run_choices([long_preamble, *matrix[level::8]], device, level, [f"--optimize={level}"])


def draw_choice(device, data):
    """A consistent choice with lengths and head sizes beyond those of the matrix."""
    features = random_problems.features_of(device)
    levels = {name: st.sampled_from(levels) for name, levels in features.items()}
    choice = data.draw(st.fixed_dictionaries(levels).filter(random_problems.is_consistent))
    choice["lengths"] = data.draw(st.tuples(st.integers(1, 70), st.integers(1, 70)))
    dqk, dv = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    choice["dims"] = (8 * dqk, 8 * dv)
    return choice


def check_drawn(device, data):
    drawn = [draw_choice(device, data) for _ in range(3)]
    run_choices(drawn, device, data.draw(st.integers(0, 2**20)))


@hypothesis.settings(max_examples=8)
@hypothesis.given(st.data())
def test_drawn_combinations(device, data):
    check_drawn(device, data)


@pytest.mark.slow
@hypothesis.settings(max_examples=60)
@hypothesis.given(st.data())
def test_many_drawn_combinations(device, data):
    check_drawn(device, data)


def test_matrix_holds_every_pair():
    matrix = random_problems.pairwise(FEATURES)
    seen = {
        (a, repr(c[a]), b, repr(c[b])) for c in matrix for a in FEATURES for b in FEATURES if a < b
    }
    for a, levels in FEATURES.items():
        for x in levels:
            for b, others in FEATURES.items():
                for y in others:
                    if a < b and random_problems.is_consistent({a: x, b: y}):
                        assert (a, repr(x), b, repr(y)) in seen


def test_plain_choice_needs_nothing():
    plain = {name: levels[0] for name, levels in FEATURES.items()}
    assert random_problems.needs(plain) == []
