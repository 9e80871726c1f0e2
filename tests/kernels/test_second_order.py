"""Belief propagation of the parser against the general library, which knows nothing of arcs and their pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import all_trees, indicators, tree_scores
from small_sentences import library_graph, small_sentence
from treebp.kernels.objective import L2

FORMS = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_beliefs_are_those_of_the_general_library(projective, single_root, seed, words, iterations):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root)
    expected = library_graph(sentence, iterations)
    beliefs, _ = sentence.infer(iterations)
    np.testing.assert_allclose(beliefs, [expected.beliefs[v][1] for v in expected.variables], atol=1e-9)


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_gradient_through_all_iterations_is_that_of_the_general_library(
    projective, single_root, seed, words, iterations
):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root)
    expected = library_graph(sentence, iterations)
    value, of_scores, of_pairs = sentence.learn(L2, iterations)
    errors = [expected.beliefs[v][1] - gold for v, gold in zip(expected.variables, sentence.gold, strict=True)]
    assert value == pytest.approx(2.0 * np.square(errors).sum(), abs=1e-9)
    gradient = expected.beliefs.backward(
        {v: [0.0, 4.0 * error] for v, error in zip(expected.variables, errors, strict=True)}
    )
    np.testing.assert_allclose(of_scores, [gradient[factor][1] for factor in expected.unaries], atol=1e-8)
    np.testing.assert_allclose(of_pairs, [gradient[factor][1, 1] for factor in expected.tables], atol=1e-8)


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
def test_without_pairs_one_iteration_is_exact(projective, single_root):
    sentence = small_sentence(3, words=5, projective=projective, single_root=single_root, pairs=False)
    trees = all_trees(5, projective, single_root)
    scores = tree_scores(sentence.matrix(sentence.scores, -np.inf), trees)
    expected = np.tensordot(np.exp(scores) / np.exp(scores).sum(), indicators(trees), axes=1)
    for iterations in (1, 4):
        beliefs, residual = sentence.infer(iterations)
        np.testing.assert_allclose(sentence.matrix(beliefs), expected, atol=1e-12)
        assert residual == 0.0


def test_residual_is_the_largest_change_of_the_last_iteration():
    sentence = small_sentence(1, words=5, projective=True, single_root=True, pair_scale=2.0)
    for iterations in (2, 3, 10, 60):
        before, _ = sentence.infer(iterations - 1)
        beliefs, residual = sentence.infer(iterations)
        assert residual == pytest.approx(np.abs(beliefs - before).max(), abs=1e-12)
    assert residual < 1e-6


def test_a_single_iteration_says_nothing_about_convergence():
    sentence = small_sentence(1, words=5, projective=True, single_root=True, pair_scale=2.0)
    assert sentence.infer(1)[1] > 1e-3


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@pytest.mark.parametrize(("scale", "pair_scale"), [(50.0, 1.0), (500.0, 20.0), (1.0, 20.0), (1.0, 200.0), (1e4, 1e4)])
def test_extreme_scores_give_probabilities_and_finite_gradients(projective, single_root, scale, pair_scale):
    for seed in range(5):
        sentence = small_sentence(
            seed, words=6, projective=projective, single_root=single_root, scale=scale, pair_scale=pair_scale
        )
        for iterations in (1, 4):
            beliefs, _ = sentence.infer(iterations)
            assert ((beliefs > -1e-12) & (beliefs < 1.0 + 1e-9)).all()
            np.testing.assert_allclose(np.add.reduceat(beliefs, sentence.starts[:-1]), 1.0, atol=1e-9)
            value, of_scores, of_pairs = sentence.learn(L2, iterations)
            assert np.isfinite(value)
            assert np.isfinite(of_scores).all()
            assert np.isfinite(of_pairs).all()


@pytest.mark.parametrize("projective", [True, False])
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_large_scores_give_the_beliefs_of_the_general_library(projective, seed):
    sentence = small_sentence(seed, words=5, projective=projective, single_root=True, scale=15.0, pair_scale=5.0)
    expected = library_graph(sentence, 2)
    beliefs, _ = sentence.infer(2)
    np.testing.assert_allclose(beliefs, [expected.beliefs[v][1] for v in expected.variables], atol=1e-7)
