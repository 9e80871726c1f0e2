"""From beliefs to trees."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.objectives.decoders import log_odds
from treebp.parsing.arcs import Arcs, Batch, split
from treebp.parsing.inference import ARC, grandparent_trees
from treebp.parsing.model import Circuit, TreeModel
from treebp.trees.dependency_trees import DependencyTrees

# MAP with factors on several arcs looks for the best score among so many trees.
_RESCORED = 32


def decode(decoder: str, model: TreeModel, batch: Batch, circuit: Circuit) -> list[IntArray]:
    """The heads (n,) of the tree that a decoder picks for each sentence.

    "mbr" takes the tree with the highest expected number of right heads (eq. 3), "log-odds" the one with the highest
    sum of log-odds (the paper's footnote 3). "map" takes the tree with the highest score; with factors on several arcs
    and approximate inference, the highest among the trees that come first by log-odds.
    """
    beliefs, potentials = circuit.inferred.beliefs, circuit.potentials
    first_order = not any(len(potentials[part.name]) for part in model.scorer.parts)
    if decoder == "mbr":
        flat = circuit.trees.best(beliefs)
    elif decoder == "log-odds":
        flat = circuit.trees.best(log_odds(beliefs))
    elif first_order:
        flat = circuit.trees.best(potentials[ARC])
    elif model.inference.exact:
        sentences = grandparent_trees(batch, circuit.tuples["grandparent"], potentials, single_root=model.single_root)
        flat = np.concatenate([sentence.trees.argmax() for sentence in sentences])
    else:
        flat = _rescored(model, batch, circuit)
    return split(flat, batch.sizes - 1)


def k_best(model: TreeModel, arcs: Arcs, beliefs: FloatArray, k: int) -> list[tuple[IntArray, float]]:
    """The k trees with the highest expected accuracy, and that accuracy."""
    heads, totals = _best(model, arcs, beliefs, k)
    return [(tree, float(total) / len(tree)) for tree, total in zip(heads, totals, strict=True)]


def _best(model: TreeModel, arcs: Arcs, scores: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    matrix = arcs.matrix(scores, -np.inf)
    best = DependencyTrees(matrix, projective=model.projective, single_root=model.single_root).topk(k)
    assert isinstance(best, tuple)  # a list only for a batch
    return best


def _rescored(model: TreeModel, batch: Batch, circuit: Circuit) -> IntArray:
    """The trees of highest score among those with the highest log-odds, end to end."""
    trees = []
    for number, arcs in enumerate(batch.arcs):
        if not len(arcs.heads):
            continue
        first = int(batch.first[number])
        own = slice(first, first + len(arcs.heads))
        candidates, _ = _best(model, arcs, log_odds(circuit.inferred.beliefs[own]), _RESCORED)
        totals = []
        for heads in candidates:
            on = np.zeros(len(batch.heads), np.bool_)
            on[own] = arcs.marked(heads)
            parts = model.parts_on(circuit.tuples, on)
            totals.append(sum(float(circuit.potentials[name][chosen].sum()) for name, chosen in parts.items()))
        trees.append(candidates[int(np.argmax(totals))])
    return np.concatenate([np.zeros(0, np.int64), *trees])
