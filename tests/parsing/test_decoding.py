"""Decoders against the best of all trees."""

import numpy as np
import pytest

from brute_force import all_trees, tree_scores
from treebp.features.templates import ATTRIBUTES
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.decoding import k_best
from treebp.parsing.model import Inference, TreeModel, decode
from treebp.parsing.parts import PARTS
from treebp.parsing.scorer import HashedScorer

WORDS = 5
PAIRS = ("grandparent", "sibling")


def new_model(kinds, *, seed=0, projective=True, exact=False):
    scorer = HashedScorer(("words", "tags"), [PARTS[kind] for kind in kinds], bits=12)
    scorer.weights[:] = np.random.default_rng(seed).normal(scale=0.3, size=len(scorer.weights))
    return TreeModel(scorer, projective, True, Inference(exact=exact))


def random_batch(*seeds):
    tokens, arcs = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows = rng.integers(3, 9, (WORDS + 3, len(ATTRIBUTES)))
        rows[[0, -1]], rows[1] = 1, 2
        keep = rng.random((WORDS + 1, WORDS + 1)) < 0.8
        keep[rng.choice(all_trees(WORDS, True, True)), np.arange(1, WORDS + 1)] = True
        keep[:, 0] = False
        np.fill_diagonal(keep, False)
        tokens.append(rows)
        arcs.append(Arcs.of(keep))
    return Batch.of(tokens, arcs)


def enumerated(model, batch):
    """All trees of a batch of one sentence, and the score of each: that of its arcs and of its parts."""
    problem = model(batch).problem
    (arcs,) = batch.arcs
    trees = all_trees(WORDS, model.projective, model.single_root)
    trees = trees[[bool(arcs.mask()[heads, np.arange(1, WORDS + 1)].all()) for heads in trees]]
    totals = []
    for heads in trees:
        on = problem.parts_on(arcs.marked(heads))
        totals.append(sum(problem.potentials[name][chosen].sum() for name, chosen in on.items()))
    return trees, np.array(totals)


@pytest.mark.parametrize(("kinds", "exact"), [((), False), ((), True), (("grandparent",), True)])
def test_map_decoding_finds_the_best_tree(kinds, exact):
    for seed in range(5):
        model, batch = new_model(kinds, seed=seed, exact=exact), random_batch(seed)
        trees, totals = enumerated(model, batch)
        (heads,) = decode("map", model.inference, model(batch))
        assert heads.tolist() == trees[totals.argmax()].tolist()


@pytest.mark.parametrize("kinds", [PAIRS, *((kind,) for kind in PARTS), tuple(PARTS)], ids="+".join)
def test_map_decoding_with_approximate_inference_rescores_trees(kinds):
    found = 0
    for seed in range(10):
        model, batch = new_model(kinds, seed=seed), random_batch(seed)
        trees, totals = enumerated(model, batch)
        (heads,) = decode("map", model.inference, model(batch))
        found += heads.tolist() == trees[totals.argmax()].tolist()
    assert found >= 9


@pytest.mark.parametrize("projective", [True, False])
def test_mbr_and_log_odds_decoding_by_enumeration(projective):
    for seed in range(5):
        model, batch = new_model(PAIRS, seed=seed, projective=projective), random_batch(seed)
        circuit = model(batch)
        matrix = batch.arcs[0].matrix(circuit.inferred.beliefs, 0.0)
        trees, _ = enumerated(model, batch)
        with np.errstate(divide="ignore"):
            odds = np.log(matrix) - np.log1p(-np.minimum(matrix, 1.0 - 1e-16))
        for decoder, scores in (("mbr", matrix), ("log-odds", odds)):
            (heads,) = decode(decoder, model.inference, circuit)
            best = tree_scores(scores, trees).max()
            assert tree_scores(scores, heads[None])[0] == pytest.approx(best)


@pytest.mark.parametrize("decoder", ["mbr", "log-odds", "map"])
@pytest.mark.parametrize(("kinds", "exact"), [((), False), (PAIRS, False), (("grandparent",), True)])
def test_sentences_are_decoded_together_as_they_are_alone(decoder, kinds, exact):
    model, batch = new_model(kinds, exact=exact), random_batch(1, 2, 3)
    trees = decode(decoder, model.inference, model(batch))
    for heads, (tokens, arcs) in zip(trees, batch, strict=True):
        alone = Batch.of([tokens], [arcs])
        assert decode(decoder, model.inference, model(alone))[0].tolist() == heads.tolist()


@pytest.mark.parametrize("projective", [True, False])
def test_the_k_best_trees_are_those_with_the_highest_expected_accuracy(projective):
    model, batch = new_model(PAIRS, projective=projective), random_batch(4)
    beliefs = model(batch).inferred.beliefs
    trees, _ = enumerated(model, batch)
    accuracies = np.sort(tree_scores(batch.arcs[0].matrix(beliefs, 0.0), trees))[::-1] / WORDS
    found = k_best(batch.arcs[0], beliefs, 6, projective=projective, single_root=model.single_root)
    np.testing.assert_allclose([accuracy for _, accuracy in found], accuracies[:6])
