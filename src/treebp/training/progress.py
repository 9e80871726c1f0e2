"""Who is told how training goes."""

from collections.abc import Callable
from dataclasses import dataclass

from treebp.parsing.reports import EpochReport


@dataclass(frozen=True)
class Progress:
    """Hears of the start of a piece of work and its words, of words done, and of epochs."""

    start: Callable[[str, int], None] = lambda what, words: None
    advance: Callable[[int], None] = lambda words: None
    epoch: Callable[[EpochReport], None] = lambda report: None
