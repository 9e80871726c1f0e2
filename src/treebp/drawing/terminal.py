"""Dependency trees in a terminal: a word per line, arcs as lines to its left."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from treebp.parsing.parse import Parse

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_BOX = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"  # by the directions in which a cell's lines leave it


def tree_text(parse: Parse) -> str:
    """A parsed sentence with its arcs, the probability of each head, and the right head where another was found."""
    table = Table.grid(
        *(Column(justify=side) for side in ("left", "left", "left", "left", "right", "left")), padding=(0, 1)
    )
    gold = parse.sentence.heads
    for number, arcs in enumerate(draw_arcs(parse.heads.tolist())):
        head = gold[number]
        right = head in (-1, parse.heads[number])
        table.add_row(
            arcs,
            Text(parse.sentence.forms[number]),
            Text(parse.sentence.fine_tags[number]),
            Text(parse.labels[number]),
            f"{parse.head_probabilities[number]:.2f}",
            Text("" if right else f"should be below {parse.sentence.forms[head - 1] if head else 'the root'}"),
        )
    console = Console(width=120, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def draw_arcs(heads: Sequence[int]) -> list[str]:
    """The arcs of a tree as one string per word, all of the same width; an arrow points to each modifier.

    Short arcs are drawn close to the words. Arcs share a column where they do not meet, or meet in a common head.

    Example:
        >>> for arcs, word in zip(draw_arcs([2, 3, 0, 3]), ["The", "cat", "sleeps", "."]):
        ...     print(arcs, word)
          ╭─▶ The
        ╭─┴─▶ cat
        ╰─┬── sleeps
          ╰─▶ .

    """
    arcs = sorted(
        ((head, modifier) for modifier, head in enumerate(heads, start=1) if head > 0),
        key=lambda arc: abs(arc[0] - arc[1]),
    )
    levels: dict[tuple[int, int], int] = {}
    for arc in arcs:
        levels[arc] = 1 + max((level for other, level in levels.items() if _in_the_way(arc, other)), default=0)
    width = 2 * max(levels.values(), default=0)
    cells = [[0] * width for _ in heads]
    for arc, level in levels.items():
        column = width - 2 * level
        top, bottom = min(arc) - 1, max(arc) - 1
        for row in range(top, bottom + 1):
            cells[row][column] |= (_UP if row > top else 0) | (_DOWN if row < bottom else 0)
        for row in (top, bottom):
            cells[row][column] |= _RIGHT
            for crossed in range(column + 1, width):
                cells[row][crossed] |= _LEFT | _RIGHT
    rows = ["".join(_BOX[cell] for cell in row) for row in cells]
    return [row + ("▶" if head > 0 else row[-1:]) for row, head in zip(rows, heads, strict=True)]


def _in_the_way(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two arcs side by side in one column would be taken for something else."""
    if one[0] == other[0]:
        return (one[0] < one[1]) == (other[0] < other[1])
    return min(one) <= max(other) and min(other) <= max(one)
