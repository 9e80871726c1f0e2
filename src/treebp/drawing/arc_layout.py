"""Where the arcs of a diagram go: how high each runs, and where it meets its words."""

from collections import defaultdict
from collections.abc import Sequence

Arc = tuple[int, int]  # head and modifier; words count from 1, the root is 0 and has no place among them


def levels(arcs: Sequence[Arc]) -> list[int]:
    """How many steps from the words each arc runs, from 1, so that no two run along the same stretch.

    Shorter arcs are closer to the words; an arc from the root comes from beyond all others.

    Example:
        >>> levels([(2, 1), (2, 4), (0, 2), (4, 3)])
        [1, 2, 3, 1]

    """
    found: dict[Arc, int] = {}
    for arc in sorted((arc for arc in arcs if arc[0]), key=lambda arc: abs(arc[0] - arc[1])):
        below = (level for other, level in found.items() if min(arc) < max(other) and min(other) < max(arc))
        found[arc] = 1 + max(below, default=0)
    beyond = 1 + max(found.values(), default=0)
    return [found.get(arc, beyond) for arc in arcs]


def ports(arcs: Sequence[Arc]) -> list[tuple[float, float]]:
    """How far from the middle of its two words each arc meets them, with 1 between neighbouring arcs.

    Around a word, left to right: shorter arcs to the left, longer ones, the one from the root, longer arcs to the
    right, shorter ones. So arcs of one word do not cross.

    Example:
        >>> ports([(2, 1), (2, 3)])
        [(-0.5, 0.0), (0.5, 0.0)]

    """
    around: dict[int, list[tuple[float, Arc]]] = defaultdict(list)
    for head, modifier in arcs:
        if head:
            around[head].append((1 / (modifier - head), (head, modifier)))
            around[modifier].append((1 / (head - modifier), (head, modifier)))
        else:
            around[modifier].append((0.0, (head, modifier)))
    places = {
        (word, arc): place - (len(ends) - 1) / 2
        for word, ends in around.items()
        for place, (_, arc) in enumerate(sorted(ends))
    }
    return [(places.get((arc[0], arc), 0.0), places[arc[1], arc]) for arc in arcs]
