"""Labels that are probable for words, by counts that are smoothed step by step."""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel

SIGHTINGS = 2  # the last steps, which count how often words were seen; those before count different words


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
def probable_labels(
    steps: IntArray,
    seen: LabelCounts,
    prior: FloatArray,
    smoothing: float,
    ratio: float,
    without: IntArray,
    alone: BoolArray,
) -> tuple[IntArray, AnyArray]:
    """The labels of each word, end to end, and where those of each begin.

    ``steps`` (words, steps) are the things that a word's labels are counted with, from the most general on, -1 for
    none. Of each word one sighting with the label ``without`` it, unless that is -1, is left out of the last steps,
    and where it is ``alone``, also of the first ones.
    """
    words, labels = len(steps), len(prior)
    start, out = np.zeros(words + 1, np.int64), np.empty(words * labels, np.int32)
    probabilities = np.empty(labels)
    count = 0
    for word in range(words):
        probabilities[:] = prior
        for step in range(steps.shape[1]):
            thing = steps[word, step]
            if thing < 0:
                continue
            left_out = without[word] if alone[word] or step >= steps.shape[1] - SIGHTINGS else -1
            total = smoothing - (left_out >= 0)
            for k in range(seen.first[thing], seen.first[thing + 1]):
                total += seen.counts[k]
            probabilities *= smoothing / total
            for k in range(seen.first[thing], seen.first[thing + 1]):
                label = seen.labels[k]
                probabilities[label] += (seen.counts[k] - (label == left_out)) / total
        least = ratio * probabilities.max()
        for label in range(labels):
            if probabilities[label] >= least:
                out[count] = label
                count += 1
        start[word + 1] = count
    return start, out[:count].copy()
