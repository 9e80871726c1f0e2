from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_sentences import library_graph, numerical_gradient, small_sentence, with_scores
from treebp.kernels.objective import AR, CLL, L2
from treebp.objectives.losses import log_likelihood
from treebp.trees.dependency_trees import DependencyTrees

FORMS = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@pytest.mark.parametrize(("objective", "temperature"), [(L2, 1.0), (AR, 1.0), (AR, 0.1)])
@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_gradients_are_those_of_finite_differences(projective, single_root, objective, temperature, iterations):
    sentence = small_sentence(11, words=5, projective=projective, single_root=single_root)
    at = np.concatenate([sentence.scores, sentence.pair_scores])
    expected = numerical_gradient(
        lambda scores: with_scores(sentence, scores).learn(objective, iterations, temperature)[0], at
    )
    _, of_scores, of_pairs = sentence.learn(objective, iterations, temperature)
    largest = np.abs(expected).max()
    assert largest > 1e-5
    np.testing.assert_allclose(np.concatenate([of_scores, of_pairs]), expected, atol=1e-9 + 1e-5 * largest)


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5))
def test_likelihood_without_pairs_is_exact(projective, single_root, seed, words):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, pairs=False, scale=3.0)
    trees = DependencyTrees(sentence.matrix(sentence.scores, -np.inf), projective=projective, single_root=single_root)
    value, of_scores, of_pairs = sentence.learn(CLL, 4)
    assert value == pytest.approx(-float(trees.log_prob(sentence.tree)), abs=1e-9)
    expected = trees.marginals[sentence.heads, sentence.modifiers] - sentence.gold
    np.testing.assert_allclose(of_scores, expected, atol=1e-9)
    assert len(of_pairs) == 0


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_likelihood_with_pairs_is_the_surrogate_of_the_general_library(
    projective, single_root, seed, words, iterations
):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root)
    graph = library_graph(sentence, iterations)
    gold = {variable: int(on) for variable, on in zip(graph.variables, sentence.gold, strict=True)}
    expected, gradient = log_likelihood(graph.beliefs, gold)
    value, of_scores, of_pairs = sentence.learn(CLL, iterations)
    assert value == pytest.approx(-expected, abs=1e-8)
    np.testing.assert_allclose(of_scores, [-gradient[factor][1] for factor in graph.unaries], atol=1e-8)
    np.testing.assert_allclose(of_pairs, [-gradient[factor][1, 1] for factor in graph.tables], atol=1e-8)


@pytest.mark.parametrize(("projective", "single_root"), FORMS)
@pytest.mark.parametrize("temperature", [0.1, 1e-4])
def test_annealed_risk_is_that_of_a_decoder_over_the_candidates(projective, single_root, temperature):
    sentence = small_sentence(7, words=5, projective=projective, single_root=single_root)
    beliefs, _ = sentence.infer(2)
    decoder = DependencyTrees(
        sentence.matrix(beliefs, -np.inf) / temperature, projective=projective, single_root=single_root
    )
    expected = 5.0 - decoder.marginals[sentence.tree, np.arange(1, 6)].sum()
    value, of_scores, of_pairs = sentence.learn(AR, 2, temperature)
    assert value == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(of_scores).all()
    assert np.isfinite(of_pairs).all()


def test_gold_arcs_that_were_pruned_are_lost():
    sentence = small_sentence(2, words=4, projective=True, single_root=True)
    lost = replace(sentence, tree=np.full(4, -1))  # no candidate is right
    assert lost.learn(AR, 2, 0.1)[0] == pytest.approx(4.0)
    assert lost.learn(L2, 2)[0] == pytest.approx(2.0 * np.square(sentence.infer(2)[0]).sum())


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("objective", [CLL, L2, AR])
def test_extreme_scores_have_finite_gradients(projective, objective):
    for seed, (scale, pair_scale) in enumerate([(50.0, 1.0), (500.0, 20.0), (1.0, 20.0), (1.0, 200.0)]):
        sentence = small_sentence(
            seed, words=6, projective=projective, single_root=True, scale=scale, pair_scale=pair_scale
        )
        value, of_scores, of_pairs = sentence.learn(objective, 4, 1e-3)
        assert np.isfinite(value)
        assert np.isfinite(of_scores).all()
        assert np.isfinite(of_pairs).all()
