"""What a kind of part is."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.bp.groups.protocol import Group
from treebp.features.hashing import HashedTemplates
from treebp.parsing.arcs import Batch

# Candidates on each side of a head, the nearest ones, among which parts of three arcs are sought: their number grows
# with the square or the cube of this, and children further away are few.
NEAREST = 12


class SiblingSequences(NamedTuple):
    """Arcs of each head to each side, nearest first.

    Attributes:
        arcs: those of all sequences, one sequence after the other.
        first: (sequences + 1,), where each begins.

    """

    arcs: IntArray
    first: IntArray


class Tuples(NamedTuple):
    """The parts of one kind in a batch.

    Attributes:
        arcs: (count, 2) or (count, 3), the arcs that must all be ON, numbered over the batch; -1 for one that is not
            there.
        positions: (count, 3) or (count, 4), of the words within their sentence; 0 is the root.
        first: (sentences + 1,), where each sentence's parts begin.
        sequences: for consecutive siblings, the sequences of which the parts are pairs of neighbours.

    """

    arcs: IntArray
    positions: IntArray
    first: IntArray
    sequences: SiblingSequences | None = None


class Part(ABC):
    """A kind of part: several arcs that are scored together.

    Attributes:
        name: as users write it.
        family: the seed that tells its features from those of other kinds with the same templates.
        templates: of its features, over its positions a, b, c and, if there are four, d.

    """

    name: ClassVar[str]
    family: ClassVar[int]
    templates: ClassVar[HashedTemplates]

    @property
    def words(self) -> int:
        """How many words it is about."""
        return len(self.templates.views[0].letters)

    @abstractmethod
    def list(self, batch: Batch, projective: bool) -> Tuples:
        """All parts of this kind on the candidate arcs of a batch; impossible ones are left out."""

    @abstractmethod
    def group(self, tuples: Tuples) -> Group:
        """The factors that carry them, with one potential per part."""

    def on(self, tuples: Tuples, arcs: BoolArray) -> BoolArray:
        """Which parts are ON, (count,), given which arcs of the batch are: those whose arcs all are."""
        on = arcs[tuples.arcs[:, 0]]
        for other in tuples.arcs.T[1:]:
            on &= arcs[other]
        return np.asarray(on)
