"""The page about a sentence; whatever stands in a treebank is only shown."""

import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from drawn import Elements, trees
from hypothesis import given
from hypothesis import strategies as st

from treebp.data.sentence import Sentence
from treebp.drawing.inspect_page import inspect_page
from treebp.drawing.writing import text_width
from treebp.parsing.arcs import Arcs
from treebp.parsing.inspection import Inspection
from treebp.parsing.parse import Parse

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    "&amp;",
    "]]>",
    "<!--",
    "</style>",
    "$title",
    "{0}",
    "a\x00\x1b\x85z",
    "\u202eabc",
]
SVG = "{http://www.w3.org/2000/svg}"


def inspected(
    forms: list[str],
    heads: list[int],
    *,
    gold: list[int] | None = None,
    gold_labels: list[str] | None = None,
    labels: list[str] | None = None,
    iterations: int = 3,
    pruned: list[tuple[int, int]] | None = None,
    seed: int = 0,
) -> Inspection:
    """A made-up parse in which all heads but those pruned are possible."""
    n = len(forms)
    keep = ~np.eye(n + 1, dtype=np.bool_)
    keep[:, 0] = False
    for arc in pruned or []:
        keep[arc] = False
    arcs = Arcs.of(keep)
    history = np.random.default_rng(seed).random((max(iterations, 1), len(arcs.heads)))
    for row in history:
        row /= np.add.reduceat(row, arcs.starts[:-1])[arcs.modifiers - 1]
    sentence = Sentence(
        *(forms, forms, forms, forms, forms, gold or [-1] * n, gold_labels or ["_"] * n, ""), source="f.conllu"
    )
    parse = Parse(
        sentence=sentence,
        heads=np.array(heads),
        labels=labels or ["dep"] * n,
        arcs=arcs,
        beliefs=history[-1],
        label_names=["dep"],
        label_probabilities=np.ones((n, 1)),
        alternatives=[],
        factors={"sibling": 2, "grandparent": 4} if iterations else {},
        residual=0.1,
        tag_probabilities=np.ones(n),
        lemma_probabilities=np.ones(n),
    )
    return Inspection(parse, history[:iterations], projective=True, single_root=True)


def body_of(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text[text.index("<body>") : text.index("</body>") + len("</body>")])


def tree_of(text: str) -> ElementTree.Element:
    return next(svg for svg in body_of(text).iter(f"{SVG}svg") if svg.get("class") == "tree" and svg.get("role"))


def of_class(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [child for child in element.iter() if child.get("class") == name]


def rows_of(text: str) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in body_of(text).iter("tr")]


def test_the_page_shows_the_tree_its_rivals_and_the_gold_standard() -> None:
    inspection = inspected(
        ["A", "B", "C", "D", "E"],
        [2, 0, 2, 3, 2],
        labels=["det", "root", "obj", "mod", "punct"],
        gold=[2, 0, 2, 2, -1],
        gold_labels=["det", "root", "iobj", "obl", "_"],
    )
    text = inspect_page(inspection, number=7, model="en.model")
    words = of_class(tree_of(text), "word")
    assert [word.get("tabindex") for word in words] == ["0"] * 5
    arcs = ["".join(group.itertext()) for word in words for group in of_class(word, "chosen")]
    assert arcs == ["det", "root", "≈ obj", "✗ mod", "punct"]
    kinds = [group[0].get("class") for word in words for group in of_class(word, "chosen")]
    assert kinds == ["right", "right", "right", "wrong", "unknown"]
    (missed,) = of_class(tree_of(text), "missed")
    gold_belief = dict(inspection.candidates(4))[2]
    assert "".join(missed.itertext()) == f"obl {gold_belief:.2f}"
    for word, drawn in enumerate(words, start=1):
        (heads,) = of_class(drawn, "heads")
        shown = sorted(re.findall(r"\d\.\d\d", " ".join(heads.itertext())))
        assert shown == sorted(f"{belief:.2f}" for _, belief in inspection.candidates(word))
    header, *rows = rows_of(text)
    assert header == ["#", "word", "tag", "head", "label", "belief", "gold", "other heads"]
    assert [row[6] for row in rows] == ["✓", "✓", "≈ iobj", "✗ 2 B obl", ""]
    assert [row[3] for row in rows] == ["2 B", "root", "2 B", "3 C", "2 B"]
    facts = {
        "".join(div[0].itertext()): "".join(div[1].itertext()) for div in body_of(text).iter("div") if len(div) == 2
    }
    assert facts["right heads"] == "3 of 42 with their label"
    assert facts["factors on several arcs"] == "62 sibling, 4 grandparent"
    assert facts["iterations"] == "3not converged, last change 0.100"
    assert facts["tree factor"] == "projectiveone root word"


