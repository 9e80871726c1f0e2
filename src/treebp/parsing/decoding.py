"""From beliefs to a tree."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels.sentence import best_heads
from treebp.parsing.arc_model import ArcModel, Arcs
from treebp.parsing.exact import exact_trees
from treebp.trees import DependencyTrees

# MAP with pair factors looks for the best score among so many trees.
_RESCORED = 32


def decode(
    decoder: str, model: ArcModel, tokens: IntArray, arcs: Arcs, beliefs: FloatArray, *, exact: bool
) -> IntArray:
    """The heads (n,) of the tree that a decoder picks.

    "mbr" takes the tree with the highest expected number of right heads (eq. 3), "log-odds" the one with the highest
    sum of log-odds (the paper's footnote 3). "map" takes the tree with the highest score; with pair factors and
    approximate inference, the highest among the trees that come first by log-odds.
    """
    if decoder == "map":
        return _map(model, tokens, arcs, beliefs, exact=exact)
    scores = beliefs if decoder == "mbr" else _log_odds(arcs, beliefs)
    return best_heads(arcs.heads, arcs.modifiers, arcs.starts, scores, model.structure)


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
    scores, pair_scores, triples, siblings = model.score(tokens, arcs)
    if exact and len(pair_scores):
        return exact_trees(model, tokens, arcs)[0].argmax()
    if not len(pair_scores):
        return best_heads(arcs.heads, arcs.modifiers, arcs.starts, scores, model.structure)
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
