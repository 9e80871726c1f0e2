"""Small pruners for tests, and what to ask of them."""

from functools import cache

import numpy as np

from treebp.data.embedded import embedded_treebank
from treebp.features.encoding import Encoding
from treebp.parsing.config import Config
from treebp.parsing.pruner import Pruner
from treebp.training.pruning import train_pruner
from treebp.trees.dependency_trees import DependencyTrees

CONFIG = Config(pruner_weight_bits=16, pruner_epochs=1, pruner_folds=3)


def ignore(words):
    pass


@cache
def encoded_treebank():
    """Tokens and trees of training sentences, and tokens of others."""
    sentences = embedded_treebank("train")[:120]
    encoding = Encoding.of(sentences)
    return (
        [encoding.encode(sentence) for sentence in sentences],
        [np.array(sentence.heads) for sentence in sentences],
        [encoding.encode(sentence) for sentence in embedded_treebank("dev")[:40]],
    )


def small_pruner(structure=(True, True), **settings) -> Pruner:
    tokens, trees, _ = encoded_treebank()
    return train_pruner(tokens, trees, CONFIG.override([f"{k}={v}" for k, v in settings.items()]), structure, 1, ignore)


def keep(pruner, tokens):
    return pruner.keep([tokens])[0].mask()


def has_tree(kept, structure):
    projective, single_root = structure
    scores = np.where(kept, 0.0, -np.inf)
    return np.isfinite(DependencyTrees(scores, projective=projective, single_root=single_root).log_partition)
