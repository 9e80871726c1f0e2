"""Lemmas: an edit script for each word, chosen by its form and its tag."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treebp._types import AnyArray
from treebp.features.model_file import pack, unpack
from treebp.tagging.fitting import FittingOptions, fit_sequences
from treebp.tagging.lexicon import Lexicon
from treebp.tagging.model import SequenceModel
from treebp.tagging.scripts import apply_script, script_of
from treebp.tagging.sequences import LabelSet, Sequences
from treebp.tagging.words import ATTRIBUTES, PREFIXES, SUFFIXES, WordValues

_REMEMBERED = 200_000  # words whose lemmas are kept at hand, so that memory does not grow with what is tagged
_MINIBATCH = 200
_TEMPLATES = (
    "p.coarse",
    "p.tag",
    "p.word",
    "p.lower",
    "p.shape",
    "p.word p.tag",
    "p.lower p.coarse",
    "p.lower p.tag",
    "p.shape p.tag",
    *(f"p.prefix{k} p.coarse" for k in PREFIXES),
    *(f"p.suffix{k} p.coarse" for k in SUFFIXES),
    *(f"p.suffix{k} p.tag" for k in SUFFIXES),
)


class Tag(NamedTuple):
    """What a tagger says of a word: its coarse and its fine tag, and its morphological features."""

    coarse: str
    fine: str
    feats: str


Word = tuple[int, str]
"""A word with the number of its tag before it."""


@dataclass(frozen=True)
class Lemmatiser:
    """Lemmas of words with their tags: what stands around them makes no difference.

    Attributes:
        scripts: the edit scripts, by number.
        tags: by number.
        values: what is seen of words.
        lexicon: which scripts a word with its coarse tag may have.
        model: of scripts.

    Example:
        >>> words, tags = ["walked", "talked"], [Tag("VERB", "VBD", "_")]
        >>> values = WordValues(dict.fromkeys(words, 1))
        >>> lemmatiser = Lemmatiser.fit([(0, word) for word in words], ["walk", "talk"], tags, values, bits=12)
        >>> lemmatiser.lemmas([(0, "kicked")])
        [('kick', 1.0)]

    """

    scripts: Sequence[str]
    tags: Sequence[Tag]
    values: WordValues
    lexicon: Lexicon
    model: SequenceModel
    _known: dict[Word, tuple[str, float]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def fit(
        cls,
        words: Sequence[Word],
        lemmas: Sequence[str],
        tags: Sequence[Tag],
        values: WordValues,
        *,
        bits: int,
        epochs: int = 5,
        seed: int = 1,
        threads: int = 1,
    ) -> "Lemmatiser":
        """Train on words and their lemmas."""
        numbers: dict[str, int] = {}
        pairs = [(word, lemma) for (_, word), lemma in zip(words, lemmas, strict=True)]
        script = {pair: numbers.setdefault(script_of(*pair), len(numbers)) for pair in dict.fromkeys(pairs)}
        gold = [script[pair] for pair in pairs]
        keys = [(tags[tag].coarse, word) for tag, word in words]
        lexicon = Lexicon.of(keys, gold, len(numbers))
        lemmatiser = cls(list(numbers), tags, values, lexicon, _new_model(len(numbers), bits))
        sequences = lemmatiser._sequences(words, lexicon.candidates_in_training(keys, gold))
        options = FittingOptions(epochs=epochs, minibatch=_MINIBATCH, seed=seed)
        fit_sequences(lemmatiser.model, sequences, np.array(gold), options, threads=threads)
        return lemmatiser

    def lemmas(self, words: Sequence[Word]) -> list[tuple[str, float]]:
        """Lemmas of words, and their probabilities."""
        found = {word: self._known[word] for word in dict.fromkeys(words) if word in self._known}
        new = [word for word in dict.fromkeys(words) if word not in found]
        if new:
            candidates = self.lexicon.candidates([(self.tags[tag].coarse, word) for tag, word in new])
            labelled = self.model.label(self._sequences(new, candidates))
            chosen = zip(new, labelled.labels.tolist(), labelled.confidence.tolist(), strict=True)
            learnt = {word: (apply_script(self.scripts[k], word[1]), p) for word, k, p in chosen}
            found.update(learnt)
            if len(self._known) < _REMEMBERED:
                self._known.update(learnt)
        return [found[word] for word in words]

    def _sequences(self, words: Sequence[Word], candidates: Sequence[AnyArray]) -> Sequences:
        """Each word alone."""
        coarse = {tag: number for number, tag in enumerate(dict.fromkeys(tag.coarse for tag in self.tags))}
        of_tags = np.array([(coarse[tag.coarse], number) for number, tag in enumerate(self.tags)], np.int32)
        rows = self.values.rows([word for _, word in words])
        values = np.hstack([rows, of_tags[[tag for tag, _ in words]]])
        start = np.cumsum([0, *map(len, candidates)])
        return Sequences(np.ones(len(words), np.int64), values, start, np.concatenate(candidates))

    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A header and arrays from which, with tags and values, `from_state` makes the same lemmatiser."""
        lexicon, arrays = self.lexicon.state()
        used, weights = pack(self.model.weights)
        header = {"scripts": list(self.scripts), "bits": self.model.bits, "lexicon": lexicon}
        return header, {**arrays, "weights_used": used, "weights": weights}

    @classmethod
    def from_state(
        cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], tags: Sequence[Tag], values: WordValues
    ) -> "Lemmatiser":
        """The lemmatiser that had this state. Raises ValueError if it cannot be one."""
        scripts = header["scripts"]
        for script in scripts:
            apply_script(script, "word")
        lexicon = Lexicon.from_state(header["lexicon"], arrays, len(scripts))
        model = _new_model(len(scripts), header["bits"])
        unpack(arrays["weights_used"], arrays["weights"], model.weights)
        return cls(scripts, tags, values, lexicon, model)


def _new_model(scripts: int, bits: int) -> SequenceModel:
    return SequenceModel(LabelSet.plain(scripts), (*ATTRIBUTES, "coarse", "tag"), _TEMPLATES, bits=bits)
