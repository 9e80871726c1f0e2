"""Where words, pairs and triples of words of a batch are in dense arrays, one for each few sentences of like length."""

from typing import NamedTuple

import numpy as np

from treebp._types import IntArray

_WASTE = 1.25  # sentences that share an array are at most so much shorter than the longest of them


class Layout(NamedTuple):
    """How the sentences of a batch are grouped.

    Attributes:
        sizes: (sentences,) rows of each.
        first: (sentences,) where the rows of each begin.
        groups: of each group of b sentences the rows of their words, (b, width); any row stands for none.
        width: (sentences,) of each one's group.
        pairs, triples: (sentences,) where those of each begin in the arrays (b, width, width) and (b, width, width,
            width) of all groups, one behind the other.

    """

    sizes: IntArray
    first: IntArray
    groups: list[IntArray]
    width: IntArray
    pairs: IntArray
    triples: IntArray

    @classmethod
    def of(cls, sizes: IntArray) -> "Layout":
        """Group sentences of these sizes."""
        first = np.cumsum(sizes) - sizes
        order = np.argsort(-sizes, kind="stable")
        groups: list[IntArray] = []
        width, pairs, triples = (np.empty_like(sizes) for _ in range(3))
        begin = of_pairs = of_triples = 0
        while begin < len(order):
            most = int(sizes[order[begin]])
            end = begin + int((sizes[order[begin:]] * _WASTE >= most).sum())
            members = order[begin:end]
            columns = np.arange(most)
            groups.append(np.where(columns < sizes[members, None], first[members, None] + columns, 0))
            places = np.arange(len(members))
            width[members], pairs[members] = most, of_pairs + places * most**2
            triples[members] = of_triples + places * most**3
            of_pairs, of_triples = of_pairs + len(members) * most**2, of_triples + len(members) * most**3
            begin = end
        return cls(sizes, first, groups, width, pairs, triples)

    def pair_places(self, sentences: IntArray, one: IntArray, other: IntArray) -> IntArray:
        """Where pairs of positions in these sentences are in the arrays."""
        return np.asarray(self.pairs[sentences] + one * self.width[sentences] + other)

    def triple_places(self, sentences: IntArray, positions: IntArray) -> IntArray:
        """Where triples (count, 3) of positions in these sentences are in the arrays."""
        width = self.width[sentences]
        one, two, three = positions.T
        return np.asarray(self.triples[sentences] + (one * width + two) * width + three)
