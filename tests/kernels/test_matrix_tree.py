"""The blocked sweep agrees with its twin in log arithmetic at every length, also where a block is not full."""

import math

import numpy as np
import pytest

from treebp.kernels import matrix_tree
from treebp.kernels.arc_weights import arc_weights, marginals_from_logs, product_from_logs
from treebp.kernels.log_matrix_tree import log_gains


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("size", [2, 3, 8, 9, 10, 16, 17, 18, 25, 41])
def test_gains_and_their_derivative_equal_those_in_log_arithmetic(size: int, single_root: bool) -> None:
    rng = np.random.default_rng(size)
    scores, direction = rng.normal(scale=2.0, size=(2, size, size))
    scores[rng.random((size, size)) < 0.2] = -np.inf
    scores[0] = rng.normal(size=size)  # whatever else is missing, there are trees
    scores[1, 2:] = 0.0
    logits, weights = np.empty((2, size, size))
    arc_weights(scores, size, logits, weights)
    log_gain, slopes = np.empty((2, size, size))
    log_z, slope = log_gains(logits, direction, size, single_root, log_gain, slopes)
    marginals, products = np.zeros((2, size, size))
    marginals_from_logs(logits, size, log_z, log_gain, marginals)
    product_from_logs(logits, direction, size, log_z, slope, log_gain, slopes, products)

    # Scratch memory may be larger than the sentence, and hold anything.
    matrix, d_matrix, gains, d_gains = np.full((4, size + 3, size + 3), np.nan)
    assert matrix_tree.sweep(weights, size, single_root, matrix) == pytest.approx(log_z, abs=1e-11)
    error, relative = matrix_tree.gains(weights, size, single_root, matrix, gains)
    assert error < 1e-11
    assert weights * gains[:size, :size] == pytest.approx(marginals, abs=1e-11)
    there = weights > 0.0
    off = np.abs(gains[:size, :size][there] / np.exp(log_gain[there] - log_z) - 1.0)
    assert off.max() <= max(relative, 1e-12)
    change = weights * direction
    assert matrix_tree.sweep_tangent(change, size, single_root, matrix, d_matrix) == pytest.approx(slope, abs=1e-10)
    matrix_tree.gains_tangent(size, single_root, matrix, d_matrix, d_gains)
    derivative = change * gains[:size, :size] + weights * d_gains[:size, :size]
    assert derivative[:, 1:] == pytest.approx(products[:, 1:], abs=1e-10)


@pytest.mark.parametrize("single_root", [False, True])
def test_what_leaves_the_range_of_floats_is_never_trusted(single_root: bool) -> None:
    for scale in (1e-300, 1e-200, 1e-150):
        weights = np.full((12, 12), scale)
        weights[0, 1:] = scale
        weights[[2, 1], [1, 2]] = 1.0  # two words that only have each other, or nearly so
        weights[:, 0] = 0.0
        np.fill_diagonal(weights, 0.0)
        matrix, gains = np.empty((2, 12, 12))
        log_z = matrix_tree.sweep(weights, 12, single_root, matrix)
        if not math.isnan(log_z):
            error, relative = matrix_tree.gains(weights, 12, single_root, matrix, gains)
            assert not min(error, relative) < 1e-11 or np.isfinite(gains[:, 1:]).all()
