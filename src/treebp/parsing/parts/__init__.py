"""Kinds of parts, one file each: which tuples of arcs there are, their templates, and the factors that carry them.

Arcs themselves are in ``arc``: they are always there.
"""

from treebp.parsing.parts.consecutive_sibling import ConsecutiveSibling
from treebp.parsing.parts.grand_sibling import GrandSibling
from treebp.parsing.parts.grandparent import Grandparent
from treebp.parsing.parts.part import Part, SiblingSequences, Tuples
from treebp.parsing.parts.sibling import Sibling
from treebp.parsing.parts.tri_sibling import TriSibling

PARTS: dict[str, Part] = {
    part.name: part for part in (Sibling(), Grandparent(), ConsecutiveSibling(), GrandSibling(), TriSibling())
}
"""All kinds by name. A new kind is one file and one entry here."""

__all__ = ["PARTS", "Part", "SiblingSequences", "Tuples"]
