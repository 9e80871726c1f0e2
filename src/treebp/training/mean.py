"""The mean of several trainings: what each of them learnt by chance cancels out, and parsing takes no longer."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from treebp._types import AnyArray
from treebp.parsing.scorer import HashedScorer
from treebp.training.learner import Example


class Mean:
    """In place of a learner: its epoch leaves the mean of all scorers' weights in the first of them."""

    rate = 0.0

    def __init__(self, scorers: Sequence[HashedScorer]) -> None:
        self._scorers = scorers

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
        weights = self._scorers[0].weights
        for scorer in self._scorers[1:]:
            weights += scorer.weights
        weights /= np.float32(len(self._scorers))
        return 0.0

    def state(self) -> dict[str, AnyArray]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See `AnyLearner`."""
