"""Sums over spanning trees without subtraction: every digit of every gain, and of its derivative."""

import math

import numpy as np
import pytest

from treebp.kernels.log_matrix_tree import log_gains
from treebp.kernels.walks import walk_sums


def random_scores(rng: np.random.Generator, size: int, spread: float, kept: float) -> np.ndarray:
    """Scores of some arcs, a chain from the root to the last word among them, each modifier's largest being zero."""
    scores = rng.normal(scale=spread, size=(size, size))
    scores[rng.random((size, size)) > kept] = -np.inf
    scores[np.arange(size - 1), np.arange(1, size)] = rng.normal(scale=spread, size=size - 1)
    np.fill_diagonal(scores, -np.inf)
    scores[:, 0] = -np.inf
    scores[:, 1:] -= scores[:, 1:].max(axis=0)
    return scores


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("kept", [1.0, 0.3, 0.05])
@pytest.mark.parametrize("spread", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("size", [2, 3, 5, 9, 14, 26])
def test_sums_and_their_derivatives(size: int, spread: float, kept: float, single_root: bool) -> None:
    rng = np.random.default_rng(size)
    scores = random_scores(rng, size, spread, kept)
    weights, sums = np.exp(scores), np.zeros((size, size))
    log_z = walk_sums(weights, size, single_root, False, sums, sums)
    gains, slopes = np.empty((2, size, size))
    expected, _ = log_gains(scores, np.zeros_like(scores), size, single_root, gains, slopes)
    assert log_z == pytest.approx(expected, rel=1e-13, abs=1e-12)
    words = ~np.eye(size, dtype=bool)
    words[:, 0] = False
    totals = np.broadcast_to((weights * sums).sum(axis=0), weights.shape)
    with np.errstate(divide="ignore"):
        found = np.log(sums[words]) - np.log(totals[words])
    np.testing.assert_allclose(found, (gains - expected)[words], rtol=1e-12, atol=1e-12)

    # Sums are gains but for a number that all arcs of a modifier share: so their adjoints should sum to zero.
    possible = words & (sums > 0.0)
    adjoint = rng.normal(size=(size, size)) * possible
    adjoint -= possible * adjoint.sum(axis=0) / np.maximum(possible.sum(axis=0), 1)
    direction = rng.normal(size=(size, size))
    derivative, again = adjoint.copy(), np.zeros((size, size))
    walk_sums(weights, size, single_root, True, derivative, again)
    np.testing.assert_array_equal(again[words], sums[words])
    log_gains(scores, direction, size, single_root, gains, slopes)
    by_walks = np.sum((derivative * weights * direction)[words])
    assert by_walks == pytest.approx(np.sum(adjoint * slopes), rel=1e-10, abs=1e-11 * np.abs(adjoint).sum())


@pytest.mark.parametrize("single_root", [False, True])
def test_small_shares_keep_their_digits(single_root: bool) -> None:
    # From word 3, the walk all but surely goes to 2 and on to 1, and back to 2: hardly ever to the root before 1.
    weights = np.zeros((4, 4))
    weights[2, 3], weights[1, 2], weights[3, 1], weights[0, 1:] = 1.0, 1.0, 1.0, 1e-30
    sums = np.zeros((4, 4))
    walk_sums(weights, 4, single_root, False, sums, sums)
    assert sums[3, 1] == pytest.approx(2e-30 if not single_root else 2.0 * 1e-30, rel=1e-12)
    assert sums[2, 1] == pytest.approx(1e-30, rel=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
def test_words_that_are_never_heads_and_one_word_that_only_the_root_has(single_root: bool) -> None:
    weights = np.zeros((4, 4))
    weights[0, 1], weights[1, 2], weights[1, 3], weights[2, 3] = 1.0, 1.0, 0.5, 1.0
    sums = np.zeros((4, 4))
    assert walk_sums(weights, 4, single_root, False, sums, sums) == pytest.approx(math.log(1.5))
    assert weights[:, 3] * sums[:, 3] / np.sum(weights[:, 3] * sums[:, 3]) == pytest.approx([0.0, 1 / 3, 2 / 3, 0.0])
    assert sums[0, 3] == (0.0 if single_root else 1.0)


@pytest.mark.parametrize("single_root", [False, True])
def test_no_tree_and_underflow_are_told(single_root: bool) -> None:
    weights = np.zeros((3, 3))
    weights[1, 2] = weights[2, 1] = 1.0
    sums = np.zeros((3, 3))
    assert math.isnan(walk_sums(weights, 3, single_root, False, sums, sums))
    weights[0, 1] = 1e-295
    assert math.isnan(walk_sums(weights, 3, single_root, False, sums, sums))


def test_one_root_word_where_two_have_no_other_head() -> None:
    weights = np.zeros((3, 3))
    weights[0, 1] = weights[0, 2] = 1.0
    sums = np.zeros((3, 3))
    assert math.isnan(walk_sums(weights, 3, True, False, sums, sums))
    assert walk_sums(weights, 3, False, False, sums, sums) == 0.0
