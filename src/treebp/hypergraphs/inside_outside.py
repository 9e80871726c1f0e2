"""What inside-outside on a hypergraph finds, and the way back through it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from treebp._checks import float_array, read_only
from treebp._types import FloatArray
from treebp.kernels import hypergraph as kernels

if TYPE_CHECKING:
    from treebp.hypergraphs.hypergraph import Hypergraph

Arithmetic = Literal["real", "log", "signed-log"]


class Adjoints(NamedTuple):
    """Derivatives of an objective, as `InsideOutside.backward` returns them.

    Under "real" arithmetic with respect to the numbers themselves; under "log" and "signed-log" with respect
    to the logarithms (of absolute values).

    Example:
        >>> from treebp.hypergraphs.hypergraph import Hypergraph
        >>> two_ways = Hypergraph(1, heads=[0, 0], tails=[], offsets=[0, 0, 0])
        >>> sums = two_ways.inside_outside([1.0, 3.0], arithmetic="real")
        >>> sums.backward(edge_adjoint=np.array([1.0, 0.0])).weights  # of w0 / (w0 + w1)
        array([ 0.1875, -0.0625])

    """

    outside: FloatArray  # (nodes,)
    inside: FloatArray  # (nodes,)
    weights: FloatArray  # (edges,)


class InsideOutside:
    """Insides, outsides and marginals of one hypergraph under one set of weights.

    Made by `Hypergraph.inside_outside`. What is not asked for is not computed. All arrays are read-only.

    Attributes:
        inside: (nodes,) the sum over each node's derivations; its logarithm unless the arithmetic is "real".
        inside_sign: (nodes,) +1 or -1, the sign of that sum.
        edge_inside: (edges,) under the log arithmetics, the log-sum over the derivations that end with each
            edge.
        log_partition: the logarithm of the root's (absolute) inside.
        partition_sign: +1.0 or -1.0, the sign of the root's inside.

    Example:
        >>> from treebp.hypergraphs.builders import hmm_trellis
        >>> trellis, _ = hmm_trellis(length=3, states=2)
        >>> sums = trellis.inside_outside(np.zeros(trellis.edges), arithmetic="log")
        >>> round(np.exp(sums.log_partition)), sums.node_marginals.round(3)
        (8, array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1. ]))

    """

    def __init__(self, hypergraph: Hypergraph, weights: FloatArray, sign: FloatArray, arithmetic: Arithmetic) -> None:
        self.hypergraph = hypergraph
        self.arithmetic = arithmetic
        self._weights = weights
        root = hypergraph.root
        if arithmetic == "real":
            self._inside = kernels.inside_real(weights, hypergraph.structure)
            inside_sign: FloatArray = np.where(self._inside < 0, -1.0, 1.0)
            with np.errstate(divide="ignore"):
                self.log_partition = float(np.log(np.abs(self._inside[root])))
        else:
            self._insides, self._edge_insides = kernels.inside_log(kernels.Signed(sign, weights), hypergraph.structure)
            inside_sign, self._inside = self._insides
            self.edge_inside = read_only(self._edge_insides.log)
            self.log_partition = float(self._inside[root])
        self.inside, self.inside_sign = read_only(self._inside), read_only(inside_sign)
        self.partition_sign = float(self.inside_sign[root])
        if self.log_partition == -np.inf:
            hint = " (or it underflows: try log arithmetic)" if arithmetic == "real" else ""
            raise ValueError(f"the root, node {root}, has no derivation of non-zero total weight{hint}")
        self._refuse_overflow(np.asarray(self.log_partition), "partition function")

    @cached_property
    def _outside(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Signs and values of the outsides, and the edge marginals."""
        graph = self.hypergraph
        if self.arithmetic == "real":
            alpha, edges = kernels.outside_real(self._weights, self._inside, graph.structure)
            return np.where(alpha < 0, -1.0, 1.0), alpha, edges
        alpha_sign, alpha = kernels.outside_log(self._weights, self._insides, self._edge_insides, graph.structure)
        edges = np.exp(self.edge_inside + alpha[graph.heads] - self.log_partition)
        return alpha_sign, alpha, edges * self._edge_insides.sign * alpha_sign[graph.heads] * self.partition_sign

    @property
    def outside(self) -> FloatArray:
        """(nodes,) the sum over each node's contexts within the root; its logarithm unless "real"."""
        return read_only(self._outside[1])

    @property
    def outside_sign(self) -> FloatArray:
        """(nodes,) +1 or -1, the sign of that sum."""
        return read_only(self._outside[0])

    @cached_property
    def node_marginals(self) -> FloatArray:
        """(nodes,) how often each node is expected in a derivation of the root."""
        if self.arithmetic == "real":
            marginals: FloatArray = self.outside * self.inside / self.inside[self.hypergraph.root]
        else:
            sign = self.outside_sign * self.inside_sign * self.partition_sign
            marginals = sign * np.exp(self.outside + self.inside - self.log_partition)
        self._refuse_overflow(marginals, "marginal of node")
        return read_only(marginals)

    @cached_property
    def edge_marginals(self) -> FloatArray:
        """(edges,) how often each hyperedge is expected in a derivation of the root."""
        marginals = self._outside[2]
        self._refuse_overflow(marginals, "marginal of edge")
        return read_only(marginals)

    def backward(self, node_adjoint: FloatArray | None = None, edge_adjoint: FloatArray | None = None) -> Adjoints:
        """Back-propagate from the marginals to the weights (section 3.5 of the paper).

        Args:
            node_adjoint: (nodes,) the objective's derivatives with respect to `node_marginals`, zero if left
                out.
            edge_adjoint: (edges,) the same for `edge_marginals`.

        Raises:
            ValueError: an adjoint of the wrong shape or not finite; or signed weights that cancel to exactly
                zero at a node, where the logarithm has no derivative (real arithmetic has no such limit).

        """
        graph = self.hypergraph
        node_adjoint = _adjoint("node_adjoint", node_adjoint, graph.nodes)
        edge_adjoint = _adjoint("edge_adjoint", edge_adjoint, graph.edges)
        node_adjoint[graph.root] = 0.0  # the root's marginal is always one
        if self.arithmetic == "real":
            alpha_bar, beta_bar, weights_bar = kernels.backward_real(
                node_adjoint, edge_adjoint, self._weights, self._inside, *self._outside[1:], graph.structure
            )
        else:
            alpha_bar, beta_bar, weights_bar = kernels.backward_log(
                node_adjoint * self.node_marginals,
                edge_adjoint * self.edge_marginals,
                self._weights,
                self._insides,
                self._edge_insides,
                kernels.Signed(*self._outside[:2]),
                graph.structure,
            )
        for adjoint, name in (
            (alpha_bar, "outside of node"),
            (beta_bar, "inside of node"),
            (weights_bar, "weight of edge"),
        ):
            if not np.isfinite(adjoint).all():
                index = int(np.argmin(np.isfinite(adjoint)))
                raise ValueError(f"no finite adjoint of the {name} {index}: weights cancel or overflow")
        return Adjoints(alpha_bar, beta_bar, weights_bar)

    def _refuse_overflow(self, values: FloatArray, what: str) -> None:
        if not np.isfinite(values).all():
            where = f" {int(np.argmin(np.isfinite(values)))}" if values.ndim else ""
            hint = ": try log arithmetic" if self.arithmetic == "real" else ""
            raise ValueError(f"the {what}{where} overflows{hint}")


def _adjoint(name: str, values: FloatArray | None, size: int) -> FloatArray:
    """Copy an adjoint, or make one of zeros, so that it may be changed."""
    if values is None:
        return np.zeros(size)
    adjoint = float_array(values, name)
    if adjoint.shape != (size,):
        raise ValueError(f"{name} has shape {adjoint.shape}, expected ({size},)")
    if not np.isfinite(adjoint).all():
        raise ValueError(f"{name}[{int(np.argmin(np.isfinite(adjoint)))}] is not finite")
    return adjoint
