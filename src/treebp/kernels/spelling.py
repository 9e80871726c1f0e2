"""What words look like: hashes of their beginnings, their ends and their shape."""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.features import finish, mix, start

_FORWARD, _BACKWARD, _SHAPE = 1, 2, 3
_UPPER, _DIGIT, _HYPHEN = ord("X"), ord("d"), ord("-")


class Spelling(NamedTuple):
    """Of each word, all uint64.

    Attributes:
        prefixes: (words, longest) hashes of the first letters; what is longer than the word is all of it.
        suffixes: (words, longest) hashes of the last letters.
        shape: (words,) hash of the kinds of its characters, each once for all that follow each other.
        kind: (words,) whether it begins with a capital, has digits, has hyphens: a number below 8.

    """

    prefixes: AnyArray
    suffixes: AnyArray
    shape: AnyArray
    kind: AnyArray


@kernel
def spell(
    letters: AnyArray, first: IntArray, kinds: AnyArray, first_kind: IntArray, prefixes: int, suffixes: int
) -> Spelling:
    """Look at words: their letters and the kinds of their characters, each laid end to end, as code points."""
    words = len(first) - 1
    before, behind = np.empty((words, prefixes), np.uint64), np.empty((words, suffixes), np.uint64)
    shape, kind = np.empty(words, np.uint64), np.empty(words, np.uint64)
    for word in range(words):
        begin, end = first[word], first[word + 1]
        hash_ = start(_FORWARD)
        for k in range(prefixes):
            if begin + k < end:
                hash_ = mix(hash_, letters[begin + k])
            before[word, k] = finish(hash_)
        hash_ = start(_BACKWARD)
        for k in range(suffixes):
            if end - 1 - k >= begin:
                hash_ = mix(hash_, letters[end - 1 - k])
            behind[word, k] = finish(hash_)
        hash_, flags = start(_SHAPE), 0
        for k in range(first_kind[word], first_kind[word + 1]):
            if k == first_kind[word] or kinds[k] != kinds[k - 1]:
                hash_ = mix(hash_, kinds[k])
                flags |= (k == first_kind[word] and kinds[k] == _UPPER) | (kinds[k] == _DIGIT) << 1
                flags |= (kinds[k] == _HYPHEN) << 2
        shape[word], kind[word] = finish(hash_), flags
    return Spelling(before, behind, shape, kind)


@kernel
def ending_keys(spelling: Spelling, tags: AnyArray) -> AnyArray:
    """(words, 1 + longest) a key of each word's tag and kind, and of these with its ends, the longest one last.

    An end that is longer than the word has the key 0.
    """
    words, longest = spelling.suffixes.shape
    keys = np.empty((words, 1 + longest), np.uint64)
    for word in range(words):
        base = mix(start(tags[word] + np.uint64(1)), spelling.kind[word])
        keys[word, 0] = finish(base)
        for k in range(longest):
            end = spelling.suffixes[word, k]
            longer = k > 0 and end == spelling.suffixes[word, k - 1]
            keys[word, 1 + k] = np.uint64(0) if longer else finish(mix(base, end))
    return keys
