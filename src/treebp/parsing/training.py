"""Training a model stage by stage and epoch by epoch, so that it can stop after any epoch and go on later."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from treebp._types import AnyArray
from treebp.parsing.arc_model import ArcModel, Example
from treebp.parsing.config import Config
from treebp.parsing.learning import run_epoch, tune_rate
from treebp.parsing.model_file import read_tensors, write_tensors
from treebp.parsing.optimiser import AdaGrad


@dataclass(frozen=True)
class EpochReport:
    """One epoch of training, as shown in the table and written to the log."""

    objective: str
    epoch: int
    value: float
    dev_uas: float
    dev_las: float
    words_per_second: float
    rate: float
    best: bool


@dataclass(frozen=True)
class Progress:
    """Who is told how training goes: of the start of a piece of work and its words, of words done, of epochs."""

    start: Callable[[str, int], None] = lambda what, words: None
    advance: Callable[[int], None] = lambda words: None
    epoch: Callable[[EpochReport], None] = lambda report: None


def train_model(
    model: ArcModel,
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
    state = _State(model, fingerprint)
    optimiser: AdaGrad | None = None
    if checkpoint is not None and checkpoint.exists():
        optimiser = state.load(checkpoint, config, len(examples), threads)
        for report in state.reports:
            progress.epoch(report)
    while state.stage < len(stages):
        objective = stages[state.stage]
        warm, cold = config.temperature_start, config.temperature_end
        if optimiser is None:
            if state.stage > 0:
                model.weights[:] = state.best_weights
            rate = config.rate
            if rate == 0.0:
                progress.start("tuning the learning rate", 0)
                rate = tune_rate(model, examples, config, objective, warm, threads)
            optimiser = AdaGrad(model, rate, config.regularisation / len(examples), threads)
        while state.epoch < config.epochs:
            progress.start(f"{objective} epoch {state.epoch + 1}", words)
            began = perf_counter()
            value = run_epoch(
                optimiser,
                examples,
                config,
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
                state.best_uas, state.best_weights = uas, model.weights.copy()
            state.epoch += 1
            report = EpochReport(objective, state.epoch, value, uas, las, words / seconds, optimiser.rate, best)
            state.reports.append(report)
            progress.epoch(report)
            if checkpoint is not None:
                state.save(checkpoint, optimiser)
        state.stage, state.epoch, optimiser = state.stage + 1, 0, None
    model.weights[:] = state.best_weights
    return state.reports


class _State:
    """Where training stands."""

    def __init__(self, model: ArcModel, fingerprint: str) -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.stage = 0
        self.epoch = 0
        self.best_uas = -1.0
        self.best_weights: AnyArray = model.weights
        self.reports: list[EpochReport] = []

    def save(self, path: Path, optimiser: AdaGrad) -> None:
        tensors = {
            "weights": self.model.weights,
            "state": optimiser.state,
            "best": self.best_weights,
        }
        header = {
            "fingerprint": self.fingerprint,
            "stage": self.stage,
            "epoch": self.epoch,
            "best_uas": self.best_uas,
            "reports": [asdict(report) for report in self.reports],
            "rate": optimiser.rate,
            "steps": optimiser.steps,
        }
        write_tensors(path, "treebp checkpoint", header, tensors)

    def load(self, path: Path, config: Config, sentences: int, threads: int) -> AdaGrad:
        header, tensors = read_tensors(path, "treebp checkpoint")
        if header["fingerprint"] != self.fingerprint:
            raise ValueError(
                f"{path} belongs to a run with another configuration or other data; remove it or use those"
            )
        self.stage, self.epoch, self.best_uas = header["stage"], header["epoch"], header["best_uas"]
        self.reports = [EpochReport(**report) for report in header["reports"]]
        self.best_weights = tensors["best"]
        self.model.weights[:] = tensors["weights"]
        optimiser = AdaGrad(self.model, header["rate"], config.regularisation / sentences, threads)
        optimiser.state, optimiser.steps = tensors["state"], header["steps"]
        return optimiser
