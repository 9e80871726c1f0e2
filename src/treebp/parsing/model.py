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
from treebp.parsing.scorer import ARC, LabelScores, Scored, Scorer, ScorerBackprop


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


class Problem(NamedTuple):
    """What beliefs follow from: the factor graph of a batch, and its log-potentials.

    Attributes:
        batch: the sentences, and their candidate arcs.
        trees: the tree factor of each sentence.
        parts: the kinds of parts that there are beside arcs.
        tuples: the parts of each kind.
        potentials: the scores of arcs, as "arc", and of the parts of each kind.

    """

    batch: Batch
    trees: Trees
    parts: Sequence[Part]
    tuples: Mapping[str, Tuples]
    potentials: Mapping[str, FloatArray]

    @property
    def has_parts(self) -> bool:
        """Whether anything but arcs is scored."""
        return any(len(self.potentials[part.name]) for part in self.parts)

    def parts_on(self, arcs: BoolArray) -> dict[str, BoolArray]:
        """Which arcs and parts are ON, given which arcs are."""
        return {ARC: arcs, **{part.name: part.on(self.tuples[part.name], arcs) for part in self.parts}}

    @property
    def by_sentence(self) -> list["Problem"]:
        """The problem of each sentence alone."""
        first = {ARC: self.batch.first, **{name: own.first for name, own in self.tuples.items()}}
        projective, single_root = self.trees.projective, self.trees.single_root
        found = []
        for number, (tokens, arcs) in enumerate(self.batch):
            batch = Batch.of([tokens], [arcs])
            tuples = {part.name: part.list(batch, projective) for part in self.parts}
            potentials = {name: self.potentials[name][slice(*own[number : number + 2])] for name, own in first.items()}
            trees = batch.trees(projective=projective, single_root=single_root)
            found.append(Problem(batch, trees, self.parts, tuples, potentials))
        return found


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
        problem: the batch's factor graph, and its scores.
        inferred: the beliefs.
        back_to_weights: maps adjoints of the potentials to the gradient by the scorer's weights.
        labels: what the scorer says of labels, if anything.

    """

    problem: Problem
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

    def __call__(self, batch: Batch, *, gradient: bool = False, scored: Scored | None = None) -> Circuit:
        """From words, or scores that are known already, to beliefs.

        Without `gradient`, `inferred.backprop` must not be called.
        """
        parts, tuples = self.scorer.parts, self.tuples(batch)
        potentials, back_to_weights, labels = self.scorer(batch, tuples) if scored is None else scored
        trees = batch.trees(projective=self.projective, single_root=self.single_root)
        problem = Problem(batch, trees, parts, tuples, potentials)
        return Circuit(problem, infer(self.inference, problem, gradient=gradient), back_to_weights, labels)

    def tuples(self, batch: Batch) -> dict[str, Tuples]:
        """The parts of each kind."""
        return {part.name: part.list(batch, self.projective) for part in self.scorer.parts}


def infer(inference: Inference, problem: Problem, *, gradient: bool) -> Inferred:
    """Beliefs that follow from potentials; NaN for sentences whose arcs make no tree."""
    if inference.one_by_one and len(problem.batch.sizes) > 1:
        return _joined(problem, [infer(inference, one, gradient=gradient) for one in problem.by_sentence])
    if not problem.has_parts:
        return _first_order(problem, gradient=gradient)
    if inference.exact:
        return _exact(problem)
    return _propagated(inference, problem, gradient=gradient)


def _joined(problem: Problem, found: Sequence[Inferred]) -> Inferred:
    """What was inferred of each sentence, as of one batch."""

    def joined(of_sentences: Sequence[Mapping[str, FloatArray]]) -> dict[str, FloatArray]:
        return {name: np.concatenate([one[name] for one in of_sentences]) for name in problem.potentials}

    def backprop(adjoint: FloatArray) -> dict[str, FloatArray]:
        return joined([one.backprop(own) for one, own in zip(found, problem.batch.split(adjoint), strict=True)])

    return Inferred(
        np.concatenate([one.beliefs for one in found]),
        np.concatenate([one.changes for one in found]),
        lambda: sum(one.log_partition() for one in found),
        lambda: joined([one.expectations() for one in found]),
        backprop,
    )


def _first_order(problem: Problem, *, gradient: bool) -> Inferred:
    """Arcs alone: sums over all trees."""
    beliefs, log_partitions, backprop = problem.trees.marginals(problem.potentials[ARC], gradient=gradient)
    nothing = {part.name: np.zeros(0) for part in problem.parts}
    return Inferred(
        beliefs,
        np.zeros_like(beliefs),
        lambda: float(log_partitions.sum()),
        lambda: {ARC: beliefs, **nothing},
        lambda adjoint: {ARC: backprop(adjoint), **nothing},
    )


def _propagated(inference: Inference, problem: Problem, *, gradient: bool) -> Inferred:
    """Belief propagation on the factor graph of all sentences: arcs, parts and trees."""
    potentials, names = problem.potentials, [ARC, *(part.name for part in problem.parts)]
    arcs = len(potentials[ARC])
    of_arcs = AllOn(np.arange(arcs, dtype=np.int32)[:, None])
    of_parts = [part.group(problem.tuples[part.name]) for part in problem.parts]
    beliefs = propagate(
        Graph(arcs, [of_arcs, *of_parts, problem.trees], trusted=True),
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


def _exact(problem: Problem) -> Inferred:
    """Grandparents in projective trees: sums over all trees."""
    sentences = _grandparent_trees(problem)
    found, backprop = exact_marginals(sentences)
    return Inferred(
        found[ARC],
        np.zeros_like(found[ARC]),
        lambda: sum(each.trees.log_partition for each in sentences),
        lambda: found,
        backprop,
    )


def _grandparent_trees(problem: Problem) -> list[ExactSentence]:
    batch, trees, _, tuples, potentials = problem
    return grandparent_trees(batch, tuples[GRANDPARENT], potentials, single_root=trees.single_root)


def decode(decoder: str, inference: Inference, circuit: Circuit) -> list[IntArray]:
    """The heads (n,) of the tree that a decoder picks for each sentence.

    "mbr" takes the tree with the highest expected number of right heads (eq. 3), "log-odds" the one with the highest
    sum of log-odds (the paper's footnote 3). "map" takes the tree with the highest score; with factors on several arcs
    and approximate inference, the highest among the trees that come first by log-odds.
    """
    problem, beliefs = circuit.problem, circuit.inferred.beliefs
    batch, trees, potentials = problem.batch, problem.trees, problem.potentials
    if decoder == "mbr":
        flat = trees.best(beliefs)
    elif decoder == "log-odds":
        flat = trees.best(log_odds(beliefs))
    elif not problem.has_parts:
        flat = trees.best(potentials[ARC])
    elif inference.exact:
        flat = np.concatenate([sentence.trees.argmax() for sentence in _grandparent_trees(problem)])
    else:

        def score(on: BoolArray) -> float:
            return sum(float(potentials[name][which].sum()) for name, which in problem.parts_on(on).items())

        flat = rescored(batch, beliefs, score, projective=trees.projective, single_root=trees.single_root)
    return split(flat, batch.sizes - 1)
