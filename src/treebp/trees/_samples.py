"""Exact samples of the dependency trees of one sentence.

`scores[head, modifier]` has -inf wherever there is no arc, and allows at least one tree. The rows of `draws`, shape
(samples, n), are filled with the heads of independent trees.
"""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels import eisner, log_eisner, matrix_tree, spanning_sample
from treebp.kernels.arc_weights import arc_weights

# Wilson's sampler is used when it is expected to need no more steps than this per word.
_WALK_LIMIT = 1000.0


def sample_projective(scores: FloatArray, single_root: bool, draws: IntArray, rng: np.random.Generator) -> None:
    """Projective trees: from the top of the chart down."""
    size = len(scores)
    charts, slopes = np.empty((eisner.CHARTS, size, size)), np.empty((eisner.CHARTS, size, size))
    log_eisner.log_inside(scores, np.zeros((size, size)), size, single_root, charts, slopes)
    for heads in draws:
        log_eisner.sample(scores, size, single_root, charts, rng, heads)


def sample_with_one_root(
    scores: FloatArray, root_marginals: FloatArray, draws: IntArray, rng: np.random.Generator
) -> None:
    """Non-projective trees with one root word, given the probability of each position to be that word.

    Given the root word, what is left is a tree of any number of modifiers below that word.
    """
    size = len(scores)
    roots = rng.choice(size, size=len(draws), p=root_marginals / root_marginals.sum())
    for root in np.unique(roots):
        order = np.concatenate(([root], np.delete(np.arange(1, size), root - 1)))
        rows = np.flatnonzero(roots == root)
        below = np.empty((len(rows), size - 2), np.int64)
        if size > 2:
            sample_below_root(scores[np.ix_(order, order)], below, rng)
        draws[rows, root - 1] = 0
        draws[np.ix_(rows, order[1:] - 1)] = order[below]


def sample_below_root(scores: FloatArray, draws: IntArray, rng: np.random.Generator) -> None:
    """Non-projective trees with any number of modifiers below node 0."""
    size = len(scores)
    logits, weights, matrix = np.empty((3, size, size))
    arc_weights(scores, size, logits, weights)
    # A word's total weight, times d log Z / d (weight of the root as its head), which the swept diagonal is.
    swept = not np.isnan(matrix_tree.sweep(weights, size, False, matrix))
    steps = float(weights.sum(axis=0)[1:] @ np.diagonal(matrix)[1:]) if swept else np.inf
    for heads in draws:
        if steps < _WALK_LIMIT * size:
            spanning_sample.wilson(weights, size, rng, heads)
        else:
            spanning_sample.word_by_word(logits, size, rng, heads)
