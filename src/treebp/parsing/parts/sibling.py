"""Two arcs of the same head: (head, modifier, sibling), wherever they stand."""

from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.protocol import Group
from treebp.kernels.candidates import list_siblings
from treebp.kernels.features import SIBLING
from treebp.parsing.arcs import Batch
from treebp.parsing.parts.part import Part, Tuples
from treebp.parsing.parts.positions import OF_THREE


class Sibling(Part):
    """The sibling factors of the paper."""

    name = "sibling"
    family = SIBLING
    templates = OF_THREE

    def list(self, batch: Batch, projective: bool) -> Tuples:
        """Every two arcs of a head."""
        return Tuples(*list_siblings(batch.sizes, batch.heads, batch.modifiers, batch.starts))

    def group(self, tuples: Tuples) -> Group:
        """A factor on each pair."""
        return AllOn(tuples.arcs)
