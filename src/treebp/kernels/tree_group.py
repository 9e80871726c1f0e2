"""Messages of many tree factors in real arithmetic, and best trees: what all kinds of trees have in common.

Messages are log-odds. Z is linear in each arc's weight, and its derivative, the arc's gain, sums over the trees with
that arc. So the odds that the factor sends an arc are its gain over the sum of the other heads' marginals: nothing is
divided by an incoming message, and nothing subtracted from one. Gains come from ``projective_group`` or
``spanning_group``: a program that needs one of them compiles one of them. A tree for which real arithmetic is not good
enough is refused, and left to ``treebp.bp.log_trees``. Derivatives are in ``tree_gradient``.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import FAINT, exp, log

_LIGHTEST = -690.0  # the log of the smallest weight beside the largest one of its modifier


class TreeArcs(NamedTuple):
    """Candidate arcs of several trees, tree after tree, sorted by modifier.

    Tree t has ``sizes[t]`` positions, 0 being the root; its arcs begin at ``first[t]``, and those of its modifier m are
    ``first[t] + starts[k + m - 1]`` to ``first[t] + starts[k + m] - 1``, k being the sum of the sizes before.
    """

    sizes: IntArray
    first: IntArray
    heads: IntArray
    modifiers: IntArray
    starts: IntArray


class TreeSums(NamedTuple):
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
def first_arcs(sizes: IntArray, modifiers: IntArray) -> IntArray:
    """Where each tree's arcs begin (trees + 1,), every modifier having one at least; -1 at the end if none fits."""
    first = np.zeros(len(sizes) + 1, np.int64)
    arc = 0
    for t in range(len(sizes)):
        first[t] = arc
        for modifier in range(1, sizes[t]):
            begin = arc
            while arc < len(modifiers) and modifiers[arc] == modifier and (sizes[t] > 2 or arc == begin):
                arc += 1
            if arc == begin:
                first[-1] = -1
                return first
    first[-1] = arc if arc == len(modifiers) else -1
    return first


@kernel
def weigh_trees(arcs: TreeArcs, incoming: FloatArray, sums: TreeSums) -> None:
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
def send_trees(arcs: TreeArcs, sums: TreeSums, marginals: FloatArray, outgoing: FloatArray) -> int:
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
            if off[a] < FAINT and possible > (1 if outgoing[a] > 0.0 and weights[heads[a], m] > 0.0 else 0):
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
def best_heads_of_arcs(
    arcs: TreeArcs, scores: FloatArray, projective: bool, single_root: bool
) -> tuple[IntArray, BoolArray]:
    """The best heads of all words, and for which trees that settles it: they make one, or there is none."""
    sizes, heads, starts = arcs.sizes, arcs.heads, arcs.starts
    found, settled = np.empty(sizes.sum() - len(sizes), np.int64), np.empty(len(sizes), np.bool_)
    position, arc, word = 0, 0, 0
    for t in range(len(sizes)):
        size, some_tree = sizes[t], True
        for modifier in range(1, size):
            head, best = 0, -math.inf
            for a in range(arc + starts[position + modifier - 1], arc + starts[position + modifier]):
                if scores[a] > best or (scores[a] == best and heads[a] < head):
                    head, best = heads[a], scores[a]
            found[word + modifier - 1] = head
            some_tree &= best > -math.inf
        settled[t] = not some_tree or is_tree(found[word : word + size - 1], projective, single_root)
        position, arc, word = position + size, arc + starts[position + size - 1], word + size - 1
    return found, settled


@kernel
def is_tree(heads: IntArray, projective: bool, single_root: bool) -> bool:
    """Whether heads (each in 0..n) form a tree of the given kind."""
    n = len(heads)
    roots = 0
    for modifier in range(1, n + 1):
        roots += heads[modifier - 1] == 0
        node = modifier
        steps = 0
        while node != 0:
            node = heads[node - 1]
            steps += 1
            if steps > n:
                return False
    if single_root and roots != 1:
        return False
    if projective:
        # Two arcs that cross: one end of the second lies strictly inside the first, the other strictly outside.
        for a in range(1, n + 1):
            low, high = min(a, heads[a - 1]), max(a, heads[a - 1])
            for b in range(low + 1, high):
                if heads[b - 1] < low or heads[b - 1] > high:
                    return False
    return True


@kernel
def arc_matrix(size: int, heads: IntArray, modifiers: IntArray, scores: FloatArray) -> FloatArray:
    """Scores of arcs by head and modifier, -inf for those that are not there."""
    matrix = np.full((size, size), -math.inf)
    for a in range(len(heads)):
        matrix[heads[a], modifiers[a]] = scores[a]
    return matrix