def test_thickness_and_opacity_grow_with_belief() -> None:
    inspection = inspected(["A", "B", "C"], [0, 1, 1])
    lines = [
        of_class(group, "line")[0]
        for group in of_class(tree_of(inspect_page(inspection, number=1, model="m")), "chosen")
    ]
    order = np.argsort(inspection.parse.head_probabilities)
    for measure in ("stroke-width", "stroke-opacity"):
        values = [float(lines[word].attrib[measure]) for word in order]
        assert values == sorted(set(values))


def test_a_gold_head_that_was_pruned_is_drawn_as_such() -> None:
    inspection = inspected(["A", "B", "C"], [0, 1, 1], gold=[0, 1, 2], gold_labels=["x"] * 3, pruned=[(2, 3)])
    (missed,) = of_class(tree_of(inspect_page(inspection, number=1, model="m")), "missed")
    assert "".join(missed.itertext()) == "x pruned"


def test_without_gold_nothing_is_compared() -> None:
    text = inspect_page(inspected(["A", "B"], [2, 0]), number=1, model="m")
    assert "gold" not in "".join(body_of(text).itertext())
    assert rows_of(text)[0] == ["#", "word", "tag", "head", "label", "belief", "other heads"]


@pytest.mark.parametrize("gold", [[3, 4, 0, 3], [0, 0, 0, 0]], ids=["crossing", "all roots"])
def test_any_gold_tree_can_be_drawn(gold: list[int]) -> None:
    text = inspect_page(inspected(list("ABCD"), [2, 0, 2, 3], gold=gold), number=1, model="m")
    wrong = sum(head != right for head, right in zip([2, 0, 2, 3], gold, strict=True))
    assert len(of_class(tree_of(text), "missed")) == wrong


def test_exact_inference_and_a_single_iteration_have_a_sentence_for_a_plot() -> None:
    exact = inspect_page(inspected(["A", "B"], [2, 0], iterations=0), number=1, model="m")
    assert "no iterations" in exact
    single = inspect_page(inspected(["A", "B"], [2, 0], iterations=1), number=1, model="m")
    assert "single iteration" in single
    assert "<polyline" not in exact + single


@pytest.mark.parametrize("iterations", [2, 3, 100])
def test_the_plot_has_a_line_per_word_and_names_those_that_moved_most(iterations: int) -> None:
    inspection = inspected([f"w{k}" for k in range(9)], [0, *range(1, 9)], iterations=iterations)
    text = inspect_page(inspection, number=1, model="m")
    plot = next(svg for svg in body_of(text).iter(f"{SVG}svg") if svg.get("class") == "plot")
    assert len(list(plot.iter(f"{SVG}polyline"))) == 9
    moved = np.ptp(inspection.head_history, axis=0)
    names = {f"{word + 1} w{word}" for word in np.argsort(-moved)[:4]}
    shown = {element.text for element in plot.iter(f"{SVG}text")}
    assert {name for name in shown if name and " w" in name} == names
    assert len(shown) < 40


