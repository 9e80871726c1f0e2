"""What is told of how a parser was made."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebp._types import BoolArray, IntArray


@dataclass(frozen=True)
class EpochReport:
    """One epoch of training, as shown in the table and written to the log.

    A parser's file leaves ``words_per_second`` out, so that equal runs give equal bytes.
    """

    objective: str
    epoch: int
    value: float
    dev_uas: float
    dev_las: float
    rate: float
    best: bool
    words_per_second: float | None = None
    tags: str = "gold"


@dataclass(frozen=True)
class PruningReport:
    """What pruning leaves of a set of sentences: the share of right heads, and heads per word."""

    oracle: float
    heads: float

    @classmethod
    def of(cls, keep: Sequence[BoolArray], trees: Sequence[IntArray]) -> "PruningReport":
        """Measure the arcs kept of each sentence against its tree."""
        words = sum(map(len, trees))
        right = sum(
            int(kept[heads, np.arange(1, len(heads) + 1)].sum()) for kept, heads in zip(keep, trees, strict=True)
        )
        return cls(right / words, sum(int(kept.sum()) for kept in keep) / words)
