"""AdaGrad over minibatches, on as many threads as wanted, with the same result on any number of them."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from treebp._types import AnyArray
from treebp.kernels import adagrad

T = TypeVar("T")
R = TypeVar("R")


class SparseGradient(NamedTuple):
    """A gradient as a list: numbers of weights (int32) and what to add to each (float32), with repetitions."""

    indices: AnyArray
    values: AnyArray


class AdaGrad:
    """x <- (H x - rate g) / (H + rate decay) with H = delta + sqrt(sum of g^2), for weights that it changes in place.

    Attributes:
        weights: (count,), float32.
        state: (count, 2), of each weight the sum of its squared gradients, and the step up to which it has decayed.
        steps: how many steps were made.

    Example:
        >>> weights = np.zeros(4, np.float32)
        >>> optimiser = AdaGrad(weights, rate=0.5, decay=0.0)
        >>> optimiser.step([SparseGradient(np.array([2], np.int32), np.array([3.0], np.float32))], count=1)
        >>> weights.round(3)
        array([ 0. ,  0. , -0.5,  0. ], dtype=float32)

    """

    def __init__(self, weights: AnyArray, rate: float, decay: float, threads: int = 1) -> None:
        self.weights = weights
        self.rate = rate
        self.decay = decay
        self.steps = 0
        self.state: AnyArray = np.zeros((len(weights), 2), np.float32)
        self._gradient = np.zeros(len(weights), np.float32)  # zero again after every step
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Apply a function that releases the GIL to all items, in order."""
        return list(map(function, items) if self._pool is None else self._pool.map(function, items))

    def step(self, gradients: Sequence[SparseGradient], count: int) -> None:
        """One update with the gradients' sum divided by ``count``, the number of sentences that they are of.

        Each thread looks after a part of the weights, so the order of all sums is that of the gradients.
        """
        self.map(lambda shard: self._step(shard, gradients, 1.0 / count), range(self._threads))
        self.steps += 1
        if self.steps % adagrad.CATCH_UP == 0:
            self.catch_up()

    def catch_up(self) -> None:
        """Apply all decay that is still due."""
        adagrad.catch_up(self.weights, self.state, self.rate * self.decay, self.steps)

    def _step(self, shard: int, gradients: Sequence[SparseGradient], scale: float) -> None:
        total = len(self.weights)
        low, high = total * shard // self._threads, total * (shard + 1) // self._threads
        touched = np.empty(sum(len(gradient.indices) for gradient in gradients) + 1, np.int32)
        count = 0
        for gradient in gradients:
            count = adagrad.add(self._gradient, gradient.indices, gradient.values, low, high, touched, count)
        touched = np.sort(touched[:count])  # walking through memory in order is worth the time
        adagrad.update(self.weights, self._gradient, self.state, touched, scale, self.rate, self.decay, self.steps)
