"""Constraints that the arcs which are ON form trees."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import integer_array
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.groups.odds import adjoint_of_odds, log_probabilities, odds_of
from treebp.bp.groups.protocol import Group, GroupBackprop, Sender, Sums
from treebp.bp.log_trees import LogTree
from treebp.kernels import projective_group, spanning_group
from treebp.kernels import tree_group as kernels
from treebp.kernels.arborescence import best_arborescence
from treebp.kernels.eisner import best_projective
from treebp.kernels.tree_gradient import projective_gains_backward, send_trees_backward
from treebp.kernels.variables import total_softplus

_NOTHING = np.zeros(0)


class Trees:
    """Each factor allows the joint states in which those of its arcs that are ON form a dependency tree.

    Args:
        sizes: (trees,) the number of positions of each, one more than words; 0 is the root.
        heads: (arcs,) of all candidate arcs, tree after tree, sorted by modifier, each with one arc at least.
        modifiers: (arcs,) likewise.
        variables: (arcs,) the binary variable of each arc.
        projective: whether arcs may not cross.
        single_root: whether the root has just one arc.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.groups.all_on import AllOn
        >>> from treebp.bp.propagation import propagate
        >>> trees = Trees([3], [0, 2, 0, 1], [1, 1, 2, 2], range(4), projective=True, single_root=True)
        >>> graph = Graph(4, [AllOn([[0], [1], [2], [3]]), trees])
        >>> propagate(graph, iterations=1, potentials=[[1.0, 0.0, 0.0, 0.0], []]).on.round(3)
        array([0.731, 0.269, 0.269, 0.731])

    """

    structured = True
    edge_states = 2
    potentials = 0

    def __init__(
        self,
        sizes: ArrayLike,
        heads: ArrayLike,
        modifiers: ArrayLike,
        variables: ArrayLike,
        *,
        projective: bool,
        single_root: bool,
    ) -> None:
        self.variables: IntArray = integer_array(variables, "Trees: variables")
        self.projective, self.single_root = bool(projective), bool(single_root)
        self.arcs = _arcs(
            integer_array(sizes, "Trees: sizes"),
            integer_array(heads, "Trees: heads"),
            integer_array(modifiers, "Trees: modifiers"),
        )

    @classmethod
    def of_arcs(cls, arcs: kernels.TreeArcs, *, projective: bool, single_root: bool) -> "Trees":
        """Trees over arcs that are known to be sorted; variable a is arc a."""
        trees = cls.__new__(cls)
        trees.arcs, trees.variables = arcs, np.arange(len(arcs.heads))
        trees.projective, trees.single_root = projective, single_root
        return trees

    @cached_property
    def room(self) -> tuple[int, int]:
        """How many numbers matrices (size, size) of all trees have, and that of the largest tree."""
        squares = self.arcs.sizes * self.arcs.sizes
        return int(squares.sum()), int(squares.max(initial=0))

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the tree of each edge."""
        return np.repeat(np.arange(len(self.arcs.sizes)), np.diff(self.arcs.first))

    def start(self, potentials: FloatArray) -> Sender:
        """Trees have no log-potentials of their own."""
        return TreeSender(self)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One tree as a group."""
        edges = np.arange(self.arcs.first[factor], self.arcs.first[factor + 1])
        alone = Trees(
            self.arcs.sizes[factor : factor + 1],
            self.arcs.heads[edges],
            self.arcs.modifiers[edges],
            self.variables[edges],
            projective=self.projective,
            single_root=self.single_root,
        )
        return alone, edges, np.zeros(0, np.int64)

    def best(self, scores: FloatArray) -> IntArray:
        """(words,) the heads, tree after tree, of the trees whose arcs have the highest sums of scores (arcs,)."""
        arcs = self._with_number_per_arc(scores)
        found, settled = kernels.best_heads_of_arcs(arcs, scores, self.projective, self.single_root)
        if settled.all():
            return found
        search = best_projective if self.projective else best_arborescence  # of which only one is compiled
        ends = np.cumsum(arcs.sizes - 1)
        for tree in np.flatnonzero(~settled).tolist():
            size, edges = int(arcs.sizes[tree]), slice(arcs.first[tree], arcs.first[tree + 1])
            matrix = kernels.arc_matrix(size, arcs.heads[edges], arcs.modifiers[edges], scores[edges])
            search(matrix, size, self.single_root, found[ends[tree] + 1 - size : ends[tree]])
        return found

    def marginals(
        self, log_odds: FloatArray, *, gradient: bool = True
    ) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
        """Exact inference where there is nothing but trees and a weight per arc.

        Args:
            log_odds: (arcs,) the log-weight of each arc.
            gradient: whether the function returned will be called.

        Returns:
            The marginals (arcs,), the log-partition of each tree, -inf where there is none, and the function that maps
            dJ/d marginals to dJ/d log_odds.

        """
        self._with_number_per_arc(log_odds)
        sums = _Sums.of(self, log_odds, keep=gradient, messages=False)

        def backprop(adjoint: FloatArray) -> FloatArray:
            self._with_number_per_arc(adjoint)
            return sums.backward(_NOTHING, adjoint)

        return sums.marginals, sums.log_partitions, backprop

    def _with_number_per_arc(self, numbers: FloatArray) -> kernels.TreeArcs:
        """The arcs; ValueError unless there is a number for each, as kernels trust that there is."""
        if numbers.shape != self.arcs.heads.shape:
            raise ValueError(f"Trees: an array of shape {numbers.shape} for {len(self.arcs.heads)} arcs")
        return self.arcs


def _arcs(sizes: IntArray, heads: IntArray, modifiers: IntArray) -> kernels.TreeArcs:
    """Arcs with where those of each tree and modifier begin; ValueError if they are not sorted so."""
    first = kernels.first_arcs(sizes, modifiers)
    if first[-1] < 0 or heads.shape != modifiers.shape:
        raise ValueError("Trees: arcs are to be sorted by tree and modifier, and each word needs one at least")
    counts = np.diff(first)
    for arc in np.flatnonzero((heads < 0) | (heads >= np.repeat(sizes, counts)) | (heads == modifiers))[:1]:
        raise ValueError(f"Trees: arc {arc} has the head {heads[arc]} and the modifier {modifiers[arc]}")
    offsets = np.cumsum(sizes) - sizes
    places = modifiers + np.repeat(offsets, counts)
    if len(heads) and len(np.unique(places * int(sizes.max()) + heads)) < len(heads):
        raise ValueError("Trees: an arc stands twice")
    counts = np.bincount(places, minlength=int(sizes.sum()))
    starts = np.cumsum(counts) - np.repeat(first[:-1], sizes)
    return kernels.TreeArcs(sizes, first, heads, modifiers, starts)


class TreeSender:
    """Trees that answer messages."""

    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(self, group: Trees) -> None:
        self.group = group
        self._last: FloatArray | None = None
        self._log_partitions = _NOTHING

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """See `Sender`."""
        sums = _Sums.of(self.group, incoming, keep=gradient, messages=True, outgoing=outgoing)
        self.remember(incoming, sums.log_partitions)
        return lambda adjoint, of_potentials: sums.backward(adjoint, _NOTHING)

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """See `Sender`."""
        if self._last is not incoming:
            self.remember(incoming, _Sums.of(self.group, incoming, keep=False, messages=False).log_partitions)
        return Sums(_NOTHING, float(self._log_partitions.sum()) - total_softplus(incoming))

    def remember(self, incoming: FloatArray, log_partitions: FloatArray) -> None:
        """What messages received come to, (trees,): `sums` is asked for it after the last ones."""
        self._last, self._log_partitions = incoming, log_partitions


class _Sums(NamedTuple):
    """Sums over all trees of a group, given log-odds; ``refused`` trees have been done in logarithms."""

    group: Trees
    log_odds: FloatArray
    found: kernels.TreeSums
    marginals: FloatArray
    refused: dict[int, "_Refused"]

    @property
    def log_partitions(self) -> FloatArray:
        """(trees,) log-partitions, in which a forced arc counts as weighing nothing."""
        return self.found.log_partitions

    @classmethod
    def of(
        cls, group: Trees, log_odds: FloatArray, *, keep: bool, messages: bool, outgoing: FloatArray = _NOTHING
    ) -> "_Sums":
        arcs = group.arcs
        family = projective_group if group.projective else spanning_group
        (room, largest), trees = group.room, len(arcs.sizes)
        found = kernels.TreeSums(
            weights=np.empty(room),
            gains=np.empty(room),
            charts=np.empty(family.CHARTS * (room if keep else largest)),
            tops=np.empty(len(arcs.starts)),
            lightest=np.empty(trees),
            log_partitions=np.empty(trees),
            by_walks=np.empty(trees, np.bool_),
            refused=np.empty(trees, np.bool_),
        )
        marginals = np.empty(len(log_odds))
        kernels.weigh_trees(arcs, log_odds, found)
        if group.projective:
            if projective_group.projective_gains(arcs, group.single_root, keep, found):
                projective_group.careful_gains(arcs, group.single_root, keep, found)
        else:
            spanning_group.spanning_gains(arcs, group.single_root, keep, found)
        count, refused = kernels.send_trees(arcs, found, marginals, outgoing), {}
        for tree in np.flatnonzero(found.refused).tolist() if count else ():
            edges = slice(int(arcs.first[tree]), int(arcs.first[tree + 1]))
            log_tree = LogTree(
                arcs.heads[edges], arcs.modifiers[edges], int(arcs.sizes[tree]), group.projective, group.single_root
            )
            refused[tree] = again = _Refused.of(log_tree, edges, log_odds[edges])
            marginals[edges], found.log_partitions[tree] = again.marginals, again.log_partition
            if messages:
                outgoing[edges] = again.outgoing
        return cls(group, log_odds, found, marginals, refused)

    def backward(self, of_messages: FloatArray, of_marginals: FloatArray) -> FloatArray:
        """From the adjoints of messages or marginals, the other being empty, to those of the log-odds."""
        arcs, found, single_root = self.group.arcs, self.found, self.group.single_root
        out, of_gains = np.empty(len(self.log_odds)), np.empty(len(self.log_odds))
        send_trees_backward(arcs, found, self.marginals, of_messages, of_marginals, out, of_gains)
        if self.group.projective:
            projective_gains_backward(arcs, single_root, found, of_gains, out)
        else:
            spanning_group.spanning_gains_backward(arcs, single_root, found, of_gains, out)
        for again in self.refused.values():
            out[again.edges] = again.backward(of_messages, of_marginals)
        return out


class _Refused(NamedTuple):
    """A tree that real arithmetic is not good enough for."""

    edges: slice
    log_odds: FloatArray
    outgoing: FloatArray
    marginals: FloatArray
    log_partition: float
    backprop: Callable[[FloatArray], tuple[FloatArray, FloatArray]]

    @classmethod
    def of(cls, tree: LogTree, edges: slice, log_odds: FloatArray) -> "_Refused":
        incoming = log_probabilities(log_odds)
        sent, backprop = tree.messages(incoming.ravel())
        rows = sent.reshape(-1, 2)
        joint = incoming + rows
        log_partition = float(np.logaddexp(joint[0, 0], joint[0, 1])) if len(joint) else 0.0
        marginals = np.full(len(rows), np.nan)
        if log_partition > -np.inf:  # the same at each arc, but for rounding, which may be large
            marginals = np.exp(joint[:, 1] - np.logaddexp(joint[:, 0], joint[:, 1]))
        weightless = np.where(log_odds < np.inf, np.logaddexp(0.0, np.minimum(log_odds, 1e300)), 0.0)
        return cls(edges, log_odds, odds_of(rows), marginals, log_partition + float(weightless.sum()), backprop)

    def backward(self, of_messages: FloatArray, of_marginals: FloatArray) -> FloatArray:
        if len(of_messages):
            adjoint = np.where(np.isfinite(self.outgoing), of_messages[self.edges], 0.0)
            rows = np.stack([-adjoint, adjoint], axis=1)
            own: FloatArray = np.zeros(len(adjoint))
        else:
            # A marginal is p = sigmoid(log-odds + message), so its adjoint goes to both alike.
            own = of_marginals[self.edges] * self.marginals * (1.0 - self.marginals)
            own = np.where(np.isfinite(self.outgoing), own, 0.0)
            rows = np.stack([-own, own], axis=1)
        received = self.backprop(rows.ravel())[0]
        return own + adjoint_of_odds(received.reshape(-1, 2), self.log_odds)


def refused_trees(group: Trees, log_odds: FloatArray) -> BoolArray:
    """Which trees are done in logarithms, (trees,): to know what is slow."""
    return _Sums.of(group, log_odds, keep=False, messages=False).found.refused
