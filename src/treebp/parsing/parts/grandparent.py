"""An arc and one below it: (grandparent, head, modifier)."""

from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.protocol import Group
from treebp.kernels.candidates import list_grandparents
from treebp.kernels.features import GRANDPARENT
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import Part, Tuples
from treebp.parsing.parts.positions import OF_THREE


class Grandparent(Part):
    """The grandparent factors of the paper."""

    name = "grandparent"
    family = GRANDPARENT
    templates = OF_THREE

    def list(self, batch: Batch, projective: bool) -> Tuples:
        """Every arc with every one below it that can be in the same tree."""
        return Tuples(*list_grandparents(batch.sizes, batch.heads, batch.modifiers, batch.starts, projective))

    def group(self, tuples: Tuples) -> Group:
        """A factor on each pair."""
        return AllOn(tuples.arcs)
