"""What the parser does with one sentence, each as one call: score, infer, learn, and spread the gradient.

``features`` bundles what turns tokens into weights: templates of arcs, of siblings, of grandparents (none on two
tokens: no such factors), and the number of bits of a feature's index.
``structure`` says which trees there are: whether projective, and whether with a single root word.
"""

import math

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.arborescence import best_arborescence
from treebp.kernels.best_projective import best_projective
from treebp.kernels.candidates import list_arcs, list_pairs, select_arcs
from treebp.kernels.feature_gradient import list_arcs_gradient, list_pairs_gradient
from treebp.kernels.features import GRANDPARENT, SIBLING, ArcTemplates, PairTemplates, score_arcs, score_pairs
from treebp.kernels.objective import infer, learn

Features = tuple[ArcTemplates, PairTemplates, PairTemplates, int]
Structure = tuple[bool, bool]


@kernel
def score(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    features: Features,
    structure: Structure,
    weights: AnyArray,
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, int]:
    """Scores of arcs and of pairs, and the pairs as ``list_pairs`` gives them."""
    arcs, siblings, grandparents, bits = features
    scores = np.empty(len(heads))
    score_arcs(tokens, heads, modifiers, arcs, bits, weights, scores)
    first, second, triples, split = list_pairs(
        heads, modifiers, starts, len(siblings[2]) > 0, len(grandparents[2]) > 0, structure[0]
    )
    pair_scores = np.empty(len(first))
    score_pairs(tokens, triples[:split], siblings, SIBLING, bits, weights, pair_scores[:split])
    score_pairs(tokens, triples[split:], grandparents, GRANDPARENT, bits, weights, pair_scores[split:])
    return scores, pair_scores, first, second, triples, split


@kernel
def infer_sentence(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    features: Features,
    structure: Structure,
    weights: AnyArray,
    iterations: int,
) -> tuple[FloatArray, float, int]:
    """Beliefs of the arcs, the largest change of one in the last iteration, and the number of pairs."""
    scores, pair_scores, first, second, _, _ = score(tokens, heads, modifiers, starts, features, structure, weights)
    beliefs, residual = infer(
        scores, pair_scores, first, second, heads, modifiers, starts, iterations, structure[0], structure[1]
    )
    return beliefs, residual, len(first)


@kernel
def learn_sentence(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    gold: BoolArray,
    features: Features,
    structure: Structure,
    weights: AnyArray,
    iterations: int,
    objective: int,
    temperature: float,
) -> tuple[float, AnyArray, AnyArray]:
    """The objective's value, and its gradient as a list of weights and of what to add to each, with repetitions."""
    scores, pair_scores, first, second, triples, split = score(
        tokens, heads, modifiers, starts, features, structure, weights
    )
    value, of_scores, of_pairs = learn(
        objective, temperature, scores, pair_scores, first, second, heads, modifiers, starts, gold, iterations,
        structure[0], structure[1],
    )  # fmt: skip
    indices, values = list_gradient(tokens, heads, modifiers, of_scores, of_pairs, triples, split, features)
    return value, indices, values


@kernel
def list_gradient(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    of_scores: FloatArray,
    of_pairs: FloatArray,
    triples: IntArray,
    split: int,
    features: Features,
) -> tuple[AnyArray, AnyArray]:
    """The gradient by weights, as a list, from that by scores; ``split`` is the number of sibling pairs."""
    arcs, siblings, grandparents, bits = features
    per_arc = 2 * (len(arcs[0]) + len(arcs[1]) + len(arcs[2])) + len(arcs[3]) * len(tokens)
    per_sibling = len(siblings[0]) + len(siblings[2]) + len(siblings[3])
    per_grandparent = len(grandparents[0]) + len(grandparents[2]) + len(grandparents[3])
    most = len(heads) * per_arc + split * per_sibling + (len(triples) - split) * per_grandparent
    indices, values = np.empty(most, np.int32), np.empty(most, np.float32)
    count = list_arcs_gradient(tokens, heads, modifiers, arcs, bits, of_scores, indices, values, 0)
    count = list_pairs_gradient(
        tokens, triples[:split], siblings, SIBLING, bits, of_pairs[:split], indices, values, count
    )
    count = list_pairs_gradient(
        tokens, triples[split:], grandparents, GRANDPARENT, bits, of_pairs[split:], indices, values, count
    )
    return indices[:count], values[:count]


@kernel
def prune_sentence(
    tokens: IntArray,
    allowed: BoolArray,
    features: Features,
    structure: Structure,
    weights: AnyArray,
    ratio: float,
    most: int,
) -> BoolArray:
    """Which of the arcs allowed a model without pairs keeps: see ``select_arcs``; none if they admit no tree."""
    size = len(allowed)
    heads, modifiers, starts = list_arcs(allowed)
    none = np.zeros((size, size), np.bool_)
    for m in range(1, size):
        if starts[m - 1] == starts[m]:
            return none
    beliefs, _, _ = infer_sentence(tokens, heads, modifiers, starts, features, structure, weights, 1)
    if math.isnan(beliefs[0]):
        return none
    marginals = np.zeros((size, size))
    scores = np.full((size, size), -math.inf)
    for a in range(len(heads)):
        marginals[heads[a], modifiers[a]] = beliefs[a]
        scores[heads[a], modifiers[a]] = beliefs[a]
    tree = np.empty(size - 1, np.int64)
    if structure[0]:
        best_projective(scores, size, structure[1], tree)
    else:
        best_arborescence(scores, size, structure[1], tree)
    return select_arcs(marginals, tree, ratio, most)
