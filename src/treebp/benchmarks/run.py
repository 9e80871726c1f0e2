"""One run of benchmarks as a JSON file, and the comparison of two runs."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from treebp.benchmarks.machine import machine_facts
from treebp.benchmarks.measurement import Measurement

_KIND = "treebp benchmarks"


@dataclass(frozen=True)
class Run:
    """Measurements, what they were taken on, and on which machine.

    Example:
        >>> run = Run("embedded treebank", [Measurement("trees", "marginals", "ms", (1.0, 1.1, 0.9))])
        >>> Run.from_json(run.to_json()) == run
        True

    """

    workload: str
    measurements: list[Measurement]
    machine: dict[str, str | int] = field(default_factory=machine_facts)

    def of(self, group: str) -> list[Measurement]:
        """The measurements of a group."""
        return [measurement for measurement in self.measurements if measurement.group == group]

    def to_json(self) -> str:
        """The run as JSON; median and quartiles are added for whoever reads it by other means."""
        rows = [
            {**asdict(one), "median": one.median, "quartiles": one.quartiles, "values": list(one.values)}
            for one in self.measurements
        ]
        report = {"kind": _KIND, "machine": self.machine, "workload": self.workload, "measurements": rows}
        return json.dumps(report, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, source: str = "run") -> "Run":
        """Read what ``to_json`` wrote. Raises ValueError for anything else."""
        try:
            report: dict[str, Any] = json.loads(text)
            if report["kind"] != _KIND:
                raise ValueError(f"kind is {report['kind']!r}")
            names = Measurement.__dataclass_fields__
            measurements = [
                Measurement(**{key: row[key] for key in names if key != "values"}, values=tuple(row["values"]))
                for row in report["measurements"]
            ]
            return cls(str(report["workload"]), measurements, dict(report["machine"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{source} is no file of treebp bench: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> "Run":
        """Read a file. Raises ValueError if it is no such file, OSError if it cannot be read."""
        return cls.from_json(Path(path).read_text(encoding="utf-8", errors="replace"), str(path))


@dataclass(frozen=True)
class Comparison:
    """The same figure in two runs."""

    new: Measurement
    old: Measurement

    @property
    def ratio(self) -> float:
        """The new median by the old one; infinite if that is zero and the new one is not."""
        if self.old.median == 0.0:
            return 1.0 if self.new.median == 0.0 else float("inf")
        return self.new.median / self.old.median

    @property
    def verdict(self) -> str:
        """What the change is, "better" or "worse", if the ranges between the quartiles are apart; else ""."""
        (new_low, new_high), (old_low, old_high) = self.new.quartiles, self.old.quartiles
        if new_low <= old_high and old_low <= new_high:
            return ""
        return "better" if (new_low > old_high) == self.new.higher_is_better else "worse"


def compare(new: Run, old: Run) -> Iterator[Comparison]:
    """The figures that both runs have, in the order of the new one.

    Example:
        >>> old = Run("", [Measurement("trees", "marginals", "ms", (2.0, 2.1, 2.2))])
        >>> new = Run("", [Measurement("trees", "marginals", "ms", (1.0, 1.05, 1.1))])
        >>> [(comparison.ratio, comparison.verdict) for comparison in compare(new, old)]
        [(0.5, 'better')]

    """
    before = {(one.group, one.name, one.unit): one for one in old.measurements}
    for one in new.measurements:
        if (one.group, one.name, one.unit) in before:
            yield Comparison(one, before[one.group, one.name, one.unit])
