"""Inside, outside and back-propagation on a hypergraph, in real and in signed-log arithmetic.

Letters are the paper's: beta inside, alpha outside, `_bar` an adjoint (section 3.5).
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel


class Structure(NamedTuple):
    """A hypergraph, as kernels read it.

    The hyperedges into node i are ``incoming[first[i]:first[i + 1]]``, and the antecedents of edge e are
    ``tails[offsets[e]:offsets[e + 1]]``, all of them numbered below e's head.
    """

    first: IntArray
    incoming: IntArray
    offsets: IntArray
    tails: IntArray
    root: int


class Signed(NamedTuple):
    """Numbers as signs, +1 or -1, and logarithms of absolute values."""

    sign: FloatArray
    log: FloatArray


@kernel
def _product(beta: FloatArray, tails: IntArray, start: int, stop: int, skip: int, skip_too: int) -> float:
    """Multiply the insides of one edge's antecedents, leaving out up to two positions."""
    product = 1.0
    for position in range(start, stop):
        if position != skip and position != skip_too:
            product *= beta[tails[position]]
    return product


@kernel
def inside_real(weights: FloatArray, graph: Structure) -> FloatArray:
    """Sum over the derivations of each node, bottom-up."""
    first, incoming, offsets, tails, _ = graph
    nodes = len(first) - 1
    beta = np.zeros(nodes)
    for i in range(nodes):
        total = 0.0
        for e in incoming[first[i] : first[i + 1]]:
            total += weights[e] * _product(beta, tails, offsets[e], offsets[e + 1], -1, -1)
        beta[i] = total
    return beta


@kernel
def outside_real(weights: FloatArray, beta: FloatArray, graph: Structure) -> tuple[FloatArray, FloatArray]:
    """Sum over the contexts of each node, top-down; also the marginal of each edge."""
    first, incoming, offsets, tails, root = graph
    alpha = np.zeros(len(beta))
    edge_marginals = np.zeros(len(weights))
    alpha[root] = 1.0
    for i in range(root, -1, -1):
        for e in incoming[first[i] : first[i + 1]]:
            start, stop = offsets[e], offsets[e + 1]
            context = weights[e] * alpha[i]
            edge_marginals[e] = context * _product(beta, tails, start, stop, -1, -1) / beta[root]
            for q in range(start, stop):
                alpha[tails[q]] += context * _product(beta, tails, start, stop, q, -1)
    return alpha, edge_marginals


