"""A model of trees: a scorer of arcs and parts, and the inference that turns scores into beliefs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.groups.trees import Trees
from treebp.parsing.arcs import Batch
from treebp.parsing.inference import ARC, Inference, Inferred, infer
from treebp.parsing.parts.part import Tuples
from treebp.parsing.scorer import LabelScores, Scorer, ScorerBackprop


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


def by_sentence(function: np.ufunc, values: FloatArray, first: IntArray) -> FloatArray:
    """Reduce what there is one of per arc, or part, sentence by sentence; 0 where a sentence has none."""
    out = np.zeros(len(first) - 1)
    some = np.diff(first) > 0
    if some.any():
        out[some] = function.reduceat(values, first[:-1][some])
    return out
