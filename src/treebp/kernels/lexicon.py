"""Labels that are probable for words, by counts that are smoothed step by step."""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel

SIGHTINGS = 2  # the last steps, which count how often words were seen; those before count different rare words
RARE = 10  # words more frequent than this are no example for others


class LabelCounts(NamedTuple):
    """How often each label was seen with each of some things.

    Attributes:
        first: (things + 1,) where the labels of each begin.
        labels: the labels of each.
        counts: how often.

    """

    first: IntArray
    labels: IntArray
    counts: IntArray


@kernel
def _is_alone(seen: LabelCounts, word: int, label: int) -> bool:
    """Whether a rare word has a label only once."""
    total, once = 0, False
    for k in range(seen.first[word], seen.first[word + 1]):
        total += seen.counts[k]
        once |= seen.labels[k] == label and seen.counts[k] == 1
    return once and total <= RARE


@kernel
def probable_labels(
    steps: IntArray,
    seen: LabelCounts,
    prior: FloatArray,
    smoothing: float,
    ratio: float,
    without: IntArray,
) -> tuple[IntArray, AnyArray]:
    """The labels of each word, end to end, and where those of each begin.

    ``steps`` (words, steps) are the things that a word's labels are counted with, from the most general on, -1 for
    none; the last one is the word itself. Of each word one sighting with the label ``without``, unless that is -1, is
    left out: of the last steps, and if it is the only one with that label, also of the first ones.
    """
    words, labels = len(steps), len(prior)
    start, out = np.zeros(words + 1, np.int64), np.empty(words * labels, np.int32)
    probabilities = np.empty(labels)
    count = 0
    for word in range(words):
        alone = without[word] >= 0 and _is_alone(seen, steps[word, -1], without[word])
        probabilities[:] = 0.0
        share = 1.0  # what the steps before this one still count
        for step in range(steps.shape[1] - 1, -1, -1):
            thing = steps[word, step]
            if thing < 0:
                continue
            left_out = without[word] if alone or step >= steps.shape[1] - SIGHTINGS else -1
            total = smoothing - (left_out >= 0)
            for k in range(seen.first[thing], seen.first[thing + 1]):
                total += seen.counts[k]
            for k in range(seen.first[thing], seen.first[thing + 1]):
                label = seen.labels[k]
                probabilities[label] += share * (seen.counts[k] - (label == left_out)) / total
            share *= smoothing / total
        probabilities += share * prior
        least = ratio * probabilities.max()
        for label in range(labels):
            if probabilities[label] >= least:
                out[count] = label
                count += 1
        start[word + 1] = count
    return start, out[:count].copy()
