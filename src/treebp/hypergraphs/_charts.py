"""Tools for building large hypergraphs from whole arrays of hyperedges at once."""

from __future__ import annotations

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.hypergraphs.hypergraph import Hypergraph


class Spans:
    """Numbers chart items, `kinds` of them for each span i..j of `size` positions, narrow spans first.

    Among items of one span those of a lower kind come first, so that they can be antecedents of the others.
    """

    def __init__(self, size: int, kinds: int) -> None:
        self.size = size
        self.kinds = kinds
        self.count = kinds * size * (size + 1) // 2

    def __call__(self, kind: int | IntArray, i: int | IntArray, j: int | IntArray) -> IntArray:
        """Return the node numbers of items, `0 <= i <= j < size` and `0 <= kind < kinds`."""
        width = np.asarray(j) - i
        narrower = width * self.size - width * (width - 1) // 2
        return np.asarray(self.kinds * narrower + kind * (self.size - width) + i)


class EdgeGroups:
    """Collects arrays of hyperedges and sorts them by head."""

    def __init__(self) -> None:
        self._heads: list[IntArray] = []
        self._tails: list[IntArray] = []
        self._ties: list[IntArray] = []

    def add(self, heads: IntArray, *tails: IntArray, tie: int | IntArray = -1) -> None:
        """Add one hyperedge per entry of `heads`; each of `tails` holds one antecedent of every hyperedge."""
        self._heads.append(heads)
        self._tails.append(np.stack(tails, axis=1) if tails else np.zeros((len(heads), 0), np.int64))
        self._ties.append(np.broadcast_to(np.asarray(tie, np.int64), heads.shape))

    def build(self, nodes: int, root: int | None = None) -> tuple[Hypergraph, IntArray]:
        """Make the hypergraph and the ties of its hyperedges."""
        heads = np.concatenate(self._heads)
        order = np.argsort(heads, kind="stable")
        arity = np.concatenate([np.full(len(tails), tails.shape[1]) for tails in self._tails])
        padded = np.full((len(heads), max(tails.shape[1] for tails in self._tails)), -1)
        row = 0
        for tails in self._tails:
            padded[row : row + len(tails), : tails.shape[1]] = tails
            row += len(tails)
        flat = padded[order].ravel()
        offsets = np.concatenate(([0], np.cumsum(arity[order])))
        return Hypergraph(nodes, heads[order], flat[flat >= 0], offsets, root=root), np.concatenate(self._ties)[order]


def splits(size: int) -> IntArray:
    """List all i <= k < j below `size`, as an array of three rows."""
    i, k, j = np.ogrid[:size, :size, :size]
    return np.stack(np.nonzero((i <= k) & (k < j)))


def beyond(i: IntArray, j: IntArray, size: int) -> BoolArray:
    """Mark, for each span i..j, the positions below `size` that it does not cover: (spans, size)."""
    position = np.arange(size)
    return np.asarray((position < i[:, None]) | (position > j[:, None]))
