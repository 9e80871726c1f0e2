"""The parser's inference against the general library, which knows nothing of arcs and their parts, and all trees."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import all_trees, indicators, tree_scores
from small_sentences import PAIRS, library_graph, numerical_gradient, small_sentence, together
from treebp.parsing.exact import grandparent_trees
from treebp.parsing.model import Inference
from treebp.parsing.parts import PARTS
from treebp.parsing.scorer import ARC

FORMS = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]
KINDS = [PAIRS, *((kind,) for kind in PARTS), tuple(PARTS)]

forms = pytest.mark.parametrize(("projective", "single_root"), FORMS)
kinds = pytest.mark.parametrize("kinds", KINDS, ids="+".join)


def enumerated(sentence):
    """All trees of a sentence, and the score of each: that of all its arcs and parts."""
    trees = all_trees(len(sentence.arcs.starts) - 1, sentence.projective, sentence.single_root)
    totals = tree_scores(sentence.arcs.matrix(sentence.potentials[ARC], -np.inf), trees)
    for k in np.flatnonzero(totals > -np.inf).tolist():
        on = sentence.arcs.marked(trees[k])
        for part in sentence.parts:
            totals[k] += sentence.potentials[part.name][part.on(sentence.tuples[part.name], on)].sum()
    return trees, totals


def marginals_of(trees, totals):
    weights = np.exp(totals - totals.max())
    return np.tensordot(weights / weights.sum(), indicators(trees), axes=1)


@forms
@kinds
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_beliefs_are_those_of_the_general_library(projective, single_root, kinds, seed, words, iterations):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
    expected = library_graph(sentence, iterations)
    np.testing.assert_allclose(sentence.infer(iterations).beliefs, expected.on, atol=1e-9)


@forms
@kinds
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_gradients_through_all_iterations_are_those_of_the_general_library(
    projective, single_root, kinds, seed, words, iterations
):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
    expected = library_graph(sentence, iterations)
    adjoint = np.random.default_rng(seed).normal(size=len(expected.variables))
    found = sentence.infer(iterations, gradient=True).backprop(adjoint)
    assert list(found) == [ARC, *kinds]
    np.testing.assert_allclose(np.concatenate(list(found.values())), expected.backward(adjoint), atol=1e-8)


@forms
@kinds
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_log_partition_and_expectations_are_those_of_the_general_library(
    projective, single_root, kinds, seed, words, iterations
):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
    expected = library_graph(sentence, iterations)
    found = sentence.infer(iterations)
    assert found.log_partition() == pytest.approx(expected.beliefs.log_partition, abs=1e-8)
    of_tables = {factor: expected.beliefs.expectations(factor) for factor, _ in expected.uses}
    expectations = np.concatenate(list(found.expectations().values()))
    np.testing.assert_allclose(expectations, expected.by_score(of_tables), atol=1e-8)


@forms
@kinds
@pytest.mark.parametrize("options", [{}, {"schedule": "parallel"}, {"damping": 0.3}, {"tolerance": 0.05}], ids=str)
def test_gradients_are_those_of_finite_differences(projective, single_root, kinds, options):
    sentence = small_sentence(28, words=5, projective=projective, single_root=single_root, kinds=kinds)
    adjoint = np.random.default_rng(28).normal(size=len(sentence.potentials[ARC]))
    expected = numerical_gradient(
        lambda scores: sentence.with_flat(scores).infer(3, **options).beliefs @ adjoint, sentence.flat
    )
    found = sentence.infer(3, gradient=True, **options).backprop(adjoint)
    assert min(np.abs(own).max() for own in found.values()) > 1e-4
    np.testing.assert_allclose(np.concatenate(list(found.values())), expected, atol=1e-8)


@forms
def test_without_parts_one_iteration_is_exact(projective, single_root):
    sentence = small_sentence(3, words=5, projective=projective, single_root=single_root, kinds=())
    trees, totals = enumerated(sentence)
    for iterations in (1, 4):
        found = sentence.infer(iterations)
        np.testing.assert_allclose(sentence.arcs.matrix(found.beliefs, 0.0), marginals_of(trees, totals), atol=1e-12)
        assert found.log_partition() == pytest.approx(np.logaddexp.reduce(totals))
        assert (found.changes == 0.0).all()


@pytest.mark.parametrize("options", [{}, {"schedule": "parallel"}, {"damping": 0.3}], ids=str)
def test_residual_is_the_largest_change_of_the_last_iteration(options):
    sentence = small_sentence(1, words=5, projective=True, single_root=True, part_scale=2.0)
    for iterations in (2, 3, 10, 60):
        before = sentence.infer(iterations - 1, **options).beliefs
        beliefs, changes = sentence.infer(iterations, **options)[:2]
        np.testing.assert_allclose(changes, np.abs(beliefs - before), atol=1e-12)
    assert changes.max() < 1e-6


def test_a_single_iteration_says_nothing_about_convergence():
    sentence = small_sentence(1, words=5, projective=True, single_root=True, part_scale=2.0)
    assert sentence.infer(1).changes.max() > 1e-3


@forms
@pytest.mark.parametrize(("scale", "part_scale"), [(50.0, 1.0), (500.0, 20.0), (1.0, 20.0), (1.0, 200.0), (1e4, 1e4)])
@pytest.mark.parametrize("kinds", [PAIRS, tuple(PARTS)], ids="+".join)
def test_extreme_scores_give_probabilities_and_finite_gradients(projective, single_root, scale, part_scale, kinds):
    for seed in range(5):
        sentence = small_sentence(
            seed,
            words=6,
            projective=projective,
            single_root=single_root,
            kinds=kinds,
            scale=scale,
            part_scale=part_scale,
        )
        for iterations in (1, 4):
            beliefs = sentence.infer(iterations).beliefs
            assert ((beliefs > -1e-12) & (beliefs < 1.0 + 1e-9)).all()
            np.testing.assert_allclose(np.add.reduceat(beliefs, sentence.arcs.starts[:-1]), 1.0, atol=1e-9)
            value, gradient = sentence.learn("l2", iterations)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()


@pytest.mark.parametrize("projective", [True, False])
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_large_scores_give_the_beliefs_of_the_general_library(projective, seed):
    sentence = small_sentence(seed, words=5, projective=projective, single_root=True, scale=15.0, part_scale=5.0)
    expected = library_graph(sentence, 2)
    np.testing.assert_allclose(sentence.infer(2).beliefs, expected.on, atol=1e-7)


@forms
@kinds
@pytest.mark.parametrize("options", [{}, {"schedule": "parallel"}, {"damping": 0.3}], ids=str)
def test_a_batch_gives_what_its_sentences_give_alone(projective, single_root, kinds, options):
    sentences = [
        small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
        for seed, words in [(28, 5), (0, 1), (15, 6), (18, 5)]
    ]
    batch = together(sentences)
    assert all(np.diff(own.first)[[0, 2, 3]].all() for own in batch.tuples.values())
    found = batch.infer(3, gradient=True, **options)
    adjoint = np.random.default_rng(0).normal(size=len(found.beliefs))
    gradient, expectations = found.backprop(adjoint), found.expectations()
    log_partition = 0.0
    for k, (sentence, (begin, end)) in enumerate(zip(sentences, pairwise(batch.batch.first.tolist()), strict=True)):
        alone = sentence.infer(3, gradient=True, **options)
        log_partition += alone.log_partition()
        own = {ARC: slice(begin, end), **{name: slice(*t.first[k : k + 2]) for name, t in batch.tuples.items()}}
        np.testing.assert_allclose(found.beliefs[own[ARC]], alone.beliefs, rtol=0, atol=1e-12)
        for ours, others in ((gradient, alone.backprop(adjoint[own[ARC]])), (expectations, alone.expectations())):
            for name, where in own.items():
                np.testing.assert_allclose(ours[name][where], others[name], rtol=0, atol=1e-12)
    assert found.log_partition() == pytest.approx(log_partition, abs=1e-10)


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("options", [{}, {"schedule": "parallel"}, {"damping": 0.3}], ids=str)
def test_a_sentence_without_parts_is_the_same_beside_one_that_has_some(iterations, options):
    without, with_parts = (
        small_sentence(seed, words=words, projective=False, single_root=False, kinds=("tri-sibling",))
        for seed, words in ((17, 2), (28, 5))
    )
    assert not len(without.tuples["tri-sibling"].arcs)
    alone = without.infer(iterations, **options).beliefs
    beside = together([without, with_parts]).infer(iterations, **options).beliefs
    np.testing.assert_allclose(beside[: len(alone)], alone, rtol=0, atol=1e-12)


@forms
@kinds
@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_schedule_and_damping_are_those_of_the_general_library(projective, single_root, kinds, schedule, damping):
    sentence = small_sentence(5, words=5, projective=projective, single_root=single_root, kinds=kinds)
    expected = library_graph(sentence, 3, schedule=schedule, damping=damping)
    found = sentence.infer(3, schedule=schedule, damping=damping).beliefs
    np.testing.assert_allclose(found, expected.on, atol=1e-9)


def test_schedule_and_damping_make_a_difference_that_goes_away():
    sentence = small_sentence(5, words=5, projective=True, single_root=True)
    for iterations, same in ((2, False), (200, True)):
        usual, *others = (
            sentence.infer(iterations, **options).beliefs
            for options in ({}, {"schedule": "parallel"}, {"damping": 0.4}, {"schedule": "parallel", "damping": 0.4})
        )
        assert [bool(np.abs(usual - other).max() < 1e-9) for other in others] == [same] * 3


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-8])
def test_with_a_tolerance_messages_stop_when_they_have_settled(tolerance):
    sentence = small_sentence(5, words=5, projective=True, single_root=True)
    stopped = library_graph(sentence, 100, tolerance=tolerance).beliefs
    count = len(stopped.residuals)
    assert 1 < count < 100
    assert stopped.converged
    assert np.array_equal(sentence.infer(100, tolerance=tolerance).beliefs, sentence.infer(count).beliefs)
    assert not np.array_equal(sentence.infer(count).beliefs, sentence.infer(count - 1).beliefs)
    assert np.array_equal(sentence.infer(2, tolerance=1e-300).beliefs, sentence.infer(2).beliefs)


def test_only_with_a_tolerance_sentences_must_be_alone():
    assert not Inference().one_by_one
    assert Inference(tolerance=1e-3).one_by_one
    assert not Inference(tolerance=1e-3, exact=True).one_by_one


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_exact_inference_with_grandparents_equals_enumeration(single_root, seed):
    sentence = small_sentence(
        seed, words=5, projective=True, single_root=single_root, kinds=("grandparent",), scale=2.0, part_scale=2.0
    )
    trees, totals = enumerated(sentence)
    expected = marginals_of(trees, totals)
    found = sentence.infer(exact=True, gradient=True)
    np.testing.assert_allclose(sentence.arcs.matrix(found.beliefs, 0.0), expected, atol=1e-9)
    assert found.log_partition() == pytest.approx(np.logaddexp.reduce(totals))
    assert (found.changes == 0.0).all()

    tuples = sentence.tuples["grandparent"]
    assert len(tuples.arcs) > 5
    weights = np.exp(totals - np.logaddexp.reduce(totals))
    for (g, h, m), belief in zip(tuples.positions.tolist(), found.expectations()["grandparent"], strict=True):
        held = (trees[:, h - 1] == g) & (trees[:, m - 1] == h)
        assert belief == pytest.approx(weights[held].sum(), abs=1e-9)

    (exact,) = grandparent_trees(sentence.batch, tuples, sentence.potentials, single_root=single_root)
    assert exact.trees.argmax().tolist() == trees[totals.argmax()].tolist()


@pytest.mark.parametrize("single_root", [True, False])
def test_exact_gradients_are_those_of_finite_differences(single_root):
    sentence = small_sentence(2, words=5, projective=True, single_root=single_root, kinds=("grandparent",))
    adjoint = np.random.default_rng(0).normal(size=len(sentence.potentials[ARC]))
    expected = numerical_gradient(
        lambda scores: sentence.with_flat(scores).infer(exact=True).beliefs @ adjoint, sentence.flat
    )
    found = sentence.infer(exact=True, gradient=True).backprop(adjoint)
    np.testing.assert_allclose(np.concatenate([found[ARC], found["grandparent"]]), expected, atol=1e-8)


def test_exact_inference_of_a_batch_is_that_of_its_sentences():
    sentences = [
        small_sentence(seed, words=words, projective=True, single_root=True, kinds=("grandparent",))
        for seed, words in enumerate([4, 1, 5])
    ]
    beliefs = [sentence.infer(exact=True).beliefs for sentence in sentences]
    np.testing.assert_allclose(together(sentences).infer(exact=True).beliefs, np.concatenate(beliefs), atol=1e-12)


def test_belief_propagation_comes_much_closer_to_exact_inference_than_first_order():
    errors = []
    for seed in range(10):
        sentence = small_sentence(seed, words=5, projective=True, single_root=True, kinds=("grandparent",))
        exact = sentence.infer(exact=True).beliefs
        without = replace(sentence, potentials={**sentence.potentials, "grandparent": np.zeros(0)})
        found = [sentence.infer(10).beliefs, without.infer(10).beliefs]
        errors.append([np.abs(beliefs - exact).mean() for beliefs in found])
    with_parts, first_order = np.mean(errors, axis=0)
    assert with_parts < 0.5 * first_order


@forms
def test_arcs_that_make_no_tree_have_no_beliefs(projective, single_root):
    sentence = small_sentence(0, words=2, projective=projective, single_root=single_root, kinds=())
    cycle = np.array([[False, False, False], [False, False, True], [False, True, False]])
    batch = type(sentence.batch).of([np.ones((5, 6), np.int64)], [type(sentence.arcs).of(cycle)])
    found = replace(sentence, batch=batch, potentials={ARC: np.zeros(2)}).infer()
    assert np.isnan(found.beliefs).all()
    assert found.log_partition() == -np.inf
