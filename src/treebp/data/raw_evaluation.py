"""How well a system goes from raw text to trees: the measures of the CoNLL 2018 shared task.

Gold standard and system may differ in tokens, words and sentences; what they share is the text. Both are therefore laid
out on its characters, white space left out. Tokens and sentences are right if they have the right characters. Words are
aligned: a word that is a token by itself by its characters, the words of multiword tokens, which have no characters of
their own, by the longest common subsequence of their forms. All other measures look at aligned words.

Zeman et al. (2018), CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treebp.data.errors import TreebankError
from treebp.data.sentence import Sentence
from treebp.data.surface import surface_tokens

# fmt: off
_CONTENT = frozenset((
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod",
    "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis",
    "orphan", "goeswith", "reparandum", "root", "dep",
))
_FUNCTIONAL = frozenset(("aux", "cop", "mark", "det", "clf", "case", "cc"))
_UNIVERSAL = frozenset((
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite",
    "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
))
# fmt: on
_ROOT, _UNALIGNED, _UNKNOWN = -1, -2, -3  # what a head may be besides the number of a gold word


@dataclass(frozen=True, slots=True)
class F1:
    """How many units are right, and how many there are; the shares are percentages.

    Attributes:
        correct: of the system's, those that are right.
        gold: units of the gold standard.
        system: units of the system.
        aligned: gold units that a unit of the system is aligned to, None where nothing is aligned.

    Example:
        >>> from treebp.data.raw_evaluation import F1
        >>> score = F1(correct=3, gold=4, system=6, aligned=5)
        >>> score.precision, score.recall, score.f1, score.aligned_accuracy
        (50.0, 75.0, 60.0, 60.0)

    """

    correct: int
    gold: int
    system: int
    aligned: int | None = None

    @property
    def precision(self) -> float:
        """Of the system's units, those that are right."""
        return _percent(self.correct, self.system)

    @property
    def recall(self) -> float:
        """Of the gold units, those that the system found."""
        return _percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return _percent(2 * self.correct, self.gold + self.system)

    @property
    def aligned_accuracy(self) -> float | None:
        """Of the aligned units, those that are right; None where nothing is aligned."""
        return None if self.aligned is None else _percent(self.correct, self.aligned)


def evaluate_raw(gold: Iterable[Sentence], system: Iterable[Sentence]) -> dict[str, F1]:
    """Score a system's output for raw text, measure by measure.

    The measures, in the shared task's order: Tokens, Sentences, Words, UPOS, XPOS, UFeats (universal features only),
    AllTags, Lemmas, UAS, LAS (subtypes of labels left out), CLAS (content words only), MLAS (with tags, features and
    function words) and BLEX (with lemmas). A gold lemma "_" accepts any. An unknown head of the system is wrong.

    Args:
        gold: sentences with all their heads.
        system: sentences of the same text.

    Raises:
        TreebankError: with both places, if the texts differ, a form is nothing but white space, or a gold head is
            missing.

    Example:
        >>> from treebp.data.raw_evaluation import evaluate_raw
        >>> from treebp.data.sentence import Sentence
        >>> gold = Sentence.from_columns(["It", "'s", "late"], heads=[3, 3, 0])
        >>> system = Sentence.from_columns(["It's", "late"], heads=[2, 0])
        >>> scores = evaluate_raw([gold], [system])
        >>> scores["Words"].f1, scores["UAS"].f1
        (40.0, 40.0)

    """
    right, found = _Layout.of(gold, "gold"), _Layout.of(system, "system")
    for word in right.words:
        if word.head == _UNKNOWN:
            raise TreebankError("the gold head is missing: write 0 for the root", right.source, word.line, 7)
    if right.characters != found.characters:
        raise _text_error(right, found)
    return _Alignment(right, found).scores()


class _Word(NamedTuple):
    """A word: the characters of its token, and all that is compared; heads are numbers of words in the whole file."""

    start: int
    end: int
    is_multiword: bool
    form: str
    lemma: str
    coarse_tag: str
    fine_tag: str
    features: str
    head: int
    label: str
    line: int


