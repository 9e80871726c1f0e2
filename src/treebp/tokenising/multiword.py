"""Multiword tokens: which tokens stand for several words, and for which.

A token that was seen in training is split as it was there, if it was so more often than not. One that was never seen is
split if it ends like tokens that were: "farlo" into "far" and "lo", "children's" into "children" and "'s".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from treebp.data.plain_text import PlainText
from treebp.data.sentence import Sentence

_CONTEXT = 3  # letters before what changes that an ending may take in
_LONGEST = 10  # letters of an ending
_ENOUGH, _SURE = 3, 0.85  # forms that an ending was seen in, and the share of them that are split alike
_REMEMBERED = 100_000  # forms whose words are kept at hand

Words = tuple[str, ...]


class MultiwordTokens:
    """What is known of them, in lower case.

    Args:
        forms: of tokens seen in training, with their words: none for one that is a word by itself.
        endings: of other tokens, each with what it becomes: the end of the first word, and the other words.

    Example:
        >>> tokens = MultiwordTokens({"vom": ("von", "dem"), "atom": ()}, {"'s": ("", "'s")})
        >>> [tokens.split(form) for form in ("Vom", "Atom", "TREE'S", "tree")]
        [('Von', 'dem'), (), ('TREE', "'S"), ()]

    """

    def __init__(self, forms: Mapping[str, Sequence[str]], endings: Mapping[str, Sequence[str]]) -> None:
        self.forms = {form: tuple(words) for form, words in forms.items()}
        self.endings = {ending: tuple(words) for ending, words in endings.items()}
        self._longest = max(map(len, self.endings), default=0)
        self._known: dict[str, Words] = {}

    @classmethod
    def of(cls, treebank: Iterable[Sentence], text: PlainText) -> "MultiwordTokens":
        """Learn from a treebank and its text."""
        seen: dict[str, Counter[Words]] = defaultdict(Counter)
        for sentence, tokens in zip(treebank, text.sentences, strict=True):
            for token in tokens:
                words = tuple(sentence.forms[word].lower() for word in token.words) if token.is_multiword else ()
                seen[token.form.lower()][words] += 1
        usual = {form: counts.most_common(1)[0][0] for form, counts in seen.items()}
        endings = _endings(usual)
        # A form that no ending would split needs not be known to be a word by itself.
        rules = cls({}, endings)
        return cls({form: words for form, words in usual.items() if words or rules.split(form)}, endings)

    def split(self, form: str) -> Words:
        """The words of a token; none if it is a word by itself."""
        words = self._known.get(form)
        if words is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            words = self._known[form] = self._split(form)
        return words

    def _split(self, form: str) -> Words:
        lower = form.lower()
        words = self.forms.get(lower)
        if words is None:
            words = ()
            for length in range(min(self._longest, len(lower) - 1), 0, -1):
                if (becomes := self.endings.get(lower[-length:])) is not None:
                    words = (lower[:-length] + becomes[0], *becomes[1:])
                    break
        return _as_written(form, words)


def _endings(usual: Mapping[str, Words]) -> dict[str, Words]:
    """What endings become, where enough different forms agree on it."""
    becomes: dict[str, Counter[Words]] = defaultdict(Counter)
    for form, words in usual.items():
        if len(words) < 2:
            continue
        stem = _common(form, words[0])
        for begin in range(max(1, stem - _CONTEXT), stem + 1):
            if len(form) - begin <= _LONGEST and begin < len(form):
                becomes[form[begin:]][(words[0][begin:], *words[1:])] += 1
    often = {ending: counts for ending, counts in becomes.items() if max(counts.values()) >= _ENOUGH}
    forms: Counter[str] = Counter()
    for form in usual:
        forms.update(form[-length:] for length in range(1, min(len(form), _LONGEST + 1)) if form[-length:] in often)
    kept: dict[str, Words] = {}
    for ending in sorted(often, key=len):
        ((words, count),) = often[ending].most_common(1)
        shorter = next((ending[k:] for k in range(1, len(ending)) if ending[k:] in kept), None)
        if shorter is not None:  # what it says already need not be said again
            first, *others = kept[shorter]
            if words == (ending.removesuffix(shorter) + first, *others):
                continue
        if count >= max(_ENOUGH, _SURE * forms[ending]):
            kept[ending] = words
    return kept


def _common(form: str, word: str) -> int:
    """How many characters two strings begin with in common."""
    pairs = enumerate(zip(form, word, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(form), len(word)))


def _as_written(form: str, words: Words) -> Words:
    """Words in lower case as the token has them: cut from it, if they are all that it is, or else with its capitals."""
    if form == form.lower() or not words:
        return words
    if "".join(words) == form.lower() and len(form) == len(form.lower()):
        ends = list(accumulate(map(len, words)))
        return tuple(form[end - len(word) : end] for word, end in zip(words, ends, strict=True))
    if form.isupper() and len(form) > 1:
        return tuple(word.upper() for word in words)
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if form[0].isupper() else words
