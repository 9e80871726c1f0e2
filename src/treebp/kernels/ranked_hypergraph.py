"""Inside and outside in log space for derivations that must use certain edges.

Each number is a pair of rank and logarithm. A product adds both; a sum keeps the terms of the highest rank alone. With
a rank of one for each thing that must be used, and of which no derivation uses more than one copy, the sums at the
highest possible rank run over the derivations that use them all: the limit of giving each an infinite weight.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.hypergraph import Structure


class Ranked(NamedTuple):
    """Numbers as ranks and logarithms."""

    rank: IntArray
    log: FloatArray


@kernel
def ranked_inside(weights: Ranked, graph: Structure) -> tuple[Ranked, Ranked]:
    """Insides of nodes, and of edges without their own weight: the product of their antecedents' insides."""
    first, incoming, offsets, tails, _ = graph
    nodes, edges = len(first) - 1, len(weights.log)
    beta_rank, beta = np.zeros(nodes, np.int64), np.full(nodes, -np.inf)
    edge_rank, edge = np.zeros(edges, np.int64), np.zeros(edges)
    for i in range(nodes):
        total = 0.0
        for e in incoming[first[i] : first[i + 1]]:
            for j in tails[offsets[e] : offsets[e + 1]]:
                edge_rank[e] += beta_rank[j]
                edge[e] += beta[j]
            rank, term = weights.rank[e] + edge_rank[e], weights.log[e] + edge[e]
            if term > -np.inf:
                beta_rank[i], beta[i], total = _add(beta_rank[i], beta[i], total, rank, term)
        beta[i] += math.log(total)
    return Ranked(beta_rank, beta), Ranked(edge_rank, edge)


@kernel
def _add(rank: int, largest: float, total: float, new_rank: int, term: float) -> tuple[int, float, float]:
    """Add a term to a sum that is kept as its largest term and a total relative to that."""
    if new_rank > rank or total == 0.0:
        return new_rank, term, 1.0
    if new_rank < rank:
        return rank, largest, total
    if term > largest:
        return rank, term, total * math.exp(largest - term) + 1.0
    return rank, largest, total + math.exp(term - largest)


@kernel
def _context(q: int, e: int, weights: Ranked, beta: Ranked, graph: Structure) -> tuple[int, float]:
    """An edge's weight times the insides of its antecedents other than the one at position q."""
    rank, term = weights.rank[e], weights.log[e]
    for other in range(graph.offsets[e], graph.offsets[e + 1]):
        if other != q:
            rank += beta.rank[graph.tails[other]]
            term += beta.log[graph.tails[other]]
    return rank, term


@kernel
def ranked_outside(weights: Ranked, beta: Ranked, graph: Structure) -> Ranked:
    """Outsides of nodes: heads push terms down, so a node's sum is complete when its turn comes."""
    first, incoming, offsets, tails, root = graph
    nodes = len(beta.log)
    alpha_rank, alpha, total = np.zeros(nodes, np.int64), np.full(nodes, -np.inf), np.zeros(nodes)
    alpha[root] = 0.0
    total[root] = 1.0
    for i in range(root, -1, -1):
        alpha[i] += math.log(total[i])
        if total[i] > 0.0:
            for e in incoming[first[i] : first[i + 1]]:
                for q in range(offsets[e], offsets[e + 1]):
                    j = tails[q]
                    rank, term = _context(q, e, weights, beta, graph)
                    if term > -np.inf:
                        alpha_rank[j], alpha[j], total[j] = _add(
                            alpha_rank[j], alpha[j], total[j], rank + alpha_rank[i], term + alpha[i]
                        )
    return Ranked(alpha_rank, alpha)


@kernel
def ranked_backward(
    edge_pull: FloatArray,
    root_pull: float,
    weights: Ranked,
    beta: Ranked,
    edge: Ranked,
    alpha: Ranked,
    graph: Structure,
) -> FloatArray:
    """Adjoint of the log-weights (section 3.5, in logarithms: every factor is a share within [0, 1]).

    `edge_pull` is the adjoint of each edge's outside times antecedents, own weight left out; `root_pull` that
    of the log-partition.
    """
    first, incoming, offsets, tails, root = graph
    alpha_bar, beta_bar = np.zeros(len(beta.log)), np.zeros(len(beta.log))
    weights_bar = np.zeros(len(weights.log))
    beta_bar[root] = root_pull
    shared = np.zeros(len(tails))  # alpha_bar of an antecedent times the edge's share of that alpha
    for i in range(root + 1):
        for e in incoming[first[i] : first[i + 1]]:
            for q in range(offsets[e], offsets[e + 1]):
                j = tails[q]
                rank, term = _context(q, e, weights, beta, graph)
                rank, term = rank + alpha.rank[i], term + alpha.log[i]
                if alpha_bar[j] != 0.0 and term > -np.inf and rank == alpha.rank[j]:
                    shared[q] = alpha_bar[j] * math.exp(term - alpha.log[j])
                    weights_bar[e] += shared[q]
            alpha_bar[i] += weights_bar[e] + edge_pull[e]
    for i in range(root, -1, -1):
        for e in incoming[first[i] : first[i + 1]]:
            term = weights.log[e] + edge.log[e]
            if term > -np.inf and weights.rank[e] + edge.rank[e] == beta.rank[i]:
                weights_bar[e] += beta_bar[i] * math.exp(term - beta.log[i])
            for q in range(offsets[e], offsets[e + 1]):
                beta_bar[tails[q]] += weights_bar[e] + edge_pull[e] - shared[q]
    return weights_bar
