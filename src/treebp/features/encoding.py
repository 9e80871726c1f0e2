"""From words and tags to numbers."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from treebp._types import IntArray
from treebp.data.coarse_tags import default_mapping
from treebp.data.sentence import Sentence
from treebp.features.templates import ATTRIBUTES, TemplateGroup
from treebp.features.word_clusters import NO_CLUSTERS, WordClusters

_UNKNOWN, _BOUNDARY, _ROOT = range(3)
_PREFIX = 5
_REMEMBERED = 200_000  # words whose numbers are kept at hand, so that memory does not grow with what is parsed
_BACK = array("q", [_BOUNDARY] * len(ATTRIBUTES)).tobytes()
_FRONT = _BACK + array("q", [_ROOT] * len(ATTRIBUTES)).tobytes()
_Word = tuple[str, str, str, str, str]
_FINE, _COARSE = ATTRIBUTES.index("fine"), ATTRIBUTES.index("coarse")


class Encoding:
    """Numbers the values of each attribute that occur in a training set.

    A sentence of n words becomes an array (n + 3, attributes): a boundary, the root, the words, a boundary. Values not
    seen in training are all the same. Treebanks without fine tags have their coarse ones in both places.
    """

    def __init__(
        self,
        values: Mapping[str, Sequence[str]],
        tag_map: Mapping[str, str] | None,
        clusters: WordClusters = NO_CLUSTERS,
    ) -> None:
        self.values = {attribute: list(values[attribute]) for attribute in ATTRIBUTES}
        self.tag_map = dict(tag_map) if tag_map is not None else None
        self.clusters = clusters
        self._has_fine_tags = bool(self.values["fine"])
        self._numbers = [
            {value: number for number, value in enumerate(self.values[attribute], start=_ROOT + 1)}
            for attribute in ATTRIBUTES
        ]
        if not self._has_fine_tags:
            self._numbers[_FINE] = self._numbers[_COARSE]
        self._rows: dict[_Word, bytes] = {}  # joining bytes is the fastest way to fill an array

    @classmethod
    def of(cls, sentences: Sequence[Sentence], clusters: WordClusters = NO_CLUSTERS) -> "Encoding":
        """Number what these sentences contain, in order of first occurrence."""
        has_fine_tags = any(tag != "_" for sentence in sentences for tag in sentence.fine_tags)
        coarse = {tag for sentence in sentences for tag in sentence.coarse_tags}
        tag_map = default_mapping(coarse) if has_fine_tags else None
        seen: dict[str, dict[str, None]] = {attribute: {} for attribute in ATTRIBUTES}
        for sentence in sentences:
            columns = sentence.forms, sentence.fine_tags, sentence.coarse_tags, sentence.lemmas, sentence.feats
            for word in zip(*columns, strict=True):
                for attribute, value in zip(ATTRIBUTES, _attributes(*word, tag_map, clusters), strict=True):
                    seen[attribute][value] = None
        values = {attribute: [value for value in seen[attribute] if value != "_"] for attribute in seen}
        return cls(values, tag_map, clusters)

    def available(self, groups: Iterable[TemplateGroup]) -> tuple[TemplateGroup, ...]:
        """Those of the template groups for which the training set has values."""
        needs = {"lemmas": "lemma", "morphology": "morphology", "clusters": "cluster"}
        return tuple(group for group in groups if self.values[needs.get(group, "word")])

    def encode(self, sentence: Sentence) -> IntArray:
        """The attributes of a sentence's tokens, shape (n + 3, attributes)."""
        columns = sentence.forms, sentence.fine_tags, sentence.coarse_tags, sentence.lemmas, sentence.feats
        rows = [self._rows.get(word) or self._row(word) for word in zip(*columns, strict=True)]
        return np.frombuffer(b"".join([_FRONT, *rows, _BACK]), np.int64).reshape(-1, len(ATTRIBUTES)).copy()

    def _row(self, word: _Word) -> bytes:
        """The attributes of a word that is not at hand, given by its columns."""
        if len(self._rows) >= _REMEMBERED:
            self._rows.clear()
        values = _attributes(*word, self.tag_map, self.clusters)
        if not self._has_fine_tags:
            values = (values[0], values[_COARSE], *values[2:])
        found = zip(self._numbers, values, strict=True)
        row = self._rows[word] = array("q", [numbers.get(value, _UNKNOWN) for numbers, value in found]).tobytes()
        return row


def _attributes(
    form: str, fine: str, coarse: str, lemma: str, feats: str, tag_map: Mapping[str, str] | None, clusters: WordClusters
) -> tuple[str, ...]:
    """The ATTRIBUTES of a word as strings."""
    coarse = coarse if tag_map is None else tag_map.get(fine, "X")
    cluster = clusters.of(form)
    return form, fine, coarse, form[:_PREFIX], lemma, feats, cluster, cluster[:6], cluster[:4]
