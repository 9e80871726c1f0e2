"""Which arcs, and which pairs of arcs, the factor graph of a batch has.

Sentences are laid end to end as in ``treebp.parsing.arcs.Batch``: ``sizes`` holds the number of positions of each, one
more than words, position 0 being the root; ``heads`` and ``modifiers`` its arcs, sorted by modifier; ``starts``, size
of each, where the arcs of a modifier begin, counted from the sentence's first arc, and how many there are.

What lists a kind of part returns the arcs of each tuple (tuples, 2), numbered over the batch; its positions
(tuples, 3), within the sentence; and where each sentence's tuples begin (sentences + 1,). There may be very many
tuples: their numbers are int32.
"""

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel


@kernel
def within_bounds(tags: IntArray, bounds: IntArray) -> BoolArray:
    """Arcs no longer than ``bounds[head tag, modifier tag, direction]``, 0 being no bound.

    Tags beyond the bounds' range are not bounded. Arcs from the root and from a word to the next one are always in, so
    that a tree remains.
    """
    size = len(tags)
    allowed = np.ones((size, size), np.bool_)
    for head in range(size):
        allowed[head, 0] = False
        allowed[head, head] = False
        if head > 0 and tags[head] < len(bounds):
            for modifier in range(1, size):
                if tags[modifier] < len(bounds) and modifier != head + 1:
                    bound = bounds[tags[head], tags[modifier], int(head < modifier)]
                    if 0 < bound < abs(modifier - head):
                        allowed[head, modifier] = False
    return allowed


