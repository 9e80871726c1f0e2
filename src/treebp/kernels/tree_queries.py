"""Queries on single trees and batches that need no sums over trees."""

import math

import numpy as np

from treebp._checks import LARGEST_SCORE
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.arborescence import best_arborescence
from treebp.kernels.eisner import best_projective
from treebp.kernels.tree_group import is_tree


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
def best_tree(arcs: FloatArray, size: int, projective: bool, single_root: bool, heads: IntArray) -> float:
    """Write the heads of the best tree of ``masked`` arcs; return its score, -inf where there is none."""
    best, settled = best_heads(arcs, size, projective, single_root, heads)
    if settled:
        return best
    if projective:
        return best_projective(arcs, size, single_root, heads)
    return best_arborescence(arcs, size, single_root, heads)


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
