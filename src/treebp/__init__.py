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
    from treebp.beliefs import Beliefs
    from treebp.enumeration import Enumeration, enumerate_graph
    from treebp.factor_graph import FactorGraph
    from treebp.factor_handle import Factor
    from treebp.factors.cardinality import AtMostOne, ExactlyOne
    from treebp.factors.chain import Chain
    from treebp.factors.constituency import ConstituencyTree
    from treebp.factors.hypergraph_factor import HypergraphFactor
    from treebp.factors.protocol import StructuredFactor
    from treebp.factors.trees import ProjectiveTree, SpanningTree
    from treebp.grandparents import GrandparentTrees
    from treebp.hypergraph import Derivation, Hypergraph, HypergraphBuilder
    from treebp.inside_outside import Adjoints, InsideOutside
    from treebp.objectives import (
        annealed_risk,
        arc_marginals,
        expected_recall,
        l2_distance,
        log_likelihood,
        log_odds_decode,
        mbr_decode,
    )
    from treebp.propagation import propagate
    from treebp.trees import DependencyTrees
    from treebp.variables import Variable

# Loaded on first use, so that the command line starts before Numba does.
_HOMES = {
    "beliefs": "Beliefs",
    "enumeration": "Enumeration enumerate_graph",
    "factor_graph": "FactorGraph",
    "factor_handle": "Factor",
    "factors.cardinality": "AtMostOne ExactlyOne",
    "factors.chain": "Chain",
    "factors.constituency": "ConstituencyTree",
    "factors.hypergraph_factor": "HypergraphFactor",
    "factors.protocol": "StructuredFactor",
    "factors.trees": "ProjectiveTree SpanningTree",
    "grandparents": "GrandparentTrees",
    "hypergraph": "Derivation Hypergraph HypergraphBuilder",
    "inside_outside": "Adjoints InsideOutside",
    "objectives": "annealed_risk arc_marginals expected_recall l2_distance log_likelihood log_odds_decode mbr_decode",
    "propagation": "propagate",
    "trees": "DependencyTrees",
    "variables": "Variable",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Adjoints",
    "AtMostOne",
    "Beliefs",
    "Chain",
    "ConstituencyTree",
    "DependencyTrees",
    "Derivation",
    "Enumeration",
    "ExactlyOne",
    "Factor",
    "FactorGraph",
    "GrandparentTrees",
    "Hypergraph",
    "HypergraphBuilder",
    "HypergraphFactor",
    "InsideOutside",
    "ProjectiveTree",
    "SpanningTree",
    "StructuredFactor",
    "Variable",
    "annealed_risk",
    "arc_marginals",
    "enumerate_graph",
    "expected_recall",
    "l2_distance",
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
