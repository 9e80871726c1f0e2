"""Messages of many tree factors in real arithmetic, and their derivatives: what all kinds of trees have in common.

Messages are log-odds. Z is linear in each arc's weight, and its derivative, the arc's gain, sums over the trees with
that arc. So the odds that the factor sends an arc are its gain over the sum of the other heads' marginals: nothing is
divided by an incoming message, and nothing subtracted from one. Gains come from ``projective_group`` or
``spanning_group``: a program that needs one of them compiles one of them. A tree for which real arithmetic is not good
enough is refused, and left to ``treebp.bp.log_trees``.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import exp, log

_LIGHTEST = -690.0  # the log of the smallest weight beside the largest one of its modifier
_FAINT = 1e-290  # what is smaller may have lost digits to underflow


class Arcs(NamedTuple):
    """Candidate arcs of several trees, tree after tree, sorted by modifier.

    Tree t has ``sizes[t]`` positions, 0 being the root; its arcs begin at ``first[t]``, and those of its modifier m are
    ``first[t] + starts[k + m - 1]`` to ``first[t] + starts[k + m] - 1``, k being the sum of the sizes before.
    """

    sizes: IntArray
    first: IntArray
    heads: IntArray
    modifiers: IntArray
    starts: IntArray


class Sums(NamedTuple):
    """Sums over the trees of each factor.

    Attributes:
        weights: matrices (size, size) of all trees end to end, those of each modifier beside its largest.
        gains: likewise; marginal = weight * gain.
        charts: what the derivative needs, (CHARTS, size, size) of each tree end to end, or scratch for the largest one.
        tops: (positions,) the largest log-odds of each modifier.
        lightest: (trees,) log of the lightest tree there may be; -inf where real arithmetic will not do.
        log_partitions: (trees,) of the weights; NaN where the gains are not right to the digits.
        by_walks: (trees,) whether it took ``treebp.kernels.walks``.
        refused: (trees,) whether the marginals and messages are left open.

    """

    weights: FloatArray
    gains: FloatArray
    charts: FloatArray
    tops: FloatArray
    lightest: FloatArray
    log_partitions: FloatArray
    by_walks: BoolArray
    refused: BoolArray


@kernel
def weigh_trees(arcs: Arcs, incoming: FloatArray, sums: Sums) -> None:
    """Fill in the weights that log-odds are, and what is left out of them."""
    position, matrix = 0, 0
    logits = np.empty(len(incoming))
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        weights = sums.weights[matrix : matrix + size * size].reshape(size, size)
        sums.lightest[t] = _weigh(
            arcs.heads[begin:end],
            arcs.starts[position : position + size],
            incoming[begin:end],
            logits[begin:end],
            weights,
            sums.tops[position : position + size],
        )
        position, matrix = position + size, matrix + size * size


@inlined
def _weigh(
    heads: IntArray, starts: IntArray, log_odds: FloatArray, logits: FloatArray, weights: FloatArray, tops: FloatArray
) -> float:
    """Fill in weights, those of each modifier beside its largest; return the log of the lightest tree there may be.

    That is -inf where real arithmetic will not do: a modifier without a head, with one that is certain, or with one
    that weighs nearly nothing.
    """
    for m in range(1, len(starts)):
        top = -math.inf
        for a in range(starts[m - 1], starts[m]):
            top = max(top, log_odds[a])
        tops[m] = top
        if not -math.inf < top < math.inf:
            return -math.inf
        for a in range(starts[m - 1], starts[m]):
            logits[a] = log_odds[a] - top
    lightest = 0.0
    weights[:] = 0.0
    for m in range(1, len(starts)):
        low = 0.0
        for a in range(starts[m - 1], starts[m]):
            if logits[a] > -math.inf:  # an arc that is forbidden weighs nothing
                low = min(low, logits[a])
        lightest += low
        if low < _LIGHTEST:
            return -math.inf
    for a in range(np.uint64(len(logits))):
        logits[a] = exp(logits[a]) if logits[a] > -math.inf else 0.0
    for m in range(1, len(starts)):
        for a in range(starts[m - 1], starts[m]):
            weights[heads[a], m] = logits[a]
    return lightest


@kernel
def send_trees(arcs: Arcs, sums: Sums, marginals: FloatArray, outgoing: FloatArray) -> int:
    """Write the marginals of all arcs and, unless there is no room, the messages to them; complete the log-partitions.

    Return how many trees are refused.
    """
    position, matrix, refused = 0, 0, 0
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        starts, tops = arcs.starts[position : position + size], sums.tops[position : position + size]
        weights = sums.weights[matrix : matrix + size * size].reshape(size, size)
        gains = sums.gains[matrix : matrix + size * size].reshape(size, size)
        position, matrix = position + size, matrix + size * size
        sums.refused[t] = math.isnan(sums.log_partitions[t])
        sums.log_partitions[t] += tops[1:size].sum()
        if not sums.refused[t]:
            for a in range(begin, end):
                head, modifier = arcs.heads[a], arcs.modifiers[a]
                marginals[a] = weights[head, modifier] * gains[head, modifier]
            if len(outgoing):
                sums.refused[t] = not _messages(
                    arcs.heads[begin:end], starts, weights, gains, tops, marginals[begin:end], outgoing[begin:end]
                )
        refused += sums.refused[t]
    return refused


@inlined
def _messages(
    heads: IntArray,
    starts: IntArray,
    weights: FloatArray,
    gains: FloatArray,
    tops: FloatArray,
    marginals: FloatArray,
    outgoing: FloatArray,
) -> bool:
    """Log-odds of each arc but for its own message: gain over what its modifier's other heads have.

    Return whether that did not underflow.
    """
    off = np.empty(len(heads))
    for m in range(1, len(starts)):
        begin, end = starts[m - 1], starts[m]
        running, possible = 0.0, 0
        for a in range(begin, end):
            off[a] = running
            running += marginals[a]
            outgoing[a] = gains[heads[a], m]
            possible += 1 if outgoing[a] > 0.0 and weights[heads[a], m] > 0.0 else 0
        running = 0.0
        for a in range(end - 1, begin - 1, -1):
            off[a] += running
            running += marginals[a]
            if off[a] < _FAINT and possible > (1 if outgoing[a] > 0.0 and weights[heads[a], m] > 0.0 else 0):
                return False
    for a in range(np.uint64(len(off))):
        on = outgoing[a]
        value = log(on) - log(off[a])
        value = value if on > 0.0 else -math.inf
        outgoing[a] = value if off[a] > 0.0 else math.inf
    for m in range(1, len(starts)):
        for a in range(starts[m - 1], starts[m]):
            outgoing[a] -= tops[m]
    return True


@kernel
def send_trees_backward(
    arcs: Arcs,
    sums: Sums,
    marginals: FloatArray,
    of_messages: FloatArray,
    of_marginals: FloatArray,
    of_weights: FloatArray,
    of_gains: FloatArray,
) -> None:
    """Write the adjoints of log weights and gains, given those of messages or of marginals; one of them is empty."""
    position, matrix = 0, 0
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        starts = arcs.starts[position : position + size]
        gains = sums.gains[matrix : matrix + size * size].reshape(size, size)
        position, matrix = position + size, matrix + size * size
        if sums.refused[t]:
            continue
        if len(of_marginals):
            for a in range(begin, end):
                of_weights[a] = of_marginals[a] * marginals[a]
                of_gains[a] = of_weights[a]
        else:
            _through_messages(
                arcs.heads[begin:end],
                starts,
                gains,
                marginals[begin:end],
                of_messages[begin:end],
                of_weights[begin:end],
                of_gains[begin:end],
            )
        if sums.by_walks[t]:
            _centre(starts, marginals[begin:end], of_weights[begin:end], of_gains[begin:end])


@inlined
def _centre(starts: IntArray, marginals: FloatArray, of_weights: FloatArray, of_gains: FloatArray) -> None:
    """Take account of that the marginals of a modifier's arcs sum to one: then gains may have any unit."""
    for m in range(1, len(starts)):
        total = 0.0
        for a in range(starts[m - 1], starts[m]):
            total += of_gains[a]
        for a in range(starts[m - 1], starts[m]):
            of_weights[a] -= marginals[a] * total
            of_gains[a] -= marginals[a] * total


@inlined
def _through_messages(
    heads: IntArray,
    starts: IntArray,
    gains: FloatArray,
    marginals: FloatArray,
    adjoint: FloatArray,
    of_weights: FloatArray,
    of_gains: FloatArray,
) -> None:
    """From the adjoints of messages to those of log weights and log gains; infinite messages have no derivative."""
    of_weights[:] = 0.0
    of_gains[:] = 0.0
    for m in range(1, len(starts)):
        for a in range(starts[m - 1], starts[m]):
            if adjoint[a] == 0.0 or gains[heads[a], m] == 0.0:
                continue
            off = 0.0
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    off += marginals[b]
            if off == 0.0:
                continue
            of_gains[a] += adjoint[a]
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    share = adjoint[a] * marginals[b] / off
                    of_weights[b] -= share
                    of_gains[b] -= share
