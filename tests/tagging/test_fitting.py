"""Training of models of sequences."""

import numpy as np
import pytest
from small_sequences import random_model, random_sequences

from treebp.tagging.fitting import FittingOptions, fit_sequences
from treebp.tagging.model import SequenceModel
from treebp.tagging.sequences import LabelSet, Sequences


def alternating(rng, count=60):
    """Labels that follow from the one before and, at first, from the value."""
    lengths = rng.integers(2, 8, size=count)
    values = rng.integers(0, 5, size=(lengths.sum(), 1)).astype(np.int32)
    gold, place = [], 0
    for length in lengths:
        label = int(values[place, 0] > 2)
        for k in range(length):
            gold.append((label + k) % 2)
        place += length
    return Sequences.with_all_labels(lengths, values, 2), np.array(gold)


@pytest.mark.parametrize("objective", ["cll", "l2"])
def test_learns_what_only_a_chain_can_tell(objective):
    rng = np.random.default_rng(0)
    train, gold = alternating(rng)
    test, expected = alternating(rng)
    model = SequenceModel(LabelSet.plain(2), ["value"], ["p.value p-1.value"], bits=10)
    values = []
    options = FittingOptions(objective=objective, epochs=15, rate=0.3, minibatch=5)
    fit_sequences(model, train, gold, options, after_epoch=values.append)
    assert values[-1] < 0.5 * values[0]
    assert (model.label(test).labels == expected).mean() > 0.95


def test_threads_make_no_difference():
    rng = np.random.default_rng(1)
    train, gold = random_sequences(rng, lengths=rng.integers(1, 40, size=60).tolist())
    models = []
    for threads in (1, 2):
        models.append(random_model(np.random.default_rng(2)))
        fit_sequences(models[-1], train, gold, FittingOptions(epochs=2, minibatch=30), threads=threads)
    np.testing.assert_array_equal(models[0].weights, models[1].weights)
