"""Seeded choices that come out the same on every platform and Python version."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Weighted choices from one stream of random numbers.

    Everything rests on `Random.random` with a string as seed: the one sequence that Python promises not to change.

    Example:
        >>> dice = Dice("demo")
        >>> [dice.pick(["the", "a", "some"]) for _ in range(6)]
        ['a', 'a', 'a', 'the', 'the', 'a']

    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random() < probability

    def either(self, items: Sequence[Item]) -> Item:
        """Draw one of the items, all equally likely."""
        return items[int(self._random() * len(items))]

    def pick(self, items: Sequence[Item]) -> Item:
        """Draw one of the items, the earlier ones more often, in the manner of Zipf's law."""
        return items[bisect(_zipf(len(items)), self._random())]

    def weighted(self, weights: Mapping[Item, float]) -> Item:
        """Draw one of the keys in proportion to their weights."""
        threshold = self._random() * sum(weights.values())
        for item, total in zip(weights, accumulate(weights.values()), strict=True):
            if threshold < total:
                return item
        raise ValueError("no item has a positive weight")


@cache
def _zipf(n: int) -> tuple[float, ...]:
    """Cumulative probabilities of ranks 0 to n - 2 of n; what is left belongs to the last."""
    # Zipf-Mandelbrot: the offset keeps the first word of each small class from drowning the others.
    totals = list(accumulate(1.0 / (rank + 2.0) for rank in range(n)))
    return tuple(total / totals[-1] for total in totals[:-1])
