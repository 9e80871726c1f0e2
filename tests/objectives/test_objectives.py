from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import all_trees, tree_scores
from second_order import projective, tree_graph
from treebp.bp.enumeration import enumerate_graph
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factors.chain import Chain
from treebp.bp.propagation import propagate
from treebp.objectives.decoders import log_odds_decode, mbr_decode
from treebp.objectives.losses import (
    annealed_risk,
    arc_marginals,
    expected_recall,
    l2_distance,
    log_likelihood,
)
from treebp.trees.dependency_trees import DependencyTrees

TREES = {"projective": True, "single_root": True}
ROOTS_AND_CROSSINGS = [{"projective": p, "single_root": r} for p, r in product([True, False], repeat=2)]
GOLD = np.array([0, 1, 2])


def gold_states(arcs):
    return {variable: int(GOLD[m - 1] == h) for (h, m), variable in arcs.items()}


def l2(beliefs, arcs):
    return l2_distance(beliefs, gold_states(arcs))


def recall(beliefs, arcs):
    marginals, backprop = arc_marginals(beliefs, arcs)
    value, adjoint = expected_recall(marginals, GOLD)
    return value, backprop(adjoint)


def risk(beliefs, arcs):
    marginals, backprop = arc_marginals(beliefs, arcs)
    value, adjoint = annealed_risk(marginals, GOLD, temperature=0.3, **TREES)
    return value, backprop(adjoint)


@pytest.mark.parametrize("iterations", [1, 2, 4, 8])
@pytest.mark.parametrize("objective", [l2, recall, risk])
def test_gradient_through_loopy_propagation(objective, iterations):
    rng = np.random.default_rng(iterations)
    graph, arcs = tree_graph(seed=iterations)
    beliefs = propagate(graph, iterations=iterations)
    gradient = beliefs.backward(objective(beliefs, arcs)[1])
    for _ in range(3):
        step = {factor: 1e-5 * rng.normal(size=factor.potentials.shape) for factor in gradient}
        up, down = (
            objective(
                propagate(
                    graph,
                    iterations=iterations,
                    potentials={factor: factor.potentials + sign * step[factor] for factor in gradient},
                ),
                arcs,
            )[0]
            for sign in (1, -1)
        )
        found = sum(np.sum(gradient[factor] * step[factor]) for factor in gradient)
        assert found == pytest.approx((up - down) / 2, rel=1e-6, abs=1e-11)


def test_l2_counts_both_states_and_every_variable():
    graph, arcs = tree_graph(seed=0)
    beliefs = propagate(graph, iterations=2)
    marginals, _ = arc_marginals(beliefs, arcs)
    truth = np.zeros((4, 4))
    truth[GOLD, [1, 2, 3]] = 1.0
    value, of_variables = l2(beliefs, arcs)
    assert value == pytest.approx(2 * np.sum((marginals - truth) ** 2))
    value, of_arcs = l2_distance(marginals, GOLD)
    assert value == pytest.approx(2 * np.sum((marginals - truth) ** 2))
    for arc, variable in arcs.items():
        # An ON probability takes its OFF probability along.
        assert of_arcs[arc] == pytest.approx(of_variables[variable][1] - of_variables[variable][0])


def test_cold_risk_is_the_loss_of_the_mbr_tree():
    rng = np.random.default_rng(0)
    for _ in range(10):
        marginals = rng.random((5, 5))
        for options in ROOTS_AND_CROSSINGS:
            gold = DependencyTrees(rng.normal(size=(5, 5)), **options).argmax()
            value, gradient = annealed_risk(marginals, gold, temperature=1e-6, **options)
            assert value == pytest.approx(np.sum(mbr_decode(marginals, **options) != gold), abs=1e-6)
            assert np.all(np.isfinite(gradient))


def test_likelihood_is_exact_on_an_acyclic_graph():
    rng = np.random.default_rng(1)
    graph = FactorGraph()
    a, b, c = graph.variables(3, states=3)
    chain = graph.constrain(Chain([a, b, c], rng.normal(size=(3, 3))))
    unary = graph.factor([b], [0.5, -np.inf, 1.0])
    gold = {a: 2, b: 0, c: 1}

    def exact(potentials):
        return np.log(enumerate_graph(graph, potentials).joint[2, 0, 1])

    value, gradient = log_likelihood(propagate(graph, iterations=1), gold)
    assert value == pytest.approx(exact(None), rel=1e-9)
    for factor in (chain, unary):
        for index in np.ndindex(factor.potentials.shape):
            step = np.zeros_like(factor.potentials)
            step[index] = 1e-5
            slope = exact({factor: factor.potentials + step}) - exact({factor: factor.potentials - step})
            assert gradient[factor][index] == pytest.approx(slope / 2e-5, abs=1e-6)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_likelihood_of_a_first_order_parser_is_that_of_the_tree_distribution(seed):
    scores = np.random.default_rng(seed).normal(size=(4, 4), scale=2)
    graph = FactorGraph()
    arcs = {(h, m): graph.variable() for h in range(4) for m in range(1, 4) if h != m}
    unary = {arc: graph.factor([arcs[arc]], [0.0, scores[arc]]) for arc in arcs}
    projective(graph, arcs)
    beliefs = propagate(graph, iterations=1)
    value, gradient = log_likelihood(beliefs, gold_states(arcs))
    trees = DependencyTrees(scores, **TREES)
    assert value == pytest.approx(float(trees.log_prob(GOLD)), rel=1e-9)
    np.testing.assert_allclose(arc_marginals(beliefs, arcs)[0], trees.marginals, atol=1e-9)
    for (h, m), factor in unary.items():
        assert gradient[factor][1] == pytest.approx((GOLD[m - 1] == h) - trees.marginals[h, m], abs=1e-9)


