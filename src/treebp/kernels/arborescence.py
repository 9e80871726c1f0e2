"""The best spanning tree of a directed graph (Chu and Liu, 1965; Edmonds, 1967), root at node 0."""

import math

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel


@kernel
def best_arborescence(scores: FloatArray, size: int, single_root: bool, heads: IntArray) -> float:
    """Write the heads of the best tree over nodes 0..size-1; return its score, -inf where there is no tree.

    With `single_root` each word in turn is tried as the only one below the root.
    """
    if not single_root:
        return _best(scores.copy(), scores, size, heads)
    best = -math.inf
    trial = np.empty(size - 1, np.int64)
    for root in range(1, size):
        if scores[0, root] == -math.inf:
            continue
        allowed = scores.copy()
        allowed[0, :] = -math.inf
        allowed[0, root] = scores[0, root]
        score = _best(allowed, scores, size, trial)
        if score > best:
            best = score
            heads[: size - 1] = trial
    return best


@kernel
def _best(work: FloatArray, scores: FloatArray, size: int, heads: IntArray) -> float:
    """Contract cycles of best incoming arcs until there is none, then open them again; destroys `work`."""
    alive = np.ones(size, np.bool_)
    chosen = np.zeros((size, size), np.int64)  # one row per contraction: the best head of every node at that time
    members = np.zeros((size, size), np.bool_)
    names = np.empty(size, np.int64)
    enters = np.empty((size, size), np.int64)  # the cycle's node that an arc from h into the cycle enters
    leaves = np.empty((size, size), np.int64)  # the cycle's node that an arc from the cycle to m leaves
    mark = np.empty(size, np.int64)
    contractions = 0
    while True:
        best = chosen[contractions]
        for modifier in range(1, size):
            if alive[modifier]:
                top = -math.inf
                for head in range(size):
                    if alive[head] and head != modifier and work[head, modifier] > top:
                        top = work[head, modifier]
                        best[modifier] = head
                if top == -math.inf:
                    return -math.inf
        start = _find_cycle(best, alive, size, mark)
        if start < 0:
            break
        inside, enter, leave = members[contractions], enters[contractions], leaves[contractions]
        node = start
        while not inside[node]:
            inside[node] = True
            node = best[node]
        for other in range(size):
            if not alive[other] or inside[other]:
                continue
            gain = -math.inf
            out = -math.inf
            enter[other] = start
            leave[other] = start
            for node in range(1, size):
                if inside[node]:
                    if work[other, node] - work[best[node], node] > gain:
                        gain = work[other, node] - work[best[node], node]
                        enter[other] = node
                    if work[node, other] > out:
                        out = work[node, other]
                        leave[other] = node
            work[other, start] = gain
            work[start, other] = out
        for node in range(1, size):
            if inside[node] and node != start:
                alive[node] = False
        names[contractions] = start
        contractions += 1
    final = chosen[contractions].copy()
    for level in range(contractions - 1, -1, -1):
        cycle = names[level]
        entered = enters[level, final[cycle]]
        outer = final[cycle]
        for node in range(1, size):
            if members[level, node]:
                final[node] = chosen[level, node]
            elif final[node] == cycle:
                final[node] = leaves[level, node]
        final[entered] = outer
    total = 0.0
    for modifier in range(1, size):
        heads[modifier - 1] = final[modifier]
        total += scores[final[modifier], modifier]
    return total


@kernel
def _find_cycle(best: IntArray, alive: BoolArray, size: int, mark: IntArray) -> int:
    """Return a node on a cycle of the best heads, or -1."""
    mark[:] = 0
    for start in range(1, size):
        node = start
        while node != 0 and alive[node] and mark[node] == 0:
            mark[node] = start
            node = best[node]
        if node != 0 and alive[node] and mark[node] == start:
            return node
    return -1
