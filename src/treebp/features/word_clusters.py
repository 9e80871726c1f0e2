"""Clusters of words that are used alike, found in text that nobody has annotated.

Their names are their places in a tree, as Brown clustering (1992) makes it: what begins alike is used much alike.
Most words are rare in a treebank, but what is learnt of a cluster holds for all of its words (Koo, Carreras and
Collins, 2008).
"""

import os
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from treebp._types import AnyArray
from treebp.data.errors import TreebankError
from treebp.data.files import PathOrStream, name_of, read_lines
from treebp.features.model_file import MODEL_KIND, load_model, tensors_of
from treebp.models import find_model

_MOST = 1 << 16


class WordClusters:
    """The cluster of each word; one that has none may have one with other capitals: "Dog" or "DOG" that of "dog".

    Args:
        of_words: the names of clusters, by word.

    Example:
        >>> clusters = WordClusters({"dog": "1011", "Monday": "0110"})
        >>> clusters.of("DOG"), clusters.of("monday"), clusters.of("tree")
        ('1011', '0110', '_')

    """

    NONE = "_"

    def __init__(self, of_words: Mapping[str, str]) -> None:
        self._of_words = dict(of_words)

    def of(self, word: str) -> str:
        """The name of a word's cluster, `NONE` if it has none."""
        found = self._of_words.get(word)
        if found is None and self._of_words:
            found = self._of_words.get(word.lower()) or self._of_words.get(word.capitalize())
        return found or self.NONE

    def __len__(self) -> int:
        return len(self._of_words)

    @property
    def names(self) -> list[str]:
        """The names of all clusters, sorted."""
        return sorted(set(self._of_words.values()))

    @classmethod
    def load(cls, source: PathOrStream) -> "WordClusters":
        r"""Read a file with a line for each word: its cluster's name, a tab and the word; or a model, "en" say.

        So do programs for Brown clustering write them; what follows after another tab is left alone. Words that would
        have the same cluster if they were not there are left out.

        Raises:
            TreebankError: with the line, if that is no such file.
            ValueError: for a model, known by its name, that cannot be read or has none.

        Example:
            >>> import io
            >>> clusters = WordClusters.load(io.BytesIO(b"1011\tdog\t12\n1011\tDog\t3\n0110\tMonday\t7\n"))
            >>> len(clusters), clusters.of("Dog")
            (2, '1011')

        """
        if isinstance(source, str | os.PathLike) and find_model(source).suffix == ".model":
            path = find_model(source)
            found = load_model(path, MODEL_KIND, lambda _, tensors: cls.from_state(tensors_of("clusters", tensors)))
            if found is NO_CLUSTERS:
                raise ValueError(f"{path} has no clusters of words")
            return found
        listed: dict[str, str] = {}
        for number, line in enumerate(read_lines(source), start=1):
            try:
                name, word, *_ = line.decode().rstrip("\r\n").split("\t")
            except UnicodeDecodeError as error:
                raise TreebankError(f"no UTF-8 text: {error}", name_of(source), number) from None
            except ValueError:
                name = word = ""
            if not name or not word or name == cls.NONE:
                raise TreebankError("a cluster's name, a tab and a word are expected", name_of(source), number)
            if listed.setdefault(word, name) != name:
                raise TreebankError(f"{word!r} is in two clusters, {listed[word]} and {name}", name_of(source), number)
        if not listed:
            raise TreebankError("there are no clusters in it", name_of(source), 1)
        if len(set(listed.values())) > _MOST:
            raise TreebankError(f"there are more than {_MOST:,} clusters in it", name_of(source), 1)
        clusters = cls({})
        for word in sorted(listed, key=lambda word: (word != word.lower(), word)):
            if clusters.of(word) != listed[word]:
                clusters._of_words[word] = listed[word]
        return clusters

    def state(self) -> dict[str, AnyArray]:
        """Arrays from which `from_state` makes the same clusters; none if there are no words."""
        if not self._of_words:
            return {}
        words, names = sorted(self._of_words), self.names
        numbers = {name: number for number, name in enumerate(names)}
        codes = np.array([numbers[self._of_words[word]] for word in words], np.int64)
        high_and_low = np.stack([codes >> 8, codes & 255]).astype(np.uint8)
        return {"names": _as_bytes(names), "words": _as_bytes(words), "clusters": high_and_low}

    @classmethod
    def from_state(cls, arrays: Mapping[str, AnyArray]) -> "WordClusters":
        """The clusters that had this state. Raises ValueError if there cannot be such."""
        if not arrays:
            return NO_CLUSTERS
        names, words = _as_lines(arrays["names"]), _as_lines(arrays["words"])
        high_and_low = arrays["clusters"]
        if high_and_low.shape != (2, len(words)) or high_and_low.dtype != np.uint8:
            raise ValueError(f"there are {high_and_low.shape} clusters for {len(words)} words")
        codes = (high_and_low[0].astype(np.int64) << 8) + high_and_low[1]
        if not all(chain(names, words)) or codes.max() >= len(names):
            raise ValueError("there are words without a cluster, or clusters without a name")
        return cls(dict(zip(words, (names[code] for code in codes.tolist()), strict=True)))


NO_CLUSTERS = WordClusters({})


def _as_bytes(lines: Iterable[str]) -> AnyArray:
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def _as_lines(array: AnyArray) -> list[str]:
    return array.tobytes().decode().split("\n")
