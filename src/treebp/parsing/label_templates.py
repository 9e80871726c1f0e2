"""Feature templates of the label model, in the groups of ``treebp.parsing.templates``.

The slots' tokens are those of arcs, ``h``, ``m``, ``h-``, ``h+``, ``m-``, ``m+``, and their relatives in the tree: the
grandparent ``g``, the nearest siblings ``s-`` and ``s+``, the outermost children of the modifier ``c-`` and ``c+``, and
each of its children ``c`` or siblings ``s``. All features are joined with the order of the tokens of ``h m c`` or
``h m s``; the length of the arc was of no use.
"""

from collections.abc import Iterable

import numpy as np

from treebp._types import IntArray
from treebp.kernels.labels import LABEL_TOKENS, Templates
from treebp.parsing.config import TemplateGroup
from treebp.parsing.templates import ATTRIBUTES

_GROUPS: dict[str, TemplateGroup] = {
    "word": "words",
    "fine": "tags",
    "coarse": "coarse",
    "prefix": "prefixes",
    "lemma": "lemmas",
    "morphology": "morphology",
}
_OF_ARC = [
    "",
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
]
_OF_CHILD = [
    "h.fine m.fine c.fine",
    "h.coarse m.coarse c.coarse",
    "h.fine m.fine c.word",
    "h.fine m.fine c.morphology",
    "h.word c.word",
    "m.fine c.word",
    "m.morphology c.fine",
]
_OF_SIBLING = ["m.fine s.fine", "m.fine s.word"]


def label_templates(groups: Iterable[TemplateGroup]) -> Templates:
    """The templates of some groups: of the arc, of each child and of each sibling, as arrays.

    A template belongs to the groups of all its attributes. Without "tags", coarse tags stand in for fine ones.

    Example:
        >>> of_arc, of_child, of_sibling = label_templates(["words", "tags"])
        >>> len(of_arc), len(of_child), len(of_sibling)
        (28, 4, 2)

    """
    chosen = set(groups)

    def compiled(templates: list[str]) -> IntArray:
        if "tags" not in chosen:
            templates = list(dict.fromkeys(template.replace(".fine", ".coarse") for template in templates))
        slots = [[slot.split(".") for slot in template.split()] for template in templates]
        usable = [template for template in slots if all(_GROUPS[attribute] in chosen for _, attribute in template)]
        numbers = np.full((len(usable), max(map(len, slots)), 2), -1, dtype=np.int64)
        for row, template in zip(numbers, usable, strict=True):
            for column, (token, attribute) in enumerate(template):
                row[column] = LABEL_TOKENS.index(token), ATTRIBUTES.index(attribute)
        return numbers

    return compiled(_OF_ARC), compiled(_OF_CHILD), compiled(_OF_SIBLING)
