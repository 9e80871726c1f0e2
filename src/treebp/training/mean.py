"""The mean of several trainings: what each of them learnt by chance cancels out, and parsing takes no longer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from treebp._types import AnyArray
from treebp.parsing.scorer import HashedScorer

_FACTORS = (1.0, 1.2, 1.4, 1.6, 2.0)


class Mean:
    """In place of a learner: its epoch leaves the mean of all scorers' weights in the first of them, and more of it.

    What trainings do not agree on fades in their mean, which is less sure of itself than it could be: of some factors,
    that one is chosen with which it has the highest dev UAS, as ``score`` gives it.
    """

    rate = 0.0

    def __init__(self, scorers: Sequence[HashedScorer], score: Callable[[], tuple[float, float]]) -> None:
        self._scorers, self._score = scorers, score

    def epoch(self, *_given: Any, **_options: Any) -> float:
        """See `AnyLearner`, none of whose arguments matters here; return the factor."""
        weights = self._scorers[0].weights
        mean = weights.copy()
        for scorer in self._scorers[1:]:
            mean += scorer.weights
        mean /= np.float32(len(self._scorers))
        found = {}
        for factor in _FACTORS:
            np.multiply(mean, np.float32(factor), out=weights)
            found[factor], _ = self._score()
        best = max(found, key=lambda factor: found[factor])
        np.multiply(mean, np.float32(best), out=weights)
        return best

    def state(self) -> dict[str, AnyArray]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See `AnyLearner`."""
