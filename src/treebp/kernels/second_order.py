"""Belief propagation over arcs, pairs of arcs and one tree factor, in real arithmetic, and its derivative.

Messages are ratios ON / OFF. A pair factor is 1 except where both arcs are ON, where it is e, so its message to one arc
is (1 + e y) / (1 + y) with y the message from the other. The serial schedule of the paper comes down to: pair factors
to arcs, arcs to the tree, the tree to arcs, arcs to pair factors. After the last iteration the beliefs are the
marginals of the tree factor, so its messages are needed only where pair beliefs are.

Arcs are sorted by modifier: those of modifier m are ``starts[m - 1]`` to ``starts[m] - 1``.
"""

import math

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.tree_factor import CHARTS, tree_gains, tree_tangent

_FAR = 1e60  # a ratio beyond this, or below its inverse, is as good as certain
_STRONGEST = 100.0  # as is what a pair with a score beyond this says
_RATIO = 1e100  # beyond this, or below its inverse, a product of pairs' normalisers is taken into its logarithm
_LARGEST = 1e250  # products of messages beyond this, or below its inverse, are taken in logs
_FAINTEST = 1e-300  # no arc weighs less than this beside its modifier's best, so that a tree always remains


@kernel
def forward(
    scores: FloatArray,
    pair_scores: FloatArray,
    first: IntArray,
    second: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    starts: IntArray,
    iterations: int,
    projective: bool,
    single_root: bool,
    last_messages: bool,
    weights: FloatArray,
    gains: FloatArray,
    charts: FloatArray,
    to_arc: FloatArray,
    to_pair: FloatArray,
    beliefs: FloatArray,
    log_partitions: FloatArray,
    in_logs: BoolArray,
) -> float:
    """Run BP and fill the beliefs of arcs; return the largest change of a belief in the last iteration.

    What happened is kept for ``backward``: per iteration the tree's ``weights`` and ``gains`` (size, size) and
    ``charts``, the messages ``to_arc`` and ``to_pair`` (2, pairs). ``to_pair[t]`` holds what iteration t received, so
    ``to_pair[0]`` is the start. With room for a single iteration the last one is kept, and if ``last_messages``, what a
    further one would receive. If there is no tree, the beliefs are NaN.
    """
    size = len(starts)
    count = len(scores)
    pairs = len(pair_scores)
    product = np.empty(count)
    odds = np.empty(count)
    strengths = np.exp(np.minimum(np.maximum(pair_scores, -_STRONGEST), _STRONGEST))
    unary = np.empty(count)
    for m in range(1, size):  # only ratios within a modifier's arcs matter
        top = scores[starts[m - 1] : starts[m]].max()
        for a in range(starts[m - 1], starts[m]):
            unary[a] = math.exp(scores[a] - top)
    to_pair[0] = 1.0
    residual = math.inf
    for t in range(iterations):
        kept = min(t, len(weights) - 1)
        w, g, to_arcs = weights[kept], gains[kept], to_arc[kept]
        from_arcs, next_from_arcs = to_pair[min(t, len(to_pair) - 1)], to_pair[min(t + 1, len(to_pair) - 1)]
        for side in range(2):
            for p in range(pairs):
                other = from_arcs[1 - side, p]
                to_arcs[side, p] = (1.0 + strengths[p] * other) / (1.0 + other)
        product[:] = unary
        multiply(to_arcs, first, second, product)
        if not products_in_range(product, starts):
            _products_by_logs(scores, first, second, to_arcs, starts, product)
        w[:] = 0.0
        for m in range(1, size):
            top = 0.0
            for a in range(starts[m - 1], starts[m]):
                top = max(top, product[a])
            for a in range(starts[m - 1], starts[m]):
                w[heads[a], m] = max(product[a] / top, _FAINTEST)
        log_z, in_logs[kept] = tree_gains(w, size, projective, single_root, charts[kept], g)
        log_partitions[kept] = log_z
        if log_z == -math.inf:
            beliefs[:] = math.nan
            return math.inf
        residual = 0.0 if t > 0 else math.inf  # nothing to compare the first beliefs with
        for a in range(count):
            belief = w[heads[a], modifiers[a]] * g[heads[a], modifiers[a]]
            if t > 0:
                residual = max(residual, abs(belief - beliefs[a]))
            beliefs[a] = belief
        if t == iterations - 1 and not last_messages:
            break
        _odds(w, g, heads, starts, odds)
        for p in range(pairs):
            next_from_arcs[0, p] = odds[first[p]] / to_arcs[0, p]
            next_from_arcs[1, p] = odds[second[p]] / to_arcs[1, p]
    return residual


