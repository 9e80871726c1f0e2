"""Which labels a word may have: those that it, and words like it, had in training."""

from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels.lexicon import RARE, LabelCounts, probable_labels
from treebp.kernels.spelling import ending_keys
from treebp.tagging.words import spelling_of

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

    Args:
        words: each once, with its tag, or "", before it.
        counts: of the labels of each word; see `LabelCounts`.
        labels: how many there are.
        smoothing: as above.
        ratio: as above.

    Example:
        >>> lexicon = Lexicon.of([("", "walking"), ("", "talking"), ("", "walks")], [0, 0, 1], labels=2, ratio=0.3)
        >>> [labels.tolist() for labels in lexicon.candidates([("", "thinking"), ("", "thin")])]
        [[0], [0, 1]]

    """

    def __init__(
        self, words: Sequence[Key], counts: LabelCounts, labels: int, *, smoothing: float = 10.0, ratio: float = 1e-3
    ) -> None:
        self.words, self.counts, self.labels = list(words), counts, labels
        self.smoothing, self.ratio = smoothing, ratio
        sizes = np.diff(counts.first)
        rare = np.repeat(self.totals <= RARE, sizes)
        of_word = np.repeat(np.arange(len(self.words)), sizes)
        lower: dict[Key, int] = {}
        numbers = np.array([lower.setdefault((tag, word.lower()), len(lower)) for tag, word in self.words], np.int64)
        keys = _ending_keys(self.words)[of_word[rare]]
        of_keys = np.repeat(counts.labels[rare][:, None], keys.shape[1], axis=1)
        self._endings, of_ending = np.unique(keys[keys > 0], return_inverse=True)
        things = [
            _counted(of_ending, of_keys[keys > 0], np.ones_like(of_ending), len(self._endings), labels),
            _counted(numbers[of_word], counts.labels, counts.counts, len(lower), labels),
            counts,
        ]
        self._seen = LabelCounts(
            np.concatenate(([0], np.cumsum(np.concatenate([np.diff(thing.first) for thing in things])))),
            np.concatenate([thing.labels for thing in things]),
            np.concatenate([thing.counts for thing in things]),
        )
        self._lower = {key: len(self._endings) + number for key, number in lower.items()}
        self._own = {key: len(self._endings) + len(lower) + number for number, key in enumerate(self.words)}
        prior = np.bincount(counts.labels[rare], minlength=labels) + _EVEN
        self._prior: FloatArray = prior / prior.sum()

    @classmethod
    def of(cls, words: Iterable[Key], labels_of_words: Iterable[int], labels: int, **options: float) -> "Lexicon":
        """Count the labels of words."""
        numbers: dict[Key, int] = {}
        of_words = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        seen = np.array(list(labels_of_words), np.int64)
        return cls(list(numbers), _counted(of_words, seen, np.ones_like(seen), len(numbers), labels), labels, **options)

    @property
    def totals(self) -> IntArray:
        """(words,) how often each was seen."""
        return np.add.reduceat(self.counts.counts, self.counts.first[:-1])

    def candidates(self, words: Sequence[Key], without: Sequence[int] | None = None) -> list[AnyArray]:
        """Labels of each word, int32, in order; ``without`` one sighting of it with a label, in training."""
        found: list[AnyArray] = []
        for begin in range(0, len(words), _TOGETHER):
            some = words[begin : begin + _TOGETHER]
            left_out = np.full(len(some), -1) if without is None else np.array(without[begin : begin + _TOGETHER])
            start, labels = probable_labels(
                self._steps(some), self._seen, self._prior, self.smoothing, self.ratio, left_out
            )
            ends = start.tolist()
            found += [labels[ends[k] : ends[k + 1]] for k in range(len(some))]
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

    def _steps(self, words: Sequence[Key]) -> IntArray:
        """What the labels of words are counted with (words, steps), -1 for what was never seen."""
        keys = _ending_keys(words)
        places = np.searchsorted(self._endings, keys)
        there = self._endings[np.minimum(places, len(self._endings) - 1)] == keys if len(self._endings) else False
        lower = [self._lower.get((tag, word.lower()), -1) for tag, word in words]
        return np.column_stack([np.where(there, places, -1), lower, [self._own.get(key, -1) for key in words]])

    def state(self) -> tuple[dict[str, list[str]], dict[str, AnyArray]]:
        """Lists and arrays from which `from_state` makes the same lexicon."""
        tags, words = ([key[k] for key in self.words] for k in (0, 1))
        header = {"words": words, **({"tags": tags} if any(tags) else {})}
        first, labels, counts = self.counts
        return header, {
            "sizes": np.diff(first).astype(np.int32),
            "labels": labels.astype(np.int32),
            "counts": counts.astype(np.int32),
        }

    @classmethod
    def from_state(cls, header: Mapping[str, list[str]], arrays: Mapping[str, AnyArray], labels: int) -> "Lexicon":
        """The lexicon that had this state. Raises ValueError if it cannot be one."""
        sizes, of_words, counts = (arrays[name].astype(np.int64) for name in ("sizes", "labels", "counts"))
        if sizes.ndim != 1 or not (len(header["words"]) == len(sizes) and sizes.sum() == len(of_words) == len(counts)):
            raise ValueError("the words of the lexicon and their labels do not fit each other")
        if not len(sizes) or min(sizes.min(), counts.min()) < 1 or not 0 <= of_words.min() <= of_words.max() < labels:
            raise ValueError(f"the lexicon has labels other than its {labels}, or words without any")
        tags = header.get("tags") or [""] * len(sizes)
        first = np.concatenate(([0], np.cumsum(sizes)))
        return cls(list(zip(tags, header["words"], strict=True)), LabelCounts(first, of_words, counts), labels)


def _ending_keys(words: Sequence[Key]) -> AnyArray:
    """(words, steps) keys of what words end in, of each length, the longest last."""
    tags = {tag: crc32(tag.encode()) for tag, _ in words}
    return ending_keys(spelling_of([word for _, word in words]), np.array([tags[tag] for tag, _ in words], np.uint64))


def _counted(things: IntArray, of_things: IntArray, weights: IntArray, count: int, labels: int) -> LabelCounts:
    """Add up how often labels were seen with things, given one entry for each sighting, or several at once."""
    pairs, inverse = np.unique(things * labels + of_things, return_inverse=True)
    sums = np.bincount(inverse, weights, minlength=len(pairs)).astype(np.int64)
    first = np.searchsorted(pairs, np.arange(count + 1) * labels)
    return LabelCounts(first, pairs % labels, sums)
