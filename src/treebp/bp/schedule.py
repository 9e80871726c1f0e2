"""In which order belief propagation sends its messages."""

from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from treebp._types import IntArray
from treebp.bp.compiled import CompiledGraph

Schedule: TypeAlias = Literal["serial", "parallel"]


@dataclass(frozen=True)
class Phase:
    """Messages that do not depend on each other and are sent at once."""

    from_variables: bool
    edges: IntArray  # all edges along which a message is sent; edges of one variable are neighbours
    entries: IntArray  # the entries of those messages
    table_edges: IntArray  # the edges whose sender is a table
    structured: tuple[int, ...]  # the senders that are structured factors


def phases(graph: CompiledGraph, schedule: Schedule) -> list[Phase]:
    """One iteration: each message of the graph is sent once."""
    if schedule == "parallel":
        every = np.arange(len(graph.edge_factor))
        return [_phase(graph, every, True), _phase(graph, every, False)]
    if schedule == "serial":
        return _serial(graph)
    raise ValueError(f"schedule {schedule!r}: 'serial' or 'parallel' expected")


def _serial(graph: CompiledGraph) -> list[Phase]:
    """From the leaves to the root, then back (the paper's footnote on serial order).

    Depth is the distance from the root in a breadth-first spanning tree. Nodes of one depth are never
    neighbours, so all messages from one depth to the next may be sent at once, in any graph.
    """
    deeper_end = _depths(graph)
    order = np.argsort(deeper_end, kind="stable")
    levels, first = np.unique(deeper_end[order], return_index=True)
    by_level = list(zip(levels.tolist(), np.split(order, first[1:]), strict=False))
    up = [_phase(graph, edges, level % 2 == 1) for level, edges in reversed(by_level)]
    down = [_phase(graph, edges, level % 2 == 0) for level, edges in by_level]
    return up + down


def _depths(graph: CompiledGraph) -> IntArray:
    """Depth of each edge's deeper end: even if that is a factor, odd if it is a variable.

    Each connected component has a root: its structured factor with most variables, at depth 0; without any,
    its first variable, at depth 1.
    """
    structured = np.flatnonzero(graph.is_structured)
    widest_first = structured[np.argsort(-np.diff(graph.first_edge)[structured], kind="stable")]
    factor_depth = np.full(len(graph.factors), -1)
    variable_depth = np.full(len(graph.variables), -1)
    roots = [(True, factor) for factor in widest_first.tolist()]
    roots += [(False, variable) for variable in range(len(graph.variables))]
    for is_factor, root in roots:
        depth = factor_depth if is_factor else variable_depth
        if depth[root] >= 0:
            continue
        depth[root] = 0 if is_factor else 1
        queue = deque([(is_factor, root)])
        while queue:
            is_factor, node = queue.popleft()
            if is_factor:
                here, there = factor_depth, variable_depth
                edges = graph.edge_variable[graph.first_edge[node] : graph.first_edge[node + 1]]
            else:
                here, there = variable_depth, factor_depth
                first, last = graph.first_variable_edge[node : node + 2]
                edges = graph.edge_factor[graph.variable_edges[first:last]]
            for neighbour in edges[there[edges] < 0].tolist():
                there[neighbour] = here[node] + 1
                queue.append((not is_factor, neighbour))
    deeper_end: IntArray = np.maximum(factor_depth[graph.edge_factor], variable_depth[graph.edge_variable])
    return deeper_end


def _phase(graph: CompiledGraph, edges: IntArray, from_variables: bool) -> Phase:
    edges = edges[np.argsort(graph.edge_variable[edges], kind="stable")] if from_variables else edges
    sizes = graph.first_message[edges + 1] - graph.first_message[edges]
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    by_structured = graph.is_structured[graph.edge_factor[edges]]
    structured = [] if from_variables else np.unique(graph.edge_factor[edges[by_structured]]).tolist()
    return Phase(
        from_variables=from_variables,
        edges=edges,
        entries=np.repeat(graph.first_message[edges], sizes) + offsets,
        table_edges=edges[:0] if from_variables else edges[~by_structured],
        structured=tuple(structured),
    )
