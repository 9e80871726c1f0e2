"""Training a model of sequences."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treebp._types import AnyArray
from treebp.features.optimiser import AdaGrad, SparseGradient
from treebp.tagging.model import Objective, SequenceModel
from treebp.tagging.sequences import Sequences

# Positions that share a graph in training: whatever the number of threads, so that sums have one order.
_TOGETHER = 250
_SNAPSHOTS = 10  # of the weights in an epoch


@dataclass(frozen=True, kw_only=True)
class FittingOptions:
    """How a model of sequences is trained."""

    objective: Objective = "cll"
    """Negative log-likelihood of sequences, or squared distance of marginals and truth."""
    epochs: int = 5
    """Passes over the training data."""
    rate: float = 0.1
    """AdaGrad's learning rate."""
    regularisation: float = 1.0
    """The L2 penalty is this divided by the number of sequences."""
    minibatch: int = 20
    """Sequences per update of the weights."""
    seed: int = 1
    """Of the order in which sequences are seen."""


def fit_sequences(
    model: SequenceModel,
    sequences: Sequences,
    gold: AnyArray,
    options: FittingOptions,
    *,
    threads: int = 1,
    after_epoch: Callable[[float], None] = lambda value: None,
) -> None:
    """Train a model's weights on sequences and their labels (positions,), by AdaGrad.

    The weights are, in the end, the mean of what they were in the last epochs, all but the first: a tenth of a point
    better than what they are in the end. The result does not depend on the number of threads. ``after_epoch`` hears of
    the mean of the objective over the sequences.
    """
    optimiser = AdaGrad(model.weights, options.rate, options.regularisation / len(sequences), threads)
    total_weights, snapshots = np.zeros_like(model.weights), 0
    every = max(1, len(sequences) // options.minibatch // _SNAPSHOTS)
    for epoch in range(options.epochs):
        order = np.random.default_rng((options.seed, epoch)).permutation(len(sequences))
        total = 0.0
        for begin in range(0, len(order), options.minibatch):
            numbers = order[begin : begin + options.minibatch]
            ends = np.cumsum(sequences.lengths[numbers])
            chunks = np.split(numbers, np.flatnonzero(np.diff(ends // _TOGETHER)) + 1)

            def one(chunk: AnyArray) -> tuple[float, SparseGradient]:
                batch, positions = sequences.take(chunk)
                return model.loss_and_gradient(batch, gold[positions], options.objective)

            found = optimiser.map(one, chunks)
            total += sum(value for value, _ in found)
            optimiser.step([gradient for _, gradient in found], len(numbers))
            if optimiser.steps % every == 0 and (epoch > 0 or options.epochs == 1):
                total_weights += model.weights
                snapshots += 1
        optimiser.catch_up()
        after_epoch(total / len(sequences))
    model.weights[:] = total_weights / snapshots
