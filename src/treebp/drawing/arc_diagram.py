"""A parsed sentence as SVG: its tree above the words, and below them the arcs that might have been."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treebp.drawing.arc_layout import levels, ports
from treebp.drawing.markup import as_text
from treebp.drawing.writing import shortened, text_width
from treebp.parsing.inspection import Inspection

STYLE = """\
.tree { font-family: system-ui, sans-serif; color: var(--ink); display: block }
.tree text { text-anchor: middle; fill: currentColor }
.tree .form { font-size: 15px }
.tree .tag { font-size: 11px; fill: var(--soft) }
.tree .label { font-size: 11px; direction: ltr; paint-order: stroke; stroke: var(--paper); stroke-width: 8px;
  stroke-linejoin: round }
.tree .line { fill: none; stroke: currentColor }
.tree .point { fill: currentColor }
.tree .back { fill: transparent }
.tree .right { color: var(--blue) }
.tree .wrong { color: var(--red) }
.tree .gold { color: var(--green) }
.tree .other { color: var(--soft) }
.tree .wrong .line { stroke-dasharray: 7 4 }
.tree .gold .line { stroke-dasharray: 2 3; stroke-opacity: 0.9 }
.tree .word { outline: none; cursor: default }
.tree .heads { visibility: hidden }
.tree .word:is(:hover, :focus) .heads { visibility: visible }
.tree:has(.word:is(:hover, :focus)) .missed { visibility: hidden }
.tree .word:is(:hover, :focus) .back { fill: var(--tint) }
.tree .word:focus-visible .back { stroke: currentColor }
.tree:has(.word:hover) .word:focus:not(:hover) .heads { visibility: hidden }
.tree:has(.word:is(:hover, :focus)) .word:not(:hover, :focus) .chosen { opacity: 0.15 }
"""

_FORM, _LABEL = 15, 11  # font sizes
_WIDEST = 14.0  # a longer word is cut, in units of its font size
_MARGIN, _GAP, _PORT, _ROOM = 28, 16, 8, 18  # around all, between words, between arcs at a word, beside a label
_WORD_HEIGHT = 46
_LABEL_AT = 120  # no label is farther than this from its arc's point
_RIVALS, _LEAST = 5, 0.01  # at most so many other heads are drawn, and none with less belief


@dataclass(frozen=True)
class _Arc:
    head: int
    modifier: int
    belief: float
    label: str
    kind: str


_Placed = tuple[_Arc, float, float]  # with its ports at head and modifier


@dataclass(frozen=True)
class _Side:
    """One side of the words: the y where arcs meet them, the way out (-1 is up), and the distance between levels."""

    base: float
    way: int
    step: float


def arc_diagram(inspection: Inspection, *, right_to_left: bool) -> str:
    """Draw the tree, thick arcs where belief is high, with gold arcs that were missed below the words.

    To point at a word, or to give it the keyboard's focus, shows all heads that it might have instead.
    """
    sentence = inspection.parse.sentence
    words = range(1, len(sentence) + 1)
    forms = [shortened(form, _WIDEST) for form in sentence.forms]
    chosen = [_chosen(inspection, word) for word in words]
    possible = [_possible(inspection, word) for word in words]
    missed = [arc for arcs in possible for arc in arcs if arc.kind == "gold"]

    together = [chosen, missed, *possible]
    height_above, *heights_below = (max(levels(_ends(arcs)), default=0) for arcs in together)
    above, below = _step(height_above), _step(max(heights_below))
    base = 20 + height_above * above
    up, down = _Side(base, -1, above), _Side(base + _WORD_HEIGHT, 1, below)
    height = down.base + max(heights_below) * below + 20

    placed = [(arc, *places) for arcs in together for arc, places in zip(arcs, ports(_ends(arcs)), strict=True)]
    widths = _widths(forms, inspection.tags, placed)
    centres = _centres(widths, placed)
    width = centres[-1] + widths[-1] / 2 + _MARGIN
    if right_to_left:
        centres = [width - x for x in centres]
    sign = -1 if right_to_left else 1

    tree = _drawn(chosen, centres, sign, up)
    wanted = dict(zip((arc.modifier for arc in missed), _drawn(missed, centres, sign, down), strict=True))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree" width="{width:.0f}" height="{height:.0f}" role="group" '
        'aria-label="dependency tree">'
    ]
    for word, x, size, form in zip(words, centres, widths, forms, strict=True):
        parts += [
            f'<g class="word" tabindex="0" role="img"><title>{as_text(_summary(inspection, word))}</title>',
            f'<rect class="back" x="{x - size / 2 - 5:.1f}" y="{base + 3:.1f}" width="{size + 10:.1f}" '
            f'height="{_WORD_HEIGHT - 6}" rx="5"/>',
            f'<text class="form" x="{x:.1f}" y="{base + 21:.1f}">{as_text(form)}</text>',
            f'<text class="tag" x="{x:.1f}" y="{base + 37:.1f}">{as_text(inspection.tags[word - 1])}</text>',
            f'<g class="chosen">{tree[word - 1]}</g>',
            f'<g class="missed">{wanted[word]}</g>' if word in wanted else "",
            f'<g class="heads">{"".join(_drawn(possible[word - 1], centres, sign, down))}</g>',
            "</g>",
        ]
    return "\n".join([*parts, "</svg>\n"])


def _chosen(inspection: Inspection, word: int) -> _Arc:
    parse, verdict = inspection.parse, inspection.verdicts[word - 1]
    label = shown_label(parse.labels[word - 1])
    mark, kind = {
        "right": ("", "right"),
        "other label": ("≈ ", "right"),
        "wrong": ("✗ ", "wrong"),
        "unknown": ("", "unknown"),
    }[verdict]
    return _Arc(int(parse.heads[word - 1]), word, float(parse.head_probabilities[word - 1]), mark + label, kind)


def _possible(inspection: Inspection, word: int) -> list[_Arc]:
    """The arcs to a word that are worth showing: chosen, gold, and the most probable others."""
    sentence = inspection.parse.sentence
    chosen, gold = _chosen(inspection, word), sentence.heads[word - 1]
    candidates = dict(inspection.candidates(word))
    arcs = [_Arc(chosen.head, word, chosen.belief, f"{chosen.belief:.2f}", chosen.kind)]
    if chosen.kind == "wrong":
        belief = f"{candidates[gold]:.2f}" if gold in candidates else "pruned"
        label = f"{shown_label(sentence.labels[word - 1])} {belief}".strip()
        arcs.append(_Arc(gold, word, candidates.get(gold, 0.0), label, "gold"))
    rivals = [head for head in candidates if head not in (chosen.head, gold) and candidates[head] >= _LEAST]
    return arcs + [_Arc(head, word, candidates[head], f"{candidates[head]:.2f}", "other") for head in rivals[:_RIVALS]]


def shown_label(label: str) -> str:
    """A label as it is shown: nothing where there is none."""
    return "" if label == "_" else label


def _summary(inspection: Inspection, word: int) -> str:
    forms = inspection.parse.sentence.forms
    heads = (
        f"{belief:.2f} {forms[head - 1] if head else 'root'}"
        for head, belief in inspection.candidates(word)
        if belief >= _LEAST
    )
    return f"{word} {forms[word - 1]}, heads: " + ", ".join(heads)


def _ends(arcs: Iterable[_Arc]) -> list[tuple[int, int]]:
    return [(arc.head, arc.modifier) for arc in arcs]


def _step(height: int) -> float:
    """The distance between levels, smaller where there are many, but never too small for labels."""
    return min(24.0, max(15.0, 300.0 / max(height, 1)))


def _widths(forms: Sequence[str], tags: Sequence[str], placed: Iterable[_Placed]) -> list[float]:
    """Room for each word's form, tag, arcs, and the label of an arc from the root."""
    widths = [max(_FORM * text_width(form), _LABEL * text_width(tag)) for form, tag in zip(forms, tags, strict=True)]
    for arc, at_head, at_modifier in placed:
        needed = {arc.modifier: 2 * _PORT * abs(at_modifier)}
        needed[arc.head or arc.modifier] = 2 * _PORT * abs(at_head) if arc.head else _LABEL * text_width(arc.label)
        for word, width in needed.items():
            widths[word - 1] = max(widths[word - 1], width)
    return widths


