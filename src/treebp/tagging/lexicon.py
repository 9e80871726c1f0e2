"""Which labels a word may have: those that it, and words like it, had in training."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from treebp._types import AnyArray
from treebp.kernels.lexicon import LabelCounts, probable_labels
from treebp.tagging.words import shape

_LONGEST = 5  # letters of an ending
_RARE = 10  # words more frequent than this are no example for others
_EVEN = 1e-3  # of a sighting, for labels that no rare word has
_TOGETHER = 1000  # words that are looked up at a time
Key = tuple[str, str]


class Lexicon:
    """How often words had labels, and how probable that makes a label for any word.

    The distribution of labels is smoothed step by step (Brants, 2000): from that of all rare words to those of words
    of the same kind (capitals, digits, hyphens), with the same last letters, one more at a time, to that of the word in
    lower case and that of the word itself. Each step counts what was seen, and the step before as much as
    ``smoothing`` sightings. Labels less probable than ``ratio`` times the most probable one are no candidates.

    Words may come with something else that their labels depend on, their tag for instance; nothing is then shared
    between words with different tags.

    Attributes:
        words: {(tag or "", word): {label: how often}}.
        labels: how many there are.

    Example:
        >>> lexicon = Lexicon.of([("", "walking"), ("", "talking"), ("", "walks")], [0, 0, 1], labels=2, ratio=0.3)
        >>> [labels.tolist() for labels in lexicon.candidates([("", "thinking"), ("", "thin")])]
        [[0], [0, 1]]

    """

    def __init__(
        self, words: Mapping[Key, Mapping[int, int]], labels: int, *, smoothing: float = 10.0, ratio: float = 1e-3
    ) -> None:
        self.words, self.labels, self.smoothing, self.ratio = words, labels, smoothing, ratio
        lower: dict[Key, Counter[int]] = defaultdict(Counter)
        endings: dict[str, Counter[int]] = defaultdict(Counter)
        self._prior = np.full(labels, _EVEN)
        for (tag, word), counts in words.items():
            lower[tag, word.lower()].update(counts)
            if sum(counts.values()) <= _RARE:
                self._prior[list(counts)] += 1.0
                for ending in _endings(tag, word):
                    endings[ending].update(counts.keys())
        self._prior /= self._prior.sum()
        self._endings = {ending: number for number, ending in enumerate(endings)}
        self._lower = {key: number for number, key in enumerate(lower, start=len(endings))}
        self._own = {key: number for number, key in enumerate(words, start=len(endings) + len(lower))}
        things = [*endings.values(), *lower.values(), *words.values()]
        pairs = np.array([pair for counts in things for pair in counts.items()], np.int64).reshape(-1, 2)
        self._seen = LabelCounts(np.cumsum([0, *map(len, things)]), pairs[:, 0].copy(), pairs[:, 1].copy())

    @classmethod
    def of(cls, words: Iterable[Key], labels_of_words: Iterable[int], labels: int, **options: float) -> "Lexicon":
        """Count the labels of words."""
        found: dict[Key, Counter[int]] = defaultdict(Counter)
        for word, label in zip(words, labels_of_words, strict=True):
            found[word][label] += 1
        return cls(dict(found), labels, **options)

    def candidates(self, words: Sequence[Key], without: Sequence[int] | None = None) -> list[AnyArray]:
        """Labels of each word, int32, in order; ``without`` one sighting of it with a label, in training."""
        found = []
        for begin in range(0, len(words), _TOGETHER):
            some = words[begin : begin + _TOGETHER]
            left_out = np.full(len(some), -1) if without is None else np.array(without[begin : begin + _TOGETHER])
            alone = [label >= 0 and self._is_alone(key, label) for key, label in zip(some, left_out, strict=True)]
            steps = np.array([self._steps(*key) for key in some])
            start, labels = probable_labels(
                steps, self._seen, self._prior, self.smoothing, self.ratio, left_out, np.array(alone)
            )
            found += np.split(labels, start[1:-1])
        return found

    def candidates_in_training(self, words: Sequence[Key], gold: Sequence[int]) -> list[AnyArray]:
        """The candidates that each word of a training set would have if it had not been seen there, and its label."""
        pairs = list(dict.fromkeys(zip(words, gold, strict=True)))
        listed = self.candidates([key for key, _ in pairs], [label for _, label in pairs])
        found = {
            pair: others if pair[1] in others else np.append(others, np.int32(pair[1]))
            for pair, others in zip(pairs, listed, strict=True)
        }
        return [found[pair] for pair in zip(words, gold, strict=True)]

    def _steps(self, tag: str, word: str) -> list[int]:
        """What the labels of a word are counted with."""
        found = [self._endings.get(ending, -1) for ending in _endings(tag, word)]
        found += [-1] * (_LONGEST + 1 - len(found))
        return [*found, self._lower.get((tag, word.lower()), -1), self._own.get((tag, word), -1)]

    def _is_alone(self, key: Key, label: int) -> bool:
        """Whether a word was seen with a label only once, and counts as an example for others."""
        return self.words[key][label] == 1 and sum(self.words[key].values()) <= _RARE

    def state(self) -> tuple[dict[str, list[str]], dict[str, AnyArray]]:
        """Lists and arrays from which `from_state` makes the same lexicon."""
        pairs = np.array([pair for counts in self.words.values() for pair in counts.items()], np.int32).reshape(-1, 2)
        sizes = np.array([len(counts) for counts in self.words.values()], np.int32)
        tags, words = ([key[k] for key in self.words] for k in (0, 1))
        header = {"words": words, **({"tags": tags} if any(tags) else {})}
        return header, {"labels": pairs[:, 0], "counts": pairs[:, 1], "sizes": sizes}

    @classmethod
    def from_state(cls, header: Mapping[str, list[str]], arrays: Mapping[str, AnyArray], labels: int) -> "Lexicon":
        """The lexicon that had this state. Raises ValueError if it cannot be one."""
        sizes, of_words, counts = arrays["sizes"], arrays["labels"].tolist(), arrays["counts"].tolist()
        if not (len(header["words"]) == len(sizes) and sizes.sum() == len(of_words) == len(counts)):
            raise ValueError("the words of the lexicon and their labels do not fit each other")
        if of_words and not (0 <= min(of_words) <= max(of_words) < labels and min(counts) > 0 and sizes.min() > 0):
            raise ValueError(f"the lexicon has labels other than its {labels}, or words without any")
        ends = np.cumsum(sizes).tolist()
        tags = header.get("tags") or [""] * len(ends)
        words = zip(tags, header["words"], ends, sizes.tolist(), strict=True)
        return cls(
            {
                (tag, word): dict(zip(of_words[end - size : end], counts[end - size : end], strict=True))
                for tag, word, end, size in words
            },
            labels,
        )


def _endings(tag: str, word: str) -> list[str]:
    """The kind of a word, and its endings, each with that kind, the longest last.

    >>> _endings("", "Bus")
    ['X', 'X s', 'X us', 'X bus']
    """
    form, lower = shape(word), word.lower()
    kind = tag + ("d" if "d" in form else "") + ("X" if form[:1] == "X" else "") + ("-" if "-" in form else "")
    return [kind, *(f"{kind} {lower[-k:]}" for k in range(1, min(_LONGEST, len(lower)) + 1))]
