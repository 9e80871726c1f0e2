"""The circuit on several threads: a network scores a batch, and each thread infers the beliefs of some sentences."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from treebp.parsing.model import TreeModel
from treebp.parsing.scorer import ARC, Scored
from treebp.training.circuit import label_loss, loss_and_gradient
from treebp.training.learner import Example, together

_WORDS = 250  # at least, for each thread: what Python does for each, only one at a time can do


def loss_and_gradient_on_threads(
    model: TreeModel, examples: Sequence[Example], objective: str, temperature: float, threads: int
) -> float:
    """As `loss_and_gradient` for a scorer that adds up its gradients, which are the same on any number of threads."""
    batch, _, heads, labels = whole = together(examples)
    threads = min(threads, batch.words // _WORDS)
    if threads <= 1:
        return loss_and_gradient(model, whole, objective, temperature)[0]
    tuples = model.tuples(batch)
    scores = model.scorer(batch, tuples)
    first = {ARC: batch.first, **{name: own.first for name, own in tuples.items()}}

    def piece(ends: tuple[int, int]) -> tuple[float, Any]:
        begin, end = ends
        known = {name: values[first[name][begin] : first[name][end]] for name, values in scores.potentials.items()}
        by_scores = Scored(known, lambda adjoints: adjoints)
        return loss_and_gradient(model, together(examples[begin:end]), objective, temperature, by_scores)

    cuts = np.unique(np.linspace(0, len(examples), 1 + threads).astype(int)).tolist()
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(piece, pairwise(cuts)))
    value = sum(of_piece for of_piece, _ in found)
    adjoints = {name: np.concatenate([own[name] for _, own in found]) for name in first}
    if scores.labels is not None and heads is not None and labels is not None:
        of_labels, adjoints["label"] = label_loss(scores.labels.scores(heads), labels)
        value += of_labels
    scores.backprop(adjoints)
    return value
