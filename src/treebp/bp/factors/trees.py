"""Constraints that the arcs which are ON form a dependency tree."""

from collections.abc import Mapping, Sequence

import numpy as np

from treebp._checks import read_only
from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.groups.protocol import Group
from treebp.bp.groups.trees import Trees
from treebp.bp.log_trees import LogTree
from treebp.bp.variables import Variable


def checked_arcs(arcs: Mapping[tuple[int, int], Variable], name: str) -> int:
    """The number of words; ValueError, beginning with the name, for no arc at all or one that cannot be in a tree."""
    if not arcs:
        raise ValueError(f"{name}: needs at least one arc")
    words = max(modifier for _, modifier in arcs)
    for (head, modifier), variable in arcs.items():
        if head == modifier:
            raise ValueError(f"{name}: arc {head} -> {modifier} leads from a word to itself")
        if modifier not in range(1, words + 1) or head not in range(words + 1):
            raise ValueError(f"{name}: arc {head} -> {modifier} is not between the root 0 and words 1 to {words}")
        if variable.states != 2:
            raise ValueError(f"{name}: arc {head} -> {modifier}: {variable.name} has {variable.states} states, not 2")
    return words


class _Tree:
    projective: bool

    def __init__(self, arcs: Mapping[tuple[int, int], Variable], *, single_root: bool = False) -> None:
        name = type(self).__name__
        words = checked_arcs(arcs, name)
        self.variables = tuple(arcs.values())
        self.potentials: FloatArray = read_only(np.zeros(0))
        self.single_root = bool(single_root)
        heads, modifiers = np.array(list(arcs), dtype=np.int64).T.copy()
        self._tree = LogTree(heads, modifiers, words + 1, self.projective, self.single_root)
        if not self._tree.possible:
            raise ValueError(f"{name}: no tree over {words} words can be made of these {len(arcs)} arcs")

    def messages(self, incoming: FloatArray, potentials: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        """Sum over all trees; O(n^3)."""
        return self._tree.messages(incoming)

    @property
    def kind(self) -> tuple[object, ...]:
        """Trees of one kind make a group."""
        return self.projective, self.single_root

    @property
    def edge_order(self) -> IntArray:
        """The variables in the order of a group's edges: sorted by modifier."""
        return np.lexsort((self._tree.heads, self._tree.modifiers))

    def group(self, factors: Sequence["_Tree"], variables: IntArray) -> Group:
        """Many trees of this kind as a group; `variables` are theirs, end to end."""
        trees = [(factor._tree, factor.edge_order) for factor in factors]
        return Trees(
            np.array([tree.size for tree, _ in trees]),
            np.concatenate([tree.heads[order] for tree, order in trees]),
            np.concatenate([tree.modifiers[order] for tree, order in trees]),
            variables,
            projective=self.projective,
            single_root=self.single_root,
        )


class ProjectiveTree(_Tree):
    """Allows the joint states in which the arcs that are ON form a projective tree: PTREE of Smith and Eisner (2008).

    Args:
        arcs: {(head, modifier): binary variable}, 0 being the root; arcs that are not there are OFF.
        single_root: whether the root has just one arc; the paper allows any number.

    Raises:
        ValueError: an arc that cannot be in a tree, a variable that is not binary, or arcs that form no tree.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> arcs = {arc: graph.variable() for arc in [(0, 1), (0, 2), (1, 2), (2, 1)]}
        >>> _ = graph.constrain(ProjectiveTree(arcs))
        >>> propagate(graph, iterations=1)[arcs[0, 1]].round(3)
        array([0.333, 0.667])

    """

    projective = True


class SpanningTree(_Tree):
    """Allows the joint states in which the arcs that are ON form a tree, crossing or not (matrix-tree theorem).

    Arguments and errors are those of `ProjectiveTree`.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> arcs = {(h, m): graph.variable() for h in range(4) for m in range(1, 4) if h != m}
        >>> _ = graph.constrain(SpanningTree(arcs))
        >>> propagate(graph, iterations=1)[arcs[0, 1]].round(3)  # 8 of the 16 trees over three words
        array([0.5, 0.5])

    """

    projective = False
