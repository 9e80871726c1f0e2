"""What is written about results: every number comes from them, and what is missing is said to be."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from made_up import result

from treebp.experiments.cells import Cell, Result
from treebp.experiments.designs import EXPERIMENTS
from treebp.experiments.plans import Plan, make_plan
from treebp.experiments.reports import write_reports
from treebp.experiments.results_file import append_results

# Wrong words of each of four sentences of ten words.
WRONG = {"cll": [2, 1, 2, 3], "l2": [1, 0, 1, 2], "l2+ar": [1, 0, 1, 2], "ar": [4, 4, 4, 4]}


def outcome(cell: Cell) -> Result:
    wrong = WRONG[cell.config.objective]
    if cell.config.seed == 2 or cell.config.tree == "nonprojective":
        wrong = [count + 1 for count in wrong]
    return result(cell, wrong, dev_uas=90.0 + cell.config.iterations)


def reports(plan: Plan, folder: Path, results: list[Result]) -> dict[str, str]:
    append_results(plan.path(folder, "jsonl"), results)
    return {path.suffix: path.read_text(encoding="utf-8") for path in write_reports(plan, folder)}


def cells_of(markdown: str, row: str) -> list[str]:
    line = next(line for line in markdown.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_writes_tables_and_a_picture(name: str, tmp_path: Path) -> None:
    plan = make_plan(name, seeds=[1, 2])
    texts = reports(plan, tmp_path, [outcome(cell) for cell in plan.cells])
    assert set(texts) == {".md", ".csv", ".svg"}
    ElementTree.fromstring(texts[".svg"])
    assert f"training runs: {len(plan.cells)}\n" in texts[".md"]
    assert f"]({name}.svg)" in texts[".md"]
    if not plan.figure.test_iterations:  # the first iteration has no residual
        assert "| – |" not in texts[".md"]
    rows = list(csv.DictReader(io.StringIO(texts[".csv"])))
    assert len(rows) == len(plan.cells) * max(1, len(plan.figure.test_iterations))
    assert {row["treebank"] for row in rows} == set(plan.treebanks)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_missing_is_shown_as_missing(name: str, tmp_path: Path) -> None:
    plan = make_plan(name)
    assert write_reports(plan, tmp_path) == []
    texts = reports(plan, tmp_path, [outcome(plan.cells[0])])
    assert f"training runs: 1, and {len(plan.cells) - 1} that are missing" in texts[".md"]
    assert "| – |" in texts[".md"]
    ElementTree.fromstring(texts[".svg"])


def test_figure3_shows_means_ranges_and_differences(tmp_path: Path) -> None:
    plan = make_plan("figure3", seeds=[1, 2])
    texts = reports(plan, tmp_path, [outcome(cell) for cell in plan.cells])
    cll, l2, both, gain, _ = cells_of(texts[".md"], "2")
    assert (cll, l2, both) == ("75.00 (70.00–80.00)", "85.00 (80.00–90.00)", "85.00 (80.00–90.00)")
    assert gain == "+10.00"  # the same in each sentence, so the interval has no width
    assert "- L2 (iterations: 2) − CLL (iterations: 4): +10.00\n" in texts[".md"]
    assert cells_of(texts[".md"].split("Development UAS")[1], "2") == ["92.00"] * 3
    assert texts[".svg"].count("(70.00 to 80.00)") == 8


def test_table2_shows_averages_and_the_papers_danish(tmp_path: Path) -> None:
    plan = make_plan("table2", codes=["embedded", "embedded-nonprojective"])
    cells = {cell: outcome(cell) for cell in plan.cells}
    for cell in plan.cells:
        if cell.treebank == "embedded" and cell.config.objective == "l2":
            cells[cell] = result(cell, [2, 2, 2, 4])
    texts = reports(plan, tmp_path, list(cells.values()))
    assert cells_of(texts[".md"], "embedded")[:2] == ["80.00", "−5.00 (−10.00 to +0.00)"]
    assert cells_of(texts[".md"], "embedded-nonprojective")[:2] == ["80.00", "+10.00"]
    assert cells_of(texts[".md"], "average")[:2] == ["80.00", "+2.50 (−5.00 to +10.00)"]
    assert texts[".svg"].count('class="worse"') == texts[".svg"].count('class="better"') / 2 == 5


def test_the_papers_danish_row_stands_below_ours() -> None:
    plan = make_plan("table2")
    danish = [result(Cell(treebank="da_conllx", data="", config=cell.config), [1, 0]) for cell in plan.cells]
    row = cells_of(plan.figure.markdown(danish, ["da_conllx"]), "da_conllx (the paper)")
    assert row == ["87.15", "−0.12", "86.31", "−1.07", "87.41", "+0.03", "87.65", "−0.11", "87.68", "−0.10"]


def test_nonprojective_shows_the_share_of_such_arcs(tmp_path: Path) -> None:
    plan = make_plan("nonprojective")
    texts = reports(plan, tmp_path, [outcome(cell) for cell in plan.cells])
    assert cells_of(texts[".md"], "embedded") == ["1.50", "90.00", "−10.00"]


def test_convergence_shows_the_curve(tmp_path: Path) -> None:
    plan = make_plan("convergence", quick=True)
    texts = reports(plan, tmp_path, [outcome(cell) for cell in plan.cells])
    test, dev, residuals, converged = texts[".md"].split("| --- |")[1:]
    assert cells_of(test, "8") == ["89.00"] * 6
    assert cells_of(dev, "8") == ["88.00"] * 6
    assert cells_of(residuals, "1") == ["–"] * 6
    assert cells_of(residuals, "4") == ["0.0001"] * 6
    assert cells_of(converged, "8") == ["48.0"] * 6
    assert texts[".svg"].count("<polyline") == 12
