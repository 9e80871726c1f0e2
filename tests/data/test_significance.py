from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.data.significance import bootstrap_interval, paired_test


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for seed in range(200):
        words = rng.integers(5, 40, size=120)
        low, high = bootstrap_interval(rng.binomial(words, 0.8), words, samples=300, seed=seed)
        covered += low <= 80 <= high
    assert 180 <= covered <= 199


def test_interval_is_narrower_with_less_confidence_and_repeats_with_its_seed() -> None:
    words = np.full(100, 20)
    correct = np.arange(100) % 21
    wide, narrow = (bootstrap_interval(correct, words, confidence=level) for level in (0.99, 0.5))
    assert wide[0] < narrow[0] < 100 * correct.sum() / words.sum() < narrow[1] < wide[1]
    assert bootstrap_interval(correct, words, seed=3) == bootstrap_interval(correct, words, seed=3)
    assert bootstrap_interval(correct, words, seed=3) != bootstrap_interval(correct, words, seed=4)


def test_interval_refuses_what_it_cannot_use() -> None:
    none, some = np.array([], dtype=np.int64), np.array([3, 4])
    for correct, words in ((none, none), (some, some[:1]), (some, np.array([3, 0]))):
        with pytest.raises(ValueError, match="one entry per sentence"):
            bootstrap_interval(correct, words)
    for options in ({"confidence": 0.0}, {"confidence": 1.0}, {"samples": 0}):
        with pytest.raises(ValueError, match="confidence lies between 0 and 1"):
            bootstrap_interval(some, some, **options)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=10))
def test_p_value_agrees_with_all_swaps(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs).T
    difference = one - other
    sums = np.array([difference @ signs for signs in product([-1, 1], repeat=len(pairs))])
    exact = np.mean(np.abs(sums) >= abs(difference.sum()))
    assert paired_test(one, other, samples=20_000) == pytest.approx(exact, abs=0.02)
    assert paired_test(one, other) == paired_test(other, one)


def test_p_value_is_never_zero() -> None:
    assert paired_test(np.full(500, 10), np.full(500, 0), samples=99) == pytest.approx(0.01)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry per sentence"):
        paired_test(np.array([1, 2]), np.array([1]))
    with pytest.raises(ValueError, match="at least one sample"):
        paired_test(np.array([1]), np.array([1]), samples=0)
