"""Inference, pruning and decoding of several sentences in one call.

Every call from Python takes time, and its turn for the interpreter's lock. So sentences are laid end to end:
``sizes`` holds the number of positions of each, n + 1; ``tokens`` their rows, size + 2 of each; ``heads`` and
``modifiers`` their arcs; ``starts``, size of each, says where the arcs of a modifier begin, counted from the sentence's
first one, and how many arcs there are. ``features`` and ``structure`` are as in ``treebp.kernels.sentence``.
"""

import math

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.candidates import list_arcs, select_arcs
from treebp.kernels.second_order import forward
from treebp.kernels.sentence import Features, Structure, score
from treebp.kernels.tree_factor import CHARTS
from treebp.kernels.tree_queries import best_tree


@kernel
def infer(
    sizes: IntArray,
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    features: Features,
    structure: Structure,
    weights: AnyArray,
    iterations: int,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Beliefs of all arcs, NaN where there is no tree, and two numbers for each sentence.

    These are the largest change of a belief in the last iteration, 0 without pairs (the beliefs are then exact), and
    the number of pairs.
    """
    beliefs = np.empty(len(heads))
    residuals, pairs = np.zeros(len(sizes)), np.zeros(len(sizes), np.int64)
    row, position, arc = 0, 0, 0
    for s in range(len(sizes)):
        size = sizes[s]
        own_starts = starts[position : position + size]
        end = arc + own_starts[-1]
        if size > 1:
            own_heads, own_modifiers = heads[arc:end], modifiers[arc:end]
            scores, pair_scores, first, second, _, _ = score(
                tokens[row : row + size + 2], own_heads, own_modifiers, own_starts, features, structure, weights
            )
            pairs[s] = len(first)
            trees, messages = np.empty((2, 1, size, size)), np.empty((2, 1, 2, len(first)))
            charts, log_partitions, in_logs = np.empty((1, CHARTS, size, size)), np.empty(1), np.empty(1, np.bool_)
            residual = forward(
                scores, pair_scores, first, second, own_heads, own_modifiers, own_starts,
                iterations if len(first) > 0 else 1, structure[0], structure[1], False, trees[0], trees[1], charts,
                messages[0], messages[1], beliefs[arc:end], log_partitions, in_logs,
            )  # fmt: skip
            if len(first) > 0:
                residuals[s] = residual
        row, position, arc = row + size + 2, position + size, end
    return beliefs, residuals, pairs


@kernel
def prune(
    sizes: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    beliefs: FloatArray,
    structure: Structure,
    ratio: float,
    most: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Heads, modifiers and starts of the arcs to keep: see ``select_arcs``."""
    kept_heads, kept_modifiers, kept_starts = np.empty_like(heads), np.empty_like(heads), np.empty_like(starts)
    trees = best_trees(sizes, heads, modifiers, starts, beliefs, structure)
    position, arc, word, count = 0, 0, 0, 0
    for s in range(len(sizes)):
        size = sizes[s]
        end = arc + starts[position + size - 1]
        marginals = np.zeros((size, size))
        for a in range(arc, end):
            marginals[heads[a], modifiers[a]] = beliefs[a]
        keep = select_arcs(marginals, trees[word : word + size - 1], ratio, most)
        own_heads, own_modifiers, own_starts = list_arcs(keep)
        kept_heads[count : count + len(own_heads)] = own_heads
        kept_modifiers[count : count + len(own_heads)] = own_modifiers
        kept_starts[position : position + size] = own_starts
        position, arc, word, count = position + size, end, word + size - 1, count + len(own_heads)
    return kept_heads[:count].copy(), kept_modifiers[:count].copy(), kept_starts  # a parse may be kept for long


@kernel
def best_trees(
    sizes: IntArray, heads: IntArray, modifiers: IntArray, starts: IntArray, scores: FloatArray, structure: Structure
) -> IntArray:
    """The heads of all words in the trees whose arcs have the highest sums of scores; there must be one for each."""
    trees = np.empty(sizes.sum() - len(sizes), np.int64)
    position, arc, word = 0, 0, 0
    for s in range(len(sizes)):
        size = sizes[s]
        end = arc + starts[position + size - 1]
        arcs = np.full((size, size), -math.inf)
        for a in range(arc, end):
            arcs[heads[a], modifiers[a]] = scores[a]
        best_tree(arcs, size, structure[0], structure[1], trees[word : word + size - 1])
        position, arc, word = position + size, end, word + size - 1
    return trees
