"""Small random sequences with candidates, and models of them."""

import numpy as np

from treebp.tagging.model import SequenceModel
from treebp.tagging.sequences import LabelSet, Sequences

PARTS = [("N", "s", None), ("N", "p", "x"), ("V", "s", None), ("V", "f", "x"), ("A", "s", "y")]
TEMPLATES = ["p.word", "p-1.word", "p+1.word p.shape", "p-2.shape p-1.shape p.word"]


def random_sequences(rng, lengths=(4, 1, 3), most=3):
    positions = sum(lengths)
    counts = rng.integers(1, most + 1, size=positions)
    candidates = [rng.permutation(len(PARTS))[:count] for count in counts]
    values = rng.integers(0, 4, size=(positions, 2)).astype(np.int32)
    start = np.concatenate(([0], np.cumsum(counts)))
    gold = np.array([rng.choice(own) for own in candidates])
    return Sequences(np.array(lengths), values, start, np.concatenate(candidates).astype(np.int32)), gold


def random_model(rng, labels=None, bits=12):
    labels = labels or LabelSet.of_parts(PARTS, chained=2)
    model = SequenceModel(labels, ["word", "shape"], TEMPLATES, ["p.word"], bits=bits)
    model.weights[:] = rng.normal(size=1 << bits)
    return model
