"""Line plots as SVG."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain

from treebp.drawing.markup import as_text, svg_opening, svg_text

_WIDTH, _HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 470, 28, 265
# Okabe and Ito: told apart by all readers.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c6d00", "#7f7f7f")
_NAMED_POINTS = 15
_STYLE = """
.plot text { font: 13px system-ui, sans-serif; fill: #222 } .plot .title { font-weight: bold }
.plot .grid { stroke: #8884 } .plot .muted { stroke: #8888; stroke-width: 1.2 }
@media (prefers-color-scheme: dark) { .plot text { fill: #ddd } }
"""


def line_plot(
    points: Sequence[object],
    series: Mapping[str, Sequence[float | None]],
    *,
    across: str,
    up: str,
    title: str = "",
    ranges: Mapping[str, Sequence[tuple[float, float] | None]] | None = None,
    muted: Mapping[str, Sequence[float]] | None = None,
    within: tuple[float, ...] = (),
) -> str:
    """Draw series of numbers over the same points, which stand at equal distances. Both axes have a title.

    Each series bears its name, but for those that are ``muted``: they stay in the background. None leaves a gap;
    ``ranges`` are drawn as bars through the points of the series of that name. The upward axis covers all of these
    values, and those of ``within``.

    Example:
        >>> svg = line_plot([1, 2, 4], {"CLL": [88.0, 88.5, 88.4], "L2": [89.0, None, 89.7]}, across="n", up="UAS")
        >>> svg.count("<polyline"), svg.count("<circle")
        (2, 5)

    """
    ranges, muted = ranges or {}, muted or {}
    ends = [end for spans in ranges.values() for span in spans if span for end in span]
    lines = chain(series.values(), muted.values(), [ends, within])
    values = [value for line in lines for value in line if value is not None]
    step = _tick_step(max(values) - min(values))
    low, high = math.floor(min(values) / step), math.ceil(max(values) / step)
    high = max(high, low + 1)

    def x(index: int) -> float:
        return _LEFT + 30 + index * (_RIGHT - _LEFT - 60) / max(1, len(points) - 1)

    def y(value: float) -> float:
        return _BOTTOM - (value / step - low) / (high - low) * (_BOTTOM - _TOP)

    parts = [
        svg_opening("plot", _size(_HEIGHT), f"{up} against {across}", _STYLE),
        svg_text((_LEFT + _RIGHT) / 2, _TOP - 12, title, "middle", 'class="title"'),
        svg_text((_LEFT + _RIGHT) / 2, _BOTTOM + 45, across, "middle"),
        svg_text(0, 0, up, "middle", f'transform="translate(16 {(_TOP + _BOTTOM) / 2}) rotate(-90)"'),
    ]
    for tick in range(low, high + 1):
        height = y(tick * step)
        parts.append(f'<path class="grid" d="M{_LEFT} {height:.1f}H{_RIGHT}"/>')
        parts.append(svg_text(_LEFT - 8, height + 4, f"{tick * step:g}", "end"))
    for index in range(0, len(points), math.ceil(len(points) / _NAMED_POINTS)):
        parts.append(svg_text(x(index), _BOTTOM + 22, str(points[index]), "middle"))
    for name, background in muted.items():
        corners = " ".join(f"{x(index):.1f},{y(value):.1f}" for index, value in enumerate(background))
        hover = f"<title>{as_text(name)}</title>"
        parts.append(f'<polyline class="muted" points="{corners}" fill="none">{hover}</polyline>')
    last: dict[str, tuple[float, float, str]] = {}
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        # Bars of different series at the same point stand beside each other.
        beside = 3.0 * (number - (len(series) - 1) / 2) if name in ranges else 0.0
        present = [(index, value) for index, value in enumerate(line) if value is not None]
        places = [(x(index) + beside, y(value)) for index, value in present]
        corners = " ".join(f"{right:.1f},{down:.1f}" for right, down in places)
        parts.append(f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for (index, value), (right, down) in zip(present, places, strict=True):
            hover = as_text(f"{name}: {value:.2f}")
            if name in ranges and (span := ranges[name][index]):
                hover += f" ({span[0]:.2f} to {span[1]:.2f})"
                ends_at = f"{y(span[0]):.1f}V{y(span[1]):.1f}"
                parts.append(f'<path d="M{right:.1f} {ends_at}" stroke="{colour}" stroke-width="1.5"/>')
            circle = f'<circle cx="{right:.1f}" cy="{down:.1f}" r="4.5" fill="{colour}">'
            parts.append(f"{circle}<title>{hover}</title></circle>")
            last[name] = right, down, colour
    height = 0.0
    for name, (right, down, colour) in sorted(last.items(), key=lambda item: item[1][1]):
        height = max(down + 4, height + 16)  # names of lines that end close together do not overlap
        parts.append(svg_text(right + 12, height, name, "start", f'style="fill: {colour}"'))
    return "\n".join([*parts, "</svg>\n"])


def stacked(plots: Sequence[str]) -> str:
    """Put line plots below each other in one picture.

    Example:
        >>> one = line_plot([1, 2], {"a": [0.0, 1.0]}, across="n", up="UAS")
        >>> stacked([one]) == one, stacked([one, one]).count("<polyline")
        (True, 2)

    """
    if len(plots) == 1:
        return plots[0]
    height = _HEIGHT * len(plots)
    inner = "".join(plot.replace("<svg ", f'<svg y="{_HEIGHT * number}" ', 1) for number, plot in enumerate(plots))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {_size(height)}>\n{inner}</svg>\n'


def _size(height: int) -> str:
    return f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, so that about five ticks cover the span."""
    rough = max(span, 1e-6) / 5
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
