"""Models of sequences against enumeration, the engine and finite differences."""

from itertools import pairwise, product

import numpy as np
import pytest
from small_sequences import PARTS, random_model, random_sequences

from treebp.bp.graph import Graph
from treebp.bp.groups.chains import Chains
from treebp.bp.groups.tables import Tables
from treebp.bp.propagation import propagate
from treebp.tagging.sequences import LabelSet, Sequences


def paths(batch, model):
    """Of each sequence: every choice of candidates, as entries, and its score."""
    layout, potentials, _ = model.score(batch)
    for begin, end in pairwise(layout.first):
        choices = [range(layout.start[i], layout.start[i + 1]) for i in range(begin, end)]
        found = []
        for path in product(*choices):
            score = potentials.labels[list(path)].sum()
            for i in range(begin + 1, end):
                before, own = path[i - begin - 1] - layout.start[i - 1], path[i - begin] - layout.start[i]
                score += potentials.transitions[layout.into[i] + before * (layout.start[i + 1] - layout.start[i]) + own]
            found.append((list(path), score))
        yield found


@pytest.mark.parametrize("seed", range(5))
def test_marginals_and_decoders_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    batch, gold = random_sequences(rng)
    model = random_model(rng)
    expected, best, likelihood = np.zeros(len(batch.candidates)), [], 0.0
    right = batch.entries(gold)
    for found in paths(batch, model):
        total = np.logaddexp.reduce([score for _, score in found])
        for path, score in found:
            expected[path] += np.exp(score - total)
            if np.isin(path, right).all():
                likelihood += total - score
        best += max(found, key=lambda pair: pair[1])[0]
    labelled = model.label(batch)
    np.testing.assert_allclose(labelled.probabilities, expected, atol=1e-12)
    np.testing.assert_allclose(labelled.confidence, np.maximum.reduceat(expected, batch.start[:-1]))
    assert np.array_equal(model.label(batch, "viterbi").entries, best)
    assert model.loss_and_gradient(batch, gold, "cll")[0] == pytest.approx(likelihood)
    truth = np.isin(np.arange(len(expected)), right)
    assert model.loss_and_gradient(batch, gold, "l2")[0] == pytest.approx(((expected - truth) ** 2).sum())


def test_it_is_the_engines_chain():
    rng = np.random.default_rng(3)
    batch, _ = random_sequences(rng, lengths=(5, 2), most=4)
    model = random_model(rng)
    _, potentials, _ = model.score(batch)
    states = np.diff(batch.start)
    kinds = np.unique(states)
    fields = [Tables(np.flatnonzero(states == kind)[:, None], (int(kind),)) for kind in kinds]
    scores = np.split(potentials.labels, batch.start[1:-1])
    own = [np.concatenate([scores[i] for i in np.flatnonzero(states == kind)]) for kind in kinds]
    graph = Graph(states, [*fields, Chains(np.arange(len(states)), batch.lengths, states)])
    beliefs = propagate(graph, iterations=1, potentials=[*own, potentials.transitions])
    expected = np.concatenate([beliefs.states(i) for i in range(len(states))])
    np.testing.assert_allclose(model.label(batch).probabilities, expected, atol=1e-12)


@pytest.mark.parametrize("objective", ["cll", "l2"])
def test_gradients_equal_finite_differences(objective):
    rng = np.random.default_rng(7)
    batch, gold = random_sequences(rng, lengths=(3, 2))
    model = random_model(rng)
    model.weights = model.weights.astype(np.float64)
    _, gradient = model.loss_and_gradient(batch, gold, objective)
    dense = np.bincount(gradient.indices, gradient.values, minlength=len(model.weights))
    used = np.flatnonzero(dense)
    assert len(used) > 50
    for k in rng.choice(used, size=40, replace=False):
        values = []
        for step in (1e-5, -2e-5):
            model.weights[k] += step
            values.append(model.loss_and_gradient(batch, gold, objective)[0])
        model.weights[k] += 1e-5
        assert dense[k] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-5)


def test_batched_equals_one_by_one():
    rng = np.random.default_rng(1)
    batch, _ = random_sequences(rng, lengths=(3, 5, 1, 4))
    model = random_model(rng)
    together = model.label(batch)
    alone = [model.label(batch.take(np.array([k]))[0]) for k in range(4)]
    np.testing.assert_array_equal(together.probabilities, np.concatenate([one.probabilities for one in alone]))
    np.testing.assert_array_equal(together.labels, np.concatenate([one.labels for one in alone]))


def test_labels_share_the_weights_of_their_parts():
    labels = LabelSet.of_parts([("N", "s"), ("N", "p"), ("V", "s"), ("A", "p")], chained=1)
    model = random_model(np.random.default_rng(2), labels)
    model.weights[:] = 0.0
    batch = Sequences.with_all_labels([1], np.zeros((1, 2), np.int32), 4)
    _, gradient = model.loss_and_gradient(batch, np.array([0]), "cll")
    model.weights[:] -= np.bincount(gradient.indices, gradient.values, minlength=len(model.weights))
    right, first_part, second_part, neither = model.label(batch).probabilities
    assert right > second_part > first_part > neither  # no other label than these two has "V" or "A"


def test_a_label_that_is_no_candidate_is_refused():
    batch, gold = random_sequences(np.random.default_rng(4), most=2)
    wrong = next(label for label in range(len(PARTS)) if label not in batch.candidates[: batch.start[1]])
    gold[0] = wrong
    with pytest.raises(ValueError, match="not among its candidates"):
        batch.entries(gold)
