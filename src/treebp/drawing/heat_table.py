"""A table of numbers as SVG, its differences coloured as in the paper: blue for better, red for worse."""

from collections.abc import Sequence
from dataclasses import dataclass

from treebp.drawing.markup import as_text, svg_opening

_ROW, _FIRST, _COLUMN, _LETTER = 24, 170, 78, 7.5
_STYLE = """
.heat text { font: 13px system-ui, sans-serif; fill: #222 } .heat .head { font-weight: bold }
.heat .better { fill: #2166ac } .heat .worse { fill: #b2182b } .heat .rule { stroke: #8888 }
@media (prefers-color-scheme: dark) { .heat text { fill: #ddd } }
"""


@dataclass(frozen=True)
class Shade:
    """A cell of the table: its text and, for a difference, the number that its colour shows."""

    text: str
    difference: float | None = None


def heat_table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Shade]]], *, title: str, full: float) -> str:
    """Draw a table with a head row and named rows; a difference of ``full`` or more has the strongest colour.

    Example:
        >>> svg = heat_table(["CLL", "L2−CLL"], [("da", [Shade("87.15"), Shade("+0.40", 0.4)])], title="UAS", full=1)
        >>> svg.count("<rect"), 'class="better" fill-opacity="0.20"' in svg
        (1, True)

    """
    edges = [_FIRST]
    for head in heads:
        edges.append(edges[-1] + max(_COLUMN, round(_LETTER * len(head)) + 16))
    width, height = edges[-1], _ROW * (len(rows) + 2)
    parts = [
        svg_opening("heat", f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"', title, _STYLE),
        f'<text class="head" x="4" y="17">{as_text(title)}</text>',
        f'<path class="rule" d="M0 {2 * _ROW}H{width}"/>',
    ]
    for column, head in enumerate(heads):
        parts.append(_text(edges[column + 1], 1, head, 'class="head"'))
    for number, (name, cells) in enumerate(rows, 2):
        parts.append(f'<text x="4" y="{_ROW * number + 17}">{as_text(name)}</text>')
        for column, cell in enumerate(cells):
            if cell.difference:
                better = "better" if cell.difference > 0 else "worse"
                # At half strength at most, so that the text can still be read.
                strength = 0.5 * min(1.0, abs(cell.difference) / full)
                parts.append(
                    f'<rect x="{edges[column]}" y="{_ROW * number + 1}" width="{edges[column + 1] - edges[column]}" '
                    f'height="{_ROW - 2}" class="{better}" fill-opacity="{strength:.2f}"/>'
                )
            parts.append(_text(edges[column + 1], number, cell.text))
    return "\n".join([*parts, "</svg>\n"])


def _text(edge: int, row: int, text: str, extra: str = "") -> str:
    """A text that ends at the right edge of its column."""
    return f'<text x="{edge - 8}" y="{_ROW * row + 17}" text-anchor="end" {extra}>{as_text(text)}</text>'
