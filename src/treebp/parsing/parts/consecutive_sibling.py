"""Two children of a head on the same side with none between them: (head, nearer one, next one).

The first and the last child of a side are parts too, with the head's own position where there is no child.
"""

import numpy as np

from treebp._types import BoolArray
from treebp.bp.groups.protocol import Group
from treebp.bp.groups.successions import Successions
from treebp.kernels.features import CONSECUTIVE_SIBLING
from treebp.kernels.same_side import list_consecutive_siblings
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import Part, SiblingSequences, Tuples
from treebp.parsing.parts.positions import OF_THREE


class ConsecutiveSibling(Part):
    """The consecutive siblings of Martins et al. (2013), as one chain for each side of each head."""

    name = "consecutive-sibling"
    family = CONSECUTIVE_SIBLING
    templates = OF_THREE

    def list(self, batch: Batch, projective: bool) -> Tuples:
        """What can follow what on each side of each head: see the kernel for the order."""
        arcs, positions, first, of_sequences, sequence_first = list_consecutive_siblings(
            batch.sizes, batch.heads, batch.modifiers, batch.starts
        )
        return Tuples(arcs, positions, first, SiblingSequences(of_sequences, sequence_first))

    def group(self, tuples: Tuples) -> Group:
        """A factor on each side of a head, with a potential for each succession."""
        assert tuples.sequences is not None
        return Successions(tuples.sequences.arcs, tuples.sequences.first)

    def on(self, tuples: Tuples, arcs: BoolArray) -> BoolArray:
        """Both arcs, as far as there are two, and none of the sequence between them."""
        assert tuples.sequences is not None
        order, first = tuples.sequences
        place = np.empty(len(arcs), np.int64)  # of each arc in the sequences
        place[order] = np.arange(len(order))
        before = np.concatenate(([0], np.cumsum(arcs[order])))  # how many are ON before each place
        sequence = np.searchsorted(
            first, place[np.where(tuples.arcs[:, 0] < 0, tuples.arcs[:, 1], tuples.arcs[:, 0])], "right"
        )
        begin = np.where(tuples.arcs[:, 0] < 0, first[sequence - 1], place[tuples.arcs[:, 0]] + 1)
        end = np.where(tuples.arcs[:, 1] < 0, first[sequence], place[tuples.arcs[:, 1]])
        both = (arcs[tuples.arcs] | (tuples.arcs < 0)).all(axis=1)
        return np.asarray(both & (before[begin] == before[end]))
