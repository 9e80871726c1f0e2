"""Which arcs a parser looks at: those that an exact first-order model does not find hopeless."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.features.templates import ATTRIBUTES
from treebp.kernels.candidates import prune, within_bounds
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.model import Inference, TreeModel
from treebp.parsing.scorer import HashedScorer

FINE = ATTRIBUTES.index("fine")
TEMPLATES = ("words", "tags")


@dataclass(frozen=True)
class Pruner:
    """An exact first-order model with few features, and the longest arc seen between each two tags.

    Attributes:
        model: of arcs alone.
        bounds: (tags, tags, 2) by head tag, modifier tag and direction the greatest length in training, 0 for pairs
            never seen, which are not bounded; an empty array bounds nothing.
        ratio: heads less probable than this times the word's best head are pruned.
        most: so many heads are kept per word, at most.

    """

    model: TreeModel
    bounds: IntArray
    ratio: float
    most: int

    def __post_init__(self) -> None:
        bounds = self.bounds
        if bounds.shape != (len(bounds), len(bounds), 2) or bounds.dtype != np.int64:
            raise ValueError(
                f"length bounds of shape {bounds.shape} and type {bounds.dtype}: (tags, tags, 2) integers expected"
            )

    @classmethod
    def new(cls, config: Config, bounds: IntArray, *, projective: bool, single_root: bool) -> "Pruner":
        """A pruner as configured, all its weights zero."""
        scorer = HashedScorer(TEMPLATES, (), config.pruner_weight_bits)
        model = TreeModel(scorer, projective, single_root, Inference(exact=True))
        return cls(model, np.ascontiguousarray(bounds), config.prune_ratio, config.prune_heads)

    def allowed(self, tokens: IntArray) -> BoolArray:
        """Arcs within the length bounds, as a matrix (n + 1, n + 1)."""
        return within_bounds(tokens[1:-1, FINE].copy(), self.bounds)

    def keep(self, tokens: Sequence[IntArray]) -> list[Arcs]:
        """The arcs of each sentence that survive; there is always a tree among them."""
        bounded = len(self.bounds) > 0
        return self._keep(
            tokens, [Arcs.of(self.allowed(one)) if bounded else _all_arcs(len(one) - 3) for one in tokens]
        )

    def keep_among(self, tokens: IntArray, allowed: BoolArray) -> Arcs:
        """The same of one sentence, with other arcs allowed than the length bounds do.

        Raises ValueError if those arcs admit no tree.
        """
        arcs = Arcs.of(allowed)
        if not np.diff(arcs.starts).all():
            raise ValueError("the arcs that are allowed make no tree: a word is left without a head")
        return self._keep([tokens], [arcs])[0]

    def _keep(self, tokens: Sequence[IntArray], arcs: Sequence[Arcs]) -> list[Arcs]:
        batch = Batch.of(tokens, arcs)
        circuit = self.model(batch)
        beliefs = circuit.inferred.beliefs
        if np.isnan(beliefs).any():
            raise ValueError("the arcs that are allowed make no tree")
        best = circuit.problem.trees.best(beliefs)
        kept = prune(batch.sizes, batch.heads, batch.starts, beliefs, best, self.ratio, self.most)
        return Batch(batch.sizes, batch.tokens, *kept).arcs


@lru_cache(maxsize=50)
def _all_arcs(words: int) -> Arcs:
    """All arcs of a sentence: the same for all sentences of that length."""
    return Arcs.of(within_bounds(np.zeros(words + 1, np.int64), np.zeros((0, 0, 2), np.int64)))
