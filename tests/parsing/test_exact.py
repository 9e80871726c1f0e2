"""Exact inference against the sum over all trees, and belief propagation against both where it is exact."""

import numpy as np
import pytest

from brute_force import all_trees, indicators, tree_scores
from treebp.kernels.candidates import list_arcs
from treebp.parsing.arc_model import ArcModel, Example
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.decoding import decode
from treebp.parsing.exact import exact_gradient, exact_trees
from treebp.parsing.learning import gradient_of
from treebp.parsing.templates import ATTRIBUTES

GROUPS = ("words", "tags")
BITS = 12
WORDS = 5


def new_model(factors, *, seed=0, projective=True, single_root=True, iterations=4):
    model = ArcModel(GROUPS, factors, BITS, projective=projective, single_root=single_root, iterations=iterations)
    model.weights[:] = np.random.default_rng(seed).normal(scale=0.3, size=len(model.weights))
    return model


def random_sentence(seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(3, 9, (WORDS + 3, len(ATTRIBUTES)))
    tokens[[0, -1]], tokens[1] = 1, 2
    keep = rng.random((WORDS + 1, WORDS + 1)) < 0.8
    heads = all_trees(WORDS, True, True)[rng.integers(len(all_trees(WORDS, True, True)))]
    keep[heads, np.arange(1, WORDS + 1)] = True
    keep[:, 0] = False
    np.fill_diagonal(keep, False)
    return tokens, Arcs(*list_arcs(keep)), heads


def enumerated(model, tokens, arcs):
    """All trees, and the score of each, arcs and pairs of arcs together."""
    scores, pair_scores, triples, siblings = model.score(tokens, arcs)
    trees = all_trees(WORDS, *model.structure)
    totals = tree_scores(arcs.matrix(scores, -np.inf), trees)
    for p, ((a, b, c), score) in enumerate(zip(triples.tolist(), pair_scores, strict=True)):
        upper = trees[:, b - 1] == a
        lower = trees[:, c - 1] == (a if p < siblings else b)
        totals[upper & lower] += score
    return trees, totals


def marginals_of(trees, totals):
    weights = np.exp(totals - totals.max())
    return np.tensordot(weights / weights.sum(), indicators(trees), axes=1)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_exact_inference_with_grandparents_equals_enumeration(single_root, seed):
    model = new_model(("grandparent",), seed=seed, single_root=single_root)
    tokens, arcs, _ = random_sentence(seed)
    found, triples = exact_trees(model, tokens, arcs)
    assert len(triples) > 10
    trees, totals = enumerated(model, tokens, arcs)
    np.testing.assert_allclose(found.marginals, marginals_of(trees, totals), atol=1e-9)
    assert found.log_partition == pytest.approx(np.logaddexp.reduce(totals))
    assert found.argmax().tolist() == trees[totals.argmax()].tolist()


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_first_order_belief_propagation_is_exact(projective, single_root):
    model = new_model((), projective=projective, single_root=single_root)
    tokens, arcs, _ = random_sentence(1)
    beliefs, residual, pairs = model.infer(Batch.of([tokens], [arcs]))
    np.testing.assert_allclose(arcs.matrix(beliefs, 0.0), marginals_of(*enumerated(model, tokens, arcs)), atol=1e-9)
    assert (residual, pairs) == (0.0, 0)


def test_belief_propagation_comes_much_closer_to_exact_inference_than_first_order():
    errors = []
    for seed in range(10):
        model, without_pairs = new_model(("grandparent",), iterations=10, seed=seed), new_model((), seed=seed)
        for weights in (model.weights, without_pairs.weights):
            weights *= 0.3  # so weak that messages settle
        tokens, arcs, _ = random_sentence(seed)
        exact = exact_trees(model, tokens, arcs)[0].marginals[arcs.heads, arcs.modifiers]
        found = [m.infer(Batch.of([tokens], [arcs]))[0] for m in (model, without_pairs)]
        errors.append([np.abs(beliefs - exact).mean() for beliefs in found])
    with_pairs, first_order = np.mean(errors, axis=0)
    assert with_pairs < 0.5 * first_order


@pytest.mark.parametrize(("objective", "temperature"), [("cll", 1.0), ("l2", 1.0), ("ar", 0.5)])
def test_exact_gradients_by_finite_differences(objective, temperature):
    model = new_model(("grandparent",))
    tokens, arcs, heads = random_sentence(3)
    example = Example(tokens, arcs, arcs.marked(heads))
    _, indices, values = exact_gradient(model, example, objective, temperature)
    gradient = np.zeros(len(model.weights))
    np.add.at(gradient, indices, values.astype(np.float64))
    rng = np.random.default_rng(0)
    for _ in range(3):
        direction = rng.normal(size=len(gradient)).astype(np.float32)
        start, step = model.weights, np.float32(2.0**-10)
        sides = []
        for sign in (1, -1):
            model.weights = start + sign * step * direction
            sides.append(exact_gradient(model, example, objective, temperature).value)
        model.weights = start
        expected = (sides[0] - sides[1]) / (2 * step)
        assert abs(expected) > 1e-3
        assert gradient @ direction == pytest.approx(expected, rel=2e-3, abs=1e-3)


@pytest.mark.parametrize("objective", ["cll", "l2", "ar"])
def test_with_pairs_that_weigh_nothing_exact_learning_is_first_order_learning(objective):
    tokens, arcs, heads = random_sentence(4)
    example = Example(tokens, arcs, arcs.marked(heads))
    first_order, second_order = (
        ArcModel(GROUPS, factors, 22, projective=True, single_root=True) for factors in ((), ("grandparent",))
    )
    of_arcs = np.unique(gradient_of(first_order, example, "cll").indices)
    first_order.weights[of_arcs] = np.random.default_rng(0).normal(scale=0.3, size=len(of_arcs))
    second_order.weights = first_order.weights
    gradients = []
    for model in (first_order, second_order):
        gradient = gradient_of(model, example, objective, 0.5, exact=True)
        dense = np.zeros(len(model.weights))
        np.add.at(dense, gradient.indices, gradient.values.astype(np.float64))
        gradients.append((gradient.value, dense))
    (value, dense), (other_value, other_dense) = gradients
    assert value == pytest.approx(other_value)
    np.testing.assert_allclose(other_dense[of_arcs], dense[of_arcs], atol=1e-4)
    assert np.abs(dense).max() > 0.01
    assert np.count_nonzero(other_dense) > np.count_nonzero(dense)


def test_map_decoding_finds_the_best_tree():
    for seed in range(5):
        tokens, arcs, _ = random_sentence(seed)
        for factors, exact in (((), False), (("grandparent",), True)):
            model = new_model(factors, seed=seed)
            trees, totals = enumerated(model, tokens, arcs)
            batch = Batch.of([tokens], [arcs])
            (heads,) = decode("map", model, batch, model.infer(batch)[0], exact=exact)
            assert heads.tolist() == trees[totals.argmax()].tolist()


def test_map_decoding_with_approximate_inference_rescores_trees():
    found = 0
    for seed in range(10):
        tokens, arcs, _ = random_sentence(seed)
        model = new_model(("grandparent", "sibling"), seed=seed)
        trees, totals = enumerated(model, tokens, arcs)
        batch = Batch.of([tokens], [arcs])
        (heads,) = decode("map", model, batch, model.infer(batch)[0], exact=False)
        found += heads.tolist() == trees[totals.argmax()].tolist()
    assert found >= 9


@pytest.mark.parametrize("projective", [True, False])
def test_mbr_and_log_odds_decoding_by_enumeration(projective):
    for seed in range(5):
        tokens, arcs, _ = random_sentence(seed)
        model = new_model(("grandparent", "sibling"), seed=seed, projective=projective)
        batch = Batch.of([tokens], [arcs])
        beliefs = model.infer(batch)[0]
        matrix = arcs.matrix(beliefs, 0.0)
        trees = all_trees(WORDS, projective, True)
        trees = trees[np.isfinite(tree_scores(arcs.matrix(np.zeros(len(beliefs)), -np.inf), trees))]
        with np.errstate(divide="ignore"):
            odds = np.log(matrix) - np.log1p(-np.minimum(matrix, 1.0 - 1e-16))
        for decoder, scores in (("mbr", matrix), ("log-odds", odds)):
            (heads,) = decode(decoder, model, batch, beliefs, exact=False)
            best = tree_scores(scores, trees).max()
            assert tree_scores(scores, heads[None])[0] == pytest.approx(best)
