"""Feature templates: first order after McDonald et al. (2005), second order after Carreras (2007), in named groups.

A template is written as its slots, each a token and an attribute: ``"h.word m.fine"``. In arc templates the tokens are
the head ``h``, the modifier ``m`` and their neighbours ``h-``, ``h+``, ``m-``, ``m+``. In pair templates they are
``a``, ``b``, ``c``: head, modifier and sibling, or grandparent, head and modifier.
"""

from collections.abc import Iterable

import numpy as np

from treebp._types import IntArray
from treebp.kernels.features import SLOTS, ArcTemplates, PairTemplates
from treebp.parsing.config import TemplateGroup

ATTRIBUTES = ("word", "fine", "coarse", "prefix", "lemma", "morphology")

_WORDS = ["h.word", "m.word", "h.word m.word"]
_TAGS = ["h.T", "m.T", "h.T m.T"]
_WORDS_AND_TAGS = [
    "h.word h.T",
    "m.word m.T",
    "h.word h.T m.word m.T",
    "h.T m.word m.T",
    "h.word m.word m.T",
    "h.word h.T m.T",
    "h.word h.T m.word",
]
_CONTEXT = [
    "h.T h+.T m-.T m.T",
    "h-.T h.T m-.T m.T",
    "h.T h+.T m.T m+.T",
    "h-.T h.T m.T m+.T",
    "h.T m-.T m.T",
    "h.T h+.T m.T",
    "h-.T h.T m.T",
    "h.T m.T m+.T",
]
_PREFIXES = ["h.prefix", "m.prefix", "h.prefix m.prefix", "h.prefix m.fine", "h.fine m.prefix"]
_LEMMAS = ["h.lemma m.lemma", "h.lemma m.fine", "h.fine m.lemma", "h.lemma h.fine m.lemma m.fine"]
_MORPHOLOGY = [
    "h.morphology",
    "m.morphology",
    "h.morphology m.morphology",
    "h.fine m.fine m.morphology",
    "h.fine h.morphology m.fine",
    "h.fine h.morphology m.fine m.morphology",
    "h.word m.morphology",
    "h.morphology m.word",
]
_PAIR_TAGS = ["a.T b.T c.T", "b.T c.T", "a.T c.T"]
_PAIR_WORDS = [
    "a.word b.fine c.fine",
    "a.fine b.word c.fine",
    "a.fine b.fine c.word",
    "a.word c.fine",
    "a.fine c.word",
    "b.word c.fine",
    "b.fine c.word",
    "a.word c.word",
    "b.word c.word",
]
_PAIR_LEMMAS = ["a.lemma c.lemma", "b.lemma c.lemma"]
_PAIR_MORPHOLOGY = ["b.morphology c.morphology", "a.morphology c.morphology", "a.fine b.morphology c.morphology"]


def arc_templates(groups: Iterable[TemplateGroup]) -> ArcTemplates:
    """The arc templates of some groups, as the kernels take them."""
    groups = set(groups)
    templates = [""]
    for group, tag in (("tags", "fine"), ("coarse", "coarse")):
        if group in groups:
            tagged = _TAGS + (_WORDS_AND_TAGS if "words" in groups else []) + _CONTEXT
            templates += [template.replace(".T", f".{tag}") for template in tagged]
    for group, more in (("words", _WORDS), ("prefixes", _PREFIXES), ("lemmas", _LEMMAS), ("morphology", _MORPHOLOGY)):
        templates += more if group in groups else []
    between = [tag for group, tag in (("tags", "fine"), ("coarse", "coarse")) if {"between", group} <= groups]
    of_head = [template for template in templates if _tokens(template) <= {"h", "h-", "h+"}]
    of_modifier = [template for template in templates if _tokens(template) and _tokens(template) <= {"m", "m-", "m+"}]
    of_both = [template for template in templates if template not in of_head + of_modifier]
    return (
        _compile(of_head, ("h", "h-", "h+")),
        _compile(of_modifier, ("m", "m-", "m+")),
        _compile(of_both, ("h", "m", "h-", "h+", "m-", "m+")),
        np.array([ATTRIBUTES.index(tag) for tag in between], dtype=np.int64),
    )


def pair_templates(groups: Iterable[TemplateGroup]) -> PairTemplates:
    """The templates of pairs of arcs, likewise. Those on all three tokens end with the one slot of ``c``."""
    groups = set(groups)
    templates = []
    for group, tag in (("tags", "fine"), ("coarse", "coarse")):
        if group in groups:
            templates += [template.replace(".T", f".{tag}") for template in _PAIR_TAGS]
    for group, more in (("words", _PAIR_WORDS), ("lemmas", _PAIR_LEMMAS), ("morphology", _PAIR_MORPHOLOGY)):
        templates += more if group in groups else []
    triples = [template.rsplit(" ", 1) for template in templates if _tokens(template) == {"a", "b", "c"}]
    return (
        _compile([start for start, _ in triples], ("a", "b")),
        np.array([ATTRIBUTES.index(end.removeprefix("c.")) for _, end in triples], dtype=np.int64),
        _compile(["", *(template for template in templates if _tokens(template) == {"b", "c"})], ("b", "c")),
        _compile([template for template in templates if _tokens(template) == {"a", "c"}], ("a", "c")),
    )


def no_pairs() -> PairTemplates:
    """No pair templates: no such factors."""
    none = np.zeros((0, SLOTS), dtype=np.int64)
    return none, none[:, 0], none, none


def _tokens(template: str) -> set[str]:
    return {slot.split(".")[0] for slot in template.split()}


def _compile(templates: list[str], tokens: tuple[str, ...]) -> IntArray:
    slots = [
        [
            tokens.index(token) * len(ATTRIBUTES) + ATTRIBUTES.index(attribute)
            for token, attribute in (slot.split(".") for slot in template.split())
        ]
        for template in templates
    ]
    filler = len(tokens) * len(ATTRIBUTES)
    return np.array([row + [filler] * (SLOTS - len(row)) for row in slots], dtype=np.int64).reshape(len(slots), SLOTS)
