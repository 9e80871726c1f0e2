"""Training a model stage by stage and epoch by epoch, so that it can stop after any epoch and go on later."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from treebp.parsing.config import Config
from treebp.parsing.reports import EpochReport
from treebp.parsing.scorer import Scorer
from treebp.training.checkpoint import State
from treebp.training.learner import AnyLearner, Example
from treebp.training.progress import Progress


class Stage(NamedTuple):
    """A part of training: one objective, for one scorer.

    Attributes:
        objective: its name.
        epochs: passes over the examples.
        examples: the training sentences.
        scorer: what is trained.
        learner: makes what trains it, with the given learning rate or, if that is None, the one to start with.
        score: dev UAS and LAS with the scorer as it is.
        training: its number, where there are several of the same kind of scorer; their orders of sentences differ.

    """

    objective: str
    epochs: int
    examples: Sequence[Example]
    scorer: Scorer
    learner: Callable[[float | None], AnyLearner]
    score: Callable[[], tuple[float, float]]
    training: int = 0


def train_model(
    stages: Sequence[Stage], config: Config, *, progress: Progress, checkpoint: Path | None, fingerprint: str
) -> list[EpochReport]:
    """Leave in each scorer the weights that dev UAS is best for; a stage begins with the best of those before.

    A scorer is trained as it would be if there were no others.

    With a ``checkpoint`` path, everything needed to go on is written there after every epoch, and read from there at
    the start if it exists.
    """
    scorers = list({id(stage.scorer): stage.scorer for stage in stages}.values())
    current = [scorers.index(stage.scorer) for stage in stages]
    state = State(fingerprint)
    learner: AnyLearner | None = None
    if checkpoint is not None and checkpoint.exists():
        rate, remembered = state.load(checkpoint, scorers, current)
        learner = stages[state.stage].learner(rate)
        try:
            learner.restore(remembered)
        except (KeyError, ValueError) as error:
            raise ValueError(f"{checkpoint} cannot be used: {error}") from None
        for report in state.reports:
            progress.epoch(report)
    while state.stage < len(stages):
        stage = stages[state.stage]
        words = sum(len(example.tokens) - 3 for example in stage.examples)
        warm, cold = config.temperature_start, config.temperature_end
        earlier = sum(other.scorer is stage.scorer for other in stages[: state.stage])
        learner = learner or stage.learner(None)
        while state.epoch < stage.epochs:
            progress.start(f"{stage.objective} epoch {state.epoch + 1}", words)
            began = perf_counter()
            value = learner.epoch(
                stage.examples,
                stage.objective,
                seed=(config.seed, 3 + earlier, state.epoch, stage.training),
                temperatures=(
                    warm + (cold - warm) * state.epoch / stage.epochs,
                    warm + (cold - warm) * (state.epoch + 1) / stage.epochs,
                ),
                advance=progress.advance,
            )
            seconds = perf_counter() - began
            uas, las = stage.score()
            best = uas > state.best_uas
            if best:
                state.best_uas, state.best = uas, stage.scorer.state()
            state.epoch += 1
            report = EpochReport(
                stage.objective, state.epoch, value, uas, las, learner.rate, best, words / seconds, config.tags
            )
            state.reports.append(report)
            progress.epoch(report)
            if checkpoint is not None:
                state.save(checkpoint, scorers, learner)
        stage.scorer.restore(state.best)
        state.stage, state.epoch, learner = state.stage + 1, 0, None
        if state.stage < len(stages) and stages[state.stage].scorer is not stage.scorer:
            state.best_uas = -1.0
    return state.reports
