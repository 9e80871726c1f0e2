"""Means over seeds, differences with their confidence intervals, and both as text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treebp.data.significance import bootstrap_interval
from treebp.experiments.cells import Result

MISSING = "–"
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Spread:
    """A mean, and from where to where it may be: the seeds' range, or a confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether all of it, more than one number, is on one side of zero."""
        return self.low < self.high and (self.low > 0.0 or self.high < 0.0)


def select(results: Iterable[Result], treebank: str, settings: Settings) -> list[Result]:
    """The results of a treebank whose configuration has these settings, one for each seed."""
    return [
        result
        for result in results
        if result.cell.treebank == treebank
        and all(getattr(result.cell.config, key) == value for key, value in settings.items())
    ]


def spread(values: Sequence[float]) -> Spread | None:
    """The mean of some values and their range; None if there are none.

    Example:
        >>> spread([88.0, 90.0])
        Spread(mean=89.0, low=88.0, high=90.0)

    """
    return Spread(sum(values) / len(values), min(values), max(values)) if values else None


def difference(results: Sequence[Result], baseline: Sequence[Result]) -> Spread | None:
    """How much higher the test UAS is than the baseline's, with a 95 % interval by paired bootstrap over sentences.

    Seeds that both have are averaged. None if there is no such seed.
    """
    others = {result.cell.config.seed: result for result in baseline}
    pairs = [(result, others[seed]) for result in results if (seed := result.cell.config.seed) in others]
    if not pairs:
        return None
    gained = np.sum([one.correct - other.correct for one, other in pairs], axis=0)
    words = np.sum([one.words for one, _ in pairs], axis=0)
    # The accuracy of a system that gets right what one has more than the other is their difference.
    return Spread(100.0 * float(gained.sum() / words.sum()), *bootstrap_interval(gained, words))


def average(spreads: Sequence[Spread]) -> Spread | None:
    """The mean over treebanks, with a 95 % interval by bootstrap over them; None if there are none.

    Example:
        >>> average([Spread(0.5, 0.1, 0.9), Spread(1.5, 1.0, 2.0)])
        Spread(mean=1.0, low=0.5, high=1.5)

    """
    if not spreads:
        return None
    means = np.array([one.mean for one in spreads])
    low, high = bootstrap_interval(means, np.full(len(means), 100))
    return Spread(float(means.mean()), low, high)


def score_text(score: Spread | None) -> str:
    """A score, with the range of the seeds if there are several.

    Example:
        >>> score_text(Spread(89.0, 88.0, 90.0)), score_text(Spread(89.0, 89.0, 89.0)), score_text(None)
        ('89.00 (88.00–90.00)', '89.00', '–')

    """
    if score is None:
        return MISSING
    return f"{score.mean:.2f}" + (f" ({score.low:.2f}–{score.high:.2f})" if score.low < score.high else "")


def difference_text(change: Spread | None) -> str:
    """A difference with its interval, bold if that does not hold zero; an interval of no width is left out.

    Example:
        >>> difference_text(Spread(0.3, 0.1, 0.5)), difference_text(Spread(-0.3, -0.7, 0.1))
        ('**+0.30** (+0.10 to +0.50)', '−0.30 (−0.70 to +0.10)')

    """
    if change is None:
        return MISSING
    mean, low, high = map(signed, (change.mean, change.low, change.high))
    if change.low == change.high:
        return mean
    return f"{f'**{mean}**' if change.sure else mean} ({low} to {high})"


def signed(value: float) -> str:
    """A number with its sign and two decimals."""
    return f"{value:+.2f}".replace("-", "−")


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, numbers to the right.

    Example:
        >>> print(markdown_table(["treebank", "UAS"], [["da", "89.00"]]), end="")
        | treebank | UAS |
        | --- | ---: |
        | da | 89.00 |

    """
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
