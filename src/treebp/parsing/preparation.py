"""From treebank sentences to what training works on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.data.projectivity import projectivise
from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.trees import DependencyTrees

# With fewer sentences than this share that have several root words, a treebank counts as single-rooted.
_FEW = 0.01


@dataclass(frozen=True)
class PruningReport:
    """What pruning leaves of a set of sentences: the share of right heads, and heads per word."""

    oracle: float
    heads: float

    @classmethod
    def of(cls, keep: Sequence[BoolArray], trees: Sequence[IntArray]) -> "PruningReport":
        """Measure the arcs kept of each sentence against its tree."""
        words = sum(map(len, trees))
        right = sum(
            int(kept[heads, np.arange(1, len(heads) + 1)].sum()) for kept, heads in zip(keep, trees, strict=True)
        )
        return cls(right / words, sum(int(kept.sum()) for kept in keep) / words)


def with_heads(sentences: Sequence[Sentence], what: str) -> list[Sentence]:
    """The sentences that have words; ValueError if there are none, or if a word has no head."""
    kept = [sentence for sentence in sentences if len(sentence)]
    if not kept:
        raise ValueError(f"the {what} data have no sentence")
    for sentence in kept:
        if min(sentence.heads) < 0:
            word = sentence.heads.index(-1) + 1
            where = f"{sentence.source or what + ' data'}:{sentence.line_of(word)}"
            raise ValueError(f"{where}: word {word} has no head, so the sentence is of no use as {what} data")
    return kept


def split_off(sentences: Sequence[Sentence], share: float) -> tuple[list[Sentence], list[Sentence]]:
    """Training and development sentences, the latter being the last ones."""
    if len(sentences) < 2:
        raise ValueError("training without development data needs at least two sentences")
    held_out = max(1, round(len(sentences) * share))
    return list(sentences[:-held_out]), list(sentences[-held_out:])


def tree_structure(config: Config, sentences: Sequence[Sentence]) -> tuple[bool, bool]:
    """Whether trees are projective, and whether they have a single root word: by the configuration or the treebank."""
    several = sum(sentence.heads.count(0) > 1 for sentence in sentences)
    single = several < _FEW * len(sentences) if config.root == "auto" else config.root == "single"
    return config.tree == "projective", single


def legal_tree(heads: Sequence[int], structure: tuple[bool, bool]) -> IntArray:
    """The tree itself if it is of the right structure, else the one that shares the most arcs with it."""
    projective, single_root = structure
    if projective:
        return projectivise(heads, single_root=single_root)
    gold = np.array(heads, dtype=np.int64)
    if not single_root or (gold == 0).sum() == 1:
        return gold
    scores = np.zeros((len(gold) + 1, len(gold) + 1))
    scores[gold, np.arange(1, len(gold) + 1)] = 1.0
    return DependencyTrees(scores, projective=False, single_root=True).argmax()


def fingerprint(config: Config, *parts: Sequence[Sentence]) -> str:
    """A digest of a configuration and of data, to recognise a run by."""
    digest = hashlib.blake2b(config.to_toml().encode(), digest_size=16)
    for sentences in parts:
        digest.update(b"\0\0")
        for sentence in sentences:
            digest.update(sentence.text.encode())
    return digest.hexdigest()
