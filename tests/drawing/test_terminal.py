from itertools import pairwise

from drawn import trees
from hypothesis import given

from treebp.drawing.terminal import draw_arcs


@given(trees())
def test_drawn_arcs_are_as_wide_as_each_other_and_point_to_every_modifier(heads: list[int]) -> None:
    rows = draw_arcs(heads)
    assert len(rows) == len(heads)
    assert len(set(map(len, rows))) == 1
    for row, head in zip(rows, heads, strict=True):
        assert row.endswith("▶") == (head > 0)
        # A vertical line that begins or ends here has its horizontal one: no loose ends.
        assert not set(row) & set("╵╷╴╶╮╯")
    # Where a line goes down, one comes from above in the next row.
    down, up = set("│╭├┬┼┤"), set("│╰├┴┼┤")
    for above, below in pairwise(rows):
        assert [mark in down for mark in above] == [mark in up for mark in below]
