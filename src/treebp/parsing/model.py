"""A model of trees: the paper's circuit from words to beliefs, and the tree that a decoder picks by them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.trees import Trees
from treebp.bp.propagation import propagate
from treebp.bp.schedule import Schedule
from treebp.objectives.decoders import log_odds
from treebp.parsing.arcs import Batch, split
from treebp.parsing.decoding import rescored
from treebp.parsing.exact import GRANDPARENT, ExactSentence, exact_marginals, grandparent_trees
from treebp.parsing.parts.part import Part, Tuples
from treebp.parsing.scorer import ARC, LabelScores, Scorer, ScorerBackprop

Potentials = Mapping[str, FloatArray]


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


@dataclass(frozen=True, slots=True)
class Circuit:
    """What a model makes of a batch, each step of it with its own way back.

    Attributes:
        trees: the tree factor of each sentence.
        tuples: the parts of each kind.
        potentials: the scores of arcs, as "arc", and of the parts of each kind.
        inferred: the beliefs.
        back_to_weights: maps adjoints of the potentials to the gradient by the scorer's weights.
        labels: what the scorer says of labels, if anything.

    """

    trees: Trees
    tuples: Mapping[str, Tuples]
    potentials: Mapping[str, FloatArray]
    inferred: Inferred
    back_to_weights: ScorerBackprop
    labels: LabelScores | None = None


@dataclass(frozen=True, slots=True)
class TreeModel:
    """A scorer, the kind of trees there are, and how beliefs are found.

    Example:
        >>> from treebp.parsing.arcs import Arcs
        >>> from treebp.parsing.scorer import HashedScorer
        >>> model = TreeModel(HashedScorer(["words"], [], bits=10), True, True, Inference())
        >>> tokens = np.repeat([[1], [2], [3], [4], [1]], 6, axis=1)  # boundary, root, two words, boundary
        >>> batch = Batch.of([tokens], [Arcs.of(np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0]], bool))])
        >>> model(batch).inferred.beliefs
        array([0.5, 0.5, 0.5, 0.5])

    """

    scorer: Scorer
    projective: bool
    single_root: bool
    inference: Inference

    def __call__(self, batch: Batch, *, gradient: bool = False) -> Circuit:
        """From words to beliefs; without `gradient`, `inferred.backprop` must not be called."""
        trees, tuples = batch.trees(projective=self.projective, single_root=self.single_root), self.tuples(batch)
        potentials, back_to_weights, labels = self.scorer(batch, tuples)
        inferred = infer(self.inference, batch, trees, self.scorer.parts, tuples, potentials, gradient=gradient)
        return Circuit(trees, tuples, potentials, inferred, back_to_weights, labels)

    def tuples(self, batch: Batch) -> dict[str, Tuples]:
        """The parts of each kind."""
        return {part.name: part.list(batch, self.projective) for part in self.scorer.parts}

    def parts_on(self, tuples: Mapping[str, Tuples], on: BoolArray) -> dict[str, BoolArray]:
        """Which arcs and parts are ON, given which arcs are."""
        return {ARC: on, **{part.name: part.on(tuples[part.name], on) for part in self.scorer.parts}}


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
        return _exact(grandparent_trees(batch, tuples[GRANDPARENT], potentials, single_root=trees.single_root))
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
    of_arcs = AllOn(np.arange(arcs, dtype=np.int32)[:, None])
    of_parts = [part.group(tuples[part.name]) for part in parts]
    beliefs = propagate(
        Graph(arcs, [of_arcs, *of_parts, trees], trusted=True),
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
        beliefs.slots,
        beliefs.changes,
        lambda: beliefs.log_partition,
        lambda: named(beliefs.group_expectations),
        lambda adjoint: named(beliefs.backward(adjoint)),
    )


def _exact(sentences: Sequence[ExactSentence]) -> Inferred:
    """Grandparents in projective trees: sums over all trees."""
    found, backprop = exact_marginals(sentences)
    return Inferred(
        found[ARC],
        np.zeros_like(found[ARC]),
        lambda: sum(each.trees.log_partition for each in sentences),
        lambda: found,
        backprop,
    )


def decode(decoder: str, model: TreeModel, batch: Batch, circuit: Circuit) -> list[IntArray]:
    """The heads (n,) of the tree that a decoder picks for each sentence.

    "mbr" takes the tree with the highest expected number of right heads (eq. 3), "log-odds" the one with the highest
    sum of log-odds (the paper's footnote 3). "map" takes the tree with the highest score; with factors on several arcs
    and approximate inference, the highest among the trees that come first by log-odds.
    """
    trees, tuples, potentials, beliefs = circuit.trees, circuit.tuples, circuit.potentials, circuit.inferred.beliefs
    if decoder == "mbr":
        flat = trees.best(beliefs)
    elif decoder == "log-odds":
        flat = trees.best(log_odds(beliefs))
    elif not any(len(potentials[name]) for name in tuples):
        flat = trees.best(potentials[ARC])
    elif model.inference.exact:
        sentences = grandparent_trees(batch, tuples[GRANDPARENT], potentials, single_root=model.single_root)
        flat = np.concatenate([sentence.trees.argmax() for sentence in sentences])
    else:

        def score(on: BoolArray) -> float:
            return sum(float(potentials[name][which].sum()) for name, which in model.parts_on(tuples, on).items())

        flat = rescored(batch, beliefs, score, projective=model.projective, single_root=model.single_root)
    return split(flat, batch.sizes - 1)