def test_hostile_tokens_are_shown_and_never_markup() -> None:
    plain = inspect_page(inspected(list("ABCDEFGHIJK"), [0, *range(1, 11)]), number=1, model="m")
    inspection = inspected(
        HOSTILE, [0, *range(1, 11)], gold=[0, 1, *range(1, 10)], gold_labels=HOSTILE, labels=HOSTILE[::-1]
    )
    text = inspect_page(inspection, number=1, model="<b>.model")
    seen, usual = Elements(text), Elements(plain)
    assert seen.elements == usual.elements
    assert seen.attributes == usual.attributes
    assert not seen.elements & {"script", "img", "b", "a", "link", "iframe"}
    body_of(text)
    sentence = next(paragraph for paragraph in body_of(text).iter("p") if paragraph.get("class") == "sentence")
    assert ["".join(word.itertext()) for word in sentence] == [
        "".join("\ufffd" if unicodedata.category(c) == "Cc" else c for c in form) for form in HOSTILE
    ]
    assert all(row[6][:1] in "✓✗≈" for row in rows_of(text)[1:])


def test_the_page_needs_nothing_else_and_runs_nothing() -> None:
    text = inspect_page(inspected(["A", "B"], [2, 0], gold=[2, 0]), number=1, model="m")
    assert "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"" in text
    assert not re.search(r"(?:src|href)=|@import|url\(|<script|http://(?!www\.w3\.org/2000/svg)|https://", text)
    assert "color-scheme: light dark" in text
    assert "prefers-color-scheme: dark" in text
    assert ".tree .word:is(:hover, :focus) .heads { visibility: visible }" in text


def test_right_to_left_text_is_drawn_from_the_right() -> None:
    heads = [2, 0, 2]
    for forms, direction in ((["ולד", "אכל", "."], "rtl"), (["شجرة", "كبيرة", "x"], "rtl"), (["a", "b", "ג"], "ltr")):
        text = inspect_page(inspected(forms, heads), number=1, model="m")
        places = [float(element.attrib["x"]) for element in of_class(tree_of(text), "form")]
        assert places == sorted(places, reverse=direction == "rtl")
        scroll = next(div for div in body_of(text).iter("div") if div.get("class") == "scroll")
        assert scroll.get("dir") == direction
        sentence = next(paragraph for paragraph in body_of(text).iter("p") if paragraph.get("class") == "sentence")
        assert sentence.get("dir") == direction


@given(trees(most=30), st.booleans(), st.integers(0, 3))
def test_everything_stays_in_the_picture_and_words_do_not_touch(heads: list[int], arabic: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    letter = "ش" if arabic else "木"
    forms = [letter * int(rng.integers(1, 60)) for _ in heads]
    gold = [0 if word == len(heads) or rng.random() < 0.3 else word + 1 for word in range(1, len(heads) + 1)]
    svg = tree_of(inspect_page(inspected(forms, heads, gold=gold, seed=seed), number=1, model="m"))
    width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
    boxes = sorted(
        (float(box.attrib["x"]), float(box.attrib["x"]) + float(box.attrib["width"])) for box in of_class(svg, "back")
    )
    assert boxes[0][0] >= 0
    assert boxes[-1][1] <= width
    assert all(left[1] < right[0] for left, right in pairwise(boxes))
    for label in of_class(svg, "label"):
        half = 11 * text_width(label.text or "") / 2
        assert half - 1 <= float(label.attrib["x"]) <= width + 1 - half
        assert 8 <= float(label.attrib["y"]) <= height
    for line in of_class(svg, "line"):
        assert min(map(float, re.findall(r"-?\d+\.\d", line.attrib["d"]))) >= 0


def test_long_sentences_grow_wide_rather_than_high() -> None:
    rng = np.random.default_rng(1)
    heads = [0, *(int(rng.integers(max(1, word - 6), word)) for word in range(2, 81))]
    svg = tree_of(inspect_page(inspected(["word"] * 80, heads), number=1, model="m"))
    assert float(svg.attrib["height"]) < 1000
    assert len(of_class(svg, "word")) == 80
    chain = tree_of(inspect_page(inspected(["word"] * 40, [*range(2, 41), 0]), number=1, model="m"))
    assert float(chain.attrib["height"]) < 300
