"""One sentence of training: inference, the objective, and its gradient with respect to all scores.

What chains kernels here is plain Python: a kernel that calls others has them compiled once more.
"""

import math

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels import nonprojective, projective
from treebp.kernels._jit import kernel
from treebp.kernels.second_order import backward, forward, multiply, pair_beliefs, products_in_range
from treebp.kernels.tree_factor import CHARTS

CLL, L2, AR = range(3)


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
    count, pairs = len(scores), len(pair_scores)
    if pairs == 0:
        iterations = 1
    kept = 1 if objective == CLL else iterations  # CLL's gradient does not go back through the iterations
    tape = _Tape(kept, len(starts), pairs)
    beliefs = np.empty(count)
    forward(
        scores, pair_scores, first, second, heads, modifiers, starts, iterations, is_projective, single_root,
        objective == CLL, tape.weights, tape.gains, tape.charts, tape.to_arc, tape.to_pair, beliefs,
        tape.log_partitions, tape.in_logs,
    )  # fmt: skip
    of_scores, of_pairs = np.empty(count), np.empty(pairs)
    if objective == CLL:
        value = tape.log_partitions[-1] + _surrogate(
            scores, pair_scores, first, second, starts, gold, beliefs, tape.to_arc[-1], tape.to_pair[-1],
            of_scores, of_pairs,
        )  # fmt: skip
        return float(value), of_scores, of_pairs
    if objective == L2:
        error = beliefs - gold
        value, of_beliefs = 2.0 * float(error @ error), 4.0 * error
    else:
        of_beliefs = np.empty(count)
        value = _annealed_risk(
            beliefs, heads, modifiers, gold, len(starts), temperature, is_projective, single_root, of_beliefs
        )
    backward(
        pair_scores, first, second, heads, starts, iterations, is_projective, single_root, tape.weights, tape.gains,
        tape.charts, tape.to_pair, tape.log_partitions, tape.in_logs, of_beliefs, of_scores, of_pairs,
    )  # fmt: skip
    return value, of_scores, of_pairs


class _Tape:
    """Memory for what ``forward`` keeps of some iterations."""

    def __init__(self, kept: int, size: int, pairs: int) -> None:
        self.weights, self.gains = np.empty((2, kept, size, size))
        self.charts = np.empty((kept, CHARTS, size, size))
        self.to_arc, self.to_pair = np.empty((2, kept, 2, pairs))
        self.log_partitions, self.in_logs = np.empty(kept), np.empty(kept, np.bool_)


@kernel
def _surrogate(
    scores: FloatArray,
    pair_scores: FloatArray,
    first: IntArray,
    second: IntArray,
    starts: IntArray,
    gold: BoolArray,
    beliefs: FloatArray,
    to_arc: FloatArray,
    to_pair: FloatArray,
    of_scores: FloatArray,
    of_pairs: FloatArray,
) -> float:
    """Fill CLL's gradients, beliefs less what is right; return its value but for the tree factor's log-partition."""
    value = pair_beliefs(pair_scores, to_arc, to_pair, of_pairs)
    value += _offset(scores, pair_scores, first, second, starts, to_arc)
    for p in range(len(pair_scores)):
        if gold[first[p]] and gold[second[p]]:
            of_pairs[p] -= 1.0
            value -= pair_scores[p]
    for a in range(len(scores)):
        of_scores[a] = beliefs[a]
        if gold[a]:
            of_scores[a] -= 1.0
            value -= scores[a]
    return value


@kernel
def _offset(
    scores: FloatArray, pair_scores: FloatArray, first: IntArray, second: IntArray, starts: IntArray, to_arc: FloatArray
) -> float:
    """What was divided out of the tree's weights: the largest of each modifier's messages to the tree."""
    product = np.ones(len(scores))
    multiply(to_arc, first, second, product)
    logs = scores.copy()
    if products_in_range(product, starts):  # one logarithm for many messages
        logs += np.log(product)
    else:
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
    pairs = len(pair_scores)
    tape = _Tape(1, len(starts), pairs)
    beliefs = np.empty(len(scores))
    residual = forward(
        scores, pair_scores, first, second, heads, modifiers, starts, iterations if pairs else 1, is_projective,
        single_root, False, tape.weights, tape.gains, tape.charts, tape.to_arc, tape.to_pair, beliefs,
        tape.log_partitions, tape.in_logs,
    )  # fmt: skip
    return beliefs, residual if pairs else 0.0
