"""Dependency trees under construction, and their reading off as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from treebp.data.coarse_tags import PENN_TO_UNIVERSAL
from treebp.data.sentence import Sentence


@dataclass(eq=False)
class GrammarWord:
    """A word with its modifiers, in surface order, on either side.

    `kind` is what a noun denotes (see `lexicon.NOUNS`), `plural` its number; other words have neither.
    """

    form: str
    lemma: str
    tag: str
    kind: str = ""
    plural: bool = False
    label: str = "root"
    head: GrammarWord | None = None
    before: list[GrammarWord] = field(default_factory=list)
    after: list[GrammarWord] = field(default_factory=list)

    def take_before(self, label: str, modifier: GrammarWord, *, outermost: bool = False) -> GrammarWord:
        """Add a modifier on the left, next to this word or at the left end of its phrase, and return it."""
        modifier.label, modifier.head = label, self
        self.before.insert(0 if outermost else len(self.before), modifier)
        return modifier

    def take_after(self, label: str, modifier: GrammarWord, *, beyond: GrammarWord | None = None) -> GrammarWord:
        """Add a modifier on the right of those already there, and return it.

        With `beyond` it is extraposed: it stands at the end of that word's phrase, but modifies this one.
        """
        modifier.label, modifier.head = label, self
        (beyond or self).after.append(modifier)
        return modifier

    def phrase(self) -> Iterator[GrammarWord]:
        """Yield the words that stand within this word's phrase, left to right."""
        for modifier in self.before:
            yield from modifier.phrase()
        yield self
        for modifier in self.after:
            yield from modifier.phrase()


def to_sentence(root: GrammarWord) -> Sentence:
    """Read a finished tree off as a sentence with universal coarse tags and Penn Treebank fine tags.

    Example:
        >>> bark = GrammarWord("bark", "bark", "VBP")
        >>> _ = bark.take_before("nsubj", GrammarWord("dogs", "dog", "NNS"))
        >>> sentence = to_sentence(bark)
        >>> sentence.forms, sentence.heads, sentence.coarse_tags
        (['Dogs', 'bark'], [2, 0], ['NOUN', 'VERB'])

    """
    words = list(root.phrase())
    position = {word: index for index, word in enumerate(words, start=1)}
    forms = [word.form for word in words]
    for index, following in enumerate(forms[1:]):
        if forms[index] == "a" and following[0] in "aeiou":
            forms[index] = "an"
    forms[0] = forms[0][0].upper() + forms[0][1:]
    text = "".join(form if word.tag in ",." else f" {form}" for word, form in zip(words, forms, strict=True))
    return Sentence.from_columns(
        forms,
        lemmas=[word.lemma for word in words],
        coarse_tags=[PENN_TO_UNIVERSAL[word.tag] for word in words],
        fine_tags=[word.tag for word in words],
        heads=[position[word.head] if word.head else 0 for word in words],
        labels=[word.label for word in words],
        comments=[f"# text = {text.strip()}"],
    )
