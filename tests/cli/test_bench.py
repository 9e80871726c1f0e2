"""``treebp bench``, made small."""

import json
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tiny import SETTINGS
from typer.testing import CliRunner

from treebp.benchmarks import GROUPS, Run
from treebp.cli import app
from treebp.cli.bench import Benchmark
from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.training import fit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bench(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "150"}).invoke(app, ["bench", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_names_are_those_of_the_benchmarks() -> None:
    assert [one.value for one in Benchmark] == list(GROUPS)


def test_the_example_of_the_help_writes_a_run_which_another_is_compared_with(folder: Path) -> None:
    (command,) = (one for one in app.registered_commands if one.callback and one.callback.__name__ == "bench")
    assert command.callback
    (example,) = (line for line in (command.callback.__doc__ or "").splitlines() if "Example:" in line)
    output = bench(*shlex.split(example.partition("Example: treebp bench")[2]))
    run = Run.load("run.json")
    assert {one.group for one in run.measurements} == {"trees", "parsing"}
    assert "projective, 2 x 3 words, marginals" in output
    assert str(folder) not in (folder / "run.json").read_text()
    printed = CliRunner().invoke(app, ["bench", "trees", "--quick", "--repeats", "1", "--json"]).stdout
    assert {one["group"] for one in json.loads(printed)["measurements"]} == {"trees"}

    output = bench("parsing", "--quick", "--repeats", "3", "--against", "run.json")
    assert "new / old" in output
    assert "from file to file" in output.split("new / old")[1]
    assert "projective" not in output


def test_a_model_and_data_of_ones_own_and_the_pictures(folder: Path) -> None:
    sentences = embedded_treebank("train")[:30]
    parser = fit(sentences, sentences[:5], Config(**SETTINGS), threads=1)
    parser.save("small.model")
    write_conll("small.conllu", sentences)
    options = ("--model", "small.model", "--data", "small.conllu", "--quick", "--repeats", "1", "-o", "run.json")
    output = bench("stages", "growth", *options)
    assert Run.load("run.json").workload == "small.conllu"
    for picture in ("run-stages.svg", "run-growth.svg"):
        assert f"written: {picture}" in output
        ElementTree.parse(folder / picture)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "small.model"], "neither"),
        (["--data", "small.conllu"], "neither"),
        (["speed"], "speed"),
        (["--quick", "-o", "there.json"], "exists"),
    ],
)
def test_wrong_usage_is_found_before_anything_is_measured(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "there.json").write_text("{}")
    result = CliRunner().invoke(app, ["bench", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_a_file_that_is_no_run_is_refused(folder: Path) -> None:
    (folder / "old.json").write_text("{}")
    result = CliRunner().invoke(app, ["bench", "--quick", "--against", "old.json"])
    assert result.exit_code == 1
    assert "old.json is no file of treebp bench" in result.output
