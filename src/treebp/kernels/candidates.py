"""Which arcs a sentence's factor graph has."""

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