@kernel
def multiply(messages: FloatArray, first: IntArray, second: IntArray, product: FloatArray) -> None:
    """Multiply each arc's product by the messages (2, pairs) of its pairs, which are sorted by their first arc."""
    a, run = -1, 1.0  # pairs with the same first arc follow each other: their product need not go through memory
    for p in range(len(first)):
        if first[p] != a:
            if a >= 0:
                product[a] *= run
            a, run = first[p], 1.0
        run *= messages[0, p]
        product[second[p]] *= messages[1, p]
    if a >= 0:
        product[a] *= run


@kernel
def products_in_range(product: FloatArray, starts: IntArray) -> bool:
    """Whether each modifier's largest product is neither too large nor too small, and none is NaN."""
    for m in range(1, len(starts)):
        largest = 0.0
        for a in range(starts[m - 1], starts[m]):
            if not product[a] < _LARGEST:
                return False
            largest = max(largest, product[a])
        if largest < 1.0 / _LARGEST:
            return False
    return True


@kernel
def _products_by_logs(
    scores: FloatArray, first: IntArray, second: IntArray, to_arc: FloatArray, starts: IntArray, product: FloatArray
) -> None:
    """The products of messages to each arc, beside its modifier's largest, where plain floats overflow."""
    product[:] = scores
    for p in range(len(first)):
        product[first[p]] += math.log(to_arc[0, p])
        product[second[p]] += math.log(to_arc[1, p])
    for m in range(1, len(starts)):
        top = product[starts[m - 1] : starts[m]].max()
        for a in range(starts[m - 1], starts[m]):
            product[a] = math.exp(product[a] - top)


@kernel
def _odds(w: FloatArray, gains: FloatArray, heads: IntArray, starts: IntArray, odds: FloatArray) -> None:
    """Odds of every arc: ON over OFF, OFF being the sum of the modifier's other heads (never 1 - p)."""
    for m in range(1, len(starts)):
        for a in range(starts[m - 1], starts[m]):
            on = w[heads[a], m] * gains[heads[a], m]
            off = 0.0
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    off += w[heads[b], m] * gains[heads[b], m]
            odds[a] = min(max(on / off, 1.0 / _FAR), _FAR) if off > 0.0 else _FAR


