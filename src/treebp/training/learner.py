"""Passes over training sentences, minibatch by minibatch."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.features.optimiser import AdaGrad, SparseGradient
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.model import TreeModel
from treebp.training.circuit import Examples, loss_and_gradient

# Sentences that share a graph in training: always so many, whatever the number of threads, so that sums have one order.
_TOGETHER = 7


class Example(NamedTuple):
    """A training sentence: its tokens, its candidate arcs, and which of them are right."""

    tokens: IntArray
    arcs: Arcs
    gold: BoolArray


class Learner:
    """Updates a model's weights, minibatch by minibatch."""

    def __init__(self, model: TreeModel, config: Config, rate: float, sentences: int, threads: int) -> None:
        self.model, self.config = model, config
        self.optimiser = AdaGrad(model.scorer.weights, rate, config.regularisation / sentences, threads)

    def gradients(
        self, examples: Sequence[Example], objective: str, temperature: float
    ) -> list[tuple[float, SparseGradient]]:
        """The objective and its gradient, a few sentences at a time."""
        chunks = [examples[start : start + _TOGETHER] for start in range(0, len(examples), _TOGETHER)]
        one = partial(loss_and_gradient, self.model, objective=objective, temperature=temperature)
        return self.optimiser.map(lambda chunk: one(_together(chunk)), chunks)

    def epoch(
        self,
        examples: Sequence[Example],
        objective: str,
        *,
        seed: Sequence[int],
        temperatures: tuple[float, float] = (1.0, 1.0),
        advance: Callable[[int], None] = lambda words: None,
    ) -> float:
        """One pass over the examples in a random order; return the mean value of the objective.

        The temperature falls linearly from the first to the second of ``temperatures``; ``advance`` hears of words.
        """
        order = np.random.default_rng(seed).permutation(len(examples))
        total = 0.0
        for start in range(0, len(order), self.config.minibatch):
            batch = [examples[k] for k in order[start : start + self.config.minibatch]]
            warm, cold = temperatures
            found = self.gradients(batch, objective, warm + (cold - warm) * start / len(order))
            value = sum(value for value, _ in found)
            if not np.isfinite(value):
                raise ValueError(f"training with rate {self.optimiser.rate:g} has diverged; set a lower rate")
            total += value
            self.optimiser.step([gradient for _, gradient in found], len(batch))
            advance(sum(len(example.tokens) - 3 for example in batch))
        self.optimiser.catch_up()
        return total / len(examples)


def _together(examples: Sequence[Example]) -> Examples:
    batch = Batch.of([example.tokens for example in examples], [example.arcs for example in examples])
    return Examples(batch, np.concatenate([example.gold for example in examples]))
