"""Messages of factors that score which ON variable of a sequence follows which, by forward-backward over all pairs.

The nodes of a sequence of k variables are its begin, 0, the variables, 1 to k, and its end, k + 1; both ends are always
ON. A pair (i, j) of ON nodes with none between them has a score: that of begin and end alone is zero, the others are
listed for i from 0 to k and for j from i + 1 to k + 1. Sequence s has the variables ``first[s]`` to
``first[s + 1] - 1``, its scores begin at ``first_score[s]``, and what is kept of its nodes at ``first[s] + 2 s``.

Everything is a logarithm, OFF weighs one, and nothing is subtracted. A variable that is *certain*, with log-odds of
infinity, cannot be skipped: a pair may not reach over it, but for the sum over joint states in which it is OFF.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.intrinsics import exp, log, softplus
from treebp.kernels.log_sums import share


class SuccessionArrays(NamedTuple):
    """Where the variables and the scores of each sequence begin, (sequences + 1,) each."""

    first: IntArray
    first_score: IntArray


class SuccessionSums(NamedTuple):
    """Of each node: sums over what is before and after it, itself left out, and over all joint states without it."""

    before: FloatArray
    after: FloatArray
    without: FloatArray


class _Nodes(NamedTuple):
    """One sequence: the weights of nodes, the certain ones next to each, the scores of all pairs, and room for sums."""

    weights: FloatArray
    since: IntArray
    until: IntArray
    scores: FloatArray
    terms: FloatArray


@kernel
def _room(sequences: SuccessionArrays) -> _Nodes:
    """Memory for the longest sequence."""
    most = 0
    for s in range(len(sequences.first) - 1):
        most = max(most, sequences.first[s + 1] - sequences.first[s] + 2)
    ints = np.empty((2, most), np.int64)
    return _Nodes(np.empty(most), ints[0], ints[1], np.empty((most, most)), np.empty(most))


@kernel
def _nodes(sequences: SuccessionArrays, s: int, log_odds: FloatArray, scores: FloatArray, room: _Nodes) -> _Nodes:
    """Fill in what there is to know of a sequence."""
    begin, end = sequences.first[s], sequences.first[s + 1]
    last = end - begin + 1
    weights, since, until = room.weights[: last + 1], room.since[: last + 1], room.until[: last + 1]
    table = room.scores
    weights[0], weights[last], table[0, last] = 0.0, 0.0, 0.0
    since[0] = 0
    until[:] = last
    place = sequences.first_score[s]
    for i in range(last):
        for j in range(i + 1, last + 1):
            if i > 0 or j < last:
                table[i, j] = scores[place]
                place += 1
    certain = 0
    for node in range(1, last):
        odds = log_odds[begin + node - 1]
        since[node] = certain
        weights[node] = odds
        if odds == math.inf:
            weights[node] = 0.0
            until[certain:node] = node
            certain = node
    since[last] = certain
    return _Nodes(weights, since, until, table, room.terms)


@kernel
def _log_sum(terms: FloatArray, count: int) -> float:
    top = -math.inf
    for k in range(count):
        top = max(top, terms[k])
    if top == -math.inf:
        return top
    for k in range(np.uint64(count)):  # many at a time
        terms[k] = exp(terms[k] - top)
    total = 0.0
    for k in range(count):
        total += terms[k]
    return top + log(total)


@kernel
def send_successions(
    sequences: SuccessionArrays, scores: FloatArray, incoming: FloatArray, sums: SuccessionSums, outgoing: FloatArray
) -> None:
    """Messages to all variables, and the sums that they are made of; O(k^2)."""
    room = _room(sequences)
    reaching = np.empty(len(room.weights))
    for s in range(len(sequences.first) - 1):
        nodes = _nodes(sequences, s, incoming, scores, room)
        last = len(nodes.weights) - 1
        base, begin = sequences.first[s] + 2 * s, sequences.first[s]
        before, after = sums.before[base : base + last + 1], sums.after[base : base + last + 1]
        without = sums.without[base : base + last + 1]
        _run(nodes, before, after)
        _skip(nodes, before, after, without, reaching)
        for node in range(1, last):
            outgoing[begin + node - 1] = (before[node] + after[node]) - without[node]


@kernel
def _run(nodes: _Nodes, before: FloatArray, after: FloatArray) -> None:
    """Fill in the sums before and after each node; those before the end are over everything."""
    weights, since, until, scores, terms = nodes
    last = len(weights) - 1
    before[0], after[last] = 0.0, 0.0
    for j in range(1, last + 1):
        for i in range(since[j], j):
            terms[i - since[j]] = before[i] + weights[i] + scores[i, j]
        before[j] = _log_sum(terms, j - since[j])
    for i in range(last - 1, -1, -1):
        for j in range(i + 1, until[i] + 1):
            terms[j - i - 1] = scores[i, j] + weights[j] + after[j]
        after[i] = _log_sum(terms, until[i] - i)


@kernel
def _skip(nodes: _Nodes, before: FloatArray, after: FloatArray, without: FloatArray, reaching: FloatArray) -> None:
    """Fill in the sums without each variable: those over all pairs that reach over it, and no certain one besides."""
    weights, since, until, scores, terms = nodes
    last = len(weights) - 1
    # Of each node, the sum over the pairs that end there and begin before the variable of this turn.
    for v in range(1, last):
        i = v - 1
        start = before[i] + weights[i]
        for j in range(v + 1, last + 1):
            one = start + scores[i, j] + weights[j] + after[j]
            if since[v] < i:
                top, low = max(one, reaching[j]), min(one, reaching[j])
                one = top + softplus(low - top) if low > -math.inf else top
            reaching[j] = one
        for j in range(v + 1, until[v] + 1):
            terms[j - v - 1] = reaching[j]
        without[v] = _log_sum(terms, until[v] - v)


@kernel
def send_successions_backward(
    sequences: SuccessionArrays,
    scores: FloatArray,
    incoming: FloatArray,
    sums: SuccessionSums,
    adjoint: FloatArray,
    of_incoming: FloatArray,
    of_scores: FloatArray,
) -> None:
    """Write the adjoints of the log-odds received, and add those of the scores; infinite messages have none."""
    room = _room(sequences)
    most = len(room.weights)
    of_nodes, of_pairs = np.empty((4, most)), np.empty((most, most))
    for s in range(len(sequences.first) - 1):
        nodes = _nodes(sequences, s, incoming, scores, room)
        last = len(nodes.weights) - 1
        base, begin = sequences.first[s] + 2 * s, sequences.first[s]
        before, after = sums.before[base : base + last + 1], sums.after[base : base + last + 1]
        without = sums.without[base : base + last + 1]
        own, of_weights, of_before, of_after = of_nodes[0], of_nodes[1], of_nodes[2], of_nodes[3]
        of_nodes[:, : last + 1] = 0.0
        of_pairs[: last + 1, : last + 1] = 0.0
        for node in range(1, last):
            if before[node] + after[node] > -math.inf and without[node] > -math.inf:
                own[node] = of_before[node] = of_after[node] = adjoint[begin + node - 1]
        _skip_backward(nodes, before, after, without, own, of_before, of_after, of_weights, of_pairs)
        _run_backward(nodes, before, after, of_before, of_after, of_weights, of_pairs)
        for node in range(1, last):
            odds = incoming[begin + node - 1]
            of_incoming[begin + node - 1] = of_weights[node] if -math.inf < odds < math.inf else 0.0
        _add_pairs(of_pairs, last, of_scores, sequences.first_score[s])


@kernel
def _skip_backward(
    nodes: _Nodes,
    before: FloatArray,
    after: FloatArray,
    without: FloatArray,
    adjoint: FloatArray,
    of_before: FloatArray,
    of_after: FloatArray,
    of_weights: FloatArray,
    of_pairs: FloatArray,
) -> None:
    """Each pair's share in the sums without the variables that it reaches over, whose adjoint has the sign turned.

    For pairs that begin at one node, these variables are one more for each next end: ``shares`` adds up their adjoints,
    each over its sum, all times the least of these, which no pair among them exceeds.
    """
    weights, _, until, scores, _ = nodes
    last = len(weights) - 1
    for i in range(last):
        start = before[i] + weights[i]
        if start == -math.inf:
            continue
        shares, least = 0.0, math.inf
        stop = until[i]
        for j in range(i + 2, until[stop] + 1):
            if j <= stop + 1:
                v = j - 1
                if j == stop + 1:  # from here on, over the certain variable alone, and from it to the next one
                    shares, least = 0.0, math.inf
                if adjoint[v] != 0.0:
                    if without[v] < least:
                        shares = shares * share(without[v] - least) + adjoint[v]
                        least = without[v]
                    else:
                        shares += adjoint[v] * share(least - without[v])
            if shares != 0.0:
                part = -shares * share(start + scores[i, j] + weights[j] + after[j] - least)
                of_pairs[i, j] += part
                of_before[i] += part
                of_weights[i] += part
                of_after[j] += part
                of_weights[j] += part


@kernel
def _run_backward(
    nodes: _Nodes,
    before: FloatArray,
    after: FloatArray,
    of_before: FloatArray,
    of_after: FloatArray,
    of_weights: FloatArray,
    of_pairs: FloatArray,
) -> None:
    weights, since, until, scores, _ = nodes
    last = len(weights) - 1
    for j in range(last, 0, -1):
        if of_before[j] != 0.0 and before[j] > -math.inf:
            for i in range(since[j], j):
                part = of_before[j] * share(before[i] + weights[i] + scores[i, j] - before[j])
                of_pairs[i, j] += part
                of_before[i] += part
                of_weights[i] += part
    for i in range(last):
        if of_after[i] != 0.0 and after[i] > -math.inf:
            for j in range(i + 1, until[i] + 1):
                part = of_after[i] * share(scores[i, j] + weights[j] + after[j] - after[i])
                of_pairs[i, j] += part
                of_after[j] += part
                of_weights[j] += part


@kernel
def _add_pairs(of_pairs: FloatArray, last: int, of_scores: FloatArray, place: int) -> None:
    for i in range(last):
        for j in range(i + 1, last + 1):
            if i > 0 or j < last:
                of_scores[place] += of_pairs[i, j]
                place += 1


@kernel
def succession_sums(
    sequences: SuccessionArrays, scores: FloatArray, incoming: FloatArray, expectations: FloatArray
) -> FloatArray:
    """Write the probability of each pair, NaN if no joint state is left; return log-partitions (sequences,).

    Messages count as probabilities.
    """
    log_partitions = np.empty(len(sequences.first) - 1)
    room = _room(sequences)
    for s in range(len(log_partitions)):
        nodes = _nodes(sequences, s, incoming, scores, room)
        last = len(nodes.weights) - 1
        before, after, of_pairs = np.empty(last + 1), np.empty(last + 1), np.zeros((last + 1, last + 1))
        _run(nodes, before, after)
        total = before[last]
        for i in range(last):
            for j in range(i + 1, nodes.until[i] + 1):
                joint = before[i] + nodes.weights[i] + nodes.scores[i, j] + nodes.weights[j] + after[j]
                of_pairs[i, j] = share(joint - total) if total > -math.inf else math.nan
        begin, end = sequences.first_score[s], sequences.first_score[s + 1]
        expectations[begin:end] = 0.0
        _add_pairs(of_pairs, last, expectations, begin)
        log_partitions[s] = total
        for v in range(1, last):
            log_partitions[s] -= softplus(nodes.weights[v]) if nodes.since[v + 1] != v else 0.0
    return log_partitions
