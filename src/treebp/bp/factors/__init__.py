"""Structured factors: global constraints and scores, summed over by dynamic programs."""

from treebp.bp.factors.cardinality import AtMostOne, ExactlyOne
from treebp.bp.factors.chain import Chain
from treebp.bp.factors.constituency import ConstituencyTree
from treebp.bp.factors.hypergraph_factor import HypergraphFactor
from treebp.bp.factors.protocol import FactorBackprop, StructuredFactor
from treebp.bp.factors.trees import ProjectiveTree, SpanningTree

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
