"""The arcs that a parser looks at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.bp.groups.trees import Trees
from treebp.kernels.candidates import list_arcs
from treebp.kernels.tree_group import TreeArcs


@dataclass(frozen=True, slots=True)
class Arcs:
    """Candidate arcs of a sentence, sorted by modifier: those of m are ``starts[m - 1]`` to ``starts[m] - 1``."""

    heads: IntArray
    modifiers: IntArray
    starts: IntArray

    @classmethod
    def of(cls, keep: BoolArray) -> "Arcs":
        """The arcs marked in a matrix (n + 1, n + 1)."""
        return cls(*list_arcs(keep))

    def marked(self, heads: IntArray) -> BoolArray:
        """Which of the arcs belong to a tree, given by its heads (n,)."""
        return np.equal(heads[self.modifiers - 1], self.heads)

    def mask(self) -> BoolArray:
        """Which arcs there are, as a matrix (n + 1, n + 1): the reverse of ``of``."""
        size = len(self.starts)
        keep = np.zeros((size, size), np.bool_)
        keep[self.heads, self.modifiers] = True
        return keep

    def matrix(self, values: FloatArray, elsewhere: float) -> FloatArray:
        """One value per arc as a matrix (n + 1, n + 1)."""
        size = len(self.starts)
        matrix = np.full((size, size), elsewhere)
        matrix[self.heads, self.modifiers] = values
        return matrix


@dataclass(frozen=True, slots=True)
class Batch:
    """Several sentences and their candidate arcs, laid end to end.

    ``sizes`` (sentences,) holds the number of positions of each, n + 1; ``tokens`` their rows, size + 2 of each;
    ``heads`` and ``modifiers`` their arcs; ``starts``, size of each, says where the arcs of a modifier begin, counted
    from the sentence's first one, and how many arcs there are. ``forms``, for scorers that read characters, holds those
    of each sentence's words, or nothing.
    """

    sizes: IntArray
    tokens: IntArray
    heads: IntArray
    modifiers: IntArray
    starts: IntArray
    forms: Sequence[Sequence[str]] = ()

    @classmethod
    def of(cls, tokens: Sequence[IntArray], arcs: Sequence[Arcs], forms: Sequence[Sequence[str]] = ()) -> "Batch":
        """Lay sentences end to end; there must be one at least."""
        return cls(
            np.array([len(one.starts) for one in arcs]),
            np.concatenate(tokens),
            np.concatenate([one.heads for one in arcs]),
            np.concatenate([one.modifiers for one in arcs]),
            np.concatenate([one.starts for one in arcs]),
            forms,
        )

    @property
    def first(self) -> IntArray:
        """(sentences + 1,) where the arcs of each sentence begin."""
        return np.concatenate(([0], np.cumsum(self.starts[np.cumsum(self.sizes) - 1])))

    @property
    def words(self) -> int:
        """How many words the sentences have."""
        return int(self.sizes.sum()) - len(self.sizes)

    def trees(self, *, projective: bool, single_root: bool) -> Trees:
        """The factor that the arcs of each sentence, but for those without words, form a tree."""
        sizes, starts = self.sizes, self.starts
        if (sizes == 1).any():
            starts = starts[np.repeat(sizes > 1, sizes)]
            sizes = sizes[sizes > 1]
        ends = np.cumsum(starts[np.cumsum(sizes) - 1])
        arcs = TreeArcs(sizes, np.concatenate(([0], ends)), self.heads, self.modifiers, starts)
        return Trees.of_arcs(arcs, projective=projective, single_root=single_root)

    @property
    def arcs(self) -> list[Arcs]:
        """The arcs of each sentence."""
        parts = self.split(self.heads), self.split(self.modifiers), split(self.starts, self.sizes)
        return [Arcs(*each) for each in zip(*parts, strict=True)]

    def largest(self, values: FloatArray) -> FloatArray:
        """(sentences,) the largest of what there is one of per arc; 0 where a sentence has none."""
        first = self.first
        out, some = np.zeros(len(self.sizes)), np.diff(first) > 0
        if some.any():
            out[some] = np.maximum.reduceat(values, first[:-1][some])
        return out

    def split(self, values: AnyArray) -> list[AnyArray]:
        """What there is one of per arc, sentence by sentence."""
        return split(values, self.starts[np.cumsum(self.sizes) - 1])

    def __iter__(self) -> Iterator[tuple[IntArray, Arcs]]:
        """Each sentence alone: its tokens and arcs."""
        return zip(split(self.tokens, self.sizes + 2), self.arcs, strict=True)


def split(values: AnyArray, counts: IntArray) -> list[AnyArray]:
    """Cut an array into pieces of these lengths."""
    return [values[begin:end] for begin, end in pairwise(accumulate(counts.tolist(), initial=0))]
