"""Passes over training sentences, and the choice of a learning rate."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from treebp.kernels import objective as kernels
from treebp.parsing.arc_model import ArcModel, Example
from treebp.parsing.config import Config
from treebp.parsing.exact import exact_gradient
from treebp.parsing.optimiser import AdaGrad, Gradient

_CODES = {"cll": kernels.CLL, "l2": kernels.L2, "ar": kernels.AR}


def gradient_of(
    model: ArcModel, example: Example, objective: str, temperature: float = 1.0, *, exact: bool = False
) -> Gradient:
    """The objective ("cll", "l2" or "ar") of one sentence and its gradient by all scores."""
    if exact and any(model.features[2]):
        return exact_gradient(model, example, objective, temperature)
    code = _CODES[objective]
    return Gradient(*model.gradient(example.tokens, example.arcs, example.gold, code, temperature))


def run_epoch(
    optimiser: AdaGrad,
    examples: Sequence[Example],
    config: Config,
    objective: str,
    *,
    seed: Sequence[int],
    temperatures: tuple[float, float] = (1.0, 1.0),
    advance: Callable[[int], None] = lambda words: None,
) -> float:
    """One pass over the examples in a random order; return the mean value of the objective.

    The temperature falls linearly from the first to the second of ``temperatures``. ``advance`` hears of words done.
    """
    model = optimiser.model
    order = np.random.default_rng(seed).permutation(len(examples))
    exact = config.inference == "exact"
    total = 0.0
    for start in range(0, len(order), config.minibatch):
        batch = [examples[k] for k in order[start : start + config.minibatch]]
        warm, cold = temperatures
        temperature = warm + (cold - warm) * start / len(order)
        one = partial(gradient_of, model, objective=objective, temperature=temperature, exact=exact)
        gradients = optimiser.map(one, batch)
        value = sum(gradient.value for gradient in gradients)
        if not np.isfinite(value):
            raise ValueError(f"training with rate {optimiser.rate:g} has diverged; set a lower rate")
        total += value
        optimiser.step(gradients)
        advance(sum(len(example.tokens) - 3 for example in batch))
    optimiser.catch_up()
    return total / len(examples)


def tune_rate(
    model: ArcModel, examples: Sequence[Example], config: Config, objective: str, temperature: float, threads: int
) -> float:
    """The learning rate for a run that starts from the model's weights.

    For each rate, one pass over a tenth of the examples and a look at the objective on another tenth. The rate is
    doubled as long as that helps, or else halved. The weights stay as they are.
    """
    order = np.random.default_rng((config.seed, 1)).permutation(len(examples))
    tenth = max(1, min(len(order) // 10, 500))
    sample, other = [examples[k] for k in order[:tenth]], [examples[k] for k in order[-tenth:]]
    start = model.weights.copy()
    exact = config.inference == "exact"

    def trial(rate: float) -> float:
        optimiser = AdaGrad(model, rate, config.regularisation / len(examples), threads)
        try:
            run_epoch(
                optimiser, sample, config, objective, seed=(config.seed, 2), temperatures=(temperature, temperature)
            )
            one = partial(gradient_of, model, objective=objective, temperature=temperature, exact=exact)
            value = float(np.mean([gradient.value for gradient in optimiser.map(one, other)]))
            return value if np.isfinite(value) else np.inf
        except ValueError:
            return np.inf
        finally:
            model.weights[:] = start

    rate, best = _FIRST_RATE, trial(_FIRST_RATE)
    for factor in (2.0, 0.5):
        while _SLOWEST < rate * factor < _FASTEST and (value := trial(rate * factor)) < best:
            rate, best = rate * factor, value
        if rate > _FIRST_RATE:
            break
    return rate


_FIRST_RATE, _SLOWEST, _FASTEST = 0.04, 1e-4, 10.0
