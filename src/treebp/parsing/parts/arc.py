"""An arc from head ``h`` to modifier ``m``: the part that is always there.

Templates are after McDonald et al. (2005), with the words next to both; ``b`` stands for every word between the two.
All but those between are used with and without the arc's direction and length.
"""

from treebp.features.hashing import HashedTemplates, View
from treebp.features.templates import Section, with_tag
from treebp.kernels.features import ARC, BETWEEN, HEAD, MODIFIER

_TAGS = ("h.T", "m.T", "h.T m.T")
_WORDS_AND_TAGS = (
    "h.word h.T",
    "m.word m.T",
    "h.word h.T m.word m.T",
    "h.T m.word m.T",
    "h.word m.word m.T",
    "h.word h.T m.T",
    "h.word h.T m.word",
)
_CONTEXT = (
    "h.T h+.T m-.T m.T",
    "h-.T h.T m-.T m.T",
    "h.T h+.T m.T m+.T",
    "h-.T h.T m.T m+.T",
    "h.T m-.T m.T",
    "h.T h+.T m.T",
    "h-.T h.T m.T",
    "h.T m.T m+.T",
)
_MORPHOLOGY = (
    "h.morphology",
    "m.morphology",
    "h.morphology m.morphology",
    "h.fine m.fine m.morphology",
    "h.fine h.morphology m.fine",
    "h.fine h.morphology m.fine m.morphology",
    "h.word m.morphology",
    "h.morphology m.word",
)
_CLUSTERS = (
    "h.cluster",
    "m.cluster",
    "h.cluster m.cluster",
    "h.cluster m.fine",
    "h.fine m.cluster",
    "h.cluster h.fine m.cluster m.fine",
    "h.cluster4 m.cluster4",
    "h.cluster6 m.cluster6",
    "h.cluster6 m.cluster",
    "h.cluster m.cluster6",
    "h.fine h.cluster4 m.fine m.cluster4",
)
_BETWEEN = ("h.T m.T b.T*",)

ARC_TEMPLATES = HashedTemplates(
    kind="arc",
    views=(View("h", HEAD), View("m", MODIFIER), View("hm", ARC), View("hmb", BETWEEN, star="b", needs_star=True)),
    always="h",
    alone="b",
    sections=(
        Section(("tags",), with_tag("fine", _TAGS)),
        Section(("tags", "words"), with_tag("fine", _WORDS_AND_TAGS)),
        Section(("tags",), with_tag("fine", _CONTEXT)),
        Section(("coarse",), with_tag("coarse", _TAGS)),
        Section(("coarse", "words"), with_tag("coarse", _WORDS_AND_TAGS)),
        Section(("coarse",), with_tag("coarse", _CONTEXT)),
        Section(("words",), ("h.word", "m.word", "h.word m.word")),
        Section(("prefixes",), ("h.prefix", "m.prefix", "h.prefix m.prefix", "h.prefix m.fine", "h.fine m.prefix")),
        Section(("lemmas",), ("h.lemma m.lemma", "h.lemma m.fine", "h.fine m.lemma", "h.lemma h.fine m.lemma m.fine")),
        Section(("morphology",), _MORPHOLOGY),
        Section(("clusters",), _CLUSTERS),
        Section(("tags", "between"), with_tag("fine", _BETWEEN)),
        Section(("coarse", "between"), with_tag("coarse", _BETWEEN)),
    ),
)
