"""One sentence of training: inference, the objective, and its gradient with respect to all scores."""

import math

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels import nonprojective, projective
from treebp.kernels._jit import kernel
from treebp.kernels.second_order import backward, forward, pair_beliefs
from treebp.kernels.tree_factor import CHARTS

CLL, L2, AR = range(3)


@kernel
def learn(
    objective: int,
    temperature: float,
    scores: FloatArray,
    pair_scores: FloatArray,
    first: IntArray,
    second: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    gold: BoolArray,
    iterations: int,
    is_projective: bool,
    single_root: bool,
) -> tuple[float, FloatArray, FloatArray]:
    """The objective's value and its gradients by arc and pair scores; the value is NaN if BP left the range of floats.

    ``gold[a]`` says whether arc a is right. With CLL all right arcs must be among the candidates; the value is the
    surrogate negative log-likelihood, with the Bethe approximation of log Z.
    """
    size = len(starts)
    count, pairs = len(scores), len(pair_scores)
    if pairs == 0:
        iterations = 1
    kept = 1 if objective == CLL else iterations  # its gradient does not go back through the iterations
    weights, gains = np.empty((kept, size, size)), np.empty((kept, size, size))
    charts = np.empty((kept, CHARTS, size, size))
    to_arc, to_pair = np.empty((kept, 2, pairs)), np.empty((kept, 2, pairs))
    log_partitions, in_logs = np.empty(kept), np.empty(kept, np.bool_)
    beliefs = np.empty(count)
    forward(
        scores, pair_scores, first, second, heads, modifiers, starts, iterations, is_projective, single_root,
        objective == CLL, weights, gains, charts, to_arc, to_pair, beliefs, log_partitions, in_logs,
    )  # fmt: skip
    adjoint_scores, adjoint_pairs = np.empty(count), np.empty(pairs)
    if objective == CLL:
        bethe = pair_beliefs(pair_scores, to_arc[-1], to_pair[-1], adjoint_pairs)
        bethe += log_partitions[-1] + _offset(scores, pair_scores, first, second, starts, to_arc[-1])
        for p in range(pairs):
            if gold[first[p]] and gold[second[p]]:
                adjoint_pairs[p] -= 1.0
                bethe -= pair_scores[p]
        for a in range(count):
            adjoint_scores[a] = beliefs[a]
            if gold[a]:
                adjoint_scores[a] -= 1.0
                bethe -= scores[a]
        return bethe, adjoint_scores, adjoint_pairs
    adjoint_beliefs = np.empty(count)
    if objective == L2:
        value = 0.0
        for a in range(count):
            error = beliefs[a] - gold[a]
            value += 2.0 * error * error
            adjoint_beliefs[a] = 4.0 * error
    else:
        value = _annealed_risk(
            beliefs, heads, modifiers, gold, size, temperature, is_projective, single_root, adjoint_beliefs
        )
    backward(
        pair_scores, first, second, heads, starts, iterations, is_projective, single_root,
        weights, gains, charts, to_pair, log_partitions, in_logs, adjoint_beliefs, adjoint_scores, adjoint_pairs,
    )  # fmt: skip
    return value, adjoint_scores, adjoint_pairs


@kernel
def _offset(
    scores: FloatArray, pair_scores: FloatArray, first: IntArray, second: IntArray, starts: IntArray, to_arc: FloatArray
) -> float:
    """What was divided out of the tree's weights: the largest of each modifier's messages to the tree."""
    logs = scores.copy()
    for p in range(len(pair_scores)):
        logs[first[p]] += math.log(to_arc[0, p])
        logs[second[p]] += math.log(to_arc[1, p])
    total = 0.0
    for m in range(1, len(starts)):
        total += logs[starts[m - 1] : starts[m]].max()
    return total


@kernel
def _annealed_risk(
    beliefs: FloatArray,
    heads: IntArray,
    modifiers: IntArray,
    gold: BoolArray,
    size: int,
    temperature: float,
    is_projective: bool,
    single_root: bool,
    adjoint: FloatArray,
) -> float:
    """Expected number of wrong heads of a tree drawn in proportion to exp(sum of beliefs / temperature), eqs. 9, 10."""
    scores = np.full((1, size, size), -math.inf)
    direction = np.zeros((1, size, size))
    for a in range(len(heads)):
        scores[0, heads[a], modifiers[a]] = beliefs[a] / temperature
        if gold[a]:
            direction[0, heads[a], modifiers[a]] = -1.0
    lengths = np.array([size - 1])
    log_z, marginals, product = np.empty(1), np.empty((1, size, size)), np.empty((1, size, size))
    if is_projective:
        projective.marginals(scores, lengths, single_root, log_z, marginals)
        projective.product(scores, direction, lengths, single_root, product)
    else:
        nonprojective.marginals(scores, lengths, single_root, log_z, marginals)
        nonprojective.product(scores, direction, lengths, single_root, product)
    value = size - 1.0
    for a in range(len(heads)):
        adjoint[a] = product[0, heads[a], modifiers[a]] / temperature
        if gold[a]:
            value -= marginals[0, heads[a], modifiers[a]]
    return value


@kernel
def infer(
    scores: FloatArray,
    pair_scores: FloatArray,
    first: IntArray,
    second: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    iterations: int,
    is_projective: bool,
    single_root: bool,
) -> tuple[FloatArray, float]:
    """Beliefs of the arcs, and the largest change in the last iteration (0 without pairs: then they are exact)."""
    size = len(starts)
    pairs = len(pair_scores)
    if pairs == 0:
        iterations = 1
    weights, gains = np.empty((1, size, size)), np.empty((1, size, size))
    charts = np.empty((1, CHARTS, size, size))
    to_arc, to_pair = np.empty((1, 2, pairs)), np.empty((1, 2, pairs))
    beliefs = np.empty(len(scores))
    residual = forward(
        scores, pair_scores, first, second, heads, modifiers, starts, iterations, is_projective, single_root,
        False, weights, gains, charts, to_arc, to_pair, beliefs, np.empty(1), np.empty(1, np.bool_),
    )  # fmt: skip
    return beliefs, residual if pairs > 0 else 0.0
