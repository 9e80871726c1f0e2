"""Feature templates: first order after McDonald et al. (2005), second order after Carreras (2007), in named groups.

A template is written as its slots, each a token and an attribute: ``"h.word m.fine"``. In arc templates the tokens are
the head ``h``, the modifier ``m`` and their neighbours ``h-``, ``h+``, ``m-``, ``m+``, and ``b`` stands for all between
the two. In pair templates they are ``a``, ``b``, ``c``: head, modifier and sibling, or grandparent, head and modifier.
A star marks the slot, a tag, for whose values the weights stand side by side in memory.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from treebp._types import IntArray
from treebp.kernels.features import ARC_SEEDS, PAIR_SEEDS, SLOTS, Templates
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
_BETWEEN = "h.T m.T b.T*"
_PAIR_TAGS = ["a.T b.T c.T*", "b.T c.T", "a.T c.T"]
_PAIR_WORDS = [
    "a.word b.fine c.fine*",
    "a.fine b.word c.fine*",
    "a.fine b.fine* c.word",
    "a.word c.fine",
    "a.fine c.word",
    "b.word c.fine",
    "b.fine c.word",
    "a.word c.word",
    "b.word c.word",
]
_PAIR_LEMMAS = ["a.lemma c.lemma", "b.lemma c.lemma"]
_PAIR_MORPHOLOGY = ["b.morphology c.morphology", "a.morphology c.morphology", "a.fine b.morphology c.morphology*"]


def arc_templates(groups: Iterable[TemplateGroup]) -> Templates:
    """The arc templates of some groups, as the kernels take them."""
    groups = set(groups)
    templates = [""]
    for group, tag in (("tags", "fine"), ("coarse", "coarse")):
        if group in groups:
            tagged = _TAGS + (_WORDS_AND_TAGS if "words" in groups else []) + _CONTEXT
            templates += [template.replace(".T", f".{tag}") for template in tagged]
    for group, more in (("words", _WORDS), ("prefixes", _PREFIXES), ("lemmas", _LEMMAS), ("morphology", _MORPHOLOGY)):
        templates += more if group in groups else []
    between = [
        _BETWEEN.replace(".T", f".{tag}")
        for group, tag in (("tags", "fine"), ("coarse", "coarse"))
        if {"between", group} <= groups
    ]
    of_head = [template for template in templates if _tokens(template) <= {"h", "h-", "h+"}]
    of_modifier = [template for template in templates if _tokens(template) and _tokens(template) <= {"m", "m-", "m+"}]
    of_both = [template for template in templates if template not in of_head + of_modifier]
    kinds = of_head, of_modifier, of_both, of_both, between, between, between
    return _stacked(kinds, "hmhmhmb", ARC_SEEDS)


def pair_templates(groups: Iterable[TemplateGroup]) -> Templates:
    """The templates of pairs of arcs, likewise."""
    groups = set(groups)
    templates = []
    for group, tag in (("tags", "fine"), ("coarse", "coarse")):
        if group in groups:
            templates += [template.replace(".T", f".{tag}") for template in _PAIR_TAGS]
    for group, more in (("words", _PAIR_WORDS), ("lemmas", _PAIR_LEMMAS), ("morphology", _PAIR_MORPHOLOGY)):
        templates += more if group in groups else []
    of_abc = [template for template in templates if _tokens(template) == {"a", "b", "c"}]
    of_bc = ["", *(template for template in templates if _tokens(template) == {"b", "c"})]
    of_ac = [template for template in templates if _tokens(template) == {"a", "c"}]
    return _stacked((of_abc, of_abc, of_abc, of_bc, of_bc, of_ac, of_ac), "abcbcac", PAIR_SEEDS)


def _tokens(template: str) -> set[str]:
    return {slot.split(".")[0] for slot in template.split()}


def _stacked(kinds: Sequence[list[str]], tokens: str, seeds: Sequence[int]) -> Templates:
    """What templates of some kinds look at around the token given for each kind, with a seed for each of them."""
    counts = [len(templates) for templates in kinds]
    return (
        np.concatenate([_part(templates, token) for templates, token in zip(kinds, tokens, strict=True)]),
        np.concatenate([seed + np.arange(count) for seed, count in zip(seeds, counts, strict=True)]).astype(np.uint64),
        np.cumsum([0, *counts[:-1]]).astype(np.uint64),
    )


def _part(templates: list[str], token: str) -> IntArray:
    """What templates look at around one of their tokens, as ``treebp.kernels.features`` takes it."""
    width, nothing = len(ATTRIBUTES), 4 * len(ATTRIBUTES)
    around = (token, f"{token}-", f"{token}+")
    rows = np.full((len(templates), SLOTS + 1), nothing, dtype=np.int64)
    for row, template in zip(rows, templates, strict=True):
        slots = [slot.split(".") for slot in template.split() if slot.split(".")[0] in around]
        for k, (where, attribute) in enumerate(slots):
            number = ATTRIBUTES.index(attribute.removesuffix("*"))
            row[k] = around.index(where) * width + number
            if attribute.endswith("*"):
                row[k], row[SLOTS] = 3 * width + number, number
    return rows
