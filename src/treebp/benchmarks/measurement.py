"""Repeated measurements, and how they are taken."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np


@dataclass(frozen=True)
class Measurement:
    """One figure, measured several times.

    Attributes:
        group: the benchmark that it belongs to, such as "trees".
        name: what was measured, unique in its group.
        unit: of the values; "" for ratios and exponents.
        values: one per repeat.
        higher_is_better: for rates and speed-ups.

    Example:
        >>> measurement = Measurement("trees", "marginals", "ms", (2.0, 1.0, 4.0, 1.5, 1.2))
        >>> measurement.median, measurement.quartiles
        (1.5, (1.2, 2.0))

    """

    group: str
    name: str
    unit: str
    values: tuple[float, ...]
    higher_is_better: bool = False

    def __post_init__(self) -> None:
        if not self.values or not all(map(math.isfinite, self.values)):
            raise ValueError(f"{self.group}, {self.name}: finite values expected, not {list(self.values)}")

    @property
    def median(self) -> float:
        """The middle value."""
        return float(np.median(self.values))

    @property
    def quartiles(self) -> tuple[float, float]:
        """A quarter of the values are below the first, a quarter above the second."""
        low, high = np.quantile(self.values, [0.25, 0.75])
        return float(low), float(high)


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    repeats: int,
    *,
    least: float = 0.0,
    clock: Callable[[], float] = process_time,
) -> dict[str, list[float]]:
    """Seconds per call of every case, once per repeat, after a call of each to warm up.

    The cases take turns, so that a disturbance of the machine meets them alike and their ratios can be trusted. A case
    is called as often in a row as takes ``least`` seconds. The default clock counts the CPU time of this process.

    Example:
        >>> seconds = interleaved({"sum": lambda: sum(range(1000)), "nothing": lambda: None}, repeats=3, least=1e-4)
        >>> {name: len(values) for name, values in seconds.items()}
        {'sum': 3, 'nothing': 3}

    """
    calls = {}
    for name, function in cases.items():
        function()
        once = max(_seconds(function, 1, clock), 1e-9)
        calls[name] = max(1, math.ceil(least / once))
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, function in cases.items():
            seconds[name].append(_seconds(function, calls[name], clock))
    return seconds


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent e of seconds = c * size^e that fits best, by least squares in logarithms.

    Example:
        >>> round(growth_exponent([10, 20, 40], [0.1, 0.8, 6.4]), 6)
        3.0

    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _seconds(function: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    began = clock()
    for _ in range(calls):
        function()
    return (clock() - began) / calls
