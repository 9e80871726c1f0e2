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
        if header.get("fingerprint") != self.fingerprint:
            raise ValueError(
                f"{path} belongs to a run with another configuration or other data; remove it or use those"
            )
        try:
            self.stage, self.epoch = int(header["stage"]), int(header["epoch"])
            self.best_uas, rate, steps = float(header["best_uas"]), float(header["rate"]), int(header["steps"])
            self.reports = [EpochReport(**report) for report in header["reports"]]
            if not any(report.best for report in self.reports):
                raise ValueError("no epoch in it is the best")
            arrays = [tensors[name] for name in ("best", "weights", "state")]
            for array, shape in zip(arrays, (weights.shape, weights.shape, (len(weights), 2)), strict=True):
                if array.dtype != weights.dtype or array.shape != shape:
                    raise ValueError(f"{array.shape} of {array.dtype} are not {len(weights)} weights")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a {_KIND} that can be used: {error}") from None
        self.best_weights, weights[:], adagrad = arrays

        def restore(optimiser: AdaGrad) -> None:
            optimiser.state, optimiser.steps = adagrad, steps

        return rate, restore
