"""``treebp demo``, made small, and the pictures it draws."""

import re
import shlex
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import SETTINGS
from typer.testing import CliRunner

from treebp.cli import app
from treebp.cli import demo as command  # the function, so that its module can be found
from treebp.cli._demo_page import Row, page
from treebp.cli._tree_drawing import draw_arcs
from treebp.experiments.plot import line_plot
from treebp.parsing.parser import Parser

ROWS = [
    Row(training, iterations, 90.0 + iterations, 80.0, 1.5) for training in ("CLL", "<L2>") for iterations in (1, 2)
]


def test_the_demo_leaves_all_it_names_and_its_next_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(command.__globals__, "SENTENCES", 40)
    monkeypatch.setitem(command.__globals__, "SETTINGS", tuple(f"{key}={value}" for key, value in SETTINGS.items()))
    runner = CliRunner(env={"COLUMNS": "120"})
    result = runner.invoke(app, ["demo", "--output", "treebp-demo", "--seed", "3"])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "treebp-demo"
    assert Parser.load(folder / "demo.model").config.seed == 3
    ElementTree.parse(folder / "accuracy.svg")
    scores = re.findall(r"│ (CLL|L2) +│ +(\d) │ +([\d.]+) │", result.output)
    assert [row[:2] for row in scores] == [(name, n) for name in ("CLL", "L2") for n in "124"]
    text = (folder / "index.html").read_text()
    for _, _, uas in scores:
        assert f"<td>{uas}</td>" in text
    assert "heads are right" in result.output
    assert re.search(r"[├╰╭]─+▶ ", result.output)

    commands = [line.strip() for line in result.output.split("Next:\n")[1].splitlines()]
    assert [shlex.split(line)[1] for line in commands] == ["parse", "evaluate", "train"]
    small = [option for key, value in SETTINGS.items() for option in ("--set", f"{key}={value}")]
    for line in commands:
        arguments = shlex.split(line)[1:]
        result = runner.invoke(app, [*arguments, *(small if arguments[0] == "train" else [])])
        assert result.exit_code == 0, result.output


def test_the_page_is_complete_and_shows_text_as_text() -> None:
    text = page("a < b", ROWS, "<script>alert(1)</script>", ["treebp parse 'x & y'"])
    assert "<script>" not in text
    assert "a &lt; b" in text
    assert "x &amp; y" in text
    assert "&lt;L2&gt;" in text
    assert "color-scheme: light dark" in text
    assert not re.search(r"(?:src|href)=|@import|url\(", text)
    body = text[text.index("<body>") : text.index("</body>") + len("</body>")]
    ElementTree.fromstring(body.replace("<tr class=best>", "<tr>"))


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_plot_keeps_all_points_inside(series: list[list[float]]) -> None:
    svg = line_plot([1, 2, 4], {f"<{k}>": line for k, line in enumerate(series)}, across="a & b", up="<up>")
    namespace = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(svg)
    circles = list(root.iter(f"{namespace}circle"))
    assert len(circles) == 3 * len(series)
    for circle in circles:
        assert 60 <= float(circle.attrib["cx"]) <= 470
        assert 19.9 <= float(circle.attrib["cy"]) <= 265.1
    # Higher is better, so it stands higher.
    values = [value for line in series for value in line]
    heights = [float(circle.attrib["cy"]) for circle in circles]
    best = max(range(len(values)), key=values.__getitem__)
    assert heights[best] == min(heights)


@given(st.data())
def test_drawn_arcs_are_as_wide_as_each_other_and_point_to_every_modifier(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    order = data.draw(st.permutations(range(1, count + 1)))
    heads = [0] * count
    for position, word in enumerate(order):
        heads[word - 1] = data.draw(st.sampled_from([0, *order[:position]]))
    rows = draw_arcs(heads)
    assert len(rows) == count
    assert len(set(map(len, rows))) == 1
    for row, head in zip(rows, heads, strict=True):
        assert row.endswith("▶") == (head > 0)
        # A vertical line that begins or ends here has its horizontal one: no loose ends.
        assert not set(row) & set("╵╷╴╶╮╯")
    # Where a line goes down, one comes from above in the next row.
    down, up = set("│╭├┬┼┤"), set("│╰├┴┼┤")
    for above, below in pairwise(rows):
        assert [mark in down for mark in above] == [mark in up for mark in below]
