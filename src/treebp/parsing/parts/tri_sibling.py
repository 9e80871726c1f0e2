"""Three children of a head on the same side: (head, modifier, sibling, third), from left to right."""

from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.protocol import Group
from treebp.kernels.features import TRI_SIBLING
from treebp.kernels.same_side import list_tri_siblings
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import NEAREST, Part, Tuples
from treebp.parsing.parts.positions import OF_FOUR


class TriSibling(Part):
    """The tri-siblings of Koo and Collins (2010), whether or not there are children between the three."""

    name = "tri-sibling"
    family = TRI_SIBLING
    templates = OF_FOUR

    def list(self, batch: Batch, projective: bool) -> Tuples:
        """Every three near children of a side."""
        return Tuples(*list_tri_siblings(batch.sizes, batch.heads, batch.modifiers, batch.starts, NEAREST))

    def group(self, tuples: Tuples) -> Group:
        """A factor on each triple."""
        return AllOn(tuples.arcs)
