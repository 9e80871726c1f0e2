"""Queries on the arcs of several trees, laid end to end: where they begin, which are best, and which are worth keeping.

``sizes`` holds the number of positions of each tree, one more than words, position 0 being the root; ``heads`` and
``modifiers`` its arcs, sorted by modifier; ``starts``, size of each, where the arcs of a modifier begin, counted from
the tree's first one, and how many there are.
"""

import math

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.candidates import select_heads
from treebp.kernels.tree_queries import is_tree


@kernel
def first_arcs(sizes: IntArray, modifiers: IntArray) -> IntArray:
    """Where each tree's arcs begin (trees + 1,), every modifier having one at least; -1 at the end if none fits."""
    first = np.zeros(len(sizes) + 1, np.int64)
    arc = 0
    for t in range(len(sizes)):
        first[t] = arc
        for modifier in range(1, sizes[t]):
            begin = arc
            while arc < len(modifiers) and modifiers[arc] == modifier and (sizes[t] > 2 or arc == begin):
                arc += 1
            if arc == begin:
                first[-1] = -1
                return first
    first[-1] = arc if arc == len(modifiers) else -1
    return first


@kernel
def arc_matrix(size: int, heads: IntArray, modifiers: IntArray, scores: FloatArray) -> FloatArray:
    """Scores of arcs by head and modifier, -inf for those that are not there."""
    matrix = np.full((size, size), -math.inf)
    for a in range(len(heads)):
        matrix[heads[a], modifiers[a]] = scores[a]
    return matrix


@kernel
def best_heads_of_arcs(
    sizes: IntArray,
    heads: IntArray,
    starts: IntArray,
    scores: FloatArray,
    projective: bool,
    single_root: bool,
) -> tuple[IntArray, BoolArray]:
    """The best heads of all words, and for which trees that settles it: as ``best_heads``, without a matrix."""
    found, settled = np.empty(sizes.sum() - len(sizes), np.int64), np.empty(len(sizes), np.bool_)
    position, arc, word = 0, 0, 0
    for t in range(len(sizes)):
        size, some_tree = sizes[t], True
        for modifier in range(1, size):
            head, best = 0, -math.inf
            for a in range(arc + starts[position + modifier - 1], arc + starts[position + modifier]):
                if scores[a] > best or (scores[a] == best and heads[a] < head):
                    head, best = heads[a], scores[a]
            found[word + modifier - 1] = head
            some_tree &= best > -math.inf
        settled[t] = not some_tree or is_tree(found[word : word + size - 1], projective, single_root)
        position, arc, word = position + size, arc + starts[position + size - 1], word + size - 1
    return found, settled


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