class _Layout(NamedTuple):
    """A treebank laid out on the characters of its text; tokens and sentences are (first, end) of characters."""

    characters: str
    tokens: list[tuple[int, int]]
    lines: list[int]
    sentences: list[tuple[int, int]]
    words: list[_Word]
    source: str | None
    side: str

    @classmethod
    def of(cls, treebank: Iterable[Sentence], side: str) -> "_Layout":
        characters: list[str] = []
        tokens: list[tuple[int, int]] = []
        lines: list[int] = []
        sentences: list[tuple[int, int]] = []
        words: list[_Word] = []
        source: str | None = None
        position = 0
        for sentence in treebank:
            source = source or sentence.source or None
            start, first_word = position, len(words)
            for token in surface_tokens(sentence):
                form = _without_spaces(token.form)
                if not form:
                    raise TreebankError("the form is nothing but white space", source, token.line, 2)
                end = position + len(form)
                characters.append(form)
                tokens.append((position, end))
                lines.append(token.line)
                for word in token.words:
                    head = sentence.heads[word]
                    words.append(
                        _Word(
                            position,
                            end,
                            token.is_multiword,
                            (sentence.forms[word] if token.is_multiword else form).lower(),
                            sentence.lemmas[word],
                            sentence.coarse_tags[word],
                            sentence.fine_tags[word],
                            _universal(sentence.feats[word]),
                            first_word + head - 1 if head > 0 else _ROOT if head == 0 else _UNKNOWN,
                            sentence.labels[word].split(":")[0],
                            token.line,
                        )
                    )
                position = end
            sentences.append((start, position))
        return cls("".join(characters), tokens, lines, sentences, words, source, side)

    def token_at(self, character: int) -> int:
        """The number of the token that holds a character, or would hold it if the text went on."""
        return max(0, bisect_right(self.tokens, (character, len(self.characters) + 1)) - 1)


class _Alignment:
    """Which gold word each word of the system is."""

    def __init__(self, gold: _Layout, system: _Layout) -> None:
        self._gold, self._system = gold, system
        self._pairs = _aligned(gold.words, system.words)
        self._gold_of = [_UNALIGNED] * len(system.words)
        for right, found in self._pairs:
            self._gold_of[found] = right

    def scores(self) -> dict[str, F1]:
        gold, system = self._gold.words, self._system.words
        gold_children, system_children = _functional_children(gold), _functional_children(system)

        def lemma(right: int, found: int) -> bool:
            return gold[right].lemma in ("_", system[found].lemma)

        def head(right: int, found: int) -> bool:
            return gold[right].head == self._as_gold(system[found].head)

        def arc(right: int, found: int) -> bool:
            return head(right, found) and gold[right].label == system[found].label

        def morphology(right: int, found: int) -> bool:
            return _morphology(gold[right]) == _morphology(system[found])

        def children(right: int, found: int) -> bool:
            ours = [(child, gold[child].label, *_morphology(gold[child])) for child in gold_children[right]]
            theirs = [
                (self._gold_of[child], system[child].label, *_morphology(system[child]))
                for child in system_children[found]
            ]
            return ours == theirs

        return {
            "Tokens": _matching(self._gold.tokens, self._system.tokens),
            "Sentences": _matching(self._gold.sentences, self._system.sentences),
            "Words": F1(len(self._pairs), len(gold), len(system)),
            "UPOS": self._score(lambda right, found: gold[right].coarse_tag == system[found].coarse_tag),
            "XPOS": self._score(lambda right, found: gold[right].fine_tag == system[found].fine_tag),
            "UFeats": self._score(lambda right, found: gold[right].features == system[found].features),
            "AllTags": self._score(
                lambda right, found: morphology(right, found) and gold[right].fine_tag == system[found].fine_tag
            ),
            "Lemmas": self._score(lemma),
            "UAS": self._score(head),
            "LAS": self._score(arc),
            "CLAS": self._score(arc, content=True),
            "MLAS": self._score(
                lambda right, found: arc(right, found) and morphology(right, found) and children(right, found),
                content=True,
            ),
            "BLEX": self._score(lambda right, found: arc(right, found) and lemma(right, found), content=True),
        }

    def _as_gold(self, head: int) -> int:
        """A head of the system as the gold word that it is aligned to."""
        return head if head in (_ROOT, _UNKNOWN) else self._gold_of[head]

    def _score(self, is_right: Callable[[int, int], bool], *, content: bool = False) -> F1:
        """Count the aligned words of which something is right, among all of them or those of content."""
        gold, system = self._gold.words, self._system.words
        if not content:
            return F1(sum(is_right(*pair) for pair in self._pairs), len(gold), len(system), len(self._pairs))
        pairs = [pair for pair in self._pairs if gold[pair[0]].label in _CONTENT]
        of_gold, of_system = (sum(word.label in _CONTENT for word in words) for words in (gold, system))
        return F1(sum(is_right(*pair) for pair in pairs), of_gold, of_system, len(pairs))