@kernel
def list_arcs(keep: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Heads and modifiers of the arcs kept, sorted by modifier; those of m are starts[m - 1] to starts[m] - 1."""
    size = len(keep)
    count = keep.sum()
    heads, modifiers = np.empty(count, np.int64), np.empty(count, np.int64)
    starts = np.zeros(size, np.int64)
    a = 0
    for modifier in range(1, size):
        for head in range(size):
            if keep[head, modifier]:
                heads[a], modifiers[a] = head, modifier
                a += 1
        starts[modifier] = a
    return heads, modifiers, starts


@kernel
def select_heads(marginals: FloatArray, always: int, ratio: float, most: int, keep: BoolArray) -> None:
    """Keep at most ``most`` heads of a modifier, those with a marginal of at least ``ratio`` times the best one.

    The head number ``always`` is kept whatever its marginal is, so that there is a tree.
    """
    bound, count = 0.0, 0
    for head in range(len(marginals)):
        bound = max(bound, ratio * marginals[head])
    for head in range(len(marginals)):
        keep[head] = (head == always) | ((marginals[head] > 0.0) & (marginals[head] >= bound))
        count += keep[head]
    if count <= most:
        return
    for head in range(len(marginals)):
        if keep[head] and head != always:
            marginal = marginals[head]
            better = int(not _comes_first(marginals, always, head))  # it takes its place even so
            for other in range(head):
                better += marginals[other] > marginal
            for other in range(head + 1, len(marginals)):
                better += marginals[other] >= marginal
            keep[head] = better < most


@inlined
def _comes_first(marginals: FloatArray, one: int, other: int) -> bool:
    """Whether a head is better than another one or, if they are alike, to its right."""
    return marginals[one] > marginals[other] or (marginals[one] == marginals[other] and one > other)


@kernel
def prune(
    sizes: IntArray,
    heads: IntArray,
    starts: IntArray,
    beliefs: FloatArray,
    trees: IntArray,
    ratio: float,
    most: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Heads, modifiers and starts of the arcs to keep, those of ``trees`` always: see ``select_heads``."""
    kept_heads, kept_modifiers, kept_starts = np.empty_like(heads), np.empty_like(heads), np.empty_like(starts)
    keep = np.empty(len(heads), np.bool_)
    position, arc, word, count = 0, 0, 0, 0
    for s in range(len(sizes)):
        size, first = sizes[s], count
        kept_starts[position] = 0
        for modifier in range(1, size):
            begin, end = arc + starts[position + modifier - 1], arc + starts[position + modifier]
            always = -1
            for a in range(begin, end):
                if heads[a] == trees[word + modifier - 1]:
                    always = a - begin
            select_heads(beliefs[begin:end], always, ratio, most, keep[begin:end])
            for a in range(begin, end):
                if keep[a]:
                    kept_heads[count], kept_modifiers[count] = heads[a], modifier
                    count += 1
            kept_starts[position + modifier] = count - first
        position, arc, word = position + size, arc + starts[position + size - 1], word + size - 1
    return kept_heads[:count].copy(), kept_modifiers[:count].copy(), kept_starts  # a parse may be kept for long


@kernel
def arcs_by_head(sizes: IntArray, heads: IntArray, starts: IntArray) -> tuple[IntArray, IntArray]:
    """Arcs by head, from left to right, and where those of each position of the batch begin (positions + 1,)."""
    below = np.zeros(len(starts) + 1, np.int64)
    by_head = np.empty(len(heads), np.int64)
    position, arc = 0, 0
    for sentence in range(len(sizes)):
        end = arc + starts[position + sizes[sentence] - 1]
        for a in range(arc, end):
            below[position + heads[a] + 1] += 1
        position, arc = position + sizes[sentence], end
    for x in range(len(starts)):
        below[x + 1] += below[x]
    fill = below.copy()
    position, arc = 0, 0
    for sentence in range(len(sizes)):
        end = arc + starts[position + sizes[sentence] - 1]
        for a in range(arc, end):
            by_head[fill[position + heads[a]]] = a
            fill[position + heads[a]] += 1
        position, arc = position + sizes[sentence], end
    return by_head, below


@kernel
def list_siblings(
    sizes: IntArray, heads: IntArray, modifiers: IntArray, starts: IntArray
) -> tuple[AnyArray, AnyArray, IntArray]:
    """Every two arcs of the same head: positions (head, modifier, sibling), modifier < sibling."""
    by_head, below = arcs_by_head(sizes, heads, starts)
    count = 0
    for x in range(len(starts)):
        children = below[x + 1] - below[x]
        count += children * (children - 1) // 2
    arcs, positions = np.empty((count, 2), np.int32), np.empty((count, 3), np.int32)
    first = np.zeros(len(sizes) + 1, np.int64)
    position, p = 0, 0
    for sentence in range(len(sizes)):
        for h in range(sizes[sentence]):
            begin, end = below[position + h], below[position + h + 1]
            for i in range(begin, end):
                for j in range(i + 1, end):
                    arcs[p, 0], arcs[p, 1] = by_head[i], by_head[j]
                    positions[p, 0], positions[p, 1], positions[p, 2] = h, modifiers[by_head[i]], modifiers[by_head[j]]
                    p += 1
        position += sizes[sentence]
        first[sentence + 1] = p
    return arcs, positions, first


@kernel
def list_grandparents(
    sizes: IntArray, heads: IntArray, modifiers: IntArray, starts: IntArray, projective: bool
) -> tuple[AnyArray, AnyArray, IntArray]:
    """Every two arcs of which one begins where the other ends: positions (grandparent, head, modifier).

    Those that no projective tree can hold are left out where the tree is projective.
    """
    by_head, below = arcs_by_head(sizes, heads, starts)
    most, position = 0, 0
    for sentence in range(len(sizes)):
        for x in range(position + 1, position + sizes[sentence]):
            most += (starts[x] - starts[x - 1]) * (below[x + 1] - below[x])
        position += sizes[sentence]
    arcs, positions = np.empty((most, 2), np.int32), np.empty((most, 3), np.int32)
    first = np.zeros(len(sizes) + 1, np.int64)
    position, arc, p = 0, 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        for h in range(1, size):
            for a in range(arc + starts[position + h - 1], arc + starts[position + h]):
                g = heads[a]
                for j in range(below[position + h], below[position + h + 1]):
                    m = modifiers[by_head[j]]
                    if m != g and not (projective and min(h, m) < g < max(h, m)):
                        arcs[p, 0], arcs[p, 1] = a, by_head[j]
                        positions[p, 0], positions[p, 1], positions[p, 2] = g, h, m
                        p += 1
        position, arc = position + size, arc + starts[position + size - 1]
        first[sentence + 1] = p
    return arcs[:p], positions[:p], first
