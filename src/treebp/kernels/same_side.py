"""Parts of several arcs on one side of a head: consecutive siblings, grand-siblings and tri-siblings.

Each function lists one kind, of all sentences of a batch: see ``treebp.kernels.candidates``; of three arcs there are
arcs (tuples, 3) and positions (tuples, 4).
"""

import numpy as np

from treebp._types import AnyArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.candidates import arcs_by_head

NO_ARC = -1


@kernel
def list_consecutive_siblings(
    sizes: IntArray, heads: IntArray, modifiers: IntArray, starts: IntArray
) -> tuple[AnyArray, AnyArray, IntArray, IntArray, IntArray]:
    """Every two arcs of a head on the same side, the nearer one first; and each arc as the nearest, and as the last.

    The arcs of a head on one side, nearest first, are a sequence of some length k. Its tuples are (i, j) for i from -1
    to k - 1 and j from i + 1 to k, in this order, without (-1, k). Numbers -1 and k stand for the two ends of the
    sequence: they are written as NO_ARC, and their position is the head's. Left sides come before right ones.

    Also returned are the arcs of all sequences, one after the other, and where each begins (sequences + 1,).
    """
    by_head, below = arcs_by_head(sizes, heads, starts)
    sequence_first = np.zeros(2 * len(starts) + 1, np.int64)
    sequence_arcs = np.empty(len(heads), np.int64)
    first = np.zeros(len(sizes) + 1, np.int64)
    sequences, count, position = 0, 0, 0
    for sentence in range(len(sizes)):
        for h in range(sizes[sentence]):
            begin, middle, end = _sides(by_head, below, modifiers, position, h)
            for side in range(2):
                length = middle - begin if side == 0 else end - middle
                if length > 0:
                    here = sequence_first[sequences]
                    for k in range(length):
                        sequence_arcs[here + k] = by_head[middle - 1 - k if side == 0 else middle + k]
                    sequences += 1
                    sequence_first[sequences] = here + length
                    count += (length + 1) * (length + 2) // 2 - 1
        position += sizes[sentence]
        first[sentence + 1] = count
    arcs, positions = np.empty((count, 2), np.int32), np.empty((count, 3), np.int32)
    p = 0
    for s in range(sequences):
        begin, end = sequence_first[s], sequence_first[s + 1]
        h = heads[sequence_arcs[begin]]
        for i in range(begin - 1, end):
            for j in range(i + 1, end + 1):
                if i >= begin or j < end:
                    positions[p, 0], positions[p, 1], positions[p, 2] = h, h, h
                    arcs[p, 0], arcs[p, 1] = NO_ARC, NO_ARC
                    if i >= begin:
                        arcs[p, 0], positions[p, 1] = sequence_arcs[i], modifiers[sequence_arcs[i]]
                    if j < end:
                        arcs[p, 1], positions[p, 2] = sequence_arcs[j], modifiers[sequence_arcs[j]]
                    p += 1
    return arcs, positions, first, sequence_arcs, sequence_first[: sequences + 1].copy()


@kernel
def list_grand_siblings(
    sizes: IntArray, heads: IntArray, modifiers: IntArray, starts: IntArray, projective: bool, nearest: int
) -> tuple[AnyArray, AnyArray, IntArray]:
    """Two arcs of a head on the same side, with an arc to that head: (grandparent, head, modifier, sibling).

    Modifier < sibling, and both are among the ``nearest`` candidates on their side. Tuples that no tree, or no
    projective tree where it has to be one, can hold are left out.
    """
    by_head, below = arcs_by_head(sizes, heads, starts)
    most, position = 0, 0
    for sentence in range(len(sizes)):
        for h in range(1, sizes[sentence]):
            begin, middle, end = _nearest_sides(by_head, below, modifiers, position, h, nearest)
            left, right = middle - begin, end - middle
            pairs = left * (left - 1) // 2 + right * (right - 1) // 2
            most += pairs * (starts[position + h] - starts[position + h - 1])
        position += sizes[sentence]
    arcs, positions = np.empty((most, 3), np.int32), np.empty((most, 4), np.int32)
    first = np.zeros(len(sizes) + 1, np.int64)
    position, arc, p = 0, 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        for h in range(1, size):
            begin, middle, end = _nearest_sides(by_head, below, modifiers, position, h, nearest)
            for i in range(begin, end):
                for j in range(i + 1, middle if i < middle else end):
                    m, s = modifiers[by_head[i]], modifiers[by_head[j]]
                    for a in range(arc + starts[position + h - 1], arc + starts[position + h]):
                        g = heads[a]
                        if g != m and g != s and not (projective and min(h, m) < g < max(h, s)):
                            arcs[p, 0], arcs[p, 1], arcs[p, 2] = a, by_head[i], by_head[j]
                            positions[p, 0], positions[p, 1], positions[p, 2], positions[p, 3] = g, h, m, s
                            p += 1
        position, arc = position + size, arc + starts[position + size - 1]
        first[sentence + 1] = p
    return arcs[:p], positions[:p], first


@kernel
def list_tri_siblings(
    sizes: IntArray, heads: IntArray, modifiers: IntArray, starts: IntArray, nearest: int
) -> tuple[AnyArray, AnyArray, IntArray]:
    """Three arcs of a head on the same side: positions (head, modifier, sibling, third), from left to right.

    All three are among the ``nearest`` candidates on their side.
    """
    by_head, below = arcs_by_head(sizes, heads, starts)
    count, position = 0, 0
    for sentence in range(len(sizes)):
        for h in range(sizes[sentence]):
            begin, middle, end = _nearest_sides(by_head, below, modifiers, position, h, nearest)
            for side in (middle - begin, end - middle):
                count += side * (side - 1) * (side - 2) // 6
        position += sizes[sentence]
    arcs, positions = np.empty((count, 3), np.int32), np.empty((count, 4), np.int32)
    first = np.zeros(len(sizes) + 1, np.int64)
    position, p = 0, 0
    for sentence in range(len(sizes)):
        for h in range(sizes[sentence]):
            begin, middle, end = _nearest_sides(by_head, below, modifiers, position, h, nearest)
            for i in range(begin, end):
                last = middle if i < middle else end
                for j in range(i + 1, last):
                    for k in range(j + 1, last):
                        arcs[p, 0], arcs[p, 1], arcs[p, 2] = by_head[i], by_head[j], by_head[k]
                        positions[p, 0], positions[p, 1] = h, modifiers[by_head[i]]
                        positions[p, 2], positions[p, 3] = modifiers[by_head[j]], modifiers[by_head[k]]
                        p += 1
        position += sizes[sentence]
        first[sentence + 1] = p
    return arcs, positions, first


@kernel
def _sides(by_head: IntArray, below: IntArray, modifiers: IntArray, position: int, h: int) -> tuple[int, int, int]:
    """Where a head's arcs to the left begin among those by head, where those to the right do, and where they end."""
    begin, end = below[position + h], below[position + h + 1]
    middle = begin
    while middle < end and modifiers[by_head[middle]] < h:
        middle += 1
    return begin, middle, end


@kernel
def _nearest_sides(
    by_head: IntArray, below: IntArray, modifiers: IntArray, position: int, h: int, nearest: int
) -> tuple[int, int, int]:
    """The same of the nearest arcs on each side."""
    begin, middle, end = _sides(by_head, below, modifiers, position, h)
    return max(begin, middle - nearest), middle, min(end, middle + nearest)
