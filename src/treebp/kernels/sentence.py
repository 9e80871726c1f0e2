"""What the parser does with one sentence, each as one call: score, infer, learn, and spread the gradient.

``features`` bundles what turns tokens into weights: templates of arcs and of pairs, whether there are factors on
siblings and on grandparents, and the number of bits of a feature's index.
``structure`` says which trees there are: whether projective, and whether with a single root word.
"""

import math

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.candidates import list_arcs, list_pairs, select_arcs
from treebp.kernels.feature_gradient import list_arcs_gradient, list_pairs_gradient
from treebp.kernels.features import (
    GRANDPARENT,
    SIBLING,
    ArcTemplates,
    PairTemplates,
    pair_keys,
    score_arcs,
    score_pairs,
)
from treebp.kernels.objective import infer, learn
from treebp.kernels.tree_queries import best_tree

Features = tuple[ArcTemplates, PairTemplates, tuple[bool, bool], int]
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
    of_arcs, of_pairs, (siblings, grandparents), bits = features
    scores = np.empty(len(heads))
    score_arcs(tokens, heads, modifiers, of_arcs, bits, weights, scores)
    first, second, triples, split = list_pairs(heads, modifiers, starts, siblings, grandparents, structure[0])
    pair_scores = np.empty(len(first))
    if len(first) > 0:
        keys = pair_keys(tokens, of_pairs)
        score_pairs(keys, triples[:split], SIBLING, bits, weights, pair_scores[:split])
        score_pairs(keys, triples[split:], GRANDPARENT, bits, weights, pair_scores[split:])
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
    of_arcs, of_pair_tokens, _, bits = features
    per_arc = 2 * (len(of_arcs[0]) + len(of_arcs[1]) + len(of_arcs[2])) + len(of_arcs[4]) * len(tokens)
    per_pair = len(of_pair_tokens[0]) + len(of_pair_tokens[3]) + len(of_pair_tokens[5])
    most = len(heads) * per_arc + len(triples) * per_pair
    indices, values = np.empty(most, np.int32), np.empty(most, np.float32)
    count = list_arcs_gradient(tokens, heads, modifiers, of_arcs, bits, of_scores, indices, values, 0)
    if len(triples) > 0:
        keys = pair_keys(tokens, of_pair_tokens)
        count = list_pairs_gradient(keys, triples[:split], SIBLING, bits, of_pairs[:split], indices, values, count)
        count = list_pairs_gradient(keys, triples[split:], GRANDPARENT, bits, of_pairs[split:], indices, values, count)
    return indices[:count], values[:count]


@kernel
def best_heads(
    heads: IntArray, modifiers: IntArray, starts: IntArray, scores: FloatArray, structure: Structure
) -> IntArray:
    """The heads (n,) of the tree whose arcs have the highest sum of scores; there must be one."""
    size = len(starts)
    arcs = np.full((size, size), -math.inf)
    for a in range(len(heads)):
        arcs[heads[a], modifiers[a]] = scores[a]
    tree = np.empty(size - 1, np.int64)
    best_tree(arcs, size, structure[0], structure[1], tree)
    return tree


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
    for a in range(len(heads)):
        marginals[heads[a], modifiers[a]] = beliefs[a]
    tree = best_heads(heads, modifiers, starts, beliefs, structure)
    return select_arcs(marginals, tree, ratio, most)
