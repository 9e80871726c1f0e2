"""From potentials to beliefs, modules (B) to (D) of the paper's circuit: belief propagation, or exact."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.trees import Trees
from treebp.bp.propagation import propagate
from treebp.bp.schedule import Schedule
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import Part, Tuples
from treebp.trees.grandparents import GrandparentTrees

Potentials = Mapping[str, FloatArray]
ARC = "arc"


class Inference(NamedTuple):
    """How beliefs are found.

    Attributes:
        exact: whether by a dynamic program in place of belief propagation: O(n^3) for arcs alone, O(n^4) for
            grandparents in projective trees.
        iterations, schedule, damping, tolerance: of belief propagation; see `treebp.propagate`.

    """

    exact: bool = False
    iterations: int = 4
    schedule: Schedule = "serial"
    damping: float = 0.0
    tolerance: float | None = None

    @property
    def one_by_one(self) -> bool:
        """Whether sentences must not share a graph.

        With a tolerance they would wait for each other; and a sentence without parts, for which inference is exact,
        would be damped, or sent messages all at once, with the others.
        """
        by_default = self.tolerance is None and self.damping == 0.0 and self.schedule == "serial"
        return not (self.exact or by_default)


class Inferred(NamedTuple):
    """Beliefs about a batch, and the way back.

    Attributes:
        beliefs: (arcs,) that each arc is in the tree.
        changes: (arcs,) how much the last iteration changed them; 0 where inference is exact.
        log_partition: of all sentences together; Bethe's approximation unless inference is exact.
        expectations: (of no argument) its derivatives by the potentials: the beliefs about arcs and parts.
        backprop: maps dJ/d beliefs to dJ/d potentials, through every iteration.

    """

    beliefs: FloatArray
    changes: FloatArray
    log_partition: Callable[[], float]
    expectations: Callable[[], dict[str, FloatArray]]
    backprop: Callable[[FloatArray], dict[str, FloatArray]]


def infer(
    inference: Inference,
    batch: Batch,
    trees: Trees,
    parts: Sequence[Part],
    tuples: Mapping[str, Tuples],
    potentials: Potentials,
    *,
    gradient: bool,
) -> Inferred:
    """Beliefs that follow from potentials; NaN for sentences whose arcs make no tree."""
    if inference.one_by_one and len(batch.sizes) > 1:
        return _one_by_one(inference, batch, trees, parts, tuples, potentials, gradient=gradient)
    if not any(len(potentials[part.name]) for part in parts):
        return _first_order(trees, parts, potentials, gradient=gradient)
    if inference.exact:
        return _grandparents(batch, trees, tuples, potentials)
    return _propagated(inference, trees, parts, tuples, potentials, gradient=gradient)


def _one_by_one(
    inference: Inference,
    batch: Batch,
    trees: Trees,
    parts: Sequence[Part],
    tuples: Mapping[str, Tuples],
    potentials: Potentials,
    *,
    gradient: bool,
) -> Inferred:
    """Each sentence with a graph of its own."""
    first = {ARC: batch.first, **{name: own.first for name, own in tuples.items()}}

    def pieces(flat: Potentials) -> list[dict[str, FloatArray]]:
        return [
            {name: flat[name][own[number] : own[number + 1]] for name, own in first.items()}
            for number in range(len(batch.sizes))
        ]

    def joined(of_sentences: Sequence[Potentials]) -> dict[str, FloatArray]:
        return {name: np.concatenate([one[name] for one in of_sentences]) for name in first}

    found = []
    for (tokens, arcs), own in zip(batch, pieces(potentials), strict=True):
        alone = Batch.of([tokens], [arcs])
        tree = alone.trees(projective=trees.projective, single_root=trees.single_root)
        listed = {part.name: part.list(alone, trees.projective) for part in parts}
        found.append(infer(inference, alone, tree, parts, listed, own, gradient=gradient))

    def backprop(adjoint: FloatArray) -> dict[str, FloatArray]:
        return joined([one.backprop(own) for one, own in zip(found, batch.split(adjoint), strict=True)])

    return Inferred(
        np.concatenate([one.beliefs for one in found]),
        np.concatenate([one.changes for one in found]),
        lambda: sum(one.log_partition() for one in found),
        lambda: joined([one.expectations() for one in found]),
        backprop,
    )


def _first_order(trees: Trees, parts: Sequence[Part], potentials: Potentials, *, gradient: bool) -> Inferred:
    """Arcs alone: sums over all trees."""
    beliefs, log_partitions, backprop = trees.marginals(potentials[ARC], gradient=gradient)
    nothing = {part.name: np.zeros(0) for part in parts}
    return Inferred(
        beliefs,
        np.zeros_like(beliefs),
        lambda: float(log_partitions.sum()),
        lambda: {ARC: beliefs, **nothing},
        lambda adjoint: {ARC: backprop(adjoint), **nothing},
    )


def _propagated(
    inference: Inference,
    trees: Trees,
    parts: Sequence[Part],
    tuples: Mapping[str, Tuples],
    potentials: Potentials,
    *,
    gradient: bool,
) -> Inferred:
    """Belief propagation on the factor graph of all sentences: arcs, parts and trees."""
    names = [ARC, *(part.name for part in parts)]
    arcs = len(potentials[ARC])
    groups = [AllOn(np.arange(arcs)[:, None]), *(part.group(tuples[part.name]) for part in parts), trees]
    beliefs = propagate(
        Graph(arcs, groups, trusted=True),
        iterations=inference.iterations,
        schedule=inference.schedule,
        damping=inference.damping,
        tolerance=inference.tolerance,
        potentials=[*(potentials[name] for name in names), np.zeros(0)],
        gradient=gradient,
        watch=False,
    )

    def named(flat: Sequence[FloatArray]) -> dict[str, FloatArray]:
        return dict(zip(names, flat[:-1], strict=True))  # but for the trees, which have none

    return Inferred(
        beliefs.on.copy(),
        beliefs.changes,
        lambda: beliefs.log_partition,
        lambda: named(beliefs.group_expectations),
        lambda adjoint: named(beliefs.backward(adjoint)),
    )


def _grandparents(batch: Batch, trees: Trees, tuples: Mapping[str, Tuples], potentials: Potentials) -> Inferred:
    """Grandparents in projective trees: model 0 of Koo and Collins (2010), sentence by sentence."""
    beliefs = np.empty(len(batch.heads))
    of_pairs = np.empty(len(tuples["grandparent"].arcs))
    sentences = list(grandparent_trees(batch, tuples["grandparent"], potentials, single_root=trees.single_root))
    for each in sentences:
        beliefs[each.arcs] = each.trees.marginals[each.where]
        of_pairs[each.pairs] = each.trees.grandparent_marginals[each.triples]

    def backprop(adjoint: FloatArray) -> dict[str, FloatArray]:
        by_arc, by_pair = np.empty_like(beliefs), np.empty_like(of_pairs)
        for each in sentences:
            matrix = np.zeros_like(each.trees.marginals)
            matrix[each.where] = adjoint[each.arcs]
            of_arcs, of_grandparents = each.trees.backward(matrix)
            by_arc[each.arcs], by_pair[each.pairs] = of_arcs[each.where], of_grandparents[each.triples]
        return {ARC: by_arc, "grandparent": by_pair}

    return Inferred(
        beliefs,
        np.zeros_like(beliefs),
        lambda: sum(each.trees.log_partition for each in sentences),
        lambda: {ARC: beliefs, "grandparent": of_pairs},
        backprop,
    )


class ExactSentence(NamedTuple):
    """The distribution over one sentence's trees, and where its arcs and pairs are, in the batch and in its arrays."""

    trees: GrandparentTrees
    arcs: slice
    pairs: slice
    where: tuple[IntArray, ...]
    triples: tuple[IntArray, ...]


def grandparent_trees(
    batch: Batch, tuples: Tuples, potentials: Potentials, *, single_root: bool
) -> Sequence[ExactSentence]:
    """The distribution of each sentence that has words."""
    found = []
    for number, (arcs, first) in enumerate(zip(batch.arcs, batch.first[:-1].tolist(), strict=True)):
        if not len(arcs.heads):
            continue
        own, pairs = slice(first, first + len(arcs.heads)), slice(*tuples.first[number : number + 2].tolist())
        triples = tuple(tuples.positions[pairs].T)
        size = len(arcs.starts)
        scores = np.zeros((size, size, size))
        scores[triples] = potentials["grandparent"][pairs]
        distribution = GrandparentTrees(arcs.matrix(potentials[ARC][own], -np.inf), scores, single_root=single_root)
        found.append(ExactSentence(distribution, own, pairs, (arcs.heads, arcs.modifiers), triples))
    return found
