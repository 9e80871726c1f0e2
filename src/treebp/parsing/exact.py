"""Exact inference with grandparents in place of belief propagation: model 0 of Koo and Collins (2010), O(n^4)."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.parsing.arc_model import ArcModel, Example
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.optimiser import Gradient
from treebp.trees.dependency_trees import DependencyTrees
from treebp.trees.grandparents import GrandparentTrees


def exact_trees(model: ArcModel, tokens: IntArray, arcs: Arcs) -> tuple[GrandparentTrees, IntArray]:
    """The distribution over trees, and the positions (pairs, 3) of the model's pairs."""
    scores, pair_scores, triples, _ = model.score(tokens, arcs)
    size = len(arcs.starts)
    grandparent_scores = np.zeros((size, size, size))
    grandparent_scores[tuple(triples.T)] = pair_scores
    trees = GrandparentTrees(arcs.matrix(scores, -np.inf), grandparent_scores, single_root=model.structure[1])
    return trees, triples


def exact_beliefs(model: ArcModel, batch: Batch) -> tuple[FloatArray, IntArray]:
    """The marginals of all arcs, and the number of each sentence's pairs."""
    beliefs, pairs = np.empty(len(batch.heads)), np.zeros(len(batch.sizes), np.int64)
    for number, ((tokens, arcs), own) in enumerate(zip(batch, batch.split(beliefs), strict=True)):
        if len(own):
            trees, triples = exact_trees(model, tokens, arcs)
            own[:] = trees.marginals[arcs.heads, arcs.modifiers]
            pairs[number] = len(triples)
    return beliefs, pairs


def exact_gradient(model: ArcModel, example: Example, objective: str, temperature: float) -> Gradient:
    """The objective's value and gradient for one sentence."""
    trees, triples = exact_trees(model, example.tokens, example.arcs)
    arcs = example.arcs
    where, pairs = (arcs.heads, arcs.modifiers), tuple(triples.T)
    gold = arcs.matrix(example.gold.astype(np.float64), 0.0)
    if objective == "cll":
        heads = gold[:, 1:].argmax(axis=0)
        # Both arcs right: the pair's lower arc is, and the head of its head is the grandparent.
        both = gold[triples[:, 1], triples[:, 2]] * gold[triples[:, 0], triples[:, 1]]
        of_scores = trees.marginals[where] - gold[where]
        of_pairs = trees.grandparent_marginals[pairs] - both
        return _listed(model, example, -float(trees.log_prob(heads)), of_scores, of_pairs, triples)
    if objective == "l2":
        error = np.where(arcs.matrix(np.ones(len(arcs.heads)), 0.0) > 0.0, trees.marginals - gold, 0.0)
        value, adjoint = 2.0 * float((error**2).sum()), 4.0 * error
    else:
        # Annealed risk, eqs. 9 and 10; gold arcs that were pruned are lost whatever the decoder does.
        possible = arcs.matrix(trees.marginals[where], -np.inf)
        decoder = DependencyTrees(possible / temperature, projective=True, single_root=model.structure[1])
        value = len(possible) - 1 - float((decoder.marginals * gold).sum())
        adjoint = -decoder.backward(gold) / temperature
    by_arc, by_pair = trees.backward(adjoint)
    return _listed(model, example, value, by_arc[where], by_pair[pairs], triples)


def _listed(
    model: ArcModel, example: Example, value: float, of_scores: FloatArray, of_pairs: FloatArray, triples: IntArray
) -> Gradient:
    return Gradient(value, *model.listed(example.tokens, example.arcs, of_scores, of_pairs, triples, 0))
