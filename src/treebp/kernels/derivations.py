"""The best derivations of a hypergraph's root, and random ones."""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.hypergraph import Structure


@kernel
def kbest(log_weights: FloatArray, k: int, graph: Structure) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """List the k best derivations of every node, bottom-up, best first.

    Returns how many each node has (N,), their scores (N, k), their last edges (N, k) and, per antecedent of
    that edge, the rank of the derivation used there (N, k, largest number of antecedents).
    """
    first, incoming, offsets, tails, _ = graph
    nodes = len(first) - 1
    arity = 0
    for e in range(len(offsets) - 1):
        arity = max(arity, offsets[e + 1] - offsets[e])
    count = np.zeros(nodes, np.int64)
    score = np.full((nodes, k), -np.inf)
    edge = np.zeros((nodes, k), np.int64)
    rank = np.zeros((nodes, k, arity), np.int64)
    for i in range(nodes):
        for e in incoming[first[i] : first[i + 1]]:
            antecedents = tails[offsets[e] : offsets[e + 1]]
            best = log_weights[e]
            for j in antecedents:
                best += score[j, 0]
            if best <= score[i, k - 1]:  # also true of an impossible edge
                continue
            # The k best ways to fill the antecedents seen so far. Way x extended by the antecedent's y-th
            # derivation has (x + 1)(y + 1) - 1 others that are no worse, so pairs beyond k of these need no
            # look.
            ways = np.full(1, log_weights[e])
            choices = np.zeros((1, arity), np.int64)
            for position, j in enumerate(antecedents):
                size = 0
                for x in range(len(ways)):
                    size += min(count[j], k // (x + 1))
                sums = np.empty(size)
                left, right = np.empty(size, np.int64), np.empty(size, np.int64)
                size = 0
                for x in range(len(ways)):
                    for y in range(min(count[j], k // (x + 1))):
                        sums[size] = ways[x] + score[j, y]
                        left[size], right[size] = x, y
                        size += 1
                order = np.argsort(-sums)[:k]
                ways = sums[order]
                choices = choices[left[order]]
                choices[:, position] = right[order]
            # Insertion from the worst end: both lists are sorted.
            for x in range(len(ways)):
                if ways[x] <= score[i, k - 1]:
                    break
                slot = min(count[i], k - 1)
                while slot > 0 and score[i, slot - 1] < ways[x]:
                    score[i, slot] = score[i, slot - 1]
                    edge[i, slot] = edge[i, slot - 1]
                    rank[i, slot] = rank[i, slot - 1]
                    slot -= 1
                score[i, slot] = ways[x]
                edge[i, slot] = e
                rank[i, slot] = choices[x]
                count[i] = min(count[i] + 1, k)
    return count, score, edge, rank


@kernel
def sample(
    uniform: np.random.Generator,
    samples: int,
    beta: FloatArray,
    edge: FloatArray,
    graph: Structure,
) -> tuple[IntArray, IntArray]:
    """Draw derivations top-down, each edge with its share of its head's inside (`beta`, `edge`: log-insides).

    Returns all edges in one array and the bounds of each derivation in it (samples + 1,).
    """
    first, incoming, offsets, tails, root = graph
    drawn = np.empty(64, np.int64)
    bounds = np.zeros(samples + 1, np.int64)
    waiting = np.empty(64, np.int64)
    size = 0
    for s in range(samples):
        waiting[0] = root
        depth = 1
        while depth > 0:
            depth -= 1
            i = waiting[depth]
            remaining = uniform.random()
            chosen = -1
            for e in incoming[first[i] : first[i + 1]]:
                share = math.exp(edge[e] - beta[i])
                if share > 0.0:
                    chosen = e  # rounding may leave a little of `remaining` after the last possible edge
                    remaining -= share
                    if remaining < 0.0:
                        break
            if size == len(drawn):
                drawn = np.concatenate((drawn, np.empty_like(drawn)))
            drawn[size] = chosen
            size += 1
            antecedents = tails[offsets[chosen] : offsets[chosen + 1]]
            while depth + len(antecedents) > len(waiting):
                waiting = np.concatenate((waiting, np.empty_like(waiting)))
            for j in antecedents[::-1]:
                waiting[depth] = j
                depth += 1
        bounds[s + 1] = size
    return drawn[:size], bounds
