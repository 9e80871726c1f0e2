"""Feature templates of the label model, in the language of ``treebp.features.templates``.

The slots' tokens are those of arcs, ``h``, ``m``, ``h-``, ``h+``, ``m-``, ``m+``, and their relatives in the tree: the
grandparent ``g``, the nearest siblings ``s-`` and ``s+``, the outermost children of the modifier ``c-`` and ``c+``, and
each of its children ``c`` or siblings ``s``. All features are joined with the order of the tokens of ``h m c`` or
``h m s``; the length of the arc was of no use.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from treebp._types import IntArray
from treebp.features.templates import ATTRIBUTES, Slot, TemplateGroup, parse_templates, template_error
from treebp.kernels.labels import LABEL_TOKENS, LabelTemplates

_GROUPS: dict[str, TemplateGroup] = {
    "word": "words",
    "fine": "tags",
    "coarse": "coarse",
    "prefix": "prefixes",
    "lemma": "lemmas",
    "morphology": "morphology",
    "cluster": "clusters",
    "cluster6": "clusters",
    "cluster4": "clusters",
}
_TEMPLATES = (
    "h.fine",
    "m.fine",
    "h.word",
    "m.word",
    "m.lemma",
    "m.prefix",
    "m.morphology",
    "h.fine m.fine",
    "h.coarse m.coarse",
    "h.word m.word",
    "h.lemma m.lemma",
    "h.word m.fine",
    "h.fine m.word",
    "h.prefix m.fine",
    "h.fine m.prefix",
    "h.fine m.morphology",
    "h.morphology m.morphology",
    "m.word m-.word",
    "m.word m+.word",
    "h.fine m.fine m-.word",
    "h.fine m.fine m-.fine",
    "h.fine m.fine m+.fine",
    "h.fine m.fine h-.fine",
    "h.fine m.fine h+.fine",
    "h.fine m.fine m-.fine h+.fine",
    "h.fine m.fine g.fine",
    "h.fine m.fine s-.fine",
    "h.fine m.fine s+.fine",
    "m.fine s-.word",
    "m.fine s+.word",
    "h.fine m.fine c-.fine",
    "h.fine m.fine c+.fine",
    "m.fine c-.word",
    "m.fine c+.word",
    "h.fine m.fine c-.word",
    "h.word m.fine c-.word",
    "h.fine m.fine c.fine",
    "h.coarse m.coarse c.coarse",
    "h.fine m.fine c.word",
    "h.fine m.fine c.morphology",
    "h.word c.word",
    "m.fine c.word",
    "m.morphology c.fine",
    "m.fine s.fine",
    "m.fine s.word",
    "h.cluster",
    "m.cluster",
    "h.cluster m.cluster",
    "h.cluster m.fine",
    "h.fine m.cluster",
)


def label_templates(groups: Iterable[str], templates: Sequence[str] = _TEMPLATES) -> LabelTemplates:
    """The templates of some groups: of the arc, of each child and of each sibling, as arrays.

    A template belongs to the groups of all its attributes. Without "tags", coarse tags stand in for fine ones. The
    first template of the arc is empty: its feature is always there. Raises ValueError for a template that is wrong.

    Example:
        >>> of_arc, of_child, of_sibling = label_templates(["words", "tags"])
        >>> len(of_arc), len(of_child), len(of_sibling)
        (28, 4, 2)

    """
    chosen = set(groups)
    parsed = parse_templates(templates, LABEL_TOKENS, "label")
    if "tags" not in chosen:
        coarse = dict.fromkeys(template.replace(".fine", ".coarse") for template in templates)
        parsed = parse_templates(coarse, LABEL_TOKENS, "label")
    of_arc: list[tuple[Slot, ...]] = [()]
    of_child: list[tuple[Slot, ...]] = []
    of_sibling: list[tuple[Slot, ...]] = []
    for template, slots in parsed.items():
        tokens = {slot.token for slot in slots}
        if any(slot.starred for slot in slots):
            raise template_error("label", template, "a star, where no token can have one")
        if {"c", "s"} <= tokens:
            raise template_error("label", template, "it looks at every child c and every sibling s: one is possible")
        (of_child if "c" in tokens else of_sibling if "s" in tokens else of_arc).append(slots)
    return LabelTemplates(_array(of_arc, chosen), _array(of_child, chosen), _array(of_sibling, chosen))


def _array(templates: Sequence[tuple[Slot, ...]], groups: set[str]) -> IntArray:
    """Those templates whose groups are all there (templates, slots, 2): tokens and attributes, -1 beyond the last."""
    usable = [slots for slots in templates if all(_GROUPS[slot.attribute] in groups for slot in slots)]
    numbers = np.full((len(usable), max(map(len, templates), default=0), 2), -1, dtype=np.int64)
    for row, slots in zip(numbers, usable, strict=True):
        for column, slot in enumerate(slots):
            row[column] = LABEL_TOKENS.index(slot.token), ATTRIBUTES.index(slot.attribute)
    return numbers
