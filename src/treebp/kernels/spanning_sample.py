"""Exact samples of non-projective trees with node 0 as their root."""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.draw import draw
from treebp.kernels.log_matrix_tree import exit_probabilities


@kernel
def wilson(weights: FloatArray, size: int, rng: np.random.Generator, heads: IntArray) -> None:
    """Draw one tree by loop-erased random walks (Wilson, 1996).

    Fast unless the walk circles among words that hardly ever lead to the root: the expected number of steps is
    the sum over words of their total weight times d log Z / d (weight of the root as their head).
    """
    done = np.zeros(size, np.bool_)
    done[0] = True
    step = np.zeros(size, np.int64)
    cumulative = np.empty((size, size))
    for modifier in range(1, size):
        total = 0.0
        for head in range(size):
            total += weights[head, modifier]
            cumulative[modifier, head] = total
    for start in range(1, size):
        node = start
        while not done[node]:
            point = rng.random() * cumulative[node, size - 1]
            step[node] = np.searchsorted(cumulative[node], point, side="right")
            node = step[node]
        node = start
        while not done[node]:
            done[node] = True
            heads[node - 1] = step[node]
            node = step[node]


@kernel
def word_by_word(logits: FloatArray, size: int, rng: np.random.Generator, heads: IntArray) -> None:
    """Draw one tree in O(n^4), whatever the weights: draw a word's head, merge the word into it, go on to the next.

    What the word could head, the merged node heads now.
    """
    work = logits.copy()
    merged = np.arange(size)  # the node that each original one has become part of
    gains = np.empty(size)
    for modifier in range(1, size):
        exit_probabilities(work, size, merged, modifier, gains)
        for node in range(size):
            if merged[node] == node and node != modifier:
                gains[node] += work[node, modifier]
            else:
                gains[node] = -math.inf
        group = draw(gains, size, rng.random())
        for node in range(size):
            gains[node] = logits[node, modifier] if merged[node] == group else -math.inf
        heads[modifier - 1] = draw(gains, size, rng.random())
        for node in range(size):
            work[group, node] = np.logaddexp(work[group, node], work[modifier, node])
            if merged[node] == modifier:
                merged[node] = group
