"""Objectives through inference: values and gradients against the general library, all trees and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import all_trees
from small_sentences import PAIRS, library_graph, numerical_gradient, small_sentence, together
from treebp.features.templates import ATTRIBUTES
from treebp.kernels.feature_gradient import NEGLIGIBLE
from treebp.objectives.losses import log_likelihood
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.model import Inference, TreeModel
from treebp.parsing.parts import PARTS
from treebp.parsing.scorer import ARC, HashedScorer
from treebp.training.circuit import OBJECTIVES, Examples, loss_and_gradient
from treebp.trees.dependency_trees import DependencyTrees

FORMS = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]
KINDS = [PAIRS, *((kind,) for kind in PARTS), tuple(PARTS)]
OBJECTIVE_NAMES = ["cll", "l2", "ar", "heads"]
SEED = 28  # all kinds of parts matter to this sentence

forms = pytest.mark.parametrize(("projective", "single_root"), FORMS)
kinds = pytest.mark.parametrize("kinds", KINDS, ids="+".join)


def matrix(sentence, values, elsewhere=0.0):
    return sentence.arcs.matrix(values, elsewhere)


@forms
@pytest.mark.parametrize(("objective", "temperature"), [("l2", 1.0), ("ar", 1.0), ("ar", 0.1)])
@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_gradients_are_those_of_finite_differences(projective, single_root, objective, temperature, iterations):
    check_differences(
        small_sentence(11, words=5, projective=projective, single_root=single_root), objective, temperature, iterations
    )


@forms
@kinds
@pytest.mark.parametrize(("objective", "temperature"), [("l2", 1.0), ("ar", 0.5)])
def test_gradients_of_every_kind_of_part_are_those_of_finite_differences(
    projective, single_root, kinds, objective, temperature
):
    sentence = small_sentence(SEED, words=5, projective=projective, single_root=single_root, kinds=kinds)
    gradient = check_differences(sentence, objective, temperature, 3)
    of_parts = gradient[len(sentence.potentials[ARC]) :]
    assert np.abs(of_parts).max() > 1e-4


def check_differences(sentence, objective, temperature, iterations, **options):
    expected = numerical_gradient(
        lambda scores: sentence.with_flat(scores).learn(objective, iterations, temperature, **options)[0], sentence.flat
    )
    _, gradient = sentence.learn(objective, iterations, temperature, **options)
    largest = np.abs(expected).max()
    assert largest > 1e-5
    np.testing.assert_allclose(gradient, expected, atol=1e-9 + 1e-5 * largest)
    return gradient


@forms
@kinds
def test_where_messages_have_settled_the_surrogate_gradient_is_that_of_finite_differences(
    projective, single_root, kinds
):
    sentence = small_sentence(
        SEED, words=5, projective=projective, single_root=single_root, kinds=kinds, part_scale=0.3
    )
    assert sentence.infer(200).changes.max() < 1e-12
    gradient = check_differences(sentence, "cll", 1.0, 200)
    assert np.abs(gradient[len(sentence.potentials[ARC]) :]).max() > 1e-3


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(("objective", "temperature"), [("cll", 1.0), ("l2", 1.0), ("ar", 0.5)])
def test_exact_gradients_are_those_of_finite_differences(single_root, objective, temperature):
    sentence = small_sentence(3, words=5, projective=True, single_root=single_root, kinds=("grandparent",))
    check_differences(sentence, objective, temperature, 1, exact=True)


@forms
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5))
def test_likelihood_without_parts_is_exact(projective, single_root, seed, words):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=(), scale=3.0)
    scores = matrix(sentence, sentence.potentials[ARC], -np.inf)
    trees = DependencyTrees(scores, projective=projective, single_root=single_root)
    value, gradient = sentence.learn("cll", 4)
    assert value == pytest.approx(-float(trees.log_prob(sentence.trees[0])), abs=1e-9)
    expected = trees.marginals[sentence.arcs.heads, sentence.arcs.modifiers] - sentence.gold
    np.testing.assert_allclose(gradient, expected, atol=1e-9)


@forms
@kinds
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_likelihood_with_parts_is_the_surrogate_of_the_general_library(
    projective, single_root, kinds, seed, words, iterations
):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
    graph = library_graph(sentence, iterations)
    gold = {variable: int(on) for variable, on in zip(graph.variables, sentence.gold, strict=True)}
    expected, of_tables = log_likelihood(graph.beliefs, gold)
    value, gradient = sentence.learn("cll", iterations)
    assert value == pytest.approx(-expected, abs=1e-8)
    np.testing.assert_allclose(gradient, -graph.by_score(of_tables), atol=1e-8)


@forms
@kinds
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), iterations=st.sampled_from([1, 2, 4]))
def test_l2_and_its_gradient_are_those_of_the_general_library(projective, single_root, kinds, seed, words, iterations):
    sentence = small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
    graph = library_graph(sentence, iterations)
    errors = graph.on - sentence.gold
    value, gradient = sentence.learn("l2", iterations)
    assert value == pytest.approx(2.0 * np.square(errors).sum(), abs=1e-9)
    np.testing.assert_allclose(gradient, graph.backward(4.0 * errors), atol=1e-8)


@forms
@pytest.mark.parametrize("temperature", [0.1, 1e-4])
def test_annealed_risk_is_that_of_a_decoder_over_the_candidates(projective, single_root, temperature):
    sentence = small_sentence(7, words=5, projective=projective, single_root=single_root)
    scores = matrix(sentence, sentence.infer(2).beliefs, -np.inf) / temperature
    decoder = DependencyTrees(scores, projective=projective, single_root=single_root)
    expected = 5.0 - decoder.marginals[sentence.trees[0], np.arange(1, 6)].sum()
    value, gradient = sentence.learn("ar", 2, temperature)
    assert value == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(gradient).all()


def test_gold_arcs_that_were_pruned_are_lost():
    sentence = small_sentence(2, words=4, projective=True, single_root=True)
    lost = replace(sentence, trees=(np.full(4, -1),))  # no candidate is right
    assert lost.learn("ar", 2, 0.1)[0] == pytest.approx(4.0)
    assert lost.learn("l2", 2)[0] == pytest.approx(2.0 * np.square(sentence.infer(2).beliefs).sum())


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
@pytest.mark.parametrize("kinds", [PAIRS, tuple(PARTS)], ids="+".join)
def test_extreme_scores_have_finite_gradients(projective, objective, kinds):
    for seed, (scale, part_scale) in enumerate([(50.0, 1.0), (500.0, 20.0), (1.0, 20.0), (1.0, 200.0)]):
        sentence = small_sentence(
            seed, words=6, projective=projective, single_root=True, kinds=kinds, scale=scale, part_scale=part_scale
        )
        value, gradient = sentence.learn(objective, 4, 1e-3)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@forms
@kinds
@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
def test_a_batch_has_the_sum_of_its_sentences_values_and_their_gradients(projective, single_root, kinds, objective):
    sentences = [
        small_sentence(seed, words=words, projective=projective, single_root=single_root, kinds=kinds)
        for seed, words in [(28, 5), (0, 1), (15, 6), (3, 2), (18, 5)]
    ]
    batch = together(sentences)
    value, gradient = batch.learn(objective, 3, 0.5)
    alone = [sentence.learn(objective, 3, 0.5) for sentence in sentences]
    assert value == pytest.approx(sum(value for value, _ in alone), abs=1e-12)
    own = [sentence.with_flat(of_scores) for sentence, (_, of_scores) in zip(sentences, alone, strict=True)]
    np.testing.assert_allclose(gradient, together(own).flat, rtol=0, atol=1e-12)


# The same with a scorer of hashed features, which is linear in its weights.

GROUPS, BITS, WORDS = ("words", "tags"), 12, 5


def new_model(kinds, *, seed=0, exact=False, projective=True, bits=BITS, **settings):
    scorer = HashedScorer(GROUPS, [PARTS[kind] for kind in kinds], bits)
    scorer.weights[:] = np.random.default_rng(seed).normal(scale=0.3, size=len(scorer.weights))
    return TreeModel(scorer, projective, True, Inference(exact=exact, **settings))


def random_examples(*seeds):
    tokens, arcs, gold = [], [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows = rng.integers(3, 9, (WORDS + 3, len(ATTRIBUTES)))
        rows[[0, -1]], rows[1] = 1, 2
        keep = rng.random((WORDS + 1, WORDS + 1)) < 0.8
        heads = rng.choice(all_trees(WORDS, True, True))
        keep[heads, np.arange(1, WORDS + 1)] = True
        keep[:, 0] = False
        np.fill_diagonal(keep, False)
        tokens.append(rows)
        arcs.append(Arcs.of(keep))
        gold.append(arcs[-1].marked(heads))
    return Examples(Batch.of(tokens, arcs), np.concatenate(gold))


def dense(model, gradient):
    out = np.zeros(len(model.scorer.weights))
    np.add.at(out, gradient.indices, gradient.values.astype(np.float64))
    return out


@kinds
@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
def test_the_gradient_by_weights_is_that_by_scores_through_a_linear_scorer(kinds, objective):
    model, examples = new_model(kinds), random_examples(1, 2, 3)
    value, gradient = loss_and_gradient(model, examples, objective, 0.5)
    circuit = model(examples.batch, gradient=True)
    expected_value, adjoints = OBJECTIVES[objective](circuit, examples.gold, 0.5)
    assert value == expected_value
    assert list(adjoints) == [ARC, *kinds]
    rng = np.random.default_rng(0)
    for _ in range(3):
        direction = rng.normal(size=len(model.scorer.weights)).astype(np.float32)
        along = replace(model, scorer=HashedScorer(GROUPS, model.scorer.parts, BITS))
        along.scorer.weights[:] = direction
        scores, *_ = along.scorer(examples.batch, circuit.problem.tuples)
        expected = sum(np.where(np.abs(own) < NEGLIGIBLE, 0.0, own) @ scores[name] for name, own in adjoints.items())
        terms = gradient.values * direction[gradient.indices].astype(np.float64)
        assert terms.sum() == pytest.approx(expected, abs=1e-6 * np.abs(terms).sum())


@pytest.mark.parametrize("objective", ["l2", "ar"])
@kinds
def test_gradients_by_weights_are_those_of_finite_differences(kinds, objective):
    check_weights(new_model(kinds), random_examples(3, 4), objective, 0.5)


@pytest.mark.parametrize(("objective", "temperature"), [("cll", 1.0), ("l2", 1.0), ("ar", 0.5)])
def test_exact_gradients_by_weights_are_those_of_finite_differences(objective, temperature):
    check_weights(new_model(("grandparent",), exact=True), random_examples(3), objective, temperature)


def check_weights(model, examples, objective, temperature):
    gradient = dense(model, loss_and_gradient(model, examples, objective, temperature)[1])
    weights = model.scorer.weights
    rng = np.random.default_rng(0)
    for _ in range(3):
        direction = rng.normal(size=len(gradient)).astype(np.float32)
        start, slopes = weights.copy(), []
        for step in (2.0**-9, 2.0**-10):
            sides = []
            for sign in (1, -1):
                weights[:] = start + np.float32(sign * step) * direction
                sides.append(loss_and_gradient(model, examples, objective, temperature)[0])
            slopes.append((sides[0] - sides[1]) / (2 * step))
        weights[:] = start
        expected = (4.0 * slopes[1] - slopes[0]) / 3.0  # without the error that grows with the step's square
        assert abs(expected) > 1e-3
        assert gradient @ direction == pytest.approx(expected, rel=2e-3, abs=1e-3)


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
def test_with_pairs_that_weigh_nothing_exact_learning_is_first_order_learning(objective):
    examples = random_examples(4)
    first_order, second_order = (new_model(kinds, exact=True, bits=22) for kinds in ((), ("grandparent",)))
    first_order.scorer.weights[:] = 0.0
    of_arcs = np.unique(loss_and_gradient(first_order, examples, "cll")[1].indices)
    first_order.scorer.weights[of_arcs] = np.random.default_rng(0).normal(scale=0.3, size=len(of_arcs))
    second_order.scorer.weights[:] = first_order.scorer.weights
    (value, gradient), (other_value, other_gradient) = (
        loss_and_gradient(model, examples, objective, 0.5) for model in (first_order, second_order)
    )
    assert value == pytest.approx(other_value)
    ours, others = dense(first_order, gradient), dense(second_order, other_gradient)
    np.testing.assert_allclose(others[of_arcs], ours[of_arcs], atol=1e-4)
    assert np.abs(ours).max() > 0.01
    assert np.count_nonzero(others) > np.count_nonzero(ours)
