"""How many heads and labels of a system's output are those of the gold standard."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from treebp._types import BoolArray, IntArray
from treebp.data.errors import TreebankError
from treebp.data.punctuation import PunctuationRule, is_punctuation, usual_punctuation
from treebp.data.sentence import Sentence

__all__ = ["Evaluation", "PunctuationRule", "Scores", "evaluate", "is_punctuation", "usual_punctuation"]

_LENGTHS = {"1-10": 1, "11-20": 11, "21-30": 21, "31-40": 31, "41-50": 41, "51+": 51}
_DISTANCES = {"root": 0, "1": 1, "2": 2, "3-5": 3, "6-10": 6, "11-20": 11, "21+": 21}


@dataclass(frozen=True, slots=True)
class Scores:
    """How many words were scored and how many of them are right; the accuracies are percentages.

    Example:
        >>> from treebp.data.evaluation import Scores
        >>> scores = Scores(words=8, correct_heads=6, correct_labels=5, correct_arcs=4)
        >>> scores.uas, scores.las, scores.label_accuracy
        (75.0, 50.0, 62.5)

    """

    words: int
    correct_heads: int
    correct_labels: int
    correct_arcs: int

    @property
    def uas(self) -> float:
        """Unlabelled attachment score: words with the right head."""
        return 100 * self.correct_heads / self.words

    @property
    def las(self) -> float:
        """Labelled attachment score: words with the right head and label."""
        return 100 * self.correct_arcs / self.words

    @property
    def label_accuracy(self) -> float:
        """Words with the right label, whatever their head."""
        return 100 * self.correct_labels / self.words


@dataclass(frozen=True)
class Evaluation:
    """The outcome of `evaluate`; only `with_punctuation` counts what the punctuation rule leaves out.

    Attributes:
        punctuation: the rule.
        scores: over the scored words.
        with_punctuation: over all words.
        sentences: those with at least one scored word.
        exact_match: per cent of them with all heads right.
        labelled_exact_match: per cent of them with all heads and labels right.
        by_length: scores per sentence length in words.
        by_label: scores per gold label, the commonest first.
        by_distance: scores per distance between word and gold head; "root" for those without one.
        tags: of the columns with tags that the gold standard has, per cent of all words in which the system's output
            is the same: all of them where it was parsed with gold tags.
        words: scored words of each sentence, shape (sentences,).
        correct_heads: right heads among them, shape (sentences,).
        correct_arcs: right heads with right labels among them, shape (sentences,).

    Example:
        >>> from treebp.data.evaluation import evaluate
        >>> from treebp.data.sentence import Sentence
        >>> gold = Sentence.from_columns(["Trees", "grow"], heads=[2, 0], labels=["nsubj", "root"])
        >>> result = evaluate([gold], [gold.with_parse([2, 0], ["obj", "root"])], punctuation="unicode")
        >>> result.uas, result.las, result.exact_match, result.labelled_exact_match
        (100.0, 50.0, 100.0, 0.0)
        >>> result.by_label["nsubj"]
        Scores(words=1, correct_heads=1, correct_labels=0, correct_arcs=0)

    """

    punctuation: PunctuationRule
    scores: Scores
    with_punctuation: Scores
    exact_match: float
    labelled_exact_match: float
    by_length: dict[str, Scores]
    by_label: dict[str, Scores]
    by_distance: dict[str, Scores]
    tags: dict[str, float]
    words: IntArray = field(repr=False)
    correct_heads: IntArray = field(repr=False)
    correct_arcs: IntArray = field(repr=False)

    @property
    def sentences(self) -> int:
        """The number of sentences with at least one scored word."""
        return len(self.words)

    @property
    def tokens(self) -> int:
        """The number of scored words."""
        return self.scores.words

    @property
    def uas(self) -> float:
        """Unlabelled attachment score over the scored words, in per cent."""
        return self.scores.uas

    @property
    def las(self) -> float:
        """Labelled attachment score over the scored words, in per cent."""
        return self.scores.las

    @property
    def label_accuracy(self) -> float:
        """Label accuracy over the scored words, in per cent."""
        return self.scores.label_accuracy


def evaluate(gold: Iterable[Sentence], system: Iterable[Sentence], *, punctuation: PunctuationRule) -> Evaluation:
    """Score a system's heads and labels.

    Labels must be equal as a whole, subtypes included. An unknown head of the system counts as wrong.

    Args:
        gold: sentences with all their heads.
        system: the same sentences, as parsed.
        punctuation: which words not to score, see `is_punctuation`.

    Raises:
        TreebankError: with both places, if the sentences or words differ, or a gold head is missing.
        ValueError: if no word is left to score.

    Example:
        >>> from treebp.data.evaluation import evaluate
        >>> from treebp.data.sentence import Sentence
        >>> gold = Sentence.from_columns(["Trees", "grow", "!"], heads=[2, 0, 2])
        >>> system = gold.with_parse([2, 0, 1])
        >>> evaluate([gold], [system], punctuation="unicode").uas
        100.0
        >>> round(evaluate([gold], [system], punctuation="include").uas, 1)
        66.7

    """
    pairs = list(_aligned(gold, system))
    lengths = np.array([len(sentence) for sentence, _ in pairs], dtype=np.int64)
    scored = np.array([not mark for sentence, _ in pairs for mark in is_punctuation(sentence, punctuation)])
    if not scored.any():
        raise ValueError(f"no word is left to score under the punctuation rule {punctuation!r}")
    heads = np.array([head for sentence, _ in pairs for head in sentence.heads])
    positions = np.array([word for length in lengths for word in range(1, length + 1)])
    labels = [label for sentence, _ in pairs for label in sentence.labels]
    tally = _Tally(
        right_head=heads == np.array([head for _, sentence in pairs for head in sentence.heads]),
        right_label=np.array(
            [label == other for pair in pairs for label, other in zip(pair[0].labels, pair[1].labels, strict=True)]
        ),
    )

    sentence_of = np.repeat(np.arange(len(pairs)), lengths)
    words, correct_heads, _, correct_arcs = tally.counts(sentence_of, len(pairs), scored)
    kept = words > 0
    words, correct_heads, correct_arcs = words[kept], correct_heads[kept], correct_arcs[kept]
    label_names = list(dict.fromkeys(labels))
    label_index = {label: index for index, label in enumerate(label_names)}
    by_label = tally.grouped(np.array([label_index[label] for label in labels]), label_names, scored)
    distances = np.where(heads == 0, 0, np.abs(heads - positions))
    return Evaluation(
        punctuation=punctuation,
        scores=tally.total(scored),
        with_punctuation=tally.total(np.ones_like(scored)),
        exact_match=100 * float(np.mean(correct_heads == words)),
        labelled_exact_match=100 * float(np.mean(correct_arcs == words)),
        by_length=tally.grouped(_bins(np.repeat(lengths, lengths), _LENGTHS), list(_LENGTHS), scored),
        by_label=dict(sorted(by_label.items(), key=lambda item: -item[1].words)),
        by_distance=tally.grouped(_bins(distances, _DISTANCES), list(_DISTANCES), scored),
        tags=tag_accuracy(pairs),
        words=words,
        correct_heads=correct_heads,
        correct_arcs=correct_arcs,
    )


def tag_accuracy(pairs: Iterable[tuple[Sentence, Sentence]]) -> dict[str, float]:
    """Per cent of words with the right value in each column of tags that the gold standard has, lemmas included.

    Args:
        pairs: gold and predicted sentences, of the same words.

    Example:
        >>> gold = Sentence.from_columns(["Trees", "grow"], coarse_tags=["NOUN", "VERB"])
        >>> tag_accuracy([(gold, gold.with_tags(coarse_tags=["NOUN", "NOUN"]))])
        {'coarse_tags': 50.0}

    """
    columns: dict[str, list[tuple[str, str]]] = {name: [] for name in ("coarse_tags", "fine_tags", "feats", "lemmas")}
    for gold, system in pairs:
        for name, values in columns.items():
            values += zip(getattr(gold, name), getattr(system, name), strict=True)
    return {
        name: 100 * sum(right == found for right, found in values) / len(values)
        for name, values in columns.items()
        if any(right != "_" for right, _ in values)
    }


@dataclass(frozen=True)
class _Tally:
    """Which words have the right head and label, in file order."""

    right_head: BoolArray
    right_label: BoolArray

    def counts(self, group_of: IntArray, groups: int, scored: BoolArray) -> tuple[IntArray, ...]:
        """Count words, heads, labels and arcs of each group, as arrays of shape (groups,)."""
        chosen = (scored, self.right_head, self.right_label, self.right_head & self.right_label)
        return tuple(np.bincount(group_of[scored & right], minlength=groups) for right in chosen)

    def grouped(self, group_of: IntArray, names: Sequence[str], scored: BoolArray) -> dict[str, Scores]:
        rows = np.stack(self.counts(group_of, len(names), scored), axis=1).tolist()
        return {name: Scores(*row) for name, row in zip(names, rows, strict=True) if row[0]}

    def total(self, scored: BoolArray) -> Scores:
        return self.grouped(np.zeros(len(scored), dtype=np.int64), [""], scored)[""]


def _bins(values: IntArray, lower_ends: dict[str, int]) -> IntArray:
    return np.digitize(values, list(lower_ends.values())).astype(np.int64) - 1


def _aligned(gold: Iterable[Sentence], system: Iterable[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    for number, (left, right) in enumerate(zip_longest(gold, system), 1):
        if left is None or right is None:
            longer, shorter = ("gold", "system") if right is None else ("system", "gold")
            reason = f"the {shorter} ends before this sentence {number} of the {longer}: is it cut short?"
            raise _error_at(left or right, 1, 1, reason)
        if left.forms != right.forms:
            forms = enumerate(zip_longest(left.forms, right.forms), 1)
            word = next(word for word, (form, other) in forms if form != other)
            reason = (
                f"word {word} of sentence {number} is {_described(left, word, 'the gold')} but "
                f"{_described(right, word, 'the system')}: both must have the same words"
            )
            raise _error_at(left, word, 2, reason)
        if -1 in left.heads:
            raise _error_at(left, left.heads.index(-1) + 1, 7, "the gold head is missing: write 0 for the root")
        yield left, right


def _described(sentence: Sentence, word: int, side: str) -> str:
    form = repr(sentence.forms[word - 1]) if word <= len(sentence) else "missing"
    return f"{form} in {sentence.source or side}, line {_line(sentence, word)}"


def _error_at(sentence: Sentence, word: int, column: int, reason: str) -> TreebankError:
    return TreebankError(reason, sentence.source or None, _line(sentence, word), column)


def _line(sentence: Sentence, word: int) -> int:
    return sentence.line_of(min(word, len(sentence)))  # a word too many is missed at the sentence's end