def test_gradient_of_the_surrogate_likelihood_where_messages_have_converged():
    """Only there is the difference between observed and believed counts the derivative of the value."""
    graph, arcs = tree_graph(seed=4)
    rng = np.random.default_rng(0)

    def surrogate(potentials):
        beliefs = propagate(graph, iterations=200, tolerance=1e-14, potentials=potentials)
        assert beliefs.converged
        return log_likelihood(beliefs, gold_states(arcs))

    _, gradient = surrogate({})
    for _ in range(3):
        step = {factor: 1e-5 * rng.normal(size=factor.potentials.shape) for factor in gradient}
        up, down = (
            surrogate({factor: factor.potentials + sign * step[factor] for factor in gradient})[0] for sign in (1, -1)
        )
        found = sum(np.sum(gradient[factor] * step[factor]) for factor in gradient)
        assert found == pytest.approx((up - down) / 2, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("options", ROOTS_AND_CROSSINGS)
def test_decoders_find_the_best_of_all_trees(options):
    rng = np.random.default_rng(0)
    trees = all_trees(4, **options)
    differences = 0
    for _ in range(20):
        marginals = rng.beta(0.3, 0.5, size=(5, 5))
        odds = np.log(marginals) - np.log1p(-marginals)
        by_mbr = trees[np.argmax(tree_scores(marginals, trees))]
        by_odds = trees[np.argmax(tree_scores(odds, trees))]
        np.testing.assert_array_equal(mbr_decode(marginals, **options), by_mbr)
        np.testing.assert_array_equal(log_odds_decode(marginals, **options), by_odds)
        differences += np.any(by_mbr != by_odds)
    assert differences > 0


def test_decoding_from_log_odds_survives_certainty():
    certain = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert log_odds_decode(certain, **TREES).tolist() == [0, 1]


def test_bad_input_is_named():
    graph = FactorGraph()
    a, b = graph.variables(2)
    graph.factor([a], [0.0, -np.inf], name="never")
    beliefs = propagate(graph, iterations=1)
    marginals = np.full((3, 3), 0.5)
    for ask, message in (
        (lambda: l2_distance(beliefs, {a: 2}), "variable x0: no state 2 among its 2"),
        (lambda: log_likelihood(beliefs, {a: 0}), "variable x1: no state given"),
        (lambda: log_likelihood(beliefs, {a: 1, b: 0}), r"never: forbids the joint state \(1,\)"),
        (lambda: expected_recall(marginals, [0, 2]), r"heads \[0, 2\]: a head from 0 to 2, not the word itself"),
        (lambda: expected_recall(marginals, [0]), r"heads \[0\]"),
        (lambda: expected_recall(marginals, [0, 0.5]), r"heads \[0\.0, 0\.5\]"),
        (lambda: expected_recall(np.zeros((3, 2)), [0, 1]), r"marginals of shape \(3, 2\)"),
        (lambda: expected_recall(np.full((3, 3), np.nan), [0, 1]), "probability of arc 0 -> 1 is nan"),
        (lambda: l2_distance(np.full((3, 3), np.inf), [0, 1]), "probability of arc 0 -> 1 is inf"),
        (lambda: l2_distance(beliefs, {a: 0.5}), r"variable x0: no state 0\.5"),
        (lambda: annealed_risk(marginals, [0, 1], temperature=0.0, **TREES), "temperature = 0.0"),
        (lambda: annealed_risk(marginals, [0, 1], temperature=1e-310, **TREES), "temperature = 1e-310: too small"),
        (lambda: log_odds_decode([[0.5, "x"]], **TREES), "marginals: an array of numbers expected"),
        (lambda: mbr_decode(np.full((3, 3), np.nan), **TREES), "score of arc 0 -> 1 is nan"),
        (lambda: arc_marginals(beliefs, {}), "arc_marginals: needs at least one arc"),
        (lambda: arc_marginals(beliefs, {(1, 1): a}), "arc_marginals: arc 1 -> 1 leads from a word to itself"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
