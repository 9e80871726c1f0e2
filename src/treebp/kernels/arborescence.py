"""The best spanning tree of a directed graph (Chu and Liu, 1965; Edmonds, 1967), root at node 0, in O(n^2).

Walk from each word to its best head, to that one's best head, and so on (Tarjan, 1977). A walk that comes to the root,
or to where an earlier one has been, is done. One that bites its own tail has found a cycle, which becomes one node: its
arcs are those of its words, less what the word's arc in the cycle is worth, and the walk goes on from there. At last
each cycle is opened at the word that the arc into it leads to.

With one root word, any arc from a word is better than one from the root: the best tree then has as few arcs from the
root as can be, and of those trees it is the best. This needs no search among the root words, nor a number to stand for
infinity: an arc into a cycle comes from the root or it does not, whatever is taken off its score.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel


class _Contracted(NamedTuple):
    """The graph, some of whose cycles have become nodes; a node is in the row that one of its words had.

    Attributes:
        work: (rows, rows) what arcs are worth, `work[modifier, head]`.
        heads, modifiers: likewise, between which words they really are.
        alive: (rows,) whether there is a node in the row.
        best: (rows,) the row of a node's best head, where a walk has been.
        names: (rows,) the number of the node in each row: a word's own, or from `size` on.
        parents: (nodes,) the cycle that a node has gone into.

    """

    work: FloatArray
    heads: IntArray
    modifiers: IntArray
    alive: BoolArray
    best: IntArray
    names: IntArray
    parents: IntArray


@kernel
def best_arborescence(scores: FloatArray, size: int, single_root: bool, heads: IntArray) -> float:
    """Write the heads of the best tree over nodes 0..size-1; return its score, -inf where there is no tree."""
    graph = _Contracted(
        scores[:size, :size].T.copy(),
        np.empty((size, size), np.int64),
        np.empty((size, size), np.int64),
        np.ones(size, np.bool_),
        np.zeros(size, np.int64),
        np.arange(size),
        np.full(2 * size, -1),
    )
    for row in range(size):
        graph.modifiers[row] = row
        graph.heads[row] = np.arange(size)
    arc_heads, arc_modifiers = np.zeros(2 * size, np.int64), np.zeros(2 * size, np.int64)  # the arc into each node
    walk = np.zeros(size, np.int64)  # which walk has been in a row; 0 if none
    walk[0] = size
    nodes = size
    for start in range(1, size):
        row = start
        while walk[row] == 0:
            walk[row] = start
            head = _best_head(graph, row, single_root)
            if head < 0:
                return -math.inf
            graph.best[row] = head
            arc_heads[graph.names[row]] = graph.heads[row, head]
            arc_modifiers[graph.names[row]] = graph.modifiers[row, head]
            row = head
            if walk[row] == start:
                _contract(graph, row, nodes, walk)
                nodes += 1
    for node in range(nodes - 1, size - 1, -1):
        entered = arc_modifiers[node]
        while graph.parents[entered] != node:
            entered = graph.parents[entered]
        arc_heads[entered], arc_modifiers[entered] = arc_heads[node], arc_modifiers[node]
    total, roots = 0.0, 0
    for modifier in range(1, size):
        head = arc_heads[modifier]
        heads[modifier - 1] = head
        total += scores[head, modifier]
        roots += head == 0
    return -math.inf if single_root and roots > 1 else total


@kernel
def _best_head(graph: _Contracted, row: int, single_root: bool) -> int:
    """The row of a node's best head, -1 if there is none; among equals, the first."""
    top, best = -math.inf, -1
    work = graph.work[row]
    for head in range(1 if single_root else 0, len(work)):
        if work[head] > top and graph.alive[head] and head != row:
            top, best = work[head], head
    return 0 if best < 0 and work[0] > -math.inf else best


@kernel
def _contract(graph: _Contracted, row: int, node: int, walk: IntArray) -> None:
    """Put the cycle that a row is in, as a new node, into that row, where no walk has been yet."""
    size, work, best = len(walk), graph.work, graph.best
    members, count = np.empty(size, np.int64), 0
    inside = np.zeros(size, np.bool_)
    member = row
    while not inside[member]:
        inside[member] = True
        members[count] = member
        graph.parents[graph.names[member]] = node
        count += 1
        member = best[member]
    enters = np.full(size, -math.inf)
    for k in range(count):
        member = members[k]
        cost = work[member, best[member]]
        for other in range(size):
            gain = work[member, other] - cost
            if gain > enters[other]:
                enters[other] = gain
                graph.heads[row, other], graph.modifiers[row, other] = (
                    graph.heads[member, other],
                    graph.modifiers[member, other],
                )
    work[row] = enters
    for other in range(1, size):
        if inside[other] or not graph.alive[other]:
            continue
        leave = row
        for k in range(1, count):
            if work[other, members[k]] > work[other, leave]:
                leave = members[k]
        work[other, row] = work[other, leave]
        graph.heads[other, row], graph.modifiers[other, row] = graph.heads[other, leave], graph.modifiers[other, leave]
        if inside[best[other]]:
            best[other] = row
    for k in range(1, count):
        graph.alive[members[k]] = False
    graph.names[row] = node
    walk[row] = 0
