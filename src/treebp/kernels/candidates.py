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
def select_heads(marginals: FloatArray, always: int, ratio: float, most: int, keep: BoolArray) -> None:
    """Keep at most ``most`` heads of a modifier, those with a marginal of at least ``ratio`` times the best one.

    The head number ``always`` is kept whatever its marginal is, so that there is a tree.
    """
    bound = ratio * marginals.max()
    count = 0
    for head in range(len(marginals)):
        keep[head] = head == always or (marginals[head] > 0.0 and marginals[head] >= bound)
        count += keep[head]
    while count > most:  # drop the worst one
        worst, lowest = -1, np.inf
        for head in range(len(marginals)):
            if keep[head] and head != always and marginals[head] < lowest:
                worst, lowest = head, marginals[head]
        if worst < 0:
            break
        keep[worst] = False
        count -= 1


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
