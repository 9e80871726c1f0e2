"""``treebp experiment``: the quick look that the documentation promises, mistakes, and interruptions."""

import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tiny import OPTIONS, command, treebp, write_treebank

from treebp.cli.experiment import Name
from treebp.experiments.designs import EXPERIMENTS

TABLE1 = ["experiment", "table1", "--data", ".", "--treebanks", "mine", "-o", "results", *OPTIONS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_treebank(tmp_path)
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.conllu").rename(tmp_path / f"mine.{split}.conllu")
    return tmp_path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_names_are_those_of_the_experiments() -> None:
    assert [name.value for name in Name] == list(EXPERIMENTS)


def test_a_quick_look_at_figure3_from_scratch_and_again(tmp_path: Path) -> None:
    result = treebp("experiment", "figure3", "--quick", "-o", "results", folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(re.findall(r"^\d/9  embedded, .*: dev UAS .*, test UAS ", result.stdout, flags=re.MULTILINE)) == 9
    assert "\x1b" not in result.stdout
    files = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert files == ["figure3.csv", "figure3.jsonl", "figure3.md", "figure3.svg"]
    cells = lines(tmp_path / "results" / "figure3.jsonl")
    assert {(cell["objective"], cell["iterations"]) for cell in cells} == {
        (objective, iterations) for objective in ("cll", "l2", "l2+ar") for iterations in (1, 2, 4)
    }
    report = (tmp_path / "results" / "figure3.md").read_text()
    assert all(f"{cell['test_uas']:.2f}" in report for cell in cells)
    assert all(90 < cell["test_uas"] < 100 for cell in cells)
    scores = {(cell["objective"], cell["iterations"]): cell["test_uas"] for cell in cells}
    assert scores["l2", 1] > scores["cll", 1]
    ElementTree.parse(tmp_path / "results" / "figure3.svg")

    again = treebp("experiment", "figure3", "--quick", "-o", "results", folder=tmp_path)
    assert again.stdout.startswith("9 training runs, 9 of them done already\nwritten: ")
    assert (tmp_path / "results" / "figure3.md").read_text() == report
    printed = treebp("experiment", "figure3", "--quick", "-o", "results", "--json", folder=tmp_path).stdout
    assert sorted(map(json.loads, printed.splitlines()), key=str) == sorted(cells, key=str)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["figure5", "-o", "r"],
            "'figure3', 'figure4', 'table1', 'table2', 'nonprojective', 'predicted-tags', 'ar-alone', 'convergence'",
        ),
        (["figure3"], "Missing option '--output'"),
        (["figure3", "-o", "r", "--seeds", "1,x"], "'x'"),
        (["figure3", "-o", "r", "--set", "iterations=2"], "iterations cannot be set"),
        (["figure3", "-o", "r", "--set", "epoch=2"], "unknown key 'epoch'"),
        (["figure3", "-o", "r", "--treebanks", "mine"], "'mine' needs --data"),
        (["figure3", "-o", "r", "--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = treebp("experiment", *arguments, folder=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "mine.test.conllu").unlink()
    result = treebp(*TABLE1, folder=folder)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("treebp: mine.test.conllu: no such file")


def test_a_cell_that_fails_is_named_at_the_end_and_the_others_go_on(folder: Path) -> None:
    (folder / "bad.train.conllu").write_text("1\tTrees\n\n")
    (folder / "bad.test.conllu").write_text("1\tTrees\n\n")
    arguments = ["nonprojective", "--data", ".", "--treebanks", "bad,mine", "--jobs", "1", "--seeds", "3"]
    result = treebp("experiment", *arguments, *OPTIONS, "-o", "results", folder=folder)
    assert result.returncode == 1
    failed = result.stderr.splitlines()
    assert len(failed) == 2
    assert failed[0].startswith("treebp: failed: bad, seed 3, l2, grandparent+sibling, 4 iterations: TreebankError: ")
    cells = lines(folder / "results" / "nonprojective.jsonl")
    assert [(cell["treebank"], cell["seed"], cell["tree"]) for cell in cells] == [
        ("mine", 3, "projective"),
        ("mine", 3, "nonprojective"),
    ]
    assert "and 2 that are missing" in (folder / "results" / "nonprojective.md").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_leaves_a_file_that_resumes_and_no_process(folder: Path) -> None:
    arguments = ["experiment", "figure4", "--data", ".", "--treebanks", "mine", "-o", "results", *OPTIONS]
    options = {"cwd": folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command(*arguments), start_new_session=True, **options) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while "2/12" not in process.stdout.readline():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
        assert process.stderr.read() == "treebp: interrupted\n"  # which also waits until they have all ended
        assert process.wait() == 130
    path = folder / "results" / "figure4.jsonl"
    done = len(lines(path))
    assert 2 <= done < 12
    path.write_text(path.read_text() + '{"experiment":"fig')
    result = treebp(*arguments, folder=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"12 training runs, {done} of them done already\n")
    assert len(lines(path)) == 12
