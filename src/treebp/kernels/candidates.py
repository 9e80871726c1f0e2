"""Which arcs and which pairs of arcs a sentence's factor graph has."""

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel


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
def select_arcs(marginals: FloatArray, tree: IntArray, ratio: float, most: int) -> BoolArray:
    """Keep, for every modifier, at most ``most`` heads, with a marginal of at least ``ratio`` times the best one.

    The arcs of ``tree`` are always kept, so that there is a tree.
    """
    size = len(marginals)
    keep = np.zeros((size, size), np.bool_)
    good = np.empty(size, np.int64)
    for modifier in range(1, size):
        best = 0.0
        for head in range(size):
            best = max(best, marginals[head, modifier])
        keep[tree[modifier - 1], modifier] = True
        count = 0
        for head in range(size):
            p = marginals[head, modifier]
            if p > 0.0 and p >= ratio * best and head != tree[modifier - 1]:
                good[count] = head
                count += 1
        while count > most - 1:  # drop the worst one
            worst = 0
            for k in range(1, count):
                if marginals[good[k], modifier] < marginals[good[worst], modifier]:
                    worst = k
            count -= 1
            good[worst] = good[count]
        for head in good[:count]:
            keep[head, modifier] = True
    return keep


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
def list_pairs(
    heads: IntArray, modifiers: IntArray, starts: IntArray, sibling: bool, grandparent: bool, projective: bool
) -> tuple[IntArray, IntArray, IntArray, int]:
    """Pairs of arcs with a factor: their indices, the three positions of each, and how many are siblings.

    Siblings come first, as (head, modifier, sibling) with modifier < sibling; then (grandparent, head, modifier).
    Pairs that no projective tree can hold are left out where the tree is projective.
    """
    size = len(starts)
    below = np.zeros(size + 1, np.int64)  # arcs by head: those of h are by_head[below[h]] to by_head[below[h + 1] - 1]
    for a in range(len(heads)):
        below[heads[a] + 1] += 1
    below = np.cumsum(below)
    by_head = np.empty(len(heads), np.int64)
    fill = below.copy()
    for a in range(len(heads)):
        by_head[fill[heads[a]]] = a
        fill[heads[a]] += 1
    most = 0
    for h in range(size):
        children = below[h + 1] - below[h]
        parents = starts[h] - starts[h - 1] if h > 0 else 0
        most += sibling * (children * (children - 1) // 2) + grandparent * children * parents
    first, second = np.empty(most, np.int64), np.empty(most, np.int64)
    triples = np.empty((most, 3), np.int64)
    p = 0
    if sibling:
        for h in range(size):
            for i in range(below[h], below[h + 1]):
                for j in range(i + 1, below[h + 1]):
                    first[p], second[p] = by_head[i], by_head[j]
                    triples[p] = h, modifiers[by_head[i]], modifiers[by_head[j]]
                    p += 1
    siblings = p
    if grandparent:
        for h in range(1, size):
            for a in range(starts[h - 1], starts[h]):
                g = heads[a]
                for j in range(below[h], below[h + 1]):
                    m = modifiers[by_head[j]]
                    if m != g and not (projective and min(h, m) < g < max(h, m)):
                        first[p], second[p] = a, by_head[j]
                        triples[p] = g, h, m
                        p += 1
    return first[:p], second[:p], triples[:p], siblings