def _centres(widths: Sequence[float], placed: Iterable[_Placed]) -> list[float]:
    """The x of each word's middle, with room for the words and for the labels of all arcs."""
    ending: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for arc, at_head, at_modifier in placed:
        if arc.head:
            (left, at_left), (right, at_right) = sorted(((arc.head, at_head), (arc.modifier, at_modifier)))
            ending[right].append((left, _LABEL * text_width(arc.label) + _ROOM + _PORT * (at_left - at_right)))
    centres = [_MARGIN + widths[0] / 2]
    for word in range(2, len(widths) + 1):
        beside = centres[-1] + (widths[word - 2] + widths[word - 1]) / 2 + _GAP
        centres.append(max([beside, *(centres[left - 1] + room for left, room in ending[word])]))
    return centres


def _drawn(arcs: Sequence[_Arc], centres: Sequence[float], sign: int, side: _Side) -> list[str]:
    """Each arc with its point and label, laid out so that none runs over another."""
    ends = _ends(arcs)
    drawn = []
    for arc, level, (at_head, at_modifier) in zip(arcs, levels(ends), ports(ends), strict=True):
        end = centres[arc.modifier - 1] + sign * _PORT * at_modifier
        far, tip = side.base + side.way * side.step * level, side.base + side.way * 9
        if arc.head:
            start = centres[arc.head - 1] + sign * _PORT * at_head
            corner = min(7.0, abs(end - start) / 2)
            across, turn = math.copysign(corner, end - start), far - side.way * corner
            path = (
                f"M{start:.1f} {side.base:.1f}V{turn:.1f}Q{start:.1f} {far:.1f} {start + across:.1f} {far:.1f}"
                f"H{end - across:.1f}Q{end:.1f} {far:.1f} {end:.1f} {turn:.1f}V{tip:.1f}"
            )
            # Of a long arc only a part may be in sight: that with the point.
            middle = end + max(-_LABEL_AT, min(_LABEL_AT, (start - end) / 2))
        else:
            path, middle = f"M{end:.1f} {far:.1f}V{tip:.1f}", end
        drawn.append(
            f'<g class="{arc.kind}">{belief_line(path, arc.belief)}'
            f'<path class="point" d="M{end - 4:.1f} {tip:.1f}h8l-4 {-8 * side.way}z"/>'
            f'<text class="label" x="{middle:.1f}" y="{far + 4:.1f}">{as_text(arc.label)}</text></g>'
        )
    return drawn


def belief_line(path: str, belief: float) -> str:
    """A line along a path of SVG, the thicker and darker the stronger the belief."""
    width, opacity = 1 + 2.5 * belief, 0.45 + 0.55 * belief
    return f'<path class="line" d="{path}" stroke-width="{width:.2f}" stroke-opacity="{opacity:.2f}"/>'
