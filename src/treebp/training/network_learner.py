"""Passes of a network over training sentences."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from treebp._types import AnyArray, IntArray
from treebp.neural.optimiser import AdamW
from treebp.neural.repeatable import repeatable
from treebp.parsing.config import Config
from treebp.parsing.model import TreeModel
from treebp.parsing.neural_scorer import NeuralScorer
from treebp.training.learner import Example
from treebp.training.workers import Task, Workers

_JITTER = 0.2  # sentences in a batch have about the same length: so much more or less


class NetworkLearner:
    """Updates a network's parameters, batch by batch of so many words."""

    def __init__(self, model: TreeModel, config: Config, rate: float, words: int, threads: int) -> None:
        assert isinstance(model.scorer, NeuralScorer)
        self.model, self.config, self._network = model, config, model.scorer.network
        self.peak, self._threads, self._workers = rate, threads, Workers(model, threads)
        self.optimiser = AdamW(
            self._network,
            rate,
            decay=config.network_decay,
            steps=config.network_epochs * -(-words // config.network_batch),
            warmup=config.network_warmup,
            clip=config.network_clip,
            pretrained=model.scorer.pretrained,
            pretrained_rate=config.pretrained_rate,
        )

    @property
    def rate(self) -> float:
        """The highest, from which all others follow."""
        return self.peak

    def epoch(
        self,
        examples: Sequence[Example],
        objective: str,
        *,
        seed: Sequence[int],
        temperatures: tuple[float, float] = (1.0, 1.0),
        advance: Callable[[int], None] = lambda words: None,
    ) -> float:
        """See ``treebp.training.learner.AnyLearner``; what is random follows from the seed, so that runs repeat."""
        rng = np.random.default_rng(seed)
        batches = _batches([len(example.tokens) - 3 for example in examples], self.config.network_batch, rng)
        noise = int(rng.integers(2**63))
        total = 0.0
        self._network.train()
        try:
            with repeatable(noise, self._network.device, self._threads):
                for number, chosen in enumerate(batches):
                    warm, cold = temperatures
                    temperature = warm + (cold - warm) * number / len(batches)
                    batch, count = [examples[k] for k in chosen], self._workers.count
                    task = Task([batch[k::count] for k in range(count)], objective, temperature, noise)
                    value = self._workers.loss_and_gradient(task if not number else task._replace(seed=None))
                    if not np.isfinite(value):
                        raise ValueError(f"training with network_rate {self.peak:g} has diverged; set a lower one")
                    total += value
                    words = sum(len(example.tokens) - 3 for example in batch)
                    self.optimiser.step(words)
                    advance(words)
        finally:
            self._network.eval()
        return total / len(examples)

    def state(self) -> dict[str, AnyArray]:
        """AdamW's."""
        return self.optimiser.state()

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See ``treebp.training.learner.AnyLearner``."""
        self.optimiser.restore(state)


def _batches(lengths: Sequence[int], words: int, rng: np.random.Generator) -> list[IntArray]:
    """The numbers of sentences of about the same length and, together, so many words; in a random order."""
    order = np.argsort(np.array(lengths) * rng.uniform(1.0 - _JITTER, 1.0 + _JITTER, len(lengths)), kind="stable")
    before = np.cumsum([0, *(lengths[k] for k in order[:-1])])
    batches = np.split(order, 1 + np.flatnonzero(np.diff(before // words)))
    return [batches[k] for k in rng.permutation(len(batches))]
