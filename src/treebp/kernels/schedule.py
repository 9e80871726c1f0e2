"""How far from the root of its component each edge of a factor graph is."""

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.kernels._jit import kernel


@kernel
def edge_depths(
    edge_variable: IntArray, edge_factor: IntArray, structured: BoolArray, variables: int, factors: int
) -> IntArray:
    """Depth of each edge's deeper end in a breadth-first spanning tree: even if that is a factor, odd if a variable.

    Each component has a root: its structured factor with most variables, at depth 0; without any, its first variable,
    at depth 1. ``structured`` says so of each edge's factor.
    """
    edges = len(edge_variable)
    # Nodes are the variables, and then the factors; neighbours in the order of the edges.
    first = np.zeros(variables + factors + 1, np.int64)
    is_structured = np.zeros(factors, np.bool_)
    for edge in range(edges):
        first[edge_variable[edge] + 1] += 1
        first[variables + edge_factor[edge] + 1] += 1
        is_structured[edge_factor[edge]] = structured[edge]
    first = np.cumsum(first)
    neighbours, fill = np.empty(2 * edges, np.int64), first.copy()
    for edge in range(edges):
        variable, factor = edge_variable[edge], variables + edge_factor[edge]
        neighbours[fill[variable]] = factor
        neighbours[fill[factor]] = variable
        fill[variable] += 1
        fill[factor] += 1
    roots = np.flatnonzero(is_structured) + variables
    widths = np.empty(len(roots))
    for k in range(len(roots)):
        widths[k] = first[roots[k]] - first[roots[k] + 1]
    roots = roots[np.argsort(widths, kind="mergesort")]
    depth = np.full(variables + factors, -1)
    queue = np.empty(variables + factors, np.int64)
    for k in range(len(roots) + variables):
        root = roots[k] if k < len(roots) else k - len(roots)
        if depth[root] >= 0:
            continue
        depth[root] = 0 if k < len(roots) else 1
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for neighbour in neighbours[first[node] : first[node + 1]]:
                if depth[neighbour] < 0:
                    depth[neighbour] = depth[node] + 1
                    queue[tail] = neighbour
                    tail += 1
    deeper = np.empty(edges, np.int64)
    for edge in range(edges):
        deeper[edge] = max(depth[edge_variable[edge]], depth[variables + edge_factor[edge]])
    return deeper
