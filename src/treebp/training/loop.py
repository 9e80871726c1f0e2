"""Training a model stage by stage and epoch by epoch, so that it can stop after any epoch and go on later."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

from treebp.parsing.config import Config
from treebp.parsing.model import TreeModel
from treebp.parsing.reports import EpochReport
from treebp.training.checkpoint import State
from treebp.training.learner import Example, Learner
from treebp.training.progress import Progress
from treebp.training.rate import tuned_rate


def train_model(
    model: TreeModel,
    examples: Sequence[Example],
    score: Callable[[], tuple[float, float]],
    config: Config,
    *,
    threads: int,
    progress: Progress,
    checkpoint: Path | None,
    fingerprint: str,
) -> list[EpochReport]:
    """Leave in the model the weights that ``score``, dev UAS and LAS, is best for.

    With a ``checkpoint`` path, everything needed to go on is written there after every epoch, and read from there at
    the start if it exists.
    """
    stages = config.objective.split("+")
    words = sum(len(example.tokens) - 3 for example in examples)
    weights = model.scorer.weights
    state = State(fingerprint, weights)
    learner: Learner | None = None
    if checkpoint is not None and checkpoint.exists():
        rate, restore = state.load(checkpoint, weights)
        learner = Learner(model, config, rate, len(examples), threads)
        restore(learner.optimiser)
        for report in state.reports:
            progress.epoch(report)
    while state.stage < len(stages):
        objective = stages[state.stage]
        warm, cold = config.temperature_start, config.temperature_end
        if learner is None:
            if state.stage > 0:
                weights[:] = state.best_weights
            rate = config.rate
            if rate == 0.0:
                progress.start("tuning the learning rate", 0)
                trial = partial(Learner, model, config, sentences=len(examples), threads=threads)
                rate = tuned_rate(trial, weights, examples, objective, warm, config.seed)
            learner = Learner(model, config, rate, len(examples), threads)
        while state.epoch < config.epochs:
            progress.start(f"{objective} epoch {state.epoch + 1}", words)
            learner.gradients(examples[:1], objective, warm)  # loads kernels, which is no part of an epoch's speed
            began = perf_counter()
            value = learner.epoch(
                examples,
                objective,
                seed=(config.seed, 3 + state.stage, state.epoch),
                temperatures=(
                    warm + (cold - warm) * state.epoch / config.epochs,
                    warm + (cold - warm) * (state.epoch + 1) / config.epochs,
                ),
                advance=progress.advance,
            )
            seconds = perf_counter() - began
            uas, las = score()
            best = uas > state.best_uas
            if best:
                state.best_uas, state.best_weights = uas, weights.copy()
            state.epoch += 1
            rate = learner.optimiser.rate
            report = EpochReport(objective, state.epoch, value, uas, las, rate, best, words / seconds, config.tags)
            state.reports.append(report)
            progress.epoch(report)
            if checkpoint is not None:
                state.save(checkpoint, weights, learner.optimiser)
        state.stage, state.epoch, learner = state.stage + 1, 0, None
    weights[:] = state.best_weights
    return state.reports
