"""From beliefs to a tree."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels.batch import best_trees
from treebp.parsing.arc_model import ArcModel
from treebp.parsing.arcs import Arcs, Batch, split
from treebp.parsing.exact import exact_trees
from treebp.trees.dependency_trees import DependencyTrees

# MAP with pair factors looks for the best score among so many trees.
_RESCORED = 32


def decode(decoder: str, model: ArcModel, batch: Batch, beliefs: FloatArray, *, exact: bool) -> list[IntArray]:
    """The heads (n,) of the tree that a decoder picks for each sentence.

    "mbr" takes the tree with the highest expected number of right heads (eq. 3), "log-odds" the one with the highest
    sum of log-odds (the paper's footnote 3). "map" takes the tree with the highest score; with pair factors and
    approximate inference, the highest among the trees that come first by log-odds.
    """
    scores = beliefs
    if decoder != "mbr":
        sentences = list(zip(batch, batch.split(beliefs), strict=True))
        if decoder == "map":
            return [_map(model, tokens, arcs, own, exact=exact) for (tokens, arcs), own in sentences]
        scores = np.concatenate([_log_odds(arcs, own) for (_, arcs), own in sentences])
    trees = best_trees(batch.sizes, batch.heads, batch.modifiers, batch.starts, scores, model.structure)
    return split(trees, batch.sizes - 1)


def k_best(model: ArcModel, arcs: Arcs, beliefs: FloatArray, k: int) -> list[tuple[IntArray, float]]:
    """The k trees with the highest expected accuracy, and that accuracy."""
    heads, totals = _best(model, arcs, beliefs, k)
    return [(tree, float(total) / len(tree)) for tree, total in zip(heads, totals, strict=True)]


def _best(model: ArcModel, arcs: Arcs, scores: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    projective, single_root = model.structure
    trees = DependencyTrees(arcs.matrix(scores, -np.inf), projective=projective, single_root=single_root)
    best = trees.topk(k)
    assert isinstance(best, tuple)  # a list only for a batch
    return best


def _log_odds(arcs: Arcs, beliefs: FloatArray) -> FloatArray:
    """log p / (1 - p), the latter as the sum of the modifier's other heads; finite for certain arcs."""
    tiny = np.finfo(np.float64).tiny
    totals = np.add.reduceat(beliefs, arcs.starts[:-1])[arcs.modifiers - 1]
    return np.asarray(np.log(np.maximum(beliefs, tiny)) - np.log(np.maximum(totals - beliefs, 1e-16)))


def _map(model: ArcModel, tokens: IntArray, arcs: Arcs, beliefs: FloatArray, *, exact: bool) -> IntArray:
    if not len(beliefs):
        return np.zeros(0, np.int64)
    scores, pair_scores, triples, siblings = model.score(tokens, arcs)
    if exact and len(pair_scores):
        return exact_trees(model, tokens, arcs)[0].argmax()
    if not len(pair_scores):
        return best_trees(
            np.array([len(arcs.starts)]), arcs.heads, arcs.modifiers, arcs.starts, scores, model.structure
        )
    matrix = arcs.matrix(scores, -np.inf)
    candidates, _ = _best(model, arcs, _log_odds(arcs, beliefs), _RESCORED)

    def total(heads: IntArray) -> float:
        above = np.concatenate(([-1], heads))  # the head of each position
        a, b, c = triples.T
        # Siblings (head, modifier, sibling) come first, then (grandparent, head, modifier).
        on = np.where(
            np.arange(len(a)) < siblings, (above[b] == a) & (above[c] == a), (above[b] == a) & (above[c] == b)
        )
        return float(matrix[heads, np.arange(1, len(heads) + 1)].sum() + pair_scores[on].sum())

    best: IntArray = max(candidates, key=total)
    return best