@kernel
def backward_real(
    node_bar: FloatArray,
    edge_bar: FloatArray,
    weights: FloatArray,
    beta: FloatArray,
    alpha: FloatArray,
    edge_marginals: FloatArray,
    graph: Structure,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Adjoints of alpha, beta and the weights: the equations of section 3.5, with edge marginals added.

    `node_bar[root]` must be zero: the root's marginal is the constant one.
    """
    first, incoming, offsets, tails, root = graph
    partition = beta[root]
    alpha_bar = node_bar * beta / partition
    beta_bar = node_bar * alpha / partition
    weights_bar = np.zeros(len(weights))
    beta_bar[root] = -(np.sum(node_bar * alpha * beta) / partition + np.sum(edge_bar * edge_marginals)) / partition
    for i in range(root + 1):
        for e in incoming[first[i] : first[i + 1]]:
            start, stop = offsets[e], offsets[e + 1]
            alpha_bar[i] += edge_bar[e] * weights[e] * _product(beta, tails, start, stop, -1, -1) / partition
            for q in range(start, stop):
                alpha_bar[i] += alpha_bar[tails[q]] * weights[e] * _product(beta, tails, start, stop, q, -1)
    for i in range(root, -1, -1):
        for e in incoming[first[i] : first[i + 1]]:
            start, stop = offsets[e], offsets[e + 1]
            # An edge's own product is reached from its head's beta and from its marginal alike.
            through = beta_bar[i] + edge_bar[e] * alpha[i] / partition
            weights_bar[e] = through * _product(beta, tails, start, stop, -1, -1)
            for q in range(start, stop):
                weights_bar[e] += alpha_bar[tails[q]] * alpha[i] * _product(beta, tails, start, stop, q, -1)
                total = through * _product(beta, tails, start, stop, q, -1)
                for k in range(start, stop):
                    if k != q:
                        total += alpha_bar[tails[k]] * alpha[i] * _product(beta, tails, start, stop, q, k)
                beta_bar[tails[q]] += weights[e] * total
    return alpha_bar, beta_bar, weights_bar


@kernel
def inside_log(weights: Signed, graph: Structure) -> tuple[Signed, Signed]:
    """Insides of nodes, then of edges: weight times the antecedents' insides."""
    first, incoming, offsets, tails, _ = graph
    nodes = len(first) - 1
    beta_sign, beta = np.ones(nodes), np.full(nodes, -np.inf)
    edge_sign, edge = weights.sign.copy(), weights.log.copy()
    for i in range(nodes):
        edges = incoming[first[i] : first[i + 1]]
        largest = -np.inf
        for e in edges:
            for j in tails[offsets[e] : offsets[e + 1]]:
                edge_sign[e] *= beta_sign[j]
                edge[e] += beta[j]
            largest = max(largest, edge[e])
        if largest > -np.inf:
            total = 0.0
            for e in edges:
                total += edge_sign[e] * math.exp(edge[e] - largest)
            if total != 0.0:
                beta[i] = largest + math.log(abs(total))
                beta_sign[i] = math.copysign(1.0, total)
    return Signed(beta_sign, beta), Signed(edge_sign, edge)


@kernel
def _log_product(beta: FloatArray, tails: IntArray, start: int, stop: int, skip: int) -> float:
    """Add up the log-insides of one edge's antecedents, leaving out one position."""
    total = 0.0
    for position in range(start, stop):
        if position != skip:
            total += beta[tails[position]]
    return total


@kernel
def outside_log(log_weights: FloatArray, insides: Signed, edge_insides: Signed, graph: Structure) -> Signed:
    """Outsides of nodes.

    Heads push terms down, so that no list of outgoing edges is needed: `alpha` holds the largest log-term so
    far and `alpha_sum` the sum relative to it, until the node's turn comes.
    """
    first, incoming, offsets, tails, root = graph
    (beta_sign, beta), edge_sign = insides, edge_insides.sign
    nodes = len(beta)
    alpha_sign, alpha, alpha_sum = np.ones(nodes), np.full(nodes, -np.inf), np.zeros(nodes)
    alpha[root] = 0.0
    alpha_sum[root] = 1.0
    for i in range(root, -1, -1):
        if alpha_sum[i] == 0.0:
            alpha[i] = -np.inf
            continue
        alpha[i] += math.log(abs(alpha_sum[i]))
        alpha_sign[i] = math.copysign(1.0, alpha_sum[i])
        for e in incoming[first[i] : first[i + 1]]:
            start, stop = offsets[e], offsets[e + 1]
            for q in range(start, stop):
                j = tails[q]
                term = log_weights[e] + alpha[i] + _log_product(beta, tails, start, stop, q)
                if term == -np.inf:
                    continue
                # The signs are +-1, so dividing by the antecedent's own is multiplying by it.
                term_sign = edge_sign[e] * beta_sign[j] * alpha_sign[i]
                if term > alpha[j]:
                    alpha_sum[j] = alpha_sum[j] * math.exp(alpha[j] - term) + term_sign
                    alpha[j] = term
                else:
                    alpha_sum[j] += term_sign * math.exp(term - alpha[j])
    return Signed(alpha_sign, alpha)


@kernel
def backward_log(
    node_pull: FloatArray,
    edge_pull: FloatArray,
    log_weights: FloatArray,
    insides: Signed,
    edge_insides: Signed,
    outsides: Signed,
    graph: Structure,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Adjoints of log alpha, log beta and the log-weights.

    `node_pull` and `edge_pull` are adjoint times marginal. The derivatives left are shares, within [0, 1]
    when no weight is negative: an edge's share of its head's beta, and its share of an antecedent's alpha.
    """
    first, incoming, offsets, tails, root = graph
    (beta_sign, beta), (edge_sign, edge), (alpha_sign, alpha) = insides, edge_insides, outsides
    alpha_bar, beta_bar = node_pull.copy(), node_pull.copy()
    beta_bar[root] -= np.sum(node_pull) + np.sum(edge_pull)
    weights_bar = edge_pull.copy()
    shared = np.zeros(len(tails))  # alpha_bar of an antecedent times the edge's share of that alpha
    for i in range(root + 1):
        for e in incoming[first[i] : first[i + 1]]:
            start, stop = offsets[e], offsets[e + 1]
            for q in range(start, stop):
                j = tails[q]
                term = log_weights[e] + alpha[i] + _log_product(beta, tails, start, stop, q)
                if term > -np.inf:
                    term_sign = edge_sign[e] * beta_sign[j] * alpha_sign[i] * alpha_sign[j]
                    shared[q] = alpha_bar[j] * term_sign * math.exp(term - alpha[j])
                    weights_bar[e] += shared[q]
            alpha_bar[i] += weights_bar[e]
    for i in range(root, -1, -1):
        for e in incoming[first[i] : first[i + 1]]:
            if edge[e] > -np.inf:
                weights_bar[e] += beta_bar[i] * edge_sign[e] * beta_sign[i] * math.exp(edge[e] - beta[i])
            for q in range(offsets[e], offsets[e + 1]):
                beta_bar[tails[q]] += weights_bar[e] - shared[q]
    return alpha_bar, beta_bar, weights_bar
