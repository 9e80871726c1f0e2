"""Training pruners."""

from collections.abc import Callable, Sequence

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.parsing.arcs import Arcs
from treebp.parsing.config import Config
from treebp.parsing.pruner import FINE, Pruner
from treebp.training.learner import Example, Learner


def train_pruner(
    tokens: Sequence[IntArray],
    trees: Sequence[IntArray],
    config: Config,
    structure: tuple[bool, bool],
    threads: int,
    advance: Callable[[int], None],
) -> Pruner:
    """Fit a pruner to sentences and their trees by conditional log-likelihood; ``advance`` hears of words done."""
    bounds = _longest(tokens, trees) if config.length_bounds else np.zeros((0, 0, 2), np.int64)
    projective, single_root = structure
    pruner = Pruner.new(config, bounds, projective=projective, single_root=single_root)
    examples = []
    for sentence, heads in zip(tokens, trees, strict=True):
        allowed = pruner.allowed(sentence)
        allowed[heads, np.arange(1, len(heads) + 1)] = True
        arcs = Arcs.of(allowed)
        examples.append(Example(sentence, arcs, arcs.marked(heads)))
    learner = Learner(pruner.model, config, config.pruner_rate, len(examples), threads)
    for epoch in range(config.pruner_epochs):
        learner.epoch(examples, "cll", seed=(config.seed, 0, epoch), advance=advance)
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
    """The longest arc between each two tags in each direction; see ``Pruner``."""
    tags = 1 + max(int(sentence[:, FINE].max()) for sentence in tokens)  # unknown tags are number 0: never bounded
    bounds = np.zeros((tags, tags, 2), np.int64)
    for sentence, heads in zip(tokens, trees, strict=True):
        modifiers = np.arange(1, len(heads) + 1)
        where = sentence[heads + 1, FINE], sentence[modifiers + 1, FINE], (modifiers > heads).astype(np.int64)
        np.maximum.at(bounds, where, np.abs(modifiers - heads))
    return bounds
