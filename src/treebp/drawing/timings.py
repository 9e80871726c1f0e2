"""Two pictures of measured times, as SVG: where a sentence's time goes, and how time grows with length."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from treebp.drawing.markup import svg_opening, svg_text

_STYLE = """
.bench text { font: 13px system-ui, sans-serif; fill: #222 }
.bench .grid { stroke: #8884 } .bench .bar { fill: #0072b2 } .bench .whisker { stroke: #d55e00; stroke-width: 1.5 }
.bench .cubic { stroke: #8888; stroke-dasharray: 5 4; fill: none } .bench .line { stroke: #0072b2; fill: none }
@media (prefers-color-scheme: dark) { .bench text { fill: #ddd } }
"""
_WIDTH = 640


class Timing(NamedTuple):
    """What took so long: the median of several times, and their quartiles."""

    name: str
    median: float
    quartiles: tuple[float, float]


def stages_picture(stages: Sequence[Timing]) -> str:
    """A staircase of bars: each stage begins where the one before it ends. Whiskers are quartiles.

    Args:
        stages: microseconds per word, one timing per stage.

    Example:
        >>> svg = stages_picture([Timing("reading", 1.0, (0.9, 1.2)), Timing("<b>", 3.0, (2.9, 3.1))])
        >>> svg.count('class="bar"'), "&lt;b&gt;" in svg, "75 %" in svg
        (2, True, True)

    """
    left, right, row = 120, 520, 26
    total = sum(stage.median for stage in stages) or 1.0
    height = row * len(stages) + 60

    def x(value: float) -> float:
        return left + value / total * (right - left)

    parts = [_opening(f"Where a sentence's time goes: {total:.1f} µs per word", height)]
    parts.append(svg_text(left, 22, f"CPU time per word: {total:.1f} µs"))
    begin = 0.0
    for number, stage in enumerate(stages):
        top = 36 + row * number
        low, high = stage.quartiles
        middle = top + row / 2 - 2
        end = begin + stage.median
        parts += [
            f'<rect class="bar" x="{x(begin):.1f}" y="{top}" width="{x(end) - x(begin):.1f}" height="{row - 6}"/>',
            f'<path class="whisker" d="M{x(begin + low):.1f} {middle}H{min(x(begin + high), _WIDTH):.1f}"/>',
            svg_text(left - 8, top + 15, stage.name, "end"),
            svg_text(right + 10, top + 15, f"{stage.median:.2f} µs, {100 * stage.median / total:.0f} %"),
        ]
        begin = end
    return "\n".join([*parts, "</svg>\n"])


def growth_picture(lengths: Sequence[int], growth: Sequence[Timing], exponent: float) -> str:
    """Time per sentence against its length, both axes logarithmic, beside a dashed line that is cubic.

    Args:
        lengths: words.
        growth: milliseconds, one timing per length.
        exponent: of time as a power of length, for the title.

    Example:
        >>> growth = [Timing(f"{n} words", n**2 / 1000, (n**2 / 1100, n**2 / 900)) for n in (20, 40, 80)]
        >>> "exponent 2.00" in growth_picture([20, 40, 80], growth, exponent=2.0)
        True

    """
    left, right, top, bottom = 80, 520, 40, 320
    times = [one.median for one in growth]
    cubic = [times[-1] * (words / lengths[-1]) ** 3 for words in lengths]
    low, high = math.floor(math.log10(min(*times, *cubic))), math.ceil(math.log10(max(times)))
    high = max(high, low + 1)

    def x(words: float) -> float:
        return left + math.log(words / lengths[0]) / math.log(lengths[-1] / lengths[0]) * (right - left)

    def y(value: float) -> float:
        return bottom - (math.log10(value) - low) / (high - low) * (bottom - top)

    def line(values: Sequence[float], name: str) -> str:
        corners = " ".join(f"{x(words):.1f},{y(value):.1f}" for words, value in zip(lengths, values, strict=True))
        return f'<polyline class="{name}" points="{corners}" stroke-width="2"/>'

    parts = [_opening(f"Parsing time against length: exponent {exponent:.2f}", 370)]
    parts.append(svg_text(left, 22, f"CPU ms per sentence; exponent {exponent:.2f} (dashed: 3)"))
    for power in range(low, high + 1):
        parts.append(f'<path class="grid" d="M{left} {y(10.0**power):.1f}H{right}"/>')
        parts.append(svg_text(left - 8, y(10.0**power) + 4, f"{10.0**power:g}", "end"))
    for words in lengths:
        parts.append(svg_text(x(words), bottom + 20, str(words), "middle"))
    parts.append(svg_text((left + right) / 2, bottom + 42, "words", "middle"))
    parts += [line(cubic, "cubic"), line(times, "line")]
    for words, one in zip(lengths, growth, strict=True):
        quartiles = one.quartiles
        parts.append(f'<path class="whisker" d="M{x(words):.1f} {y(quartiles[0]):.1f}V{y(quartiles[1]):.1f}"/>')
        parts.append(f'<circle class="bar" cx="{x(words):.1f}" cy="{y(one.median):.1f}" r="4.5"/>')
        parts.append(svg_text(x(words), y(one.median) - 12, f"{one.median:.3g}", "middle"))
    return "\n".join([*parts, "</svg>\n"])


def _opening(title: str, height: int) -> str:
    return svg_opening("bench", f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"', title, _STYLE)
