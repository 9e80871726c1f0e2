"""Sequences to be labelled, laid end to end, and what labels are made of."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import AnyArray, IntArray
from treebp.bp.groups.chains import chain_layout
from treebp.kernels.chain import ChainLayout


@dataclass(frozen=True)
class LabelSet:
    """Labels and their parts: those that have a part in common share what is learnt of it.

    Attributes:
        parts: (labels, parts) the column of each part, -1 for one that a label does not have.
        chained: for how many of the first parts, which all labels must have, transitions are scored.

    """

    parts: IntArray
    chained: int

    def __post_init__(self) -> None:
        if (self.parts[:, : self.chained] < 0).any():
            raise ValueError(f"every label needs the {self.chained} parts that transitions are scored for")

    @classmethod
    def plain(cls, count: int) -> "LabelSet":
        """Labels that have nothing in common."""
        return cls(np.arange(count)[:, None], 1)

    @classmethod
    def of_parts(cls, parts: Sequence[Sequence[Hashable]], chained: int) -> "LabelSet":
        """Labels with these parts, None for one that a label does not have.

        >>> LabelSet.of_parts([("NOUN", "Sing"), ("NOUN", "Plur"), ("ADV", None)], chained=1).parts
        array([[ 0,  1],
               [ 0,  2],
               [ 3, -1]])
        """
        numbers: dict[tuple[int, Hashable], int] = {}
        columns = [
            [-1 if part is None else numbers.setdefault((place, part), len(numbers)) for place, part in enumerate(own)]
            for own in parts
        ]
        return cls(np.array(columns, np.int64), chained)

    @property
    def columns(self) -> int:
        """How many different parts there are."""
        return int(self.parts.max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True)
class Sequences:
    """Sequences laid end to end, with the labels that each position may have.

    Attributes:
        lengths: (sequences,) at least one position each.
        values: (positions, attributes), int32: what templates look at.
        start: (positions + 1,) where the candidates of each position begin.
        candidates: numbers of labels, at least one for each position, int32.

    """

    lengths: IntArray
    values: AnyArray
    start: IntArray
    candidates: AnyArray

    @classmethod
    def with_all_labels(cls, lengths: ArrayLike, values: AnyArray, labels: int) -> "Sequences":
        """Sequences whose positions may have any label."""
        start = np.arange(len(values) + 1) * labels
        candidates = np.tile(np.arange(labels, dtype=np.int32), len(values))
        return cls(np.asarray(lengths, np.int64), values, start, candidates)

    @classmethod
    def joined(cls, parts: Sequence["Sequences"]) -> "Sequences":
        """All sequences of several, in order; at least one."""
        if len(parts) == 1:
            return parts[0]
        ends = np.cumsum([part.start[-1] for part in parts])
        return cls(
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate(
                [[0], *(part.start[1:] + end - part.start[-1] for part, end in zip(parts, ends, strict=True))]
            ),
            np.concatenate([part.candidates for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def layout(self) -> ChainLayout:
        """The chains over candidates."""
        return chain_layout(self.lengths, np.diff(self.start))

    def entries(self, labels: AnyArray) -> IntArray:
        """Where among all candidates a label of each position (positions,) stands; ValueError if it is none."""
        found = np.flatnonzero(self.candidates == np.repeat(labels, np.diff(self.start)))
        positions = np.searchsorted(self.start, found, side="right") - 1
        if len(found) != len(labels) or (positions != np.arange(len(labels))).any():
            raise ValueError("a position's label is not among its candidates")
        return found

    def take(self, numbers: IntArray) -> tuple["Sequences", IntArray]:
        """Some of the sequences, in this order, and which positions these are."""
        first = np.concatenate(([0], np.cumsum(self.lengths)))
        lengths = self.lengths[numbers]
        positions = _ranges(first[numbers], lengths)
        counts = np.diff(self.start)[positions]
        entries = _ranges(self.start[positions], counts)
        start = np.concatenate(([0], np.cumsum(counts)))
        return Sequences(lengths, self.values[positions], start, self.candidates[entries]), positions


def _ranges(begin: IntArray, counts: IntArray) -> IntArray:
    """The numbers from each begin on, as many as each counts, end to end."""
    return np.asarray(np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum()))
