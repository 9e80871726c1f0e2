"""The head rules of Yamada and Matsumoto (2003): which child of a constituent is its head.

A rule names the side from which the children are searched and a list of labels in order of preference; a group of
labels joined by `|` counts as one. When no listed label is among the children, the first child from that side which
is not punctuation is the head. `treebp.data.penn` says how the result compares with a published conversion.
"""

from collections.abc import Sequence
from typing import NamedTuple

PUNCTUATION_TAGS = frozenset({"``", "''", ":", ",", ".", "-LRB-", "-RRB-"})


class HeadRule(NamedTuple):
    """Where the search for the head child starts, and the groups of labels to look for, best first."""

    from_left: bool
    preferences: tuple[frozenset[str], ...]


def _left(preferences: str = "") -> HeadRule:
    return HeadRule(True, tuple(frozenset(group.split("|")) for group in preferences.split()))


def _right(preferences: str = "") -> HeadRule:
    return HeadRule(False, _left(preferences).preferences)


_NOMINAL = _right("POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP")
_DEFAULT = _right()

HEAD_RULES: dict[str, HeadRule] = {
    "ADJP": _right("NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": _left("RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": _left("CC RB IN"),
    "FRAG": _left(),
    "LST": _left("LS :"),
    "NAC": _right("NN|NNS|NNP|NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "NP": _NOMINAL,
    "NX": _NOMINAL,
    "PP": _left("IN TO VBG VBN RP FW"),
    "PRT": _left("RP"),
    "QP": _right("$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": _left("VP NP ADVP ADJP PP"),
    "S": _right("TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": _right("WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": _right("SQ S SINV SBARQ FRAG"),
    "SINV": _right("VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": _right("VBZ VBD VBP VB MD VP SQ"),
    "UCP": _left(),
    "VP": _left("VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": _right("CC WRB JJ ADJP"),
    "WHADVP": _left("CC WRB"),
    "WHNP": _right("WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": _left("IN TO FW"),
}


def head_child(label: str, children: Sequence[str]) -> int:
    """Position of the head among a constituent's children, given their labels without function tags.

    Args:
        label: the constituent's own label; one without a rule takes its last child that is not punctuation.
        children: labels of the children, left to right, at least one.

    Example:
        >>> head_child("S", ["NP", "VP", "."])
        1
        >>> head_child("PRN", ["-LRB-", "NP", "-RRB-"])
        1

    """
    from_left, preferences = HEAD_RULES.get(label, _DEFAULT)
    order = range(len(children)) if from_left else range(len(children) - 1, -1, -1)
    for group in preferences:
        for position in order:
            if children[position] in group:
                return position
    return next((position for position in order if children[position] not in PUNCTUATION_TAGS), order[0])
