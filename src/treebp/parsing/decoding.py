"""Several trees for a sentence: the k best by their expected accuracy, and which of them scores best."""

from collections.abc import Callable

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.objectives.decoders import log_odds
from treebp.parsing.arcs import Arcs, Batch
from treebp.trees.dependency_trees import DependencyTrees

# MAP with factors on several arcs looks for the best score among so many trees.
_RESCORED = 32


def k_best(
    arcs: Arcs, beliefs: FloatArray, k: int, *, projective: bool, single_root: bool
) -> list[tuple[IntArray, float]]:
    """The k trees with the highest expected accuracy, and that accuracy."""
    heads, totals = _best(arcs, beliefs, k, projective=projective, single_root=single_root)
    return [(tree, float(total) / len(tree)) for tree, total in zip(heads, totals, strict=True)]


def rescored(
    batch: Batch, beliefs: FloatArray, score: Callable[[BoolArray], float], *, projective: bool, single_root: bool
) -> IntArray:
    """Each sentence's tree, end to end, of highest score among those with the highest log-odds.

    The score is a function of which arcs of the batch, (arcs,), are ON, those of other sentences being OFF.
    """
    trees = []
    for number, arcs in enumerate(batch.arcs):
        if not len(arcs.heads):
            continue
        first = int(batch.first[number])
        own = slice(first, first + len(arcs.heads))
        candidates, _ = _best(arcs, log_odds(beliefs[own]), _RESCORED, projective=projective, single_root=single_root)
        totals = []
        for heads in candidates:
            on = np.zeros(len(batch.heads), np.bool_)
            on[own] = arcs.marked(heads)
            totals.append(score(on))
        trees.append(candidates[int(np.argmax(totals))])
    return np.concatenate([np.zeros(0, np.int64), *trees])


def _best(
    arcs: Arcs, scores: FloatArray, k: int, *, projective: bool, single_root: bool
) -> tuple[IntArray, FloatArray]:
    best = DependencyTrees(arcs.matrix(scores, -np.inf), projective=projective, single_root=single_root).topk(k)
    assert isinstance(best, tuple)  # a list only for a batch
    return best
