"""Every dependency tree of a short sentence, one by one: the obviously right twin of the distributions over trees."""

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray


@cache
def all_trees(n: int, projective: bool, single_root: bool) -> NDArray[np.int64]:
    """Heads of all trees, shape (trees, n)."""
    heads = np.array(list(itertools.product(range(n + 1), repeat=n)), dtype=np.int64)
    return heads[[_is_tree(row, projective, single_root) for row in heads.tolist()]]


def _is_tree(heads: list[int], projective: bool, single_root: bool) -> bool:
    if single_root and heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = {word}
        node = heads[word - 1]
        while node:
            if node in seen:
                return False
            seen.add(node)
            node = heads[node - 1]
    arcs = [sorted((head, modifier)) for modifier, head in enumerate(heads, start=1)]
    return not projective or not any(a < c < b < d for (a, b), (c, d) in itertools.product(arcs, arcs))


def indicators(trees: NDArray[np.int64]) -> NDArray[np.float64]:
    """One (n + 1, n + 1) matrix per tree, 1 for each of its arcs."""
    count, n = trees.shape
    matrices = np.zeros((count, n + 1, n + 1))
    matrices[np.arange(count)[:, None], trees, np.arange(1, n + 1)] = 1.0
    return matrices


def tree_scores(scores: NDArray[np.float64], trees: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of each tree's arc scores."""
    return np.asarray(scores[trees, np.arange(1, trees.shape[1] + 1)].sum(axis=1))