def _aligned(gold: Sequence[_Word], system: Sequence[_Word]) -> list[tuple[int, int]]:
    """Pairs of a gold word and a word of the system that are the same, in order."""
    pairs: list[tuple[int, int]] = []
    right = found = 0
    while right < len(gold) and found < len(system):
        ours, theirs = gold[right], system[found]
        if ours.is_multiword or theirs.is_multiword:
            # A word that only reaches into the multiword token from before has no part in it.
            if ours.is_multiword and not theirs.is_multiword:
                found += theirs.start < ours.start
            elif theirs.is_multiword and not ours.is_multiword:
                right += ours.start < theirs.start
            end = ours.end if ours.is_multiword else theirs.end
            first_right, first_found = right, found
            right, found = _stretch(gold, system, right, found, end)
            pairs += _common(gold, system, range(first_right, right), range(first_found, found))
        elif (ours.start, ours.end) == (theirs.start, theirs.end):
            pairs.append((right, found))
            right, found = right + 1, found + 1
        elif ours.start <= theirs.start:
            right += 1
        else:
            found += 1
    return pairs


def _stretch(gold: Sequence[_Word], system: Sequence[_Word], right: int, found: int, end: int) -> tuple[int, int]:
    """Where the words of a stretch of characters end; it grows with each multiword token that sticks out of it."""

    def is_beyond(words: Sequence[_Word], number: int) -> bool:
        if number >= len(words):
            return True
        word = words[number]
        return word.start >= end if word.is_multiword else word.end > end

    while not (is_beyond(gold, right) and is_beyond(system, found)):
        if right < len(gold) and (found >= len(system) or gold[right].start <= system[found].start):
            word, right = gold[right], right + 1
        else:
            word, found = system[found], found + 1
        if word.is_multiword:
            end = max(end, word.end)
    return right, found


def _common(gold: Sequence[_Word], system: Sequence[_Word], rights: range, founds: range) -> list[tuple[int, int]]:
    """The longest common subsequence of the forms of some words, as pairs."""
    longest = [[0] * (len(founds) + 1) for _ in range(len(rights) + 1)]
    for row in reversed(range(len(rights))):
        for column in reversed(range(len(founds))):
            is_common = gold[rights[row]].form == system[founds[column]].form
            with_both = longest[row + 1][column + 1] + is_common
            longest[row][column] = max(with_both, longest[row + 1][column], longest[row][column + 1])
    pairs: list[tuple[int, int]] = []
    row = column = 0
    while row < len(rights) and column < len(founds):
        if gold[rights[row]].form == system[founds[column]].form:
            pairs.append((rights[row], founds[column]))
            row, column = row + 1, column + 1
        elif longest[row][column] == longest[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _matching(gold: Sequence[tuple[int, int]], system: Sequence[tuple[int, int]]) -> F1:
    return F1(len(set(gold).intersection(system)), len(gold), len(system))


def _functional_children(words: Sequence[_Word]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in words]
    for number, word in enumerate(words):
        if word.head >= 0 and word.label in _FUNCTIONAL:
            children[word.head].append(number)
    return children


def _morphology(word: _Word) -> tuple[Hashable, ...]:
    return word.coarse_tag, word.features


def _universal(features: str) -> str:
    return "|".join(sorted(item for item in features.split("|") if item.split("=", 1)[0] in _UNIVERSAL))


def _without_spaces(form: str) -> str:
    """The form without white space within it: whether that is part of a token is not compared."""
    return form if form.isalnum() else "".join(c for c in form if unicodedata.category(c) != "Zs")


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _text_error(gold: _Layout, system: _Layout) -> TreebankError:
    """Say where the texts begin to differ."""
    both = zip(gold.characters, system.characters, strict=False)
    where = next((k for k, (ours, theirs) in enumerate(both) if ours != theirs), -1)
    if where < 0:
        where = min(len(gold.characters), len(system.characters))
    place, other = gold.token_at(where), system.token_at(where)
    shown = " but ".join(f"{layout.characters[where : where + 20]!r} in the {layout.side}" for layout in (gold, system))
    return TreebankError(
        f"the texts differ from here on, {shown} ({system.source or 'its'} line {system.lines[other]}): "
        "both must be of the same text, white space aside",
        gold.source,
        gold.lines[place],
        2,
    )
