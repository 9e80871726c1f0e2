"""A log-linear model of arcs and pairs of arcs, and the sentences that it is trained on."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels import sentence as kernels
from treebp.kernels.batch import infer
from treebp.kernels.objective import learn
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Factor, TemplateGroup
from treebp.parsing.templates import arc_templates, pair_templates


@dataclass(frozen=True, slots=True)
class Example:
    """A training sentence: its tokens, its candidate arcs, and which of them are right."""

    tokens: IntArray
    arcs: Arcs
    gold: BoolArray


class ArcModel:
    """Weights of hashed features, and the factor graph that they score.

    ``projective`` and ``single_root`` say which trees there are, ``iterations`` how often messages are passed.
    """

    def __init__(
        self,
        groups: Iterable[TemplateGroup],
        factors: Iterable[Factor],
        bits: int,
        *,
        projective: bool,
        single_root: bool,
        iterations: int = 1,
    ) -> None:
        groups, factors = tuple(groups), tuple(factors)
        self.features: kernels.Features = (
            arc_templates(groups),
            pair_templates(groups),
            ("sibling" in factors, "grandparent" in factors),
            bits,
        )
        self.structure: kernels.Structure = (projective, single_root)
        self.iterations = iterations
        self.weights = _line_by_line(1 << bits)  # to be changed in place, lest it move to where lines are split

    def infer(self, batch: Batch) -> tuple[FloatArray, FloatArray, IntArray]:
        """Beliefs of all arcs, and for each sentence two numbers: see ``treebp.kernels.batch``."""
        return infer(
            batch.sizes,
            batch.tokens,
            batch.heads,
            batch.modifiers,
            batch.starts,
            self.features,
            self.structure,
            self.weights,
            self.iterations,
        )

    def gradient(
        self, tokens: IntArray, arcs: Arcs, gold: BoolArray, objective: int, temperature: float
    ) -> tuple[float, AnyArray, AnyArray]:
        """An objective's value, and its gradient as a list of weights and of what to add to each, with repetitions."""
        scores, pair_scores, first, second, triples, siblings = self._score(tokens, arcs)
        value, of_scores, of_pairs = learn(
            objective,
            temperature,
            scores,
            pair_scores,
            first,
            second,
            arcs.heads,
            arcs.modifiers,
            arcs.starts,
            gold,
            self.iterations,
            *self.structure,
        )
        return value, *self.listed(tokens, arcs, of_scores, of_pairs, triples, siblings)

    def listed(
        self,
        tokens: IntArray,
        arcs: Arcs,
        of_scores: FloatArray,
        of_pairs: FloatArray,
        triples: IntArray,
        siblings: int,
    ) -> tuple[AnyArray, AnyArray]:
        """The gradient by weights, as such a list, from that by scores of arcs and pairs."""
        return kernels.list_gradient(
            tokens, arcs.heads, arcs.modifiers, of_scores, of_pairs, triples, siblings, self.features
        )

    def score(self, tokens: IntArray, arcs: Arcs) -> tuple[FloatArray, FloatArray, IntArray, int]:
        """Scores of arcs and of pairs, the pairs' three positions, and how many pairs are siblings (the first ones)."""
        scores, pair_scores, _, _, triples, siblings = self._score(tokens, arcs)
        return scores, pair_scores, triples, siblings

    def _score(self, tokens: IntArray, arcs: Arcs) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, int]:
        return kernels.score(
            tokens, arcs.heads, arcs.modifiers, arcs.starts, self.features, self.structure, self.weights
        )


def _line_by_line(count: int) -> AnyArray:
    """Zeros that begin where a line of the processor's caches does, so that each 16 of them share one."""
    memory = np.zeros(count + 16, np.float32)
    start = -memory.ctypes.data % 64 // 4
    return memory[start : start + count]
