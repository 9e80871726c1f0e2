"""Queries on single trees and batches that need no sums over trees.

Scores are matrices of heads and modifiers, or numbers for listed arcs as in ``treebp.kernels.tree_group``.
"""

import math
from collections.abc import Callable

import numpy as np

from treebp._checks import LARGEST_SCORE
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.arborescence import best_arborescence
from treebp.kernels.best_projective import best_projective


@kernel
def first_bad_score(scores: FloatArray, lengths: IntArray) -> tuple[int, int, int]:
    """(sentence, head, modifier) of the first arc with a score that is NaN, +inf or too large to add up, or -1s."""
    for b in range(len(lengths)):
        size = lengths[b] + 1
        for head in range(size):
            for modifier in range(1, size):
                score = scores[b, head, modifier]
                if head != modifier and not (score == -math.inf or abs(score) <= LARGEST_SCORE):
                    return b, head, modifier
    return -1, -1, -1


@kernel
def masked(scores: FloatArray, size: int) -> FloatArray:
    """The arcs of one sentence, with -inf on the diagonal and in the root's column."""
    out = np.empty((size, size))
    for head in range(size):
        for modifier in range(size):
            out[head, modifier] = -math.inf if modifier in (0, head) else scores[head, modifier]
    return out


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
def is_tree(heads: IntArray, projective: bool, single_root: bool) -> bool:
    """Whether heads (each in 0..n) form a tree of the given kind."""
    n = len(heads)
    roots = 0
    for modifier in range(1, n + 1):
        roots += heads[modifier - 1] == 0
        node = modifier
        steps = 0
        while node != 0:
            node = heads[node - 1]
            steps += 1
            if steps > n:
                return False
    if single_root and roots != 1:
        return False
    if projective:
        # Two arcs that cross: one end of the second lies strictly inside the first, the other strictly outside.
        for a in range(1, n + 1):
            low, high = min(a, heads[a - 1]), max(a, heads[a - 1])
            for b in range(low + 1, high):
                if heads[b - 1] < low or heads[b - 1] > high:
                    return False
    return True


@kernel
def best_heads(arcs: FloatArray, size: int, projective: bool, single_root: bool, heads: IntArray) -> tuple[float, bool]:
    """Write each word's best head of ``masked`` arcs; return the sum of their scores.

    And whether that settles it: they make a tree, than which none can be better, or there is none.
    """
    best = 0.0
    for modifier in range(1, size):
        head = 0
        for other in range(1, size):
            if arcs[other, modifier] > arcs[head, modifier]:
                head = other
        heads[modifier - 1] = head
        best += arcs[head, modifier]
    return best, best == -math.inf or is_tree(heads[: size - 1], projective, single_root)


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
def best_tree(arcs: FloatArray, size: int, projective: bool, single_root: bool, heads: IntArray) -> float:
    """Write the heads of the best tree of ``masked`` arcs; return its score, -inf where there is none."""
    best, settled = best_heads(arcs, size, projective, single_root, heads)
    if settled:
        return best
    if projective:
        return best_projective(arcs, size, single_root, heads)
    return best_arborescence(arcs, size, single_root, heads)


def search_of(projective: bool) -> Callable[[FloatArray, int, bool, IntArray], float]:
    """The part of `best_tree` that comes after `best_heads`: who needs one of them compiles one of them."""
    return best_projective if projective else best_arborescence


@kernel
def best_trees(
    scores: FloatArray, lengths: IntArray, projective: bool, single_root: bool, heads: IntArray
) -> FloatArray:
    """Write the best tree's heads of every sentence; return their scores, -inf where there is no tree."""
    best = np.empty(len(lengths))
    for b in range(len(lengths)):
        size = lengths[b] + 1
        best[b] = best_tree(masked(scores[b], size), size, projective, single_root, heads[b])
    return best


@kernel
def best_other_trees(
    arcs: FloatArray,
    projective: bool,
    single_root: bool,
    heads: IntArray,
    fixed: int,
    refused: BoolArray,
    trees: IntArray,
) -> FloatArray:
    """The best trees that differ from a tree first at each of its words from ``fixed`` on, and their scores.

    ``refused``, size of each, are heads of the word ``fixed`` that are not to be used either; row w of ``trees`` is for
    the word w, and the scores are -inf where there is no such tree.
    """
    size = len(arcs)
    part, column = arcs.copy(), np.empty(size)
    best = np.full(size - 1, -math.inf)
    for word in range(size - 1):
        column[:] = part[:, word + 1]
        part[:, word + 1] = -math.inf
        if word >= fixed:
            for head in range(size):
                if head != heads[word] and not (word == fixed and refused[head]):
                    part[head, word + 1] = column[head]
            best[word] = best_tree(part, size, projective, single_root, trees[word])
            part[:, word + 1] = -math.inf
        part[heads[word], word + 1] = column[heads[word]]
    return best
