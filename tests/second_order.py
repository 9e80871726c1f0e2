"""A small second-order parser as a factor graph."""

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from brute_force import all_trees
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.hypergraph_factor import HypergraphFactor
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
from treebp.bp.variables import Variable
from treebp.hypergraphs.builders import eisner

Arcs = Mapping[tuple[int, int], Variable]


def projective(graph: FactorGraph, arcs: Arcs) -> Factor:
    return graph.constrain(ProjectiveTree(arcs, single_root=True))


def crossing(graph: FactorGraph, arcs: Arcs) -> Factor:
    return graph.constrain(SpanningTree(arcs, single_root=True))


def projective_hypergraph(graph: FactorGraph, arcs: Arcs) -> Factor:
    """Projective trees as a hypergraph, whose edges have scores of their own."""
    size = max(m for _, m in arcs) + 1
    trees, tie = eisner(size - 1, single_root=True)
    scores = np.random.default_rng(9).normal(size=trees.edges)
    ties = {}
    for edge in np.flatnonzero(tie >= 0).tolist():
        arc = divmod(int(tie[edge]), size)
        if arc in arcs:
            ties[edge] = arcs[arc]
        else:
            scores[edge] = -np.inf
    return graph.constrain(HypergraphFactor(trees, edges=ties, potentials=scores))


def projective_table(graph: FactorGraph, arcs: Arcs) -> Factor:
    return _table(graph, arcs, projective=True)


def crossing_table(graph: FactorGraph, arcs: Arcs) -> Factor:
    return _table(graph, arcs, projective=False)


def _table(graph: FactorGraph, arcs: Arcs, projective: bool) -> Factor:
    table = np.full([2] * len(arcs), -np.inf)
    for heads in all_trees(3, projective, single_root=True).tolist():
        if arcs.keys() >= {(h, m) for m, h in enumerate(heads, 1)}:
            table[tuple(int(heads[m - 1] == h) for h, m in arcs)] = 0.0
    return graph.factor(list(arcs.values()), table)


def tree_graph(
    seed: int, tree: Callable[[FactorGraph, Arcs], Factor] = projective
) -> tuple[FactorGraph, dict[tuple[int, int], Variable]]:
    """Trees over three words with grandparent and sibling factors.

    One arc is pruned by a score of -inf, another has no variable at all.
    """
    rng = np.random.default_rng(seed)
    graph = FactorGraph()
    pairs = [(h, m) for h in range(4) for m in range(1, 4) if h != m and (h, m) != (3, 1)]
    arcs = {(h, m): graph.variable(name=f"{h}->{m}") for h, m in pairs}
    tree(graph, arcs)
    for arc, variable in arcs.items():
        graph.factor([variable], [0.0, -np.inf if arc == (2, 1) else rng.normal()])
    for (h, m), (g, k) in combinations(arcs, 2):
        if h in (g, k) or m == g:
            graph.factor([arcs[h, m], arcs[g, k]], [[0.0, 0.0], [0.0, rng.normal()]])
    return graph, arcs
