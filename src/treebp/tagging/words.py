"""What a tagger sees of words: the words themselves, their beginnings and ends, their shape and their cluster."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from treebp._types import AnyArray, IntArray
from treebp.features.word_clusters import NO_CLUSTERS, WordClusters
from treebp.kernels.spelling import Spelling, spell

PREFIXES, SUFFIXES = range(1, 5), range(1, 6)
ATTRIBUTES = ("word", "lower", "shape", *(f"prefix{k}" for k in PREFIXES), *(f"suffix{k}" for k in SUFFIXES), "cluster")
_UNKNOWN = 0


class _Kinds(dict[int, str]):
    """The kind of each character: a digit, a letter, in upper case or not, or the character itself."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        letter = "X" if character.isupper() else "x" if character.isalpha() else character
        self[code] = "d" if character.isdigit() else letter
        return self[code]


_KINDS = _Kinds()


class WordValues:
    """Numbers the words that a training set has more than once; all others are the same.

    A word seen once is as good as an unknown one: so the model learns what to make of those. Beginnings, ends and
    shapes are known by a hash of theirs, so that no list of them is needed.

    Args:
        counts: how often each word occurs.
        clusters: of words.

    Example:
        >>> values = WordValues({"tree": 2, "grow": 1})
        >>> values.rows(["tree", "Tree", "grow"])[:, :2]
        array([[1, 1],
               [0, 1],
               [0, 0]], dtype=int32)

    """

    def __init__(self, counts: Mapping[str, int], clusters: WordClusters = NO_CLUSTERS) -> None:
        lower: Counter[str] = Counter()
        for word, count in counts.items():
            lower[word.lower()] += count
        self._words = _numbers(counts)
        self._lower = _numbers(lower)
        self.clusters = clusters
        self._cluster_numbers = {name: number for number, name in enumerate(self.clusters.names, start=_UNKNOWN + 1)}

    def rows(self, words: Sequence[str]) -> AnyArray:
        """(words, ATTRIBUTES) their values, int32."""
        lower = [word.lower() for word in words]
        spelling = spelling_of(words)
        values = np.empty((len(words), len(ATTRIBUTES)), np.int32)
        values[:, 0] = [self._words.get(word, _UNKNOWN) for word in words]
        values[:, 1] = [self._lower.get(word, _UNKNOWN) for word in lower]
        hashes = np.column_stack([spelling.shape, spelling.prefixes, spelling.suffixes])
        values[:, 2:-1] = hashes >> np.uint64(33)
        values[:, -1] = [self._cluster_numbers.get(self.clusters.of(word), _UNKNOWN) for word in words]
        return values


def spelling_of(words: Sequence[str]) -> Spelling:
    """What words look like; capitals make a difference to the shape alone."""
    letters, first = _code_points([word.lower() for word in words])
    kinds, first_kind = _code_points([word.translate(_KINDS) for word in words])
    return spell(letters, first, kinds, first_kind, len(PREFIXES), len(SUFFIXES))


def _code_points(words: Sequence[str]) -> tuple[AnyArray, IntArray]:
    """The characters of words, end to end, and where those of each begin."""
    text = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, np.uint32), np.cumsum([0, *map(len, words)])


def _numbers(counts: Mapping[str, int]) -> dict[str, int]:
    frequent = (word for word, count in counts.items() if count > 1)
    return {word: number for number, word in enumerate(frequent, start=_UNKNOWN + 1)}
