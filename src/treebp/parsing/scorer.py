"""Scores of arcs and parts: sums of the weights of hashed features, and the gradient by those weights."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.features.hashing import HashedTemplates, new_weights
from treebp.features.model_file import pack, unpack
from treebp.features.optimiser import SparseGradient
from treebp.kernels.feature_gradient import list_arc_gradient, list_tuple_gradient
from treebp.kernels.feature_scores import previous_places, score_arcs, score_tuples
from treebp.kernels.features import Hashes, position_keys
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.arc import ARC_TEMPLATES
from treebp.parsing.parts.part import Part, Tuples

ARC = "arc"
ScorerBackprop = Callable[[Mapping[str, FloatArray]], Any]


class LabelScores(NamedTuple):
    """What a scorer says of labels, beside a `LabelModel`.

    Attributes:
        scores: (words, labels), given the heads of all words of the batch, end to end.
        share: how much that counts, from 0 to 1; the rest is the label model's.

    """

    scores: Callable[[IntArray], FloatArray]
    share: float


class Scored(NamedTuple):
    """What a scorer makes of a batch.

    Attributes:
        potentials: of all arcs, as "arc", and of all parts of each kind, by its name.
        backprop: takes adjoints of these, by the same names, and of label scores that were asked for, as "label"; it
            gives, or adds up, the gradient by weights, as the learner of this kind of scorer takes it.
        labels: None if the scorer knows none.

    """

    potentials: dict[str, FloatArray]
    backprop: ScorerBackprop
    labels: LabelScores | None = None


class Scorer(Protocol):
    """The first step of the paper's circuit, (A): from words to potentials. It knows nothing of inference.

    `parts` are the kinds of parts that are scored beside arcs.
    """

    @property
    def parts(self) -> Sequence[Part]:
        """As `PARTS` has them."""
        ...

    def __call__(self, batch: Batch, tuples: Mapping[str, Tuples]) -> Scored:
        """The scores of all arcs and parts, and their backward pass."""
        ...

    def state(self) -> dict[str, AnyArray]:
        """All that was learnt, as arrays of its own."""
        ...

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Go back to a ``state``; ValueError if it is of another scorer."""
        ...

    @property
    def device(self) -> str:
        """Where it computes."""
        ...

    def to(self, device: str) -> None:
        """Compute on a device, "cpu", "cuda" or "auto", if that makes a difference; ValueError if it is not there."""
        ...


class HashedScorer:
    """A scorer that is linear in hashed features.

    Attributes:
        parts: the kinds of parts that are scored beside arcs.
        weights: (2**bits,), float32; to be changed in place.

    Example:
        >>> from treebp.parsing.arcs import Arcs
        >>> from treebp.parsing.parts import PARTS
        >>> sibling = PARTS["sibling"]
        >>> scorer = HashedScorer(["words"], [sibling], bits=10)
        >>> scorer.weights[:] = 1.0
        >>> # Two words, both of which may hang from the root; rows are boundary, root, words, boundary.
        >>> tokens = np.repeat([[1], [2], [3], [4], [1]], 6, axis=1)
        >>> batch = Batch.of([tokens], [Arcs.of(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool))])
        >>> scores, backprop, _ = scorer(batch, {"sibling": sibling.list(batch, projective=True)})
        >>> scores  # an arc's features are counted twice: with and without its length
        {'arc': array([8., 8.]), 'sibling': array([10.])}
        >>> backprop({"arc": np.array([1.0, 0.0]), "sibling": np.array([0.5])}).values.sum()
        np.float32(13.0)

    """

    def __init__(self, groups: Iterable[str], parts: Sequence[Part], bits: int) -> None:
        groups = tuple(groups)
        self.parts = tuple(parts)
        self.bits = bits
        self.weights = new_weights(bits)
        self._templates = {
            templates: templates.compile(groups) for templates in (ARC_TEMPLATES, *(part.templates for part in parts))
        }

    def __call__(self, batch: Batch, tuples: Mapping[str, Tuples]) -> Scored:
        """See `Scorer`."""
        hashes: dict[HashedTemplates, Hashes] = {}  # several kinds of parts may have the same templates
        for templates, compiled in self._templates.items():
            keys = position_keys(batch.tokens, compiled, self.bits)
            hashes[templates] = Hashes(keys, compiled.begin, self.bits)
        of_arcs = hashes[ARC_TEMPLATES]
        previous = previous_places(batch.tokens, self._templates[ARC_TEMPLATES])
        scores = {ARC: score_arcs(batch.sizes, batch.heads, batch.starts, of_arcs, previous, self.weights)}
        for part in self.parts:
            _, positions, first, _ = tuples[part.name]
            scores[part.name] = score_tuples(
                batch.sizes, positions, first, _roles(positions), hashes[part.templates], part.family, self.weights
            )

        def backprop(adjoints: Mapping[str, FloatArray]) -> SparseGradient:
            most = _most_arc_features(batch, of_arcs.begin)
            most += sum(_most_features(tuples[part.name], hashes[part.templates].begin) for part in self.parts)
            indices, values = np.empty(most, np.int32), np.empty(most, np.float32)
            count = list_arc_gradient(
                batch.sizes, batch.heads, batch.starts, of_arcs, previous, adjoints[ARC], indices, values
            )
            for part in self.parts:
                _, positions, first, _ = tuples[part.name]
                own, rest = adjoints[part.name], (indices[count:], values[count:])
                count += list_tuple_gradient(
                    batch.sizes, positions, first, _roles(positions), hashes[part.templates], part.family, own, *rest
                )
            return SparseGradient(indices[:count], values[:count])

        return Scored(scores, backprop)

    def state(self) -> dict[str, AnyArray]:
        """Which weights are not zero, and those."""
        used, values = pack(self.weights)
        return {"weights_used": used, "weights": values}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """See `Scorer`."""
        unpack(state["weights_used"], state["weights"], self.weights)

    def untrained(self) -> "HashedScorer":
        """One with the same features, all its weights zero."""
        other = copy(self)
        other.weights = new_weights(self.bits)
        return other

    @property
    def device(self) -> str:
        """Always the CPU."""
        return "cpu"

    def to(self, device: str) -> None:
        """Features are looked up on the CPU, whatever others do."""


def _roles(positions: IntArray) -> tuple[int, ...]:
    """The numbers of a part's positions, as ``treebp.kernels.feature_scores`` takes them."""
    return tuple(range(positions.shape[1]))


def _most_arc_features(batch: Batch, begin: AnyArray) -> int:
    """How many features the gradient by arcs can list: each once with and once without its length, or between."""
    alone, of_both, between = int(begin[2]), int(begin[3] - begin[2]), int(begin[5] - begin[4])
    arcs = batch.starts[np.cumsum(batch.sizes) - 1]
    return 2 * (alone + of_both) * len(batch.heads) + between * int(arcs @ batch.sizes)


def _most_features(tuples: Tuples, begin: AnyArray) -> int:
    """How many features the gradient by parts can list: on all positions, and on two of them."""
    arity = tuples.positions.shape[1]
    of_two = sum(int(begin[block + 1] - begin[block]) for block in range(arity, len(begin), 2))
    return len(tuples.positions) * (int(begin[1]) + of_two)
