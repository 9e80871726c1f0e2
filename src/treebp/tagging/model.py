"""A model of labels along sequences: a scorer of hashed features, and exact inference on chains.

It is the parser's circuit with chains in place of trees: features to potentials, potentials to marginals, marginals to
an objective, and each step's own way back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.features.hashing import new_weights
from treebp.features.optimiser import SparseGradient
from treebp.features.windows import compile_windows
from treebp.kernels import sequences as kernels
from treebp.kernels.chain import ChainLayout, chain_argmax, chain_sums, chain_sums_backward
from treebp.kernels.features import TRANSITION, WINDOW
from treebp.tagging.sequences import LabelSet, Sequences

_FEWEST, _MOST = 4, 30  # bits of the number of weights: a cache line, and what an index has room for
Objective = Literal["cll", "l2"]
Decoder = Literal["mbr", "viterbi"]


class ChainPotentials(NamedTuple):
    """Scores of all candidates, and of all transitions between those of neighbours; see `ChainLayout`."""

    labels: FloatArray
    transitions: FloatArray


class Labelled(NamedTuple):
    """What was decided.

    Attributes:
        labels: (positions,) numbers of labels.
        entries: (positions,) where they stand among all candidates.
        probabilities: (candidates,) of every candidate.

    """

    labels: IntArray
    entries: IntArray
    probabilities: FloatArray

    @property
    def confidence(self) -> FloatArray:
        """(positions,) the probability of each decision."""
        return self.probabilities[self.entries]


@dataclass(frozen=True)
class ChainMarginals:
    """Forward and backward sums over chains, and what follows from them."""

    layout: ChainLayout
    potentials: ChainPotentials
    before: FloatArray
    after: FloatArray

    @classmethod
    def of(cls, layout: ChainLayout, potentials: ChainPotentials) -> "ChainMarginals":
        """By forward-backward."""
        before, after = np.empty_like(potentials.labels), np.empty_like(potentials.labels)
        chain_sums(layout, potentials.labels, potentials.transitions, before, after)
        return cls(layout, potentials, before, after)

    @property
    def probabilities(self) -> FloatArray:
        """Of each candidate."""
        joint = self.before + self.after + self.potentials.labels
        counts, start = np.diff(self.layout.start), self.layout.start[:-1]
        weights = np.exp(joint - np.repeat(np.maximum.reduceat(joint, start), counts))
        return np.asarray(weights / np.repeat(np.add.reduceat(weights, start), counts))

    def log_partition(self) -> tuple[float, ChainPotentials]:
        """The sum over all chains, and its gradient: how often each candidate and transition is expected."""
        counts, start = np.diff(self.layout.start), self.layout.start[:-1]
        of_first = np.zeros(len(counts), np.bool_)
        of_first[self.layout.first[:-1]] = True
        joint = self.after + self.potentials.labels
        value = np.logaddexp.reduceat(joint, start)[of_first].sum()
        expected = np.where(np.repeat(of_first, counts), self.probabilities, 0.0)
        return float(value), self.backprop(expected)

    def backprop(self, adjoint: FloatArray) -> ChainPotentials:
        """From adjoints of the logarithms of probabilities, not normalised, to those of the potentials."""
        labels, transitions = self.potentials
        received, own = chain_sums_backward(self.layout, labels, transitions, self.before, self.after, adjoint)
        return ChainPotentials(received + adjoint, own)


class SequenceModel:
    """Labels along sequences: hashed features of what is around each position, and chains over its candidates.

    Args:
        labels: and their parts.
        attributes: names of what positions have values of.
        templates: of a position; see ``treebp.features.windows``.
        transition_templates: of the position that a transition leads to; transitions alone are always scored.
        bits: there are 2**bits weights.

    Example:
        >>> model = SequenceModel(LabelSet.plain(2), ["word"], ["p.word", "p-1.word"], bits=10)
        >>> batch = Sequences.with_all_labels([3], np.array([[5], [7], [5]], np.int32), labels=2)
        >>> value, gradient = model.loss_and_gradient(batch, np.array([0, 1, 0]), "cll")
        >>> round(value, 3)
        2.079
        >>> model.weights[:] -= np.bincount(gradient.indices, gradient.values, minlength=1 << 10)
        >>> model.label(batch).labels
        array([0, 1, 0])

    """

    def __init__(
        self,
        labels: LabelSet,
        attributes: Sequence[str],
        templates: Sequence[str],
        transition_templates: Sequence[str] = (),
        *,
        bits: int,
    ) -> None:
        if not _FEWEST <= bits <= _MOST:
            raise ValueError(f"2**{bits} weights, where 2**{_FEWEST} to 2**{_MOST} are possible")
        self.weights: AnyArray = new_weights(bits)
        self.bits = bits
        self._windows = compile_windows(templates, attributes, WINDOW)
        self._transition_windows = compile_windows(transition_templates, attributes, TRANSITION)
        self._columns = kernels.LabelColumns(labels.parts, labels.chained, *kernels.column_keys(labels.columns, bits))

    def score(
        self, batch: Sequences
    ) -> tuple[ChainLayout, ChainPotentials, Callable[[ChainPotentials], SparseGradient]]:
        """Scores, and the way from their adjoints to the gradient by weights."""
        layout, candidates, columns = batch.layout, batch.candidates, self._columns
        keys = kernels.window_keys(layout.first, batch.values, self._windows, self.bits)
        of_transitions = kernels.window_keys(layout.first, batch.values, self._transition_windows, self.bits)
        potentials = ChainPotentials(
            kernels.score_labels(keys, layout, candidates, columns, self.weights),
            kernels.score_transitions(of_transitions, layout, candidates, columns, self.weights),
        )

        def backprop(adjoint: ChainPotentials) -> SparseGradient:
            parts = columns.parts.shape[1]
            most = int(np.minimum(np.diff(layout.start) * parts, len(columns.to)).sum()) * keys.shape[1]
            most += len(adjoint.transitions) * columns.chained * of_transitions.shape[1]
            indices, values = np.empty(most, np.int32), np.empty(most, np.float32)
            count = kernels.list_label_gradient(keys, layout, candidates, columns, adjoint.labels, indices, values)
            rest = indices[count:], values[count:]
            count += kernels.list_transition_gradient(
                of_transitions, layout, candidates, columns, adjoint.transitions, *rest
            )
            return SparseGradient(indices[:count], values[:count])

        return layout, potentials, backprop

    def label(self, batch: Sequences, decoder: Decoder = "mbr", rng: np.random.Generator | None = None) -> Labelled:
        """The most probable label of each position, or the labels of the most probable sequence.

        With a generator of random numbers, a label of each position by its probability.
        """
        layout, potentials, _ = self.score(batch)
        probabilities = ChainMarginals.of(layout, potentials).probabilities
        if rng is not None:
            entries = first_best(probabilities / rng.exponential(size=len(probabilities)), layout.start)
        elif decoder == "viterbi":
            entries = layout.start[:-1] + chain_argmax(layout, *potentials)
        else:
            entries = first_best(probabilities, layout.start)
        return Labelled(batch.candidates[entries].astype(np.int64), entries, probabilities)

    def loss_and_gradient(self, batch: Sequences, gold: AnyArray, objective: Objective) -> tuple[float, SparseGradient]:
        """The objective, summed over all sequences, and its gradient; ``gold`` (positions,) are the right labels.

        "cll" is the negative log-likelihood of whole sequences, "l2" the squared distance of marginals and truth.
        """
        layout, potentials, back_to_weights = self.score(batch)
        marginals = ChainMarginals.of(layout, potentials)
        right = batch.entries(gold)
        if objective == "cll":
            log_partition, adjoint = marginals.log_partition()
            transitions = _right_transitions(layout, right)
            value = log_partition - potentials.labels[right].sum() - potentials.transitions[transitions].sum()
            adjoint.labels[right] -= 1.0
            adjoint.transitions[transitions] -= 1.0
        else:
            probabilities = marginals.probabilities
            error = probabilities.copy()
            error[right] -= 1.0
            value = error @ error
            weighted = 2.0 * probabilities * error
            mean = np.repeat(np.add.reduceat(weighted, layout.start[:-1]), np.diff(layout.start))
            adjoint = marginals.backprop(weighted - probabilities * mean)
        return float(value), back_to_weights(adjoint)


def first_best(values: FloatArray, start: IntArray) -> IntArray:
    """Where the first of the largest values of each position is."""
    tops = np.repeat(np.maximum.reduceat(values, start[:-1]), np.diff(start))
    entries = np.where(values == tops, np.arange(len(values)), len(values))
    return np.minimum.reduceat(entries, start[:-1])


def _right_transitions(layout: ChainLayout, right: IntArray) -> IntArray:
    """Where the transitions between the right candidates are."""
    states = right - layout.start[:-1]
    counts = np.diff(layout.start)
    behind = np.ones(len(right), np.bool_)
    behind[layout.first[:-1]] = False
    positions = np.flatnonzero(behind)
    return np.asarray(layout.into[positions] + states[positions - 1] * counts[positions] + states[positions])
