"""Running cells, in this process and in others."""

import multiprocessing
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from treebp.data.evaluation import evaluate
from treebp.data.projectivity import nonprojective_arcs
from treebp.experiments import running
from treebp.experiments.cells import Cell, Result
from treebp.experiments.running import Runner, program_version
from treebp.experiments.treebanks import Treebank
from treebp.experiments.workers import run_cells
from treebp.parsing.config import Config
from treebp.training import fit

CONFIG = Config(
    epochs=2, pruner_epochs=1, pruner_folds=2, weight_bits=16, pruner_weight_bits=14, rate=0.05, iterations=2
)


@pytest.fixture
def cell(treebank: Treebank) -> Cell:
    return Cell(treebank="small", data=treebank.fingerprint(), max_train=30, config=CONFIG)


def run(runner: Runner, cell: Cell, treebank: Treebank) -> tuple[Result, list[str]]:
    told: list[str] = []
    return runner.run("figure3", cell, treebank, told.append), told


def without_time(result: Result) -> Result:
    return replace(result, training_seconds=0.0, preparation_seconds=0.0)


def test_a_cell_is_what_training_and_evaluating_by_hand_gives(treebank: Treebank, cell: Cell) -> None:
    result, told = run(Runner(), cell, treebank)
    train, dev, test = (treebank.read(split) for split in ("train", "dev", "test"))
    parser = fit(train[:30], dev, cell.config, threads=1)
    scores = evaluate(test, (parse.to_sentence() for parse in parser.parse(test)), punctuation="unicode")
    assert result.test_uas == pytest.approx(scores.uas)
    assert result.test_las == pytest.approx(scores.las, abs=1e-3)
    assert result.words == scores.words.tolist()
    assert result.dev_uas == pytest.approx(max(report.dev_uas for report in parser.reports), abs=1e-3)
    arcs = np.concatenate([nonprojective_arcs(sentence.heads) for sentence in train[:30]])
    assert result.nonprojective == pytest.approx(100 * arcs.mean(), abs=1e-3) != 0
    assert result.version == program_version()
    assert told[0] == "pruning"
    assert [text.split(",")[0] for text in told[1:]] == ["l2 epoch 1", "l2 epoch 2"]


def test_pruning_is_shared_within_a_group_and_changes_nothing(
    treebank: Treebank, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    prepare = running.prepare
    monkeypatch.setattr(running, "prepare", lambda *given, **options: calls.append(1) or prepare(*given, **options))
    second = replace(cell, config=replace(CONFIG, objective="cll", factors=("sibling",)))
    other_seed = replace(cell, config=replace(CONFIG, seed=2))
    runner = Runner()
    first, _ = run(runner, cell, treebank)
    shared, _ = run(runner, second, treebank)
    assert len(calls) == 1
    run(runner, other_seed, treebank)
    assert len(calls) == 2
    again, _ = run(runner, cell, treebank)
    assert without_time(again) == without_time(first)
    alone, _ = run(Runner(), second, treebank)
    assert without_time(alone) == without_time(shared)


def test_without_labels_there_is_no_las_and_without_dev_a_tenth_is_held_out(
    treebank: Treebank, cell: Cell, tmp_path: Path
) -> None:
    assert treebank.folder is not None
    for split in ("train", "test"):
        (tmp_path / f"small.{split}.conllu").symlink_to(treebank.folder / f"small.{split}.conllu")
    result, _ = run(Runner(), replace(cell, config=replace(CONFIG, labels=False)), Treebank("small", tmp_path))
    assert result.test_las is None
    assert 0 < result.dev_uas <= 100


def test_the_curve_has_the_parsers_own_score_at_its_own_iterations(treebank: Treebank, cell: Cell) -> None:
    result, _ = run(Runner(), replace(cell, test_iterations=(1, 2, 8)), treebank)
    first, own, last = result.curve
    assert (first.iterations, own.iterations, last.iterations) == (1, 2, 8)
    assert own.test_uas == pytest.approx(result.test_uas, abs=1e-3)
    assert own.dev_uas == pytest.approx(result.dev_uas, abs=1e-3)
    assert first.residual is None
    assert own.residual is not None
    assert last.residual is not None
    assert own.residual > last.residual
    assert own.converged < last.converged <= 100


def test_processes_give_the_same_results_and_one_that_fails_does_not_stop_the_others(
    treebank: Treebank, cell: Cell, tmp_path: Path
) -> None:
    cells = [replace(cell, config=replace(CONFIG, objective=name, epochs=1)) for name in ("cll", "l2")]
    assert treebank.folder is not None
    for split in ("train", "test"):
        (tmp_path / f"bad.{split}.conllu").write_text("1\tTrees\n\n")
    bad = replace(cell, treebank="bad")
    news = list(run_cells("figure3", [bad, *cells], {"small": treebank, "bad": Treebank("bad", tmp_path)}, jobs=2))
    (failed,) = (one for one in news if one.failure)
    assert failed.cell == bad
    assert failed.failure is not None
    assert failed.failure.startswith("TreebankError: ")
    assert "bad.train.conllu:1" in failed.failure
    results = {one.cell: one.result for one in news if one.result}
    assert set(results) == set(cells)
    for each in cells:
        assert without_time(results[each]) == without_time(run(Runner(), each, treebank)[0])
    assert not multiprocessing.active_children()


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_process_that_is_killed_is_replaced(treebank: Treebank, cell: Cell) -> None:
    cells = [replace(cell, config=replace(CONFIG, epochs=epochs)) for epochs in (200, 1)]
    outcomes = []
    for news in run_cells("figure3", cells, {"small": treebank}, jobs=1):
        if news.text.startswith("l2 epoch 1") and news.cell == cells[0]:
            (process,) = multiprocessing.active_children()
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
        if not news.text:
            outcomes.append(news)
    assert [news.cell for news in outcomes] == cells
    assert outcomes[0].failure == "its process ended with exit code -9"
    assert outcomes[1].result
