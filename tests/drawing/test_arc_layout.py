from itertools import combinations

from drawn import trees
from hypothesis import given

from treebp.drawing.arc_layout import levels, ports


@given(trees())
def test_arcs_on_the_same_level_do_not_overlap_and_meet_words_at_places_of_their_own(heads: list[int]) -> None:
    arcs = [(head, modifier) for modifier, head in enumerate(heads, start=1)]
    found = levels(arcs)
    for (one, low), (other, high) in combinations(zip(arcs, found, strict=True), 2):
        if 0 not in (one[0], other[0]) and low == high:
            assert max(one) <= min(other) or max(other) <= min(one)
    roots = {level for (head, _), level in zip(arcs, found, strict=True) if head == 0}
    assert roots == {max(found)}
    ends = [
        (word, place)
        for arc, places in zip(arcs, ports(arcs), strict=True)
        for word, place in zip(arc, places, strict=True)
        if word
    ]
    assert len(set(ends)) == len(ends)
