"""In which order belief propagation sends its messages."""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from treebp._types import IntArray
from treebp.bp.graph import Graph
from treebp.kernels.schedule import edge_depths

Schedule: TypeAlias = Literal["serial", "parallel"]


class GroupStep(NamedTuple):
    """Messages of whole groups that do not depend on each other: from variables to these groups, or the other way."""

    from_variables: bool
    groups: tuple[int, ...]


class GroupPlan(tuple[GroupStep, ...]):
    """One iteration, whole groups at a time."""


class EdgePhase(NamedTuple):
    """Messages along some edges that do not depend on each other."""

    from_variables: bool
    edges: IntArray


class EdgePlan(tuple[EdgePhase, ...]):
    """One iteration, phase by phase."""


def plan(graph: Graph, schedule: Schedule) -> GroupPlan | EdgePlan:
    """One iteration: each message of the graph is sent once; whole groups at a time where the schedule allows it."""
    if schedule not in ("serial", "parallel"):
        raise ValueError(f"schedule {schedule!r}: 'serial' or 'parallel' expected")
    if schedule not in graph.plans:
        graph.plans[schedule] = _serial(graph) if schedule == "serial" else _parallel(graph)
    found: GroupPlan | EdgePlan = graph.plans[schedule]
    return found


def _parallel(graph: Graph) -> GroupPlan:
    every = tuple(range(len(graph.groups)))
    return GroupPlan([GroupStep(True, every), GroupStep(False, every)])


def _serial(graph: Graph) -> GroupPlan | EdgePlan:
    """From the leaves to the root, then back (the paper's footnote on serial order).

    Nodes of one depth are never neighbours, so all messages from one depth to the next may be sent at once.
    """
    levels = _group_levels(graph)
    if levels is not None:
        by_level: dict[int, list[int]] = {}
        for group, level in enumerate(levels):
            by_level.setdefault(level, []).append(group)
        order = sorted(by_level)
        up = [GroupStep(level % 2 == 1, tuple(by_level[level])) for level in reversed(order)]
        return GroupPlan(up + [GroupStep(level % 2 == 0, tuple(by_level[level])) for level in order])
    depths = _depths(graph)
    edges = np.argsort(depths, kind="stable")
    found, first = np.unique(depths[edges], return_index=True)
    by_depth = list(zip(found.tolist(), np.split(edges, first[1:]), strict=False))
    phases = [EdgePhase(depth % 2 == 1, sent) for depth, sent in reversed(by_depth)]
    return EdgePlan(phases + [EdgePhase(depth % 2 == 0, sent) for depth, sent in by_depth])


def _group_levels(graph: Graph) -> list[int] | None:
    """The depth of each group's edges, or None if a group has edges of several depths."""
    structured = [number for number, group in enumerate(graph.groups) if group.structured]
    if len(structured) == 1 and graph.one_to_one[structured[0]]:
        # A parser's graph: every variable hangs on one structured factor, and all other factors on the variables.
        return [1 if number == structured[0] else 2 for number in range(len(graph.groups))]
    depths = _depths(graph)
    levels = []
    for begin, end in zip(graph.first_edge[:-1].tolist(), graph.first_edge[1:].tolist(), strict=True):
        if begin == end:
            levels.append(0)
        elif (depths[begin:end] == depths[begin]).all():
            levels.append(int(depths[begin]))
        else:
            return None
    return levels


def _depths(graph: Graph) -> IntArray:
    factors = int(graph.edge_factor.max(initial=-1)) + 1
    return edge_depths(graph.edge_variable, graph.edge_factor, graph.structured_edges, len(graph.states), factors)
