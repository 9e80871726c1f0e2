"""Hypergraphs: the shape of a dynamic program, apart from its weights."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array, random_generator, read_only, whole_number
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.hypergraphs.inside_outside import Arithmetic, InsideOutside
from treebp.kernels import derivations as kernels
from treebp.kernels.hypergraph import Structure


class Derivation(NamedTuple):
    """One way to derive the root.

    Example:
        >>> two_ways = Hypergraph(1, heads=[0, 0], tails=[], offsets=[0, 0, 0])
        >>> two_ways.viterbi([-1.0, -2.0])
        Derivation(edges=array([0]), score=-1.0)

    """

    edges: IntArray  # the hyperedges used, each before those that derive its antecedents, left to right
    score: float  # the sum of their log-weights


class Hypergraph:
    """A directed acyclic hypergraph with one root (goal).

    A hyperedge leads from any number of antecedent nodes (its tails, none for an axiom) to one node (its
    head). Nodes are numbered so that antecedents come before what is derived from them. Weights are no part
    of the hypergraph: each question takes them, one per hyperedge.

    Args:
        nodes: number of nodes.
        heads: (edges,) the head of each hyperedge.
        tails: the antecedents of all hyperedges, one hyperedge after the other.
        offsets: (edges + 1,) hyperedge e has the antecedents `tails[offsets[e]:offsets[e + 1]]`.
        root: the goal, by default the last node.

    Attributes are those, the arrays read-only; `edges` is the number of hyperedges.

    Raises:
        ValueError: arrays that do not fit together, a node out of range, or an antecedent that does not come
            before its head (so also every cycle).

    Example:
        Two words, bracketed; the phrase has two labels, one of them twice as heavy.

        >>> graph = Hypergraph(3, heads=[0, 1, 2, 2], tails=[0, 1, 0, 1], offsets=[0, 0, 0, 2, 4])
        >>> result = graph.inside_outside([1.0, 1.0, 1.0, 2.0], arithmetic="real")
        >>> result.inside
        array([1., 1., 3.])
        >>> result.edge_marginals.round(3)
        array([1.   , 1.   , 0.333, 0.667])
        >>> graph.viterbi(np.log([1.0, 1.0, 1.0, 2.0])).edges
        array([3, 0, 1])

    """

    def __init__(
        self, nodes: int, heads: ArrayLike, tails: ArrayLike, offsets: ArrayLike, *, root: int | None = None
    ) -> None:
        self.nodes = whole_number(nodes, "nodes", 0)
        self.root = nodes - 1 if root is None else root
        given = _integers("heads", heads), _integers("tails", tails), _integers("offsets", offsets)
        self.heads, self.tails, self.offsets = map(read_only, given)
        self.edges = len(self.heads)
        if not 0 <= self.root < nodes:
            raise ValueError(f"the root, node {self.root}, is not among the {nodes} nodes")
        arity = np.diff(self.offsets)
        if len(arity) != self.edges or self.offsets[0] != 0 or self.offsets[-1] != len(self.tails) or (arity < 0).any():
            raise ValueError(f"offsets must rise from 0 to {len(self.tails)} in {self.edges + 1} entries")
        tail_heads = np.repeat(self.heads, arity)
        for wrong, per_edge, problem in (
            (
                (self.heads < 0) | (self.heads >= nodes),
                True,
                f"has a head that is not among the {nodes} nodes",
            ),
            (
                (self.tails < 0) | (self.tails >= nodes),
                False,
                f"has a tail that is not among the {nodes} nodes",
            ),
            (
                self.tails >= tail_heads,
                False,
                "has a tail that does not come before its head: nodes must be in topological order, without a cycle",
            ),
        ):
            if wrong.any():
                first = int(np.argmax(wrong))
                edge = first if per_edge else int(np.searchsorted(self.offsets, first, side="right")) - 1
                raise ValueError(f"edge {edge} ({self.describe(edge)}) {problem}")
        incoming = np.argsort(self.heads, kind="stable")
        first_edge = np.searchsorted(self.heads[incoming], np.arange(nodes + 1))
        self.structure = Structure(first_edge, incoming, given[2], given[1], self.root)  # with arrays of its own

    def describe(self, edge: int) -> str:
        """Write a hyperedge as its antecedents and head."""
        tails = ", ".join(map(str, self.tails[self.offsets[edge] : self.offsets[edge + 1]]))
        return f"{tails} -> {self.heads[edge]}".strip()

    def inside_outside(self, weights: ArrayLike, arithmetic: Arithmetic) -> InsideOutside:
        """Sum over all derivations.

        Args:
            weights: (edges,) numbers ("real"), their logarithms ("log", -inf removes an edge), or a pair of a
                sign (+1 or -1) and the logarithm of the absolute value ("signed-log", (2, edges) in all).
            arithmetic: how numbers are represented, in `weights` and in the result. "real" is the fastest and
                can over- and underflow; "log" needs non-negative weights; "signed-log" has neither limit.

        Raises:
            ValueError: weights of the wrong shape, NaN or +inf; a root without derivation, or an overflow.

        Example:
            >>> axioms = HypergraphBuilder()
            >>> goal = axioms.add_node()
            >>> _ = axioms.add_edge(goal), axioms.add_edge(goal)
            >>> result = axioms.build().inside_outside([1000.0, -np.inf], arithmetic="log")
            >>> result.log_partition, result.edge_marginals
            (1000.0, array([1., 0.]))

        """
        sign = np.ones(self.edges)
        if arithmetic == "real":
            values = self._per_edge("weights", weights)
            self._refuse("a weight that is not finite", ~np.isfinite(values))
        elif arithmetic == "log":
            values = self._log_weights(weights)
        elif arithmetic == "signed-log":
            pair = float_array(weights, "weights")
            if pair.shape != (2, self.edges):
                raise ValueError(f"signed-log weights have shape {pair.shape}, expected (2, {self.edges})")
            sign, values = pair[0].copy(), self._log_weights(pair[1])
            self._refuse("a sign other than +1 and -1", np.abs(sign) != 1.0)
        else:
            raise ValueError(f"unknown arithmetic {arithmetic!r}: choose 'real', 'log' or 'signed-log'")
        return InsideOutside(self, values, sign, arithmetic)

    def viterbi(self, log_weights: ArrayLike) -> Derivation:
        """Find the derivation of the largest total log-weight."""
        return self.kbest(log_weights, 1)[0]

    def kbest(self, log_weights: ArrayLike, k: int) -> list[Derivation]:
        """Find the k best derivations, all different, best first; fewer where there are fewer.

        Example:
            >>> builder = HypergraphBuilder()
            >>> word, phrase = builder.add_node(), builder.add_node()
            >>> _ = builder.add_edge(word), builder.add_edge(word), builder.add_edge(phrase, [word, word])
            >>> [derivation.score for derivation in builder.build().kbest([-1.0, -2.0, 0.0], k=9)]
            [-2.0, -3.0, -3.0, -4.0]

        """
        count, score, edge, rank = kernels.kbest(
            self._log_weights(log_weights), whole_number(k, "k", 1), self.structure
        )
        if count[self.root] == 0:
            raise ValueError(f"the root, node {self.root}, has no derivation")
        derivations = []
        for best in range(count[self.root]):
            edges = []
            waiting = [(self.root, best)]
            while waiting:
                node, choice = waiting.pop()
                e = int(edge[node, choice])
                edges.append(e)
                antecedents = self.tails[self.offsets[e] : self.offsets[e + 1]].tolist()
                waiting.extend(reversed(list(zip(antecedents, rank[node, choice].tolist(), strict=False))))
            derivations.append(Derivation(np.array(edges, np.int64), float(score[self.root, best])))
        return derivations

    def sample(self, log_weights: ArrayLike, k: int, rng: np.random.Generator) -> list[Derivation]:
        """Draw k derivations independently, each with probability proportional to its weight."""
        k, rng = whole_number(k, "k", 0), random_generator(rng)
        weights = self._log_weights(log_weights)
        result = self.inside_outside(weights, "log")
        drawn, bounds = kernels.sample(rng, k, result.inside, result.edge_inside, self.structure)
        return [Derivation(edges, float(weights[edges].sum())) for edges in np.split(drawn, bounds[1:-1])[:k]]

    def _per_edge(self, name: str, values: ArrayLike) -> FloatArray:
        array = float_array(values, name)
        if array.shape != (self.edges,):
            raise ValueError(f"{name} have shape {array.shape}, expected one per edge: ({self.edges},)")
        return array

    def _log_weights(self, values: ArrayLike) -> FloatArray:
        log_weights = self._per_edge("log-weights", values)
        self._refuse("a log-weight that is NaN or +inf", ~(log_weights < np.inf))
        return log_weights

    def _refuse(self, problem: str, wrong: BoolArray) -> None:
        if wrong.any():
            edge = int(np.argmax(wrong))
            raise ValueError(f"edge {edge} ({self.describe(edge)}) has {problem}")


class HypergraphBuilder:
    """Collects nodes and hyperedges, one at a time.

    Example:
        >>> builder = HypergraphBuilder()
        >>> noun, verb, sentence = (builder.add_node() for _ in range(3))
        >>> for axiom in noun, verb:
        ...     _ = builder.add_edge(axiom)
        >>> builder.add_edge(sentence, [noun, verb])
        2
        >>> builder.build().viterbi([-0.5, -0.25, -1.0]).score
        -1.75

    """

    def __init__(self) -> None:
        self._nodes = 0
        self._heads: list[int] = []
        self._tails: list[int] = []
        self._offsets = [0]

    def __copy__(self) -> HypergraphBuilder:
        """A builder with the same nodes and hyperedges; what is added to either later is not in the other."""
        return deepcopy(self)

    def add_node(self) -> int:
        """Add a node, to be derived from nodes added before; returns its number."""
        self._nodes += 1
        return self._nodes - 1

    def add_edge(self, head: int, tails: Iterable[int] = ()) -> int:
        """Add a hyperedge from its antecedents to its head; returns its number."""
        self._heads.append(head)
        self._tails.extend(tails)
        self._offsets.append(len(self._tails))
        return len(self._heads) - 1

    def build(self, root: int | None = None) -> Hypergraph:
        """Check and freeze what was added; the root is the last node unless given."""
        return Hypergraph(self._nodes, self._heads, self._tails, self._offsets, root=root)


def _integers(name: str, values: ArrayLike) -> IntArray:
    array = integer_array(values, name)  # a copy: kernels trust what was checked once
    if array.ndim != 1:
        raise ValueError(f"{name} must be a one-dimensional array of integers")
    return array
