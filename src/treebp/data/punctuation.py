"""Which words are punctuation, by the rules that evaluations use."""

import unicodedata
from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np

from treebp._types import BoolArray
from treebp.data.sentence import Sentence

PunctuationRule = Literal["include", "unicode", "ptb", "ud"]

_PTB_PUNCTUATION = frozenset(("``", "''", ":", ",", "."))


def is_punctuation(sentence: Sentence, rule: PunctuationRule) -> BoolArray:
    """Tell which words a rule leaves unscored, shape (words,).

    Args:
        sentence: the gold sentence.
        rule: "include" leaves out nothing; "unicode" the forms whose characters are all Unicode punctuation,
            as the CoNLL-2006 scorer; "ptb" the tags `` '' : , . of the Penn Treebank (column 5, or 4 where
            that is missing); "ud" the universal tag PUNCT (column 4).

    Example:
        >>> from treebp.data.punctuation import is_punctuation
        >>> from treebp.data.sentence import Sentence
        >>> is_punctuation(Sentence.from_columns(["«", "$", "word", "..."]), "unicode")
        array([ True, False, False,  True])

    """
    if rule == "include":
        marks = [False] * len(sentence)
    elif rule == "unicode":
        marks = [all(unicodedata.category(letter)[0] == "P" for letter in form) for form in sentence.forms]
    elif rule == "ptb":
        marks = [tag in _PTB_PUNCTUATION for tag in _fine_or_coarse(sentence)]
    elif rule == "ud":
        marks = [tag == "PUNCT" for tag in sentence.coarse_tags]
    else:
        raise ValueError(f"unknown punctuation rule {rule!r}: choose one of {get_args(PunctuationRule)}")
    return np.array(marks, dtype=np.bool_)


def usual_punctuation(gold: Iterable[Sentence]) -> PunctuationRule:
    """Return the rule that is usual for a treebank, from its tags.

    It is "ud" where the tag PUNCT stands in column 4, "ptb" where the Penn Treebank's NN and comma are tags,
    and "unicode" otherwise.

    Example:
        >>> from treebp.data.punctuation import usual_punctuation
        >>> from treebp.data.sentence import Sentence
        >>> usual_punctuation([Sentence.from_columns(["Trees", "!"], coarse_tags=["NOUN", "PUNCT"])])
        'ud'

    """
    tags: set[str] = set()
    for sentence in gold:
        if "PUNCT" in sentence.coarse_tags:
            return "ud"
        tags.update(_fine_or_coarse(sentence))
    return "ptb" if {"NN", ","} <= tags else "unicode"


def _fine_or_coarse(sentence: Sentence) -> list[str]:
    tags = zip(sentence.fine_tags, sentence.coarse_tags, strict=True)
    return [coarse if fine == "_" else fine for fine, coarse in tags]
