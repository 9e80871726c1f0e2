"""Two children of a head on the same side, and the head's head: (grandparent, head, modifier, sibling)."""

from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.protocol import Group
from treebp.kernels.features import GRAND_SIBLING
from treebp.kernels.same_side import list_grand_siblings
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import NEAREST, Part, Tuples
from treebp.parsing.parts.positions import OF_FOUR


class GrandSibling(Part):
    """The grand-siblings of Koo and Collins (2010), whether or not there is a child between the two."""

    name = "grand-sibling"
    family = GRAND_SIBLING
    templates = OF_FOUR

    def list(self, batch: Batch, projective: bool) -> Tuples:
        """Every two near children of a side, with each head of the head that can be in the same tree."""
        return Tuples(
            *list_grand_siblings(batch.sizes, batch.heads, batch.modifiers, batch.starts, projective, NEAREST)
        )

    def group(self, tuples: Tuples) -> Group:
        """A factor on each triple."""
        return AllOn(tuples.arcs)