@kernel
def backward(
    pair_scores: FloatArray,
    first: IntArray,
    second: IntArray,
    heads: IntArray,
    starts: IntArray,
    iterations: int,
    projective: bool,
    single_root: bool,
    weights: FloatArray,
    gains: FloatArray,
    charts: FloatArray,
    to_pair: FloatArray,
    log_partitions: FloatArray,
    in_logs: BoolArray,
    adjoint_beliefs: FloatArray,
    adjoint_scores: FloatArray,
    adjoint_pairs: FloatArray,
) -> None:
    """From dJ/d beliefs to dJ/d scores of arcs and pairs, through every iteration that ``forward`` has kept."""
    size = len(starts)
    count = len(heads)
    pairs = len(pair_scores)
    strengths = np.exp(np.minimum(np.maximum(pair_scores, -_STRONGEST), _STRONGEST))
    adjoint_to_pair = np.zeros((2, pairs))  # of the logarithm of the message
    of_odds = np.zeros(count)
    of_marginals = np.empty(count)  # of their logarithm
    change, tangent = np.zeros((size, size)), np.empty((size, size))
    changes = np.empty((CHARTS, size, size))
    adjoint_scores[:] = 0.0
    adjoint_pairs[:] = 0.0
    for step in range(iterations):
        t = iterations - 1 - step
        w, g = weights[t], gains[t]
        of_odds[:] = 0.0
        if step > 0:
            _add(adjoint_to_pair, first, second, of_odds)
        _through_odds(w, g, heads, starts, of_odds, of_marginals)
        if step == 0:
            for m in range(1, size):
                for a in range(starts[m - 1], starts[m]):
                    of_marginals[a] = adjoint_beliefs[a] * w[heads[a], m] * g[heads[a], m]
        for m in range(1, size):
            for a in range(starts[m - 1], starts[m]):
                gain = g[heads[a], m]
                change[heads[a], m] = of_marginals[a] / gain if gain > 1e-250 else 0.0
        slope = tree_tangent(
            w, change, size, projective, single_root, log_partitions[t], in_logs[t], charts[t], changes, g, tangent
        )
        for m in range(1, size):
            for a in range(starts[m - 1], starts[m]):
                head = heads[a]
                of_marginals[a] += w[head, m] * (tangent[head, m] - g[head, m] * slope)
                adjoint_scores[a] += of_marginals[a]
        from_arcs = to_pair[t]
        for p in range(pairs):
            e = strengths[p]
            from_a, from_b = from_arcs[0, p], from_arcs[1, p]
            of_to_a = of_marginals[first[p]] - adjoint_to_pair[0, p]
            of_to_b = of_marginals[second[p]] - adjoint_to_pair[1, p]
            with_a, with_b = e * from_a / (1.0 + e * from_a), e * from_b / (1.0 + e * from_b)
            adjoint_pairs[p] += of_to_a * with_b + of_to_b * with_a
            adjoint_to_pair[0, p] = of_to_b * (with_a - from_a / (1.0 + from_a))
            adjoint_to_pair[1, p] = of_to_a * (with_b - from_b / (1.0 + from_b))


@kernel
def _add(messages: FloatArray, first: IntArray, second: IntArray, total: FloatArray) -> None:
    """Add to each arc's total what stands for it in (2, pairs); see ``multiply``."""
    a, run = -1, 0.0
    for p in range(len(first)):
        if first[p] != a:
            if a >= 0:
                total[a] += run
            a, run = first[p], 0.0
        run += messages[0, p]
        total[second[p]] += messages[1, p]
    if a >= 0:
        total[a] += run


@kernel
def _through_odds(
    w: FloatArray, gains: FloatArray, heads: IntArray, starts: IntArray, of_odds: FloatArray, out: FloatArray
) -> None:
    """From dJ/d log odds to dJ/d log marginals; odds that were cut off have no derivative."""
    for m in range(1, len(starts)):
        for a in range(starts[m - 1], starts[m]):
            out[a] = 0.0
        for a in range(starts[m - 1], starts[m]):
            if of_odds[a] == 0.0:
                continue
            on = w[heads[a], m] * gains[heads[a], m]
            off = 0.0
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    off += w[heads[b], m] * gains[heads[b], m]
            if not (off / _FAR < on < off * _FAR):
                continue
            out[a] += of_odds[a]
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    out[b] -= of_odds[a] * w[heads[b], m] * gains[heads[b], m] / off


@kernel
def pair_beliefs(pair_scores: FloatArray, to_arc: FloatArray, to_pair: FloatArray, out: FloatArray) -> float:
    """Belief that both arcs are ON, from the last messages; return what the pairs add to the Bethe log-partition."""
    total, ratio = 0.0, 1.0  # one logarithm for many pairs
    for p in range(len(pair_scores)):
        from_a, from_b = to_pair[0, p], to_pair[1, p]
        both = math.exp(min(max(pair_scores[p], -_STRONGEST), _STRONGEST)) * from_a * from_b
        normaliser = 1.0 + from_a + from_b + both
        out[p] = both / normaliser
        ratio *= normaliser / (1.0 + from_a * to_arc[0, p]) / (1.0 + from_b * to_arc[1, p])
        if not 1.0 / _RATIO < ratio < _RATIO:
            total += math.log(ratio)
            ratio = 1.0
    return total + math.log(ratio)
