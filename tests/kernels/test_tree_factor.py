"""The tree factor in real arithmetic, with its way out into logs, against exact distributions over trees."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brute_force import all_trees, tree_scores
from treebp.kernels.tree_factor import CHARTS, tree_gains, tree_tangent
from treebp.trees.dependency_trees import DependencyTrees

FORMS = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]


def gains_of(weights, projective, single_root):
    size = len(weights)
    charts, gains = np.empty((CHARTS, size, size)), np.empty((size, size))
    log_z, in_logs = tree_gains(weights, size, projective, single_root, charts, gains)
    return log_z, in_logs, charts, gains


def random_weights(rng, words, scale, projective, single_root):
    scores = rng.normal(scale=scale, size=(words + 1, words + 1))
    scores[rng.random(scores.shape) < 0.3] = -np.inf
    scores[rng.choice(all_trees(words, projective, single_root)), np.arange(1, words + 1)] = 0.0
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    return np.exp(scores - np.maximum(scores.max(axis=0), -1e300))


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), scale=st.sampled_from([1.0, 30.0, 150.0]))
def test_gains_and_their_derivative(projective, single_root, seed, words, scale):
    rng = np.random.default_rng(seed)
    weights = random_weights(rng, words, scale, projective, single_root)
    with np.errstate(divide="ignore"):
        trees = DependencyTrees(np.log(weights), projective=projective, single_root=single_root)
    log_z, in_logs, charts, gains = gains_of(weights, projective, single_root)
    assert log_z == pytest.approx(float(trees.log_partition), rel=1e-9, abs=1e-9)
    there = weights > 0.0
    np.testing.assert_allclose((weights * gains)[there], trees.marginals[there], atol=1e-9)

    # d(log Z) and d(marginal) along a change of the logarithms of the weights
    direction = np.where(there, rng.normal(size=weights.shape), 0.0)
    change = weights * direction
    changes, tangent = np.empty_like(charts), np.empty_like(weights)
    slope = tree_tangent(
        weights, change, len(weights), projective, single_root, log_z, in_logs, charts, changes, gains, tangent
    )
    assert slope == pytest.approx(float((trees.marginals * direction)[there].sum()), abs=1e-8)
    derivative = change * gains + weights * (tangent - gains * slope)
    np.testing.assert_allclose(derivative[there], trees.backward(direction)[there], atol=1e-8)


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
def test_no_tree_is_minus_infinity(projective, single_root):
    cycle = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert gains_of(cycle, projective, single_root)[0] == -np.inf


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
def test_weights_too_small_for_real_arithmetic_are_summed_in_logs(projective, single_root):
    words = 4
    weights = np.full((words + 1, words + 1), 1e-200)
    weights[:, 0] = 0.0
    np.fill_diagonal(weights, 0.0)
    weights[2, 1] = weights[1, 2] = weights[4, 3] = weights[3, 4] = 1.0  # cycles: every tree needs light arcs
    log_z, in_logs, _, gains = gains_of(weights, projective, single_root)
    assert in_logs
    trees = all_trees(words, projective, single_root)
    with np.errstate(divide="ignore"):
        expected = np.logaddexp.reduce(tree_scores(np.log(weights), trees))
    assert log_z == pytest.approx(expected)
    np.testing.assert_allclose((weights * gains).sum(axis=0)[1:], 1.0)


@pytest.mark.parametrize("single_root", [True, False])
@settings(max_examples=200)
@given(seed=st.integers(0, 10**6))
@example(seed=1186)
def test_weights_far_apart_give_the_partition_function_of_a_brute_force_sum(single_root, seed):
    # As annealed risk has them: beliefs over a small temperature. Eliminations may overflow as well as underflow.
    rng = np.random.default_rng(seed)
    scores = 1000.0 * rng.choice([0.0, 0.4, 0.6, 1.0], size=(6, 6)) + rng.normal(size=(6, 6))
    trees = DependencyTrees(scores, projective=False, single_root=single_root)
    expected = np.logaddexp.reduce(tree_scores(scores, all_trees(5, False, single_root)))
    assert float(trees.log_partition) == pytest.approx(expected)
    np.testing.assert_allclose(trees.marginals.sum(axis=0)[1:], 1.0)
