"""Structured factors: global constraints and scores, summed over by dynamic programs."""

from treebp.factors.cardinality import AtMostOne, ExactlyOne
from treebp.factors.chain import Chain
from treebp.factors.constituency import ConstituencyTree
from treebp.factors.hypergraph_factor import HypergraphFactor
from treebp.factors.protocol import FactorBackprop, StructuredFactor
from treebp.factors.trees import ProjectiveTree, SpanningTree

__all__ = [
    "AtMostOne",
    "Chain",
    "ConstituencyTree",
    "ExactlyOne",
    "FactorBackprop",
    "HypergraphFactor",
    "ProjectiveTree",
    "SpanningTree",
    "StructuredFactor",
]
