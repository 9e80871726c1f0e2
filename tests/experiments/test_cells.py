"""Cells and results, in memory and as lines of JSON."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import result

from treebp.experiments.cells import VARIED, Cell, Result
from treebp.parsing.config import Config

configs = st.builds(
    Config,
    seed=st.integers(0, 9),
    objective=st.sampled_from(["cll", "l2", "ar", "l2+ar"]),
    factors=st.sampled_from([(), ("grandparent",), ("grandparent", "sibling")]),
    iterations=st.integers(1, 16),
    tree=st.sampled_from(["projective", "nonprojective"]),
    labels=st.booleans(),
    epochs=st.integers(1, 20),
    rate=st.floats(0.0, 1.0),
)
cells = st.builds(
    Cell,
    treebank=st.text(max_size=5),
    data=st.just("12ab"),
    max_train=st.none() | st.integers(1, 5000),
    config=configs,
    test_iterations=st.sampled_from([(), (1, 2, 16)]),
)


@given(cells, st.lists(st.integers(0, 10), min_size=1), st.none() | st.floats(0, 100))
def test_a_result_comes_back_from_its_line(cell: Cell, wrong: list[int], las: float | None) -> None:
    before = result(cell, wrong, test_las=las)
    line = json.loads(json.dumps(before.to_json(), allow_nan=False))
    assert Result.from_json(line) == before
    assert {"experiment", "treebank", "max_train", "data", "version", "test_uas", "correct", "total", *VARIED} <= set(
        line
    )
    assert line["correct"] == 10 * len(wrong) - sum(wrong)
    assert line["test_uas"] == pytest.approx(100 * line["correct"] / line["total"], abs=1e-3)


def test_a_line_names_the_settings_that_differ_from_the_default_and_no_others() -> None:
    line = result(Cell(treebank="da", data="", config=Config(epochs=3)), [1]).to_json()
    assert line["epochs"] == 3
    assert "minibatch" not in line


@given(cells)
def test_cells_that_differ_only_in_what_pruning_does_not_know_are_of_one_group(cell: Cell) -> None:
    other = replace(cell.config, objective="ar", factors=("sibling",), iterations=7)
    assert replace(cell, config=other).group == cell.group
    for setting in ({"seed": 17}, {"prune_heads": 3}, {"labels": not cell.config.labels}):
        assert replace(cell, config=replace(cell.config, **setting)).group != cell.group
    assert replace(cell, max_train=7777).group != cell.group
