"""Sums over trees in real arithmetic, with their way out into logarithms, against exact distributions over trees."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brute_force import all_trees, tree_scores
from treebp.bp.groups.trees import Trees, refused_trees
from treebp.trees.dependency_trees import DependencyTrees

FORMS = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]
forms = pytest.mark.parametrize(("projective", "single_root"), FORMS)


def random_scores(rng, words, scale, projective, single_root):
    """Scores of about two thirds of all arcs, a tree among them; the others are -inf."""
    scores = rng.normal(scale=scale, size=(words + 1, words + 1))
    scores[rng.random(scores.shape) < 0.3] = -np.inf
    scores[rng.choice(all_trees(words, projective, single_root)), np.arange(1, words + 1)] = 0.0
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    return scores


def group_of(matrices, projective, single_root):
    """One tree for each matrix of scores, over the arcs that have one, and those scores."""
    arcs = [np.argwhere(-np.inf < scores.T).T for scores in matrices]
    modifiers, heads = (np.concatenate([own[k] for own in arcs]) for k in range(2))
    trees = Trees(
        [len(scores) for scores in matrices],
        heads,
        modifiers,
        np.arange(len(heads)),
        projective=projective,
        single_root=single_root,
    )
    return trees, np.concatenate([scores[own[1], own[0]] for scores, own in zip(matrices, arcs, strict=True)])


def of_arcs(matrices, like):
    """The entries of matrices that belong to arcs, in a group's order."""
    return np.concatenate([own.T[-np.inf < scores.T] for own, scores in zip(matrices, like, strict=True)])


@forms
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    scale=st.sampled_from([1.0, 30.0, 150.0]),
)
def test_marginals_and_their_derivative(projective, single_root, seed, lengths, scale):
    rng = np.random.default_rng(seed)
    matrices = [random_scores(rng, words, scale, projective, single_root) for words in lengths]
    group, scores = group_of(matrices, projective, single_root)
    expected = [DependencyTrees(own, projective=projective, single_root=single_root) for own in matrices]
    marginals, log_partitions, backprop = group.marginals(scores)
    np.testing.assert_allclose(log_partitions, [float(own.log_partition) for own in expected], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(marginals, of_arcs([own.marginals for own in expected], matrices), atol=1e-9)

    adjoints = [rng.normal(size=own.shape) for own in matrices]
    derivative = [own.backward(adjoint) for own, adjoint in zip(expected, adjoints, strict=True)]
    np.testing.assert_allclose(backprop(of_arcs(adjoints, matrices)), of_arcs(derivative, matrices), atol=1e-8)


@forms
def test_no_tree_is_minus_infinity(projective, single_root):
    cycle = np.full((3, 3), -np.inf)
    cycle[1, 2] = cycle[2, 1] = 0.0
    fine = random_scores(np.random.default_rng(0), 3, 1.0, projective, single_root)
    group, scores = group_of([fine, cycle, fine], projective, single_root)
    marginals, log_partitions, _ = group.marginals(scores)
    assert np.isnan(marginals).sum() == 2
    assert np.isnan(marginals[group.edge_factor == 1]).all()
    assert log_partitions[1] == -np.inf
    assert np.isfinite(log_partitions[[0, 2]]).all()


@forms
def test_scores_too_small_for_real_arithmetic_are_summed_in_logarithms(projective, single_root):
    words = 4
    scores = np.full((words + 1, words + 1), np.log(1e-200))
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    scores[2, 1] = scores[1, 2] = scores[4, 3] = scores[3, 4] = 0.0  # cycles: every tree needs light arcs
    usual = random_scores(np.random.default_rng(1), words, 1.0, projective, single_root)
    group, flat = group_of([usual, scores, usual], projective, single_root)
    assert refused_trees(group, flat).tolist() == [False, True, False]
    marginals, log_partitions, backprop = group.marginals(flat)
    expected = np.logaddexp.reduce(tree_scores(scores, all_trees(words, projective, single_root)))
    assert log_partitions[1] == pytest.approx(expected)
    of_modifiers = np.bincount(group.arcs.modifiers[group.edge_factor == 1], marginals[group.edge_factor == 1])
    np.testing.assert_allclose(of_modifiers[1:], 1.0)

    trees = DependencyTrees(scores, projective=projective, single_root=single_root)
    adjoint = np.random.default_rng(2).normal(size=scores.shape)
    found = backprop(of_arcs([adjoint] * 3, [usual, scores, usual]))[group.edge_factor == 1]
    np.testing.assert_allclose(found, of_arcs([trees.backward(adjoint)], [scores]), atol=1e-8)


@pytest.mark.parametrize("single_root", [True, False])
@settings(max_examples=200)
@given(seed=st.integers(0, 10**6))
@example(seed=1186)
def test_scores_far_apart_give_the_partition_function_of_a_brute_force_sum(single_root, seed):
    # As annealed risk has them: beliefs over a small temperature. Eliminations may overflow as well as underflow.
    rng = np.random.default_rng(seed)
    scores = 1000.0 * rng.choice([0.0, 0.4, 0.6, 1.0], size=(6, 6)) + rng.normal(size=(6, 6))
    expected = np.logaddexp.reduce(tree_scores(scores, all_trees(5, False, single_root)))
    trees = DependencyTrees(scores, projective=False, single_root=single_root)
    assert float(trees.log_partition) == pytest.approx(expected)
    np.testing.assert_allclose(trees.marginals.sum(axis=0)[1:], 1.0)

    is_arc = ~np.eye(6, dtype=np.bool_) & (np.arange(6) > 0)
    group, flat = group_of([np.where(is_arc, scores, -np.inf)], False, single_root)
    marginals, log_partitions, _ = group.marginals(flat)
    assert log_partitions == pytest.approx([expected])
    np.testing.assert_allclose(np.bincount(group.arcs.modifiers, marginals)[1:], 1.0)
