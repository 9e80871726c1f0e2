"""Small parsers for tests, and what to ask of them."""

from dataclasses import replace

import numpy as np

from treebp import training
from treebp.parsing.config import Config
from treebp.trees.dependency_trees import DependencyTrees

CONFIG = Config(epochs=2, pruner_epochs=1, pruner_folds=2, weight_bits=18, pruner_weight_bits=16, rate=0.05)
TINY = replace(CONFIG, weight_bits=16, pruner_weight_bits=14)


def parse(parser, sentence, *, known=None, forbidden=None, **options):
    """One sentence on one thread."""
    (result,) = parser.parse(
        [sentence],
        threads=1,
        known=None if known is None else [known],
        forbidden=None if forbidden is None else [forbidden],
        **options,
    )
    return result


def is_tree(heads, *, projective, single_root):
    scores = np.full((len(heads) + 1,) * 2, -np.inf)
    scores[heads, np.arange(1, len(heads) + 1)] = 0.0
    return DependencyTrees(scores, projective=projective, single_root=single_root).log_partition == 0.0


def accuracy(parser, sentences):
    parses = parser.parse(sentences, threads=1)
    right = np.concatenate([parse.heads == parse.sentence.heads for parse in parses])
    return 100.0 * right.mean()


def fit(train, dev, *, config=TINY, threads=1, **options):
    return training.fit(train, dev, config, threads=threads, **options)


def same_model(first, second):
    return (
        np.array_equal(first.model.scorer.weights, second.model.scorer.weights)
        and np.array_equal(first.pruner.model.scorer.weights, second.pruner.model.scorer.weights)
        and np.array_equal(first.labels.weights, second.labels.weights)
    )
