"""Structured belief propagation with exact gradients.

>>> import treebp as tb
>>> graph = tb.FactorGraph()
>>> a, b, c = graph.variables(3)
>>> unary = graph.factor([a], [0.0, 1.2])
>>> pair = graph.factor([a, b], [[0, 0], [0, -0.7]])
>>> one = graph.constrain(tb.ExactlyOne([a, b, c]))
>>> beliefs = tb.propagate(graph, iterations=4)
>>> beliefs[a].round(3)
array([0.358, 0.642])
>>> beliefs.backward({a: [0.0, 1.0]})[unary].round(3)
array([-0.263,  0.263])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treebp.bp.beliefs import Beliefs
    from treebp.bp.enumeration import Enumeration, enumerate_graph
    from treebp.bp.factor_graph import FactorGraph
    from treebp.bp.factor_handle import Factor
    from treebp.bp.factors.cardinality import AtMostOne, ExactlyOne
    from treebp.bp.factors.chain import Chain
    from treebp.bp.factors.constituency import ConstituencyTree
    from treebp.bp.factors.hypergraph_factor import HypergraphFactor
    from treebp.bp.factors.protocol import StructuredFactor
    from treebp.bp.factors.trees import ProjectiveTree, SpanningTree
    from treebp.bp.graph import Graph
    from treebp.bp.groups.all_on import AllOn
    from treebp.bp.groups.chains import Chains
    from treebp.bp.groups.counts import Counts
    from treebp.bp.groups.successions import Successions
    from treebp.bp.groups.tables import Tables
    from treebp.bp.groups.trees import Trees
    from treebp.bp.propagation import propagate
    from treebp.bp.variables import Variable
    from treebp.hypergraphs.hypergraph import Derivation, Hypergraph, HypergraphBuilder
    from treebp.hypergraphs.inside_outside import Adjoints, InsideOutside
    from treebp.objectives.decoders import log_odds_decode, mbr_decode
    from treebp.objectives.losses import (
        annealed_risk,
        arc_marginals,
        expected_recall,
        l2_distance,
        log_likelihood,
    )
    from treebp.pipeline.pipeline import load
    from treebp.trees.dependency_trees import DependencyTrees
    from treebp.trees.grandparents import GrandparentTrees

# Loaded on first use, so that the command line starts before Numba does.
_HOMES = {
    "bp.beliefs": "Beliefs",
    "bp.enumeration": "Enumeration enumerate_graph",
    "bp.factor_graph": "FactorGraph",
    "bp.factor_handle": "Factor",
    "bp.factors.cardinality": "AtMostOne ExactlyOne",
    "bp.factors.chain": "Chain",
    "bp.factors.constituency": "ConstituencyTree",
    "bp.factors.hypergraph_factor": "HypergraphFactor",
    "bp.factors.protocol": "StructuredFactor",
    "bp.factors.trees": "ProjectiveTree SpanningTree",
    "trees.grandparents": "GrandparentTrees",
    "hypergraphs.hypergraph": "Derivation Hypergraph HypergraphBuilder",
    "hypergraphs.inside_outside": "Adjoints InsideOutside",
    "objectives.decoders": "log_odds_decode mbr_decode",
    "objectives.losses": "annealed_risk arc_marginals expected_recall l2_distance log_likelihood",
    "bp.graph": "Graph",
    "bp.groups.all_on": "AllOn",
    "bp.groups.chains": "Chains",
    "bp.groups.counts": "Counts",
    "bp.groups.successions": "Successions",
    "bp.groups.tables": "Tables",
    "bp.groups.trees": "Trees",
    "bp.propagation": "propagate",
    "pipeline.pipeline": "load",
    "trees.dependency_trees": "DependencyTrees",
    "bp.variables": "Variable",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Adjoints",
    "AllOn",
    "AtMostOne",
    "Beliefs",
    "Chain",
    "Chains",
    "ConstituencyTree",
    "Counts",
    "DependencyTrees",
    "Derivation",
    "Enumeration",
    "ExactlyOne",
    "Factor",
    "FactorGraph",
    "GrandparentTrees",
    "Graph",
    "Hypergraph",
    "HypergraphBuilder",
    "HypergraphFactor",
    "InsideOutside",
    "ProjectiveTree",
    "SpanningTree",
    "StructuredFactor",
    "Successions",
    "Tables",
    "Trees",
    "Variable",
    "annealed_risk",
    "arc_marginals",
    "enumerate_graph",
    "expected_recall",
    "l2_distance",
    "load",
    "log_likelihood",
    "log_odds_decode",
    "mbr_decode",
    "propagate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'treebp' has no attribute {name!r}")
    value = getattr(import_module(f"treebp.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
