"""Which cells an experiment needs."""

from pathlib import Path

import pytest
from made_up import result

from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from treebp.experiments.designs import EXPERIMENTS, LANGUAGES
from treebp.experiments.plans import make_plan
from treebp.experiments.results_file import append_results


@pytest.mark.parametrize(
    ("name", "cells", "quick"),
    [
        ("figure3", 24, 9),
        ("figure4", 12, 12),
        ("table1", 4, 4),
        ("table2", 10, 8),
        ("nonprojective", 4, 4),
        ("ar-alone", 16, 12),
        ("convergence", 8, 6),
        ("networks", 30, 24),
    ],
)
def test_the_number_of_cells(name: str, cells: int, quick: int) -> None:
    plan = make_plan(name)
    assert len(set(plan.cells)) == len(plan.cells) == cells
    assert len(make_plan(name, quick=True).cells) == quick
    assert len(make_plan(name, seeds=[1, 2, 3, 2]).cells) == 3 * cells
    assert not any(cell.config.labels for cell in plan.cells)


def test_all_experiments_are_tested_above() -> None:
    assert len(EXPERIMENTS) == 9


def test_figure3_is_the_papers() -> None:
    configs = [cell.config for cell in make_plan("figure3").cells]
    assert {config.iterations for config in configs} == set(range(1, 9))
    assert {config.objective for config in configs} == {"cll", "l2", "l2+ar"}
    assert {config.factors for config in configs} == {("grandparent", "sibling")}


def test_settings_reach_every_cell_but_not_those_that_the_experiment_varies() -> None:
    plan = make_plan("figure3", quick=True, settings=["epochs=7"], max_train=55)
    assert {cell.config.epochs for cell in plan.cells} == {7}
    assert {cell.max_train for cell in plan.cells} == {55}
    for setting in ("iterations=3", "objective=l2", "seed=4"):
        with pytest.raises(ValueError, match="cannot be set"):
            make_plan("figure3", settings=[setting])
    with pytest.raises(ValueError, match="unknown key"):
        make_plan("figure3", settings=["epoch=7"])


def test_by_default_the_papers_treebanks_as_far_as_they_are_there(tmp_path: Path) -> None:
    for code in ("sv_talbanken", "da_conllx", "mine"):
        for split in ("train", "test"):
            write_conll(tmp_path / f"{code}.{split}.conllu", embedded_treebank("test")[:2])
    assert list(make_plan("table2", data=tmp_path).treebanks) == ["da_conllx", "sv_talbanken"]
    assert list(make_plan("table2", data=tmp_path, codes=["mine"]).treebanks) == ["mine"]
    with pytest.raises(FileNotFoundError, match="treebanks there: da_conllx, mine, sv_talbanken"):
        make_plan("figure3", data=tmp_path)
    assert len(set(LANGUAGES)) == 19


def test_cells_that_two_experiments_share_are_run_once(tmp_path: Path) -> None:
    first, second = make_plan("figure3"), make_plan("figure4")
    append_results(tmp_path / "figure3.jsonl", [result(cell, [1]) for cell in first.cells])
    assert first.missing(tmp_path) == []
    missing = second.missing(tmp_path)
    assert len(missing) == 9
    assert all(cell.config.factors != ("grandparent", "sibling") for cell in missing)
    # What was taken over stands in the experiment's own file, and is not taken over again.
    assert [line.cell for line in second.results(tmp_path)] == [cell for cell in second.cells if cell not in missing]
    before = (tmp_path / "figure4.jsonl").read_bytes()
    assert second.missing(tmp_path) == missing
    assert (tmp_path / "figure4.jsonl").read_bytes() == before


def test_results_with_other_data_or_settings_do_not_count(tmp_path: Path) -> None:
    other = make_plan("table1", settings=["epochs=3"])
    append_results(tmp_path / "table1.jsonl", [result(cell, [1]) for cell in other.cells])
    assert len(make_plan("table1").missing(tmp_path)) == 4
    assert len(make_plan("table1", max_train=100).missing(tmp_path)) == 4
    assert not other.missing(tmp_path)
