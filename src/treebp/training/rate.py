"""The choice of a learning rate."""

from collections.abc import Callable, Sequence

import numpy as np

from treebp._types import AnyArray
from treebp.training.learner import Example, Learner

_FIRST, _SLOWEST, _FASTEST = 0.04, 1e-4, 10.0


def tuned_rate(
    learner: Callable[[float], Learner],
    weights: AnyArray,
    examples: Sequence[Example],
    objective: str,
    temperature: float,
    seed: int,
) -> float:
    """The learning rate for a run that starts from these weights, which stay as they are.

    For each rate, one pass over a tenth of the examples by a new learner and a look at the objective on another tenth.
    The rate is doubled as long as that helps, or else halved.
    """
    order = np.random.default_rng((seed, 1)).permutation(len(examples))
    tenth = max(1, min(len(order) // 10, 500))
    sample, other = [examples[k] for k in order[:tenth]], [examples[k] for k in order[-tenth:]]
    start = weights.copy()

    def trial(rate: float) -> float:
        own = learner(rate)
        try:
            own.epoch(sample, objective, seed=(seed, 2), temperatures=(temperature, temperature))
            value = sum(value for value, _ in own.gradients(other, objective, temperature)) / len(other)
            return float(value) if np.isfinite(value) else np.inf
        except ValueError:
            return np.inf
        finally:
            weights[:] = start

    rate, best = _FIRST, trial(_FIRST)
    for factor in (2.0, 0.5):
        while _SLOWEST < rate * factor < _FASTEST and (value := trial(rate * factor)) < best:
            rate, best = rate * factor, value
        if rate > _FIRST:
            break
    return rate
