"""Where training stands, in memory and in a file to go on from."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from treebp._types import AnyArray
from treebp.features.model_file import read_tensors, write_tensors
from treebp.features.optimiser import AdaGrad
from treebp.parsing.reports import EpochReport

_KIND = "treebp checkpoint"


class State:
    """The stage and epoch that come next, the best weights so far, and the epochs done."""

    def __init__(self, fingerprint: str, weights: AnyArray) -> None:
        self.fingerprint = fingerprint
        self.stage = 0
        self.epoch = 0
        self.best_uas = -1.0
        self.best_weights = weights
        self.reports: list[EpochReport] = []

    def save(self, path: Path, weights: AnyArray, optimiser: AdaGrad) -> None:
        """Write all that is needed to go on."""
        tensors = {"weights": weights, "state": optimiser.state, "best": self.best_weights}
        header = {
            "fingerprint": self.fingerprint,
            "stage": self.stage,
            "epoch": self.epoch,
            "best_uas": self.best_uas,
            "reports": [asdict(report) for report in self.reports],
            "rate": optimiser.rate,
            "steps": optimiser.steps,
        }
        write_tensors(path, _KIND, header, tensors)

    def load(self, path: Path, weights: AnyArray) -> tuple[float, Callable[[AdaGrad], None]]:
        """Go back to where a file was written; the rate, and what makes a new optimiser the one that was there."""
        header, tensors = read_tensors(path, _KIND)
        if header["fingerprint"] != self.fingerprint:
            raise ValueError(
                f"{path} belongs to a run with another configuration or other data; remove it or use those"
            )
        self.stage, self.epoch, self.best_uas = header["stage"], header["epoch"], header["best_uas"]
        self.reports = [EpochReport(**report) for report in header["reports"]]
        self.best_weights = tensors["best"]
        weights[:] = tensors["weights"]

        def restore(optimiser: AdaGrad) -> None:
            optimiser.state, optimiser.steps = tensors["state"], header["steps"]

        return header["rate"], restore
