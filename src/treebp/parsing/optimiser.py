"""AdaGrad over minibatches, on as many threads as wanted, with the same result on any number of them."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from treebp._types import AnyArray
from treebp.kernels import adagrad
from treebp.parsing.arc_model import ArcModel

T = TypeVar("T")
R = TypeVar("R")


class Gradient(NamedTuple):
    """The objective's value for one sentence, and its gradient: weights, and what to add to each, with repetitions."""

    value: float
    indices: AnyArray
    values: AnyArray


class AdaGrad:
    """x <- (H x - rate g) / (H + rate decay) with H = delta + sqrt(sum of g^2), for one model's weights."""

    def __init__(self, model: ArcModel, rate: float, decay: float, threads: int = 1) -> None:
        self.model = model
        self.rate = rate
        self.decay = decay
        self.steps = 0
        count = len(model.weights)
        self.state: AnyArray = np.zeros((count, 2), np.float32)
        self._gradient = np.zeros(count, np.float32)  # zero again after every step
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Apply a function that releases the GIL to all items, in order."""
        return list(map(function, items) if self._pool is None else self._pool.map(function, items))

    def step(self, gradients: Sequence[Gradient]) -> None:
        """One update with the mean gradient of a minibatch.

        Each thread looks after a part of the weights, so the order of all sums is that of the sentences.
        """
        self.map(lambda shard: self._step(shard, gradients), range(self._threads))
        self.steps += 1
        if self.steps % adagrad.CATCH_UP == 0:
            self.catch_up()

    def catch_up(self) -> None:
        """Apply all decay that is still due."""
        adagrad.catch_up(self.model.weights, self.state, self.rate * self.decay, self.steps)

    def _step(self, shard: int, gradients: Sequence[Gradient]) -> None:
        total = len(self.model.weights)
        low, high = total * shard // self._threads, total * (shard + 1) // self._threads
        touched = np.empty(sum(len(gradient.indices) for gradient in gradients) + 1, np.int32)
        count = 0
        for gradient in gradients:
            count = adagrad.add(self._gradient, gradient.indices, gradient.values, low, high, touched, count)
        touched = np.sort(touched[:count])  # walking through memory in order is worth the time
        scale = 1.0 / len(gradients)
        adagrad.update(
            self.model.weights, self._gradient, self.state, touched, scale, self.rate, self.decay, self.steps
        )
