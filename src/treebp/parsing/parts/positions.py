"""Templates of parts over three and over four positions, which kinds of parts share: so do then the hashes of words.

Positions are ``a``, ``b``, ``c`` and ``d``, in the order in which a kind of part names its words. Templates look at all
of them, or at the last one and one before it. Second order is after Carreras (2007); third order after Koo and Collins
(2010) and Martins et al. (2013), with fewer words.
"""

from treebp.features.hashing import HashedTemplates, View
from treebp.features.templates import Section, with_tag
from treebp.kernels.features import OF_AC, OF_AD, OF_BC, OF_BD, OF_CD, QUADRUPLE, TRIPLE

_TAGS_OF_THREE = ("a.T b.T c.T*", "b.T c.T", "a.T c.T")
_WORDS_OF_THREE = (
    "a.word b.fine c.fine*",
    "a.fine b.word c.fine*",
    "a.fine b.fine* c.word",
    "a.word c.fine",
    "a.fine c.word",
    "b.word c.fine",
    "b.fine c.word",
    "a.word c.word",
    "b.word c.word",
)

OF_THREE = HashedTemplates(
    kind="pair",
    views=(View("abc", TRIPLE, star="abc"), View("bc", OF_BC), View("ac", OF_AC)),
    always="bc",
    sections=(
        Section(("tags",), with_tag("fine", _TAGS_OF_THREE)),
        Section(("coarse",), with_tag("coarse", _TAGS_OF_THREE)),
        Section(("words",), _WORDS_OF_THREE),
        Section(("lemmas",), ("a.lemma c.lemma", "b.lemma c.lemma")),
        Section(
            ("morphology",),
            ("b.morphology c.morphology", "a.morphology c.morphology", "a.fine b.morphology c.morphology*"),
        ),
    ),
)

OF_FOUR = HashedTemplates(
    kind="triple",
    views=(
        View("abcd", QUADRUPLE, star="abcd"),
        View("cd", OF_CD),
        View("bd", OF_BD),
        View("ad", OF_AD),
    ),
    always="cd",
    sections=(
        Section(("tags",), ("a.fine b.fine c.fine d.fine*", "c.fine d.fine", "b.fine d.fine", "a.fine d.fine")),
        Section(("coarse",), ("a.coarse b.coarse c.coarse d.coarse*",)),
        Section(
            ("words",),
            (
                "a.word b.coarse c.coarse d.coarse*",
                "a.coarse b.word c.coarse d.coarse*",
                "a.coarse b.coarse c.coarse* d.word",
                "c.word d.word",
                "b.word d.word",
                "a.word d.word",
            ),
        ),
        Section(("morphology",), ("a.coarse b.coarse c.morphology d.morphology*",)),
    ),
)
