"""Which arcs a parser looks at: those that an exact first-order model does not find hopeless."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.kernels.batch import prune
from treebp.kernels.candidates import within_bounds
from treebp.parsing.arc_model import ArcModel, Example
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.config import Config
from treebp.parsing.learning import run_epoch
from treebp.parsing.optimiser import AdaGrad
from treebp.parsing.templates import ATTRIBUTES

_FINE = ATTRIBUTES.index("fine")


class Pruner:
    """An exact first-order model with few features, and the longest arc seen between each two tags.

    ``bounds[head tag, modifier tag, direction]`` is the greatest length in training, 0 for pairs never seen, which are
    not bounded; an empty array bounds nothing.
    """

    def __init__(self, model: ArcModel, config: Config, bounds: IntArray) -> None:
        if bounds.shape != (len(bounds), len(bounds), 2) or bounds.dtype != np.int64:
            raise ValueError(
                f"length bounds of shape {bounds.shape} and type {bounds.dtype}: (tags, tags, 2) integers expected"
            )
        self.model = model
        self.config = config
        self.bounds = np.ascontiguousarray(bounds)

    @staticmethod
    def new_model(config: Config, structure: tuple[bool, bool]) -> ArcModel:
        """A pruner's model, its weights zero."""
        bits = config.pruner_weight_bits
        return ArcModel(("words", "tags"), (), bits, projective=structure[0], single_root=structure[1])

    def allowed(self, tokens: IntArray) -> BoolArray:
        """Arcs within the length bounds, as a matrix (n + 1, n + 1)."""
        return within_bounds(tokens[1:-1, _FINE].copy(), self.bounds)

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
        beliefs, _, _ = self.model.infer(batch)
        if np.isnan(beliefs).any():
            raise ValueError("the arcs that are allowed make no tree")
        ratio, most = self.config.prune_ratio, self.config.prune_heads
        kept = prune(
            batch.sizes, batch.heads, batch.modifiers, batch.starts, beliefs, self.model.structure, ratio, most
        )
        return Batch(batch.sizes, batch.tokens, *kept).arcs


@lru_cache(maxsize=50)
def _all_arcs(words: int) -> Arcs:
    """All arcs of a sentence: the same for all sentences of that length."""
    return Arcs.of(within_bounds(np.zeros(words + 1, np.int64), np.zeros((0, 0, 2), np.int64)))


def train_pruner(
    tokens: Sequence[IntArray],
    trees: Sequence[IntArray],
    config: Config,
    structure: tuple[bool, bool],
    threads: int,
    advance: Callable[[int], None],
) -> Pruner:
    """Fit a pruner to sentences and their trees by conditional log-likelihood; ``advance`` hears of words done."""
    model = Pruner.new_model(config, structure)
    bounds = _longest(tokens, trees) if config.length_bounds else np.zeros((0, 0, 2), np.int64)
    pruner = Pruner(model, config, bounds)
    examples = []
    for sentence, heads in zip(tokens, trees, strict=True):
        allowed = pruner.allowed(sentence)
        allowed[heads, np.arange(1, len(heads) + 1)] = True
        arcs = Arcs.of(allowed)
        examples.append(Example(sentence, arcs, arcs.marked(heads)))
    optimiser = AdaGrad(model, config.pruner_rate, config.regularisation / len(examples), threads)
    for epoch in range(config.pruner_epochs):
        run_epoch(optimiser, examples, config, "cll", seed=(config.seed, 0, epoch), advance=advance)
    return pruner


def cross_fitted(
    tokens: Sequence[IntArray],
    trees: Sequence[IntArray],
    config: Config,
    structure: tuple[bool, bool],
    threads: int,
    advance: Callable[[int], None],
) -> list[BoolArray]:
    """What is kept of each training sentence, by pruners that have not seen it.

    A pruner keeps fewer heads of the sentences that it was fitted to than of new ones; a parser trained on those
    would never meet again the competition that it was trained against.
    """
    count, folds = len(tokens), min(config.pruner_folds, len(tokens))
    if folds == 1:
        pruner = train_pruner(tokens, trees, config, structure, threads, advance)
        return [pruner.keep([sentence])[0].mask() for sentence in tokens]
    keep: list[BoolArray] = [np.empty(0, np.bool_)] * count
    for fold in range(folds):
        seen = [k for k in range(count) if k % folds != fold]
        pruner = train_pruner([tokens[k] for k in seen], [trees[k] for k in seen], config, structure, threads, advance)
        for k in range(fold, count, folds):
            keep[k] = pruner.keep([tokens[k]])[0].mask()
    return keep


def _longest(tokens: Sequence[IntArray], trees: Sequence[IntArray]) -> IntArray:
    """The longest arc between each two tags in each direction; see :class:`Pruner`."""
    tags = 1 + max(int(sentence[:, _FINE].max()) for sentence in tokens)  # unknown tags are number 0: never bounded
    bounds = np.zeros((tags, tags, 2), np.int64)
    for sentence, heads in zip(tokens, trees, strict=True):
        modifiers = np.arange(1, len(heads) + 1)
        where = sentence[heads + 1, _FINE], sentence[modifiers + 1, _FINE], (modifiers > heads).astype(np.int64)
        np.maximum.at(bounds, where, np.abs(modifiers - heads))
    return bounds
