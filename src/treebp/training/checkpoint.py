"""Where training stands, in memory and in a file to go on from."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from treebp._types import AnyArray
from treebp.features.model_file import read_tensors, tensors_of, with_prefix, write_tensors
from treebp.parsing.reports import EpochReport
from treebp.parsing.scorer import Scorer
from treebp.training.learner import AnyLearner

_KIND = "treebp checkpoint"


class State:
    """The stage and epoch that come next, the scorer's best weights so far, and the epochs done."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.stage = 0
        self.epoch = 0
        self.best_uas = -1.0
        self.best: dict[str, AnyArray] = {}
        self.reports: list[EpochReport] = []

    def save(self, path: Path, scorers: Sequence[Scorer], learner: AnyLearner) -> None:
        """Write all that is needed to go on: the weights of all scorers, and what the learner of one remembers."""
        tensors = with_prefix("best", self.best) | with_prefix("learner", learner.state())
        for number, scorer in enumerate(scorers):
            tensors |= with_prefix(f"scorer{number}", scorer.state())
        header = {
            "fingerprint": self.fingerprint,
            "stage": self.stage,
            "epoch": self.epoch,
            "best_uas": self.best_uas,
            "reports": [asdict(report) for report in self.reports],
            "rate": learner.rate,
        }
        write_tensors(path, _KIND, header, tensors)

    def load(self, path: Path, scorers: Sequence[Scorer], current: Sequence[int]) -> tuple[float, dict[str, AnyArray]]:
        """Go back to where a file was written; the learner's rate, and what it remembered.

        ``current`` gives, for each stage, the number of the scorer that it trains.
        """
        header, tensors = read_tensors(path, _KIND)
        if header.get("fingerprint") != self.fingerprint:
            raise ValueError(
                f"{path} belongs to a run with another configuration or other data; remove it or use those"
            )
        try:
            self.stage, self.epoch = int(header["stage"]), int(header["epoch"])
            self.best_uas, rate = float(header["best_uas"]), float(header["rate"])
            self.reports = [EpochReport(**report) for report in header["reports"]]
            if not any(report.best for report in self.reports):
                raise ValueError("no epoch in it is the best")
            self.best = tensors_of("best", tensors)
            scorers[current[self.stage]].restore(self.best)  # to see whether they fit
            for number, scorer in enumerate(scorers):
                scorer.restore(tensors_of(f"scorer{number}", tensors))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{path} is not a {_KIND} that can be used: {error}") from None
        return rate, tensors_of("learner", tensors)
