"""From words and tags to numbers."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from treebp._types import IntArray
from treebp.data.coarse_tags import coarse_tags, default_mapping
from treebp.data.sentence import Sentence
from treebp.parsing.config import TemplateGroup
from treebp.parsing.templates import ATTRIBUTES

_UNKNOWN, _BOUNDARY, _ROOT = range(3)
_PREFIX = 5
_FINE, _COARSE = ATTRIBUTES.index("fine"), ATTRIBUTES.index("coarse")


class Encoding:
    """Numbers the values of each attribute that occur in a training set.

    A sentence of n words becomes an array (n + 3, attributes): a boundary, the root, the words, a boundary. Values not
    seen in training are all the same. Treebanks without fine tags have their coarse ones in both places.
    """

    def __init__(self, values: Mapping[str, Sequence[str]], tag_map: Mapping[str, str] | None) -> None:
        self.values = {attribute: list(values[attribute]) for attribute in ATTRIBUTES}
        self.tag_map = dict(tag_map) if tag_map is not None else None
        self._has_fine_tags = bool(self.values["fine"])
        self._numbers = [
            {value: number for number, value in enumerate(self.values[attribute], start=_ROOT + 1)}
            for attribute in ATTRIBUTES
        ]
        if not self._has_fine_tags:
            self._numbers[_FINE] = self._numbers[_COARSE]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> "Encoding":
        """Number what these sentences contain, in order of first occurrence."""
        has_fine_tags = any(tag != "_" for sentence in sentences for tag in sentence.fine_tags)
        coarse = {tag for sentence in sentences for tag in sentence.coarse_tags}
        tag_map = default_mapping(coarse) if has_fine_tags else None
        seen: dict[str, dict[str, None]] = {attribute: {} for attribute in ATTRIBUTES}
        for sentence in sentences:
            for attribute, column in zip(ATTRIBUTES, _columns(sentence, tag_map), strict=True):
                seen[attribute].update(dict.fromkeys(column))
        return cls({attribute: [value for value in seen[attribute] if value != "_"] for attribute in seen}, tag_map)

    def available(self, groups: Iterable[TemplateGroup]) -> tuple[TemplateGroup, ...]:
        """Those of the template groups for which the training set has values."""
        needs = {"lemmas": "lemma", "morphology": "morphology"}
        return tuple(group for group in groups if self.values[needs.get(group, "word")])

    def encode(self, sentence: Sentence) -> IntArray:
        """The attributes of a sentence's tokens, shape (n + 3, attributes)."""
        tokens = np.full((len(sentence) + 3, len(ATTRIBUTES)), _BOUNDARY, dtype=np.int64)
        tokens[1] = _ROOT
        columns = _columns(sentence, self.tag_map)
        if not self._has_fine_tags:
            columns[_FINE] = columns[_COARSE]
        for k, (numbers, column) in enumerate(zip(self._numbers, columns, strict=True)):
            tokens[2:-1, k] = [numbers.get(value, _UNKNOWN) for value in column]
        return tokens


def _columns(sentence: Sentence, tag_map: Mapping[str, str] | None) -> list[list[str]]:
    """One list of strings per attribute."""
    return [
        sentence.forms,
        sentence.fine_tags,
        coarse_tags(sentence, tag_map),
        [form[:_PREFIX] for form in sentence.forms],
        sentence.lemmas,
        sentence.feats,
    ]
