"""The messages of belief propagation, and how a structured factor is asked for its own."""

from dataclasses import dataclass

import numpy as np

from treebp._types import FloatArray
from treebp.bp.compiled import CompiledGraph
from treebp.bp.factors.protocol import FactorBackprop


@dataclass(frozen=True)
class Messages:
    """Normalised log-messages along all edges, or their adjoints, in both directions."""

    to_factors: FloatArray
    to_variables: FloatArray

    def ends(self, from_variables: bool) -> tuple[FloatArray, FloatArray]:
        """What senders read, and where the messages go."""
        return (self.to_variables, self.to_factors) if from_variables else (self.to_factors, self.to_variables)


def structured_messages(
    graph: CompiledGraph, factor: int, potentials: FloatArray, to_factors: FloatArray
) -> tuple[FloatArray, FactorBackprop]:
    """Ask a structured factor for its messages, and check the answers, which may come from a user's code."""
    handle = graph.factors[factor]
    assert handle.structured is not None
    incoming = to_factors[graph.message_slice(factor)].copy()
    own = potentials[graph.potential_slice(factor)].reshape(handle.potentials.shape)
    outgoing, backprop = handle.structured.messages(incoming, own)
    if outgoing.shape != incoming.shape:
        raise ValueError(f"{handle.name}: outgoing messages of shape {outgoing.shape}, expected {incoming.shape}")
    if np.any(np.isnan(outgoing) | np.isposinf(outgoing)):
        raise ValueError(f"{handle.name}: NaN or +inf in its outgoing messages")

    def checked_backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        adjoint_incoming, adjoint_own = backprop(adjoint)
        for found, expected in ((adjoint_incoming, incoming), (adjoint_own, own)):
            if found.shape != expected.shape or not np.isfinite(found).all():
                raise ValueError(f"{handle.name}: adjoint {found}, expected finite numbers of shape {expected.shape}")
        return adjoint_incoming, adjoint_own

    return outgoing, checked_backprop
