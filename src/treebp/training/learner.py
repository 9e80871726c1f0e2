"""Passes over training sentences, minibatch by minibatch."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from treebp._types import AnyArray, BoolArray, IntArray
from treebp.features.optimiser import AdaGrad, SparseGradient
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.model import TreeModel
from treebp.parsing.scorer import HashedScorer
from treebp.training.circuit import Examples, loss_and_gradient

# Sentences that share a graph in training: always so many, whatever the number of threads, so that sums have one order.
_TOGETHER = 7


class Example(NamedTuple):
    """A training sentence: its tokens, its candidate arcs, and which of them are right.

    For networks, also the forms of its words, and their right heads and labels, as numbers.
    """

    tokens: IntArray
    arcs: Arcs
    gold: BoolArray
    forms: Sequence[str] = ()
    heads: IntArray | None = None
    labels: IntArray | None = None


class AnyLearner(Protocol):
    """What updates some kind of scorer, epoch by epoch."""

    @property
    def rate(self) -> float:
        """The learning rate that it has come to."""
        ...

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
        ...

    def state(self) -> dict[str, AnyArray]:
        """What it remembers between epochs."""
        ...

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Go on from a ``state``; ValueError if it is of something else."""
        ...


class Learner:
    """Updates the weights of hashed features, minibatch by minibatch."""

    def __init__(self, model: TreeModel, config: Config, rate: float, sentences: int, threads: int) -> None:
        self.model, self.config = model, config
        assert isinstance(model.scorer, HashedScorer)
        self.optimiser = AdaGrad(model.scorer.weights, rate, config.regularisation / sentences, threads)

    def gradients(
        self, examples: Sequence[Example], objective: str, temperature: float
    ) -> list[tuple[float, SparseGradient]]:
        """The objective and its gradient, a few sentences at a time."""
        chunks = [examples[start : start + _TOGETHER] for start in range(0, len(examples), _TOGETHER)]
        one = partial(loss_and_gradient, self.model, objective=objective, temperature=temperature)
        return self.optimiser.map(lambda chunk: one(together(chunk)), chunks)

    @property
    def rate(self) -> float:
        """AdaGrad's, which stays what it is."""
        return self.optimiser.rate

    def state(self) -> dict[str, AnyArray]:
        """AdaGrad's."""
        return {"state": self.optimiser.state, "steps": np.array([self.optimiser.steps])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See `AnyLearner`."""
        found, own = state["state"], self.optimiser.state
        if found.dtype != own.dtype or found.shape != own.shape:
            raise ValueError(f"{found.shape} of {found.dtype} are not of {len(own)} weights")
        self.optimiser.state, self.optimiser.steps = found, int(state["steps"].item())

    def epoch(
        self,
        examples: Sequence[Example],
        objective: str,
        *,
        seed: Sequence[int],
        temperatures: tuple[float, float] = (1.0, 1.0),
        advance: Callable[[int], None] = lambda words: None,
    ) -> float:
        """See `AnyLearner`."""
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


def together(examples: Sequence[Example]) -> Examples:
    """Sentences that share a graph."""
    batch = Batch.of(
        [example.tokens for example in examples],
        [example.arcs for example in examples],
        [example.forms for example in examples],
    )
    gold = np.concatenate([example.gold for example in examples])
    heads = [example.heads for example in examples if example.heads is not None]
    labels = [example.labels for example in examples if example.labels is not None]
    return Examples(batch, gold, *(np.concatenate(each) if each else None for each in (heads, labels)))
