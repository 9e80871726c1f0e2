"""What a tagger sees of words: the words themselves, their beginnings and ends, and their shape."""

import re
from array import array
from collections import Counter
from collections.abc import Mapping
from zlib import crc32

PREFIXES, SUFFIXES = range(1, 5), range(1, 6)
ATTRIBUTES = ("word", "lower", "shape", *(f"prefix{k}" for k in PREFIXES), *(f"suffix{k}" for k in SUFFIXES))
_UNKNOWN = 0
_REPEATED = re.compile(r"(.)\1+", re.DOTALL)


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

    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        lower: Counter[str] = Counter()
        for word, count in counts.items():
            lower[word.lower()] += count
        self._words = _numbers(counts)
        self._lower = _numbers(lower)

    def row(self, word: str) -> bytes:
        """The values of ATTRIBUTES as int32."""
        lower = word.lower()
        values = [self._words.get(word, _UNKNOWN), self._lower.get(lower, _UNKNOWN), _number(shape(word))]
        values += [_number(lower[:k]) for k in PREFIXES]
        values += [_number(lower[-k:]) for k in SUFFIXES]
        return array("i", values).tobytes()


def shape(word: str) -> str:
    """The kinds of a word's characters, each once for all that follow each other.

    >>> shape("McDonald's"), shape("B-52s")
    ("XxXx'x", 'X-dx')
    """
    return _REPEATED.sub(r"\1", word.translate(_KINDS))


def _numbers(counts: Mapping[str, int]) -> dict[str, int]:
    frequent = (word for word, count in counts.items() if count > 1)
    return {word: number for number, word in enumerate(frequent, start=_UNKNOWN + 1)}


def _number(text: str) -> int:
    """A positive number for any text, the same everywhere."""
    return crc32(text.encode("utf-8", "surrogatepass")) >> 1
