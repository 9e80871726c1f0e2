"""A line plot as SVG."""

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 470, 20, 265
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # Okabe and Ito: told apart by all readers
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 } .grid { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } }
"""


def line_plot(points: Sequence[int], series: Mapping[str, Sequence[float]], *, across: str, up: str) -> str:
    """Draw series of numbers over the same points, which stand at equal distances. Both axes have a title.

    Example:
        >>> svg = line_plot([1, 2, 4], {"CLL": [88.0, 88.5, 88.4], "L2": [89.0, 89.5, 89.7]}, across="n", up="UAS")
        >>> svg.count("<polyline")
        2

    """
    values = [value for line in series.values() for value in line]
    step = _tick_step(max(values) - min(values))
    low, high = math.floor(min(values) / step), math.ceil(max(values) / step)
    high = max(high, low + 1)

    def x(index: int) -> float:
        return _LEFT + 30 + index * (_RIGHT - _LEFT - 60) / max(1, len(points) - 1)

    def y(value: float) -> float:
        return _BOTTOM - (value / step - low) / (high - low) * (_BOTTOM - _TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img">',
        f"<title>{escape(up)} against {escape(across)}</title><style>{_STYLE}</style>",
        _text((_LEFT + _RIGHT) / 2, _BOTTOM + 45, across, "middle"),
        _text(0, 0, up, "middle", f'transform="translate(16 {(_TOP + _BOTTOM) / 2}) rotate(-90)"'),
    ]
    for tick in range(low, high + 1):
        height = y(tick * step)
        parts.append(f'<path class="grid" d="M{_LEFT} {height:.1f}H{_RIGHT}"/>')
        parts.append(_text(_LEFT - 8, height + 4, f"{tick * step:g}", "end"))
    for index, point in enumerate(points):
        parts.append(_text(x(index), _BOTTOM + 22, str(point), "middle"))
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(x(index), y(value)) for index, value in enumerate(line)]
        corners = " ".join(f"{across_:.1f},{up_:.1f}" for across_, up_ in places)
        parts.append(f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for (across_, up_), value in zip(places, line, strict=True):
            hover = f"<title>{escape(name)}: {value:.2f}</title>"
            parts.append(f'<circle cx="{across_:.1f}" cy="{up_:.1f}" r="4.5" fill="{colour}">{hover}</circle>')
    height = 0.0
    for name, line in sorted(series.items(), key=lambda item: -item[1][-1]):
        height = max(y(line[-1]) + 4, height + 16)  # names of lines that end close together do not overlap
        parts.append(_text(x(len(line) - 1) + 12, height, name, "start"))
    return "\n".join([*parts, "</svg>\n"])


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, so that about five ticks cover the span."""
    rough = max(span, 1e-6) / 5
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def _text(x: float, y: float, text: str, anchor: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{escape(text)}</text>'
